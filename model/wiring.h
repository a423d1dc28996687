/*
 * wiring.h - how near the devices of one node are to each other.
 *
 * A node is a tree of PCIe with NVLink across it: GPUs in the order of their
 * numbers below PCIe switches, switches below sockets; NICs spread evenly over
 * the switches or the sockets' root ports. From that follow, by rule and
 * without a table: the path between two devices, which NIC a GPU uses, which
 * GPU stands beside a NIC, and by whom a GPU sends over a NIC.
 *
 * All functions are pure. gpu, from, to: 0 .. gpus_per_node - 1; nic: 0 ..
 * nics.count - 1, where the topology has NICs.
 */
#ifndef MODEL_WIRING_H
#define MODEL_WIRING_H

#include "model/topology.h"

/* Consecutive NICs. */
struct model_nic_range {
    int first;
    int count;
};

/* True when GPUs hang below PCIe switches rather than on root ports. */
bool model_wiring_has_switch(const struct model_topology *topology, int gpu);

/* The PCIe switch (or root port) and the socket of a GPU. */
int model_wiring_gpu_switch(const struct model_topology *topology, int gpu);
int model_wiring_gpu_socket(const struct model_topology *topology, int gpu);

/* The PCIe switch of a NIC, or -1 when it is on a root port; its socket. */
int model_wiring_nic_switch(const struct model_topology *topology, int nic);
int model_wiring_nic_socket(const struct model_topology *topology, int nic);

/* NVLinks straight from one GPU to another; 1 through an NVSwitch. */
int model_wiring_nvlinks(const struct model_topology *topology,
                         int from,
                         int to);

/*
 * The GPU by way of which NVLink joins two that it does not join directly (NCCL
 * calls the path NVB, and takes it before PCIe), or -1. Of several the one with
 * most links, then the lowest number.
 */
int model_wiring_bridge(const struct model_topology *topology,
                        int from,
                        int to);

/* The path between two GPUs: NVL, NVB, PIX, PHB or SYS. */
enum model_path
model_wiring_gpu_path(const struct model_topology *topology, int from, int to);

/* The path between a GPU and a NIC over PCIe: PIX, PHB or SYS. */
enum model_path
model_wiring_nic_path(const struct model_topology *topology, int gpu, int nic);

/*
 * The NICs that are a GPU's own: of those nearest to it its even share among
 * the GPUs that are as near, one at least. With as many NICs as GPUs each has
 * one; NCCL spreads GPUs over their local NICs likewise.
 */
struct model_nic_range
model_wiring_nics_of(const struct model_topology *topology, int gpu);

/* The GPU beside a NIC: the first whose own NICs it is among. */
int model_wiring_gpu_beside(const struct model_topology *topology, int nic);

/* Do the NIC and the GPU move data without host memory? */
bool model_wiring_gpudirect(const struct model_topology *topology,
                            int gpu,
                            int nic);

/*
 * The GPU by which a GPU sends over a NIC: itself, or (PXN) the one beside the
 * NIC. As in NCCL, that one is taken when NVLink joins the two, GPUDirect works
 * between it and the NIC, and the sender's own path to the NIC is farther than
 * PXN, that is through the root complex. Nothing is received that way.
 */
int model_wiring_sender(const struct model_topology *topology,
                        int gpu,
                        int nic);

#endif
