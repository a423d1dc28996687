/*
 * probe.c - steps around the best plan, in the order of what they promise.
 */
#include "search/probe.h"

#include "search/least.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct search_problem *problem_of(const struct search_probe *self)
{
    return self->trial.task->problem;
}

static size_t classes_of(const struct search_probe *self)
{
    return (size_t)problem_of(self)->class_count;
}

bool search_probe_bounds(const struct search_probe *self)
{
    return self->at_us >= self->bound_us;
}

bool search_probe_is_over(const struct search_probe *self)
{
    return self->trial.left <= 0 || self->in_vain >= self->patience ||
           (search_probe_bounds(self) &&
            self->at_us <= self->bound_us * (1.0 + self->stop_ratio));
}

static void
take(struct search_probe *self, const struct model_config *configs, double us)
{
    self->at_us = us;
    memcpy(self->at, configs, classes_of(self) * sizeof(*self->at));
    search_measure_copy(problem_of(self), &self->trial.measure, &self->known);
}

enum model_status search_probe_start(struct search_probe *self,
                                     struct search_task *task,
                                     struct search_outcome *outcome,
                                     int budget,
                                     struct model_arena *scratch)
{
    const struct search_problem *problem = task->problem;
    size_t classes = (size_t)problem->class_count + 1;
    enum model_status status;

    *self = (struct search_probe){
        .patience = budget,
        .alone_us = model_arena_array(task->arena, classes, sizeof(double)),
        .ranges = search_ranges(task->arena, problem),
        .at = model_arena_array(task->arena, classes, sizeof(*self->at)),
        .next = model_arena_array(task->arena, classes, sizeof(*self->next)),
        .chosen =
            model_arena_array(task->arena, classes, sizeof(*self->chosen))};
    search_measure_make(task->arena, problem, &self->known);
    status = search_trial_start(&self->trial, task, outcome, budget);
    if (status == MODEL_OK) {
        take(self, self->trial.tried[0].configs,
             self->trial.tried[0].iteration_us);
        self->least_us = search_least_us(task->arena, scratch, problem);
        self->surrogate = search_surrogate_new(task->arena, scratch, problem);
        self->bound = search_bound_new(task->arena, problem);
        self->bound_us =
            task->evaluator->measures
                ? HUGE_VAL
                : search_bound_given_us(self->bound, self->least_us);
    }
    return status;
}

bool search_probe_can_run(const struct search_probe *self)
{
    for (int i = 0; i < problem_of(self)->class_count; i++) {
        if (search_surrogate_options(self->surrogate, i) == 0) {
            return false;
        }
    }
    return problem_of(self)->class_count > 0;
}

enum model_status
search_probe_measure(struct search_probe *self, bool *fresh, bool *gained)
{
    int before = self->trial.tried_count;
    double us;
    enum model_status status = search_trial_try(&self->trial, self->next, &us);

    *fresh = status == MODEL_OK && self->trial.tried_count > before;
    *gained = *fresh && us < self->at_us * (1.0 - self->gain_min);
    self->in_vain = *gained ? 0 : self->in_vain + (*fresh ? 1 : 0);
    if (*gained) {
        take(self, self->next, us);
    }
    return status;
}

enum model_status search_probe_add(struct search_probe *self,
                                   const struct model_config *configs)
{
    int before = self->trial.tried_count;
    enum model_status status = search_trial_add(&self->trial, configs);
    const struct search_tried *last =
        &self->trial.tried[self->trial.tried_count - 1];

    if (status == MODEL_OK && self->trial.tried_count > before &&
        last->iteration_us < self->at_us) {
        take(self, last->configs, last->iteration_us);
    }
    return status;
}

bool search_probe_choose(struct search_probe *self,
                         const struct model_config *configs)
{
    for (int i = 0; i < problem_of(self)->class_count; i++) {
        self->chosen[i] =
            search_surrogate_option(self->surrogate, i, &configs[i]);
        if (self->chosen[i] < 0) {
            return false;
        }
    }
    return true;
}

void search_probe_plan(struct search_probe *self)
{
    for (int i = 0; i < problem_of(self)->class_count; i++) {
        self->next[i] =
            *search_surrogate_config(self->surrogate, i, self->chosen[i]);
    }
}

/* -- steps -- */

const struct search_step search_coarse[SEARCH_COARSE] = {
    {SEARCH_CHUNK, 0.5},     {SEARCH_CHUNK, 2.0},    {SEARCH_THREADS, 1.5},
    {SEARCH_THREADS, 0.67},  {SEARCH_CHANNELS, 1.3}, {SEARCH_CHANNELS, 0.75},
    {SEARCH_CHANNELS, 0.25},
};

/* What a step multiplies: channels, warps, or units of a chunk. */
static double setting(const struct search_range *range,
                      const struct model_config *config,
                      enum search_knob knob)
{
    return knob == SEARCH_THREADS
               ? (double)config->threads / SEARCH_THREADS_STEP
               : search_value(range, config, knob) + 1.0;
}

static struct model_config stepped(const struct search_probe *self,
                                   int index,
                                   const struct search_step *step)
{
    const struct model_config *from = &self->at[index];
    double now = setting(&self->ranges[index], from, step->knob);
    int values = (int)(floor(now * step->ratio + 0.5) - floor(now + 0.5));

    if (values == 0) {
        values = step->ratio > 1.0 ? 1 : -1;
    }
    return search_turn(&self->ranges[index], from, step->knob, values);
}

