/*
 * calibrate_predict.c - many points of a fit, side by side in threads.
 *
 * A task is one point on one topology. Each thread has arenas and errors of its
 * own; a task writes where no other writes, so that results do not depend on
 * who does it. Of several that fail the first by number is reported.
 */
#include "validate/calibrate_parts.h"

#include <pthread.h>
#include <string.h>

enum { THREADS_MAX = 256 };

struct crew {
    const struct validate_points *points;
    double *times_us;
    pthread_mutex_t lock; /* of what follows */
    int next;
    int failed;                  /* the first task that failed, or none */
    enum model_status status;    /* its */
    struct model_errors *errors; /* in the arena of the caller */
};

/* What a thread works with. */
struct hand {
    struct model_arena *arena, *scratch;
    struct model_errors errors;
};

static int task_count(const struct validate_points *points)
{
    return points->count * points->calibration->target_count;
}

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
run_task(struct crew *crew, struct hand *hand, int task)
{
    const struct validate_points *points = crew->points;
    const struct validate_calibration *calibration = points->calibration;
    size_t point = (size_t)(task / calibration->target_count);
    int target = task % calibration->target_count;
    const struct validate_target *of = &calibration->targets[target];
    struct validate_prediction *predictions;
    const char **sets;
    int set_count;
    enum model_status status;

    model_arena_reset(hand->arena);
    hand->errors = (struct model_errors){.arena = hand->arena};
    predictions = model_arena_array(hand->arena, (size_t)of->records.count,
                                    sizeof(*predictions));
    set_count =
        list_sets(hand->arena, points, of,
                  points->values + point * (size_t)points->number_count, &sets);
    status = validate_predict(of->predictor, sets, set_count,
                              mark_rows(hand->arena, points, target),
                              hand->scratch, predictions, &hand->errors);
    return status != MODEL_OK
               ? status
               : take_times(points, target, predictions,
                            crew->times_us +
                                point * (size_t)calibration->row_count,
                            &hand->errors);
}

/* The task with a guard: a thread cannot leave through another's. */
static enum model_status
try_task(struct crew *crew, struct hand *hand, int task)
{
    jmp_buf out_of_memory;

    if (hand->arena == NULL || hand->scratch == NULL ||
        setjmp(out_of_memory) != 0) {
        return MODEL_FAULT;
    }
    (void)model_arena_guard(hand->arena, &out_of_memory);
    (void)model_arena_guard(hand->scratch, &out_of_memory);
    return run_task(crew, hand, task);
}

static int take_task(struct crew *crew)
{
    int task;

    (void)pthread_mutex_lock(&crew->lock);
    task = crew->next++;
    (void)pthread_mutex_unlock(&crew->lock);
    return task;
}

/* Tasks are taken in order: none before the first that fails is left. */
static void
report(struct crew *crew, struct hand *hand, int task, enum model_status status)
{
    (void)pthread_mutex_lock(&crew->lock);
    crew->next = task_count(crew->points);
    if (task < crew->failed) {
        crew->failed = task;
        crew->status = status;
        crew->errors->count = 0;
        model_errors_move(crew->errors, &hand->errors);
    }
    (void)pthread_mutex_unlock(&crew->lock);
}

static void *work(void *context)
{
    struct crew *crew = context;
    struct hand hand = {.arena = model_arena_new(),
                        .scratch = model_arena_new()};
    int task;

    while ((task = take_task(crew)) < task_count(crew->points)) {
        enum model_status status = try_task(crew, &hand, task);

        if (status != MODEL_OK) {
            report(crew, &hand, task, status);
        }
    }
    model_arena_free(hand.scratch);
    model_arena_free(hand.arena);
    return NULL;
}

enum model_status validate_points_predict(struct model_arena *arena,
                                          const struct validate_points *points,
                                          double *times_us,
                                          struct model_errors *errors)
{
    struct model_errors faults = {.arena = arena};
    struct crew crew = {
        .points = points, .failed = task_count(points), .errors = &faults};
    int jobs = points->calibration->options->jobs;
    pthread_t threads[THREADS_MAX];
    int started = 0;

    crew.times_us = times_us;
    jobs = jobs < task_count(points) ? jobs : task_count(points);
    jobs = jobs < THREADS_MAX ? jobs : THREADS_MAX;
    (void)pthread_mutex_init(&crew.lock, NULL);
    /* This thread works, too: so it goes on where no other can be started. */
    while (started < jobs - 1 &&
           pthread_create(&threads[started], NULL, work, &crew) == 0) {
        started++;
    }
    (void)work(&crew);
    for (int i = 0; i < started; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    (void)pthread_mutex_destroy(&crew.lock);
    if (crew.status == MODEL_FAULT && faults.count == 0) {
        model_arena_raise(arena);
    }
    model_errors_move(errors, &faults);
    return crew.status;
}
