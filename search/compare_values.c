/*
 * compare_values.c - speedups, gaps and means of the speedup table.
 */
#include "search/compare.h"

#include <math.h>
#include <string.h>

int search_strategy_index(const struct search_comparison *table,
                          const char *name)
{
    for (int i = 0; i < table->strategy_count; i++) {
        if (strcmp(table->strategies[i]->name, name) == 0) {
            return i;
        }
    }
    return -1;
}

const struct search_times *
search_times_of(const struct search_comparison *table,
                const struct search_case *of,
                const char *strategy)
{
    int index = search_strategy_index(table, strategy);

    if (index >= 0) {
        return &of->rows[index].tuned.times;
    }
    return strcmp(strategy, "nccl") == 0 ? &of->rows[0].tuned.nccl : NULL;
}

double search_speedup_ratio(const struct search_comparison *table,
                            const struct search_compared *row,
                            const char *over)
{
    const struct search_times *times = search_times_of(table, row->of, over);

    return times != NULL ? times->iteration_us / row->tuned.times.iteration_us
                         : (double)NAN;
}

int search_median_index(const double *times_us, int count)
{
    for (int i = 0; i < count; i++) {
        int before = 0; /* i in the order of times */

        for (int j = 0; j < count; j++) {
            before += times_us[j] < times_us[i] ||
                              (j < i && times_us[j] <= times_us[i])
                          ? 1
                          : 0;
        }
        if (before == (count - 1) / 2) {
            return i;
        }
    }
    return 0;
}

double search_gap_ratio(const struct search_compared *row, double than_us)
{
    return row->tuned.times.iteration_us / than_us - 1.0;
}

bool search_filter_takes(const struct search_filter *filter,
                         const struct search_case *of)
{
    return (filter->only == NULL || filter->only == of) &&
           (filter->family == NULL ||
            strcmp(filter->family, of->family) == 0) &&
           (filter->cluster == NULL ||
            strcmp(filter->cluster, of->cluster) == 0);
}

double search_mean_ratio(const struct search_comparison *table,
                         const struct search_filter *filter,
                         int strategy,
                         const char *over)
{
    double sum = 0.0;
    int count = 0;

    for (int i = 0; i < table->case_count; i++) {
        const struct search_compared *row = &table->cases[i]->rows[strategy];

        if (search_filter_takes(filter, table->cases[i])) {
            sum += log(search_speedup_ratio(table, row, over));
            count++;
        }
    }
    return count > 0 ? exp(sum / count) : (double)NAN;
}

double search_mean_gap_ratio(const struct search_comparison *table,
                             int strategy,
                             bool to_bound)
{
    double sum = 0.0;
    int count = 0;

    for (int i = 0; i < table->case_count; i++) {
        const struct search_case *of = table->cases[i];
        double than_us = to_bound ? of->bound_us : of->best_us;

        if (than_us > 0.0) {
            sum += search_gap_ratio(&of->rows[strategy], than_us);
            count++;
        }
    }
    return count > 0 ? sum / count : (double)NAN;
}

/* Append a name that is not there yet. */
static int add_name(const char **names, int count, const char *name)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            return count;
        }
    }
    names[count] = name;
    return count + 1;
}

int search_families(const struct search_comparison *table, const char **names)
{
    int count = 0;

    for (int i = 0; i < table->case_count; i++) {
        count = add_name(names, count, table->cases[i]->family);
    }
    return count;
}

int search_clusters(const struct search_comparison *table,
                    const struct search_filter *filter,
                    const char **names)
{
    int count = 0;

    for (int i = 0; i < table->case_count; i++) {
        if (search_filter_takes(filter, table->cases[i])) {
            count = add_name(names, count, table->cases[i]->cluster);
        }
    }
    return count;
}
