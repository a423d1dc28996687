/*
 * fit_spread.c - how sure a fit is.
 *
 * With W the diagonal matrix of prior widths, W J'J W / v = V L V' says what
 * the data know in units of what the prior knows: column k of V is a direction,
 * its eigenvalue the ratio of the two. The covariance is W V (1 + L)^-1 V' W:
 * no matrix is inverted that may be singular.
 */
#include "validate/fit_parts.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_eigen.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>

/* The median of |z| for a standard normal z. */
#define NORMAL_MEDIAN 0.67448975

/* How near to a bound is at it, as a share of the range. */
#define AT_BOUND_RATIO 0.002

double validate_fit_scale(struct model_arena *arena,
                          const double *residuals,
                          int count,
                          double decided)
{
    double *sizes = model_arena_array(arena, (size_t)count, sizeof(double));
    double median;

    for (int i = 0; i < count; i++) {
        sizes[i] = fabs(residuals[i]);
    }
    gsl_sort(sizes, 1, (size_t)count);
    median = gsl_stats_median_from_sorted_data(sizes, 1, (size_t)count) /
             NORMAL_MEDIAN;
    return sqrt((FIT_NOISE_ROWS * FIT_NOISE_RATIO * FIT_NOISE_RATIO +
                 count * median * median) /
                (FIT_NOISE_ROWS + fmax(count - decided, 1.0)));
}

/* W J'J W, without v. */
static void weigh(const struct validate_fit_parameter *parameters,
                  const struct validate_fit_result *fit,
                  gsl_matrix *information)
{
    int n = fit->parameter_count;

    for (int j = 0; j < n; j++) {
        for (int k = 0; k <= j; k++) {
            double sum = 0.0;

            for (int i = 0; i < fit->row_count; i++) {
                sum += fit->jacobian[i * n + j] * fit->jacobian[i * n + k];
            }
            sum *= parameters[j].width * parameters[k].width;
            gsl_matrix_set(information, (size_t)j, (size_t)k, sum);
            gsl_matrix_set(information, (size_t)k, (size_t)j, sum);
        }
    }
}

/* Largest eigenvalue first; `known` without v as yet. */
static void find_directions(const struct validate_fit_parameter *parameters,
                            struct validate_fit_result *fit)
{
    size_t n = (size_t)fit->parameter_count;
    gsl_matrix *information = gsl_matrix_alloc(n, n);
    gsl_matrix *vectors = gsl_matrix_alloc(n, n);
    gsl_vector *values = gsl_vector_alloc(n);
    gsl_eigen_symmv_workspace *work = gsl_eigen_symmv_alloc(n);

    weigh(parameters, fit, information);
    (void)gsl_eigen_symmv(information, values, vectors, work);
    (void)gsl_eigen_symmv_sort(values, vectors, GSL_EIGEN_SORT_VAL_DESC);
    for (size_t k = 0; k < n; k++) {
        fit->known[k] = fmax(gsl_vector_get(values, k), 0.0);
        for (size_t j = 0; j < n; j++) {
            fit->directions[j * n + k] = gsl_matrix_get(vectors, j, k);
        }
    }
    gsl_eigen_symmv_free(work);
    gsl_vector_free(values);
    gsl_matrix_free(vectors);
    gsl_matrix_free(information);
}

/* Parameters that the data decide when r has that variance. */
static double decided(const struct validate_fit_result *fit, double variance)
{
    double sum = 0.0;

    for (int k = 0; k < fit->parameter_count; k++) {
        sum += fit->known[k] / (fit->known[k] + variance);
    }
    return sum;
}

/*
 * The variance v and its degrees of freedom. v and the number of parameters
 * that the data decide depend on each other, weakly: a few turns settle it.
 */
static double variance_of(double scale, struct validate_fit_result *fit)
{
    double squares = 0.0;
    int within = 0;
    double share;
    double variance = scale * scale;

    for (int i = 0; i < fit->row_count; i++) {
        double size = fabs(fit->residuals[i]) / scale;

        within += size <= FIT_HUBER;
        squares += fmin(size, FIT_HUBER) * fmin(size, FIT_HUBER);
    }
    share = fmax(within, fit->row_count / 2.0) / fit->row_count;
    squares *= scale * scale / (share * share);
    for (int turn = 0; turn < 20; turn++) {
        double parameters = decided(fit, variance);
        double few = 1.0 + parameters / fit->row_count * (1.0 - share) / share;

        fit->freedom = FIT_NOISE_ROWS + fmax(fit->row_count - parameters, 0.0);
        variance = (FIT_NOISE_ROWS * FIT_NOISE_RATIO * FIT_NOISE_RATIO +
                    few * few * squares) /
                   fit->freedom;
    }
    return variance;
}

static void find_covariance(const struct validate_fit_parameter *parameters,
                            struct validate_fit_result *fit)
{
    int n = fit->parameter_count;

    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double sum = 0.0;

            for (int k = 0; k < n; k++) {
                sum += fit->directions[i * n + k] * fit->directions[j * n + k] /
                       (1.0 + fit->known[k]);
            }
            fit->covariance[i * n + j] =
                sum * parameters[i].width * parameters[j].width;
        }
    }
}

static void find_intervals(const struct validate_fit_parameter *parameters,
                           struct validate_fit_result *fit)
{
    int n = fit->parameter_count;
    double student = gsl_cdf_tdist_Pinv(0.975, fit->freedom);
    double normal = gsl_cdf_ugaussian_Pinv(0.975);

    for (int j = 0; j < n; j++) {
        const struct validate_fit_parameter *parameter = &parameters[j];
        double variance = fit->covariance[j * n + j];
        double near = AT_BOUND_RATIO * (parameter->high - parameter->low);

        fit->decided_ratio[j] =
            1.0 - variance / (parameter->width * parameter->width);
        fit->interval[j] =
            fmin(student * sqrt(variance), normal * parameter->width);
        fit->at_bound[j] = fit->x[j] < parameter->low + near ||
                           fit->x[j] > parameter->high - near;
    }
}

void validate_fit_spread(struct model_arena *arena,
                         const struct validate_fit_parameter *parameters,
                         double scale,
                         struct validate_fit_result *fit)
{
    size_t n = (size_t)fit->parameter_count;
    double variance;

    fit->covariance = model_arena_array(arena, n * n, sizeof(double));
    fit->directions = model_arena_array(arena, n * n, sizeof(double));
    fit->known = model_arena_array(arena, n, sizeof(double));
    fit->interval = model_arena_array(arena, n, sizeof(double));
    fit->decided_ratio = model_arena_array(arena, n, sizeof(double));
    fit->at_bound = model_arena_array(arena, n, sizeof(bool));
    find_directions(parameters, fit);
    variance = variance_of(scale, fit);
    for (size_t k = 0; k < n; k++) {
        fit->known[k] /= variance;
    }
    fit->noise_ratio = sqrt(variance);
    find_covariance(parameters, fit);
    find_intervals(parameters, fit);
}
