/*
 * collective_copy.c - all_gather and all_to_all by DMA engines: no SM, no
 * FIFO, no cache. A what-if for buffers that every GPU can reach, as NCCL's
 * zero-CTA policy has it from 2.28 on.
 *
 * Each rank copies M / n to each of its n - 1 peers; `channels` says into how
 * many copies that go side by side a block is cut. Progress is wire bytes of
 * one of them. All engines together move copy_engine.rate; each copy begins
 * with a launch. HBM: one read here, one write there, and both for a rank's
 * own part.
 */
#include "model/collective_parts.h"

void model_collective_copy(struct model_walk *walk,
                           const struct model_collective_task *task,
                           struct model_collective *result)
{
    const struct model_topology *topology = walk->fabric->topology;
    int gpus = topology->gpus_per_node;
    struct model_group *groups =
        model_arena_array(walk->arena, (size_t)gpus, sizeof(*groups));
    int count = model_parts_groups(walk, task->group, 0, groups);
    struct model_config config = *task->config;
    double n = (double)task->group->count;
    double channels = (double)config.channels;
    double part_bytes = task->size_bytes / n / channels;
    struct model_channel_role role = model_parts_role(walk, task);

    if (model_group_spans_nodes(task->group, gpus)) {
        result->fault = "copy engines reach only GPUs of their own node";
        return;
    }
    config.transport = MODEL_P2P;
    config.protocol = MODEL_SIMPLE;
    model_walk_start(walk, &config, &role, part_bytes);
    for (int i = 0; i < count; i++) {
        int first;
        int end;

        model_parts_span(walk, &groups[i], 0, &first, &end);
        for (int member = first; member < end; member++) {
            int rank = model_group_rank(&groups[i], member);

            for (int j = 1; j < groups[i].count; j++) {
                int to = (member + j) % groups[i].count;

                (void)model_walk_pair(walk, rank,
                                      model_group_rank(&groups[i], to),
                                      channels / (n - 1.0));
            }
        }
    }
    walk->in_flight_bytes = 0.0;
    result->channel_bytes = (n - 1.0) * part_bytes;
    result->channel_bytes_per_us =
        part_bytes / (topology->gpu.copy_launch_us +
                      part_bytes * channels / topology->gpu.copy_bytes_per_us);
    result->hbm_ratio = 2.0 + 2.0 / (n - 1.0);
    model_parts_finish(walk, task, part_bytes, result);
    result->footprint_bytes = 0.0;
}
