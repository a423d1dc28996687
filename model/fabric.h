/*
 * fabric.h - a topology as shared links, and the route of one hop.
 *
 * Links are numbered, node by node in the same order, and exist only as
 * numbers: rate and name of each are computed. Folded, the fabric holds one
 * node that stands for all of them: a route into another node ends on the
 * shown node's own ingress links, which see the same traffic by symmetry.
 */
#ifndef MODEL_FABRIC_H
#define MODEL_FABRIC_H

#include "model/topology.h"

enum model_link_kind {
    MODEL_LINK_NVLINK_OUT,
    MODEL_LINK_NVLINK_IN,
    MODEL_LINK_PCIE_UP, /* GPU to its switch or root port */
    MODEL_LINK_PCIE_DOWN,
    MODEL_LINK_PORT_P2P,  /* both directions of a GPU's port, P2P traffic */
    MODEL_LINK_PORT_SHM,  /* the same, traffic to and from host memory */
    MODEL_LINK_SWITCH_UP, /* PCIe switch to its root port */
    MODEL_LINK_SWITCH_DOWN,
    MODEL_LINK_CROSS_OUT, /* socket to the other sockets */
    MODEL_LINK_CROSS_IN,
    MODEL_LINK_MEMORY, /* host memory of a socket */
    MODEL_LINK_NIC_OUT,
    MODEL_LINK_NIC_IN,
    MODEL_LINK_MESH, /* one ordered pair of GPUs */
    MODEL_LINK_KINDS
};

struct model_fabric {
    const struct model_topology *topology; /* borrowed */
    int shown_nodes;                       /* 1 when folded */
    int first[MODEL_LINK_KINDS]; /* index of a kind's first link in a node */
    int links_per_node;
    int link_count;
};

enum model_hop_kind {
    MODEL_HOP_NVLINK,
    MODEL_HOP_P2P, /* PCIe, FIFO in the receiver's memory */
    MODEL_HOP_SHM, /* PCIe, FIFO in host memory */
    MODEL_HOP_NET
};

enum { MODEL_HOP_LINKS_MAX = 16 };

/* One step of a ring: from a GPU to the next one. */
struct model_hop {
    enum model_hop_kind kind;
    double latency_us; /* one way */
    int ranks[2];      /* from, to: whose GPUs are at its ends */
    int links[MODEL_HOP_LINKS_MAX];
    int link_count;
};

/* The fabric of a topology, which must outlive it. folded shows one node. */
void model_fabric_make(const struct model_topology *topology,
                       bool folded,
                       struct model_fabric *fabric);

/* Links that one node has. */
int model_fabric_links_of_node(const struct model_topology *topology);

/* Rate of a link, bytes/us. */
double model_fabric_link_bytes_per_us(const struct model_fabric *fabric,
                                      int link);

enum model_link_kind model_fabric_link_kind(const struct model_fabric *fabric,
                                            int link);

/* "node0.gpu3.pcie.up"; returns buffer. */
char *model_fabric_link_name(const struct model_fabric *fabric,
                             int link,
                             char *buffer,
                             size_t buffer_bytes);

/*
 * The hop from one rank to another (rank = node * gpus_per_node + GPU), both
 * different. transport decides between P2P and SHM where no NVLink joins them;
 * nic is the NIC used between nodes. The source must be in a shown node.
 */
void model_fabric_route(const struct model_fabric *fabric,
                        int from_rank,
                        int to_rank,
                        enum model_transport transport,
                        int nic,
                        struct model_hop *hop);

#endif
