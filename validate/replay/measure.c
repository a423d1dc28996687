/*
 * measure.c - times of works alone and in company.
 *
 * Stream 0 is held; the others wait for event 0, which is marked behind the
 * hold. Launch i starts at event 2 + 2 i and ends at 3 + 2 i; where it comes
 * right behind another one of its stream, it starts where that one ends.
 */
#include "validate/replay/measure.h"

#include <math.h>

enum { HELD = 0, BEGIN = 0, END = 1, FIRST = 2 };

/* Commands that a launch is for CUDA's queue. */
static int commands_of(const struct replay_item *item)
{
    return item->work.row_count > 1 ? item->work.row_count : 1;
}

/* Launches in a row that are timed as one: as many as last so long. A product
   of few rows may take three kernels of CUDA's queue. */
#define BATCH_US 1000.0
enum { BATCH_MAX = 100, HELD_COMMANDS = 300 };

enum model_status replay_measure_fault(const struct replay_run *run,
                                       const struct replay_fault *fault)
{
    return model_errors_add(run->errors, MODEL_NO_DEVICE,
                            (struct model_place){"lagom-replay", 0, 0}, NULL,
                            NULL, "%s", fault->text);
}

static bool launch_row(const struct replay_run *run,
                       const struct replay_item *item,
                       int count,
                       struct replay_fault *fault)
{
    const struct replay_driver *driver = run->driver;
    bool good = driver->mark(run->device, BEGIN, HELD, fault);

    for (int i = 0; i < count && good && !item->absent; i++) {
        good = driver->launch(run->device, item->handle, HELD, fault);
    }
    return good && driver->mark(run->device, END, HELD, fault);
}

/* The time of one of `count` launches in a row. */
static bool time_row(const struct replay_run *run,
                     const struct replay_item *item,
                     int count,
                     bool held,
                     struct replay_summary *timed,
                     struct replay_fault *fault)
{
    const struct replay_driver *driver = run->driver;
    struct replay_device *device = run->device;
    bool good = (!held || driver->hold(device, fault)) &&
                launch_row(run, item, count, fault) &&
                (!held || driver->release(device, fault));

    if (!good) {
        return false;
    }
    timed->sm_clock_mhz = driver->clock_mhz(device);
    good = driver->finish(device, fault) &&
           driver->elapsed(device, BEGIN, END, &timed->median_us, fault);
    timed->median_us = item->absent ? 0.0 : timed->median_us / (double)count;
    return good;
}

enum model_status replay_measure_alone(const struct replay_run *run,
                                       const struct replay_item *item,
                                       struct replay_summary *summary)
{
    struct replay_fault fault = {""};
    /* Behind the times, how many ranks they are of. */
    double *times_us = model_arena_array(run->arena, (size_t)run->repeats + 1,
                                         sizeof(*times_us));
    double *ranks = &times_us[run->repeats];
    struct replay_summary timed = {.repeats = 1};
    bool good = true;
    bool held;
    int batch;

    for (int i = 0; i < run->warmup && good; i++) {
        good = time_row(run, item, 1, false, &timed, &fault);
    }
    /* All ranks must launch as many. */
    good = good && run->driver->combine(run->device, &timed.median_us, 1,
                                        REPLAY_MAX, &fault);
    batch = (int)fmin(fmax(ceil(BATCH_US / fmax(timed.median_us, 1.0)), 1.0),
                      BATCH_MAX);
    batch = (int)fmin(
        batch, fmax(floor(HELD_COMMANDS / (double)commands_of(item)), 1.0));
    held = commands_of(item) <= HELD_COMMANDS;
    for (int i = 0; i < run->repeats && good; i++) {
        good = time_row(run, item, batch, held, &timed, &fault);
        times_us[i] = timed.median_us;
    }
    *ranks = item->absent ? 0.0 : 1.0;
    good = good && run->driver->combine(run->device, times_us, run->repeats + 1,
                                        REPLAY_SUM, &fault);
    if (!good) {
        return replay_measure_fault(run, &fault);
    }
    for (int i = 0; i < run->repeats; i++) {
        times_us[i] /= *ranks;
    }
    *summary = replay_summarise(times_us, run->repeats);
    summary->sm_clock_mhz = timed.sm_clock_mhz;
    return MODEL_OK;
}

