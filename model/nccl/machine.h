/*
 * machine.h - a node as NCCL sees it: devices, and links with the rates
 * that NCCL assumes of their type.
 *
 * Only the GPUs of one communicator are in it, with all CPUs, PCIe switches and
 * NICs. A link is two directed ones, number i and its way back i ^ 1. Rates are
 * whole numbers of bytes/us, that is MB/s: NCCL rounds its own to as much each
 * time it takes from them, so that all comparisons here are exact.
 *
 * NCCL: graph/topo.cc. Where devices hang is as in wiring.h.
 */
#ifndef MODEL_NCCL_MACHINE_H
#define MODEL_NCCL_MACHINE_H

#include "model/nccl/comm.h"

enum model_nccl_device_kind {
    MODEL_NCCL_GPU,
    MODEL_NCCL_NVS, /* all NVSwitches together */
    MODEL_NCCL_CPU, /* a socket */
    MODEL_NCCL_PCI, /* a PCIe switch */
    MODEL_NCCL_NIC,
    MODEL_NCCL_NET, /* what a NIC leads to */
    MODEL_NCCL_DEVICE_KINDS
};

struct model_nccl_link {
    int to;   /* device */
    int type; /* enum model_nccl_path: LOC (NIC to NET), NVL, C2C, PIX (PCIe),
                 SYS */
    int bytes_per_us;
};

struct model_nccl_device {
    int kind;   /* enum model_nccl_device_kind */
    int *links; /* numbers of those that leave, in NCCL's order */
    int link_count;
};

struct model_nccl_machine {
    const struct model_topology *topology;
    const struct model_nccl_graph_data *data;
    const struct model_nccl_settings *settings;
    const int *gpus; /* numbers in the node, ascending */
    int least_capability;
    const int *capabilities; /* of each GPU */

    /* Devices are numbered kind by kind. */
    struct model_nccl_device *devices;
    int first[MODEL_NCCL_DEVICE_KINDS + 1];
    struct model_nccl_link *links;
    int link_count;
};

static inline int model_nccl_count(const struct model_nccl_machine *machine,
                                   enum model_nccl_device_kind kind)
{
    return machine->first[kind + 1] - machine->first[kind];
}

/*
 * The machine of some GPUs of a node, ascending and at least one, of which
 * capabilities are given; both are borrowed. Without `with_nics` there are no
 * NETs, as NCCL drops them on one node.
 */
struct model_nccl_machine
model_nccl_machine_make(struct model_arena *arena,
                        const struct model_topology *topology,
                        const struct model_nccl_graph_data *data,
                        const struct model_nccl_settings *settings,
                        const int *gpus,
                        const int *capabilities,
                        int gpu_count,
                        bool with_nics);

/* What NCCL assumes of one NVLink of a GPU, bytes/us. */
int model_nccl_nvlink_rate(const struct model_nccl_graph_data *data,
                           int capability);

#endif
