/*
 * surrogate_options.c - options of a class: a coarse grid over its space, and
 * of that what nothing else beats.
 */
#include "search/surrogate_parts.h"

#include <math.h>

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

bool search_surrogate_make_option(struct search_surrogate *self,
                                  int op,
                                  const struct model_config *config,
                                  struct option *option)
{
    const struct search_problem *problem = self->problem;
    const struct model_op *of = search_surrogate_op(self, op);
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
    if (search_surrogate_make_option(self, options->op, &own, &option)) {
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

void search_surrogate_make_options(struct search_surrogate *self)
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
        if (!search_surrogate_make_option(
                self, options->op, &problem->classes[i].baseline, &native)) {
            continue;
        }
        (void)append(self, options, &native);
        for (int s = 0; s < ranges[i].count; s++) {
            offer_subspace(self, i, &ranges[i], &ranges[i].spaces[s].subspace);
        }
    }
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
    return search_surrogate_make_option(self, options->op, config, &option)
               ? append(self, options, &option)
               : -1;
}
