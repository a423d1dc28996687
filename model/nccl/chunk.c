/*
 * chunk.c - how much a step of a channel moves (2.18.3: src/enqueue.cc,
 * computeColl; 2.30.7: calcCollChunking).
 *
 * A Simple ring's chunk takes several slots of the FIFO, every other one, with
 * its flags. What fills a pipeline slowly is cut where a message is short, in
 * one of two ways: trees and PAT halve while the message is less than some
 * multiple of the chunks under way, NVLS goes down a ladder of lengths. What is
 * under way is one chunk of each channel and, with NVLS, each of its heads.
 */
#include "model/nccl/tuning_parts.h"

#include "model/protocol.h"

#include <math.h>

double model_nccl_buffer_bytes(const struct model_nccl_comm *comm, int protocol)
{
    const struct model_nccl_chunks *chunks = &comm->version->tuning.chunks;

    if (comm->settings->buffer_bytes[protocol] > 0.0) {
        return comm->settings->buffer_bytes[protocol];
    }
    return protocol == MODEL_NCCL_SIMPLE &&
                   comm->topology->host.cpu == MODEL_CPU_ARM
               ? chunks->arm_buffer_bytes
               : chunks->buffer_bytes[protocol];
}

/* What is left of a slot without flags: LL's half, 15 of 16 of LL128. */
static double payload_bytes(int protocol, double bytes)
{
    return protocol == MODEL_NCCL_LL      ? floor(bytes / 2.0)
           : protocol == MODEL_NCCL_LL128 ? floor(bytes / 16.0) * 15.0
                                          : bytes;
}

static bool row_holds(const struct model_nccl_comm *comm,
                      const struct model_nccl_nvls_row *row)
{
    int ranks = comm->least_ranks_per_node, nodes = comm->node_count;
    double nic = comm->topology->nics.bytes_per_us;

    return comm->compute_capability >= row->least_capability &&
           nodes >= row->least_nodes &&
           (row->most_nodes == 0 || nodes <= row->most_nodes) &&
           ranks >= row->least_ranks &&
           (row->most_ranks == 0 || ranks <= row->most_ranks) &&
           nic >= row->least_nic_bytes_per_us &&
           (!(row->below_nic_bytes_per_us > 0.0) ||
            nic < row->below_nic_bytes_per_us) &&
           (!row->near_nic || comm->graphs[MODEL_NCCL_GRAPH_NVLS].inter_type <=
                                  MODEL_NCCL_PATH_PXB);
}

static double nvls_most_bytes(const struct model_nccl_comm *comm, int algorithm)
{
    const struct model_nccl_chunks *chunks = &comm->version->tuning.chunks;
    const struct model_nccl_settings *settings = comm->settings;
    const struct model_nccl_nvls_row *rows = chunks->nvls_rows.items;
    double slot =
        model_nccl_buffer_bytes(comm, MODEL_NCCL_SIMPLE) / MODEL_FIFO_SLOTS;
    double chunk = slot, tree = 0.0;

    for (int i = 0; i < chunks->nvls_rows.count; i++) {
        if (row_holds(comm, &rows[i])) {
            chunk = rows[i].chunk_bytes;
            tree = rows[i].tree_chunk_bytes;
            break;
        }
    }
    if (chunks->nvls_settable && settings->nvls_chunk_bytes > 0.0) {
        chunk = settings->nvls_chunk_bytes;
    }
    if (chunks->nvls_settable && settings->nvls_tree_chunk_bytes > 0.0) {
        tree = settings->nvls_tree_chunk_bytes;
    }
    if (algorithm == MODEL_NCCL_NVLS) {
        return fmin(slot, chunk);
    }
    return fmin(chunks->nvls_tree_in_slot ? slot : chunk,
                tree > 0.0 ? tree : chunk);
}

/* One at least: NCCL itself breaks with shorter buffers. */
static double
whole_grains(const struct model_nccl_comm *comm, int protocol, double bytes)
{
    double grain = comm->version->tuning.chunks.grain_bytes[protocol];

    return fmax(1.0, floor(bytes / grain)) * grain;
}

