/*
 * collective_pairwise.c - transfers between pairs over NCCL's p2p channels:
 * all_to_all, send_recv, send.
 *
 * Progress is wire bytes: what a rank sends to others, divided over its
 * channels. In an all_to_all each of the n - 1 peers gets M / n; channels go
 * from peer to peer, so their pace is the mean over all transfers, and 1 / n of
 * them serve the rank's own part. A chunk is at most one FIFO slot and at most
 * what one peer gets of a channel, C_eff = min(C, slot, M / n / NC)
 * (NCCL 2.18.3 src/enqueue.cc).
 *
 * HBM: a read of what is sent, a write of what is received, the FIFOs, and the
 * copy of a rank's own part in an all_to_all.
 */
#include "model/collective_parts.h"

#include <math.h>

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
        for (int i = 1; i < n; i++) {
            (void)model_walk_pair(walk, rank,
                                  model_group_rank(group, (member + i) % n),
                                  channels / (double)(n - 1));
        }
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

void model_collective_pairwise(struct model_walk *walk,
                               const struct model_collective_task *task,
                               struct model_collective *result)
{
    int gpus = walk->fabric->topology->gpus_per_node;
    struct model_group *groups =
        model_arena_array(walk->arena, (size_t)gpus, sizeof(*groups));
    int count = model_parts_groups(walk, task->group, 0, groups);
    enum model_protocol protocol = (enum model_protocol)task->config->protocol;
    double n = (double)task->group->count;
    double peers = task->kind == MODEL_ALL_TO_ALL ? n - 1.0 : 1.0;
    double each_bytes =
        task->size_bytes / (task->kind == MODEL_ALL_TO_ALL ? n : 1.0);
    double part_bytes = each_bytes / (double)task->config->channels;
    double chunk_bytes = fmin(fmin(task->config->chunk_bytes,
                                   model_protocol_facts(protocol)->slot_bytes),
                              part_bytes);
    double step_us;

    model_walk_start(walk, task->config, task->config->threads,
                     model_parts_work_ratio(walk->fabric->topology, task->kind),
                     chunk_bytes);
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
    /* Channels are dealt out over all ranks, the own one too. */
    step_us = (walk->transfer_us + walk->wait_us) / walk->weight *
              (peers > 1.0 ? (peers + 1.0) / peers : 1.0);
    result->channel_bytes = peers * part_bytes;
    result->channel_bytes_per_us = chunk_bytes / step_us;
    result->step_latency_us = model_walk_latency_us(walk);
    result->step_bytes = chunk_bytes;
    result->first_steps = (int)peers;
    result->hbm_ratio = buffer_ratio(task) + model_parts_fifo_ratio(walk, task);
    model_parts_finish(walk, task, chunk_bytes, result);
}