/* One run of a schedule, and where its launches begin. */
struct round {
    const struct replay_run *run;
    const struct replay_schedule *schedule;
    int *start_events; /* by launch */
    int *last;         /* by stream: the launch before, or -1 */
    int queued;        /* launches; -1: released */
    struct replay_fault fault;
};

static bool takes_part(const struct replay_schedule *schedule, int launch)
{
    return !schedule->items[schedule->launches[launch].item].absent;
}

static int end_event(int launch)
{
    return FIRST + 2 * launch + 1;
}

static bool start(struct round *round, int index)
{
    const struct replay_run *run = round->run;
    const struct replay_launch *launch = &round->schedule->launches[index];
    int before = round->last[launch->stream];
    bool waits = before < 0 || launch->pause_us > 0.0;
    bool good =
        before >= 0 ||
        run->driver->await(run->device, BEGIN, launch->stream, &round->fault);

    for (int i = 0; i < launch->after_count && good; i++) {
        if (takes_part(round->schedule, launch->after[i])) {
            waits = true;
            good = run->driver->await(run->device, end_event(launch->after[i]),
                                      launch->stream, &round->fault);
        }
    }
    good = good && (!(launch->pause_us > 0.0) ||
                    run->driver->pause(run->device, launch->stream,
                                       launch->pause_us, &round->fault));
    round->start_events[index] = waits ? FIRST + 2 * index : end_event(before);
    return good &&
           (!waits || run->driver->mark(run->device, round->start_events[index],
                                        launch->stream, &round->fault));
}

/* Lets go when so many are queued that the next might be waited for. */
static bool count_launch(struct round *round, const struct replay_item *item)
{
    if (round->queued < 0) {
        return true;
    }
    round->queued += commands_of(item);
    if (round->queued >= REPLAY_HELD_MAX) {
        round->queued = -1;
        return round->run->driver->release(round->run->device, &round->fault);
    }
    return true;
}

static bool launch_all(struct round *round)
{
    const struct replay_run *run = round->run;
    const struct replay_schedule *schedule = round->schedule;
    bool good = run->driver->mark(run->device, BEGIN, HELD, &round->fault);

    for (int i = 0; i < schedule->stream_count; i++) {
        round->last[i] = -1;
    }
    for (int i = 0; i < schedule->launch_count && good; i++) {
        const struct replay_launch *launch = &schedule->launches[i];

        if (!takes_part(schedule, i)) {
            continue;
        }
        good = start(round, i) &&
               run->driver->launch(run->device,
                                   schedule->items[launch->item].handle,
                                   launch->stream, &round->fault) &&
               run->driver->mark(run->device, end_event(i), launch->stream,
                                 &round->fault) &&
               count_launch(round, &schedule->items[launch->item]);
        round->last[launch->stream] = i;
    }
    for (int i = 1; i < schedule->stream_count && good; i++) {
        good = round->last[i] < 0 ||
               run->driver->await(run->device, end_event(round->last[i]), HELD,
                                  &round->fault);
    }
    return good && run->driver->mark(run->device, END, HELD, &round->fault);
}

static bool run_round(struct round *round, bool held, double *clock_mhz)
{
    const struct replay_run *run = round->run;
    const struct replay_driver *driver = run->driver;

    round->queued = held ? 0 : -1;
    if ((held && !driver->hold(run->device, &round->fault)) ||
        !launch_all(round) ||
        (round->queued >= 0 && !driver->release(run->device, &round->fault))) {
        return false;
    }
    *clock_mhz = driver->clock_mhz(run->device);
    return driver->finish(run->device, &round->fault);
}

/* Times of launch i in repeat r are at [(i * 2 + 0 or 1) * repeats + r]; behind
   all, by launch, how many ranks they are of. */
