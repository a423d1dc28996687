/*
 * lagom_plus.c - lagom+: the balance X = Y by a model that is corrected by what
 * it is used for.
 *
 * Lagom climbs from the least configuration, one class and one window at a
 * time, and learns where the balance is by measuring its way there. But the way
 * is known in closed form (Lagom's own eq. 4 to 6): what is not is how far the
 * closed form is off. So here each measurement is of a plan that is expected to
 * be the best, and corrects the expectation:
 *
 *   start    NCCL's own settings are measured, and the plan that the cost model
 *            would choose (surrogate.h): for each class what is not beaten in
 *            time, SMs and L2 at once, and of these those whose windows take
 *            least, all classes and windows together.
 *   balance  Measured x of the classes and Y of the windows correct the model,
 *            which then chooses anew, until it stays with what was measured:
 *            a root of measured X - Y, found along the front of each class in
 *            all windows at once. Two to five measurements, however many
 *            classes there are.
 *   check    The plan that Lagom's own algorithm finds by the cost model, which
 *            costs one measurement, not thirty.
 *   probes   What the model does not know (chunks in L2, waves that just fit)
 *            is near: a step of chunk, channels or threads of all classes at
 *            once, of which each window keeps what is good for it; then of
 *            single classes (probe.h).
 *
 * It ends when the best plan is within STOP_RATIO of what no plan can beat
 * (bound.h), when PATIENCE measurements in a row gained nothing, or after
 * PER_CLASS measurements a class and ONCE more. So mostly there are about ten,
 * however many classes.
 */
#include "search/probe.h"

#include <math.h>
#include <string.h>

enum { ONCE = 12, PER_CLASS = 4, PATIENCE = 10, BALANCES_MAX = 5 };

static const double STOP_RATIO = 0.001;
static const double GAIN_MIN = 0.0005;

/* -- start and balance -- */

/* An option of each class: the fastest, or that with fewest channels. */
static void choose_extreme(struct search_probe *self, bool fastest)
{
    const struct search_surrogate *surrogate = self->surrogate;

    for (int i = 0; i < self->trial.task->problem->class_count; i++) {
        double least = HUGE_VAL;

        for (int k = 0; k < search_surrogate_options(surrogate, i); k++) {
            double key =
                fastest ? search_surrogate_x_us(surrogate, i, k)
                        : search_surrogate_config(surrogate, i, k)->channels;

            if (key < least) {
                least = key;
                self->chosen[i] = k;
            }
        }
    }
}

/* The best plan of the surrogate, from both ends and from the best known. */
static void choose_best(struct search_probe *self)
{
    size_t classes = (size_t)self->trial.task->problem->class_count;
    int *best =
        model_arena_array(self->trial.task->arena, classes + 1, sizeof(*best));
    double least_us = HUGE_VAL;

    for (int start = 0; start < 3; start++) {
        double us;

        if (start < 2) {
            choose_extreme(self, start == 0);
        } else if (!search_probe_choose(self, self->at)) {
            continue;
        }
        search_surrogate_descend(self->surrogate, self->chosen);
        us = search_surrogate_us(self->surrogate, self->chosen);
        if (us < least_us) {
            least_us = us;
            memcpy(best, self->chosen, classes * sizeof(*best));
        }
    }
    memcpy(self->chosen, best, classes * sizeof(*best));
    search_probe_plan(self);
}

static enum model_status balance(struct search_probe *self)
{
    enum model_status status = MODEL_OK;
    bool fresh = true;
    bool gained;

    if (search_probe_choose(self, self->at)) {
        search_surrogate_fit(self->surrogate, self->chosen, &self->known);
    }
    for (int i = 0; status == MODEL_OK && fresh && i < BALANCES_MAX &&
                    !search_probe_is_over(self);
         i++) {
        choose_best(self);
        status = search_probe_measure(self, &fresh, &gained);
        if (fresh) {
            search_surrogate_fit(self->surrogate, self->chosen,
                                 &self->trial.measure);
        }
    }
    return status;
}

static enum model_status find_lagom_by_model(struct search_task *task,
                                             struct search_outcome *outcome,
                                             struct model_arena *scratch)
{
    struct search_task own = *task;
    struct search_evaluator model;
    enum model_status status = search_open_model(
        task->arena, scratch, task->problem, NULL, &model, task->errors);

    own.evaluator = &model;
    own.progress = NULL;
    own.budget = 0;
    return status == MODEL_OK ? search_find_lagom(&own, outcome) : status;
}

/* What Lagom finds by the cost model. */
static enum model_status check_lagom(struct search_probe *self)
{
    struct search_outcome outcome = {.configs = self->next};
    enum model_status status =
        search_with_scratch(self->trial.task, &outcome, find_lagom_by_model);
    bool fresh;
    bool gained;

    return status == MODEL_OK ? search_probe_measure(self, &fresh, &gained)
                              : status;
}

/* -- all of it -- */

static enum model_status find_plan(struct search_probe *self)
{
    int classes = self->trial.task->problem->class_count;
    enum model_status status = balance(self);

    if (status == MODEL_OK && !search_probe_is_over(self)) {
        status = check_lagom(self);
    }
    if (status == MODEL_OK) {
        status = search_probe_steps(self, search_coarse, SEARCH_COARSE,
                                    SEARCH_ALL, SEARCH_ALL + 1);
    }
    return status == MODEL_OK ? search_probe_steps(self, search_coarse,
                                                   SEARCH_COARSE, 0, classes)
                              : status;
}

static enum model_status find(struct search_task *task,
                              struct search_outcome *outcome,
                              struct model_arena *scratch)
{
    int budget = task->budget > 0
                     ? task->budget
                     : ONCE + PER_CLASS * task->problem->class_count;
    struct search_probe probe;
    enum model_status status =
        search_probe_start(&probe, task, outcome, budget, scratch);

    if (status != MODEL_OK) {
        return status;
    }
    probe.stop_ratio = STOP_RATIO;
    probe.patience = PATIENCE;
    probe.gain_min = GAIN_MIN;
    if (search_probe_can_run(&probe)) {
        status = find_plan(&probe);
    }
    search_trial_finish(&probe.trial);
    return status;
}

enum model_status search_find_lagom_plus(struct search_task *task,
                                         struct search_outcome *outcome)
{
    return search_with_scratch(task, outcome, find);
}