double model_nccl_chunk_most_bytes(const struct model_nccl_comm *comm,
                                   const struct model_nccl_choice *choice)
{
    int protocol = choice->protocol;
    double slot =
        floor(model_nccl_buffer_bytes(comm, protocol) / MODEL_FIFO_SLOTS);

    switch (choice->algorithm) {
    case MODEL_NCCL_NVLS:
    case MODEL_NCCL_NVLS_TREE:
        slot = nvls_most_bytes(comm, choice->algorithm);
        break;
    case MODEL_NCCL_RING:
        if (protocol == MODEL_NCCL_SIMPLE) {
            slot *= comm->version->tuning.chunks.ring_slots[choice->function];
        }
        break;
    default:
        break;
    }
    return whole_grains(comm, protocol, payload_bytes(protocol, slot));
}

/* Multiples are compared with whole numbers of chunks. */
static double halved(double chunk_bytes,
                     const struct model_list *list,
                     double scale,
                     double channel_bytes)
{
    const struct model_nccl_stage *stages = list->items;

    for (int i = 0; i < list->count; i++) {
        double multiple = ceil(stages[i].multiple * scale);

        while (channel_bytes < multiple * chunk_bytes &&
               chunk_bytes > stages[i].above_bytes) {
            chunk_bytes = floor(chunk_bytes / 2.0);
        }
    }
    return chunk_bytes;
}

static double down_the_ladder(double chunk_bytes,
                              const struct model_list *list,
                              double heads,
                              double channel_bytes)
{
    const struct model_nccl_rung *rungs = list->items;

    for (int i = 0; i < list->count; i++) {
        if (channel_bytes < rungs[i].multiple * heads * chunk_bytes) {
            chunk_bytes = fmin(chunk_bytes, rungs[i].to_bytes);
        }
    }
    return chunk_bytes;
}

/* GPUs that channels begin at: each reduces a part of its own. */
static double nvls_heads(const struct model_nccl_comm *comm)
{
    const struct model_nccl_graph *graph = &comm->graphs[MODEL_NCCL_GRAPH_NVLS];
    size_t ranks = (size_t)comm->ranks_per_node;
    int heads = 0;

    if (graph->order == NULL) {
        return comm->ranks_per_node;
    }
    for (size_t c = 0; c < (size_t)graph->channels; c++) {
        bool seen = false;

        for (size_t before = 0; before < c; before++) {
            seen =
                seen || graph->order[before * ranks] == graph->order[c * ranks];
        }
        heads += seen ? 0 : 1;
    }
    return heads;
}

static double tree_bytes(const struct model_nccl_comm *comm,
                         const struct model_nccl_choice *choice)
{
    const struct model_nccl_chunks *chunks = &comm->version->tuning.chunks;
    double ranks = (double)comm->rank_count / (double)comm->node_count;
    double levels = model_nccl_log2(comm->node_count);
    double each = choice->channel_bytes, chunk = choice->chunk_bytes;

    if (choice->protocol == MODEL_NCCL_SIMPLE) {
        return halved(chunk, &chunks->tree_stages, floor(ranks) - 1.0 + levels,
                      each);
    }
    if (choice->protocol == MODEL_NCCL_LL128) {
        double scale = (1.0 + levels + 0.1 * ranks) / ranks;

        return chunks->tree_ll128_counts_wire
                   ? payload_bytes(MODEL_NCCL_LL128,
                                   halved(chunk / 15.0 * 16.0,
                                          &chunks->tree_ll128_stages, scale,
                                          each))
                   : halved(chunk, &chunks->tree_ll128_stages, scale, each);
    }
    return chunk;
}

void model_nccl_cut(const struct model_nccl_comm *comm,
                    struct model_nccl_choice *choice)
{
    const struct model_nccl_chunks *chunks = &comm->version->tuning.chunks;
    double each = choice->channel_bytes, chunk = choice->chunk_bytes;

    switch (choice->algorithm) {
    case MODEL_NCCL_TREE:
        chunk = tree_bytes(comm, choice);
        break;
    case MODEL_NCCL_NVLS:
        chunk =
            down_the_ladder(chunk, &chunks->nvls_rungs, nvls_heads(comm), each);
        break;
    case MODEL_NCCL_NVLS_TREE:
        chunk = down_the_ladder(chunk, &chunks->nvls_tree_rungs,
                                nvls_heads(comm), each);
        break;
    case MODEL_NCCL_PAT:
        chunk = halved(chunk,
                       choice->function == MODEL_NCCL_ALL_GATHER
                           ? &chunks->pat_gather_stages
                           : &chunks->pat_reduce_stages,
                       1.0, each);
        break;
    default:
        break;
    }
    choice->chunk_bytes = whole_grains(comm, choice->protocol, chunk);
}
