/*
 * moves.c - knobs of a class as whole numbers.
 */
#include "search/moves.h"

struct search_range *search_ranges(struct model_arena *arena,
                                   const struct search_problem *problem)
{
    struct search_range *ranges = model_arena_array(
        arena, (size_t)problem->class_count + 1, sizeof(*ranges));

    for (int i = 0; i < problem->class_count; i++) {
        ranges[i].count =
            search_subspaces(problem, &problem->classes[i], ranges[i].spaces);
    }
    return ranges;
}

gsl_rng *search_random(struct model_arena *arena, uint64_t seed)
{
    gsl_rng *random = model_arena_alloc(arena, sizeof(*random));

    random->type = gsl_rng_mt19937;
    random->state = model_arena_alloc(arena, random->type->size);
    gsl_rng_set(random, (unsigned long)seed);
    return random;
}

int search_below(const gsl_rng *random, int count)
{
    return (int)gsl_rng_uniform_int(random, (unsigned long)count);
}

static int clamp(int value, int least, int most)
{
    return value < least ? least : value > most ? most : value;
}

/* The subspace of a configuration; of one that is in none, the first. */
static int subspace_of(const struct search_range *range,
                       const struct model_config *config)
{
    int found = search_subspace_of(range->spaces, range->count, config);

    return found >= 0 ? found : 0;
}

struct model_config search_any(const struct search_range *range,
                               gsl_rng *random)
{
    const struct search_space *space =
        &range->spaces[search_below(random, range->count)];
    struct search_candidate any;

    any.channels = 1 + search_below(random, space->channels_max);
    any.threads =
        space->threads_min +
        SEARCH_THREADS_STEP *
            search_below(random,
                         search_space_thread_steps(space, any.channels) + 1);
    any.multiple =
        1 + search_below(random,
                         search_space_chunks(space, any.channels, any.threads));
    return search_space_config(space, &any);
}

int search_reach(const struct search_range *range,
                 const struct model_config *config,
                 enum search_knob knob)
{
    const struct search_space *space =
        &range->spaces[subspace_of(range, config)];
    struct search_candidate at = search_space_nearest(space, config);

    switch (knob) {
    case SEARCH_SUBSPACE:
        return range->count - 1;
    case SEARCH_CHANNELS:
        return space->channels_max - 1;
    case SEARCH_THREADS:
        return search_space_thread_steps(space, at.channels);
    case SEARCH_CHUNK:
        return search_space_chunks(space, at.channels, at.threads) - 1;
    case SEARCH_KNOBS:
        break;
    }
    return 0;
}

int search_value(const struct search_range *range,
                 const struct model_config *config,
                 enum search_knob knob)
{
    int subspace = subspace_of(range, config);
    const struct search_space *space = &range->spaces[subspace];
    struct search_candidate at = search_space_nearest(space, config);

    switch (knob) {
    case SEARCH_SUBSPACE:
        return subspace;
    case SEARCH_CHANNELS:
        return at.channels - 1;
    case SEARCH_THREADS:
        return (at.threads - space->threads_min) / SEARCH_THREADS_STEP;
    case SEARCH_CHUNK:
        return at.multiple - 1;
    case SEARCH_KNOBS:
        break;
    }
    return 0;
}

struct model_config search_turn(const struct search_range *range,
                                const struct model_config *config,
                                enum search_knob knob,
                                int values)
{
    int subspace = subspace_of(range, config);
    const struct search_space *space;
    struct model_config turned = *config;
    struct search_candidate to;

    if (knob == SEARCH_SUBSPACE) {
        subspace = clamp(subspace + values, 0, range->count - 1);
    }
    space = &range->spaces[subspace];
    if (knob == SEARCH_CHANNELS) {
        turned.channels += values;
    }
    to = search_space_nearest(space, &turned);
    if (knob == SEARCH_THREADS) {
        to.threads =
            clamp(to.threads + values * SEARCH_THREADS_STEP, space->threads_min,
                  search_space_threads_max(space, to.channels));
        to.multiple = search_space_multiple(space, &to, config->chunk_bytes);
    } else if (knob == SEARCH_CHUNK) {
        to.multiple =
            clamp(to.multiple + values, 1,
                  search_space_chunks(space, to.channels, to.threads));
    }
    return search_space_config(space, &to);
}
