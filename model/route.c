/*
 * route.c - which links a hop passes.
 *
 * Within a node: NVLink when it joins the pair, directly or by way of one GPU,
 * otherwise PCIe: up to the switch or root port, between sockets when they
 * differ, down to the peer. With SHM the sender writes into its own socket's
 * memory and the receiver reads it there. Between nodes: GPU, perhaps over
 * NVLink to the GPU beside the NIC (PXN), NIC, network, NIC, GPU, by way of
 * the host memory of the GPU's socket where GPUDirect does not reach.
 */
#include "model/fabric.h"

#include "model/leaf.h"
#include "model/wiring.h"

/* A place: node as shown, and GPU. */
struct place {
    int node;
    int gpu;
};

static struct place place_of(const struct model_fabric *fabric, int rank)
{
    int gpus = fabric->topology->gpus_per_node;

    return (struct place){.node = rank / gpus % fabric->shown_nodes,
                          .gpu = rank % gpus};
}

static int socket_of(const struct model_fabric *fabric, struct place at)
{
    return model_wiring_gpu_socket(fabric->topology, at.gpu);
}

static void pass_link(struct model_hop *hop, int link, double weight)
{
    hop->links[hop->link_count] = link;
    hop->weights[hop->link_count++] = weight;
}

static void pass(const struct model_fabric *fabric,
                 struct model_hop *hop,
                 int node,
                 enum model_link_kind kind,
                 int index)
{
    pass_link(hop, node * fabric->links_per_node + fabric->first[kind] + index,
              1.0);
}

/* From a GPU to its socket's root complex. */
static void
climb(const struct model_fabric *fabric, struct model_hop *hop, struct place at)
{
    pass(fabric, hop, at.node, MODEL_LINK_PCIE_UP, at.gpu);
    hop->latency_us += fabric->topology->pcie.latency_us;
    if (model_wiring_has_switch(fabric->topology, at.gpu)) {
        pass(fabric, hop, at.node, MODEL_LINK_SWITCH_UP,
             model_wiring_gpu_switch(fabric->topology, at.gpu));
        hop->latency_us += fabric->topology->pcie.latency_us;
    }
}

