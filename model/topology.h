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
    MODEL_NVLINK_LINKS,  /* as listed: cube meshes and the like */
    MODEL_NVLINK_KINDS
};

extern const char *const model_nvlink_names[MODEL_NVLINK_KINDS + 1];

enum { MODEL_NVLINKS_MAX = 64 }; /* between two GPUs */

struct model_nvlink {
    int kind;            /* enum model_nvlink_kind */
    double bytes_per_us; /* achieved, per GPU and direction; mesh: divided
                            evenly over the peers; links: of one link */
    double latency_us;
    int count; /* links of a GPU, as its data sheet has them; 0: not
                  said; links: not used */
    const struct model_node *links_node; /* links: the list, as written */
    const int *links; /* links: numbers of links, gpus x gpus, symmetric */
};

/*
 * How near two devices of a node are, nearest first, as NCCL ranks its paths
 * (topo.h of NCCL 2.18.3).
 */
enum model_path {
    MODEL_PATH_NVL, /* NVLink */
    MODEL_PATH_NVB, /* NVLink by way of another GPU */
    MODEL_PATH_PIX, /* one PCIe switch */
    MODEL_PATH_PXB, /* several PCIe switches */
    MODEL_PATH_PXN, /* to a NIC by way of the GPU beside it */
    MODEL_PATH_PHB, /* the root complex of a socket */
    MODEL_PATH_SYS, /* between sockets */
    MODEL_PATHS
};

extern const char *const model_path_names[MODEL_PATHS + 1];

enum model_cpu { MODEL_CPU_AMD, MODEL_CPU_INTEL, MODEL_CPU_ARM, MODEL_CPUS };

extern const char *const model_cpu_names[MODEL_CPUS + 1];

/* Where NICs hang. */
enum model_nics_at {
    MODEL_NICS_AUTO,   /* switch when each has at least one, otherwise root */
    MODEL_NICS_ROOT,   /* root ports */
    MODEL_NICS_SWITCH, /* the PCIe switches of GPUs, spread evenly */
    MODEL_NICS_ATS
};

extern const char *const model_nics_at_names[MODEL_NICS_ATS + 1];

enum model_network_kind {
    MODEL_NETWORK_FLAT,  /* no switch limits */
    MODEL_NETWORK_RAILS, /* NIC i of each node on switch i */
    MODEL_NETWORK_TREE,  /* all NICs of some nodes on one leaf switch */
    MODEL_NETWORK_KINDS
};

extern const char *const model_network_names[MODEL_NETWORK_KINDS + 1];

struct model_pcie {
    int generation;
    int gpus_per_switch; /* 1: every GPU hangs on a root port */
    int p2p;             /* enum model_path: P2P goes no farther */
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
    int cpu;                   /* enum model_cpu */
    int cpu_family, cpu_model; /* as the CPU numbers itself; NCCL's assumed
                                  rates between sockets go by them */
    double c2c_bytes_per_us;   /* a link of its own from the CPU to each GPU of
                                  its socket, as in Grace Hopper; 0: none */
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
    double reported_latency_us;  /* what the network plugin tells NCCL */
    double channel_bytes_per_us; /* most that one channel's connection does */
    double sync_us;              /* proxy and completion of one step */
    double flag_sync_us;         /* the same with LL and LL128 */
    int at;                      /* enum model_nics_at */
    bool gpudirect;
    int gpudirect_level; /* enum model_path: GPUDirect goes no farther */
    bool pxn;            /* a GPU may send by way of the GPU beside the NIC */
};

/*
 * What joins the nodes. Leaf switches are non-blocking; a leaf's links to the
 * spine carry, per direction, what its NICs do together divided by the
 * oversubscription. Traffic within a leaf does not pass them.
 */
struct model_network {
    int kind;           /* enum model_network_kind */
    int nodes_per_leaf; /* 0: all nodes (rails only) */
    double oversubscription_ratio;
    double switch_latency_us; /* one more switch and its cable, one way */
    bool cross_nic; /* a message may arrive on another rail than it left on */
};

/* What NCCL was seen to choose on the real machine. */
struct model_observed {
    bool present;
    struct model_config config;
    const char *source;
};

/* Which NCCL runs there, what it is told, and what it takes to begin. */
struct model_nccl_told {
    const char *version;     /* of topologies/nccl: "2.18" */
    struct model_list env;   /* of const char *: "NCCL_P2P_LEVEL=PXB" */
    double channel_setup_us; /* of each channel, before a kernel's first step:
                                NCCL describes its work to each by itself */
    double slot_bytes;       /* of a Simple FIFO, as NCCL_BUFFSIZE has it; 0: as
                                by default */
};

struct model_topology {
    const char *name;
    const char *label; /* as the user named it on the command line */
    const char *base;  /* the file that it is based on, as named, or NULL */
    struct model_gpu gpu;
    int node_count;
    int gpus_per_node;
    struct model_nvlink nvlink;
    struct model_pcie pcie;
    struct model_host host;
    struct model_nics nics;
    struct model_network network;
    struct model_observed observed;
    struct model_nccl_told nccl;
    struct model_list mixed; /* of struct model_mixed */
    struct model_list notes; /* of const char *: what this description leaves
                                out or guesses */
    struct model_variation variation;
    struct model_provenance provenance;
    const struct model_node *tree; /* the effective YAML, for printing */
    const struct model_node *gpu_node;
    const struct model_node *sources;
};

/* All GPUs. */
int model_topology_rank_count(const struct model_topology *topology);

/*
 * Read a topology: a file (YAML, or a topology file of NCCL, nccl/xml_read.h,
 * told apart by their first letter), or the name of a shipped one, or a
 * one-line notation. overrides is an array of "path=value" (may be NULL). The
 * result lives in the arena. Faults go to errors.
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

/*
 * The tree of a file, YAML as it stands or a topology file of NCCL, or NULL
 * with the faults in errors. Of the overrides only matters whether they name
 * the GPU that the latter may not tell.
 */
struct model_node *model_topology_file(struct model_arena *arena,
                                       const char *path,
                                       const char *const *overrides,
                                       int override_count,
                                       struct model_errors *errors);

/* True for the tree of a topology file, rather than of a workload. */
bool model_topology_is(const struct model_node *root);

/* The table of keys, for help. */
extern const struct model_field model_topology_fields[];

#endif
