/*
 * least.h - least times of classes over their whole space.
 *
 * A collective alone takes at least its bytes over the busiest of the links it
 * passes, and its HBM bytes over the memory's rate. Both are the same whatever
 * threads and chunk, which only slow channels down: so one look at each
 * (algorithm, protocol, transport, channels) of the space, and one at NCCL's
 * own choice, bounds all plans that a search may find. Tighter than
 * search_bound_collective_us, which holds for any algorithm; it takes a few
 * milliseconds a class.
 */
#ifndef SEARCH_LEAST_H
#define SEARCH_LEAST_H

#include "search/problem.h"

/* By class, us, without launch; lives in the arena. Work space comes from
 * scratch. */
double *search_least_us(struct model_arena *arena,
                        struct model_arena *scratch,
                        const struct search_problem *problem);

/*
 * search_bound_us with these: no plan of the space, nor NCCL's own, is faster.
 * Work space comes from the arena.
 */
double search_least_bound_us(struct model_arena *arena,
                             const struct search_problem *problem);

#endif
