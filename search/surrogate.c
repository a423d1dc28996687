/*
 * surrogate.c - patterns of overlaps, and options of classes.
 */
#include "search/surrogate.h"

#include "model/overlap.h"
#include "model/window_cost.h"
#include "sim/alone.h"

#include <math.h>
#include <string.h>

/* Scales stay within what a model that is worth something can be off. */
static const double SCALE_MAX = 4.0;

/* Less counts as no gain: a descent ends. */
static const double GAIN_MIN = 1e-6;

struct option {
    struct model_config config;
    struct model_contender contender;
    double alone_us; /* without launch */
};

struct options {
    struct option *list;
    int count, room;
    int op; /* the first of the class */
    double scale;
};

/* An overlap that comes several times. */
struct pattern {
    const struct model_overlap *first;
    const struct model_kernel **kernels;
    double count;
    int window; /* of its collectives, or -1 */
};

struct search_surrogate {
    struct model_arena *arena;
    struct model_arena *scratch;
    const struct search_problem *problem;
    struct model_fabric fabric;
    struct model_walk *walk;
    struct options *by_class;
    struct pattern *patterns;
    int pattern_count;
    double *window_scale; /* of Y */
    /* work space */
    struct model_contender *contenders;         /* by class */
    const struct model_contender **collectives; /* of an overlap */
    double *kernel_us;
    struct option *fixed; /* by op: of those without a class */
    struct search_measure expected;
};

static const struct model_op *op_at(const struct search_surrogate *self, int op)
{
    return &self->problem->workload->ops[op];
}

/* -- options -- */

/* What channels without L2 take longer. */
static double crowded_us(const struct search_surrogate *self,
                         const struct model_collective *collective)
{
    const struct model_gpu *gpu = &self->problem->topology->gpu;
    double shared = model_collective_shared_bytes_per_us(
        collective, &self->fabric, gpu->hbm_bytes_per_us * gpu->hbm_ratio);

    return collective->channel_bytes *
           (1.0 / fmin(collective->crowded_bytes_per_us, shared) -
            1.0 / fmin(collective->channel_bytes_per_us, shared));
}

/* False where it cannot run. */
static bool make_option(struct search_surrogate *self,
                        int op,
                        const struct model_config *config,
                        struct option *option)
{
    const struct search_problem *problem = self->problem;
    const struct model_op *of = op_at(self, op);
    struct model_collective_task task = {
        .kind = model_op_collective(of),
        .size_bytes = of->bytes,
        .shift = of->shift,
        .group = &problem->workload->groups[of->group],
        .config = config};
    struct model_collective collective;

    if (!model_config_is_complete(config) ||
        model_collective_fault(problem->topology, task.kind, config) != NULL) {
        return false;
    }
    collective = model_collective_make(self->walk, &task);
    if (collective.fault != NULL) {
        return false;
    }
    option->config = *config;
    option->contender = model_contender_make(&collective, config, &self->fabric,
                                             &problem->topology->gpu);
    option->alone_us =
        option->contender.time_us - problem->topology->gpu.launch_us;
    if (collective.channel_bytes > 0.0) {
        option->contender.time_us += crowded_us(self, &collective);
    }
    return true;
}

static bool beats(const struct model_contender *a,
                  const struct model_contender *b)
{
    return a->time_us <= b->time_us && a->sms <= b->sms &&
           a->footprint_bytes <= b->footprint_bytes;
}

static int append(struct search_surrogate *self,
                  struct options *options,
                  const struct option *option)
{
    options->list = model_arena_grow(self->arena, options->list, options->count,
                                     &options->room, sizeof(*options->list));
    options->list[options->count] = *option;
    return options->count++;
}

/* Add an option unless another beats it; it takes the place of those that it
 * beats. NCCL's own, the first, stays. */
static void offer(struct search_surrogate *self,
                  struct options *options,
                  const struct option *option)
{
    int kept = 1;

    for (int i = 0; i < options->count; i++) {
        if (beats(&options->list[i].contender, &option->contender)) {
            return;
        }
    }
    for (int i = 1; i < options->count; i++) {
        if (!beats(&option->contender, &options->list[i].contender)) {
            options->list[kept++] = options->list[i];
        }
    }
    options->count = options->count > 0 ? kept : 0;
    (void)append(self, options, option);
}

