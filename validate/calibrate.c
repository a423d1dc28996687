/*
 * calibrate.c - a calibration from rows and candidates to fitted numbers.
 */
#include "validate/calibrate_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct model_place nowhere = {"lagom", 0, 0};

/* A fit's view of the rows. */
struct fitting {
    struct model_arena *arena;
    struct model_arena *scratch; /* of one call */
    struct validate_calibration *calibration;
    const struct model_provenance_entry **numbers;
    int number_count;
    int *rows; /* of the calibration, those not held out */
    int row_count;
    struct model_errors *errors;
};

static enum model_status
residuals(void *context, const double *points, int count, double *found)
{
    const struct fitting *fitting = context;
    const struct validate_calibration *calibration = fitting->calibration;
    size_t room = (size_t)count * (size_t)fitting->number_count;
    size_t times = (size_t)count * (size_t)calibration->row_count;
    double *values;
    double *times_us;
    enum model_status status;

    model_arena_reset(fitting->scratch);
    values = model_arena_array(fitting->scratch, room, sizeof(double));
    times_us = model_arena_array(fitting->scratch, times, sizeof(double));
    for (size_t i = 0; i < room; i++) {
        values[i] = exp(points[i]);
    }
    status = validate_points_predict(
        fitting->arena,
        &(struct validate_points){calibration, fitting->numbers,
                                  fitting->number_count, values, count, false},
        times_us, fitting->errors);
    for (int k = 0; status == MODEL_OK && k < count; k++) {
        for (int i = 0; i < fitting->row_count; i++) {
            const struct validate_calibrated_row *row =
                &calibration->rows[fitting->rows[i]];

            found[k * fitting->row_count + i] =
                log(times_us[k * calibration->row_count + fitting->rows[i]] /
                    row->measured_us);
        }
    }
    return status;
}

static void list_rows(struct fitting *fitting)
{
    const struct validate_calibration *calibration = fitting->calibration;

    fitting->rows = model_arena_array(
        fitting->arena, (size_t)calibration->row_count, sizeof(int));
    for (int i = 0; i < calibration->row_count; i++) {
        if (!calibration->rows[i].held_out) {
            fitting->rows[fitting->row_count++] = i;
        }
    }
}

static struct validate_fit_model model_of(struct fitting *fitting)
{
    return (struct validate_fit_model){
        fitting->row_count, fitting->number_count, residuals, fitting};
}

static void take_candidates(struct fitting *fitting,
                            const struct validate_candidates *candidates)
{
    fitting->number_count = candidates->count;
    for (int i = 0; i < candidates->count; i++) {
        fitting->numbers[i] = candidates->list[i].entry;
    }
}

static struct validate_fit_parameter *
priors_of(struct model_arena *arena,
          const struct validate_candidates *candidates)
{
    struct validate_fit_parameter *priors =
        model_arena_array(arena, (size_t)candidates->count, sizeof(*priors));

    for (int i = 0; i < candidates->count; i++) {
        priors[i] = candidates->list[i].prior;
    }
    return priors;
}

/*
 * The value with as many digits as a file should have, in the unit that a round
 * number of its size is written with: "504.07 ns".
 */
static double five_digits(double value, enum model_dimension dimension)
{
    double power = pow(10.0, floor(log10(value)));
    char text[64];
    char word[96];
    const char *printed = model_units_print(floor(value / power) * power,
                                            dimension, text, sizeof(text));
    const char *suffix = printed + strspn(printed, "0123456789.");
    double unit = 1.0;
    int decimals;

    if (*suffix == 'e') {
        return value;
    }
    (void)snprintf(word, sizeof(word), "1%s", suffix);
    (void)model_units_parse(word, dimension, &unit, NULL);
    decimals = 4 - (int)floor(log10(value / unit));
    (void)snprintf(word, sizeof(word), "%.*f%s", decimals > 0 ? decimals : 0,
                   value / unit, suffix);
    (void)model_units_parse(word, dimension, &value, NULL);
    return value;
}

static void take_results(struct fitting *fitting,
                         const struct validate_fit_parameter *priors)
{
    struct validate_calibration *calibration = fitting->calibration;
    const struct validate_fit_result *fit = &calibration->fit;

    calibration->parameter_count = fitting->number_count;
    calibration->parameters =
        model_arena_array(fitting->arena, (size_t)fitting->number_count,
                          sizeof(struct validate_calibrated));
    for (int j = 0; j < fitting->number_count; j++) {
        const struct model_provenance_entry *number = fitting->numbers[j];
        double low = fmax(fit->x[j] - fit->interval[j], priors[j].low);
        double high = fmin(fit->x[j] + fit->interval[j], priors[j].high);
        double now = five_digits(exp(fit->x[j]), number->dimension);

        calibration->parameters[j] = (struct validate_calibrated){
            .path = number->path,
            .dimension = number->dimension,
            .from = number->origin,
            .was = five_digits(number->value, number->dimension),
            .now = now,
            .low = fmin(five_digits(exp(low), number->dimension), now),
            .high = fmax(five_digits(exp(high), number->dimension), now),
            .width = priors[j].width,
            .decided_ratio = fit->decided_ratio[j],
            .at_bound = fit->at_bound[j]};
    }
}

