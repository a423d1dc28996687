/*
 * tuning_data.h - the constants of NCCL's tuning model, of one version:
 * the section `tuning` of topologies/nccl/VERSION.yaml.
 *
 * tuning.c has the formulas they are used in, enable.c the rules,
 * shrink.c and chunk.c what happens to small messages, p2p.c
 * what send and receive do. Where versions differ in a rule rather than in a
 * number, a switch says which is meant.
 */
#ifndef MODEL_NCCL_TUNING_DATA_H
#define MODEL_NCCL_TUNING_DATA_H

#include "model/nccl/settings.h"
#include "model/schema.h"

/* Rows of NCCL's tables of bandwidth: the GPU's, within one node. */
enum model_nccl_generation {
    MODEL_NCCL_VOLTA, /* and older */
    MODEL_NCCL_AMPERE,
    MODEL_NCCL_HOPPER,
    MODEL_NCCL_BLACKWELL, /* and newer */
    MODEL_NCCL_GENERATIONS
};

/* Their columns: how many nodes. */
enum model_nccl_scale {
    MODEL_NCCL_ONE_NODE,
    MODEL_NCCL_TWO_NODES,
    MODEL_NCCL_MORE_NODES,
    MODEL_NCCL_SCALES
};

/* What a step goes over. */
enum model_nccl_hop {
    MODEL_NCCL_HOP_NVLINK,
    MODEL_NCCL_HOP_PCIE,
    MODEL_NCCL_HOP_NETWORK,
    MODEL_NCCL_HOPS
};

struct model_nccl_latencies {
    double us[MODEL_NCCL_ALGORITHMS][MODEL_NCCL_PROTOCOLS];
};

struct model_nccl_rates {
    double bytes_per_us[MODEL_NCCL_GENERATIONS][MODEL_NCCL_SCALES];
};

/* How NVLS is modelled. */
enum model_nccl_nvls_model {
    MODEL_NCCL_NVLS_FIXED,    /* a share of the graph's bandwidth */
    MODEL_NCCL_NVLS_PIPELINED /* two operations overlap; all_gather and
                                 reduce_scatter have it too */
};

/* How many steps of a ring's all_reduce over N nodes are of the network. */
enum model_nccl_network_steps {
    MODEL_NCCL_STEPS_OF_NODES, /* 2 N */
    MODEL_NCCL_STEPS_BETWEEN   /* 2 (N - 1) */
};

/* How a message to one peer is dealt to channels; p2p.c. */
enum model_nccl_p2p_parts { MODEL_NCCL_P2P_ALIGNED, MODEL_NCCL_P2P_EVEN };

/* Shares of a graph's bandwidth, and what they are divided by. */
struct model_nccl_shares {
    double ring_ll_ratio;        /* of what reduces, or crosses nodes */
    double ring_ll_gather_ratio; /* of what does neither */
    double ring_ll128_ratio;
    double ring_ll128_lone_ratio; /* with less than 2 ranks a node */
    double tree_ratio;
    double tree_ll_divisor_ratio;
    double tree_ll128_ratio;
    double tree_ll128_one_node_ratio;
    double plain_tree_ratio;
    double tree_bus_ratio;      /* algorithm bandwidth / bus bandwidth */
    double nvls_bus_ratio;      /* the same, of the fixed model */
    double nvls_tree_bus_ratio; /* the same, times N / 2 (N - 1) */
    double pat_ratio;
    double nvls_efficiency_ratio[MODEL_NCCL_GENERATIONS]; /* pipelined */
};

/* The latency of a ring's Simple all_reduce over nodes, once a channel has
 * least_bytes for each rank. */
struct model_nccl_plateau {
    double least_bytes;
    double ratio;
    double old_ratio; /* of GPUs below old_capability */
    int old_capability;
};

struct model_nccl_threads {
    int simple, ll, ll128;
    int cta;  /* of a full CTA: NVLS, PAT, send and receive */
    int pat;  /* of those of PAT, that move data */
    int slow; /* Simple rings whose graph does at most */
    double slow_bytes_per_us;
    int least;       /* that NCCL_NTHREADS can ask for */
    int least_ll128; /* that NCCL_LL128_NTHREADS can */
    bool full_trees; /* a tree's CTA is full, whatever its size */
};

/* A chunk is halved while M is below multiple x what is under way, and the
 * chunk above so many bytes. */
struct model_nccl_stage {
    double multiple;
    double above_bytes;
};

