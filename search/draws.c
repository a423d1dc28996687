/*
 * draws.c - a root of the covariance, and Sobol's points through it.
 */
#include "search/draws.h"

#include "search/moves.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_eigen.h>
#include <gsl/gsl_qrng.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

/* Eigenvalues below that of the largest are rounding. */
static const double NOTHING_RATIO = 1e-12;

/* Columns of a root: direction d of parameter i is at [d * count + i]. */
struct root {
    double *columns;
    int directions; /* with variance */
};

/* GSL leaves the sign of an eigenvector open: its largest part is positive. */
static double sign_of(const gsl_matrix *vectors, size_t column, size_t count)
{
    double largest = 0.0;

    for (size_t i = 0; i < count; i++) {
        double part = gsl_matrix_get(vectors, i, column);

        largest = fabs(part) > fabs(largest) ? part : largest;
    }
    return largest < 0.0 ? -1.0 : 1.0;
}

static struct root
root_of(struct model_arena *arena, const double *covariance, size_t count)
{
    struct root root = {
        .columns = model_arena_array(arena, count * count, sizeof(double))};
    double *work = model_arena_array(arena, count * count, sizeof(double));
    gsl_matrix_view matrix = gsl_matrix_view_array(work, count, count);
    double *parts = model_arena_array(arena, count * count, sizeof(double));
    gsl_matrix_view vectors = gsl_matrix_view_array(parts, count, count);
    double *sizes = model_arena_array(arena, count, sizeof(double));
    gsl_vector_view values = gsl_vector_view_array(sizes, count);
    double *room = model_arena_array(arena, 4 * count, sizeof(double));
    /* GSL's workspace, in our memory. */
    gsl_eigen_symmv_workspace space = {.size = count,
                                       .d = room,
                                       .sd = room + count,
                                       .gc = room + 2 * count,
                                       .gs = room + 3 * count};

    for (size_t i = 0; i < count * count; i++) {
        work[i] = covariance[i];
    }
    (void)gsl_eigen_symmv(&matrix.matrix, &values.vector, &vectors.matrix,
                          &space);
    (void)gsl_eigen_symmv_sort(&values.vector, &vectors.matrix,
                               GSL_EIGEN_SORT_VAL_DESC);
    for (size_t d = 0; d < count && sizes[d] > NOTHING_RATIO * sizes[0]; d++) {
        double scale = sign_of(&vectors.matrix, d, count) * sqrt(sizes[d]);

        for (size_t i = 0; i < count; i++) {
            root.columns[d * count + i] =
                scale * gsl_matrix_get(&vectors.matrix, i, d);
        }
        root.directions++;
    }
    return root;
}

static gsl_qrng *sobol(struct model_arena *arena, unsigned dimensions)
{
    gsl_qrng *points = model_arena_alloc(arena, sizeof(*points));

    points->type = gsl_qrng_sobol;
    points->dimension = dimensions;
    points->state_size = points->type->state_size(dimensions);
    points->state = model_arena_alloc(arena, points->state_size);
    (void)points->type->init_state(points->state, dimensions);
    return points;
}

double *search_draws_make(struct model_arena *arena,
                          const double *covariance,
                          int count,
                          int draws,
                          uint64_t seed)
{
    size_t size = (size_t)count;
    struct root root = root_of(arena, covariance, size);
    int even = root.directions < SEARCH_DRAWS_EVEN ? root.directions
                                                   : SEARCH_DRAWS_EVEN;
    double point[SEARCH_DRAWS_EVEN] = {0.0};
    gsl_qrng *points = even > 0 ? sobol(arena, (unsigned)even) : NULL;
    gsl_rng *random = search_random(arena, seed);
    double *all = model_arena_array(arena, size * (size_t)draws, sizeof(*all));

    for (int k = 0; k < draws; k++) {
        double *draw = all + size * (size_t)k;

        if (points != NULL) {
            (void)gsl_qrng_get(points, point);
        }
        for (int d = 0; d < root.directions; d++) {
            double z = d < even ? gsl_cdf_ugaussian_Pinv(point[d])
                                : gsl_ran_ugaussian(random);

            for (size_t i = 0; i < size; i++) {
                draw[i] += z * root.columns[(size_t)d * size + i];
            }
        }
    }
    return all;
}

double search_draws_quantile(const double *values, int count, double q)
{
    double place = q * (count + 1.0) - 1.0;
    double last = count - 1.0;

    /* GSL's fraction runs from the first value to the last. */
    return count > 1 ? gsl_stats_quantile_from_sorted_data(
                           values, 1, (size_t)count,
                           fmin(fmax(place / last, 0.0), 1.0))
                     : values[0];
}
