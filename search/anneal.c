/*
 * anneal.c - simulated annealing over whole plans, by GSL.
 *
 * A step turns one knob of one class, by up to a share of its range, back where
 * it ends. A plan
 * that is longer by a share d of NCCL's iteration is accepted with probability
 * exp(-d / T); T falls by the same factor after each step, so that the budget
 * just lasts. The only file that knows gsl_siman.h.
 *
 * GSL offers no way to stop early: once an evaluation failed, or nothing is
 * left, the rest of its steps cost nothing.
 */
#include "search/moves.h"
#include "search/trial.h"

#include <gsl/gsl_siman.h>

#include <math.h>
#include <string.h>

static const double START_TEMPERATURE = 0.05; /* shares of NCCL's iteration */
static const double END_TEMPERATURE = 0.0005;
static const double STEP_RATIO = 0.25; /* of a knob's range */

struct annealing {
    struct search_trial trial;
    struct search_range *ranges;
    double nccl_us;
    enum model_status status;
};

/* What GSL moves about. */
struct point {
    struct annealing *annealing;
    struct model_config *configs; /* by class */
};

static double energy(void *state)
{
    struct point *point = state;
    struct annealing *self = point->annealing;
    double iteration_us = HUGE_VAL;

    if (self->status == MODEL_OK) {
        self->status =
            search_trial_try(&self->trial, point->configs, &iteration_us);
    }
    return iteration_us / self->nccl_us;
}

static void take_step(const gsl_rng *random, void *state, double step_ratio)
{
    struct point *point = state;
    const struct annealing *self = point->annealing;
    int classes = self->trial.task->problem->class_count;
    int index = search_below(random, classes);
    const struct search_range *range = &self->ranges[index];
    struct model_config *config = &point->configs[index];
    struct model_config turned;
    enum search_knob knob;
    int reach;
    int values;

    do {
        knob = (enum search_knob)search_below(random, SEARCH_KNOBS);
        reach = search_reach(range, config, knob);
    } while (reach == 0);
    values = 1 + (int)floor(gsl_rng_uniform(random) * ceil(step_ratio * reach));
    if (gsl_rng_uniform(random) < 0.5) {
        values = -values;
    }
    turned = search_turn(range, config, knob, values);
    if (model_config_equal(&turned, config)) { /* at an end */
        turned = search_turn(range, config, knob, -values);
    }
    *config = turned;
}

static void copy(void *from, void *to)
{
    const struct point *source = from;
    struct point *target = to;
    int classes = source->annealing->trial.task->problem->class_count;

    memcpy(target->configs, source->configs,
           (size_t)classes * sizeof(*source->configs));
}

/* In the arena, so that GSL holds no memory when this one runs out. */
static void *construct(void *from)
{
    const struct point *source = from;
    const struct search_task *task = source->annealing->trial.task;
    struct point *own = model_arena_alloc(task->arena, sizeof(*own));

    own->annealing = source->annealing;
    own->configs =
        model_arena_array(task->arena, (size_t)task->problem->class_count + 1,
                          sizeof(*own->configs));
    copy(from, own);
    return own;
}

/* The arena's owner frees. */
static void destroy(void *state)
{
    (void)state;
}

/* One step a temperature, of which there are as many as steps. */
static gsl_siman_params_t schedule(int steps)
{
    double factor =
        pow(START_TEMPERATURE / END_TEMPERATURE, 1.0 / (double)steps);

    return (gsl_siman_params_t){
        .n_tries = 1, /* not read by gsl_siman_solve */
        .iters_fixed_T = 1,
        .step_size = STEP_RATIO,
        .k = 1.0,
        .t_initial = START_TEMPERATURE,
        .mu_t = factor,
        /* Between the last temperature and the one after it. */
        .t_min = END_TEMPERATURE * sqrt(factor)};
}

enum model_status search_find_anneal(struct search_task *task,
                                     struct search_outcome *outcome)
{
    struct annealing self = {.ranges =
                                 search_ranges(task->arena, task->problem)};
    struct point start = {&self, outcome->configs};

    self.status = search_trial_start(&self.trial, task, outcome,
                                     task->budget > 0 ? task->budget
                                                      : SEARCH_TRIAL_BUDGET);
    if (self.status != MODEL_OK) {
        return self.status;
    }
    search_trial_finish(&self.trial); /* start at NCCL's own settings */
    self.nccl_us = self.trial.measure.iteration_us;
    if (task->problem->class_count > 0 && self.trial.left > 0) {
        gsl_siman_solve(search_random(task->arena, task->seed), &start, energy,
                        take_step, NULL, NULL, copy, construct, destroy, 0,
                        schedule(self.trial.left));
    }
    if (self.status == MODEL_OK) {
        search_trial_finish(&self.trial);
    }
    return self.status;
}
