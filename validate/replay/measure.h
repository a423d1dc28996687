/*
 * measure.h - times of works alone and in company.
 *
 * All launches of a measurement are queued behind a held stream and then let
 * go at once, so that no time of the CPU is in them; events are on the device.
 * The first runs, `warmup` of them, are not held (libraries load kernels and
 * connect then) and not counted.
 *
 * With several ranks every rank measures the same, in the same order; times
 * are means over the ranks that take part, an iteration is its slowest rank's.
 */
#ifndef VALIDATE_REPLAY_MEASURE_H
#define VALIDATE_REPLAY_MEASURE_H

#include "model/arena.h"
#include "model/error.h"
#include "validate/replay/schedule.h"
#include "validate/replay/statistics.h"

/* A device at work. */
struct replay_run {
    const struct replay_driver *driver;
    struct replay_device *device;
    struct model_arena *arena;
    struct model_errors *errors;
    int repeats, warmup; /* both >= 1 */
};

/* Launches that a held stream may have before it: CUDA queues about a thousand
   commands per stream, and a launch is up to four. */
enum { REPLAY_HELD_MAX = 200 };

/*
 * A work by itself: launches in a row, as many as last a millisecond (at most
 * 100), divided by their number. The median of `repeats` such times.
 */
enum model_status replay_measure_alone(const struct replay_run *run,
                                       const struct replay_item *item,
                                       struct replay_summary *summary);

/* Of one launch: from when its stream came to it. */
struct replay_interval {
    double start_us, end_us; /* medians, since the release */
    struct replay_summary lasts;
};

struct replay_together {
    struct replay_interval *launches; /* as the schedule has them */
    struct replay_summary iteration;
};

/* All launches of a schedule, on their streams. Items have handles. */
enum model_status
replay_measure_together(const struct replay_run *run,
                        const struct replay_schedule *schedule,
                        struct replay_together *together);

/* Give an item a handle, unless it has one or this rank has no part in it. */
enum model_status replay_measure_make(const struct replay_run *run,
                                      struct replay_item *item);

/* What the device says of a failure, as an error. */
enum model_status replay_measure_fault(const struct replay_run *run,
                                       const struct replay_fault *fault);

#endif
