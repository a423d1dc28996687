/*
 * evaluator.c - the table of evaluators, and the simulator as one: a simulation
 * per evaluation, in memory that is used again.
 */
#include "search/evaluator.h"

#include <string.h>

const struct search_evaluator_kind search_evaluators[] = {
    {"simulator", "a simulated iteration", false, search_open_simulator},
    {"model", "Lagom's cost model, in closed form (arXiv 2602.20656, eq. 1-6)",
     false, search_open_model},
    {"replay", "an iteration on real GPUs, measured by lagom-replay", true,
     search_open_replay},
    {.name = NULL}};

const struct search_evaluator_kind *
search_evaluator_find(const char *name, struct model_errors *errors)
{
    struct model_place place = {"lagom", 0, 0};
    const char *names[8] = {NULL};
    const char *nearest;

    if (name == NULL) {
        return &search_evaluators[0];
    }
    for (int i = 0; search_evaluators[i].name != NULL; i++) {
        if (strcmp(search_evaluators[i].name, name) == 0) {
            return &search_evaluators[i];
        }
        names[i] = search_evaluators[i].name;
    }
    nearest = model_nearest_name(name, names);
    (void)model_errors_add(
        errors, MODEL_USAGE, place, NULL,
        nearest != NULL
            ? model_arena_format(errors->arena, "did you mean \"%s\"?", nearest)
            : "write simulator, model or replay",
        "no such evaluator: %s", name);
    return NULL;
}

enum model_status search_evaluate(struct search_evaluator *evaluator,
                                  const struct model_plan *plan,
                                  struct search_measure *measure,
                                  struct model_errors *errors)
{
    evaluator->evaluations++;
    return evaluator->evaluate(evaluator->context, plan, measure, errors);
}

static enum model_status simulate(void *context,
                                  const struct model_plan *plan,
                                  struct search_measure *measure,
                                  struct model_errors *errors)
{
    struct search_simulator *simulator = context;
    const struct search_problem *problem = simulator->problem;
    struct sim_request request = {.topology = problem->topology,
                                  .workload = problem->workload,
                                  .plan = plan,
                                  .nccl = problem->nccl};
    struct sim_result result;
    struct sim *sim;
    enum model_status status;

    model_arena_reset(simulator->scratch);
    sim = sim_new(simulator->scratch, &request, errors);
    if (sim == NULL) {
        return MODEL_BAD_INPUT;
    }
    status = sim_run(sim, &result, errors);
    if (status == MODEL_OK) {
        search_measure_fill(problem, &result, measure);
    }
    return status;
}

struct search_evaluator search_simulate(struct search_simulator *context)
{
    return (struct search_evaluator){.evaluate = simulate, .context = context};
}

enum model_status search_open_simulator(struct model_arena *arena,
                                        struct model_arena *scratch,
                                        const struct search_problem *problem,
                                        const struct sim_options *options,
                                        struct search_evaluator *evaluator,
                                        struct model_errors *errors)
{
    struct search_simulator *simulator =
        model_arena_alloc(arena, sizeof(*simulator));

    (void)options;
    (void)errors;
    *simulator = (struct search_simulator){problem, scratch};
    *evaluator = search_simulate(simulator);
    return MODEL_OK;
}
