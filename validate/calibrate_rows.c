/*
 * calibrate_rows.c - which rows a calibration uses, and on which topologies.
 */
#include "validate/calibrate_parts.h"

#include "search/moves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct model_place nowhere = {"lagom", 0, 0};

/* -- topologies -- */

static struct validate_target *
find_target(struct validate_calibration *calibration, const char *label)
{
    for (int t = 0; t < calibration->target_count; t++) {
        if (strcmp(calibration->targets[t].label, label) == 0) {
            return &calibration->targets[t];
        }
    }
    return NULL;
}

/* Put each row under its topology; the arrays have room for all. */
static void sort_rows(struct model_arena *arena,
                      struct validate_calibration *calibration)
{
    const struct validate_calibration_options *options = calibration->options;
    const struct validate_records *records = options->records;
    size_t room = (size_t)records->count;

    calibration->targets =
        model_arena_array(arena, room, sizeof(struct validate_target));
    for (int i = 0; i < records->count; i++) {
        const char *label = options->topology != NULL
                                ? options->topology
                                : records->rows[i].topology;
        struct validate_target *target = find_target(calibration, label);

        if (target == NULL) {
            target = &calibration->targets[calibration->target_count++];
            target->label = label;
            target->rows = model_arena_array(arena, room, sizeof(int));
            target->records.rows =
                model_arena_array(arena, room, sizeof(struct validate_record));
        }
        target->rows[target->records.count] = i;
        target->records.rows[target->records.count++] = records->rows[i];
    }
}

/* Its numbers, for a topology that some row can run on. */
static enum model_status
read_target(struct model_arena *arena,
            const struct validate_calibration *calibration,
            struct validate_target *target,
            struct model_errors *errors)
{
    const struct validate_calibration_options *options = calibration->options;
    const struct validate_target *first = &calibration->targets[0];

    if (model_topology_read(arena, target->label, options->sets,
                            options->set_count, &target->topology,
                            errors) != MODEL_OK) {
        return MODEL_BAD_INPUT;
    }
    if (strcmp(target->topology.gpu.name, first->topology.gpu.name) != 0) {
        return model_errors_add(
            errors, MODEL_BAD_INPUT, nowhere, NULL,
            "write -t TOPOLOGY, or calibrate one GPU after the other",
            "rows of several GPUs: %s on %s, %s on %s",
            first->topology.gpu.name, first->label, target->topology.gpu.name,
            target->label);
    }
    return MODEL_OK;
}

/* Predict all rows as the files have it: some may not be able to run. */
static enum model_status
predict_target(struct model_arena *arena,
               const struct validate_calibration_options *options,
               struct validate_target *target,
               struct validate_prediction *predictions,
               struct model_errors *errors)
{
    struct model_arena *scratch;
    enum model_status status = validate_predictor_make(
        arena, &target->records, options->topology, &target->predictor, errors);

    if (status != MODEL_OK) {
        return status;
    }
    scratch = model_arena_new();
    if (scratch == NULL) {
        model_arena_raise(arena);
    }
    status =
        validate_predict(target->predictor, options->sets, options->set_count,
                         NULL, scratch, predictions, errors);
    for (int i = 0; i < target->records.count; i++) {
        if (predictions[i].reason != NULL) {
            predictions[i].reason =
                model_arena_text(arena, predictions[i].reason);
        }
    }
    model_arena_free(scratch);
    return status;
}

/* -- rows -- */

static void add_time(struct validate_calibration *calibration,
                     int target,
                     int row,
                     bool computation,
                     double measured_us,
                     double before_us)
{
    if (measured_us > 0.0 && before_us > 0.0) {
        calibration->rows[calibration->row_count++] =
            (struct validate_calibrated_row){
                .row = row,
                .target = target,
                .computation = computation,
                .held_out = row >= calibration->options->held_out_from,
                .measured_us = measured_us,
                .before_us = before_us};
    }
}

/* Take a row's times; false when it cannot run. */
static void add_row(struct validate_calibration *calibration,
                    int target,
                    int index,
                    const struct validate_prediction *prediction)
{
    const struct validate_target *of = &calibration->targets[target];
    const struct validate_record *record = &of->records.rows[index];

    if (prediction->left_out) {
        if (calibration->left_out_count++ == 0) {
            calibration->left_out_reason = prediction->reason;
        }
    } else if (record->kind != MODEL_UNSET &&
               record->size_bytes < calibration->options->min_bytes) {
        calibration->small_count++;
    } else {
        add_time(calibration, target, of->rows[index], false, record->time_us,
                 prediction->time_us);
        add_time(calibration, target, of->rows[index], true,
                 record->computation_us, prediction->computation_us);
    }
}

/* Drop the topologies that no row can run on. */
static bool any_runs(const struct validate_target *target,
                     const struct validate_prediction *predictions)
{
    for (int i = 0; i < target->records.count; i++) {
        if (!predictions[i].left_out) {
            return true;
        }
    }
    return false;
}

enum model_status
validate_targets_find(struct model_arena *arena,
                      struct validate_calibration *calibration,
                      struct model_errors *errors)
{
    int all;

