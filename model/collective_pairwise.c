/*
 * collective_pairwise.c - transfers between pairs over NCCL's p2p channels:
 * all_to_all, send_recv, send.
 *
 * Progress is wire bytes: what a rank sends to others, divided over its
 * channels. In an all_to_all each of the n - 1 peers gets M / n, and so does
 * the rank itself. A CTA has up to 8 pairs at once (devcomm.h: 16 elements of
 * p2p work), each with its share; their pace is the mean over all transfers.
 *
 * A pair's send and its receive get a power of two of warps each, and the send
 * one more, for its flag (NCCL 2.18.3, finishWorkP2p; later ones nearly so). Of
 * the 20 of a CTA 16 work on data, however many pairs there are, and half of
 * them where a rank only sends.
 *
 * A chunk is at most one FIFO slot and at most what one peer gets of a channel,
 * C_eff = min(C, slot, M / n / NC) (NCCL 2.18.3 src/enqueue.cc). Chunks are a
 * stream: none waits for another.
 *
 * HBM: a read of what is sent, a write of what is received, the FIFOs, and the
 * copy of a rank's own part in an all_to_all.
 */
#include "model/collective_parts.h"

#include "model/leaf.h"

#include <math.h>

enum { AT_ONCE = 8 }; /* pairs of a CTA */

/*
 * Folded, and of the whole cluster, other nodes differ by their distance alone,
 * and that counts only up to the size of a leaf, on either side (leaf.h). How
 * many nodes, counted from that distance on, look the same; at least 1.
 */
static int nodes_alike(const struct model_walk *walk, bool whole, int distance)
{
    const struct model_topology *topology = walk->fabric->topology;
    int nodes = topology->node_count;
    int leaf = model_leaf_nodes(topology);
    int first = leaf > 0 && leaf < nodes ? leaf : 1;

    return whole && distance == first && nodes > 2 * first
               ? nodes - 2 * first + 1
               : 1;
}

/* What a member sends to all others of an all_to_all. */
static void walk_all(struct model_walk *walk,
                     const struct model_group *group,
                     int member,
                     double flows)
{
    const struct model_topology *topology = walk->fabric->topology;
    int gpus = topology->gpus_per_node;
    bool whole = model_fabric_is_folded(walk->fabric) && group->ranks == NULL &&
                 group->count == model_topology_rank_count(topology);
    int alike;

    for (int first = 0; first < group->count; first += gpus * alike) {
        alike = nodes_alike(walk, whole, first / gpus);
        for (int to = first; to < first + gpus && to < group->count; to++) {
            if (to != member) {
                (void)model_walk_pair(walk, model_group_rank(group, member),
                                      model_group_rank(group, to),
                                      flows * (double)alike);
            }
        }
    }
}

/* The transfers of one member. */
static void walk_member(struct model_walk *walk,
                        const struct model_collective_task *task,
                        const struct model_group *group,
                        int member)
{
    int n = group->count;
    int shift = task->shift == 0 ? 1 : task->shift;
    int rank = model_group_rank(group, member);
    double channels = (double)task->config->channels;
    int to;

    if (task->kind == MODEL_ALL_TO_ALL) {
        walk_all(walk, group, member, channels / (double)(n - 1));
        return;
    }
    to = ((member + shift) % n + n) % n;
    if (to != member &&
        (task->kind == MODEL_SEND_RECV || member == (shift > 0 ? 0 : 1))) {
        (void)model_walk_pair(walk, rank, model_group_rank(group, to),
                              channels);
    }
}

/* User buffers read and written per byte of progress, mean of the ranks. */
static double buffer_ratio(const struct model_collective_task *task)
{
    switch (task->kind) {
    case MODEL_ALL_TO_ALL:
        return 2.0 + 2.0 / (double)(task->group->count - 1);
    case MODEL_SEND:
        return 1.0;
    default:
        return 2.0;
    }
}

/*
 * Share of a CTA that works on one direction of each of so many pairs: with G
 * the power of two that holds both directions of all, the power of two of warps
 * that makes G of them the most, but more than half, of the CTA's.
 */
static double direction_share(double pairs, int threads)
{
    double warps = (double)threads / 32.0;
    double groups = 2.0;
    double each = 1.0;

    while (groups < 2.0 * pairs) {
        groups *= 2.0;
    }
    while (each * groups <= warps / 2.0) {
        each *= 2.0;
    }
    return fmin(each, warps / groups) / warps;
}

void model_collective_pairwise(struct model_walk *walk,
                               const struct model_collective_task *task,
                               struct model_collective *result)
{
    int gpus = walk->fabric->topology->gpus_per_node;
    struct model_group *groups =
        model_arena_array(walk->arena, (size_t)gpus, sizeof(*groups));
    int count = model_parts_groups(walk, task->group, 0, groups);
    enum model_protocol protocol = (enum model_protocol)task->config->protocol;
    bool all = task->kind == MODEL_ALL_TO_ALL;
    double parts = all ? (double)task->group->count : 1.0; /* with the own */
    double peers = all ? parts - 1.0 : 1.0;
    double at_once = fmin(parts, AT_ONCE);
    double part_bytes =
        task->size_bytes / parts / (double)task->config->channels;
    double chunk_bytes = fmin(fmin(task->config->chunk_bytes,
                                   model_protocol_facts(protocol)->slot_bytes),
                              part_bytes);
    struct model_channel_role role = model_parts_role(walk, task);
    double stream_us;

    role.share = direction_share(at_once, task->config->threads);
    model_walk_start(walk, task->config, &role, chunk_bytes);
    for (int i = 0; i < count; i++) {
        int first;
        int end;

        model_parts_span(walk, &groups[i], 0, &first, &end);
        for (int member = first; member < end; member++) {
            walk_member(walk, task, &groups[i], member);
        }
    }
    if (!(walk->weight > 0.0)) {
        return; /* all to themselves: nothing moves */
    }
    stream_us = model_walk_stream_us(walk);
    result->channel_bytes = peers * part_bytes;
    result->channel_bytes_per_us =
        peers / parts * at_once * chunk_bytes / stream_us;
    /* Chunks of all channels come one after another from the beginning. */
    result->fill_us =
        fmax(model_walk_hop_us(walk) - model_walk_whole_us(walk), 0.0);
    result->hbm_ratio = buffer_ratio(task) + model_parts_fifo_ratio(walk, task);
    model_parts_finish(walk, task, chunk_bytes, result);
}
