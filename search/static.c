/*
 * static.c - one fixed limit of SMs for all communication, as in Liger.
 *
 * Liger (PPoPP'24) runs under NCCL_MAX_NCHANNELS, 3 in its artifact: no
 * collective has more channels, and none has more than NCCL would give it;
 * algorithm, protocol, transport, threads and chunk stay NCCL's own. All limits
 * below NCCL's channels are measured, whatever other strategies may spend: such
 * a limit is found once, not at run time. The best is kept, or none.
 */
#include "search/trial.h"

static int most_channels(const struct search_problem *problem)
{
    int most = 0;

    for (int i = 0; i < problem->class_count; i++) {
        int channels = problem->classes[i].baseline.channels;

        most = channels > most ? channels : most;
    }
    return most;
}

enum model_status search_find_static(struct search_task *task,
                                     struct search_outcome *outcome)
{
    const struct search_problem *problem = task->problem;
    int most = most_channels(problem);
    struct search_trial trial;
    enum model_status status = search_trial_start(
        &trial, task, outcome, task->budget > 0 ? task->budget : 1 + most);

    for (int channels = 1; status == MODEL_OK && channels < most; channels++) {
        double iteration_us;

        for (int i = 0; i < problem->class_count; i++) {
            struct model_config *config = &outcome->configs[i];

            *config = problem->classes[i].baseline;
            if (config->channels > channels) {
                config->channels = channels;
            }
        }
        status = search_trial_try(&trial, outcome->configs, &iteration_us);
    }
    if (status == MODEL_OK) {
        search_trial_finish(&trial);
    }
    return status;
}
