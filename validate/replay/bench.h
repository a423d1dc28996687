/*
 * bench.h - points measured one after another, each a row of records.
 *
 * Buffers are those of one point at a time. What an item takes alone is
 * measured once.
 */
#ifndef VALIDATE_REPLAY_BENCH_H
#define VALIDATE_REPLAY_BENCH_H

#include "validate/replay/output.h"

/* What a computation starts behind a collective in a pair, so that the
   collective has its SMs first, as in the simulator and in an iteration that
   launches it early. */
#define REPLAY_HEAD_START_US 5.0

struct replay_bench {
    const struct replay_run *run;
    const struct replay_stamp *stamp;
    struct replay_schedule *schedule;
    struct replay_summary *alone; /* by item of the schedule; of 0 repeats:
                                     not yet measured */
    int stream;                   /* the first of two streams for pairs */
    FILE *output;
};

/* One point: items of the schedule, -1 for none. */
struct replay_pair {
    int collective, computation;
    bool match;               /* as long as the computation: sweep.h */
    double working_set_bytes; /* 0: none; then the row is a curve's */
};

/* Measure it and write its row. */
enum model_status replay_bench_pair(struct replay_bench *bench,
                                    const struct replay_pair *pair);

/*
 * The pairs of a collective and a computation that were seen to run side by
 * side, each different one once; their number. pairs has room for as many as
 * the schedule has pairs of items.
 */
int replay_bench_seen(const struct replay_schedule *schedule,
                      const struct replay_together *together,
                      struct replay_pair *pairs);

#endif
