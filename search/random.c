/*
 * random.c - plans drawn at random, and the best of them.
 *
 * What any search has to beat on the same budget. Each class is drawn on its
 * own, from the space that the others search (moves.h).
 */
#include "search/moves.h"
#include "search/trial.h"

/* Draws in a row that were tried before: the space is as good as exhausted. */
enum { REPEATS_MAX = 100 };

enum model_status search_find_random(struct search_task *task,
                                     struct search_outcome *outcome)
{
    const struct search_problem *problem = task->problem;
    struct search_range *ranges = search_ranges(task->arena, problem);
    gsl_rng *random = search_random(task->arena, task->seed);
    struct search_trial trial;
    enum model_status status = search_trial_start(
        &trial, task, outcome,
        task->budget > 0 ? task->budget : SEARCH_TRIAL_BUDGET);
    int repeats = 0;

    while (status == MODEL_OK && trial.left > 0 && repeats < REPEATS_MAX) {
        int before = trial.left;
        double iteration_us;

        for (int i = 0; i < problem->class_count; i++) {
            outcome->configs[i] = search_any(&ranges[i], random);
        }
        status = search_trial_try(&trial, outcome->configs, &iteration_us);
        repeats = trial.left < before ? 0 : repeats + 1;
    }
    if (status == MODEL_OK) {
        search_trial_finish(&trial);
    }
    return status;
}
