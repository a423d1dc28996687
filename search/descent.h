/*
 * descent.h - AutoCCL's coordinate descent in one subspace.
 *
 * The searcher asks for the next candidate, measures it, and records its time:
 *
 *   pretrain   random candidates
 *   train      from the best so far, up to 3 untried candidates ahead on the
 *              axis (channels, threads, chunk), by projected distance, then
 *              angle. After a gain the step is a quantile, lr = 0.8 (old - new)
 *              / old, of the candidates ahead, of which the 3 farthest are
 *              tried. No gain: turn round, then next axis; after 6 failures
 *              restart from a random candidate.
 *
 * From AutoCCL's code (github.com/gbxu/autoccl, coordinate_descent_job.h).
 */
#ifndef SEARCH_DESCENT_H
#define SEARCH_DESCENT_H

#include "search/space.h"

#include <gsl/gsl_rng.h>

enum { SEARCH_DESCENT_TOP = 3 /* TUNER_ACCESS_TOPK */ };

/* A candidate ahead of the current one. */
struct search_ahead {
    double distance; /* on the axis */
    double off;      /* squared distance from the axis */
    int candidate;
};

/* Coordinate descent in one subspace. */
struct search_descent {
    struct model_config *list;
    bool *tried;
    struct search_ahead *ahead; /* work space */
    int count;
    int untried;
    int current; /* index, or -1 */
    double current_us;
    double best_us;
    int best;
    int axis, direction, failures, retries;
    double step; /* quantile after a gain, 0: none */
    int batch[SEARCH_DESCENT_TOP];
    int batch_count, batch_next;
    int batch_best;
    double batch_best_us;
    int pretrain_left, train_left, train_calls;
    bool done;
};

/* A descent over a subspace; lists live in the arena. */
void search_descent_start(struct search_descent *descent,
                          struct model_arena *arena,
                          const struct search_space *space,
                          int pretrain_calls,
                          int train_calls);

/* The next candidate to measure, or -1 when there is none. */
int search_descent_next(struct search_descent *descent, gsl_rng *random);

/* The time of the candidate that was asked for last. */
void search_descent_record(struct search_descent *descent,
                           int candidate,
                           double us);

#endif
