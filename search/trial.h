/*
 * trial.h - the bookkeeping of a strategy that measures whole plans: a budget
 * of evaluations, the best plan so far, and what was measured already.
 *
 * A plan that was tried is never measured again and costs nothing the second
 * time: without noise it would take as long. NCCL's own settings are the first
 * plan: a result is never slower than them, as measured.
 */
#ifndef SEARCH_TRIAL_H
#define SEARCH_TRIAL_H

#include "search/strategy.h"

/* Evaluations, where the task names none: as many as autoccl spends at most
 * (NCCL's own, 20 random, 50 of its descents). */
enum { SEARCH_TRIAL_BUDGET = 71 };

/* A plan that was measured: a configuration by class. */
struct search_tried {
    struct model_config *configs;
    double iteration_us;
};

struct search_trial {
    struct search_task *task; /* borrowed, as the outcome */
    struct search_outcome *outcome;
    int left; /* evaluations that may still be made */
    struct search_tried *tried;
    int tried_count, tried_room;
    int best;                      /* of those tried */
    struct search_measure measure; /* the last one */
};

/*
 * Begin with NCCL's own settings, the first of budget evaluations (at least
 * one). Everything lives in the task's arena.
 */
enum model_status search_trial_start(struct search_trial *trial,
                                     struct search_task *task,
                                     struct search_outcome *outcome,
                                     int budget);

/*
 * The iteration with configurations by class, of which the keys that ops give
 * themselves count first. HUGE_VAL when it would have to be measured and
 * nothing is left.
 */
enum model_status search_trial_try(struct search_trial *trial,
                                   const struct model_config *configs,
                                   double *iteration_us);

/*
 * Add a plan that a strategy within this one ended with, whose time is not
 * known yet. That costs an evaluation, but not of the budget.
 */
enum model_status search_trial_add(struct search_trial *trial,
                                   const struct model_config *configs);

/* The best plan becomes the outcome's. */
void search_trial_finish(struct search_trial *trial);

#endif
