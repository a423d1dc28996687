/*
 * descent.h - AutoCCL's coordinate descent in one subspace.
 *
 * It hands out candidates in batches; each is measured some times, and the next
 * batch follows from what came out:
 *
 *   pretrain   candidates at even distances in the list, from a random one on,
 *              or random ones, whichever leaves fewer unseen: one batch
 *   train      from the best so far, up to 3 untried candidates ahead on the
 *              axis (channels, threads, chunk), as candidates.h orders them.
 *              After a gain a quantile, lr = 0.8 (old - new) / old, of all
 *              ahead is skipped but for its farthest 3. No gain: turn round,
 *              then the next axis
 *   restart    after 6 failures in a row, at a random untried candidate; the
 *              fifth start is that one candidate alone
 *
 * until no calls, no candidates or no starts are left. A candidate's score is
 * the mean of the fastest 75 % of its times, rounded up.
 *
 * From AutoCCL's code (github.com/gbxu/autoccl, coordinate_descent_job.h,
 * job.h, misc/math.h), whose oddities are kept: a restart leaves the count of
 * failures as it is, so that only a gain makes another one possible, and leaves
 * the last batch in the comparison, so that the search may go back to it.
 */
#ifndef SEARCH_DESCENT_H
#define SEARCH_DESCENT_H

#include "search/candidates.h"

#include <gsl/gsl_rng.h>

enum { SEARCH_DESCENT_TOP = 3 /* TUNER_ACCESS_TOPK */ };

/* The calls that a descent may make; each >= 1. */
struct search_calls {
    int pretrain, train;
    int repeats; /* of a candidate: TUNER_PROFILE_REPEAT */
};

/* Measured, or to be: all its times. */
struct search_tried_one {
    int number; /* of the candidate */
    double *times_us;
    int count, room;
};

/* What is to be measured next. */
struct search_batch {
    int number;
    int calls;
};

struct search_descent {
    struct model_arena *arena;
    struct search_candidates candidates;
    struct search_ahead *ahead; /* borrowed work space */
    struct search_calls calls;
    int pretrain_left, train_left;
    struct search_tried_one *tried; /* ascending */
    int *numbers;                   /* of those */
    int tried_count;
    struct search_batch *batch;
    int batch_count;
    int points[SEARCH_DESCENT_TOP]; /* that the next step compares */
    int point_count;
    int current; /* a number */
    int axis, direction, failures, starts;
    double step; /* quantile after a gain; none: 0 */
    int best;    /* a number, as of the last batch; -1: none yet */
    double best_us;
    int judged; /* calls that best follows from */
    bool done;
};

/* Mean of the fastest 75 % of times (at least one), rounded up; sorts them. */
double search_score_us(double *times_us, int count);

/* A descent over a subspace; everything lives in the arena. */
void search_descent_start(struct search_descent *descent,
                          struct model_arena *arena,
                          const struct search_space *space,
                          const struct search_calls *calls,
                          struct search_ahead *ahead);

/* The next batch, descent->batch; returns its length, 0: done. */
int search_descent_next(struct search_descent *descent, gsl_rng *random);

/* A time of a candidate of the batch. */
void search_descent_record(struct search_descent *descent,
                           int number,
                           double us);

#endif
