/*
 * strategy.h - strategies are rows of one table behind one function type.
 */
#ifndef SEARCH_STRATEGY_H
#define SEARCH_STRATEGY_H

#include "search/evaluator.h"
#include "search/lagom_reading.h"

/* Searches compare a plan with all that they tried: more would take days. */
enum { SEARCH_BUDGET_MAX = 100000 };

/* What a strategy is given. */
struct search_task {
    struct model_arena *arena;
    const struct search_problem *problem;
    struct search_evaluator *evaluator;
    struct model_errors *errors;
    uint64_t seed;
    /* Evaluations that a strategy may use, up to SEARCH_BUDGET_MAX; 0: as many
     * as is its own. NCCL and Lagom end by themselves. */
    int budget;
    const struct search_reading *reading; /* of lagom; NULL: the defaults */
    /* Evaluations of one candidate where times vary, for strategies that
     * repeat by themselves; 0 or 1: one. */
    int repeats;
    /* Called after each evaluation when not NULL; for progress. */
    void (*progress)(void *context, int evaluations, double iteration_us);
    void *progress_context;
};

/* One point of a convergence curve. */
struct search_point {
    int evaluation;
    double iteration_us; /* measured there */
};

/* What it finds; arrays live in the task's arena. */
struct search_outcome {
    struct model_config *configs; /* by class */
    double iteration_us;          /* with those */
    int evaluations; /* used to find them, without the last check */
    struct search_point *curve;
    int curve_count;
    int curve_room;
    const char *account; /* what the strategy says of its way: lines, or NULL */
};

struct search_strategy {
    const char *name;
    const char *summary;
    enum model_status (*find)(struct search_task *task,
                              struct search_outcome *outcome);
    bool compared; /* by compare, when it is not told which */
    bool repeats;  /* measures a candidate task->repeats times by itself */
    /* What it finds depends on its draws. Not the oracle's by much, which
     * draws only where its descents have ended. */
    bool draws;
};

/* Ended by a row without name. */
extern const struct search_strategy search_strategies[];

/*
 * The strategy of that name, or NULL after reporting the fault with the
 * nearest name.
 */
const struct search_strategy *search_strategy_find(const char *name,
                                                   struct model_errors *errors);

/*
 * Run a strategy: it finds, then its result is evaluated once more, uncounted,
 * for outcome->iteration_us.
 */
enum model_status search_run(const struct search_strategy *strategy,
                             struct search_task *task,
                             struct search_outcome *outcome);

/* The iteration with configurations by class. */
enum model_status search_iteration_us(struct search_task *task,
                                      const struct model_config *configs,
                                      double *iteration_us);

/* For strategies: evaluate configurations by class, and keep the point. */
enum model_status search_try(struct search_task *task,
                             struct search_outcome *outcome,
                             const struct model_config *configs,
                             struct search_measure *measure);

enum model_status search_find_nccl(struct search_task *task,
                                   struct search_outcome *outcome);
enum model_status search_find_autoccl(struct search_task *task,
                                      struct search_outcome *outcome);
enum model_status search_find_lagom(struct search_task *task,
                                    struct search_outcome *outcome);
enum model_status search_find_lagom_plus(struct search_task *task,
                                         struct search_outcome *outcome);
enum model_status search_find_static(struct search_task *task,
                                     struct search_outcome *outcome);
enum model_status search_find_afnfa(struct search_task *task,
                                    struct search_outcome *outcome);
enum model_status search_find_random(struct search_task *task,
                                     struct search_outcome *outcome);
enum model_status search_find_anneal(struct search_task *task,
                                     struct search_outcome *outcome);
enum model_status search_find_oracle(struct search_task *task,
                                     struct search_outcome *outcome);

#endif
