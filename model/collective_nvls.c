/*
 * collective_nvls.c - collectives that the NVSwitch reduces and multicasts
 * (NVLink SHARP: sm_90 on an NVSwitch), alone on one node or with trees
 * between nodes (NCCL 2.18.3 src/collectives/device).
 *
 * Progress is payload, M / NC a channel. Every GPU is the head of 1/n of the
 * buffer. Warps of a CTA work side by side on
 *
 *     copy in    the user buffer to the buffer that the switch reads
 *     reduce     multimem loads of the head's part, multicast of the result
 *     copy out   what the switch wrote to the user buffer
 *
 *     kind             roles   HBM bytes a rank      NVLink, out    in
 *     all_reduce       3       6                     1 + 1/n        1 + 1/n
 *     reduce_scatter   2       3 + 1/n               1              1/n
 *     all_gather       2       3 + 1/n               1/n            1
 *
 * (per byte of payload; out of a GPU go its parts to the reducing switch, and
 * its own result to the multicast; of NVLink's rate such traffic reaches
 * nvls_ratio). Chunks are of one head; a loop moves n of them.
 *
 * Between nodes (nvls_tree, all_reduce) each GPU sends its head's part up and
 * down a double binary tree over its own NIC; a fourth role is the way down.
 */
#include "model/collective_parts.h"

#include <math.h>

enum { MEMBERS_MIN = 3 }; /* with two GPUs NCCL has no NVLS */

struct roles {
    double count, copies, hbm_ratio, out, in;
};

static struct roles roles_of(const struct model_collective_task *task, double n)
{
    double joined = task->config->algorithm == MODEL_NVLS_TREE ? 1.0 : 0.0;

    switch (task->kind) {
    case MODEL_REDUCE_SCATTER:
        return (struct roles){2.0, 1.0, 3.0 + 1.0 / n, 1.0, 1.0 / n};
    case MODEL_ALL_GATHER:
        return (struct roles){2.0, 1.0, 3.0 + 1.0 / n, 1.0 / n, 1.0};
    default:
        return (struct roles){3.0 + joined, 2.0, 6.0, 1.0 + 1.0 / n,
                              1.0 + 1.0 / n};
    }
}

/*
 * Time of one loop of n chunks. A CTA is on all roles at once, and its time
 * goes where the bytes are: a copy moves all of the payload, a head or the way
 * down 1/n of it, each byte by a load and a store.
 */
static double loop_us(const struct model_walk *walk,
                      const struct model_collective_task *task,
                      const struct roles *roles,
                      double n,
                      double chunk_bytes)
{
    const struct model_topology *topology = walk->fabric->topology;
    struct model_hop near = {.kind = MODEL_HOP_NVLINK};
    struct model_channel_role role = model_parts_role(walk, task);
    struct model_channel channel;
    double moved = roles->copies + (roles->count - roles->copies) / n;

    role.work_ratio = model_parts_copy_ratio(&topology->gpu);
    channel = model_channel_in_role(topology, &near, MODEL_SIMPLE, &role);
    return model_channel_transfer_us(&channel, moved * n * chunk_bytes) +
           channel.sync_us + topology->nvlink.latency_us;
}

/* NVLink flows of every shown GPU in the group. */
static void walk_switch(struct model_walk *walk,
                        const struct model_collective_task *task,
                        const struct roles *roles)
{
    const struct model_fabric *fabric = walk->fabric;
    int gpus = fabric->topology->gpus_per_node;
    double channels =
        (double)task->config->channels / fabric->topology->gpu.nvls_ratio;
    bool folded = model_fabric_is_folded(fabric);
    bool every = folded || task->group->family;
    int count = every ? gpus : task->group->count;

    for (int i = 0; i < count; i++) {
        int rank = every ? i : model_group_rank(task->group, i);
        int base = rank / gpus % fabric->shown_nodes * fabric->links_per_node +
                   rank % gpus;

        model_walk_link(walk, base + fabric->first[MODEL_LINK_NVLINK_OUT],
                        channels * roles->out);
        model_walk_link(walk, base + fabric->first[MODEL_LINK_NVLINK_IN],
                        channels * roles->in);
    }
}

