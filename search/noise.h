/*
 * noise.h - an evaluator whose measurements scatter, as those on a machine do.
 *
 * Each time that a measurement holds (the iteration, x of each class, X and Y
 * of each window) is multiplied by a factor of its own, exp(s z - s s / 2) with
 * z standard normal and s s = ln(1 + d d). Such a log-normal factor is
 * positive; scales with the time, so that d is a relative standard deviation
 * for short and long times alike; has a longer tail above than below, as delays
 * add to a time and nothing takes from it; and its mean is exactly 1, so that
 * the mean of many measurements is the time without noise.
 *
 * An evaluation may be several measurements of a plan, and is their mean. Each
 * of them is counted.
 */
#ifndef SEARCH_NOISE_H
#define SEARCH_NOISE_H

#include "search/evaluator.h"

#include <gsl/gsl_rng.h>

struct search_noise {
    const struct search_problem *problem;
    struct search_evaluator *inner;
    struct search_evaluator *outer; /* that counts */
    double deviation_ratio;         /* d */
    int repeats;                    /* measurements per evaluation */
    gsl_rng *random;
    struct search_measure measure; /* one without noise */
};

/* What search_noise_make is to do. */
struct search_noise_options {
    double deviation_ratio; /* 0 .. 1 */
    int repeats;            /* at least 1 */
    uint64_t seed;
};

/*
 * Make *outer the noisy form of inner, which stays the source of all times. All
 * is borrowed; what it needs lives in the arena. noise must outlive outer.
 */
void search_noise_make(struct model_arena *arena,
                       const struct search_problem *problem,
                       struct search_evaluator *inner,
                       const struct search_noise_options *options,
                       struct search_noise *noise,
                       struct search_evaluator *outer);

/*
 * Read "2%" or "0.02" (NULL: none) as a relative standard deviation of at most
 * 1. MODEL_USAGE after reporting the fault.
 */
enum model_status search_noise_read(const char *text,
                                    double *deviation_ratio,
                                    struct model_errors *errors);

/* A seed of its own for each purpose: a hash of the seed, a text and a number.
 */
uint64_t search_noise_seed(uint64_t seed, const char *purpose, int number);

#endif
