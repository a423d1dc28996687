/*
 * walk_parts.h - the parts of an attempt, for nccl_walk*.c alone.
 */
#ifndef MODEL_NCCL_WALK_PARTS_H
#define MODEL_NCCL_WALK_PARTS_H

#include "model/nccl/walk.h"

/* How a channel goes on. */
enum model_nccl_following {
    MODEL_NCCL_SEARCHED,
    MODEL_NCCL_IN_ORDER, /* GPUs as they are numbered */
    MODEL_NCCL_REPLAYED  /* as the channel before */
};

enum { MODEL_NCCL_NEVER = -1, MODEL_NCCL_NOWHERE = -1 };

struct model_nccl_course {
    int leave; /* the GPU, counted along the channel, that goes to a NIC */
    int close; /* the GPU that goes back to the first one */
    enum model_nccl_following following;
};

/*
 * Go from a device to another and take the rate from all links between; false,
 * with nothing taken, when the way is too far or too little is left.
 */
bool model_nccl_go(struct model_nccl_walk *walk,
                   int from,
                   int to,
                   int bytes_per_us);

/* Give back what model_nccl_go took. */
void model_nccl_undo(struct model_nccl_walk *walk,
                     int from,
                     int to,
                     int bytes_per_us);

/* What is left of a GPU's PCIe, both ways, whole GB/s. */
int model_nccl_pcie_left(const struct model_nccl_walk *walk, int gpu);

/* The GPU at a step of the channel before. */
static inline int model_nccl_replayed(const struct model_nccl_walk *walk,
                                      int step)
{
    return model_nccl_draft_order(walk->now, walk->gpus,
                                  walk->now->channels - 1)[step];
}

/* From a device, or MODEL_NCCL_NOWHERE, to a GPU, and on from there. */
void model_nccl_enter(struct model_nccl_walk *walk,
                      int from,
                      int gpu,
                      int step,
                      struct model_nccl_course course);

/* Try all beginnings of the next channel. */
void model_nccl_start_channel(struct model_nccl_walk *walk);

/* The NETs to try by order, for model_nccl_walk.net_order. */
void model_nccl_order_nets(struct model_nccl_walk *walk);

#endif
