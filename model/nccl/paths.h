/*
 * paths.h - how NCCL goes from device to device of a node: over which
 * links, how near that is, and at what rate.
 *
 * A way is the shortest one, of equal ones the fastest, of those the one whose
 * links come first; a GPU is passed only from NVLink to NVLink (NVB). Then,
 * where P2P or GPUDirect do not reach, the way is bent to go by the CPU, and
 * where another GPU stands beside the NIC, by that one (PXN).
 *
 * NCCL: graph/paths.cc; local NICs and GPUs: graph/topo.cc.
 */
#ifndef MODEL_NCCL_PATHS_H
#define MODEL_NCCL_PATHS_H

#include "model/nccl/machine.h"

enum { MODEL_NCCL_HOPS_MAX = 8 };

struct model_nccl_way {
    int type;         /* enum model_nccl_path */
    int bytes_per_us; /* of its narrowest link */
    int count;        /* links; 0: from a device to itself, or none */
    int links[MODEL_NCCL_HOPS_MAX];
    bool taxed; /* P2P by way of an Intel root complex */
};

struct model_nccl_paths {
    const struct model_nccl_machine *machine; /* borrowed */
    struct model_nccl_way **to; /* to a device (GPU, NVS, CPU, NET) from each */
    int *net_gpu;               /* of each NET the GPU whose own it is, or -1 */
    bool by_host; /* NCCL sends some pair of GPUs through host memory that the
                     machine would let do P2P */
};

struct model_nccl_paths
model_nccl_paths_make(struct model_arena *arena,
                      const struct model_nccl_machine *machine);

/* The way between two devices; the second is no PCIe switch and no NIC. */
static inline struct model_nccl_way *
model_nccl_way(const struct model_nccl_paths *paths, int from, int to)
{
    return &paths->to[to][from];
}

/* The same by kind and number. */
static inline struct model_nccl_way *
model_nccl_way_of(const struct model_nccl_paths *paths,
                  enum model_nccl_device_kind from_kind,
                  int from,
                  enum model_nccl_device_kind to_kind,
                  int to)
{
    return model_nccl_way(paths, paths->machine->first[from_kind] + from,
                          paths->machine->first[to_kind] + to);
}

/*
 * The devices of a kind to which a device's ways are the fastest, of those the
 * nearest; as many as there is room for at most. Returns how many. found has
 * room for all of the kind; type may be NULL.
 */
int model_nccl_locals(const struct model_nccl_paths *paths,
                      int from,
                      enum model_nccl_device_kind kind,
                      int *found,
                      int *type);

/*
 * The NET that a GPU takes for its channel: GPUs that are as near take turns.
 * There must be NETs. found: room for as many GPUs or NETs as there are.
 */
int model_nccl_local_net(const struct model_nccl_paths *paths,
                         int gpu,
                         int channel,
                         int *found);

/* The farthest and the nearest path from a GPU to another, or to a NET. */
int model_nccl_farthest(const struct model_nccl_paths *paths,
                        enum model_nccl_device_kind kind);
int model_nccl_nearest(const struct model_nccl_paths *paths,
                       enum model_nccl_device_kind kind);

#endif
