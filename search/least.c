/*
 * least.c - one look at each number of channels of each subspace.
 */
#include "search/least.h"

#include "search/bound.h"
#include "search/moves.h"

#include "model/collective.h"

#include <math.h>

struct look {
    const struct search_problem *problem;
    const struct model_fabric *fabric;
    struct model_walk *walk;
    const struct model_op *op; /* one of the class */
};

/* HUGE_VAL where it cannot run. */
static double least_us(const struct look *look,
                       const struct model_config *config)
{
    const struct model_topology *topology = look->problem->topology;
    const struct model_gpu *gpu = &topology->gpu;
    struct model_collective_task task = {
        .kind = model_op_collective(look->op),
        .size_bytes = look->op->bytes,
        .shift = look->op->shift,
        .group = &look->problem->workload->groups[look->op->group],
        .config = config};
    struct model_collective collective;
    double least;

    if (!model_config_is_complete(config) ||
        model_collective_fault(topology, task.kind, config) != NULL) {
        return HUGE_VAL;
    }
    collective = model_collective_make(look->walk, &task);
    if (collective.fault != NULL) {
        return HUGE_VAL;
    }
    least = collective.channels * collective.hbm_ratio /
            (gpu->hbm_bytes_per_us * gpu->hbm_ratio);
    for (int i = 0; i < collective.use_count; i++) {
        const struct model_use *use = &collective.uses[i];

        least = fmax(least, use->flows / model_fabric_link_bytes_per_us(
                                             look->fabric, use->link));
    }
    return least * collective.channel_bytes;
}

/* Over the channels of a subspace; threads and chunk are the least. */
static double subspace_us(const struct look *look,
                          const struct search_range *range,
                          const struct model_config *subspace,
                          const struct model_config *fixed)
{
    struct model_config start = *subspace;
    double least = HUGE_VAL;
    int reach;

    start.channels = 1;
    start.threads = 1;
    start.chunk_bytes = 1.0;
    start = search_turn(range, &start, SEARCH_CHANNELS, 0);
    reach = search_reach(range, &start, SEARCH_CHANNELS);
    for (int value = 0; value <= reach; value++) {
        struct model_config config = *fixed;
        struct model_config point =
            search_turn(range, &start, SEARCH_CHANNELS, value);

        model_config_fill(&config, &point);
        least = fmin(least, least_us(look, &config));
    }
    return least;
}

/* An earlier class with the same space, or -1. */
static int same_space(const struct search_problem *problem, int index)
{
    const struct search_class *part = &problem->classes[index];

    for (int i = 0; i < index; i++) {
        const struct search_class *other = &problem->classes[i];

        if (other->kind == part->kind && other->group == part->group &&
            other->shift == part->shift &&
            model_same(other->bytes, part->bytes) &&
            model_config_equal(&other->fixed, &part->fixed) &&
            model_config_equal(&other->baseline, &part->baseline)) {
            return i;
        }
    }
    return -1;
}

static const struct model_op *first_op(const struct search_problem *problem,
                                       int index)
{
    int op = 0;

    while (problem->class_of[op] != index) {
        op++;
    }
    return &problem->workload->ops[op];
}

static double class_us(struct look *look,
                       const struct search_class *part,
                       const struct search_range *range)
{
    double least = least_us(look, &part->baseline);

    for (int s = 0; s < range->count; s++) {
        least = fmin(least, subspace_us(look, range, &range->spaces[s].subspace,
                                        &part->fixed));
    }
    return isfinite(least) ? least : 0.0;
}

double *search_least_us(struct model_arena *arena,
                        struct model_arena *scratch,
                        const struct search_problem *problem)
{
    double *least = model_arena_array(arena, (size_t)problem->class_count + 1,
                                      sizeof(*least));
    struct search_range *ranges = search_ranges(arena, problem);
    struct model_fabric fabric;
    struct look look = {.problem = problem, .fabric = &fabric};

    model_fabric_make(problem->topology, true, &fabric);
    look.walk = model_walk_new(scratch, &fabric);
    for (int i = 0; i < problem->class_count; i++) {
        int same = same_space(problem, i);

        look.op = first_op(problem, i);
        least[i] = same >= 0
                       ? least[same]
                       : class_us(&look, &problem->classes[i], &ranges[i]);
    }
    return least;
}

double search_least_bound_us(struct model_arena *arena,
                             const struct search_problem *problem)
{
    return search_bound_given_us(search_bound_new(arena, problem),
                                 search_least_us(arena, arena, problem));
}
