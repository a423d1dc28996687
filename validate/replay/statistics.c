/*
 * statistics.c - median and quartiles, by GSL.
 *
 * Times have a floor and a tail: what else ran on the machine only ever adds.
 * The mean follows the tail, the median does not.
 */
#include "validate/replay/statistics.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

struct replay_summary replay_summarise(double *values_us, int count)
{
    size_t n = (size_t)count;

    gsl_sort(values_us, 1, n);
    return (struct replay_summary){
        .median_us = gsl_stats_median_from_sorted_data(values_us, 1, n),
        .spread_us =
            gsl_stats_quantile_from_sorted_data(values_us, 1, n, 0.75) -
            gsl_stats_quantile_from_sorted_data(values_us, 1, n, 0.25),
        .repeats = count};
}
