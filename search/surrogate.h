/*
 * surrogate.h - what a plan may be expected to take, in microseconds of ours:
 * Lagom's cost model (model/window_cost.h) over a few options a class, scaled
 * to what has been measured. It orders plans; it judges none.
 *
 * Three things make it fast and near:
 *
 *   patterns   equal overlaps (model/overlap.h), such as those of all layers,
 *              are one, counted
 *   options    of the space of a class a coarse grid, and of that what no other
 *              option beats at once in time, SMs and bytes in L2: only these
 *              three can be traded for each other. Each is costed once.
 *   scales     a measurement gives x of each class and Y of each window; what
 *              the model says there for the same plan is off by a ratio, which
 *              is put on all it says from then on. The balance X = Y so moves
 *              to where the measurements have it.
 *
 * Beside kernels a collective runs at its pace without L2
 * (crowded_bytes_per_us), which the model's x, measured alone, leaves out.
 */
#ifndef SEARCH_SURROGATE_H
#define SEARCH_SURROGATE_H

#include "search/moves.h"

struct search_surrogate;

/*
 * For a problem, whose classes' options are all costed here. Lives in the
 * arena and borrows the problem; scratch is reset.
 */
struct search_surrogate *
search_surrogate_new(struct model_arena *arena,
                     struct model_arena *scratch,
                     const struct search_problem *problem);

/* Options of a class: 0 is NCCL's own. 0 of them: none can run. */
int search_surrogate_options(const struct search_surrogate *self, int index);

const struct model_config *search_surrogate_config(
    const struct search_surrogate *self, int index, int option);

/* x of an option beside nothing, us, not scaled. */
double search_surrogate_x_us(const struct search_surrogate *self,
                             int index,
                             int option);

/*
 * What it takes with the machine to itself, us, without launch: the simulator
 * is never faster. Shares of links and memory only shrink in company, and so
 * does a channel's own pace (rates.c).
 */
double search_surrogate_alone_us(const struct search_surrogate *self,
                                 int index,
                                 int option);

/*
 * The option that has a configuration, made when there is none; -1 where it
 * cannot run.
 */
int search_surrogate_option(struct search_surrogate *self,
                            int index,
                            const struct model_config *config);

/* The iteration with an option for each class. */
double search_surrogate_us(struct search_surrogate *self, const int *chosen);

/* Scale to a measurement of a plan. */
void search_surrogate_fit(struct search_surrogate *self,
                          const int *chosen,
                          const struct search_measure *measure);

/*
 * Change options, one class after another, as long as the iteration gets
 * shorter by it.
 */
void search_surrogate_descend(struct search_surrogate *self, int *chosen);

#endif
