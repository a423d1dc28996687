/*
 * calibrate_predict.c - many points of a fit, side by side in threads.
 *
 * A task is one point on one topology. It has arenas and errors of its own and
 * writes where no other writes, so that results do not depend on who does it.
 */
#include "validate/calibrate_parts.h"

#include "search/crew.h"

#include <string.h>

struct work {
    const struct validate_points *points;
    double *times_us;
    enum model_status *status;  /* by task */
    struct model_arena **arena; /* of errors, of those that failed */
    struct model_errors *errors;
};

/* What a task works with. */
struct hand {
    struct model_arena *arena, *scratch;
    struct model_errors *errors;
};

/* The overrides of a point for a topology: only numbers that it has. */
static int list_sets(struct model_arena *arena,
                     const struct validate_points *points,
                     const struct validate_target *target,
                     const double *values,
                     const char ***sets)
{
    const struct validate_calibration_options *options =
        points->calibration->options;
    int count = options->set_count;

    *sets =
        model_arena_array(arena, (size_t)count + (size_t)points->number_count,
                          sizeof(const char *));
    for (int i = 0; i < count; i++) {
        (*sets)[i] = options->sets[i];
    }
    for (int i = 0; i < points->number_count; i++) {
        const struct model_provenance_entry *number = points->numbers[i];
        char text[64];

        if (validate_target_has(target, number->path)) {
            (*sets)[count++] = model_arena_format(
                arena, "%s=%s", number->path,
                model_units_print(values[i], number->dimension, text,
                                  sizeof(text)));
        }
    }
    return count;
}

/* Which rows of the topology are wanted. */
static const bool *mark_rows(struct model_arena *arena,
                             const struct validate_points *points,
                             int target)
{
    const struct validate_calibration *calibration = points->calibration;
    const struct validate_target *of = &calibration->targets[target];
    bool *wanted =
        model_arena_array(arena, (size_t)of->records.count, sizeof(bool));
    int at = 0;

    for (int i = 0; i < calibration->row_count; i++) {
        const struct validate_calibrated_row *row = &calibration->rows[i];

        if (row->target == target && (points->all || !row->held_out)) {
            while (of->rows[at] != row->row) {
                at++;
            }
            wanted[at] = true;
        }
    }
    return wanted;
}

static enum model_status
take_times(const struct validate_points *points,
           int target,
           const struct validate_prediction *predictions,
           double *times_us,
           struct model_errors *errors)
{
    const struct validate_calibration *calibration = points->calibration;
    const struct validate_target *of = &calibration->targets[target];
    int at = 0;

    for (int i = 0; i < calibration->row_count; i++) {
        const struct validate_calibrated_row *row = &calibration->rows[i];

        if (row->target != target || (row->held_out && !points->all)) {
            continue;
        }
        while (of->rows[at] != row->row) {
            at++;
        }
        times_us[i] = row->computation ? predictions[at].computation_us
                                       : predictions[at].time_us;
        if (predictions[at].left_out || !(times_us[i] > 0.0)) {
            return model_errors_add(errors, MODEL_BAD_INPUT,
                                    of->records.rows[at].place, NULL,
                                    predictions[at].reason,
                                    "cannot run with numbers that a fit tries");
        }
    }
    return MODEL_OK;
}

static enum model_status
run_task(const struct work *work, const struct hand *hand, int task)
{
    const struct validate_points *points = work->points;
    const struct validate_calibration *calibration = points->calibration;
    size_t point = (size_t)(task / calibration->target_count);
    int target = task % calibration->target_count;
    const struct validate_target *of = &calibration->targets[target];
    struct validate_prediction *predictions = model_arena_array(
        hand->arena, (size_t)of->records.count, sizeof(*predictions));
    const char **sets;
    int set_count =
        list_sets(hand->arena, points, of,
                  points->values + point * (size_t)points->number_count, &sets);
    enum model_status status = validate_predict(
        of->predictor, sets, set_count, mark_rows(hand->arena, points, target),
        hand->scratch, predictions, hand->errors);

    return status != MODEL_OK
               ? status
               : take_times(points, target, predictions,
                            work->times_us +
                                point * (size_t)calibration->row_count,
                            hand->errors);
}

/* The task with a guard: a thread cannot leave through another's. */
static enum model_status
try_task(const struct work *work, const struct hand *hand, int task)
{
    jmp_buf out_of_memory;

    if (hand->arena == NULL || hand->scratch == NULL ||
        setjmp(out_of_memory) != 0) {
        return MODEL_FAULT;
    }
    (void)model_arena_guard(hand->arena, &out_of_memory);
    (void)model_arena_guard(hand->scratch, &out_of_memory);
    return run_task(work, hand, task);
}

static bool do_task(void *context, int task)
{
    const struct work *work = context;
    struct hand hand = {model_arena_new(), model_arena_new(),
                        &work->errors[task]};

    hand.errors->arena = hand.arena;
    work->status[task] = try_task(work, &hand, task);
    model_arena_free(hand.scratch);
    if (work->status[task] == MODEL_OK) {
        model_arena_free(hand.arena);
    } else {
        work->arena[task] = hand.arena; /* its errors are there */
    }
    return work->status[task] == MODEL_OK;
}

/* The faults of the first that failed. */
static enum model_status
report(struct work *work, int count, struct model_errors *errors)
{
    enum model_status status = MODEL_OK;

    for (int task = 0; task < count; task++) {
        if (status == MODEL_OK && work->status[task] != MODEL_OK) {
            status = work->status[task];
            model_errors_move(errors, &work->errors[task]);
        }
        model_arena_free(work->arena[task]);
    }
    return status;
}

enum model_status validate_points_predict(struct model_arena *arena,
                                          const struct validate_points *points,
                                          double *times_us,
                                          struct model_errors *errors)
{
    const struct validate_calibration_options *options =
        points->calibration->options;
    int count = points->count * points->calibration->target_count;
    size_t room = (size_t)count;
    int before = errors->count;
    struct work work = {
        .points = points,
        .status = model_arena_array(arena, room, sizeof(enum model_status)),
        .arena = model_arena_array(arena, room, sizeof(void *)),
        .errors = model_arena_array(arena, room, sizeof(struct model_errors))};
    struct search_crew_work jobs = {do_task, &work, count};
    enum model_status status;

    work.times_us = times_us;
    search_crew_run(&jobs, search_crew_threads((uint64_t)options->jobs, count));
    status = report(&work, count, errors);
    if (status == MODEL_FAULT && errors->count == before) {
        model_arena_raise(arena);
    }
    if (options->progress != NULL) {
        options->progress(options->progress_context, points->count);
    }
    return status;
}
