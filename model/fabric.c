/*
 * fabric.c - numbering of links and choice of routes.
 *
 * Within a node: NVLink when it joins the pair, otherwise PCIe: up to the
 * switch or root port, between sockets when they differ, down to the peer.
 * With SHM the sender writes into its own socket's memory and the receiver
 * reads it there. Between nodes: GPU, NIC, network, NIC, GPU, by way of host
 * memory when the NIC cannot reach GPU memory.
 */
#include "model/fabric.h"

#include <stdio.h>

static int switch_count(const struct model_topology *topology)
{
    return topology->gpus_per_node / topology->pcie.gpus_per_switch;
}

/* How many links of a kind a node has. */
static int kind_count(const struct model_topology *topology,
                      enum model_link_kind kind)
{
    int gpus = topology->gpus_per_node;

    switch (kind) {
    case MODEL_LINK_NVLINK_OUT:
    case MODEL_LINK_NVLINK_IN:
    case MODEL_LINK_PCIE_UP:
    case MODEL_LINK_PCIE_DOWN:
    case MODEL_LINK_PORT_P2P:
    case MODEL_LINK_PORT_SHM:
        return gpus;
    case MODEL_LINK_SWITCH_UP:
    case MODEL_LINK_SWITCH_DOWN:
        return switch_count(topology);
    case MODEL_LINK_CROSS_OUT:
    case MODEL_LINK_CROSS_IN:
    case MODEL_LINK_MEMORY:
        return topology->host.sockets;
    case MODEL_LINK_NIC_OUT:
    case MODEL_LINK_NIC_IN:
        return topology->nics.count;
    case MODEL_LINK_MESH:
        return topology->nvlink.kind == MODEL_NVLINK_MESH ? gpus * gpus : 0;
    case MODEL_LINK_KINDS:
        break;
    }
    return 0;
}

int model_fabric_links_of_node(const struct model_topology *topology)
{
    int count = 0;

    for (int kind = 0; kind < MODEL_LINK_KINDS; kind++) {
        count += kind_count(topology, (enum model_link_kind)kind);
    }
    return count;
}

void model_fabric_make(const struct model_topology *topology,
                       bool folded,
                       struct model_fabric *fabric)
{
    int next = 0;

    fabric->topology = topology;
    fabric->shown_nodes = folded ? 1 : topology->node_count;
    for (int kind = 0; kind < MODEL_LINK_KINDS; kind++) {
        fabric->first[kind] = next;
        next += kind_count(topology, (enum model_link_kind)kind);
    }
    fabric->links_per_node = next;
    fabric->link_count = next * fabric->shown_nodes;
}

enum model_link_kind model_fabric_link_kind(const struct model_fabric *fabric,
                                            int link)
{
    int in_node = link % fabric->links_per_node;
    int kind = MODEL_LINK_KINDS - 1;

    while (fabric->first[kind] > in_node ||
           kind_count(fabric->topology, (enum model_link_kind)kind) == 0) {
        kind--;
    }
    return (enum model_link_kind)kind;
}

double model_fabric_link_bytes_per_us(const struct model_fabric *fabric,
                                      int link)
{
    const struct model_topology *topology = fabric->topology;

    switch (model_fabric_link_kind(fabric, link)) {
    case MODEL_LINK_NVLINK_OUT:
    case MODEL_LINK_NVLINK_IN:
        return topology->nvlink.bytes_per_us;
    case MODEL_LINK_MESH:
        return topology->nvlink.bytes_per_us /
               (double)(topology->gpus_per_node - 1);
    case MODEL_LINK_PCIE_UP:
    case MODEL_LINK_PCIE_DOWN:
    case MODEL_LINK_SWITCH_UP:
    case MODEL_LINK_SWITCH_DOWN:
        return topology->pcie.bytes_per_us;
    case MODEL_LINK_PORT_P2P:
        return topology->pcie.p2p_bytes_per_us;
    case MODEL_LINK_PORT_SHM:
        return topology->pcie.shm_bytes_per_us;
    case MODEL_LINK_CROSS_OUT:
    case MODEL_LINK_CROSS_IN:
        return topology->host.cross_bytes_per_us;
    case MODEL_LINK_MEMORY:
        return topology->host.memory_bytes_per_us;
    case MODEL_LINK_NIC_OUT:
    case MODEL_LINK_NIC_IN:
        return topology->nics.bytes_per_us * topology->nics.ratio;
    case MODEL_LINK_KINDS:
        break;
    }
    return 0.0;
}

