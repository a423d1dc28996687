/*
 * oracle.c - the best plan that can be found, to judge the others by.
 *
 * Where all combinations of all candidates of all classes are few, they are all
 * measured: the result is then the optimum of the space. Otherwise branches are
 * cut and the rest is searched in the order of what it promises:
 *
 *   starts   what lagom+ and lagom find; with a budget of ASKED and more what
 *            all other strategies of the table find
 *   bound    The collectives' times alone are known in closed form, and in
 *            company none is faster (surrogate.h). So the longest path with
 *            them (bound.h) is a lower bound of a plan's iteration; with the
 *            time of one class, and the least of their spaces for the others
 *            (least.h), of all plans that share it. Neither is measured where
 *            that is above the best so far.
 *   descent  of what is left, steps of each knob, coarse and then fine, of all
 *            classes at once and of each, those first that the cost model,
 *            scaled to the best plan, expects most of (surrogate.h)
 *   next     the best plan with one class at another option of its front, drawn
 *            at random from those that the bound leaves; descend from there
 *
 * until the budget is used up or the best plan is proven: all plans measured or
 * cut, or the best within PROVEN of the bound of all. The budget counts what
 * the oracle measures itself; the other strategies come on top. The account
 * says which it was, or how far the bound is.
 */
#include "search/probe.h"

#include <math.h>
#include <string.h>

enum { BUDGET = 150, ASKED = 1000, VAIN_MAX = 100 };

static const double PROVEN = 0.001;
static const double GAIN_MIN = 0.0001;

/* What lies between the coarse ones and beyond. */
static const struct search_step fine[] = {
    {SEARCH_CHUNK, 0.25},   {SEARCH_CHUNK, 0.75},   {SEARCH_CHUNK, 0.9},
    {SEARCH_CHUNK, 1.1},    {SEARCH_CHUNK, 1.4},    {SEARCH_CHUNK, 4.0},
    {SEARCH_THREADS, 0.9},  {SEARCH_THREADS, 1.1},  {SEARCH_CHANNELS, 0.5},
    {SEARCH_CHANNELS, 0.9}, {SEARCH_CHANNELS, 1.1}, {SEARCH_CHANNELS, 2.0},
};

enum { FINE = sizeof(fine) / sizeof(fine[0]) };

/* -- all combinations -- */

/* The candidates of a class, as many as there is room for. */
struct candidates {
    struct model_config *list;
    int count, room;
    bool all; /* none was left out */
};

/* All candidates of a subspace; what the ops themselves give stays. */
static void list_subspace(const struct search_space *space,
                          const struct model_config *fixed,
                          struct candidates *out)
{
    struct search_candidate given = search_space_nearest(space, fixed);
    int first = fixed->channels > 0 ? given.channels : 1;
    int last = fixed->channels > 0 ? given.channels : space->channels_max;

    for (int channels = first; channels <= last; channels++) {
        int least = fixed->threads > 0 ? given.threads : space->threads_min;
        int most = fixed->threads > 0
                       ? given.threads
                       : search_space_threads_max(space, channels);

        for (int threads = least; threads <= most;
             threads += SEARCH_THREADS_STEP) {
            int chunks = fixed->chunk_bytes > 0.0
                             ? 1
                             : search_space_chunks(space, channels, threads);

            for (int i = 1; i <= chunks; i++) {
                struct search_candidate at = {channels, threads, i};
                struct model_config config = search_space_config(space, &at);

                if (out->count == out->room) {
                    out->all = false;
                    return;
                }
                out->list[out->count] = *fixed;
                model_config_fill(&out->list[out->count++], &config);
            }
        }
    }
}

static struct candidates list_class(const struct search_probe *self, int index)
{
    const struct model_config *fixed =
        &self->trial.task->problem->classes[index].fixed;
    const struct search_range *range = &self->ranges[index];
    struct candidates out = {.room = self->trial.left, .all = true};

    out.list = model_arena_array(self->trial.task->arena, (size_t)out.room + 1,
                                 sizeof(*out.list));
    for (int s = 0; s < range->count; s++) {
        list_subspace(&range->spaces[s], fixed, &out);
    }
    return out;
}

/* The next combination, as a counter with a digit a class; false after the
 * last. */
static bool advance(const struct candidates *by_class, int classes, int *digits)
{
    for (int i = 0; i < classes; i++) {
        if (++digits[i] < by_class[i].count) {
            return true;
        }
        digits[i] = 0;
    }
    return false;
}

static enum model_status try_all(struct search_probe *self,
                                 const struct candidates *by_class)
{
    int classes = self->trial.task->problem->class_count;
    int *digits = model_arena_array(self->trial.task->arena,
                                    (size_t)classes + 1, sizeof(*digits));
    enum model_status status;
    bool fresh;
    bool gained;

    do {
        for (int i = 0; i < classes; i++) {
            self->next[i] = by_class[i].list[digits[i]];
        }
        status = search_probe_measure(self, &fresh, &gained);
    } while (status == MODEL_OK && advance(by_class, classes, digits));
    return status;
}

/* The candidates by class, or NULL when the budget is too small for all. */
static struct candidates *list_all(const struct search_probe *self)
{
    int classes = self->trial.task->problem->class_count;
    struct candidates *by_class = model_arena_array(
        self->trial.task->arena, (size_t)classes + 1, sizeof(*by_class));
    double combinations = 1.0;

    for (int i = 0; i < classes; i++) {
        by_class[i] = list_class(self, i);
        combinations *= by_class[i].count;
        if (!by_class[i].all || combinations > self->trial.left) {
            return NULL;
        }
    }
    return by_class;
}

