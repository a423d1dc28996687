/*
 * surrogate.c - patterns of overlaps, and what a plan takes.
 */
#include "search/surrogate_parts.h"

#include "sim/alone.h"

#include <math.h>

/* Scales stay within what a model that is worth something can be off. */
static const double SCALE_MAX = 4.0;

/* Less counts as no gain: a descent ends. */
static const double GAIN_MIN = 1e-6;

/* -- patterns -- */

static bool same_kernels(const struct search_surrogate *self,
                         const struct model_overlap *a,
                         const struct model_overlap *b)
{
    if (a->kernel_count != b->kernel_count) {
        return false;
    }
    for (int i = 0; i < a->kernel_count; i++) {
        if (!sim_alone_same(search_surrogate_op(self, a->kernels[i]),
                            search_surrogate_op(self, b->kernels[i]))) {
            return false;
        }
    }
    return true;
}

static bool same_collectives(const struct search_surrogate *self,
                             const struct model_overlap *a,
                             const struct model_overlap *b)
{
    const int *class_of = self->problem->class_of;

    if (a->collective_count != b->collective_count) {
        return false;
    }
    for (int i = 0; i < a->collective_count; i++) {
        int ours = a->collectives[i];
        int theirs = b->collectives[i];

        if (class_of[ours] != class_of[theirs] ||
            (class_of[ours] < 0 && ours != theirs)) {
            return false;
        }
    }
    return true;
}

static const struct model_kernel **
kernels_of(struct search_surrogate *self, const struct model_overlap *overlap)
{
    size_t count = (size_t)overlap->kernel_count;
    struct model_kernel *kernels =
        model_arena_array(self->arena, count + 1, sizeof(*kernels));
    const struct model_kernel **list =
        model_arena_array(self->arena, count + 1, sizeof(const void *));

    for (int i = 0; i < overlap->kernel_count; i++) {
        kernels[i] =
            model_op_kernel(search_surrogate_op(self, overlap->kernels[i]),
                            &self->problem->topology->gpu);
        list[i] = &kernels[i];
    }
    return list;
}

/* The first window that one of its collectives is in. */
static int window_of(const struct search_surrogate *self,
                     const struct model_overlap *overlap)
{
    for (int i = 0; i < overlap->collective_count; i++) {
        int window = self->problem->window_of[overlap->collectives[i]];

        if (window >= 0) {
            return window;
        }
    }
    return -1;
}

static void add_overlap(struct search_surrogate *self,
                        const struct model_overlap *overlap)
{
    double repeats = model_overlap_repeats(self->problem->workload, overlap);

    for (int i = 0; i < self->pattern_count; i++) {
        struct pattern *pattern = &self->patterns[i];

        if (same_collectives(self, pattern->first, overlap) &&
            same_kernels(self, pattern->first, overlap)) {
            pattern->count += repeats;
            return;
        }
    }
    self->patterns[self->pattern_count++] = (struct pattern){
        overlap, kernels_of(self, overlap), repeats, window_of(self, overlap)};
}

/* Collectives whose ops say all: their one option. */
static void fix_collectives(struct search_surrogate *self,
                            const struct model_overlap *overlap)
{
    const struct search_problem *problem = self->problem;

    for (int i = 0; i < overlap->collective_count; i++) {
        int op = overlap->collectives[i];

        if (problem->class_of[op] < 0) {
            (void)search_surrogate_make_option(
                self, op, &search_surrogate_op(self, op)->config,
                &self->fixed[op]);
            self->fixed[op].contender.config = &self->fixed[op].config;
        }
    }
}

static void make_patterns(struct search_surrogate *self)
{
    struct model_overlaps *overlaps =
        model_arena_alloc(self->arena, sizeof(*overlaps));
    int most_kernels = 0;
    int most_collectives = 0;

    *overlaps = model_overlaps_make(self->arena, self->problem->workload);
    self->patterns = model_arena_array(self->arena, (size_t)overlaps->count + 1,
                                       sizeof(*self->patterns));
    for (int i = 0; i < overlaps->count; i++) {
        const struct model_overlap *overlap = &overlaps->list[i];

        add_overlap(self, overlap);
        fix_collectives(self, overlap);
        most_kernels = overlap->kernel_count > most_kernels
                           ? overlap->kernel_count
                           : most_kernels;
        most_collectives = overlap->collective_count > most_collectives
                               ? overlap->collective_count
                               : most_collectives;
    }
    self->kernel_us = model_arena_array(self->arena, (size_t)most_kernels + 1,
                                        sizeof(double));
    self->collectives = model_arena_array(
        self->arena, (size_t)most_collectives + 1, sizeof(const void *));
}