char *model_fabric_link_name(const struct model_fabric *fabric,
                             int link,
                             char *buffer,
                             size_t buffer_bytes)
{
    static const char *const formats[MODEL_LINK_KINDS] = {
        "gpu%d.nvlink.out",  "gpu%d.nvlink.in", "gpu%d.pcie.up",
        "gpu%d.pcie.down",   "gpu%d.port.p2p",  "gpu%d.port.shm",
        "switch%d.up",       "switch%d.down",   "socket%d.cross.out",
        "socket%d.cross.in", "socket%d.memory", "nic%d.out",
        "nic%d.in",          "mesh%d"};
    enum model_link_kind kind = model_fabric_link_kind(fabric, link);
    int in_node = link % fabric->links_per_node;
    int used = snprintf(buffer, buffer_bytes, "node%d.",
                        link / fabric->links_per_node);

    if (used > 0 && (size_t)used < buffer_bytes) {
        char part[64];

        /* The formats are the table above. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        (void)snprintf(part, sizeof(part), formats[kind],
                       in_node - fabric->first[kind]);
#pragma GCC diagnostic pop
        (void)snprintf(buffer + used, buffer_bytes - (size_t)used, "%s", part);
    }
    return buffer;
}

/* A place: node as shown, GPU, switch and socket. */
struct place {
    int node;
    int gpu;
    int pcie_switch;
    int socket;
};

static struct place place_of(const struct model_fabric *fabric, int rank)
{
    const struct model_topology *topology = fabric->topology;
    int gpus = topology->gpus_per_node;
    int gpu = rank % gpus;

    return (struct place){.node = rank / gpus % fabric->shown_nodes,
                          .gpu = gpu,
                          .pcie_switch = gpu / topology->pcie.gpus_per_switch,
                          .socket = gpu / (gpus / topology->host.sockets)};
}

static void pass(const struct model_fabric *fabric,
                 struct model_hop *hop,
                 int node,
                 enum model_link_kind kind,
                 int index)
{
    hop->links[hop->link_count++] =
        node * fabric->links_per_node + fabric->first[kind] + index;
}

static bool has_switch(const struct model_fabric *fabric)
{
    return fabric->topology->pcie.gpus_per_switch > 1;
}

/* From a GPU to its socket's root complex. */
static void
climb(const struct model_fabric *fabric, struct model_hop *hop, struct place at)
{
    pass(fabric, hop, at.node, MODEL_LINK_PCIE_UP, at.gpu);
    hop->latency_us += fabric->topology->pcie.latency_us;
    if (has_switch(fabric)) {
        pass(fabric, hop, at.node, MODEL_LINK_SWITCH_UP, at.pcie_switch);
        hop->latency_us += fabric->topology->pcie.latency_us;
    }
}

/* From a socket's root complex to a GPU. */
static void descend(const struct model_fabric *fabric,
                    struct model_hop *hop,
                    struct place at)
{
    if (has_switch(fabric)) {
        pass(fabric, hop, at.node, MODEL_LINK_SWITCH_DOWN, at.pcie_switch);
        hop->latency_us += fabric->topology->pcie.latency_us;
    }
    pass(fabric, hop, at.node, MODEL_LINK_PCIE_DOWN, at.gpu);
    hop->latency_us += fabric->topology->pcie.latency_us;
}

static void cross(const struct model_fabric *fabric,
                  struct model_hop *hop,
                  int node,
                  int from_socket,
                  int to_socket)
{
    if (from_socket != to_socket) {
        pass(fabric, hop, node, MODEL_LINK_CROSS_OUT, from_socket);
        pass(fabric, hop, node, MODEL_LINK_CROSS_IN, to_socket);
        hop->latency_us += fabric->topology->host.cross_latency_us;
    }
}

/* Two GPUs of one node over PCIe. */
static void route_pcie(const struct model_fabric *fabric,
                       struct model_hop *hop,
                       struct place from,
                       struct place to,
                       enum model_transport transport)
{
    enum model_link_kind port =
        transport == MODEL_SHM ? MODEL_LINK_PORT_SHM : MODEL_LINK_PORT_P2P;

    hop->kind = transport == MODEL_SHM ? MODEL_HOP_SHM : MODEL_HOP_P2P;
    pass(fabric, hop, from.node, port, from.gpu);
    pass(fabric, hop, from.node, port, to.gpu);
    if (transport == MODEL_P2P && has_switch(fabric) &&
        from.pcie_switch == to.pcie_switch) {
        pass(fabric, hop, from.node, MODEL_LINK_PCIE_UP, from.gpu);
        pass(fabric, hop, from.node, MODEL_LINK_PCIE_DOWN, to.gpu);
        hop->latency_us += 2.0 * fabric->topology->pcie.latency_us;
        return;
    }
    climb(fabric, hop, from);
    if (transport == MODEL_SHM) {
        /* Written once and read once. */
        pass(fabric, hop, from.node, MODEL_LINK_MEMORY, from.socket);
        pass(fabric, hop, from.node, MODEL_LINK_MEMORY, from.socket);
    }
    cross(fabric, hop, from.node, from.socket, to.socket);
    descend(fabric, hop, to);
}

/* NICs are spread over the sockets as GPUs are. */
static int nic_socket(const struct model_topology *topology, int nic)
{
    return nic * topology->host.sockets / topology->nics.count;
}

/*
 * From a GPU to a NIC: straight with GPUDirect, otherwise by host memory of the
 * GPU's socket. The NIC's latency stands for the whole way.
 */
static void route_to_nic(const struct model_fabric *fabric,
                         struct model_hop *hop,
                         struct place from,
                         int nic)
{
    int socket = nic_socket(fabric->topology, nic);

    if (fabric->topology->nics.gpudirect) {
        pass(fabric, hop, from.node, MODEL_LINK_PCIE_UP, from.gpu);
    } else {
        climb(fabric, hop, from);
        pass(fabric, hop, from.node, MODEL_LINK_MEMORY, from.socket);
        pass(fabric, hop, from.node, MODEL_LINK_MEMORY, from.socket);
    }
    cross(fabric, hop, from.node, from.socket, socket);
    pass(fabric, hop, from.node, MODEL_LINK_NIC_OUT, nic);
}

/* The same from a NIC to a GPU. */
static void route_from_nic(const struct model_fabric *fabric,
                           struct model_hop *hop,
                           struct place to,
                           int nic)
{
    int socket = nic_socket(fabric->topology, nic);

    pass(fabric, hop, to.node, MODEL_LINK_NIC_IN, nic);
    cross(fabric, hop, to.node, socket, to.socket);
    if (fabric->topology->nics.gpudirect) {
        pass(fabric, hop, to.node, MODEL_LINK_PCIE_DOWN, to.gpu);
    } else {
        pass(fabric, hop, to.node, MODEL_LINK_MEMORY, to.socket);
        pass(fabric, hop, to.node, MODEL_LINK_MEMORY, to.socket);
        descend(fabric, hop, to);
    }
}

static void route_net(const struct model_fabric *fabric,
                      struct model_hop *hop,
                      struct place from,
                      struct place to,
                      int nic)
{
    hop->kind = MODEL_HOP_NET;
    route_to_nic(fabric, hop, from, nic);
    route_from_nic(fabric, hop, to, nic);
    hop->latency_us = fabric->topology->nics.latency_us;
}

static bool joined_by_nvlink(const struct model_topology *topology,
                             int from_gpu,
                             int to_gpu)
{
    switch ((enum model_nvlink_kind)topology->nvlink.kind) {
    case MODEL_NVLINK_PAIRS:
        return from_gpu / 2 == to_gpu / 2;
    case MODEL_NVLINK_MESH:
    case MODEL_NVLINK_SWITCH:
        return true;
    case MODEL_NVLINK_NONE:
    case MODEL_NVLINK_KINDS:
        break;
    }
    return false;
}

static void route_nvlink(const struct model_fabric *fabric,
                         struct model_hop *hop,
                         struct place from,
                         struct place to)
{
    const struct model_topology *topology = fabric->topology;

    hop->kind = MODEL_HOP_NVLINK;
    hop->latency_us = topology->nvlink.latency_us;
    if (topology->nvlink.kind == MODEL_NVLINK_MESH) {
        pass(fabric, hop, from.node, MODEL_LINK_MESH,
             from.gpu * topology->gpus_per_node + to.gpu);
        return;
    }
    pass(fabric, hop, from.node, MODEL_LINK_NVLINK_OUT, from.gpu);
    pass(fabric, hop, from.node, MODEL_LINK_NVLINK_IN, to.gpu);
}

void model_fabric_route(const struct model_fabric *fabric,
                        int from_rank,
                        int to_rank,
                        enum model_transport transport,
                        int nic,
                        struct model_hop *hop)
{
    const struct model_topology *topology = fabric->topology;
    struct place from = place_of(fabric, from_rank);
    struct place to = place_of(fabric, to_rank);

    *hop = (struct model_hop){.ranks = {from_rank, to_rank}};
    if (from_rank / topology->gpus_per_node !=
        to_rank / topology->gpus_per_node) {
        route_net(fabric, hop, from, to, nic);
    } else if (joined_by_nvlink(topology, from.gpu, to.gpu)) {
        route_nvlink(fabric, hop, from, to);
    } else {
        route_pcie(fabric, hop, from, to, transport);
    }
}
