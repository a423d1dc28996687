/*
 * collective_ring.c - rings: all_gather, reduce_scatter, all_reduce; and the
 * open ring, a chain, of broadcast and reduce.
 *
 *     op              steps      progress: wire bytes per rank
 *     all_gather      n-1        M (n-1)/n
 *     reduce_scatter  n-1        M (n-1)/n
 *     all_reduce      2(n-1)     2 M (n-1)/n
 *
 * Channels split the block of a step, M/n, evenly; each moves it in chunks of
 * C_eff = min(C, block / NC): C binds only when the block exceeds NC C.
 *
 * The pace of a ring: every rank always works on one chunk, so a step lasts
 * as long as the slowest transfer around the ring, plus the mean of the waits
 * (a chunk that goes once around pays each of them once, while every rank
 * makes as many steps).
 *
 * What a CTA does in an all_reduce (NCCL 2.18.3, all_reduce.h): a send, n - 2
 * recvReduceSend, one recvReduceCopySend where the sum is complete, n - 2
 * recvCopySend, a recv. Of these recvReduceCopySend, two loads and two stores,
 * is as much as all loads and stores of recvCopySend (one and two) and
 * recvReduceSend (two and one) by 2/3: on GH200 1.2 times recvCopySend by
 * NPKit, 1.19 by this. Few ranks do the heavy ones more often.
 *
 * HBM bytes of a rank, in chunks S (NCCL 2.18.3 primitives): the sends and
 * receives of each step, with the FIFO in the memory that the transport puts
 * it in. A receive costs 1 S (the user buffer), and 2 S more when the FIFO is
 * in device memory (written by the peer, read here), doubled with LL; a send
 * over GPUDirect costs 2 S more (FIFO written, read by the NIC); the first and
 * last steps of the whole add 2 S. Over P2P: all_gather (3n-1) M/n, all_reduce
 * (6n-4) M/n. They count so even while the FIFO stays in L2 (channel.h).
 *
 * A chain streams M past each rank in chunks of at most one FIFO slot, at the
 * pace of its slowest hop, and is full when the last rank has its first chunk.
 */
#include "model/collective_parts.h"

#include "model/ring.h"

#include <math.h>

/* The ring of one group in one variant, as far as it is shown. */
struct arc {
    const struct model_group *group;
    struct model_ring ring;
    int variant;
    int first, end; /* members */
    int nodes;      /* that these stand for, 1: no others */
    bool open, reversed;
};

/* Is member 0 entered from a member that is shown? */
static bool root_is_entered(const struct arc *arc)
{
    int root = model_group_rank(arc->group, 0);

    for (int member = arc->first; member < arc->end; member++) {
        if (model_ring_next(&arc->ring, member, arc->variant) == root) {
            return true;
        }
    }
    return false;
}

/*
 * Edges that leave shown ranks. An open ring lacks the one into member 0; where
 * a node stands for several, one node of them lacks it, or that between nodes.
 */
static void walk_arc(struct model_walk *walk, const struct arc *arc, int flows)
{
    int gpus = walk->fabric->topology->gpus_per_node;
    int root = model_group_rank(arc->group, 0);
    bool entered = arc->open && root_is_entered(arc);
    double but_one = (double)(arc->nodes - 1) / (double)arc->nodes;

    for (int member = arc->first; member < arc->end; member++) {
        int rank = model_group_rank(arc->group, member);
        int next = model_ring_next(&arc->ring, member, arc->variant);
        bool closes = arc->open &&
                      (entered ? next == root
                               : arc->nodes > 1 && next / gpus != rank / gpus);

        walk->count_ratio = closes ? but_one : 1.0;
        if (walk->count_ratio > 0.0) {
            (void)model_walk_send(
                walk, arc->reversed ? next : rank, arc->reversed ? rank : next,
                model_ring_nic(&arc->ring, arc->variant), (double)flows);
        }
    }
    walk->count_ratio = 1.0;
}

/* Returns how many NICs of a node the rings use. */
static int walk_ring(struct model_walk *walk,
                     const struct model_collective_task *task,
                     bool open,
                     bool reversed)
{
    const struct model_fabric *fabric = walk->fabric;
    bool folded = model_fabric_is_folded(fabric);
    struct model_group *groups = model_arena_array(
        walk->arena, (size_t)fabric->topology->gpus_per_node, sizeof(*groups));
    int count = model_parts_groups(walk, task->group, 0, groups);
    int nics = 0;

    for (int i = 0; i < count; i++) {
        struct arc arc = {.group = &groups[i],
                          .nodes = 1,
                          .open = open,
                          .reversed = reversed};

        arc.ring = model_ring_make(walk->arena, fabric->topology, &groups[i]);
        if (open && folded) {
            arc.nodes = model_parts_nodes(walk, &groups[i]);
        }
        model_parts_span(walk, &groups[i], 0, &arc.first, &arc.end);
        for (int variant = 0; variant < arc.ring.variants; variant++) {
            int flows =
                model_ring_channels(&arc.ring, variant, task->config->channels);

            arc.variant = variant;
            if (flows > 0) {
                walk_arc(walk, &arc, flows);
            }
        }
        nics = arc.ring.nic_count;
    }
    return nics;
}

