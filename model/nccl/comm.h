/*
 * comm.h - what NCCL settles when a communicator is made: its view of the
 * machine, the graphs it searches there, and how many channels come of them.
 *
 * NCCL 2.18.3: graph/topo.cc, paths.cc, search.cc, connect.cc. Rates are what
 * NCCL assumes by type of link, not what the links do; both in bytes/us.
 */
#ifndef MODEL_NCCL_COMM_H
#define MODEL_NCCL_COMM_H

#include "model/group.h"
#include "model/nccl/settings.h"
#include "model/nccl/version.h"

/* How near two devices are, nearest first. C2C, P2C: from 2.27 and 2.30 on. */
enum model_nccl_path {
    MODEL_NCCL_PATH_LOC,
    MODEL_NCCL_PATH_NVL,
    MODEL_NCCL_PATH_NVB,
    MODEL_NCCL_PATH_C2C,
    MODEL_NCCL_PATH_PIX,
    MODEL_NCCL_PATH_PXB,
    MODEL_NCCL_PATH_P2C,
    MODEL_NCCL_PATH_PXN,
    MODEL_NCCL_PATH_PHB,
    MODEL_NCCL_PATH_SYS,
    MODEL_NCCL_PATH_NET,
    MODEL_NCCL_PATH_DIS,
    MODEL_NCCL_PATHS
};

extern const char *const model_nccl_path_names[MODEL_NCCL_PATHS + 1];

/* What a graph is searched for. */
enum model_nccl_graph_kind {
    MODEL_NCCL_GRAPH_RING,
    MODEL_NCCL_GRAPH_TREE,
    MODEL_NCCL_GRAPH_NVLS,
    MODEL_NCCL_GRAPHS
};

/* As NCCL numbers them in a graph file. */
enum model_nccl_pattern {
    MODEL_NCCL_BALANCED_TREE = 1,
    MODEL_NCCL_SPLIT_TREE,
    MODEL_NCCL_PLAIN_TREE,
    MODEL_NCCL_RING_PATTERN,
    MODEL_NCCL_NVLS_PATTERN
};

struct model_nccl_graph {
    int pattern;  /* enum model_nccl_pattern */
    int channels; /* with the search's own doubling; 0: there is none */
    double intra_bytes_per_us, inter_bytes_per_us; /* of one channel */
    double inter_latency_us;
    int intra_type, inter_type; /* enum model_nccl_path */
    bool same_channels;
    int cross_nic;
    /* GPUs of the fullest node (the first of such) in their order, channel by
     * channel, ranks_per_node each; and each channel's first and last NIC, -1
     * without. */
    const int *order;
    const int *nics;
};

struct model_nccl_comm {
    const struct model_topology *topology;
    const struct model_nccl_version *version;
    const struct model_nccl_settings *settings;
    int rank_count, node_count;
    int ranks_per_node;       /* on the fullest node */
    int least_ranks_per_node; /* on the emptiest */
    int compute_capability;
    bool all_nvlink; /* each pair within each node */
    bool has_nvswitch;
    struct model_nccl_graph graphs[MODEL_NCCL_GRAPHS];
    int channels;      /* of rings and trees, after doubling and clamps */
    int nvls_channels; /* 0: NVLS cannot be used here */
    int p2p_channels;
    int p2p_channels_per_peer;
    int p2p_type;  /* the farthest path of a pair within a node */
    int transport; /* enum model_transport: SHM where NCCL does not take P2P as
                      far as the machine would */
};

/*
 * Make the communicator of a group (>= 1 member). It lives in the arena and
 * borrows the rest. Cannot fail: where NCCL finds no graph it takes GPUs in
 * their order over one channel, and so does this.
 */
void model_nccl_comm_make(struct model_arena *arena,
                          const struct model_topology *topology,
                          const struct model_group *group,
                          const struct model_nccl_version *version,
                          const struct model_nccl_settings *settings,
                          struct model_nccl_comm *comm);

#endif
