/*
 * evaluator.c - a simulation per evaluation, in memory that is used again.
 */
#include "search/evaluator.h"

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