/* From a socket's root complex to a GPU. */
static void descend(const struct model_fabric *fabric,
                    struct model_hop *hop,
                    struct place at)
{
    if (model_wiring_has_switch(fabric->topology, at.gpu)) {
        pass(fabric, hop, at.node, MODEL_LINK_SWITCH_DOWN,
             model_wiring_gpu_switch(fabric->topology, at.gpu));
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

/* Written once and read once. */
static void through_memory(const struct model_fabric *fabric,
                           struct model_hop *hop,
                           struct place at)
{
    pass(fabric, hop, at.node, MODEL_LINK_MEMORY, socket_of(fabric, at));
    pass(fabric, hop, at.node, MODEL_LINK_MEMORY, socket_of(fabric, at));
}

/* -- within a node -- */

/*
 * A port's two directions together carry P2P and SHM at different rates. Where
 * one collective mixes both, P2P also takes its part of what SHM could have,
 * so that the shares of both add up to one port.
 */
static void pass_port(const struct model_fabric *fabric,
                      struct model_hop *hop,
                      struct place at)
{
    const struct model_pcie *pcie = &fabric->topology->pcie;

    if (hop->kind == MODEL_HOP_SHM) {
        pass(fabric, hop, at.node, MODEL_LINK_PORT_SHM, at.gpu);
        return;
    }
    pass(fabric, hop, at.node, MODEL_LINK_PORT_P2P, at.gpu);
    if (pcie->p2p < (int)MODEL_PATH_SYS) {
        pass(fabric, hop, at.node, MODEL_LINK_PORT_SHM, at.gpu);
        hop->weights[hop->link_count - 1] =
            pcie->shm_bytes_per_us / pcie->p2p_bytes_per_us;
    }
}

/* Two GPUs of one node over PCIe. */
static void route_pcie(const struct model_fabric *fabric,
                       struct model_hop *hop,
                       struct place from,
                       struct place to,
                       enum model_transport transport)
{
    const struct model_topology *topology = fabric->topology;
    enum model_path path = model_wiring_gpu_path(topology, from.gpu, to.gpu);

    hop->kind = transport == MODEL_SHM || (int)path > topology->pcie.p2p
                    ? MODEL_HOP_SHM
                    : MODEL_HOP_P2P;
    pass_port(fabric, hop, from);
    pass_port(fabric, hop, to);
    if (hop->kind == MODEL_HOP_P2P && path == MODEL_PATH_PIX) {
        pass(fabric, hop, from.node, MODEL_LINK_PCIE_UP, from.gpu);
        pass(fabric, hop, from.node, MODEL_LINK_PCIE_DOWN, to.gpu);
        hop->latency_us += 2.0 * topology->pcie.latency_us;
        return;
    }
    climb(fabric, hop, from);
    if (hop->kind == MODEL_HOP_SHM) {
        through_memory(fabric, hop, from);
    }
    cross(fabric, hop, from.node, socket_of(fabric, from),
          socket_of(fabric, to));
    descend(fabric, hop, to);
}

/* Two GPUs that NVLink joins directly. */
static void pass_nvlink(const struct model_fabric *fabric,
                        struct model_hop *hop,
                        int node,
                        int from,
                        int to)
{
    const struct model_topology *topology = fabric->topology;

    hop->latency_us += topology->nvlink.latency_us;
    if (topology->nvlink.kind == MODEL_NVLINK_MESH ||
        topology->nvlink.kind == MODEL_NVLINK_LINKS) {
        pass(fabric, hop, node, MODEL_LINK_MESH,
             from * topology->gpus_per_node + to);
        return;
    }
    pass(fabric, hop, node, MODEL_LINK_NVLINK_OUT, from);
    pass(fabric, hop, node, MODEL_LINK_NVLINK_IN, to);
}

static void route_in_node(const struct model_fabric *fabric,
                          struct model_hop *hop,
                          struct place from,
                          struct place to,
                          enum model_transport transport)
{
    const struct model_topology *topology = fabric->topology;
    int via = from.gpu;

    if (model_wiring_nvlinks(topology, from.gpu, to.gpu) == 0) {
        via = model_wiring_bridge(topology, from.gpu, to.gpu);
    }
    if (via < 0) {
        route_pcie(fabric, hop, from, to, transport);
        return;
    }
    hop->kind = MODEL_HOP_NVLINK;
    if (via != from.gpu) {
        pass_nvlink(fabric, hop, from.node, from.gpu, via);
    }
    pass_nvlink(fabric, hop, from.node, via, to.gpu);
}

/* -- between nodes -- */

/*
 * From a socket's root complex, or from a GPU below the NIC's own switch, to
 * the NIC. The NIC's latency stands for the whole way in the node.
 */
static void enter_nic(const struct model_fabric *fabric,
                      struct model_hop *hop,
                      int node,
                      int nic,
                      bool from_root)
{
    int below = model_wiring_nic_switch(fabric->topology, nic);

    if (from_root && below >= 0) {
        pass(fabric, hop, node, MODEL_LINK_SWITCH_DOWN, below);
    }
    pass(fabric, hop, node, MODEL_LINK_NIC_OUT, nic);
}

static void leave_nic(const struct model_fabric *fabric,
                      struct model_hop *hop,
                      int node,
                      int nic,
                      bool to_root)
{
    int below = model_wiring_nic_switch(fabric->topology, nic);

    pass(fabric, hop, node, MODEL_LINK_NIC_IN, nic);
    if (to_root && below >= 0) {
        pass(fabric, hop, node, MODEL_LINK_SWITCH_UP, below);
    }
}

static void route_to_nic(const struct model_fabric *fabric,
                         struct model_hop *hop,
                         struct place from,
                         int nic)
{
    const struct model_topology *topology = fabric->topology;
    struct place by = {from.node, model_wiring_sender(topology, from.gpu, nic)};
    bool beside =
        model_wiring_nic_path(topology, by.gpu, nic) == MODEL_PATH_PIX;

    hop->sender_gpu = by.gpu;
    hop->direct_send = model_wiring_gpudirect(topology, by.gpu, nic);
    if (by.gpu != from.gpu) {
        pass_nvlink(fabric, hop, from.node, from.gpu, by.gpu);
        hop->relay_latency_us = topology->nvlink.latency_us;
    }
    if (hop->direct_send && beside) {
        pass(fabric, hop, by.node, MODEL_LINK_PCIE_UP, by.gpu);
        enter_nic(fabric, hop, by.node, nic, false);
        return;
    }
    climb(fabric, hop, by);
    if (!hop->direct_send) {
        through_memory(fabric, hop, by);
    }
    cross(fabric, hop, by.node, socket_of(fabric, by),
          model_wiring_nic_socket(topology, nic));
    enter_nic(fabric, hop, by.node, nic, true);
}

/* The same from a NIC to a GPU, without PXN. */
static void route_from_nic(const struct model_fabric *fabric,
                           struct model_hop *hop,
                           struct place to,
                           int nic)
{
    const struct model_topology *topology = fabric->topology;
    bool beside =
        model_wiring_nic_path(topology, to.gpu, nic) == MODEL_PATH_PIX;

    hop->direct_receive = model_wiring_gpudirect(topology, to.gpu, nic);
    if (hop->direct_receive && beside) {
        leave_nic(fabric, hop, to.node, nic, false);
        pass(fabric, hop, to.node, MODEL_LINK_PCIE_DOWN, to.gpu);
        return;
    }
    leave_nic(fabric, hop, to.node, nic, true);
    cross(fabric, hop, to.node, model_wiring_nic_socket(topology, nic),
          socket_of(fabric, to));
    if (!hop->direct_receive) {
        through_memory(fabric, hop, to);
    }
    descend(fabric, hop, to);
}

/*
 * Up to the spine and down again, where the two NICs' leaves differ. Folded,
 * between rails all nodes do, and within one as many as leaf.h says.
 */
static void pass_leaves(const struct model_fabric *fabric,
                        struct model_hop *hop,
                        int from_node,
                        int to_node,
                        int from_nic,
                        int to_nic)
{
    const struct model_topology *topology = fabric->topology;
    int count = topology->node_count;
    int up = model_leaf_of(topology, from_node, from_nic);
    int down = model_leaf_of(topology, to_node, to_nic);
    double weight = up != down ? 1.0 : 0.0;
    double passing = weight;

    if (model_fabric_is_folded(fabric)) {
        up %= model_leaf_rails(topology);
        down %= model_leaf_rails(topology);
        if (up == down) {
            int distance = (to_node - from_node + count) % count;

            weight = model_leaf_busiest_ratio(topology, distance);
            passing = model_leaf_mean_ratio(topology, distance);
        }
    }
    hop->latency_us += 2.0 * passing * topology->network.switch_latency_us;
    if (weight > 0.0) {
        pass_link(hop, fabric->first_leaf_link + 2 * up, weight);
        pass_link(hop, fabric->first_leaf_link + 2 * down + 1, weight);
    }
}

int model_fabric_pair_choices(const struct model_topology *topology,
                              int from_rank,
                              int to_rank)
{
    int gpus = topology->gpus_per_node;
    int out = model_wiring_nics_of(topology, from_rank % gpus).count;
    int in = model_wiring_nics_of(topology, to_rank % gpus).count;

    return from_rank / gpus == to_rank / gpus ? 1 : (out > in ? out : in);
}

/* The NICs on both sides of a pair that no ring ties to one. */
static void choose_nics(const struct model_topology *topology,
                        int from_gpu,
                        int to_gpu,
                        int choice,
                        int *from_nic,
                        int *to_nic)
{
    struct model_nic_range near = model_wiring_nics_of(topology, from_gpu);
    struct model_nic_range far = model_wiring_nics_of(topology, to_gpu);
    int own = near.first + choice % near.count;
    int theirs = far.first + choice % far.count;
    bool reached =
        model_wiring_sender(topology, from_gpu, theirs) != from_gpu ||
        model_wiring_nic_path(topology, from_gpu, theirs) < MODEL_PATH_PXN;

    *to_nic = theirs;
    *from_nic = reached || !topology->network.cross_nic ? theirs : own;
}

static void route_net(const struct model_fabric *fabric,
                      struct model_hop *hop,
                      int from_rank,
                      int to_rank,
                      int nic)
{
    const struct model_topology *topology = fabric->topology;
    int gpus = topology->gpus_per_node;
    int from_nic = nic;
    int to_nic = nic;

    if (nic <= MODEL_NIC_OF_PAIR) {
        choose_nics(topology, from_rank % gpus, to_rank % gpus,
                    MODEL_NIC_OF_PAIR - nic, &from_nic, &to_nic);
    }
    hop->kind = MODEL_HOP_NET;
    route_to_nic(fabric, hop, place_of(fabric, from_rank), from_nic);
    route_from_nic(fabric, hop, place_of(fabric, to_rank), to_nic);
    hop->latency_us = topology->nics.latency_us + hop->relay_latency_us;
    if (model_leaf_count(topology) > 0) {
        pass_leaves(fabric, hop, from_rank / gpus, to_rank / gpus, from_nic,
                    to_nic);
    }
}

void model_fabric_route(const struct model_fabric *fabric,
                        int from_rank,
                        int to_rank,
                        enum model_transport transport,
                        int nic,
                        struct model_hop *hop)
{
    int gpus = fabric->topology->gpus_per_node;

    *hop = (struct model_hop){.ranks = {from_rank, to_rank},
                              .sender_gpu = from_rank % gpus};
    if (from_rank / gpus != to_rank / gpus) {
        route_net(fabric, hop, from_rank, to_rank, nic);
    } else {
        route_in_node(fabric, hop, place_of(fabric, from_rank),
                      place_of(fabric, to_rank), transport);
    }
}
