/*
 * fit.c - the search for the least loss: GSL's trust region method, Levenberg
 * and Marquardt's. The one file that knows gsl_multifit_nlinear.h.
 *
 * GSL squares and adds what it is given, so it is given f with f^2 = 2 rho,
 * which makes its sum of squares Huber's loss and needs no weights that would
 * have to be iterated. Bounds are kept by a change of variables, x = low +
 * (high - low) / (1 + e^-u): GSL moves u freely. Rounds alternate with the
 * scale s; the first has it small, so that data are heard before priors.
 *
 * Derivatives are central differences with a step of FIT_STEP, 1.5 % of a
 * parameter: NCCL's choice, waves and chunks are whole numbers, so a time is
 * smooth only over steps that are large against the cut of a chunk, and small
 * against the way a fit goes. Where one side crosses a jump its slope tells
 * nothing: no time changes by more per cent than the number that it depends on,
 * so a slope beyond 1 is a jump, and the other side's counts.
 */
#include "validate/fit_parts.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>
#include <string.h>

#define FIT_STEP     0.015
#define SLOPE_MAX    1.05
#define START_MARGIN 0.15 /* from a bound, of the range: there slopes count */

enum { ROUNDS_MAX = 12, ITERATIONS_MAX = 25 };

/* When a step, in prior widths, or a gain is too small to go on. */
#define STEP_ENOUGH  2e-3
#define GAIN_ENOUGH  1e-4
#define SCALE_ENOUGH 0.02

struct search {
    struct model_arena *arena;
    const struct validate_fit_model *model;
    const struct validate_fit_parameter *parameters;
    struct validate_fit_result *fit;
    double scale;
    enum model_status status;
    double *point;       /* x of a u */
    double *jacobian_at; /* x where fit->jacobian is right */
    bool jacobian_known;
};

/* -- the jacobian -- */

/* Slope of a row by three residuals, a step of `below` and `above` away. */
static double
slope(double low, double middle, double high, double below, double above)
{
    double left = below > 0.0 ? (middle - low) / below : 0.0;
    double right = above > 0.0 ? (high - middle) / above : 0.0;
    bool use_left = below > 0.0 && fabs(left) <= SLOPE_MAX;
    bool use_right = above > 0.0 && fabs(right) <= SLOPE_MAX;

    if (use_left && use_right) {
        return (high - low) / (below + above);
    }
    if (use_left || use_right) {
        return use_left ? left : right;
    }
    return fmax(-1.0, fmin((high - low) / (below + above), 1.0));
}

/* The points: x itself, then for each parameter x below and x above. */
static double *place_points(struct model_arena *arena,
                            const struct validate_fit_parameter *parameters,
                            const double *x,
                            int n)
{
    size_t count = (size_t)n;
    double *points =
        model_arena_array(arena, (2 * count + 1) * count, sizeof(double));

    for (size_t k = 0; k <= 2 * count; k++) {
        memcpy(points + k * count, x, count * sizeof(double));
    }
    for (int j = 0; j < n; j++) {
        points[(1 + 2 * j) * n + j] = fmax(x[j] - FIT_STEP, parameters[j].low);
        points[(2 + 2 * j) * n + j] = fmin(x[j] + FIT_STEP, parameters[j].high);
    }
    return points;
}

enum model_status
validate_fit_jacobian(struct model_arena *arena,
                      const struct validate_fit_model *model,
                      const struct validate_fit_parameter *parameters,
                      const double *x,
                      double *jacobian,
                      int *evaluations)
{
    int n = model->parameter_count;
    int rows = model->row_count;
    int count = 2 * n + 1;
    double *points = place_points(arena, parameters, x, n);
    double *found =
        model_arena_array(arena, (size_t)count * (size_t)rows, sizeof(double));
    enum model_status status =
        model->residuals(model->context, points, count, found);

    *evaluations += count;
    for (int j = 0; status == MODEL_OK && j < n; j++) {
        const double *low = found + (size_t)(1 + 2 * j) * (size_t)rows;
        const double *high = low + rows;
        double below = x[j] - points[(1 + 2 * j) * n + j];
        double above = points[(2 + 2 * j) * n + j] - x[j];

        for (int i = 0; i < rows; i++) {
            jacobian[i * n + j] =
                slope(low[i], found[i], high[i], below, above);
        }
    }
    return status;
}

/* -- u to x -- */

static double range(const struct validate_fit_parameter *parameter)
{
    return parameter->high - parameter->low;
}

static double x_of(const struct validate_fit_parameter *parameter, double u)
{
    return parameter->low + range(parameter) / (1.0 + exp(-u));
}

static double u_of(const struct validate_fit_parameter *parameter, double x)
{
    double share = (x - parameter->low) / range(parameter);

    share = fmin(fmax(share, START_MARGIN), 1.0 - START_MARGIN);
    return log(share / (1.0 - share));
}

