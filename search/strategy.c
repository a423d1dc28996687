/*
 * strategy.c - the table of strategies, and what they share.
 */
#include "search/strategy.h"

#include <string.h>

const struct search_strategy search_strategies[] = {
    {"nccl", "NCCL's own choice, nothing tuned", search_find_nccl, true, false,
     false},
    {"autoccl", "each collective as fast as it can be (AutoCCL, NSDI'25)",
     search_find_autoccl, true, true, true},
    {"lagom", "collectives just fast enough to hide (Lagom, arXiv 2602.20656)",
     search_find_lagom, true, false, false},
    {"lagom+", "the same balance by the cost model, corrected as it is used",
     search_find_lagom_plus, true, false, false},
    {"static", "one limit of channels for all collectives (Liger)",
     search_find_static, false, false, false},
    {"afnfa", "one set of NCCL's variables for the job (AFNFA, APNet'23)",
     search_find_afnfa, false, false, true},
    {"random", "the best of plans drawn at random", search_find_random, false,
     false, true},
    {"anneal", "simulated annealing over whole plans", search_find_anneal,
     false, false, true},
    {"oracle",
     "the best that a long search finds, and how far it may be from it",
     search_find_oracle, false, false, false},
    {.name = NULL}};

/* "write nccl, autoccl or lagom", of all there are. */
static const char *list_names(struct model_arena *arena)
{
    const char *text = "write";

    for (int i = 0; search_strategies[i].name != NULL; i++) {
        bool last = search_strategies[i + 1].name == NULL;

        text = model_arena_format(arena, "%s%s%s", text,
                                  i == 0 ? " "
                                  : last ? " or "
                                         : ", ",
                                  search_strategies[i].name);
    }
    return text;
}

const struct search_strategy *search_strategy_find(const char *name,
                                                   struct model_errors *errors)
{
    struct model_place place = {"lagom", 0, 0};
    const char *names[16] = {NULL};
    const char *nearest;

    for (int i = 0; search_strategies[i].name != NULL; i++) {
        if (strcmp(search_strategies[i].name, name) == 0) {
            return &search_strategies[i];
        }
        names[i] = search_strategies[i].name;
    }
    nearest = model_nearest_name(name, names);
    (void)model_errors_add(
        errors, MODEL_USAGE, place, NULL,
        nearest != NULL
            ? model_arena_format(errors->arena, "did you mean \"%s\"?", nearest)
            : list_names(errors->arena),
        "no such strategy: %s", name);
    return NULL;
}

static void keep_point(struct search_task *task,
                       struct search_outcome *outcome,
                       double iteration_us)
{
    outcome->curve =
        model_arena_grow(task->arena, outcome->curve, outcome->curve_count,
                         &outcome->curve_room, sizeof(*outcome->curve));
    outcome->curve[outcome->curve_count++] =
        (struct search_point){task->evaluator->evaluations, iteration_us};
}

enum model_status search_try(struct search_task *task,
                             struct search_outcome *outcome,
                             const struct model_config *configs,
                             struct search_measure *measure)
{
    struct model_plan plan =
        search_plan(task->arena, task->problem, configs, NULL);
    enum model_status status =
        search_evaluate(task->evaluator, &plan, measure, task->errors);

    if (status == MODEL_OK) {
        keep_point(task, outcome, measure->iteration_us);
        if (task->progress != NULL) {
            task->progress(task->progress_context, task->evaluator->evaluations,
                           measure->iteration_us);
        }
    }
    return status;
}

enum model_status search_iteration_us(struct search_task *task,
                                      const struct model_config *configs,
                                      double *iteration_us)
{
    struct search_measure measure;
    struct model_plan plan =
        search_plan(task->arena, task->problem, configs, NULL);
    enum model_status status;

    search_measure_make(task->arena, task->problem, &measure);
    status = search_evaluate(task->evaluator, &plan, &measure, task->errors);
    *iteration_us = measure.iteration_us;
    return status;
}

enum model_status search_run(const struct search_strategy *strategy,
                             struct search_task *task,
                             struct search_outcome *outcome)
{
    int before = task->evaluator->evaluations;
    enum model_status status;

    *outcome = (struct search_outcome){.configs = NULL};
    outcome->configs =
        model_arena_array(task->arena, (size_t)task->problem->class_count + 1,
                          sizeof(*outcome->configs));
    status = strategy->find(task, outcome);
    search_pin(task->problem, outcome->configs);
    outcome->evaluations = task->evaluator->evaluations - before;
    return status == MODEL_OK ? search_iteration_us(task, outcome->configs,
                                                    &outcome->iteration_us)
                              : status;
}