static double local_count(const struct model_walk *walk,
                          const struct model_group *group)
{
    struct model_group one = model_group_instance(group, 0);

    return (double)one.count / (double)model_parts_nodes(walk, &one);
}

static double make_switched(struct model_walk *walk,
                            const struct model_collective_task *task,
                            struct model_collective *result)
{
    double n = local_count(walk, task->group);
    struct roles roles = roles_of(task, n);
    double part_bytes = task->size_bytes / (double)task->config->channels;
    double chunk_bytes =
        fmin(model_parts_nvls_chunk_bytes(task, n), part_bytes / n);
    double step_us = loop_us(walk, task, &roles, n, chunk_bytes);

    walk_switch(walk, task, &roles);
    result->channel_bytes = part_bytes;
    result->channel_bytes_per_us = n * chunk_bytes / step_us;
    /* The other roles each have to see a first loop. */
    result->fill_us = (roles.count - 1.0) * step_us;
    result->fill_bytes = (roles.count - 1.0) * n * chunk_bytes;
    result->hbm_ratio = roles.hbm_ratio;
    return chunk_bytes;
}

/* Why the switches of its nodes cannot serve a group, or NULL. */
static const char *switch_fault(const struct model_walk *walk,
                                const struct model_group *group)
{
    struct model_group one = model_group_instance(group, 0);
    int gpus = walk->fabric->topology->gpus_per_node;
    int nodes = model_parts_nodes(walk, &one);
    int members = one.count / nodes;

    for (int i = 0; i < one.count; i++) {
        if (one.count % nodes != 0 ||
            model_group_rank(&one, i) / gpus !=
                model_group_rank(&one, i - i % members) / gpus) {
            return "nvls_tree needs as many ranks of a group on each node";
        }
    }
    return members < MEMBERS_MIN
               ? "nvls needs at least 3 ranks of a group on a node"
               : NULL;
}

void model_collective_nvls(struct model_walk *walk,
                           const struct model_collective_task *task,
                           struct model_collective *result)
{
    struct model_channel_role role = model_parts_role(walk, task);
    double chunk_bytes;

    model_walk_start(walk, task->config, &role, 0.0);
    chunk_bytes = make_switched(walk, task, result);
    model_parts_finish(walk, task, chunk_bytes, result);
    /* A loop moves a chunk of each head through every cache. */
    result->footprint_bytes *= local_count(walk, task->group);
    if (model_group_spans_nodes(task->group,
                                walk->fabric->topology->gpus_per_node)) {
        result->fault = "nvls stays on one node; nvls_tree joins several";
    } else {
        result->fault = switch_fault(walk, task->group);
    }
}

void model_collective_nvls_tree(struct model_walk *walk,
                                const struct model_collective_task *task,
                                struct model_collective *result)
{
    double n = local_count(walk, task->group);
    double share = 1.0 / n;
    struct model_channel_role role = model_parts_role(walk, task);
    double chunk_bytes =
        fmin(model_parts_nvls_chunk_bytes(task, n),
             task->size_bytes / (double)task->config->channels / n);
    double network_us;
    double path_us;
    int nodes;

    role.share = 0.25;
    role.first_share = 1.0;
    model_walk_start(walk, task->config, &role, chunk_bytes);
    if (!model_group_spans_nodes(task->group,
                                 walk->fabric->topology->gpus_per_node)) {
        result->fault = "nvls_tree joins several nodes; nvls serves one";
        return;
    }
    result->fault = switch_fault(walk, task->group);
    if (result->fault != NULL) {
        return;
    }
    path_us = model_parts_walk_trees(walk, task, share, &nodes);
    network_us = walk->slowest_stream_us;
    (void)make_switched(walk, task, result);
    /* Each head passes its 1/n of the payload on. */
    result->channel_bytes_per_us =
        fmin(result->channel_bytes_per_us, n * chunk_bytes / network_us);
    result->fill_us += 2.0 * path_us;
    result->hbm_ratio += model_parts_fifo_ratio(walk, task);
    model_parts_finish(walk, task, chunk_bytes, result);
    result->footprint_bytes *= n;
}