/* 0, 1, 2, 3, 4, 6, 8, 11, ...: a third further each time. */
static int next_value(int value)
{
    int step = value / 3;

    return value + (step > 1 ? step : 1);
}

static void offer_config(struct search_surrogate *self,
                         int index,
                         const struct model_config *config)
{
    struct model_config own = self->problem->classes[index].fixed;
    struct options *options = &self->by_class[index];
    struct option option;

    model_config_fill(&own, config);
    if (make_option(self, options->op, &own, &option)) {
        offer(self, options, &option);
    }
}

/* Chunks of so many channels and threads: each twice the one before. */
static void offer_chunks(struct search_surrogate *self,
                         int index,
                         const struct search_range *range,
                         const struct model_config *least)
{
    int reach = search_reach(range, least, SEARCH_CHUNK);

    for (int value = 0; value <= reach; value = 2 * value + 1) {
        struct model_config config =
            search_turn(range, least, SEARCH_CHUNK, value);

        offer_config(self, index, &config);
    }
}

static void offer_subspace(struct search_surrogate *self,
                           int index,
                           const struct search_range *range,
                           const struct model_config *subspace)
{
    struct model_config start = *subspace;
    int channels_reach;

    start.channels = 1;
    start.threads = 1;
    start.chunk_bytes = 1.0;
    start = search_turn(range, &start, SEARCH_CHANNELS, 0);
    channels_reach = search_reach(range, &start, SEARCH_CHANNELS);
    for (int c = 0; c <= channels_reach; c = next_value(c)) {
        struct model_config of = search_turn(range, &start, SEARCH_CHANNELS, c);
        int threads_reach = search_reach(range, &of, SEARCH_THREADS);

        for (int t = 0; t <= threads_reach; t += 3) {
            struct model_config least =
                search_turn(range, &of, SEARCH_THREADS, t);

            offer_chunks(self, index, range, &least);
        }
    }
}

/* -- patterns -- */

static bool same_kernels(const struct search_surrogate *self,
                         const struct model_overlap *a,
                         const struct model_overlap *b)
{
    if (a->kernel_count != b->kernel_count) {
        return false;
    }
    for (int i = 0; i < a->kernel_count; i++) {
        if (!sim_alone_same(op_at(self, a->kernels[i]),
                            op_at(self, b->kernels[i]))) {
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
        kernels[i] = model_op_kernel(op_at(self, overlap->kernels[i]),
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
            (void)make_option(self, op, &op_at(self, op)->config,
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

static void make_options(struct search_surrogate *self)
{
    const struct search_problem *problem = self->problem;
    struct search_range *ranges = search_ranges(self->arena, problem);

    for (int op = problem->workload->op_count - 1; op >= 0; op--) {
        if (problem->class_of[op] >= 0) {
            self->by_class[problem->class_of[op]].op = op;
        }
    }
    for (int i = 0; i < problem->class_count; i++) {
        struct options *options = &self->by_class[i];
        struct option native;

        options->scale = 1.0;
        if (!make_option(self, options->op, &problem->classes[i].baseline,
                         &native)) {
            continue;
        }
        (void)append(self, options, &native);
        for (int s = 0; s < ranges[i].count; s++) {
            offer_subspace(self, i, &ranges[i], &ranges[i].spaces[s].subspace);
        }
    }
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
    make_options(self);
    return self;
}

int search_surrogate_options(const struct search_surrogate *self, int index)
{
    return self->by_class[index].count;
}

const struct model_config *search_surrogate_config(
    const struct search_surrogate *self, int index, int option)
{
    return &self->by_class[index].list[option].config;
}

double search_surrogate_x_us(const struct search_surrogate *self,
                             int index,
                             int option)
{
    return self->by_class[index].list[option].contender.time_us;
}

double search_surrogate_alone_us(const struct search_surrogate *self,
                                 int index,
                                 int option)
{
    return self->by_class[index].list[option].alone_us;
}

int search_surrogate_option(struct search_surrogate *self,
                            int index,
                            const struct model_config *config)
{
    struct options *options = &self->by_class[index];
    struct option option;

    for (int i = 0; i < options->count; i++) {
        if (model_config_equal(&options->list[i].config, config)) {
            return i;
        }
    }
    return make_option(self, options->op, config, &option)
               ? append(self, options, &option)
               : -1;
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
