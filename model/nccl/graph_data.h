/*
 * graph_data.h - the constants of NCCL's graph search, of one version: the
 * section `graph` of topologies/nccl/VERSION.yaml.
 *
 * Rates are those that NCCL assumes by type of link, per direction, bytes/us.
 * Tables with a lower bound (capability, model) are ascending: of the rows that
 * fit the last one counts.
 */
#ifndef MODEL_NCCL_GRAPH_DATA_H
#define MODEL_NCCL_GRAPH_DATA_H

#include "model/schema.h"

/* Rates of one channel that the search tries, falling: lists of double. */
struct model_nccl_speeds {
    int capability; /* from this compute capability on */
    struct model_list intra, inter;
};

struct model_nccl_nvlink_rate {
    int capability;
    double bytes_per_us; /* of one link */
};

struct model_nccl_pcie_rate {
    int generation;
    double bytes_per_us; /* of an x16 slot */
};

struct model_nccl_socket_rate {
    int cpu;    /* enum model_cpu */
    int family; /* 0: any */
    int model;  /* from this one on */
    double bytes_per_us;
};

/* NCCL_P2P_LEVEL where nobody sets it. */
struct model_nccl_p2p_default {
    int cpu;
    int most_gpus; /* 0: any number */
    int level;     /* enum model_path */
};

struct model_nccl_nvls_default {
    int capability;
    int one_node, more_nodes; /* channels */
};

/* Steps that a search may take. */
struct model_nccl_budget {
    int all; /* of one graph's attempts together */
    int attempt;
    int tree;  /* of an attempt for plain trees */
    int same;  /* of an attempt whose channels are all alike */
    int first; /* of trying GPUs in their order from a NIC, not counted */
};

struct model_nccl_graph_data {
    int max_channels; /* of a communicator */
    int max_devices;  /* of one kind, in a node */

    struct model_list speeds; /* of struct model_nccl_speeds */
    struct model_nccl_budget budget;

    /* What it thinks of links. */
    double local_bytes_per_us;
    struct model_list nvlink;  /* of struct model_nccl_nvlink_rate */
    struct model_list pcie;    /* of struct model_nccl_pcie_rate */
    struct model_list sockets; /* of struct model_nccl_socket_rate */
    double intel_p2p_ratio;    /* PCIe bytes per byte between GPUs by way of an
                                  Intel root complex */
    struct model_list p2p;     /* of struct model_nccl_p2p_default */
    bool c2c;                  /* it knows links between CPU and GPU */
    bool pxn_needs_gpudirect;

    /* Rules of the search. */
    double same_nic_bonus_ratio; /* by which staying on one NIC is favoured */
    bool nic_pairs; /* crossing NICs: rings in pairs, one there, one back */
    bool types_as_present; /* tries path types from the nearest there is to
                              the farthest, not all from NVL to SYS */
    int any_net_below;     /* below this capability all the same to SYS */
    bool amd_repeats;      /* between AMD sockets all channels must be alike */
    bool split_needs_two;  /* two NVLink islands: two rings at least */
    bool nvswitch_neighbours; /* on an NVSwitch only to GPUs next in order */
    bool replay_or_search;    /* further channels repeat the first, or are
                                 searched; not both */
    bool rotate_nics;         /* channel i starts with the i-th NIC */
    bool double_first;        /* doubles channels before trying faster ones */
    bool raise_rings; /* tries faster rings too, with so many channels */
    bool nvls_heads;  /* NVLS: one channel for each GPU that is a head */

    double lower_ratio; /* lower rates than this part of the best one's are not
                           worth a try */
    double plain_bytes_per_us; /* of the one channel where nothing fits */

    /* Channels as fast as this are made two of half the rate; those of a
     * machine with `many` or more only if they are yet faster, where the
     * compute capability is above that one. */
    double double_bytes_per_us, double_many_bytes_per_us;
    int double_many, double_many_above;

    /* From graphs to channels: across nodes twice as many once more, */
    double again_bytes_per_us; /* if rings are faster within nodes than this, */
    int double_capability;     /* up to this compute capability, */
    int double_below;          /* and there are fewer channels than this */
    struct model_list nvls;    /* of struct model_nccl_nvls_default */
    bool p2p_peers_bounded;    /* per peer not more than the kernel has */
    int net_peer_channels;     /* to a peer on another node */
    double net_peer_bytes_per_us; /* one more for each; 0: no such rule */
    int p2p_batch; /* peers served at once when nodes differ; 0: no such rule */
};

/* The table of keys. */
extern const struct model_field model_nccl_graph_fields[];

#endif