static void take_point(struct search *search, const gsl_vector *u)
{
    for (int j = 0; j < search->model->parameter_count; j++) {
        search->point[j] =
            x_of(&search->parameters[j], gsl_vector_get(u, (size_t)j));
    }
}

/* -- what GSL calls -- */

/* f with f^2 = 2 rho(t), and its slope. */
static double loss_root(double t)
{
    double size = fabs(t);

    return size <= FIT_HUBER
               ? t
               : copysign(sqrt(FIT_HUBER * (2.0 * size - FIT_HUBER)), t);
}

static double loss_root_slope(double t)
{
    return fabs(t) <= FIT_HUBER ? 1.0 : FIT_HUBER / fabs(loss_root(t));
}

double validate_fit_loss(const double *residuals, int count, double scale)
{
    double sum = 0.0;

    for (int i = 0; i < count; i++) {
        double root = loss_root(residuals[i] / scale);

        sum += root * root;
    }
    return sum;
}

static int losses(const gsl_vector *u, void *context, gsl_vector *f)
{
    struct search *search = context;
    struct validate_fit_result *fit = search->fit;

    take_point(search, u);
    search->status = search->model->residuals(search->model->context,
                                              search->point, 1, fit->residuals);
    fit->evaluations++;
    if (search->status != MODEL_OK) {
        return GSL_EFAILED;
    }
    for (int i = 0; i < fit->row_count; i++) {
        gsl_vector_set(f, (size_t)i,
                       loss_root(fit->residuals[i] / search->scale));
    }
    for (int j = 0; j < fit->parameter_count; j++) {
        const struct validate_fit_parameter *parameter = &search->parameters[j];

        gsl_vector_set(f, (size_t)fit->row_count + (size_t)j,
                       (search->point[j] - parameter->prior) /
                           parameter->width);
    }
    return GSL_SUCCESS;
}

/* fit->jacobian at search->point, from before where that is the same point. */
static int find_jacobian(struct search *search)
{
    size_t bytes = (size_t)search->model->parameter_count * sizeof(double);

    if (search->jacobian_known &&
        memcmp(search->jacobian_at, search->point, bytes) == 0) {
        return GSL_SUCCESS;
    }
    search->status = validate_fit_jacobian(
        search->arena, search->model, search->parameters, search->point,
        search->fit->jacobian, &search->fit->evaluations);
    memcpy(search->jacobian_at, search->point, bytes);
    search->jacobian_known = search->status == MODEL_OK;
    return search->jacobian_known ? GSL_SUCCESS : GSL_EFAILED;
}

/* GSL asks for slopes only where it has just asked for values. */
static int loss_slopes(const gsl_vector *u, void *context, gsl_matrix *slopes)
{
    struct search *search = context;
    const struct validate_fit_result *fit = search->fit;
    int n = fit->parameter_count;

    take_point(search, u);
    if (find_jacobian(search) != GSL_SUCCESS) {
        return GSL_EFAILED;
    }
    gsl_matrix_set_zero(slopes);
    for (int j = 0; j < n; j++) {
        const struct validate_fit_parameter *parameter = &search->parameters[j];
        double share = (search->point[j] - parameter->low) / range(parameter);
        double by_u = range(parameter) * share * (1.0 - share);

        for (int i = 0; i < fit->row_count; i++) {
            double by_x = loss_root_slope(fit->residuals[i] / search->scale) *
                          fit->jacobian[i * n + j] / search->scale;

            gsl_matrix_set(slopes, (size_t)i, (size_t)j, by_x * by_u);
        }
        gsl_matrix_set(slopes, (size_t)fit->row_count + (size_t)j, (size_t)j,
                       by_u / parameter->width);
    }
    return GSL_SUCCESS;
}

/* -- rounds -- */

static double loss(const gsl_multifit_nlinear_workspace *work)
{
    double norm = gsl_blas_dnrm2(gsl_multifit_nlinear_residual(work));

    return norm * norm;
}

/* The largest part of the last step, in prior widths. */
static double step_taken(struct search *search,
                         const gsl_multifit_nlinear_workspace *work,
                         double *before)
{
    double most = 0.0;

    take_point(search, gsl_multifit_nlinear_position(work));
    for (int j = 0; j < search->model->parameter_count; j++) {
        most = fmax(most, fabs(search->point[j] - before[j]) /
                              search->parameters[j].width);
        before[j] = search->point[j];
    }
    return most;
}

