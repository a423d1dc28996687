/*
 * window_span.h - stretches of time, and how much of it they cover.
 */
#ifndef SIM_WINDOW_SPAN_H
#define SIM_WINDOW_SPAN_H

#include "sim/sim.h"

/* From from_us to to_us. */
struct sim_span {
    double from_us;
    double to_us;
};

/* A set of spans. The array belongs to who made it. */
struct sim_spans {
    struct sim_span *list;
    int count;
};

/* Sort by beginning and merge what touches or overlaps, in place. */
void sim_spans_merge(struct sim_spans *spans);

/* Time that merged spans cover, us; what lies in the steady stretch counts as
   often as it comes. */
double sim_spans_us(const struct sim_spans *spans,
                    const struct sim_steady *steady);

/* Time that both of two merged sets cover, us, counted alike. */
double sim_spans_common_us(const struct sim_spans *a,
                           const struct sim_spans *b,
                           const struct sim_steady *steady);

#endif
