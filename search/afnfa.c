/*
 * afnfa.c - one configuration for the whole job, as environment variables set
 * it (AFNFA, APNet'23).
 *
 * AFNFA draws some of the combinations of seven variables at random, measures
 * the bandwidth of collectives with them, learns it with a random forest, and
 * anneals on that; every collective of the job then runs under the same
 * variables. Here those are drawn whose effect a plan can express: the level of
 * P2P, the most and least channels, the buffer, the algorithm; NCCL's own rules
 * (model/nccl.h) then say what each collective makes of them. Left out: the
 * level of GPUDirect, threads of sockets, and forbidding host memory.
 *
 * As AFNFA does, it shortens communication, whatever that does to computation:
 * the time of all collectives of an iteration, measured in company. Nothing
 * set, which is NCCL's own choice, is measured first. A tenth of the budget is
 * for what the forest finds best: measured, learnt, and looked for again, over
 * all combinations, which are few enough without annealing. The result is the
 * best that was measured.
 *
 * Rings stay those of the job without the variables: a plan has no rings.
 */
#include "model/nccl/settings_read.h"
#include "search/forest.h"
#include "search/moves.h"
#include "search/trial.h"

#include <math.h>
#include <string.h>

enum { LEVEL, MAX_CHANNELS, MIN_CHANNELS, BUFFER, ALGORITHM, KNOBS };

enum {
    LEVEL_NVL = 1,      /* in levels */
    CHECKED_SHARE = 10, /* of the budget, one part of so many */
    REPEATS_MAX = 200   /* draws in a row that bring nothing new */
};

/* A variable and its values; the first is none. */
struct knob {
    const char *variable;
    const char *const *values;
};

/* Host memory where NVLink does not reach, which a plan calls shm; or P2P
 * however far. */
static const char *const levels[] = {"", "NVL", "SYS", NULL};
static const char *const channels[] = {"",  "1",  "2",  "3",  "4",  "6",
                                       "8", "12", "16", "24", "32", NULL};
/* Bytes: 256 KiB to 8 MiB; a chunk of a ring is half of it. */
static const char *const buffers[] = {"",        "262144",  "524288", "1048576",
                                      "2097152", "8388608", NULL};
static const char *const algorithms[] = {"", "Ring", "Tree", NULL};

static const struct knob knobs[KNOBS] = {
    [LEVEL] = {"NCCL_P2P_LEVEL", levels},
    [MAX_CHANNELS] = {"NCCL_MAX_NCHANNELS", channels},
    [MIN_CHANNELS] = {"NCCL_MIN_NCHANNELS", channels},
    [BUFFER] = {"NCCL_BUFFSIZE", buffers},
    [ALGORITHM] = {"NCCL_ALGO", algorithms}};

/* A combination that was measured, and the plan that it is. */
struct measured {
    struct search_sample sample; /* value: us of all collectives */
    struct model_config *configs;
};

struct globals {
    struct search_task *task;
    struct search_outcome *outcome;
    struct search_measure measure;
    gsl_rng *random;
    struct measured *list;
    int count, room;
    int left;  /* evaluations */
    int first; /* knob that counts: without host memory not the first */
};

