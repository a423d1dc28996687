/*
 * compare.h - the speedup table (internal to the command).
 *
 * A case is a topology with a workload; it has a row for each strategy. Cases
 * are ordered by family, which is their parallelism, and within one as the
 * command line names them.
 */
#ifndef SEARCH_COMPARE_H
#define SEARCH_COMPARE_H

#include "search/tuned.h"

enum { SEARCH_COMPARED_MAX = 16, SEARCH_SEEDS_MAX = 100 };

/* Between two quantiles; NAN where nothing was drawn. */
struct search_interval {
    double low, high;
};

/* Runs with seeds that follow each other. */
struct search_spread {
    int count;
    uint64_t seed; /* of the row's run */
    double min_us, max_us;
};

/* A strategy on a case; of several runs the one of median time. */
struct search_compared {
    const struct search_case *of;
    const struct search_strategy *strategy;
    struct search_tuned tuned;
    struct search_spread spread;
};

struct search_case {
    struct sim_input input;
    const char *family;  /* "fsdp"; "ops" for the op form */
    const char *cluster; /* topologies that differ in their nodes share it */
    struct search_compared *rows; /* by strategy */
    double nccl_us;
    double bound_us; /* no plan is faster; 0: no bound is known */
    /* The fastest plan found for this case in any run, and by whom: a row, or
     * NULL when it is NCCL's, which is not listed. */
    double best_us;
    const struct search_compared *best;
    struct model_arena *arena; /* of the rows */
    struct model_errors errors;
    enum model_status status;
};

struct search_comparison {
    struct sim_cli *cli;
    const struct search_strategy *strategies[SEARCH_COMPARED_MAX];
    uint64_t budgets[SEARCH_COMPARED_MAX]; /* of "NAME:BUDGET"; 0: none */
    int strategy_count;
    int seeds; /* runs of a strategy that draws; at least 1 */
    const struct search_evaluator_kind *evaluator;
    double noise_ratio;
    const struct search_uncertainty *uncertainty; /* NULL: not asked for */
    struct search_case **cases;
    int case_count;
    int case_room;
};

/* -- inputs: compare_cases.c -- */

/* Read the topologies and workloads that the command line asks for. */
enum model_status search_cases_load(struct search_comparison *table);

/* -- results: compare_run.c -- */

/*
 * Run all strategies on all cases, in as many threads as the command line asks
 * for. The faults of the first case that fails go to the table's errors. The
 * caller frees what the cases hold, however it ends.
 */
enum model_status search_cases_run(struct search_comparison *table);
void search_cases_free(struct search_comparison *table);

/* Fill the rows of one case, whose input, arena and errors are set; label: see
 * search_tune_all. */
enum model_status search_case_run(struct search_comparison *table,
                                  struct search_case *of,
                                  const char *label);

/* -- numbers: compare_values.c -- */

/* Place of a strategy in the table by name, or -1. */
int search_strategy_index(const struct search_comparison *table,
                          const char *name);

/* How many times as fast as another strategy, or NAN when that is neither in
 * the table nor "nccl". */
double search_speedup_ratio(const struct search_comparison *table,
                            const struct search_compared *row,
                            const char *over);

/* An iteration of the case by a strategy of that name; its times, or NULL. */
const struct search_times *
search_times_of(const struct search_comparison *table,
                const struct search_case *of,
                const char *strategy);

/* Which of so many times is the median; of an even number the lower of both,
 * of equal ones the first. count >= 1. */
int search_median_index(const double *times_us, int count);

/* How much longer it takes than the fastest plan found, or than the bound. */
double search_gap_ratio(const struct search_compared *row, double than_us);

/* The rows that a mean or a count is over; NULL: of any. */
struct search_filter {
    const char *family;
    const char *cluster;
    const struct search_case *only;
};

bool search_filter_takes(const struct search_filter *filter,
                         const struct search_case *of);

/* Geometric mean of speedups, or NAN without rows. */
double search_mean_ratio(const struct search_comparison *table,
                         const struct search_filter *filter,
                         int strategy,
                         const char *over);

/* The interval of such a mean, or of the speedup of a filter's only case, over
 * the machines of --uncertainty; uncertainty.c. */
struct search_interval
search_mean_interval(const struct search_comparison *table,
                     const struct search_filter *filter,
                     int strategy,
                     const char *over);

/* Mean gap to the fastest plan found, or to the bound; NAN without rows. */
double search_mean_gap_ratio(const struct search_comparison *table,
                             int strategy,
                             bool to_bound);

/* Different families, or clusters of a family (NULL: of all), in the order of
 * the cases. Returns how many; names has room for as many as there are cases.
 */
int search_families(const struct search_comparison *table, const char **names);
int search_clusters(const struct search_comparison *table,
                    const struct search_filter *filter,
                    const char **names);

/* -- what was published: compare_claims.c -- */

/* A published range counts as met at this distance, too. */
extern const double search_near_ratio;

struct search_verdict {
    const struct model_claim *claim;
    double ratio;
    const char *word; /* "in"; "near": within search_near_ratio of it; "below",
                         "above" */
};

/*
 * Judge a row by a claim. false when the claim is about another strategy or
 * topology, when its other strategy is not in the table, or when the command
 * line changed the inputs: as published means unchanged.
 */
bool search_judge(const struct search_comparison *table,
                  const struct search_compared *row,
                  const struct model_claim *claim,
                  struct search_verdict *verdict);

/* The first verdict on a row over a strategy, or false. */
bool search_judge_over(const struct search_comparison *table,
                       const struct search_compared *row,
                       const char *over,
                       struct search_verdict *verdict);

/* The claims that judge rows of the filter, each range once. Returns how many;
 * claims has room for SEARCH_CLAIMS_MAX. */
enum { SEARCH_CLAIMS_MAX = 32 };
int search_claims(const struct search_comparison *table,
                  const struct search_filter *filter,
                  const struct model_claim **claims);

/* How rows fare by a claim, or by all (NULL). */
struct search_tally {
    int judged, in, near; /* near: in or near */
};

struct search_tally search_tally(const struct search_comparison *table,
                                 const struct search_filter *filter,
                                 const struct model_claim *claim);

/* Report claims about strategies that do not exist. */
enum model_status search_claims_check(struct search_comparison *table,
                                      const struct search_case *of);

/* -- words and forms -- */

/* "1.21 (1.15 to 1.26)"; returns buffer. */
enum { SEARCH_INTERVAL_WIDTH = 19 };
char *search_interval_print(double ratio,
                            const struct search_interval *interval,
                            char *buffer,
                            size_t buffer_bytes);

/* Lines that say why a row is outside its range; compare_reason.c. */
void search_reason_print(const struct search_comparison *table,
                         const struct search_compared *row,
                         const struct search_verdict *verdict);

/* Means, and what became of the claims; compare_means.c. */
void search_means_print(const struct search_comparison *table);

void search_comparison_text(const struct search_comparison *table);
void search_comparison_csv(const struct search_comparison *table);
enum model_status search_comparison_json(const struct search_comparison *table);

#endif