static bool read_times(struct round *round, int repeat, double *times_us)
{
    const struct replay_run *run = round->run;
    size_t launches = (size_t)round->schedule->launch_count;
    size_t repeats = (size_t)run->repeats;
    double *ranks = &times_us[2 * launches * repeats];
    bool good = true;

    for (int i = 0; i < round->schedule->launch_count && good; i++) {
        double *start_us = &times_us[2 * (size_t)i * repeats + (size_t)repeat];

        if (takes_part(round->schedule, i)) {
            ranks[i] = 1.0;
            good =
                run->driver->elapsed(run->device, BEGIN, round->start_events[i],
                                     start_us, &round->fault) &&
                run->driver->elapsed(run->device, BEGIN, end_event(i),
                                     start_us + run->repeats, &round->fault);
        }
    }
    return good;
}

static struct replay_interval summarise(const struct replay_run *run,
                                        double ranks,
                                        double *start_us,
                                        double *lasts_us)
{
    double *end_us = start_us + run->repeats;
    struct replay_interval interval;

    for (int i = 0; i < run->repeats; i++) {
        start_us[i] /= ranks;
        end_us[i] /= ranks;
        lasts_us[i] = end_us[i] - start_us[i];
    }
    interval.lasts = replay_summarise(lasts_us, run->repeats);
    interval.start_us = replay_summarise(start_us, run->repeats).median_us;
    interval.end_us = replay_summarise(end_us, run->repeats).median_us;
    return interval;
}

static bool measure(struct round *round,
                    double *times_us,
                    double *iterations_us,
                    double *sm_clock_mhz)
{
    const struct replay_run *run = round->run;
    const struct replay_driver *driver = run->driver;
    int count = round->schedule->launch_count * (2 * run->repeats + 1);
    bool good = true;

    for (int i = 0; i < run->warmup && good; i++) {
        good = run_round(round, false, sm_clock_mhz);
    }
    for (int i = 0; i < run->repeats && good; i++) {
        good = run_round(round, true, sm_clock_mhz) &&
               driver->elapsed(run->device, BEGIN, END, &iterations_us[i],
                               &round->fault) &&
               read_times(round, i, times_us);
    }
    return good &&
           driver->combine(run->device, iterations_us, run->repeats, REPLAY_MAX,
                           &round->fault) &&
           driver->combine(run->device, times_us, count, REPLAY_SUM,
                           &round->fault);
}

enum model_status
replay_measure_together(const struct replay_run *run,
                        const struct replay_schedule *schedule,
                        struct replay_together *together)
{
    size_t launches = (size_t)schedule->launch_count;
    size_t repeats = (size_t)run->repeats;
    double *times_us = model_arena_array(
        run->arena, launches * (2 * repeats + 1), sizeof(*times_us));
    const double *ranks = &times_us[2 * launches * repeats];
    double sm_clock_mhz = 0.0;
    double *lasts_us =
        model_arena_array(run->arena, repeats, sizeof(*lasts_us));
    struct round round = {
        .run = run,
        .schedule = schedule,
        .start_events = model_arena_array(run->arena, launches, sizeof(int)),
        .last = model_arena_array(run->arena, (size_t)schedule->stream_count,
                                  sizeof(int))};

    *together = (struct replay_together){
        .launches = model_arena_array(run->arena, launches,
                                      sizeof(*together->launches))};
    if (!measure(&round, times_us, lasts_us, &sm_clock_mhz)) {
        return replay_measure_fault(run, &round.fault);
    }
    together->iteration = replay_summarise(lasts_us, run->repeats);
    together->iteration.sm_clock_mhz = sm_clock_mhz;
    for (int i = 0; i < schedule->launch_count; i++) {
        together->launches[i] = summarise(
            run, ranks[i], &times_us[2 * (size_t)i * repeats], lasts_us);
    }
    return MODEL_OK;
}

enum model_status replay_measure_make(const struct replay_run *run,
                                      struct replay_item *item)
{
    struct replay_fault fault = {""};

    if (item->handle >= 0 || item->absent) {
        return MODEL_OK;
    }
    item->handle = run->driver->make(run->device, &item->work, &fault);
    return item->handle >= 0 ? MODEL_OK : replay_measure_fault(run, &fault);
}
