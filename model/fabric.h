/*
 * fabric.h - a topology as shared links, and the route of one hop.
 *
 * Links are numbered, node by node in the same order, then leaf switches by
 * leaf; they exist only as numbers: rate and name of each are computed. Folded,
 * the fabric holds one node that stands for all of them: a route into another
 * node ends on the shown node's own ingress links, which see the same traffic
 * by symmetry, and of each leaf link it holds the node's even share.
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
    MODEL_LINK_MESH,    /* all NVLinks of one ordered pair of GPUs */
    MODEL_LINK_LEAF_UP, /* leaf switch to the spine; of no node */
    MODEL_LINK_LEAF_DOWN,
    MODEL_LINK_KINDS
};

struct model_fabric {
    const struct model_topology *topology; /* borrowed */
    int shown_nodes;                       /* 1 when folded */
    int first[MODEL_LINK_KINDS]; /* index of a kind's first link in a node */
    int links_per_node;
    int first_leaf_link; /* behind those of all shown nodes */
    int leaf_count;      /* shown; 0 in a flat network */
    int link_count;
};

enum model_hop_kind {
    MODEL_HOP_NVLINK,
    MODEL_HOP_P2P, /* PCIe, FIFO in the receiver's memory */
    MODEL_HOP_SHM, /* PCIe, FIFO in host memory */
    MODEL_HOP_NET
};

enum { MODEL_HOP_LINKS_MAX = 20 };

/* One step of a ring: from a GPU to the next one. */
struct model_hop {
    enum model_hop_kind kind;
    double latency_us; /* one way */
    int ranks[2];      /* from, to: whose GPUs are at its ends */
    int links[MODEL_HOP_LINKS_MAX];
    /*
     * What one flow of the hop puts on each link: 1, but for a share of a
     * link that other flows, not shown or counted otherwise, use as well.
     */
    double weights[MODEL_HOP_LINKS_MAX];
    int link_count;
    /*
     * On the network: do the NICs read and write GPU memory, and the GPU that
     * sends (PXN: the one beside the NIC, else the sender itself).
     */
    bool direct_send;
    bool direct_receive;
    int sender_gpu;
    double relay_latency_us; /* one way to that GPU, in latency_us too */
};

/* The fabric of a topology, which must outlive it. folded shows one node. */
void model_fabric_make(const struct model_topology *topology,
                       bool folded,
                       struct model_fabric *fabric);

/* True where one node stands for several. */
static inline bool model_fabric_is_folded(const struct model_fabric *fabric)
{
    return fabric->shown_nodes < fabric->topology->node_count;
}

/* Links of one node, and at most so many more for its part of the leaves. */
int model_fabric_links_of_node(const struct model_topology *topology);

/* Rate of a link, bytes/us. */
double model_fabric_link_bytes_per_us(const struct model_fabric *fabric,
                                      int link);

enum model_link_kind model_fabric_link_kind(const struct model_fabric *fabric,
                                            int link);

/* "node0.gpu3.pcie.up", "leaf2.up", "rail3.down"; returns buffer. */
char *model_fabric_link_name(const struct model_fabric *fabric,
                             int link,
                             char *buffer,
                             size_t buffer_bytes);

/*
 * Between nodes without a given NIC: the receiver's own NIC on both sides when
 * the sender reaches it (PXN) or must use it (cross_nic is false), otherwise
 * each side's own, as NCCL routes send and receive. Where a GPU has several own
 * NICs channels take turns: MODEL_NIC_OF_PAIR - i is the i-th choice.
 */
enum { MODEL_NIC_OF_PAIR = -1 };

/* Over how many choices of NICs a pair's channels are dealt out, >= 1. */
int model_fabric_pair_choices(const struct model_topology *topology,
                              int from_rank,
                              int to_rank);

/*
 * The hop from one rank to another (rank = node * gpus_per_node + GPU), both
 * different. Within a node: NVLink, direct or by way of one GPU; otherwise
 * PCIe, where transport P2P is taken as far as pcie.p2p allows and SHM beyond.
 * Between nodes over `nic` on both sides, or MODEL_NIC_OF_PAIR. The source must
 * be in a shown node.
 *
 * Folded, leaf links carry the shown node's part of what all nodes put on them
 * when all send as far as it does (leaf.h). Where leaves differ in size this is
 * the smallest, which is the busiest.
 */
void model_fabric_route(const struct model_fabric *fabric,
                        int from_rank,
                        int to_rank,
                        enum model_transport transport,
                        int nic,
                        struct model_hop *hop);

#endif
