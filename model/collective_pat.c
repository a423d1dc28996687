/*
 * collective_pat.c - parallel aggregated trees for all_gather and
 * reduce_scatter with one rank a node (NCCL 2.23 and later).
 *
 * A rank exchanges with ranks at distances 1, 2, 4, ..., n/2, so a block has
 * arrived everywhere after log2 n hops instead of n - 1, while the bytes on the
 * wire are those of the ring: M (n-1)/n. Progress is wire bytes, in chunks of
 * at most one FIFO slot and at most what a block has on a channel. Each
 * distance is a stream of its own, in which no block waits for the one before
 * it.
 *
 * The farthest ranks come first, before there is much to send (Jeaugey, PAT,
 * arXiv 2506.20252): a block reaches the rank o further from the one 2^k
 * before, 2^k being o's lowest bit. So of the n - 1 blocks that a rank sends,
 * one goes to distance n/2 and half of them to its neighbour.
 */
#include "model/collective_parts.h"

#include <math.h>

/* How many of 1 .. n - 1 have `far` as their lowest bit. */
static int blocks_sent(int far, int n)
{
    return (n - 1 + far) / (2 * far);
}

/* One member's sends to all distances; returns how many. */
static int walk_member(struct model_walk *walk,
                       const struct model_group *group,
                       int member,
                       double channels)
{
    int n = group->count;
    int rank = model_group_rank(group, member);
    int distances = 0;

    for (int far = 1; far < n; far *= 2) {
        int to = model_group_rank(group, (member + far) % n);

        (void)model_walk_pair(walk, rank, to,
                              channels * blocks_sent(far, n) / (double)(n - 1));
        distances++;
    }
    return distances;
}

void model_collective_pat(struct model_walk *walk,
                          const struct model_collective_task *task,
                          struct model_collective *result)
{
    int gpus = walk->fabric->topology->gpus_per_node;
    struct model_group *groups =
        model_arena_array(walk->arena, (size_t)gpus, sizeof(*groups));
    int count = model_parts_groups(walk, task->group, 0, groups);
    int n = task->group->count;
    double channels = (double)task->config->channels;
    double part_bytes = task->size_bytes / (double)n / channels;
    double chunk_bytes = fmin(model_parts_pat_chunk_bytes(task), part_bytes);
    struct model_channel_role role = model_parts_role(walk, task);
    int distances = 0;

    model_walk_start(walk, task->config, &role, chunk_bytes);
    for (int i = 0; i < count; i++) {
        int first;
        int end;

        model_parts_span(walk, &groups[i], 0, &first, &end);
        for (int member = first; member < end; member++) {
            distances = walk_member(walk, &groups[i], member, channels);
        }
    }
    result->channel_bytes = (double)(n - 1) * part_bytes;
    result->channel_bytes_per_us = chunk_bytes / walk->slowest_stream_us;
    result->fill_us = (double)distances * model_walk_hop_us(walk);
    result->fill_bytes = model_walk_first_bytes(walk) * (double)distances;
    result->first_bytes = model_walk_first_bytes(walk);
    result->hbm_ratio =
        1.0 + 2.0 / (double)(n - 1) + model_parts_fifo_ratio(walk, task);
    model_parts_finish(walk, task, chunk_bytes, result);
    if (model_parts_nodes(walk, &groups[0]) < n) {
        result->fault = "pat needs a group with one rank a node";
    }
}
