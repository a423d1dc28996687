/*
 * bound.h - an iteration time that no plan can beat.
 *
 * Operations of a stream run one after another, each after its launch latency,
 * and no kernel beats model_kernel_bound_us. So for each stream these times add
 * up to a lower bound, and the largest of the sums bounds the iteration.
 * Collectives count nothing: their time depends on the plan.
 */
#ifndef SEARCH_BOUND_H
#define SEARCH_BOUND_H

#include "search/problem.h"

/* The bound, us. Work space comes from the arena. */
double search_bound_us(struct model_arena *arena,
                       const struct search_problem *problem);

#endif
