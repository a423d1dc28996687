/*
 * fit.h - parameters of a model from measurements: robust nonlinear least
 * squares in natural logarithms, with priors.
 *
 * With x the logarithms of the parameters, and r_i = ln(predicted_i(x) /
 * measured_i), it finds the x that makes least
 *
 *     sum_i 2 rho(r_i / s) + sum_j ((x_j - prior_j) / width_j)^2
 *
 * where rho is Huber's loss (P. J. Huber, Annals of Mathematical Statistics
 * 35, 1964): half the square up to 1.345 s, a straight line beyond, so that a
 * row far off pulls no harder than one 1.345 s off. Huber's and not a loss
 * that falls off again, as Cauchy's: that would let a fit drop the half of the
 * rows that it cannot have, and would have several minima.
 *
 * s is the scale of the scatter, by the median of |r| (MAD) over 0.6745, and
 * is found with x, in turns. So that few rows do not look exact, it takes in
 * FIT_NOISE_ROWS rows of FIT_NOISE_RATIO: what repeated runs of one collective
 * scatter by.
 *
 * The covariance of x is (J'J / v + diag(1 / width^2))^-1, J being d r / d x
 * and v Huber's estimate of the variance of r (Robust Statistics, 7.6):
 * K^2 s^2 [sum psi^2 / (n - p)] / m^2 with m the share of the rows within 1.345
 * s, K = 1 + p / n (1 - m) / m and p the number of parameters that the data
 * decide (sum of decided_ratio). Intervals are of
 * Student's distribution with as many degrees of freedom as v has, but never
 * wider than the prior alone would make them.
 */
#ifndef VALIDATE_FIT_H
#define VALIDATE_FIT_H

#include "model/arena.h"
#include "model/status.h"

#include <stdbool.h>

/* All are natural logarithms. */
struct validate_fit_parameter {
    double start;
    double prior, width; /* normal; width its standard deviation, > 0 */
    double low, high;    /* bounds, finite, low < high */
};

/*
 * The model: for each of `count` points (of parameter_count logarithms each,
 * one after the other) write the residuals of all rows, one point after the
 * other. Points are given together so that they can be computed side by side.
 */
struct validate_fit_model {
    int row_count, parameter_count;
    enum model_status (*residuals)(void *context,
                                   const double *points,
                                   int count,
                                   double *residuals);
    void *context;
};

struct validate_fit_result {
    int row_count, parameter_count;
    double *x;             /* logarithms of the parameters found */
    double *residuals;     /* by row, there */
    double *jacobian;      /* row_count x parameter_count */
    double *covariance;    /* parameter_count x parameter_count */
    double *interval;      /* half the width of the 95 % interval of x */
    double *decided_ratio; /* 1 - variance / prior's: 1 by the data, 0 not */
    bool *at_bound;
    /* Directions in x of length 1 prior width, columns of a matrix, and what
     * the data know of each: the prior's variance over the data's. */
    double *directions, *known;
    double noise_ratio; /* sqrt(v) */
    double freedom;     /* degrees of freedom of v */
    int evaluations;    /* points computed */
    int iterations;
    bool converged;
};

/*
 * Fit. Results live in the arena. Fails only as residuals() fails. Needs at
 * least one row and one parameter.
 */
enum model_status
validate_fit_run(struct model_arena *arena,
                 const struct validate_fit_model *model,
                 const struct validate_fit_parameter *parameters,
                 struct validate_fit_result *fit);

/*
 * d residual / d x at x, row_count x parameter_count, by differences. Counts
 * the points in *evaluations.
 */
enum model_status
validate_fit_jacobian(struct model_arena *arena,
                      const struct validate_fit_model *model,
                      const struct validate_fit_parameter *parameters,
                      const double *x,
                      double *jacobian,
                      int *evaluations);

#endif
