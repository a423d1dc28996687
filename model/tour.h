/*
 * tour.h - the cheapest way to visit some points once each.
 *
 * Up to MODEL_TOUR_EXACT points by branch and bound: depth first, nearest point
 * first, a branch given up when its cost and the cheapest way into each point
 * left are no less than the best so far. After a fixed number of steps the best
 * so far stands. More points: always the nearest next. Of equal choices the one
 * first in number, counted on from the current point and round, is taken, so
 * where all costs are equal the result is 0, 1, 2, ... The same input gives the
 * same tour.
 */
#ifndef MODEL_TOUR_H
#define MODEL_TOUR_H

#include "model/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum { MODEL_TOUR_EXACT = 16 };

struct model_tour_problem {
    int count;            /* points, at least 1 */
    const int64_t *cost;  /* from x count + to, at least 0; a sum of count + 1
                             of them does not overflow */
    const int64_t *start; /* of starting at a point; NULL: a closed tour, from
                             point 0 and back */
    const int64_t *end;   /* of ending there; NULL with start */
};

/* Fill tour with the points in order; returns the cost. */
int64_t model_tour_find(struct model_arena *arena,
                        const struct model_tour_problem *problem,
                        int *tour);

/* What a tour costs. */
int64_t model_tour_cost(const struct model_tour_problem *problem,
                        const int *tour);

#endif
