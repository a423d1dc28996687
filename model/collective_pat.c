/*
 * collective_pat.c - parallel aggregated trees for all_gather and
 * reduce_scatter with one rank a node (NCCL 2.23 and later).
 *
 * A rank exchanges with ranks at distances 1, 2, 4, ..., n/2, so a block has
 * arrived everywhere after log2 n steps instead of n - 1, while the bytes on
 * the wire are those of the ring: M (n-1)/n. Progress is wire bytes; a chunk of
 * at most one FIFO slot pays its waits at the steady pace of a channel, and the
 * pipeline is full after log2 n steps.
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

void model_collective_pat(struct model_walk *walk,
                          const struct model_collective_task *task,
                          struct model_collective *result)
{
    const struct model_topology *topology = walk->fabric->topology;
    int gpus = topology->gpus_per_node;
    struct model_group *groups =
        model_arena_array(walk->arena, (size_t)gpus, sizeof(*groups));
    int count = model_parts_groups(walk, task->group, 0, groups);
    int n = task->group->count;
    double channels = (double)task->config->channels;
    double slot_bytes = model_protocol_facts(MODEL_SIMPLE)->slot_bytes;
    double part_bytes = task->size_bytes / (double)n / channels;
    double chunk_bytes =
        fmin(fmin(task->config->chunk_bytes, slot_bytes), part_bytes);
    struct model_channel_role role = model_parts_role(walk, task);
    double steps = 0.0;
    double step_us;

    model_walk_start(walk, task->config, &role, chunk_bytes);
    for (int i = 0; i < count; i++) {
        int first;
        int end;

        model_parts_span(walk, &groups[i], 0, &first, &end);
        for (int member = first; member < end; member++) {
            int rank = model_group_rank(&groups[i], member);

            steps = 0.0;
            for (int far = 1; far < n; far *= 2) {
                int to = model_group_rank(&groups[i], (member + far) % n);

                (void)model_walk_pair(walk, rank, to,
                                      channels * blocks_sent(far, n) /
                                          (double)(n - 1));
                steps += 1.0;
            }
        }
    }
    step_us = walk->slowest_us + model_walk_wait_us(walk);
    result->channel_bytes = (double)(n - 1) * part_bytes;
    result->channel_bytes_per_us = chunk_bytes / step_us;
    result->fill_us = (steps - 1.0) * step_us;
    result->step_latency_us = model_walk_latency_us(walk);
    result->step_bytes = chunk_bytes;
    result->first_steps = (int)steps;
    result->hbm_ratio =
        1.0 + 2.0 / (double)(n - 1) + model_parts_fifo_ratio(walk, task);
    model_parts_finish(walk, task, chunk_bytes, result);
    if (model_parts_nodes(walk, &groups[0]) < n) {
        result->fault = "pat needs a group with one rank a node";
    }
}
