/*
 * moves.c - knobs of a class as whole numbers.
 */
#include "search/moves.h"

#include <math.h>

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

static int clamp(double value, int least, int most)
{
    return (int)fmin(fmax(value, least), most);
}

/* The subspace of a configuration's transport. */
static int subspace_of(const struct search_range *range,
                       const struct model_config *config)
{
    for (int i = 0; i < range->count; i++) {
        if (range->spaces[i].subspace.transport == config->transport) {
            return i;
        }
    }
    return 0;
}

/* The point of a subspace nearest to such numbers. */
static struct model_config nearest(const struct search_space *space,
                                   int channels,
                                   double threads,
                                   double chunk_bytes)
{
    struct model_config point = space->subspace;
    int most = (SEARCH_THREADS_MAX - SEARCH_THREADS_MIN) / SEARCH_THREADS_STEP;
    double step = (threads - SEARCH_THREADS_MIN) / SEARCH_THREADS_STEP;
    double unit_bytes;
    int chunks;

    point.channels = clamp(channels, 1, space->channels_max);
    point.threads = SEARCH_THREADS_MIN +
                    SEARCH_THREADS_STEP * clamp(floor(step + 0.5), 0, most);
    unit_bytes = (double)point.threads * SEARCH_CHUNK_GRAIN;
    chunks = search_space_chunks(space, point.channels, point.threads);
    point.chunk_bytes =
        unit_bytes * clamp(floor(chunk_bytes / unit_bytes + 0.5), 1, chunks);
    return point;
}

static int below(gsl_rng *random, int count)
{
    return (int)gsl_rng_uniform_int(random, (unsigned long)count);
}

struct model_config search_any(const struct search_range *range,
                               gsl_rng *random)
{
    const struct search_space *space =
        &range->spaces[below(random, range->count)];
    struct model_config point = space->subspace;
    int kinds =
        (SEARCH_THREADS_MAX - SEARCH_THREADS_MIN) / SEARCH_THREADS_STEP + 1;
    int chunks;

    point.channels = 1 + below(random, space->channels_max);
    point.threads =
        SEARCH_THREADS_MIN + SEARCH_THREADS_STEP * below(random, kinds);
    chunks = search_space_chunks(space, point.channels, point.threads);
    point.chunk_bytes = (double)(1 + below(random, chunks)) * point.threads *
                        SEARCH_CHUNK_GRAIN;
    return point;
}

int search_reach(const struct search_range *range,
                 const struct model_config *config,
                 enum search_knob knob)
{
    const struct search_space *space =
        &range->spaces[subspace_of(range, config)];

    switch (knob) {
    case SEARCH_TRANSPORT:
        return range->count - 1;
    case SEARCH_CHANNELS:
        return space->channels_max - 1;
    case SEARCH_THREADS:
        return (SEARCH_THREADS_MAX - SEARCH_THREADS_MIN) / SEARCH_THREADS_STEP;
    case SEARCH_CHUNK:
        return search_space_chunks(space, config->channels, config->threads) -
               1;
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
    int channels = config->channels;
    double threads = config->threads;
    double chunk_bytes = config->chunk_bytes;

    switch (knob) {
    case SEARCH_TRANSPORT:
        subspace = clamp(subspace + values, 0, range->count - 1);
        break;
    case SEARCH_CHANNELS:
        channels += values;
        break;
    case SEARCH_THREADS:
        threads += values * SEARCH_THREADS_STEP;
        break;
    case SEARCH_CHUNK:
        chunk_bytes += values * threads * SEARCH_CHUNK_GRAIN;
        break;
    case SEARCH_KNOBS:
        break;
    }
    return nearest(&range->spaces[subspace], channels, threads, chunk_bytes);
}