struct move {
    int index; /* class, or SEARCH_ALL */
    const struct search_step *step;
    double expected_us;
};

static void plan_move(struct search_probe *self, const struct move *move)
{
    memcpy(self->next, self->at, classes_of(self) * sizeof(*self->next));
    for (int i = 0; i < problem_of(self)->class_count; i++) {
        if (move->index == SEARCH_ALL || move->index == i) {
            self->next[i] = stepped(self, i, move->step);
        }
    }
    search_pin(problem_of(self), self->next);
}

/* Of the next plan keep what shortened its window; the rest is as before. */
static bool keep_good_windows(struct search_probe *self)
{
    const struct search_problem *problem = problem_of(self);
    const struct search_measure *now = &self->trial.measure;
    int kept = 0;

    for (int i = 0; i < problem->class_count; i++) {
        int window = problem->classes[i].window_index;
        double before_us =
            fmax(self->known.comm_us[window], self->known.kernel_us[window]);
        double now_us = fmax(now->comm_us[window], now->kernel_us[window]);

        if (now_us < before_us * (1.0 - self->gain_min)) {
            kept++;
        } else {
            self->next[i] = self->at[i];
        }
    }
    return kept > 0 && kept < problem->class_count;
}

/* Can the next plan not be better than the best, whatever it is measured? */
static bool is_hopeless(struct search_probe *self)
{
    if (!search_probe_choose(self, self->next)) {
        return true;
    }
    for (int i = 0; i < problem_of(self)->class_count; i++) {
        self->alone_us[i] =
            search_surrogate_alone_us(self->surrogate, i, self->chosen[i]);
    }
    return search_probe_bounds(self) &&
           search_bound_given_us(self->bound, self->alone_us) >
               self->at_us * (1.0 + SEARCH_PRUNE);
}

static enum model_status probe_move(struct search_probe *self,
                                    const struct move *move,
                                    bool *fresh,
                                    bool *gained)
{
    enum model_status status;

    plan_move(self, move);
    if (is_hopeless(self)) {
        *fresh = false;
        *gained = false;
        return MODEL_OK;
    }
    status = search_probe_measure(self, fresh, gained);
    if (status == MODEL_OK && *fresh && !*gained && move->index == SEARCH_ALL &&
        !search_probe_is_over(self) && keep_good_windows(self)) {
        status = search_probe_measure(self, fresh, gained);
    }
    return status;
}

static int by_expected(const void *a, const void *b)
{
    const struct move *ours = a;
    const struct move *theirs = b;

    return (ours->expected_us > theirs->expected_us) -
           (ours->expected_us < theirs->expected_us);
}

/* All steps, what promises most first. */
static void
order_moves(struct search_probe *self, struct move *moves, int count)
{
    if (search_probe_choose(self, self->at)) {
        search_surrogate_fit(self->surrogate, self->chosen, &self->known);
    }
    for (int i = 0; i < count; i++) {
        plan_move(self, &moves[i]);
        moves[i].expected_us =
            search_probe_choose(self, self->next)
                ? search_surrogate_us(self->surrogate, self->chosen)
                : HUGE_VAL;
    }
    qsort(moves, (size_t)count, sizeof(*moves), by_expected);
}

/* Until one gains; *any tells. */
static enum model_status probe_moves(struct search_probe *self,
                                     const struct move *moves,
                                     int count,
                                     bool *any)
{
    enum model_status status = MODEL_OK;

    *any = false;
    for (int i = 0;
         status == MODEL_OK && !*any && i < count &&
         moves[i].expected_us < HUGE_VAL && !search_probe_is_over(self);
         i++) {
        bool fresh;

        status = probe_move(self, &moves[i], &fresh, any);
    }
    return status;
}

enum model_status search_probe_steps(struct search_probe *self,
                                     const struct search_step *steps,
                                     int step_count,
                                     int first,
                                     int end)
{
    int count = (end - first) * step_count;
    struct move *moves = model_arena_array(self->trial.task->arena,
                                           (size_t)count + 1, sizeof(*moves));
    enum model_status status = MODEL_OK;
    bool any = true;

    while (status == MODEL_OK && any && !search_probe_is_over(self)) {
        for (int i = 0; i < count; i++) {
            moves[i] = (struct move){.index = first + i / step_count,
                                     .step = &steps[i % step_count]};
        }
        order_moves(self, moves, count);
        status = probe_moves(self, moves, count, &any);
    }
    return status;
}

enum model_status
search_with_scratch(struct search_task *task,
                    struct search_outcome *outcome,
                    enum model_status (*find)(struct search_task *task,
                                              struct search_outcome *outcome,
                                              struct model_arena *scratch))
{
    jmp_buf out_of_memory;
    struct model_arena *scratch = model_arena_new();
    jmp_buf *outer = model_arena_guard(task->arena, &out_of_memory);
    enum model_status status;

    if (scratch == NULL || setjmp(out_of_memory) != 0) {
        model_arena_free(scratch);
        (void)model_arena_guard(task->arena, outer);
        model_arena_raise(task->arena);
    }
    (void)model_arena_guard(scratch, &out_of_memory);
    status = find(task, outcome, scratch);
    model_arena_free(scratch);
    (void)model_arena_guard(task->arena, outer);
    return status;
}
