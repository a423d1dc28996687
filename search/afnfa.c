/*
 * afnfa.c - one configuration for the whole job, as environment variables set
 * it (AFNFA, APNet'23).
 *
 * AFNFA draws some of the combinations of seven variables at random, learns
 * their times with a random forest, and anneals on that; every collective of
 * the job then runs under the same variables. Here those are tried whose effect
 * a plan can express: the level of P2P, channels (least and most alike), the
 * buffer, the algorithm; NCCL's own rules (model/nccl.h) then say what each
 * collective makes of them. Left out: the level of GPUDirect, threads of
 * sockets, and forbidding host memory.
 *
 * Instead of a forest, a coordinate descent: of one variable after the other
 * all values are measured and the best is kept, until none gains or the budget
 * is used up. It starts with nothing set, which is NCCL's own choice. What it
 * shortens is the whole iteration, not the collectives alone.
 *
 * Rings stay those of the job without the variables: a plan has no rings.
 */
#include "model/nccl/settings_read.h"
#include "search/trial.h"

enum { LEVEL, CHANNELS, BUFFER, ALGORITHM, KNOBS };

enum { VARIABLES_MAX = 2, LEVEL_NVL = 1 /* in levels */ };

/* Variables that are set alike, and to what; the first value is none. */
struct knob {
    const char *variables[VARIABLES_MAX];
    const char *const *values;
};

/* Host memory where NVLink does not reach, which a plan calls shm; or P2P
 * however far. */
static const char *const levels[] = {"", "NVL", "SYS", NULL};
static const char *const channels[] = {"",   "1",  "2",  "3",  "4",  "5",
                                       "6",  "8",  "10", "12", "14", "16",
                                       "20", "24", "28", "32", NULL};
/* Bytes: 256 KiB to 8 MiB; a chunk of a ring is half of it. */
static const char *const buffers[] = {"",        "262144",  "524288", "1048576",
                                      "2097152", "8388608", NULL};
static const char *const algorithms[] = {"", "Ring", "Tree", NULL};

static const struct knob knobs[KNOBS] = {
    [LEVEL] = {{"NCCL_P2P_LEVEL", NULL}, levels},
    [CHANNELS] = {{"NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS"}, channels},
    [BUFFER] = {{"NCCL_BUFFSIZE", NULL}, buffers},
    [ALGORITHM] = {{"NCCL_ALGO", NULL}, algorithms}};

struct globals {
    struct search_trial trial;
    int at[KNOBS]; /* index of each one's value */
    double at_us;
};

/* The settings of the job with the variables over them. */
static struct model_nccl_settings read_settings(const struct globals *self,
                                                const int *at)
{
    const struct search_task *task = self->trial.task;
    const struct model_nccl *nccl = task->problem->nccl;
    struct model_nccl_settings settings = nccl->settings;
    struct model_errors errors = {.arena = task->arena};
    struct model_nccl_reader reader = {.arena = task->arena,
                                       .version = nccl->version,
                                       .settings = &settings,
                                       .errors = &errors};
    struct model_place place = {"afnfa", 0, 0};

    for (int k = 0; k < KNOBS; k++) {
        for (int v = 0; v < VARIABLES_MAX && at[k] > 0; v++) {
            if (knobs[k].variables[v] != NULL) {
                (void)model_nccl_settings_read(
                    &reader,
                    model_arena_format(task->arena, "%s=%s",
                                       knobs[k].variables[v],
                                       knobs[k].values[at[k]]),
                    place);
            }
        }
    }
    return settings;
}

/* Any collective of the class: all are alike. */
static const struct model_op *op_of(const struct search_problem *problem,
                                    int class_index)
{
    int i = 0;

    while (problem->class_of[i] != class_index) {
        i++;
    }
    return &problem->workload->ops[i];
}

/* What NCCL makes of the variables; false where it would refuse to run. */
static bool make_plan(const struct globals *self,
                      const int *at,
                      struct model_config *configs)
{
    const struct search_task *task = self->trial.task;
    const struct search_problem *problem = task->problem;
    const struct model_nccl *own = problem->nccl;
    struct model_nccl_settings settings = read_settings(self, at);
    struct model_topology topology = *problem->topology;
    struct model_nccl nccl;

    model_nccl_settings_apply(&settings, &topology);
    model_nccl_make(task->arena, &topology, problem->workload, own->version,
                    &settings, own->observed, &nccl);
    for (int i = 0; i < problem->class_count; i++) {
        const struct search_class *part = &problem->classes[i];

        configs[i] =
            model_nccl_complete(&nccl, op_of(problem, i), &part->fixed);
        if (!model_config_is_complete(&configs[i])) {
            return false;
        }
        if (at[LEVEL] == LEVEL_NVL) {
            configs[i].transport = MODEL_SHM;
        }
    }
    return true;
}

/* Measure all values of a knob, and stay at the best. */
static enum model_status turn(struct globals *self, int knob)
{
    struct search_trial *trial = &self->trial;
    int at[KNOBS];

    for (int k = 0; k < KNOBS; k++) {
        at[k] = self->at[k];
    }
    for (int v = 0; knobs[knob].values[v] != NULL; v++) {
        double iteration_us;
        enum model_status status;

        at[knob] = v;
        if (!make_plan(self, at, trial->outcome->configs)) {
            continue;
        }
        status =
            search_trial_try(trial, trial->outcome->configs, &iteration_us);
        if (status != MODEL_OK) {
            return status;
        }
        if (iteration_us < self->at_us) {
            self->at_us = iteration_us;
            self->at[knob] = v;
        }
    }
    return MODEL_OK;
}

/* Host memory is no way between GPUs that NVLink joins all (space.h). */
static bool has_transports(const struct search_problem *problem)
{
    for (int i = 0; i < problem->class_count; i++) {
        const struct search_class *part = &problem->classes[i];

        if (problem->nccl->groups[part->group].comm->all_nvlink ||
            part->fixed.transport != MODEL_UNSET) {
            return false;
        }
    }
    return true;
}

enum model_status search_find_afnfa(struct search_task *task,
                                    struct search_outcome *outcome)
{
    struct globals self = {.at = {0}};
    int first = has_transports(task->problem) ? LEVEL : CHANNELS;
    enum model_status status = search_trial_start(
        &self.trial, task, outcome,
        task->budget > 0 ? task->budget : SEARCH_TRIAL_BUDGET);
    double before_us;

    if (status != MODEL_OK) {
        return status;
    }
    self.at_us = self.trial.measure.iteration_us;
    do {
        before_us = self.at_us;
        for (int k = first; status == MODEL_OK && k < KNOBS; k++) {
            status = turn(&self, k);
        }
    } while (status == MODEL_OK && self.trial.left > 0 &&
             self.at_us < before_us);
    if (status == MODEL_OK) {
        search_trial_finish(&self.trial);
    }
    return status;
}
