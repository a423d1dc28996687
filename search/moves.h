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
    SEARCH_TRANSPORT,
    SEARCH_CHANNELS,
    SEARCH_THREADS,
    SEARCH_CHUNK,
    SEARCH_KNOBS
};

/* The subspaces of a class, one a transport. */
struct search_range {
    struct search_space spaces[MODEL_TRANSPORTS];
    int count; /* 1 .. MODEL_TRANSPORTS */
};

/* By class; lives in the arena. */
struct search_range *search_ranges(struct model_arena *arena,
                                   const struct search_problem *problem);

/* A seeded generator that lives in the arena: nothing to free. */
gsl_rng *search_random(struct model_arena *arena, uint64_t seed);

/* Any point: channels, threads and the chunk's multiple evenly likely. */
struct model_config search_any(const struct search_range *range,
                               gsl_rng *random);

/* How far a knob can go: values 0 .. result, at these channels and threads. */
int search_reach(const struct search_range *range,
                 const struct model_config *config,
                 enum search_knob knob);

/*
 * Turn a knob by so many values, up or down, not beyond its ends. The others
 * stay where they are, but for a chunk that must fit its threads. A config that
 * is no point, such as one of another protocol, becomes the nearest one.
 */
struct model_config search_turn(const struct search_range *range,
                                const struct model_config *config,
                                enum search_knob knob,
                                int values);

#endif
