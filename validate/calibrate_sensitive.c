/*
 * calibrate_sensitive.c - which candidates the rows depend on, and where a fit
 * must begin to see it.
 *
 * A time is often the larger of two: a cap that does not bind has no slope, so
 * that no descent would find that it should. Candidates without slope at their
 * value are therefore tried one width of their prior away, and where that
 * changes the rows, nearer. The fit begins with them where the rows come out
 * best, if that is better than before.
 */
#include "validate/calibrate_parts.h"
#include "validate/fit_parts.h"

#include <math.h>
#include <string.h>

/*
 * A number of which a change by 10 % does not change the times by 0.1 % (root
 * mean square over the rows) is none that the rows depend on: its prior would
 * keep it where it is.
 */
#define SENSITIVE 0.01

/* A loss that is less than this of another is less. */
#define BETTER 0.99

/* How far from its value a candidate is tried, in widths of its prior. */
static const double reaches[] = {1.0, 0.5, 0.25};

enum { REACHES = sizeof(reaches) / sizeof(reaches[0]) };

struct trying {
    struct model_arena *arena;
    const struct validate_fit_model *model;
    struct validate_candidates *candidates;
    const double *x; /* where the candidates are */
    double scale;    /* of the residuals there */
    double *least;   /* loss with a candidate where it begins */
    bool *seen;
};

/* Root mean square of a candidate's slopes. */
static double slope_of(const double *jacobian, int rows, int count, int index)
{
    double sum = 0.0;

    for (int i = 0; i < rows; i++) {
        sum += jacobian[i * count + index] * jacobian[i * count + index];
    }
    return sqrt(sum / rows);
}

/* By slope, where they are. */
static enum model_status see_slopes(struct trying *trying)
{
    int count = trying->candidates->count;
    int rows = trying->model->row_count;
    double *jacobian = model_arena_array(
        trying->arena, (size_t)count * (size_t)rows, sizeof(double));
    struct validate_fit_parameter *priors =
        model_arena_array(trying->arena, (size_t)count, sizeof(*priors));
    int evaluations = 0;
    enum model_status status;

    for (int j = 0; j < count; j++) {
        priors[j] = trying->candidates->list[j].prior;
    }
    status = validate_fit_jacobian(trying->arena, trying->model, priors,
                                   trying->x, jacobian, &evaluations);
    for (int j = 0; status == MODEL_OK && j < count; j++) {
        trying->seen[j] = slope_of(jacobian, rows, count, j) >= SENSITIVE;
    }
    return status;
}

/* The place of a candidate so many widths away, as far as it may go. */
static double place(const struct validate_candidate *candidate, double widths)
{
    const struct validate_fit_parameter *prior = &candidate->prior;

    return fmin(fmax(prior->prior + widths * prior->width, prior->low),
                prior->high);
}

/*
 * Try all that are marked: residuals of them below, then above, after those of
 * no change.
 */
static enum model_status try_marked(const struct trying *trying,
                                    const bool *marked,
                                    double reach,
                                    double *residuals)
{
    size_t n = (size_t)trying->candidates->count;
    double *points =
        model_arena_array(trying->arena, (2 * n + 1) * n, sizeof(double));
    int count = 1;

    memcpy(points, trying->x, n * sizeof(double));
    for (size_t j = 0; j < n; j++) {
        for (int side = -1; side <= 1 && marked[j]; side += 2) {
            double *point = points + (size_t)count++ * n;

            memcpy(point, trying->x, n * sizeof(double));
            point[j] = place(&trying->candidates->list[j], side * reach);
        }
    }
    return trying->model->residuals(trying->model->context, points, count,
                                    residuals);
}

/* Does it change the rows, as much as a slope would that counts? */
static bool changes(const struct trying *trying,
                    const double *before,
                    const double *after,
                    double step)
{
    int rows = trying->model->row_count;
    double sum = 0.0;

    for (int i = 0; i < rows; i++) {
        sum += (after[i] - before[i]) * (after[i] - before[i]);
    }
    return sqrt(sum / rows) >= SENSITIVE * step;
}

/* Begin there where the rows come out better than so far. */
static void take_try(struct trying *trying,
                     int candidate,
                     double widths,
                     const double *after)
{
    double loss =
        validate_fit_loss(after, trying->model->row_count, trying->scale);

    if (loss < BETTER * trying->least[candidate]) {
        struct validate_candidate *of = &trying->candidates->list[candidate];

        of->prior.start = place(of, widths);
        trying->least[candidate] = loss;
        trying->seen[candidate] = true;
    }
}

/* Take the tries of one reach; those that change nothing are marked no more. */
static void take_tries(struct trying *trying,
                       bool *marked,
                       double reach,
                       const double *residuals)
{
    int rows = trying->model->row_count;
    const double *after = residuals + rows;

    for (int j = 0; j < trying->candidates->count; j++) {
        bool any = false;

        for (int side = -1; side <= 1 && marked[j]; side += 2) {
            double step =
                fabs(place(&trying->candidates->list[j], side * reach) -
                     trying->x[j]);

            if (step > 0.0 && changes(trying, residuals, after, step)) {
                take_try(trying, j, side * reach, after);
                any = true;
            }
            after += rows;
        }
        marked[j] = any;
    }
}

/* Those without slope, from far to near; marked: those to try. */
static enum model_status see_afar(struct trying *trying, bool *marked)
{
    int n = trying->candidates->count;
    int rows = trying->model->row_count;
    double *residuals = model_arena_array(
        trying->arena, (size_t)(2 * n + 1) * (size_t)rows, sizeof(double));

    for (int r = 0; r < REACHES; r++) {
        enum model_status status =
            try_marked(trying, marked, reaches[r], residuals);

        if (status != MODEL_OK) {
            return status;
        }
        if (r == 0) {
            trying->scale =
                validate_fit_scale(trying->arena, residuals, rows, 0.0);
            for (int j = 0; j < n; j++) {
                trying->least[j] =
                    validate_fit_loss(residuals, rows, trying->scale);
            }
        }
        take_tries(trying, marked, reaches[r], residuals);
    }
    return MODEL_OK;
}

enum model_status
validate_candidates_keep(struct model_arena *arena,
                         const struct validate_fit_model *model,
                         struct validate_calibration *calibration,
                         struct validate_candidates *candidates)
{
    size_t count = (size_t)candidates->count;
    double *x = model_arena_array(arena, count, sizeof(double));
    bool *marked = model_arena_array(arena, count, sizeof(bool));
    struct trying trying = {
        .arena = arena,
        .model = model,
        .candidates = candidates,
        .x = x,
        .least = model_arena_array(arena, count, sizeof(double)),
        .seen = model_arena_array(arena, count, sizeof(bool))};
    enum model_status status;

    for (size_t j = 0; j < count; j++) {
        x[j] = candidates->list[j].prior.start;
    }
    status = see_slopes(&trying);
    for (size_t j = 0; j < count; j++) {
        marked[j] = !trying.seen[j];
    }
    if (status == MODEL_OK) {
        status = see_afar(&trying, marked);
    }
    candidates->count = 0;
    for (size_t j = 0; j < count; j++) {
        const struct validate_candidate *candidate = &candidates->list[j];

        if (trying.seen[j]) {
            candidates->list[candidates->count++] = *candidate;
        } else if (candidate->named) {
            calibration->unseen[calibration->unseen_count++] =
                candidate->entry->path;
        }
    }
    return status;
}
