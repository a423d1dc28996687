/*
 * oracle.c - the best plan that can be found, to judge the others by.
 *
 * Where all combinations of all candidates of all classes are few, they are all
 * measured: the result is then the optimum of the space. Otherwise:
 *
 *   starts   every other strategy of the table finds its plan first, so that
 *            the oracle is never worse than one of them
 *   descent  from the best start; for each class and knob, steps of half the
 *            range, then half of that, down to one value, up and down, as long
 *            as they gain; until no step of any knob gains
 *   next     from the best plan so far with one class redrawn at random; the
 *            starts come first, in the order of their times
 *
 * until the budget is used up. The budget counts what the oracle measures
 * itself; the other strategies come on top. How far the result may be from the
 * optimum is what search_bound_us says: compare prints it.
 */
#include "search/moves.h"
#include "search/trial.h"

#include <string.h>

enum { BUDGET = 1000, STARTS_MAX = 16 };

struct oracle {
    struct search_trial trial;
    struct search_range *ranges;
    gsl_rng *random;
    struct model_config *at; /* by class: where the descent is */
    double at_us;
};

static int classes_of(const struct oracle *self)
{
    return self->trial.task->problem->class_count;
}

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

static struct candidates list_class(const struct oracle *self, int index)
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

static enum model_status try_all(struct oracle *self,
                                 const struct candidates *by_class)
{
    int classes = classes_of(self);
    int *digits = model_arena_array(self->trial.task->arena,
                                    (size_t)classes + 1, sizeof(*digits));
    enum model_status status;

    do {
        for (int i = 0; i < classes; i++) {
            self->at[i] = by_class[i].list[digits[i]];
        }
        status = search_trial_try(&self->trial, self->at, &self->at_us);
    } while (status == MODEL_OK && advance(by_class, classes, digits));
    return status;
}

/* The candidates by class, or NULL when the budget is too small for all. */
static struct candidates *list_all(const struct oracle *self)
{
    int classes = classes_of(self);
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

/* -- descents -- */

/* Step a knob of a class; *gained when it shortens the iteration. */
static enum model_status try_step(struct oracle *self,
                                  int index,
                                  enum search_knob knob,
                                  int values,
                                  bool *gained)
{
    struct model_config kept = self->at[index];
    enum model_status status;
    double iteration_us;

    self->at[index] = search_turn(&self->ranges[index], &kept, knob, values);
    status = search_trial_try(&self->trial, self->at, &iteration_us);
    *gained = status == MODEL_OK && iteration_us < self->at_us;
    if (*gained) {
        self->at_us = iteration_us;
    } else {
        self->at[index] = kept;
    }
    return status;
}

/* Steps of a knob, from half its range down to one value. */
static enum model_status
descend_knob(struct oracle *self, int index, enum search_knob knob, bool *any)
{
    int reach = search_reach(&self->ranges[index], &self->at[index], knob);
    enum model_status status = MODEL_OK;

    for (int step = (reach + 1) / 2; status == MODEL_OK && step > 0;) {
        bool up = false;
        bool down = false;

        status = try_step(self, index, knob, step, &up);
        if (status == MODEL_OK && !up) {
            status = try_step(self, index, knob, -step, &down);
        }
        *any = *any || up || down;
        if (!up && !down) {
            step /= 2;
        }
    }
    return status;
}

static enum model_status descend(struct oracle *self)
{
    enum model_status status = MODEL_OK;
    bool any = true;

    while (status == MODEL_OK && any && self->trial.left > 0) {
        any = false;
        for (int i = 0; status == MODEL_OK && i < classes_of(self); i++) {
            for (int k = 0; status == MODEL_OK && k < SEARCH_KNOBS; k++) {
                status = descend_knob(self, i, (enum search_knob)k, &any);
            }
        }
    }
    return status;
}

/* -- where descents start -- */

/* What the other strategies find becomes tried, too; indices in starts. */
static enum model_status find_starts(struct oracle *self, int *starts)
{
    struct search_trial *trial = &self->trial;
    struct search_task task = *trial->task;
    enum model_status status = MODEL_OK;

    task.budget = 0; /* their own */
    for (int i = 0; status == MODEL_OK && search_strategies[i].name != NULL;
         i++) {
        if (search_strategies[i].find != search_find_oracle) {
            status = search_strategies[i].find(&task, trial->outcome);
            if (status == MODEL_OK) {
                status = search_trial_add(trial, trial->outcome->configs);
            }
        }
    }
    for (int i = 0; i < trial->tried_count; i++) {
        starts[i] = i;
    }
    return status;
}

/* The fastest start that no descent began at, which is then marked; or -1. */
static int next_start(const struct oracle *self, int *starts, int count)
{
    int best = -1;

    for (int i = 0; i < count; i++) {
        if (starts[i] >= 0 &&
            (best < 0 || self->trial.tried[starts[i]].iteration_us <
                             self->trial.tried[starts[best]].iteration_us)) {
            best = i;
        }
    }
    if (best >= 0) {
        int found = starts[best];

        starts[best] = -1;
        return found;
    }
    return -1;
}

/* Put the descent at a start, or near the best plan so far. */
static enum model_status begin(struct oracle *self, int start)
{
    struct search_trial *trial = &self->trial;
    const struct search_tried *from =
        &trial->tried[start >= 0 ? start : trial->best];
    int index;

    memcpy(self->at, from->configs,
           (size_t)classes_of(self) * sizeof(*self->at));
    self->at_us = from->iteration_us;
    if (start >= 0) {
        return MODEL_OK;
    }
    index =
        (int)gsl_rng_uniform_int(self->random, (unsigned long)classes_of(self));
    self->at[index] = search_any(&self->ranges[index], self->random);
    return search_trial_try(trial, self->at, &self->at_us);
}

static enum model_status descend_from_many(struct oracle *self)
{
    int starts[STARTS_MAX];
    enum model_status status = find_starts(self, starts);
    int count = self->trial.tried_count;

    while (status == MODEL_OK && self->trial.left > 0) {
        status = begin(self, next_start(self, starts, count));
        if (status == MODEL_OK) {
            status = descend(self);
        }
    }
    return status;
}

enum model_status search_find_oracle(struct search_task *task,
                                     struct search_outcome *outcome)
{
    struct oracle self = {.ranges = search_ranges(task->arena, task->problem),
                          .random = search_random(task->arena, task->seed)};
    struct candidates *by_class;
    enum model_status status = search_trial_start(
        &self.trial, task, outcome, task->budget > 0 ? task->budget : BUDGET);

    if (status != MODEL_OK) {
        return status;
    }
    self.at = model_arena_array(
        task->arena, (size_t)task->problem->class_count + 1, sizeof(*self.at));
    by_class = list_all(&self);
    if (by_class != NULL) {
        status = try_all(&self, by_class);
    } else {
        status = descend_from_many(&self);
    }
    if (status == MODEL_OK) {
        search_trial_finish(&self.trial);
    }
    return status;
}
