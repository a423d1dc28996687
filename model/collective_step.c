/*
 * collective_step.c - ring_step: what a ring's steps cost one GPU, without the
 * ring. Where NCCL has no peer, a kernel of its shape stands in for it.
 *
 * NC CTAs of NT threads share a buffer of M bytes. Each takes its part in
 * chunks of min(C, M / NC): it loads a chunk from the buffer and one from a
 * slot of its own FIFO, adds them, and stores the sum into the next of the 8
 * slots, with the fence, flag and barrier of each of a ring's slices. That is
 * recvReduceSend with the FIFO's other end on the same GPU: the channel law
 * (channel.h) over a hop without latency. No neighbour is waited for, no link
 * passed.
 *
 * HBM: the buffer is read once. The FIFO's slots, all of which are used in
 * turn, are read and written there only when they, and as much of the buffer
 * that passes by, exceed L2, or kernels beside drive them out.
 */
#include "model/collective_parts.h"

#include <math.h>

/* Time of one chunk with what passes through L2 before a slot returns. */
static double chunk_us(const struct model_walk *walk,
                       const struct model_collective_task *task,
                       double reuse_bytes,
                       double chunk_bytes)
{
    int rank = model_group_rank(task->group, 0);
    struct model_hop own = {.kind = MODEL_HOP_P2P, .ranks = {rank, rank}};
    struct model_channel_role role = model_parts_role(walk, task);
    struct model_channel channel;

    role.slices = model_protocol_facts(MODEL_SIMPLE)->slices;
    role.reuse_bytes = reuse_bytes;
    channel = model_channel_in_role(walk->fabric->topology, &own, MODEL_SIMPLE,
                                    &role);
    return model_channel_transfer_us(&channel, chunk_bytes) +
           model_channel_wait_us(&channel, chunk_bytes);
}

void model_collective_step(struct model_walk *walk,
                           const struct model_collective_task *task,
                           struct model_collective *result)
{
    const struct model_gpu *gpu = model_ranks_gpu(
        walk->fabric->topology, model_group_rank(task->group, 0));
    double channels = (double)task->config->channels;
    double part_bytes = task->size_bytes / channels;
    double chunk_bytes = fmin(task->config->chunk_bytes, part_bytes);
    double reuse_bytes = 2.0 * channels * MODEL_FIFO_SLOTS * chunk_bytes;

    result->channel_bytes = part_bytes;
    result->channel_bytes_per_us =
        chunk_bytes / chunk_us(walk, task, reuse_bytes, chunk_bytes);
    result->crowded_bytes_per_us =
        chunk_bytes / chunk_us(walk, task, HUGE_VAL, chunk_bytes);
    result->crowded_hbm_ratio = 3.0;
    result->hbm_ratio =
        reuse_bytes > gpu->l2_bytes ? result->crowded_hbm_ratio : 1.0;
    result->chunk_bytes = chunk_bytes;
    result->footprint_bytes = channels * chunk_bytes;
}
