/*
 * output.h - what lagom-replay writes: records, times of ops, curves.
 *
 * Lines are written whole and flushed one by one, so that what was measured
 * before an interruption is kept.
 */
#ifndef VALIDATE_REPLAY_OUTPUT_H
#define VALIDATE_REPLAY_OUTPUT_H

#include "validate/record.h"
#include "validate/replay/measure.h"

/* What is the same in all rows of a run. */
struct replay_stamp {
    const struct replay_description *description;
    const struct model_topology *topology;
    const struct replay_group *groups; /* that items name */
    const char *note;                  /* more words for `notes`, or NULL */
};

/* One row of records. Summaries of 0 repeats are not there. */
struct replay_row {
    const struct replay_item *collective;  /* or NULL */
    const struct replay_item *computation; /* or NULL */
    struct replay_summary alone, computation_alone;
    struct replay_summary together, computation_together;
};

/* With one item, its time is `alone` or `computation_alone`. */
void replay_output_record(struct model_arena *arena,
                          const struct replay_stamp *stamp,
                          const struct replay_row *row,
                          FILE *stream);

/* The lines op,stream,start_us,end_us,spread_us of --ops, and the iteration. */
void replay_output_ops(const struct replay_schedule *schedule,
                       const struct replay_together *together,
                       FILE *stream);

/* A curve's header and a point: bytes read again and again from a set. */
void replay_output_curve_header(FILE *stream);
void replay_output_curve(const struct replay_stamp *stamp,
                         const struct replay_work *work,
                         const struct replay_summary *summary,
                         FILE *stream);

#endif
