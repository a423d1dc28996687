/*
 * settings.c - names, settings of which nothing is set, and what
 * they mean for the routes of a machine.
 */
#include "model/nccl/settings.h"

#include "model/protocol.h"

const char *const model_nccl_algorithm_names[] = {
    "Tree", "Ring",     "CollNetDirect", "CollNetChain",
    "NVLS", "NVLSTree", "PAT",           NULL};
const char *const model_nccl_protocol_names[] = {"LL", "LL128", "Simple", NULL};
const char *const model_nccl_function_names[] = {
    "Broadcast", "Reduce", "AllGather", "ReduceScatter", "AllReduce", NULL};

struct model_nccl_settings model_nccl_settings_none(void)
{
    struct model_nccl_settings none = {.threads = MODEL_UNSET,
                                       .ll128_threads = MODEL_UNSET,
                                       .min_channels = MODEL_UNSET,
                                       .max_channels = MODEL_UNSET,
                                       .min_ctas = MODEL_UNSET,
                                       .max_ctas = MODEL_UNSET,
                                       .nvls_channels = MODEL_UNSET,
                                       .min_p2p_channels = MODEL_UNSET,
                                       .max_p2p_channels = MODEL_UNSET,
                                       .channels_per_net_peer = MODEL_UNSET,
                                       .p2p_ll_threshold_bytes = -1.0,
                                       .nvls_enable = MODEL_UNSET,
                                       .pat_enable = MODEL_UNSET,
                                       .collnet_enable = MODEL_UNSET,
                                       .net_overhead_us = -1.0,
                                       .p2p_disable = MODEL_UNSET,
                                       .shm_disable = MODEL_UNSET,
                                       .p2p_direct_disable = MODEL_UNSET,
                                       .pxn_disable = MODEL_UNSET,
                                       .p2p_level = MODEL_UNSET,
                                       .gdr_level = MODEL_UNSET,
                                       .cross_nic = MODEL_UNSET,
                                       .cta_policy = MODEL_UNSET};

    for (int f = 0; f < MODEL_NCCL_FUNCTIONS; f++) {
        for (int a = 0; a < MODEL_NCCL_ALGORITHMS; a++) {
            none.algorithm_allowed[f][a] = true;
        }
        for (int p = 0; p < MODEL_NCCL_PROTOCOLS; p++) {
            none.protocol_allowed[f][p] = true;
        }
    }
    for (int a = 0; a < MODEL_NCCL_THRESHOLDS; a++) {
        for (int p = 0; p < MODEL_NCCL_PROTOCOLS; p++) {
            none.thread_threshold_bytes[a][p] = -1.0;
        }
    }
    return none;
}

static void apply_p2p(const struct model_nccl_settings *settings,
                      struct model_topology *topology)
{
    if (settings->p2p_disable == 1 || settings->p2p_level_local) {
        topology->nvlink.kind = MODEL_NVLINK_NONE;
        topology->pcie.p2p = MODEL_PATH_NVL;
    } else if (settings->p2p_level != MODEL_UNSET) {
        topology->pcie.p2p = settings->p2p_level;
    }
}

void model_nccl_settings_apply(const struct model_nccl_settings *settings,
                               struct model_topology *topology)
{
    apply_p2p(settings, topology);
    if (settings->buffer_bytes[MODEL_NCCL_SIMPLE] > 0.0) {
        topology->nccl.slot_bytes =
            settings->buffer_bytes[MODEL_NCCL_SIMPLE] / MODEL_FIFO_SLOTS;
    }
    if (settings->gdr_level_local) {
        topology->nics.gpudirect = false;
    } else if (settings->gdr_level != MODEL_UNSET) {
        topology->nics.gpudirect_level = settings->gdr_level;
    }
    if (settings->pxn_disable != MODEL_UNSET) {
        topology->nics.pxn = topology->nics.pxn && settings->pxn_disable != 1;
    }
    if (settings->cross_nic != MODEL_UNSET) {
        topology->network.cross_nic = settings->cross_nic != 0;
    }
}
