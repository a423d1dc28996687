/*
 * nccl_rows.h - NCCL's choices for the collectives of a workload, and why: what
 * `lagom explain --nccl` prints.
 */
#ifndef SEARCH_NCCL_ROWS_H
#define SEARCH_NCCL_ROWS_H

#include "search/problem.h"

extern const char *const search_nccl_graph_names[MODEL_NCCL_GRAPHS];
/* By enum model_nccl_pattern; 0: "none". */
extern const char *const search_nccl_pattern_names[];
extern const char *const search_nccl_cause_names[MODEL_NCCL_CAUSES];
/* Why a pair is off that NCCL has: the workload's own keys leave it out. */
extern const char *const search_nccl_unasked;

/* One kind of collective, of one size and group, with what its ops fix. */
struct search_nccl_row {
    const struct search_class *part; /* the first of those that are alike */
    int op_count;
    const struct model_op *op; /* the first */
    const struct model_nccl_tuning *tuning;
    struct model_nccl_choice choice;
    struct model_config config; /* what it runs with in the end */
};

struct search_nccl_rows {
    const struct model_nccl *nccl;
    struct search_nccl_row *list;
    int count;
};

/* A pair of algorithm and protocol. */
struct search_nccl_candidate {
    const struct model_nccl_pair *pair;
    double time_us; /* < 0: off */
    bool chosen;
};

/* All collectives that leave something to NCCL; lives in the arena. */
struct search_nccl_rows search_nccl_rows_make(struct model_arena *arena,
                                              const struct model_nccl *nccl);

/* Nothing is left to choose from: NCCL itself fails. */
bool search_nccl_row_fails(const struct search_nccl_row *row);

/* Of a row that NCCL tunes (choice.function is set). */
struct search_nccl_candidate search_nccl_candidate_of(
    const struct search_nccl_row *row, int algorithm, int protocol);

/* NCCL's time of what it chose; NaN when it fails. */
double search_nccl_best_us(const struct search_nccl_row *row);

/* Why a candidate is not the one, in words. */
const char *search_nccl_verdict(struct model_arena *arena,
                                const struct search_nccl_row *row,
                                const struct search_nccl_candidate *candidate);

#endif
