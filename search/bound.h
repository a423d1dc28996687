/*
 * bound.h - an iteration time that no plan can beat.
 *
 * What is here holds whatever algorithm a plan names; for plans of the space
 * that searches choose from least.h knows more. Two kinds of bound, each of
 * which holds whatever the plan; the larger counts.
 *
 * path  The longest way through the ops. An op begins a launch latency after
 *       all that it waits for is done (its stream's op before it, `after`,
 *       start_us, the CPU's launches before it), one that spins moves only
 *       after `after`; a kernel then takes at least model_kernel_bound_us, a
 *       collective search_bound_collective_us. Steps that are not listed (a
 *       cycle) add the way through the one that stands for them, and then the
 *       CPU's launches, which need not grow like it, count among the sums.
 * sums  What must pass one resource of a rank, over its rate: the kernels'
 *       loads on all SMs; bytes of HBM; bytes into a GPU; bytes into a node;
 *       the launches.
 *
 * Both are about one rank that stands for all, as searches simulate it (sim.h):
 * no slow ranks, no jitter. What the simulator may round off, a picosecond an
 * event, is taken off the bound.
 */
#ifndef SEARCH_BOUND_H
#define SEARCH_BOUND_H

#include "search/problem.h"

struct search_bound;

/* The bound, us. Work space comes from the arena. */
double search_bound_us(struct model_arena *arena,
                       const struct search_problem *problem);

/*
 * For many bounds of one problem, of which more and more is known. Lives in the
 * arena and borrows the problem.
 */
struct search_bound *search_bound_new(struct model_arena *arena,
                                      const struct search_problem *problem);

/*
 * The bound where a least time of each class is known, us, without launch; what
 * is below the collective's own least counts as that. NULL: nothing is known.
 */
double search_bound_given_us(struct search_bound *self, const double *class_us);

/*
 * A time that no algorithm of collective.h, protocol, transport, number of
 * channels and chunk can beat for a collective op, without launch, us. From
 * what must cross a cut, over all the links that do:
 *
 *   bytes     into a part of k of the n ranks, M = size
 *               all_gather, reduce_scatter (out)  (n - 1) / n M: one GPU gets
 *                   that whatever the algorithm, and a ring, which enters each
 *                   part, brings as much into all of them; copy engines bring
 *                   k times (n - k) / n M, not less where parts are a pair of
 *                   more than two; others go on one node, where no part but a
 *                   GPU is cut off (NVLS), or have one GPU a node (PAT)
 *               all_to_all                        k (n - k) / n M
 *               broadcast, reduce, send (one GPU) M
 *               send_recv (one GPU)               M
 *               all_reduce    M where a switch may reduce, otherwise, in the
 *                             mean of the n / k parts, 2 (n - k) / n M: each
 *                             byte's contributions meet in n / k - 1 messages
 *                             at least, and the sum goes out in as many
 *   a GPU     its NVLinks in and its PCIe port. Within a node a byte that comes
 *             over PCIe also left some other GPU's port, and a port's rate is
 *             for both directions together: in the mean half of it is for what
 *             comes in
 *   a pair    that NVLink joins to no other GPU: the two ports
 *   a node    its NICs, for all groups of a family at once
 *   HBM       each rank's part of the buffer is read or written there
 */
double search_bound_collective_us(const struct search_problem *problem,
                                  const struct model_op *op);

#endif
