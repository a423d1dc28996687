/*
 * moves.h - points of the space of a class, and ways from one to the next.
 *
 * The space is that of space.h over all its subspaces. A point is a
 * configuration; what an op gives itself is put over it by whoever measures it
 * (search_pin).
 */
#ifndef SEARCH_MOVES_H
#define SEARCH_MOVES_H

#include "search/space.h"

#include <gsl/gsl_rng.h>

/* What is tuned of a collective. */
enum search_knob {
    SEARCH_SUBSPACE, /* algorithm, protocol and transport */
    SEARCH_CHANNELS,
    SEARCH_THREADS,
    SEARCH_CHUNK,
    SEARCH_KNOBS
};

/* The subspaces of a class. */
struct search_range {
    struct search_space spaces[SEARCH_SUBSPACES_MAX];
    int count; /* 1 .. SEARCH_SUBSPACES_MAX */
};

/* By class; lives in the arena. */
struct search_range *search_ranges(struct model_arena *arena,
                                   const struct search_problem *problem);

/* A seeded generator that lives in the arena: nothing to free. */
gsl_rng *search_random(struct model_arena *arena, uint64_t seed);

/* A whole number 0 .. count - 1, each evenly likely; count >= 1. */
int search_below(const gsl_rng *random, int count);

/* Any point: subspace, channels, threads, the chunk's multiple in turn, each
 * evenly likely. */
struct model_config search_any(const struct search_range *range,
                               gsl_rng *random);

/* How far a knob can go: values 0 .. result, at these channels and threads. */
int search_reach(const struct search_range *range,
                 const struct model_config *config,
                 enum search_knob knob);

/* Where a knob is: 0 .. search_reach; of a config that is no point, of the
 * nearest. */
int search_value(const struct search_range *range,
                 const struct model_config *config,
                 enum search_knob knob);

/*
 * Turn a knob by so many values, up or down, not beyond its ends. The others
 * stay where they are, as far as the rules allow. A config that is no point,
 * such as one of an algorithm that is not searched, becomes the nearest of the
 * first subspace.
 */
struct model_config search_turn(const struct search_range *range,
                                const struct model_config *config,
                                enum search_knob knob,
                                int values);

#endif