/* The times of all rows with the numbers found, as a file will have them. */
static enum model_status predict_after(struct fitting *fitting)
{
    struct model_arena *arena = fitting->arena;
    struct validate_calibration *calibration = fitting->calibration;
    double *times_us = model_arena_array(arena, (size_t)calibration->row_count,
                                         sizeof(double));
    double *values =
        model_arena_array(arena, (size_t)fitting->number_count, sizeof(double));
    enum model_status status;

    for (int j = 0; j < fitting->number_count; j++) {
        values[j] = calibration->parameters[j].now;
    }
    status = validate_points_predict(
        arena,
        &(struct validate_points){calibration, fitting->numbers,
                                  fitting->number_count, values, 1, true},
        times_us, fitting->errors);
    for (int i = 0; i < calibration->row_count; i++) {
        calibration->rows[i].after_us = times_us[i];
    }
    for (int after = 0; after < 2; after++) {
        calibration->fitted[after] = validate_calibration_accuracy(
            arena, calibration, false, after != 0);
        calibration->held_out[after] =
            validate_calibration_accuracy(arena, calibration, true, after != 0);
    }
    return status;
}

static enum model_status fit(struct fitting *fitting,
                             struct validate_candidates *candidates)
{
    struct validate_fit_parameter *priors;
    struct validate_fit_model model;
    enum model_status status;

    take_candidates(fitting, candidates);
    model = model_of(fitting);
    status = validate_candidates_keep(fitting->arena, &model,
                                      fitting->calibration, candidates);
    if (status != MODEL_OK) {
        return status;
    }
    if (candidates->count == 0) {
        return model_errors_add(fitting->errors, MODEL_BAD_INPUT, nowhere, NULL,
                                "name others by --fit",
                                "the rows depend on none of the numbers");
    }
    take_candidates(fitting, candidates);
    priors = priors_of(fitting->arena, candidates);
    model = model_of(fitting);
    status = validate_fit_run(fitting->arena, &model, priors,
                              &fitting->calibration->fit);
    if (status != MODEL_OK) {
        return status;
    }
    take_results(fitting, priors);
    return predict_after(fitting);
}

/* With an arena for what lasts one call. */
static enum model_status fit_in_scratch(struct fitting *fitting,
                                        struct validate_candidates *candidates)
{
    jmp_buf out_of_memory;
    jmp_buf *outer;
    enum model_status status;

    fitting->scratch = model_arena_new();
    if (fitting->scratch == NULL) {
        model_arena_raise(fitting->arena);
    }
    outer = model_arena_guard(fitting->arena, &out_of_memory);
    if (setjmp(out_of_memory) != 0) {
        model_arena_free(fitting->scratch);
        (void)model_arena_guard(fitting->arena, outer);
        model_arena_raise(fitting->arena);
    }
    (void)model_arena_guard(fitting->scratch, &out_of_memory);
    status = fit(fitting, candidates);
    (void)model_arena_guard(fitting->arena, outer);
    model_arena_free(fitting->scratch);
    return status;
}

enum model_status
validate_calibrate(struct model_arena *arena,
                   const struct validate_calibration_options *options,
                   struct validate_calibration *calibration,
                   struct model_errors *errors)
{
    struct fitting fitting = {
        .arena = arena, .calibration = calibration, .errors = errors};
    struct validate_candidates candidates;
    enum model_status status;

    *calibration = (struct validate_calibration){.options = options};
    status = validate_targets_find(arena, calibration, errors);
    if (status == MODEL_OK) {
        status = validate_calibration_rows(arena, calibration, errors);
    }
    if (status == MODEL_OK) {
        status =
            validate_candidates_find(arena, calibration, &candidates, errors);
    }
    if (status != MODEL_OK) {
        return status;
    }
    fitting.numbers =
        model_arena_array(arena, (size_t)candidates.count, sizeof(void *));
    calibration->unseen = model_arena_array(arena, (size_t)candidates.count,
                                            sizeof(const char *));
    list_rows(&fitting);
    return fit_in_scratch(&fitting, &candidates);
}
