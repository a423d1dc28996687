/*
 * bound.h - attempts of which it is plain that they cannot win.
 *
 * A channel passes all GPUs, so it leaves and enters each part of the node: a
 * GPU, GPUs that NVLink joins, those of a PCIe switch, those of a socket. The
 * links that lead out of a part, and in, bound the number of channels, and so
 * do the NICs. An attempt whose bound is not better than the best found so far
 * need not be made; only its steps would count (relax.c).
 */
#ifndef MODEL_NCCL_BOUND_H
#define MODEL_NCCL_BOUND_H

#include "model/nccl/walk.h"

/* A link out of a part, and the nearest paths that use it. */
struct model_nccl_exit {
    int link;
    int intra_type, inter_type; /* MODEL_NCCL_PATH_DIS: none does */
};

struct model_nccl_exits {
    struct model_nccl_exit *items;
    int count;
};

/* The ways out of one part, and in. */
struct model_nccl_cut {
    struct model_nccl_exits out, in;
};

/* All GPUs, each in one part. */
struct model_nccl_parts {
    struct model_nccl_cut *cuts;
    int count; /* >= 2 */
};

enum { MODEL_NCCL_PARTITIONS = 4 };

struct model_nccl_bounds {
    const struct model_nccl_walk *walk; /* borrowed */
    struct model_nccl_parts parts[MODEL_NCCL_PARTITIONS];
    int part_count;
    int path_hops; /* links of a path through all GPUs, at least */
    int net_hops;  /* links from a GPU to a NET, at least */
};

struct model_nccl_bounds
model_nccl_bounds_make(struct model_arena *arena,
                       const struct model_nccl_walk *walk);

/* May no set of channels that `now` asks for be better than `best`? */
bool model_nccl_hopeless(const struct model_nccl_bounds *bounds,
                         const struct model_nccl_draft *now,
                         const struct model_nccl_draft *best);

#endif
