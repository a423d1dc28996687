/*
 * evaluator.h - how a search measures a plan.
 *
 * An evaluator is a function and a context: the simulator here; a closed form
 * or real GPUs elsewhere. Every call counts as one evaluation.
 */
#ifndef SEARCH_EVALUATOR_H
#define SEARCH_EVALUATOR_H

#include "search/problem.h"

struct search_evaluator {
    enum model_status (*evaluate)(void *context,
                                  const struct model_plan *plan,
                                  struct search_measure *measure,
                                  struct model_errors *errors);
    void *context;
    int evaluations;
};

/* Evaluate and count. */
enum model_status search_evaluate(struct search_evaluator *evaluator,
                                  const struct model_plan *plan,
                                  struct search_measure *measure,
                                  struct model_errors *errors);

/* Context of the simulator as evaluator; scratch is reset at each call. */
struct search_simulator {
    const struct search_problem *problem;
    struct model_arena *scratch;
};

/* The simulator as evaluator. context must outlive it. */
struct search_evaluator search_simulate(struct search_simulator *context);

#endif
