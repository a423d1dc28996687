/*
 * enable.c - which algorithms and protocols NCCL considers at all, and why
 * not the others (2.18.3 and 2.30.7: src/graph/tuning.cc, ncclTopoTuneModel).
 *
 * What the machine or the version rules out comes before what NCCL_ALGO and
 * NCCL_PROTO leave out, so that the words name what would have to change.
 */
#include "model/nccl/tuning_parts.h"

static const char *collnet_off(const struct model_nccl_comm *comm)
{
    return comm->settings->collnet_enable == 1
               ? "no network here reduces on its way (SHARP)"
               : "CollNet is off unless NCCL_COLLNET_ENABLE=1";
}

static const char *pat_off(const struct model_nccl_comm *comm, int function)
{
    int enable = comm->settings->pat_enable;

    if (!comm->version->tuning.pat) {
        return "this version has no PAT";
    }
    if (function != MODEL_NCCL_ALL_GATHER &&
        function != MODEL_NCCL_REDUCE_SCATTER) {
        return "PAT gathers and scatters only";
    }
    if (enable == 0) {
        return "NCCL_PAT_ENABLE=0";
    }
    return enable != 1 && comm->rank_count != comm->node_count
               ? "PAT is for one rank a node"
               : NULL;
}

static const char *nvls_off(const struct model_nccl_comm *comm, int function)
{
    bool pipelined =
        comm->version->tuning.nvls_model == MODEL_NCCL_NVLS_PIPELINED;

    if (function == MODEL_NCCL_BROADCAST || function == MODEL_NCCL_REDUCE) {
        return "only rings have a root";
    }
    if (function != MODEL_NCCL_ALL_REDUCE && !pipelined) {
        return "this version takes NVLS for all_reduce only";
    }
    if (comm->nvls_channels == 0) {
        return "NVLS is not to be had here";
    }
    if (comm->node_count > 1) {
        return "across nodes NVLS needs CollNet";
    }
    return comm->graphs[MODEL_NCCL_GRAPH_NVLS].channels < (pipelined ? 2 : 1)
               ? "NCCL finds no graph for NVLS"
               : NULL;
}

static const char *nvls_tree_off(const struct model_nccl_comm *comm,
                                 int function)
{
    bool pipelined =
        comm->version->tuning.nvls_model == MODEL_NCCL_NVLS_PIPELINED;

    if (function != MODEL_NCCL_ALL_REDUCE) {
        return "trees are for all_reduce only";
    }
    if (comm->node_count == 1) {
        return "one node needs no tree between nodes";
    }
    if (comm->nvls_channels == 0) {
        return "NVLS is not to be had here";
    }
    return comm->graphs[MODEL_NCCL_GRAPH_NVLS].channels < (pipelined ? 2 : 1)
               ? "NCCL finds no graph for NVLS"
               : NULL;
}

static const char *
algorithm_off(const struct model_nccl_comm *comm, int function, int algorithm)
{
    switch (algorithm) {
    case MODEL_NCCL_RING:
        return NULL;
    case MODEL_NCCL_TREE:
        return function != MODEL_NCCL_ALL_REDUCE
                   ? "trees are for all_reduce only"
                   : NULL;
    case MODEL_NCCL_NVLS:
        return nvls_off(comm, function);
    case MODEL_NCCL_NVLS_TREE:
        return nvls_tree_off(comm, function);
    case MODEL_NCCL_PAT:
        return pat_off(comm, function);
    default:
        return collnet_off(comm);
    }
}

static bool ll128_gpu(const struct model_nccl_comm *comm)
{
    const struct model_list *list = &comm->version->tuning.ll128_capabilities;
    const double *capabilities = list->items;

    if (comm->compute_capability <
        comm->version->tuning.ll128_least_capability) {
        return false;
    }
    for (int i = 0; i < list->count; i++) {
        if ((int)capabilities[i] == comm->compute_capability) {
            return true;
        }
    }
    return list->count == 0;
}

const char *model_nccl_ll128_off(const struct model_nccl_comm *comm,
                                 int algorithm)
{
    const struct model_nccl_graph *graph = model_nccl_graph_of(comm, algorithm);
    bool pxn =
        comm->compute_capability >= comm->version->tuning.ll128_pxn_capability;

    if (!ll128_gpu(comm)) {
        return "LL128 is not trusted on this GPU";
    }
    if (graph->intra_type > MODEL_NCCL_PATH_NVB) {
        return "LL128 needs NVLink between all GPUs of a node";
    }
    return graph->inter_type > (pxn ? MODEL_NCCL_PATH_PXN : MODEL_NCCL_PATH_PXB)
               ? "LL128 is not trusted on the way to the NICs"
               : NULL;
}

/* NCCL_PROTO, given, is all that decides on LL128. */
static const char *protocol_off(const struct model_nccl_comm *comm,
                                int function,
                                int algorithm,
                                int protocol)
{
    if (algorithm != MODEL_NCCL_RING && algorithm != MODEL_NCCL_TREE) {
        return protocol == MODEL_NCCL_SIMPLE ? NULL : "Simple only";
    }
    return protocol == MODEL_NCCL_LL128 &&
                   !comm->settings->protocol_set[function]
               ? model_nccl_ll128_off(comm, algorithm)
               : NULL;
}

static bool algorithm_left(const struct model_nccl_comm *comm, int function)
{
    const bool *allowed = comm->settings->algorithm_allowed[function];

    return allowed[MODEL_NCCL_RING] || allowed[MODEL_NCCL_TREE] ||
           (comm->node_count == 1 ? allowed[MODEL_NCCL_NVLS]
                                  : allowed[MODEL_NCCL_NVLS_TREE]);
}

static bool algorithm_allowed(const struct model_nccl_comm *comm,
                              int function,
                              int algorithm)
{
    const struct model_nccl_tuning_data *data = &comm->version->tuning;
    bool ring = algorithm == MODEL_NCCL_RING;

    if (ring && data->ring_stays && function != MODEL_NCCL_ALL_REDUCE) {
        return true;
    }
    if (data->algorithms_reset && !algorithm_left(comm, function)) {
        return ring || algorithm == MODEL_NCCL_TREE;
    }
    return comm->settings->algorithm_allowed[function][algorithm];
}

const char *model_nccl_off(const struct model_nccl_comm *comm,
                           int function,
                           int algorithm,
                           int protocol)
{
    const char *off = algorithm_off(comm, function, algorithm);

    if (comm->rank_count < 2) {
        return "one rank has nobody to talk to";
    }
    if (off == NULL) {
        off = protocol_off(comm, function, algorithm, protocol);
    }
    if (off == NULL && !algorithm_allowed(comm, function, algorithm)) {
        off = "NCCL_ALGO leaves it out";
    }
    if (off == NULL && !comm->settings->protocol_allowed[function][protocol]) {
        off = "NCCL_PROTO leaves it out";
    }
    return off;
}
