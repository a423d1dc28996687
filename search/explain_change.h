/*
 * explain_change.h - one thing about a simulated iteration that is changed, to
 * see what it is worth; and what the cost model says of it (internal to
 * explain.c).
 */
#ifndef SEARCH_EXPLAIN_CHANGE_H
#define SEARCH_EXPLAIN_CHANGE_H

#include "search/explain.h"

/*
 * A copy of the inputs of a simulation, to be changed; every collective has its
 * whole configuration. Lives in the arena, which is scratch.
 */
struct search_variant {
    struct model_arena *arena;
    const struct search_explanation *base;
    struct model_topology topology;
    struct model_workload workload;
    const struct model_plan *plan; /* NULL unless a change sets it */
    const char *text;              /* what was changed, in words */
    const char *paths; /* keys of the numbers changed, blanks between */
};

struct search_change {
    const char *key;
    const char *text;
    const char *paths; /* or NULL */
    /*
     * Change the variant, whose text and paths are those above until now; false
     * when there is nothing to change.
     */
    bool (*apply)(struct search_variant *variant, int choice);
    int kind;   /* enum search_change_kind */
    int choice; /* the function's argument, such as an enum model_transport */
};

/*
 * All changes that there are, whether they fit the machine or not; returns how
 * many. Lives in the arena.
 */
int search_changes(struct model_arena *arena, struct search_change **list);

/* The variant in which nothing is changed yet. */
struct search_variant
search_variant_make(struct model_arena *arena,
                    const struct search_explanation *base);

/* Settings: so many percent of the channels, a divisor of the chunk, a choice
 * among names. Each has the type of search_change.apply. */
bool search_other_channels(struct search_variant *variant, int percent);
bool search_smaller_chunks(struct search_variant *variant, int divisor);
bool search_other_algorithm(struct search_variant *variant, int choice);
bool search_other_protocol(struct search_variant *variant, int choice);
bool search_other_transport(struct search_variant *variant, int choice);

/* Those of the keys whose number is a guess, with commas between, or NULL. */
const char *search_guesses(struct model_arena *arena,
                           const struct model_topology *topology,
                           const char *paths);

/*
 * What Lagom's cost model says of each window, or NULL where it says nothing.
 * Lives in the arena; scratch is reset.
 */
const struct search_modelled *
search_model_windows(struct model_arena *arena,
                     struct model_arena *scratch,
                     const struct search_explanation *explanation);

#endif
