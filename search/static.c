/*
 * static.c - one fixed number of SMs for all communication, as in Liger.
 *
 * Every collective runs with the same number of channels, and with NCCL's own
 * algorithm, protocol, transport, threads and chunk otherwise. All numbers from
 * 1 up to what the space allows (space.h) are measured, whatever other
 * strategies may spend: such a limit is found once, not at run time. The best
 * is kept, or NCCL's own settings where none is better.
 */
#include "search/space.h"
#include "search/trial.h"

enum model_status search_find_static(struct search_task *task,
                                     struct search_outcome *outcome)
{
    const struct search_problem *problem = task->problem;
    int most = search_channels_max(problem);
    struct search_trial trial;
    enum model_status status = search_trial_start(
        &trial, task, outcome, task->budget > 0 ? task->budget : 1 + most);

    for (int channels = 1; status == MODEL_OK && channels <= most; channels++) {
        double iteration_us;

        for (int i = 0; i < problem->class_count; i++) {
            outcome->configs[i] = problem->classes[i].baseline;
            outcome->configs[i].channels = channels;
        }
        status = search_trial_try(&trial, outcome->configs, &iteration_us);
    }
    if (status == MODEL_OK) {
        search_trial_finish(&trial);
    }
    return status;
}
