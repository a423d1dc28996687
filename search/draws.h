/*
 * draws.h - points of a normal distribution of many dimensions, spread evenly.
 *
 * The covariance's eigenvectors, longest first, each times the square root of
 * its eigenvalue, are the columns of a root of it: root z has that covariance
 * when the z are standard normal and independent. Of these the first
 * SEARCH_DRAWS_EVEN come from a Sobol sequence (GSL) through the inverse of the
 * normal distribution, which covers them more evenly than chance; those beyond,
 * which matter least, from a generator with the seed.
 *
 * Directions without variance are not drawn, so that a covariance need not be
 * of full rank.
 */
#ifndef SEARCH_DRAWS_H
#define SEARCH_DRAWS_H

#include "model/arena.h"

#include <stdint.h>

enum { SEARCH_DRAWS_EVEN = 40 };

/*
 * `draws` vectors of `count` elements, one after another, in the arena.
 * covariance is count x count, symmetric, positive semidefinite.
 */
double *search_draws_make(struct model_arena *arena,
                          const double *covariance,
                          int count,
                          int draws,
                          uint64_t seed);

/*
 * The value that a share q of the distribution is below, by values in ascending
 * order: between the two whose ranks i in i / (count + 1) lie around q, and
 * never beyond the first or last. count >= 1.
 */
double search_draws_quantile(const double *values, int count, double q);

#endif
