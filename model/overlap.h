/*
 * overlap.h - a workload cut into overlaps: which collectives run beside which
 * kernels, as far as order and dependencies tell.
 *
 * Going through the ops as they are listed, which is how the CPU launches them,
 * or in another order, such as that of their simulated starts: a collective
 * joins the kernels of the overlap at hand unless it waits for one of them; a
 * kernel joins its collectives unless it waits for one of them, and then the
 * overlap ends behind that one. What does not fit begins the next. So each
 * instance of an overlap window, such as a layer, comes out by itself: with
 * FSDP {AllGather l+1 | layer l}. Overlaps follow one another; what one starts
 * and does not finish is not carried into the next.
 */
#ifndef MODEL_OVERLAP_H
#define MODEL_OVERLAP_H

#include "model/workload.h"

/* Indices of ops in launch order. */
struct model_overlap {
    const int *kernels;
    int kernel_count;
    const int *collectives;
    int collective_count;
};

struct model_overlaps {
    struct model_overlap *list;
    int count;
};

/* Each op is in one of them. Everything lives in the arena. */
struct model_overlaps
model_overlaps_make(struct model_arena *arena,
                    const struct model_workload *workload);

/*
 * The same of the ops in an order: count indices, each behind those that it
 * waits for. An op that is not among them cuts nothing.
 */
struct model_overlaps
model_overlaps_in_order(struct model_arena *arena,
                        const struct model_workload *workload,
                        const int *order,
                        int count);

/* How often an overlap comes: as its first op, for one that reaches into the
 * next step begins in each step. */
double model_overlap_repeats(const struct model_workload *workload,
                             const struct model_overlap *overlap);

#endif
