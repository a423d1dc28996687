/*
 * candidates.h - the candidates of a subspace by number, and those ahead of
 * one.
 *
 * AutoCCL's lists have up to millions of candidates. Here they are numbered in
 * the order of its generator (channels, threads, chunk) and computed, never
 * stored; only how many chunks each (channels, threads) has is.
 *
 * On an axis (channels, threads, chunk) a candidate is ahead of another where
 * it lies further in a direction, by however little: at less than 90 degrees.
 * The nearest are those with the least distance on the axis, then the least
 * angle to it, by the raw numbers of AutoCCL's candidates: channels, threads,
 * bytes of the chunk on the wire, steps of the message, and bytes of the last.
 */
#ifndef SEARCH_CANDIDATES_H
#define SEARCH_CANDIDATES_H

#include "search/space.h"

enum { SEARCH_AXES = 3 /* channels, threads, chunk */ };

struct search_candidates {
    struct search_space space;
    struct search_pair *pairs; /* in order */
    int pair_count;
    int count; /* of candidates, >= 1 */
};

/* All candidates of some channels and threads. */
struct search_pair {
    int channels, threads;
    int first, count; /* numbers first .. first + count - 1 */
};

/* Work space of search_candidates_ahead; grows as needed, all 0 at first. */
struct search_ahead {
    struct model_arena *arena;
    struct search_plane_point *points;
    int room;
};

/* Lives in the arena. */
void search_candidates_make(struct model_arena *arena,
                            const struct search_space *space,
                            struct search_candidates *candidates);

/* The candidate of a number, 0 .. count - 1, and the number of a candidate. */
struct search_candidate
search_candidates_at(const struct search_candidates *candidates, int number);
int search_candidates_number(const struct search_candidates *candidates,
                             const struct search_candidate *candidate);

/* From where to look, and what is left out. */
struct search_look {
    int from; /* a number */
    int axis;
    int direction;    /* 1 or -1 */
    const int *tried; /* numbers, ascending */
    int tried_count;
};

/*
 * Of the k nearest ahead that were not tried the `most` farthest, farthest
 * first, where k is a share (`step`) of all ahead, but at least `most`. Returns
 * how many there are.
 */
int search_candidates_ahead(const struct search_candidates *candidates,
                            const struct search_look *look,
                            double step,
                            int most,
                            struct search_ahead *room,
                            int *numbers);

#endif