/* The settings of the job with the variables over them. */
static struct model_nccl_settings read_settings(const struct globals *self,
                                                const int *at)
{
    const struct search_task *task = self->task;
    const struct model_nccl *nccl = task->problem->nccl;
    struct model_nccl_settings settings = nccl->settings;
    struct model_errors errors = {.arena = task->arena};
    struct model_nccl_reader reader = {.arena = task->arena,
                                       .version = nccl->version,
                                       .settings = &settings,
                                       .errors = &errors};
    struct model_place place = {"afnfa", 0, 0};

    for (int k = 0; k < KNOBS; k++) {
        if (at[k] > 0) {
            (void)model_nccl_settings_read(
                &reader,
                model_arena_format(task->arena, "%s=%s", knobs[k].variable,
                                   knobs[k].values[at[k]]),
                place);
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
    const struct search_task *task = self->task;
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

/* -- what was measured -- */

/* The combination itself, or one that comes to the same plan; or NULL. */
static const struct measured *find(const struct globals *self,
                                   const struct model_config *configs)
{
    for (int i = 0; i < self->count; i++) {
        bool same = true;

        for (int c = 0; c < self->task->problem->class_count; c++) {
            same = same &&
                   model_config_equal(&self->list[i].configs[c], &configs[c]);
        }
        if (same) {
            return &self->list[i];
        }
    }
    return NULL;
}

static double comm_us(const struct globals *self)
{
    const struct search_problem *problem = self->task->problem;
    double sum_us = 0.0;

    for (int i = 0; i < problem->window_count; i++) {
        sum_us += self->measure.comm_us[i];
    }
    return sum_us;
}

static void keep(struct globals *self,
                 const int *at,
                 const struct model_config *configs,
                 double us)
{
    size_t classes = (size_t)self->task->problem->class_count;
    struct measured *one;

    self->list = model_arena_grow(self->task->arena, self->list, self->count,
                                  &self->room, sizeof(*self->list));
    one = &self->list[self->count++];
    one->sample.value = us;
    memcpy(one->sample.inputs, at, KNOBS * sizeof(*at));
    one->configs = model_arena_array(self->task->arena, classes + 1,
                                     sizeof(*one->configs));
    if (classes > 0) {
        memcpy(one->configs, configs, classes * sizeof(*configs));
    }
}

/* Measure a combination, unless NCCL refuses it or its plan is known. *grown:
 * something was learnt. */
static enum model_status
try_variables(struct globals *self, const int *at, bool *grown)
{
    struct search_task *task = self->task;
    struct model_config *configs = self->outcome->configs;
    const struct measured *known;
    enum model_status status;

    *grown = false;
    if (!make_plan(self, at, configs)) {
        return MODEL_OK;
    }
    search_pin(task->problem, configs);
    known = find(self, configs);
    if (known != NULL) {
        *grown = memcmp(known->sample.inputs, at, KNOBS * sizeof(*at)) != 0;
        if (*grown) {
            keep(self, at, configs, known->sample.value);
        }
        return MODEL_OK;
    }
    status = search_try(task, self->outcome, configs, &self->measure);
    if (status == MODEL_OK) {
        self->left--;
        *grown = true;
        keep(self, at, configs, comm_us(self));
    }
    return status;
}

/* -- the search -- */

static int value_count(int knob)
{
    int count = 0;

    while (knobs[knob].values[count] != NULL) {
        count++;
    }
    return count;
}

static enum model_status sample(struct globals *self, int until_left)
{
    enum model_status status = MODEL_OK;
    int repeats = 0;

    while (status == MODEL_OK && self->left > until_left &&
           repeats < REPEATS_MAX) {
        int at[KNOBS] = {0};
        int before = self->left;
        bool grown;

        for (int k = self->first; k < KNOBS; k++) {
            at[k] = search_below(self->random, value_count(k));
        }
        status = try_variables(self, at, &grown);
        repeats = self->left < before ? 0 : repeats + 1;
    }
    return status;
}

/* The next combination, as a counter with a digit a knob; false after the
 * last. */
static bool advance(const struct globals *self, int *at)
{
    for (int k = self->first; k < KNOBS; k++) {
        if (++at[k] < value_count(k)) {
            return true;
        }
        at[k] = 0;
    }
    return false;
}

/* What the forest takes for the best. */
static void ask_forest(struct globals *self, int *best)
{
    struct search_sample *samples = model_arena_array(
        self->task->arena, (size_t)self->count, sizeof(*samples));
    struct search_forest forest;
    double best_us = HUGE_VAL;
    int at[KNOBS] = {0};

    for (int i = 0; i < self->count; i++) {
        samples[i] = self->list[i].sample;
    }
    search_forest_grow(self->task->arena, samples, self->count, KNOBS,
                       self->random, &forest);
    do {
        double us = search_forest_value(&forest, at);

        if (us < best_us) {
            best_us = us;
            memcpy(best, at, sizeof(at));
        }
    } while (advance(self, at));
}

/* Measure what the forest finds, until it finds nothing new, or too often
 * variables that come to a plan that is known. */
static enum model_status check_forest(struct globals *self)
{
    enum model_status status = MODEL_OK;
    bool grown = true;

    for (int rounds = 2 * self->left;
         status == MODEL_OK && self->left > 0 && grown && rounds > 0;
         rounds--) {
        int at[KNOBS] = {0};

        ask_forest(self, at);
        status = try_variables(self, at, &grown);
    }
    return status;
}

enum model_status search_find_afnfa(struct search_task *task,
                                    struct search_outcome *outcome)
{
    static const int nothing[KNOBS] = {0};
    struct globals self = {
        .task = task,
        .outcome = outcome,
        .random = search_random(task->arena, task->seed),
        .left = task->budget > 0 ? task->budget : SEARCH_TRIAL_BUDGET,
        .first = has_transports(task->problem) ? LEVEL : LEVEL + 1};
    enum model_status status;
    bool grown;
    int best = 0;

    search_measure_make(task->arena, task->problem, &self.measure);
    status = try_variables(&self, nothing, &grown);
    if (task->problem->class_count == 0) {
        return status; /* nothing to set */
    }
    if (status == MODEL_OK) {
        status = sample(&self, self.left / CHECKED_SHARE);
    }
    if (status == MODEL_OK) {
        status = check_forest(&self);
    }
    for (int i = 1; i < self.count; i++) {
        best =
            self.list[i].sample.value < self.list[best].sample.value ? i : best;
    }
    for (int i = 0; self.count > 0 && i < task->problem->class_count; i++) {
        outcome->configs[i] = self.list[best].configs[i];
    }
    return status;
}