/* -- starts -- */

static bool is_cheap(const struct search_strategy *strategy)
{
    return strategy->find == search_find_lagom ||
           strategy->find == search_find_lagom_plus;
}

static enum model_status find_starts(struct search_probe *self, bool all)
{
    struct search_task task = *self->trial.task;
    enum model_status status = MODEL_OK;

    task.budget = 0; /* their own */
    for (int i = 0; status == MODEL_OK && search_strategies[i].name != NULL;
         i++) {
        const struct search_strategy *strategy = &search_strategies[i];

        if (strategy->find == search_find_oracle ||
            (!all && !is_cheap(strategy))) {
            continue;
        }
        status = strategy->find(&task, self->trial.outcome);
        if (status == MODEL_OK) {
            status = search_probe_add(self, self->trial.outcome->configs);
        }
    }
    return status;
}

/* -- descents -- */

/* Can a class not have this option in any plan that is better than the best? */
static bool is_cut(struct search_probe *self, int index, int option)
{
    for (int i = 0; i < self->trial.task->problem->class_count; i++) {
        self->alone_us[i] =
            i == index ? search_surrogate_alone_us(self->surrogate, i, option)
                       : self->least_us[i];
    }
    return search_probe_bounds(self) &&
           search_bound_given_us(self->bound, self->alone_us) >= self->at_us;
}

/* A plan near the best: another option of one class, of those that are left. */
static enum model_status
jump(struct search_probe *self, gsl_rng *random, bool *fresh)
{
    const struct search_problem *problem = self->trial.task->problem;
    unsigned long classes = (unsigned long)problem->class_count;
    int index = (int)gsl_rng_uniform_int(random, classes);
    unsigned long options =
        (unsigned long)search_surrogate_options(self->surrogate, index);
    int option = (int)gsl_rng_uniform_int(random, options);
    bool gained;

    *fresh = false;
    if (is_cut(self, index, option)) {
        return MODEL_OK;
    }
    memcpy(self->next, self->at, classes * sizeof(*self->next));
    self->next[index] =
        *search_surrogate_config(self->surrogate, index, option);
    return search_probe_measure(self, fresh, &gained);
}

/* Coarse steps of all classes at once, then of each. */
static enum model_status descend(struct search_probe *self)
{
    int classes = self->trial.task->problem->class_count;
    enum model_status status = search_probe_steps(
        self, search_coarse, SEARCH_COARSE, SEARCH_ALL, SEARCH_ALL + 1);

    return status == MODEL_OK ? search_probe_steps(self, search_coarse,
                                                   SEARCH_COARSE, 0, classes)
                              : status;
}

/* Jumps, and descents from those that gain, until none is left to be found. */
static enum model_status search_on(struct search_probe *self, gsl_rng *random)
{
    enum model_status status = MODEL_OK;
    int in_vain = 0;

    while (status == MODEL_OK && !search_probe_is_over(self) &&
           in_vain < VAIN_MAX) {
        double before_us = self->at_us;
        bool fresh;

        status = jump(self, random, &fresh);
        in_vain = fresh ? 0 : in_vain + 1;
        if (status == MODEL_OK && self->at_us < before_us) {
            status = descend(self);
        }
    }
    return status;
}

static enum model_status search_large(struct search_probe *self)
{
    struct search_task *task = self->trial.task;
    int classes = task->problem->class_count;
    enum model_status status = find_starts(self, task->budget >= ASKED);

    if (status == MODEL_OK) {
        status = descend(self);
    }
    if (status == MODEL_OK) {
        status = search_probe_steps(self, fine, FINE, 0, classes);
    }
    return status == MODEL_OK
               ? search_on(self, search_random(task->arena, task->seed))
               : status;
}

/* -- what it came to -- */

static const char *account(const struct search_probe *self, bool all)
{
    struct model_arena *arena = self->trial.task->arena;
    double least_us = self->trial.tried[self->trial.best].iteration_us;
    double gap = least_us / self->bound_us - 1.0;

    if (all) {
        return "proven: all plans were measured\n";
    }
    if (!(gap >= 0.0)) {
        return "";
    }
    return model_arena_format(
        arena,
        "%s: no plan is faster than %.3f ms, %.2f %% less, and %d were "
        "measured\n",
        gap <= PROVEN ? "proven" : "not proven", self->bound_us / 1000.0,
        gap / (1.0 + gap) * 100.0, self->trial.tried_count);
}

static enum model_status find(struct search_task *task,
                              struct search_outcome *outcome,
                              struct model_arena *scratch)
{
    struct search_probe probe;
    struct candidates *by_class;
    enum model_status status =
        search_probe_start(&probe, task, outcome,
                           task->budget > 0 ? task->budget : BUDGET, scratch);

    if (status != MODEL_OK) {
        return status;
    }
    by_class = list_all(&probe);
    if (by_class != NULL) {
        status = try_all(&probe, by_class);
    } else if (search_probe_can_run(&probe)) {
        probe.stop_ratio = PROVEN;
        probe.gain_min = GAIN_MIN;
        status = search_large(&probe);
    }
    if (status == MODEL_OK) {
        search_trial_finish(&probe.trial);
        outcome->account = account(&probe, by_class != NULL);
    }
    return status;
}

enum model_status search_find_oracle(struct search_task *task,
                                     struct search_outcome *outcome)
{
    return search_with_scratch(task, outcome, find);
}
