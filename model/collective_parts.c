/*
 * collective_parts.c - which ranks to walk, and the sums at the end.
 */
#include "model/collective_parts.h"

#include <math.h>

static int gpus_per_node(const struct model_walk *walk)
{
    return walk->fabric->topology->gpus_per_node;
}

int model_parts_groups(const struct model_walk *walk,
                       const struct model_group *group,
                       int node,
                       struct model_group *groups)
{
    int gpus = gpus_per_node(walk);
    int count = 0;

    if (!group->family) {
        groups[0] = *group;
        return 1;
    }
    for (int rank = node * gpus; rank < (node + 1) * gpus; rank++) {
        int instance = model_group_instance_of(group, rank);
        bool known = false;

        for (int i = node * gpus; i < rank && !known; i++) {
            known = model_group_instance_of(group, i) == instance;
        }
        if (!known) {
            groups[count++] = model_group_instance(group, instance);
        }
    }
    return count;
}

void model_parts_span(const struct model_walk *walk,
                      const struct model_group *group,
                      int node,
                      int *first,
                      int *end)
{
    int gpus = gpus_per_node(walk);

    *first = 0;
    *end = group->count;
    if (!model_fabric_is_folded(walk->fabric)) {
        return;
    }
    while (*first < group->count &&
           model_group_rank(group, *first) < node * gpus) {
        (*first)++;
    }
    *end = *first;
    while (*end < group->count &&
           model_group_rank(group, *end) < (node + 1) * gpus) {
        (*end)++;
    }
}

double model_parts_ranks(const struct model_walk *walk,
                         const struct model_group *group)
{
    int gpus = gpus_per_node(walk);

    return (double)(model_fabric_is_folded(walk->fabric) || group->family
                        ? gpus
                        : group->count);
}

int model_parts_nodes(const struct model_walk *walk,
                      const struct model_group *group)
{
    int gpus = gpus_per_node(walk);
    int count = 0;
    int last = -1;

    for (int member = 0; member < group->count; member++) {
        int node = model_group_rank(group, member) / gpus;

        count += node != last ? 1 : 0;
        last = node;
    }
    return count;
}

double model_parts_copy_ratio(const struct model_gpu *gpu)
{
    return 0.5 * gpu->exchange_ratio;
}

static double work_ratio(const struct model_gpu *gpu,
                         enum model_collective_kind kind)
{
    switch (kind) {
    case MODEL_REDUCE_SCATTER:
    case MODEL_REDUCE:
    case MODEL_RING_STEP:
        return gpu->reduce_ratio;
    case MODEL_ALL_REDUCE:
        return 0.5 * (1.0 + gpu->reduce_ratio);
    case MODEL_ALL_TO_ALL:
    case MODEL_SEND_RECV:
    case MODEL_SEND:
        return model_parts_copy_ratio(gpu);
    case MODEL_ALL_GATHER:
    case MODEL_BROADCAST:
    case MODEL_COLLECTIVE_KINDS:
        break;
    }
    return 1.0;
}

struct model_channel_role
model_parts_role(const struct model_walk *walk,
                 const struct model_collective_task *task)
{
    return (struct model_channel_role){
        .threads = task->config->threads,
        .share = 1.0,
        .work_ratio = work_ratio(&walk->fabric->topology->gpu, task->kind),
        .slices = 1,
        .reuse_bytes = HUGE_VAL};
}

double model_parts_fifo_ratio(const struct model_walk *walk,
                              const struct model_collective_task *task)
{
    double wire_ratio = model_protocol_facts(walk->protocol)->wire_ratio;

    return 2.0 * wire_ratio * (walk->device_fifos + walk->network_sends) /
           (model_parts_ranks(walk, task->group) *
            (double)task->config->channels);
}

void model_parts_finish(struct model_walk *walk,
                        const struct model_collective_task *task,
                        double chunk_bytes,
                        struct model_collective *result)
{
    result->chunk_bytes = chunk_bytes;
    result->in_flight_bytes = walk->in_flight_bytes;
    result->footprint_bytes = (double)task->config->channels * chunk_bytes *
                              model_protocol_facts(walk->protocol)->wire_ratio;
    result->fault = walk->fault;
    result->uses = model_walk_uses(walk, &result->use_count);
}
