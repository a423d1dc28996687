/*
 * settings.h - the NCCL_* variables of a job, as NCCL reads them.
 *
 * What nobody set is MODEL_UNSET (counts, levels, switches), 0 (bytes), or
 * negative where 0 has a meaning of its own; the defaults are those of the
 * version's tables (version.h). Values are kept as the variable says; the
 * clamps that NCCL applies when it makes a communicator or chooses an algorithm
 * are in channels.c and tuning.c, except where they need no
 * communicator (settings_read.c says which).
 */
#ifndef MODEL_NCCL_SETTINGS_H
#define MODEL_NCCL_SETTINGS_H

#include "model/topology.h"

/* In the order of NCCL's own enumerations. */
enum model_nccl_algorithm {
    MODEL_NCCL_TREE,
    MODEL_NCCL_RING,
    MODEL_NCCL_COLLNET_DIRECT,
    MODEL_NCCL_COLLNET_CHAIN,
    MODEL_NCCL_NVLS,
    MODEL_NCCL_NVLS_TREE,
    MODEL_NCCL_PAT,
    MODEL_NCCL_ALGORITHMS
};

enum model_nccl_protocol {
    MODEL_NCCL_LL,
    MODEL_NCCL_LL128,
    MODEL_NCCL_SIMPLE,
    MODEL_NCCL_PROTOCOLS
};

/* The collectives that NCCL tunes; send and receive follow other rules. */
enum model_nccl_function {
    MODEL_NCCL_BROADCAST,
    MODEL_NCCL_REDUCE,
    MODEL_NCCL_ALL_GATHER,
    MODEL_NCCL_REDUCE_SCATTER,
    MODEL_NCCL_ALL_REDUCE,
    MODEL_NCCL_FUNCTIONS
};

extern const char *const model_nccl_algorithm_names[MODEL_NCCL_ALGORITHMS + 1];
extern const char *const model_nccl_protocol_names[MODEL_NCCL_PROTOCOLS + 1];
/* "Broadcast", "AllGather" ... */
extern const char *const model_nccl_function_names[MODEL_NCCL_FUNCTIONS + 1];

enum { MODEL_NCCL_THRESHOLDS = 2 }; /* algorithms that have some: tree, ring */

struct model_nccl_settings {
    /*
     * NCCL_ALGO and NCCL_PROTO: what they leave, by function; all true where
     * the variable says nothing of the function. Where NCCL_PROTO does and
     * leaves LL128, NCCL uses LL128 even where it would not by itself.
     */
    bool algorithm_allowed[MODEL_NCCL_FUNCTIONS][MODEL_NCCL_ALGORITHMS];
    bool protocol_allowed[MODEL_NCCL_FUNCTIONS][MODEL_NCCL_PROTOCOLS];
    bool algorithm_set[MODEL_NCCL_FUNCTIONS];
    bool protocol_set[MODEL_NCCL_FUNCTIONS];

    int threads;       /* NCCL_NTHREADS, > 0 */
    int ll128_threads; /* NCCL_LL128_NTHREADS */

    int min_channels, max_channels; /* NCCL_MIN_/MAX_NCHANNELS, also _NRINGS */
    int min_ctas, max_ctas;         /* NCCL_MIN_/MAX_CTAS */
    int nvls_channels;              /* NCCL_NVLS_NCHANNELS */
    int min_p2p_channels, max_p2p_channels;
    int channels_per_net_peer; /* NCCL_NCHANNELS_PER_NET_PEER */

    double buffer_bytes[MODEL_NCCL_PROTOCOLS]; /* NCCL_{LL_,LL128_,}BUFFSIZE */
    double p2p_net_chunk_bytes, p2p_pci_chunk_bytes, p2p_nvl_chunk_bytes;
    double p2p_ll_threshold_bytes; /* negative: not set; 0: never LL */
    double nvls_chunk_bytes, nvls_tree_chunk_bytes;

    int nvls_enable, pat_enable, collnet_enable;

    /* NCCL_THREAD_THRESHOLDS: bytes per thread; negative: not set. */
    double thread_threshold_bytes[MODEL_NCCL_THRESHOLDS][MODEL_NCCL_PROTOCOLS];
    double net_overhead_us; /* NCCL_NET_OVERHEAD (ns); negative: not set */

    /* Transports. Levels are enum model_path; disabled is 0 or 1. */
    int p2p_disable, shm_disable, p2p_direct_disable, pxn_disable;
    int p2p_level, gdr_level;
    bool p2p_level_local, gdr_level_local; /* LOC: not even the nearest; the
                                              level beside it is not set */
    int cross_nic;                         /* 0, 1 or 2 */
    int cta_policy; /* 0 default, 1 efficiency, 2 zero; bits from 2.29 */
};

/* Nothing set. */
struct model_nccl_settings model_nccl_settings_none(void);

/*
 * Let a machine's routes follow the settings: pcie.p2p, nics.gpudirect and its
 * level, nics.pxn, network.cross_nic. Without any P2P GPUs reach each other
 * through host memory alone, so NVLink goes, too.
 */
void model_nccl_settings_apply(const struct model_nccl_settings *settings,
                               struct model_topology *topology);

#endif