/* A chunk becomes to_bytes where it is longer and M below multiple x what is
 * under way. */
struct model_nccl_rung {
    double multiple;
    double to_bytes;
};

/* Largest chunks of NVLS: the first row that holds. */
struct model_nccl_nvls_row {
    int least_capability;
    int least_nodes, most_nodes; /* 0: any */
    int least_ranks, most_ranks; /* on the emptiest node; 0: any */
    double least_nic_bytes_per_us, below_nic_bytes_per_us; /* 0: any */
    bool near_nic; /* only with no host bridge between GPU and NIC */
    double chunk_bytes, tree_chunk_bytes; /* 0: as chunk_bytes */
};

struct model_nccl_chunks {
    double buffer_bytes[MODEL_NCCL_PROTOCOLS];
    double arm_buffer_bytes;              /* Simple, on Arm CPUs */
    int ring_slots[MODEL_NCCL_FUNCTIONS]; /* of a Simple ring's chunk */
    struct model_list tree_stages;        /* of struct model_nccl_stage; times
                                             the depth */
    struct model_list tree_ll128_stages;  /* times steps / ranks a node */
    bool tree_ll128_counts_wire; /* flags count as part of the chunk there */
    struct model_list pat_gather_stages, pat_reduce_stages;
    struct model_list nvls_rungs, nvls_tree_rungs; /* model_nccl_rung */
    struct model_list nvls_rows;                   /* model_nccl_nvls_row */
    bool nvls_tree_in_slot; /* its chunk is no longer than a FIFO's slot */
    bool nvls_settable; /* NCCL_NVLS_CHUNKSIZE, NCCL_NVLSTREE_MAX_CHUNKSIZE */
    double grain_bytes[MODEL_NCCL_PROTOCOLS]; /* chunks are whole multiples */
};

struct model_nccl_p2p_data {
    int parts; /* enum model_nccl_p2p_parts */
    double net_chunk_bytes, pci_chunk_bytes, nvl_chunk_bytes;
    double ll_threshold_bytes;
    int peers_per_cta; /* share one channel on the way to another node */
};

struct model_nccl_tuning_data {
    struct model_nccl_latencies base;
    struct model_nccl_latencies hops[MODEL_NCCL_HOPS];
    double net_overhead_us, amd_net_overhead_us; /* of a step across nodes */
    double net_overhead_simple_ratio;
    double pat_overlap_ratio; /* steps of PAT that overlap */
    double pat_rank_us;

    struct model_nccl_rates ll_most; /* in all; rows are of the CPU from two
                                        nodes on: Volta Intel, Ampere AMD */
    struct model_nccl_rates ring_ll128_most, tree_most, tree_ll128_most,
        nvls_tree_most; /* per channel */
    struct model_nccl_shares shares;
    struct model_nccl_plateau plateau;
    /* By size, from tree_correction_bytes on, doubling. */
    double tree_correction_bytes;
    struct model_list tree_correction[MODEL_NCCL_PROTOCOLS]; /* of double */
    struct model_list nvls_tree_correction; /* of double, on x86 ... */
    int nvls_tree_correction_capability;    /* ... with these GPUs and newer */

    /* Rules. */
    int nvls_model;              /* enum model_nccl_nvls_model */
    int network_steps;           /* enum model_nccl_network_steps */
    bool lone_rank_tree_latency; /* a node's only rank cannot hide the network:
                                    a tree's latency for every algorithm */
    bool pat;                    /* the version has it */
    struct model_list ll128_capabilities; /* of double; empty: any from */
    int ll128_least_capability;
    int ll128_pxn_capability; /* from here on LL128 may go by PXN */
    bool ring_stays; /* NCCL_ALGO cannot disable it, but for all_reduce */
    bool broadcast_gathers; /* a broadcast is run as an all_gather would be of
                               as much from each rank */
    bool algorithms_reset;  /* NCCL_ALGO that leaves none: ring and tree */

    struct model_nccl_threads threads;
    double thread_bytes[MODEL_NCCL_PROTOCOLS]; /* least work of a thread */
    int least_threads;                         /* of a CTA */
    double channel_traffic_bytes; /* least of a channel: a message is dealt to
                                     channels in cells; 0: it is cut evenly */
    double ll_traffic_ratio;      /* what LL's traffic counts as */
    struct model_nccl_chunks chunks;
    struct model_nccl_p2p_data p2p;
};

/* The table of keys. */
extern const struct model_field model_nccl_tuning_fields[];

#endif
