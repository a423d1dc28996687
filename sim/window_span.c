/*
 * window_span.c - sets of spans as sorted, disjoint arrays.
 */
#include "sim/window_span.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *left, const void *right)
{
    const struct sim_span *a = left;
    const struct sim_span *b = right;

    return (a->from_us > b->from_us) - (a->from_us < b->from_us);
}

void sim_spans_merge(struct sim_spans *spans)
{
    int kept = 0;

    if (spans->count == 0) {
        return;
    }
    qsort(spans->list, (size_t)spans->count, sizeof(*spans->list), compare);
    for (int i = 1; i < spans->count; i++) {
        struct sim_span *last = &spans->list[kept];

        if (spans->list[i].from_us <= last->to_us) {
            last->to_us = fmax(last->to_us, spans->list[i].to_us);
        } else {
            spans->list[++kept] = spans->list[i];
        }
    }
    spans->count = kept + 1;
}

/* A stretch of time, with what of it comes more often. */
static double
weighed_us(double from_us, double to_us, const struct sim_steady *steady)
{
    double again_us =
        fmin(to_us, steady->to_us) - fmax(from_us, steady->from_us);

    return fmax(to_us - from_us, 0.0) + steady->extra * fmax(again_us, 0.0);
}

double sim_spans_us(const struct sim_spans *spans,
                    const struct sim_steady *steady)
{
    double sum_us = 0.0;

    for (int i = 0; i < spans->count; i++) {
        sum_us +=
            weighed_us(spans->list[i].from_us, spans->list[i].to_us, steady);
    }
    return sum_us;
}

double sim_spans_common_us(const struct sim_spans *a,
                           const struct sim_spans *b,
                           const struct sim_steady *steady)
{
    double sum_us = 0.0;

    for (int i = 0, j = 0; i < a->count && j < b->count;) {
        sum_us += weighed_us(fmax(a->list[i].from_us, b->list[j].from_us),
                             fmin(a->list[i].to_us, b->list[j].to_us), steady);
        if (a->list[i].to_us < b->list[j].to_us) {
            i++;
        } else {
            j++;
        }
    }
    return sum_us;
}
