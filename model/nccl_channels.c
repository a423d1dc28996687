/*
 * nccl_channels.c - from the graphs that were found to numbers of channels.
 */
#include "model/nccl_comm.h"

/* GPUs in their order over one channel: what NCCL takes where nothing fits. */
static struct model_nccl_graph plain_graph(struct model_arena *arena,
                                           int pattern,
                                           int gpus)
{
    int *order = model_arena_array(arena, (size_t)gpus, sizeof(*order));
    int *nics = model_arena_array(arena, 2, sizeof(*nics));

    for (int i = 0; i < gpus; i++) {
        order[i] = i;
    }
    return (struct model_nccl_graph){.pattern = pattern,
                                     .channels = 1,
                                     .intra_bytes_per_us = 100.0,
                                     .inter_bytes_per_us = 100.0,
                                     .intra_type = MODEL_NCCL_PATH_SYS,
                                     .inter_type = MODEL_NCCL_PATH_SYS,
                                     .order = order,
                                     .nics = nics};
}

void model_nccl_comm_make(struct model_arena *arena,
                          const struct model_topology *topology,
                          const struct model_group *group,
                          const struct model_nccl_version *version,
                          const struct model_nccl_settings *settings,
                          struct model_nccl_comm *comm)
{
    int gpus = topology->gpus_per_node;
    int nodes = (model_group_rank(group, group->count - 1) / gpus) -
                (model_group_rank(group, 0) / gpus) + 1;
    int local = (group->count + nodes - 1) / nodes;

    *comm = (struct model_nccl_comm){
        .topology = topology,
        .version = version,
        .settings = settings,
        .rank_count = group->count,
        .node_count = nodes,
        .ranks_per_node = local,
        .least_ranks_per_node = local,
        .compute_capability = topology->gpu.compute_capability,
        .all_nvlink = topology->nvlink.kind != MODEL_NVLINK_NONE,
        .has_nvswitch = topology->nvlink.kind == MODEL_NVLINK_SWITCH,
        .channels = 2,
        .p2p_channels = 2,
        .p2p_channels_per_peer = 2,
        .p2p_type = MODEL_NCCL_PATH_SYS};
    comm->graphs[MODEL_NCCL_GRAPH_RING] =
        plain_graph(arena, MODEL_NCCL_RING_PATTERN, local);
    comm->graphs[MODEL_NCCL_GRAPH_TREE] =
        plain_graph(arena, MODEL_NCCL_PLAIN_TREE, local);
}