/* Iterate from u, with the scale as it is, until no step helps. */
static void descend(struct search *search,
                    gsl_multifit_nlinear_workspace *work,
                    gsl_multifit_nlinear_fdf *function,
                    gsl_vector *u)
{
    struct validate_fit_result *fit = search->fit;
    int status = gsl_multifit_nlinear_init(u, function, work);

    if (status != GSL_SUCCESS) {
        return;
    }
    (void)step_taken(search, work, fit->x);
    fit->converged = false;
    for (int i = 0; i < ITERATIONS_MAX && !fit->converged; i++) {
        double before = loss(work);
        double step;

        /* No way down at all is an end, too. */
        status = gsl_multifit_nlinear_iterate(work);
        fit->iterations++;
        if (search->status != MODEL_OK) {
            return;
        }
        step = step_taken(search, work, fit->x);
        fit->converged = status != GSL_SUCCESS || step < STEP_ENOUGH ||
                         before - loss(work) < GAIN_ENOUGH * before;
    }
    (void)gsl_vector_memcpy(u, gsl_multifit_nlinear_position(work));
}

/* Residuals and slopes at the place found, wherever GSL looked last. */
static enum model_status settle(struct search *search, const gsl_vector *u)
{
    struct validate_fit_result *fit = search->fit;
    size_t bytes = (size_t)fit->parameter_count * sizeof(double);

    take_point(search, u);
    memcpy(fit->x, search->point, bytes);
    search->status = search->model->residuals(search->model->context,
                                              search->point, 1, fit->residuals);
    fit->evaluations++;
    if (search->status == MODEL_OK) {
        (void)find_jacobian(search);
    }
    return search->status;
}

/* How many parameters the data decide, with the scale as it is. */
static double decided_by_data(const struct validate_fit_result *fit)
{
    double sum = 0.0;

    for (int j = 0; j < fit->parameter_count; j++) {
        sum += fit->decided_ratio[j];
    }
    return sum;
}

/* Where slopes are large enough to be followed: away from all bounds. */
static void
place_start(const struct search *search, const double *x, gsl_vector *u)
{
    for (int j = 0; j < search->model->parameter_count; j++) {
        gsl_vector_set(u, (size_t)j, u_of(&search->parameters[j], x[j]));
    }
}

/* Descents and scales in turns. */
static enum model_status alternate(struct search *search,
                                   gsl_multifit_nlinear_workspace *work,
                                   gsl_multifit_nlinear_fdf *function,
                                   gsl_vector *u)
{
    struct validate_fit_result *fit = search->fit;
    bool settled = false;

    search->scale = FIT_NOISE_RATIO;
    for (int round = 0; round < ROUNDS_MAX && !settled; round++) {
        double before = search->scale;

        place_start(search, fit->x, u);
        descend(search, work, function, u);
        if (search->status != MODEL_OK || settle(search, u) != MODEL_OK) {
            return search->status;
        }
        validate_fit_spread(search->arena, search->parameters, search->scale,
                            fit);
        search->scale =
            validate_fit_scale(search->arena, fit->residuals, fit->row_count,
                               decided_by_data(fit));
        settled = fabs(search->scale - before) < SCALE_ENOUGH * before;
    }
    fit->converged = fit->converged && settled;
    validate_fit_spread(search->arena, search->parameters, search->scale, fit);
    return MODEL_OK;
}

enum model_status
validate_fit_run(struct model_arena *arena,
                 const struct validate_fit_model *model,
                 const struct validate_fit_parameter *parameters,
                 struct validate_fit_result *fit)
{
    size_t n = (size_t)model->parameter_count;
    size_t rows = (size_t)model->row_count;
    struct search search = {
        .arena = arena,
        .model = model,
        .parameters = parameters,
        .fit = fit,
        .point = model_arena_array(arena, n, sizeof(double)),
        .jacobian_at = model_arena_array(arena, n, sizeof(double))};
    gsl_multifit_nlinear_parameters method =
        gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_workspace *work;
    gsl_multifit_nlinear_fdf function = {.f = losses,
                                         .df = loss_slopes,
                                         .n = rows + n,
                                         .p = n,
                                         .params = &search};
    gsl_vector *u = gsl_vector_alloc(n);
    enum model_status status;

    method.trs = gsl_multifit_nlinear_trs_lm;
    /* Near a bound the slope by u is next to none: if it were scaled by slopes,
     * a step could throw a parameter to its other bound. */
    method.scale = gsl_multifit_nlinear_scale_levenberg;
    method.solver = gsl_multifit_nlinear_solver_qr;
    work = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &method,
                                      rows + n, n);
    *fit = (struct validate_fit_result){
        .row_count = model->row_count,
        .parameter_count = model->parameter_count,
        .x = model_arena_array(arena, n, sizeof(double)),
        .residuals = model_arena_array(arena, rows, sizeof(double)),
        .jacobian = model_arena_array(arena, rows * n, sizeof(double))};
    for (size_t j = 0; j < n; j++) {
        fit->x[j] = parameters[j].start;
    }
    status = alternate(&search, work, &function, u);
    gsl_vector_free(u);
    gsl_multifit_nlinear_free(work);
    return status;
}