/*
 * What passes through a rank's L2 until a slot of its FIFOs is used again: the
 * chunks that fill them, and as much of the user's buffer.
 */
static double reuse_bytes(const struct model_collective_task *task,
                          double fifo_chunks,
                          double chunk_bytes)
{
    return 2.0 * (double)task->config->channels * fifo_chunks * chunk_bytes;
}

/* CTA time per byte of an all_reduce's steps, relative to recvCopySend. */
static double all_reduce_ratio(const struct model_gpu *gpu, double n)
{
    double both = 1.0 + gpu->reduce_ratio;
    double turn = 2.0 / 3.0 * both;

    return (gpu->exchange_ratio + turn + (n - 2.0) * both) / (2.0 * (n - 1.0));
}

void model_collective_ring(struct model_walk *walk,
                           const struct model_collective_task *task,
                           struct model_collective *result)
{
    double n = (double)task->group->count;
    double passes = task->kind == MODEL_ALL_REDUCE ? 2.0 : 1.0;
    double steps = passes * (n - 1.0);
    double part_bytes = task->size_bytes / n / (double)task->config->channels;
    double chunk_bytes = fmin(
        model_protocol_chunk_bytes((enum model_protocol)task->config->protocol,
                                   task->config->chunk_bytes),
        part_bytes);
    struct model_channel_role role = model_parts_role(walk, task);

    if (task->kind == MODEL_ALL_REDUCE) {
        role.work_ratio = all_reduce_ratio(&walk->fabric->topology->gpu, n);
    }
    role.slices =
        model_protocol_facts((enum model_protocol)task->config->protocol)
            ->slices;
    role.reuse_bytes =
        reuse_bytes(task, model_protocol_fifo_chunks(task->config->chunk_bytes),
                    chunk_bytes);
    model_walk_start(walk, task->config, &role, chunk_bytes);
    (void)walk_ring(walk, task, false, false);
    result->channel_bytes = steps * part_bytes;
    result->channel_bytes_per_us =
        chunk_bytes / (walk->slowest_us + model_walk_wait_us(walk));
    result->crowded_bytes_per_us =
        chunk_bytes / (walk->crowded_us + model_walk_wait_us(walk));
    result->step_latency_us = model_walk_latency_us(walk);
    result->step_bytes = chunk_bytes;
    result->network_ratio = model_walk_network_ratio(walk);
    result->near_bytes_per_us = model_walk_near_bytes_per_us(walk);
    result->first_steps = (int)steps;
    result->hbm_ratio = 1.0 + 2.0 / steps + model_parts_fifo_ratio(walk, task);
    model_parts_finish(walk, task, chunk_bytes, result);
}

/*
 * How much of the way of a first chunk chains in a row pay once. All of it, if
 * all channels visit the ranks in the same order: each rank can begin the next
 * chain while those behind it still work. But rings over nodes enter each by
 * the GPU beside their NIC, so that GPUs of the root's node that are first in
 * one channel are last, behind all other nodes, in another. Say a is before b
 * in channel 1 and behind it in channel 2. b ends its part of a chain when what
 * a began to pass on has come over channel 1, and only then begins the next
 * one; a ends when that of b has come over channel 2. Both ways together are
 * about the whole chain, and are gone once in two chains.
 *
 * Broadcast over 2 to 32 nodes (github.com/aistabci/abci2.0benchmark) takes the
 * longer the more nodes there are where it has two channels or more, and hardly
 * so with one.
 */
static double handover_ratio(const struct model_collective_task *task,
                             const struct model_walk *walk,
                             int nics)
{
    struct model_group one = model_group_instance(task->group, 0);
    bool alone = model_parts_nodes(walk, &one) == one.count;

    return task->config->channels == 1 || nics <= 1 || alone ? 1.0 : 0.5;
}

void model_collective_chain(struct model_walk *walk,
                            const struct model_collective_task *task,
                            struct model_collective *result)
{
    double n = (double)task->group->count;
    bool reduce = task->kind == MODEL_REDUCE;
    double part_bytes = task->size_bytes / (double)task->config->channels;
    double slot_bytes = model_parts_slot_bytes(
        walk->fabric->topology, (enum model_protocol)task->config->protocol);
    double chunk_bytes =
        fmin(fmin(task->config->chunk_bytes, slot_bytes), part_bytes);
    struct model_channel_role role = model_parts_role(walk, task);
    int nics;

    model_walk_start(walk, task->config, &role, chunk_bytes);
    (void)walk_ring(walk, task, true, reduce);
    model_walk_time_first(walk, 1.0);
    nics = walk_ring(walk, task, true, reduce);
    result->handover_ratio = handover_ratio(task, walk, nics);
    result->channel_bytes = part_bytes;
    result->channel_bytes_per_us = chunk_bytes / walk->slowest_stream_us;
    result->fill_us = (n - 1.0) * model_walk_hop_us(walk) + walk->queue_us;
    result->first_bytes = model_walk_first_bytes(walk);
    /* The user buffers: one read at the root and n - 1 writes, or the other
     * way round, over n ranks. */
    result->hbm_ratio =
        (reduce ? (n + 1.0) / n : 1.0) + model_parts_fifo_ratio(walk, task);
    model_parts_finish(walk, task, chunk_bytes, result);
}
