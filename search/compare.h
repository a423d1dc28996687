/*
 * compare.h - the speedup table (internal to the command).
 */
#ifndef SEARCH_COMPARE_H
#define SEARCH_COMPARE_H

#include "search/tuned.h"

enum { SEARCH_COMPARED_MAX = 16 };

/* A strategy on a topology with a workload. */
struct search_compared {
    const struct sim_input *input;
    const struct search_strategy *strategy;
    struct search_tuned tuned;
    double speedup;  /* over NCCL */
    double bound_us; /* no plan is faster; 0: no bound is known */
    double best_us;  /* the fastest plan found for this input */
};

struct search_comparison {
    struct sim_cli *cli;
    const struct search_strategy *strategies[SEARCH_COMPARED_MAX];
    int strategy_count;
    const struct search_evaluator_kind *evaluator;
    struct search_compared *rows;
    int row_count;
};

/* The published range for a row, or NULL: as published means unchanged. */
const struct model_published *
search_compared_published(const struct search_comparison *table,
                          const struct search_compared *row);

/* How much longer it takes than the fastest plan found, or than the bound. */
double search_compared_gap_ratio(const struct search_compared *row,
                                 double than_us);

void search_comparison_csv(const struct search_comparison *table);
enum model_status search_comparison_json(const struct search_comparison *table);

#endif
