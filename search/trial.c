/*
 * trial.c - plans measured within a budget, each once.
 */
#include "search/trial.h"

#include <math.h>
#include <string.h>

static struct model_config *copy(struct model_arena *arena,
                                 const struct search_problem *problem,
                                 const struct model_config *configs)
{
    size_t classes = (size_t)problem->class_count;
    struct model_config *own =
        model_arena_array(arena, classes + 1, sizeof(*own));

    if (classes > 0) {
        memcpy(own, configs, classes * sizeof(*own));
    }
    search_pin(problem, own);
    return own;
}

static bool same_plan(const struct search_problem *problem,
                      const struct model_config *a,
                      const struct model_config *b)
{
    for (int i = 0; i < problem->class_count; i++) {
        if (!model_config_equal(&a[i], &b[i])) {
            return false;
        }
    }
    return true;
}

/* Where the plan is among those tried, or -1. */
static int find(const struct search_trial *trial,
                const struct model_config *configs)
{
    for (int i = 0; i < trial->tried_count; i++) {
        if (same_plan(trial->task->problem, trial->tried[i].configs, configs)) {
            return i;
        }
    }
    return -1;
}

static enum model_status measure(struct search_trial *trial,
                                 struct model_config *configs,
                                 double *iteration_us)
{
    enum model_status status =
        search_try(trial->task, trial->outcome, configs, &trial->measure);

    if (status != MODEL_OK) {
        return status;
    }
    *iteration_us = trial->measure.iteration_us;
    trial->tried =
        model_arena_grow(trial->task->arena, trial->tried, trial->tried_count,
                         &trial->tried_room, sizeof(*trial->tried));
    trial->tried[trial->tried_count] =
        (struct search_tried){configs, *iteration_us};
    if (*iteration_us < trial->tried[trial->best].iteration_us) {
        trial->best = trial->tried_count;
    }
    trial->tried_count++;
    return MODEL_OK;
}

enum model_status search_trial_try(struct search_trial *trial,
                                   const struct model_config *configs,
                                   double *iteration_us)
{
    struct model_config *own =
        copy(trial->task->arena, trial->task->problem, configs);
    int known = find(trial, own);

    if (known >= 0) {
        *iteration_us = trial->tried[known].iteration_us;
        return MODEL_OK;
    }
    if (trial->left <= 0) {
        *iteration_us = HUGE_VAL;
        return MODEL_OK;
    }
    trial->left--;
    return measure(trial, own, iteration_us);
}

enum model_status search_trial_add(struct search_trial *trial,
                                   const struct model_config *configs)
{
    struct model_config *own =
        copy(trial->task->arena, trial->task->problem, configs);
    double iteration_us;

    return find(trial, own) >= 0 ? MODEL_OK
                                 : measure(trial, own, &iteration_us);
}

enum model_status search_trial_start(struct search_trial *trial,
                                     struct search_task *task,
                                     struct search_outcome *outcome,
                                     int budget)
{
    const struct search_problem *problem = task->problem;
    struct model_config *native = model_arena_array(
        task->arena, (size_t)problem->class_count + 1, sizeof(*native));
    double iteration_us;

    *trial = (struct search_trial){
        .task = task, .outcome = outcome, .left = budget > 1 ? budget : 1};
    search_measure_make(task->arena, problem, &trial->measure);
    for (int i = 0; i < problem->class_count; i++) {
        native[i] = problem->classes[i].baseline;
    }
    return search_trial_try(trial, native, &iteration_us);
}

void search_trial_finish(struct search_trial *trial)
{
    const struct model_config *best = trial->tried[trial->best].configs;

    for (int i = 0; i < trial->task->problem->class_count; i++) {
        trial->outcome->configs[i] = best[i];
    }
}
