/*
 * evaluator.h - how a search measures a plan.
 *
 * An evaluator is a function and a context: the simulator, Lagom's cost model
 * in closed form, or real GPUs. Every call counts as one evaluation.
 */
#ifndef SEARCH_EVALUATOR_H
#define SEARCH_EVALUATOR_H

#include "search/problem.h"

struct sim_options; /* sim/cli.h */

struct search_evaluator {
    enum model_status (*evaluate)(void *context,
                                  const struct model_plan *plan,
                                  struct search_measure *measure,
                                  struct model_errors *errors);
    void *context;
    int evaluations;
    bool measures; /* a real machine, for which no bound of ours holds */
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

/*
 * Evaluators by name. Their context lives in the arena and borrows problem,
 * scratch, which is reset at each call, and options: those of the command line
 * that say how to measure (replay), or NULL. open: MODEL_BAD_INPUT with the
 * faults in errors when the workload cannot run on the topology.
 */
struct search_evaluator_kind {
    const char *name;
    const char *summary;
    bool measures; /* a real machine: its times are what is reported */
    enum model_status (*open)(struct model_arena *arena,
                              struct model_arena *scratch,
                              const struct search_problem *problem,
                              const struct sim_options *options,
                              struct search_evaluator *evaluator,
                              struct model_errors *errors);
};

/* Ended by a row without name; the first is the default. */
extern const struct search_evaluator_kind search_evaluators[];

/*
 * The kind of that name (NULL: the default), or NULL after reporting the fault
 * with the nearest name.
 */
const struct search_evaluator_kind *
search_evaluator_find(const char *name, struct model_errors *errors);

/* Rows of the table. */
enum model_status search_open_simulator(struct model_arena *arena,
                                        struct model_arena *scratch,
                                        const struct search_problem *problem,
                                        const struct sim_options *options,
                                        struct search_evaluator *evaluator,
                                        struct model_errors *errors);
enum model_status search_open_model(struct model_arena *arena,
                                    struct model_arena *scratch,
                                    const struct search_problem *problem,
                                    const struct sim_options *options,
                                    struct search_evaluator *evaluator,
                                    struct model_errors *errors);
enum model_status search_open_replay(struct model_arena *arena,
                                     struct model_arena *scratch,
                                     const struct search_problem *problem,
                                     const struct sim_options *options,
                                     struct search_evaluator *evaluator,
                                     struct model_errors *errors);

#endif
