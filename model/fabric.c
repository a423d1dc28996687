/*
 * fabric.c - numbers, rates and names of links. Routes are in route.c.
 */
#include "model/fabric.h"

#include "model/leaf.h"

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
        return topology->nvlink.kind == MODEL_NVLINK_MESH ||
                       topology->nvlink.kind == MODEL_NVLINK_LINKS
                   ? gpus * gpus
                   : 0;
    case MODEL_LINK_LEAF_UP:
    case MODEL_LINK_LEAF_DOWN:
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
    if (topology->network.kind != MODEL_NETWORK_FLAT) {
        count += 2 * topology->nics.count;
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
    fabric->first_leaf_link = next * fabric->shown_nodes;
    fabric->leaf_count = folded && model_leaf_count(topology) > 0
                             ? model_leaf_rails(topology)
                             : model_leaf_count(topology);
    fabric->link_count = fabric->first_leaf_link + 2 * fabric->leaf_count;
}

enum model_link_kind model_fabric_link_kind(const struct model_fabric *fabric,
                                            int link)
{
    int in_node = link % fabric->links_per_node;
    int kind = MODEL_LINK_MESH;

    if (link >= fabric->first_leaf_link) {
        return (link - fabric->first_leaf_link) % 2 == 0 ? MODEL_LINK_LEAF_UP
                                                         : MODEL_LINK_LEAF_DOWN;
    }
    while (fabric->first[kind] > in_node ||
           kind_count(fabric->topology, (enum model_link_kind)kind) == 0) {
        kind--;
    }
    return (enum model_link_kind)kind;
}

static double leaf_bytes_per_us(const struct model_fabric *fabric, int link)
{
    return fabric->shown_nodes == 1 && fabric->topology->node_count > 1
               ? model_leaf_share_bytes_per_us(fabric->topology)
               : model_leaf_bytes_per_us(fabric->topology,
                                         (link - fabric->first_leaf_link) / 2);
}

/* One ordered pair of a mesh, or of listed links. */
static double pair_bytes_per_us(const struct model_fabric *fabric, int link)
{
    const struct model_topology *topology = fabric->topology;
    int pair = link % fabric->links_per_node - fabric->first[MODEL_LINK_MESH];

    return topology->nvlink.kind == MODEL_NVLINK_LINKS
               ? topology->nvlink.bytes_per_us *
                     (double)topology->nvlink.links[pair]
               : topology->nvlink.bytes_per_us /
                     (double)(topology->gpus_per_node - 1);
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
        return pair_bytes_per_us(fabric, link);
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
    case MODEL_LINK_LEAF_UP:
    case MODEL_LINK_LEAF_DOWN:
        return leaf_bytes_per_us(fabric, link);
    case MODEL_LINK_KINDS:
        break;
    }
    return 0.0;
}

/* What follows the name of the node. */
static void print_in_node(const struct model_fabric *fabric,
                          int link,
                          char *buffer,
                          size_t buffer_bytes)
{
    static const char *const formats[MODEL_LINK_KINDS] = {
        "gpu%d.nvlink.out",  "gpu%d.nvlink.in", "gpu%d.pcie.up",
        "gpu%d.pcie.down",   "gpu%d.port.p2p",  "gpu%d.port.shm",
        "switch%d.up",       "switch%d.down",   "socket%d.cross.out",
        "socket%d.cross.in", "socket%d.memory", "nic%d.out",
        "nic%d.in",          "gpu%d.nvlink.gpu"};
    enum model_link_kind kind = model_fabric_link_kind(fabric, link);
    int index = link % fabric->links_per_node - fabric->first[kind];
    int gpus = fabric->topology->gpus_per_node;
    char part[64];

    /* The formats are the table above. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    (void)snprintf(part, sizeof(part), formats[kind],
                   kind == MODEL_LINK_MESH ? index / gpus : index);
#pragma GCC diagnostic pop
    if (kind == MODEL_LINK_MESH) {
        (void)snprintf(buffer, buffer_bytes, "node%d.%s%d",
                       link / fabric->links_per_node, part, index % gpus);
    } else {
        (void)snprintf(buffer, buffer_bytes, "node%d.%s",
                       link / fabric->links_per_node, part);
    }
}

/* Of the tree leaf2.up; of rails rail2.up, by groups of nodes leaf1.rail2.up.
 */
static void print_leaf(const struct model_fabric *fabric,
                       int link,
                       char *buffer,
                       size_t buffer_bytes)
{
    const struct model_topology *topology = fabric->topology;
    int leaf = (link - fabric->first_leaf_link) / 2;
    int rails = model_leaf_rails(topology);
    const char *end = model_fabric_link_kind(fabric, link) == MODEL_LINK_LEAF_UP
                          ? "up"
                          : "down";

    if (topology->network.kind == MODEL_NETWORK_TREE) {
        (void)snprintf(buffer, buffer_bytes, "leaf%d.%s", leaf, end);
    } else if (model_leaf_count(topology) == rails) {
        (void)snprintf(buffer, buffer_bytes, "rail%d.%s", leaf, end);
    } else {
        (void)snprintf(buffer, buffer_bytes, "leaf%d.rail%d.%s", leaf / rails,
                       leaf % rails, end);
    }
}

char *model_fabric_link_name(const struct model_fabric *fabric,
                             int link,
                             char *buffer,
                             size_t buffer_bytes)
{
    if (link >= fabric->first_leaf_link) {
        print_leaf(fabric, link, buffer, buffer_bytes);
    } else {
        print_in_node(fabric, link, buffer, buffer_bytes);
    }
    return buffer;
}
