/*
 * bound.h - an iteration time that no plan can beat.
 *
 * Operations of a stream run one after another, and none is faster in company
 * than alone: it then has at most the same SMs, cache and bandwidth. So for
 * each stream the kernels' times alone add up to a lower bound, and the
 * largest of these sums bounds the iteration. Collectives count nothing: their
 * time depends on the plan.
 */
#ifndef SEARCH_BOUND_H
#define SEARCH_BOUND_H

#include "search/problem.h"

/* The bound, us. Work space comes from the arena. */
double search_bound_us(struct model_arena *arena,
                       const struct search_problem *problem);

#endif