    calibration->rows = model_arena_array(
        arena, 2 * (size_t)calibration->options->records->count,
        sizeof(struct validate_calibrated_row));
    sort_rows(arena, calibration);
    all = calibration->target_count;
    calibration->target_count = 0;
    for (int t = 0; t < all; t++) {
        struct validate_target target = calibration->targets[t];
        int at = calibration->target_count;
        struct validate_prediction *predictions =
            model_arena_array(arena, (size_t)target.records.count,
                              sizeof(struct validate_prediction));
        struct validate_target *kept = &calibration->targets[at];

        *kept = target;
        /* The predictor keeps the address of its records. */
        if (predict_target(arena, calibration->options, kept, predictions,
                           errors) != MODEL_OK) {
            return MODEL_BAD_INPUT;
        }
        for (int i = 0; i < target.records.count; i++) {
            add_row(calibration, at, i, &predictions[i]);
        }
        if (!any_runs(kept, predictions)) {
            continue;
        }
        if (read_target(arena, calibration, kept, errors) != MODEL_OK) {
            return MODEL_BAD_INPUT;
        }
        calibration->target_count++;
    }
    return MODEL_OK;
}

/* -- what is held out -- */

static int order(double a, double b)
{
    return (a > b) - (a < b);
}

static int compare_records(const void *left, const void *right)
{
    const struct validate_record *a =
        *(const struct validate_record *const *)left;
    const struct validate_record *b =
        *(const struct validate_record *const *)right;
    int keys[] = {strcmp(a->set, b->set),
                  order(a->kind, b->kind),
                  order(a->nodes, b->nodes),
                  order(a->gpus, b->gpus),
                  strcmp(a->computation, b->computation),
                  order(a->size_bytes, b->size_bytes),
                  order(a->config.algorithm, b->config.algorithm),
                  order(a->config.protocol, b->config.protocol),
                  order(a->config.transport, b->config.transport),
                  order(a->config.channels, b->config.channels),
                  order(a->config.threads, b->config.threads),
                  order(a->config.chunk_bytes, b->config.chunk_bytes)};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (keys[i] != 0) {
            return keys[i];
        }
    }
    return order(a->place.line, b->place.line);
}

static void set_held_out(struct validate_calibration *calibration, int record)
{
    for (int i = 0; i < calibration->row_count; i++) {
        if (calibration->rows[i].row == record) {
            calibration->rows[i].held_out = true;
        }
    }
}

/* The records behind the rows that may still be drawn, each once, sorted. */
static const struct validate_record **
sorted_records(struct model_arena *arena,
               const struct validate_calibration *calibration,
               int *count)
{
    const struct validate_record *all = calibration->options->records->rows;
    const struct validate_record **list = model_arena_array(
        arena, (size_t)calibration->row_count, sizeof(void *));

    *count = 0;
    for (int i = 0; i < calibration->row_count; i++) {
        const struct validate_calibrated_row *row = &calibration->rows[i];
        bool again = i > 0 && calibration->rows[i - 1].row == row->row;

        if (!row->held_out && !again) {
            list[(*count)++] = &all[row->row];
        }
    }
    qsort(list, (size_t)*count, sizeof(void *), compare_records);
    return list;
}

static void hold_out(struct model_arena *arena,
                     struct validate_calibration *calibration)
{
    const struct validate_calibration_options *options = calibration->options;
    const gsl_rng *random = search_random(arena, options->seed);
    int count;
    const struct validate_record **list =
        sorted_records(arena, calibration, &count);
    int wanted = (int)floor(count * options->hold_out + 0.5);

    for (int k = 0; k < wanted; k++) {
        int first = (int)((int64_t)k * count / wanted);
        int end = (int)((int64_t)(k + 1) * count / wanted);
        const struct validate_record *record =
            list[first + search_below(random, end - first)];

        set_held_out(calibration, (int)(record - options->records->rows));
    }
}

enum model_status
validate_calibration_rows(struct model_arena *arena,
                          struct validate_calibration *calibration,
                          struct model_errors *errors)
{
    int fitted = 0;

    hold_out(arena, calibration);
    for (int i = 0; i < calibration->row_count; i++) {
        fitted += !calibration->rows[i].held_out;
    }
    if (fitted > 0) {
        return MODEL_OK;
    }
    if (calibration->left_out_count > 0) {
        return model_errors_add(errors, MODEL_BAD_INPUT, nowhere, NULL,
                                calibration->left_out_reason,
                                "no row to fit: %d cannot run",
                                calibration->left_out_count);
    }
    return model_errors_add(
        errors, MODEL_BAD_INPUT, nowhere, NULL,
        calibration->small_count > 0 ? "write a smaller --min-size" : NULL,
        "no row to fit");
}

/* -- accuracy -- */

struct validate_accuracy
validate_calibration_accuracy(struct model_arena *arena,
                              const struct validate_calibration *calibration,
                              bool held_out,
                              bool after)
{
    struct validate_pairs pairs = {
        .list = model_arena_array(arena, (size_t)calibration->row_count,
                                  sizeof(struct validate_pair))};

    for (int i = 0; i < calibration->row_count; i++) {
        const struct validate_calibrated_row *row = &calibration->rows[i];
        double time_us = after ? row->after_us : row->before_us;

        if (row->held_out == held_out) {
            /* Cases of one pair each: nothing is ranked. */
            pairs.list[pairs.count] = (struct validate_pair){
                .row = row->row,
                .computation = row->computation,
                .measured_us = row->measured_us,
                .predicted_us = time_us,
                .error_ratio = time_us / row->measured_us - 1.0,
                .case_index = pairs.count};
            pairs.count++;
        }
    }
    return validate_accuracy_of(arena, &pairs, NULL);
}
