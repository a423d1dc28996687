/*
 * fit_parts.h - what the files of the fit share (internal).
 */
#ifndef VALIDATE_FIT_PARTS_H
#define VALIDATE_FIT_PARTS_H

#include "validate/fit.h"

/* Where Huber's loss turns straight, in scales: 95 % efficient where residuals
 * are normal. */
#define FIT_HUBER 1.345

/* Rows of that scatter that the scale takes in. */
#define FIT_NOISE_RATIO 0.03
#define FIT_NOISE_ROWS  2.0

/*
 * The scale s of the residuals, where `decided` parameters are theirs. arena is
 * for what is needed on the way.
 */
double validate_fit_scale(struct model_arena *arena,
                          const double *residuals,
                          int count,
                          double decided);

/* The sum of 2 rho(r / scale). */
double validate_fit_loss(const double *residuals, int count, double scale);

/*
 * Fill in what follows from x, residuals and jacobian: covariance to freedom.
 * scale is s.
 */
void validate_fit_spread(struct model_arena *arena,
                         const struct validate_fit_parameter *parameters,
                         double scale,
                         struct validate_fit_result *fit);

#endif
