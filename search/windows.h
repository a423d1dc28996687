/*
 * windows.h - the overlap windows of a workload, found from a simulated
 * iteration under NCCL's own settings.
 *
 * An instance of a window is some collectives, one after another, and the
 * kernels that can hide them: Lagom's overlap (arXiv 2602.20656, section 3.1).
 * Synchronisation cuts the iteration into instances (model/overlap.h), going
 * through the ops by their simulated starts: what really follows what, however
 * the file lists it.
 *
 *   kernels    all of the instance that had not ended when its first collective
 *              was ready. They need not have run beside it: where they did not,
 *              it had ended, and slower settings would hide behind them, which
 *              is what X < Y asks. What had ended before, no setting of the
 *              instance can reach.
 *   streams    the collectives of an instance are of one stream, as the paper
 *              has one. Those of two streams run beside each other; each has to
 *              be hidden by the kernels, which may then be of several windows.
 *   windows    instances with equal collectives (kind, size, group, shift,
 *              fixed keys), the same label in the file, and kernels whose times
 *              alone add up to the same within SEARCH_WINDOWS_ALIKE are one
 *              window, and are tuned once: nothing else of them enters the
 *              balance of X and Y.
 *   none       kernels beside no collective belong to no window. Collectives
 *              beside no kernel do, each to one of its own: there communication
 *              is all that counts, and each is best by itself (eq. 2). Y = 0.
 *
 * So the first AllGather of FSDP, on which all wait, forms a window by itself,
 * and head and optimizer are in none, though the file calls all three "root".
 * One collective that spans several layers has the kernels of them all, up to
 * the next point where one side waits for the other. A ReduceScatter that is
 * needed only at the end is beside all that follows it up to such a point.
 * Collectives back to back are one window if one kernel can hide some of them.
 *
 * A workload that cannot be simulated is cut as it is listed; whoever evaluates
 * it gets the fault.
 */
#ifndef SEARCH_WINDOWS_H
#define SEARCH_WINDOWS_H

#include "sim/sim.h"

/* Y of two instances of one window, the longer over the shorter. */
#define SEARCH_WINDOWS_ALIKE 1.1

/* That a kernel can hide a window's collectives. */
struct search_beside {
    int window;
    int next; /* index of the same kernel's next, or -1 */
};

struct search_windows {
    int *of_op;     /* window of each collective, -1 for kernels */
    int *beside_of; /* by kernel: its first in beside, or -1 */
    struct search_beside *beside;
    int beside_count;
    const char **labels; /* by window: the file's for its first collective */
    int *instances;      /* by window */
    int count;
    double *time_us; /* by op, under NCCL's settings; 1 when not simulated */
};

/* Whether collectives are equal: kind, size, group, shift, fixed keys. */
bool search_same_key(const struct model_op *a, const struct model_op *b);

/* Everything lives in the arena; labels are the workload's. */
void search_windows_find(struct model_arena *arena,
                         const struct model_nccl *nccl,
                         struct search_windows *windows);

#endif