struct search_surrogate *
search_surrogate_new(struct model_arena *arena,
                     struct model_arena *scratch,
                     const struct search_problem *problem)
{
    struct search_surrogate *self = model_arena_alloc(arena, sizeof(*self));
    size_t classes = (size_t)problem->class_count + 1;
    size_t windows = (size_t)problem->window_count + 1;

    *self = (struct search_surrogate){
        .arena = arena, .scratch = scratch, .problem = problem};
    model_arena_reset(scratch);
    model_fabric_make(problem->topology, true, &self->fabric);
    self->walk = model_walk_new(scratch, &self->fabric);
    self->by_class = model_arena_array(arena, classes, sizeof(*self->by_class));
    self->contenders =
        model_arena_array(arena, classes, sizeof(*self->contenders));
    self->window_scale = model_arena_array(arena, windows, sizeof(double));
    self->fixed = model_arena_array(
        arena, (size_t)problem->workload->op_count + 1, sizeof(*self->fixed));
    for (int i = 0; i < problem->window_count; i++) {
        self->window_scale[i] = 1.0;
    }
    search_measure_make(arena, problem, &self->expected);
    make_patterns(self);
    search_surrogate_make_options(self);
    return self;
}

/* -- what a plan takes -- */

static void choose(struct search_surrogate *self, const int *chosen)
{
    for (int i = 0; i < self->problem->class_count; i++) {
        struct options *options = &self->by_class[i];
        struct option *option = &options->list[chosen[i]];

        self->contenders[i] = option->contender;
        self->contenders[i].config = &option->config;
        self->contenders[i].time_us *= options->scale;
        self->contenders[i].hbm_bytes_per_us /= options->scale;
    }
}

/* An overlap's max(X, Y); its Y is added to what is expected. */
static double pattern_us(struct search_surrogate *self,
                         const struct pattern *pattern)
{
    const struct search_problem *problem = self->problem;
    const struct model_overlap *overlap = pattern->first;
    struct model_window window = {.gpu = &problem->topology->gpu,
                                  .kernels = pattern->kernels,
                                  .kernel_count = overlap->kernel_count,
                                  .collectives = self->collectives,
                                  .collective_count =
                                      overlap->collective_count};
    struct model_window_cost cost;

    for (int i = 0; i < overlap->collective_count; i++) {
        int op = overlap->collectives[i];
        int class_index = problem->class_of[op];

        self->collectives[i] = class_index >= 0 ? &self->contenders[class_index]
                                                : &self->fixed[op].contender;
    }
    cost = model_window_cost(&window, self->kernel_us);
    for (int i = 0; i < overlap->kernel_count; i++) {
        search_measure_kernel(problem, overlap->kernels[i],
                              pattern->count * self->kernel_us[i],
                              &self->expected);
    }
    return pattern->count *
           fmax(cost.x_us, pattern->window >= 0
                               ? cost.y_us * self->window_scale[pattern->window]
                               : cost.y_us);
}

double search_surrogate_us(struct search_surrogate *self, const int *chosen)
{
    double us = 0.0;

    choose(self, chosen);
    for (int i = 0; i < self->problem->window_count; i++) {
        self->expected.kernel_us[i] = 0.0;
    }
    for (int i = 0; i < self->pattern_count; i++) {
        us += pattern_us(self, &self->patterns[i]);
    }
    return us;
}

static double ratio_of(double measured_us, double expected_us)
{
    return measured_us > 0.0 && expected_us > 0.0
               ? fmin(fmax(measured_us / expected_us, 1.0 / SCALE_MAX),
                      SCALE_MAX)
               : 1.0;
}

void search_surrogate_fit(struct search_surrogate *self,
                          const int *chosen,
                          const struct search_measure *measure)
{
    for (int i = 0; i < self->problem->class_count; i++) {
        struct options *options = &self->by_class[i];

        options->scale = ratio_of(measure->x_us[i],
                                  options->list[chosen[i]].contender.time_us);
    }
    (void)search_surrogate_us(self, chosen);
    for (int i = 0; i < self->problem->window_count; i++) {
        self->window_scale[i] =
            ratio_of(measure->kernel_us[i], self->expected.kernel_us[i]);
    }
}

static bool has_class(const struct search_surrogate *self,
                      const struct pattern *pattern,
                      int index)
{
    for (int i = 0; i < pattern->first->collective_count; i++) {
        if (self->problem->class_of[pattern->first->collectives[i]] == index) {
            return true;
        }
    }
    return false;
}

/* What the overlaps of a class take. */
static double
class_us(struct search_surrogate *self, int index, const int *chosen)
{
    double us = 0.0;

    choose(self, chosen);
    for (int i = 0; i < self->pattern_count; i++) {
        if (has_class(self, &self->patterns[i], index)) {
            us += pattern_us(self, &self->patterns[i]);
        }
    }
    return us;
}

/* The best option of a class, with the others as they are. */
static bool improve(struct search_surrogate *self, int index, int *chosen)
{
    double least_us = class_us(self, index, chosen);
    int before = chosen[index];
    int best = before;

    for (int i = 0; i < self->by_class[index].count; i++) {
        double us;

        chosen[index] = i;
        us = class_us(self, index, chosen);
        if (us < least_us * (1.0 - GAIN_MIN)) {
            least_us = us;
            best = i;
        }
    }
    chosen[index] = best;
    return best != before;
}

void search_surrogate_descend(struct search_surrogate *self, int *chosen)
{
    bool any = true;

    while (any) {
        any = false;
        for (int i = 0; i < self->problem->class_count; i++) {
            any = improve(self, i, chosen) || any;
        }
    }
}
