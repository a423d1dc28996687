/*
 * topology.h - a cluster: GPUs, how a node is wired, the network.
 *
 * Three spellings give the same struct: a YAML file, a YAML file with `base:`
 * (another file of which it changes keys), and the one-line notation of
 * notation.h. Hardware numbers that a topology leaves out come from the GPU's
 * file (NVLink) and from topologies/defaults.yaml (PCIe by generation, host,
 * NIC), never from C. fabric.h turns the struct into links and routes.
 */
#ifndef MODEL_TOPOLOGY_H
#define MODEL_TOPOLOGY_H

#include "model/config.h"
#include "model/ranks.h"

enum model_nvlink_kind {
    MODEL_NVLINK_NONE,
    MODEL_NVLINK_PAIRS,  /* GPUs 2i and 2i+1 share a bridge */
    MODEL_NVLINK_MESH,   /* a link from each GPU to each other one */
    MODEL_NVLINK_SWITCH, /* every GPU to a non-blocking switch */
    MODEL_NVLINK_KINDS
};

extern const char *const model_nvlink_names[MODEL_NVLINK_KINDS + 1];

struct model_nvlink {
    int kind;            /* enum model_nvlink_kind */
    double bytes_per_us; /* achieved, per GPU and direction; mesh: divided
                            evenly over the peers */
    double latency_us;
};

struct model_pcie {
    int generation;
    int gpus_per_switch; /* 1: every GPU hangs on a root port */
    double bytes_per_us; /* x16 payload rate per direction */
    double latency_us;   /* one way, one link */
    /*
     * What one GPU's port carries, both directions together, when its peer is
     * another GPU over PCIe (p2p) and when the FIFO is host memory (shm).
     */
    double p2p_bytes_per_us;
    double shm_bytes_per_us;
    /*
     * Above onset_bytes in flight on a port, p2p loses: the rate is divided by
     * (in flight / onset)^exponent. The exponent 0 switches it off.
     */
    double onset_bytes;
    double congestion_exponent;
};

struct model_host {
    int sockets;
    double cross_bytes_per_us; /* between two sockets, per direction */
    double cross_latency_us;
    double memory_bytes_per_us; /* one socket's memory, reads plus writes */
    double memory_latency_us;
};

struct model_nics {
    int count;                   /* per node; 0: no network */
    double bytes_per_us;         /* line rate per direction */
    double ratio;                /* achieved share of it */
    double latency_us;           /* one way, NIC to NIC */
    double channel_bytes_per_us; /* most that one channel's connection does */
    double sync_us;              /* proxy and completion of one step */
    double flag_sync_us;         /* the same with LL and LL128 */
    bool gpudirect;
};

/* What NCCL was seen to choose on the real machine. */
struct model_observed {
    bool present;
    struct model_config config;
    const char *source;
};

struct model_topology {
    const char *name;
    const char *label; /* as the user named it on the command line */
    struct model_gpu gpu;
    int node_count;
    int gpus_per_node;
    struct model_nvlink nvlink;
    struct model_pcie pcie;
    struct model_host host;
    struct model_nics nics;
    struct model_observed observed;
    struct model_list mixed; /* of struct model_mixed */
    struct model_variation variation;
    struct model_provenance provenance;
    const struct model_node *tree; /* the effective YAML, for printing */
    const struct model_node *gpu_node;
    const struct model_node *sources;
};

/* All GPUs. */
int model_topology_rank_count(const struct model_topology *topology);

/*
 * Read a topology: a file, or the name of a shipped one, or a one-line
 * notation. overrides is an array of "path=value" (may be NULL). The result
 * lives in the arena. Faults go to errors.
 */
enum model_status model_topology_read(struct model_arena *arena,
                                      const char *text,
                                      const char *const *overrides,
                                      int override_count,
                                      struct model_topology *topology,
                                      struct model_errors *errors);

/* The same from a tree that was read already. root is changed. */
enum model_status model_topology_bind(struct model_arena *arena,
                                      struct model_node *root,
                                      const char *label,
                                      const char *const *overrides,
                                      int override_count,
                                      struct model_topology *topology,
                                      struct model_errors *errors);

/* True for the tree of a topology file, rather than of a workload. */
bool model_topology_is(const struct model_node *root);

/* The table of keys, for help. */
extern const struct model_field model_topology_fields[];

#endif
