/*
 * perf.h - a collective over sizes, as nccl-tests measures it.
 *
 * What nccl-tests call size, count, algbw and busbw is theirs (common.cu and
 * the files of each collective, github.com/NVIDIA/nccl-tests): n ranks,
 * elements of E bytes, a size S that the user asks for:
 *
 *     kind                                  count C           size     algbw
 *     all_reduce broadcast reduce sendrecv  S/E               C E      C E / t
 *     all_gather reduce_scatter alltoall    S/E/n in 16 B     n C E    n C E /
 * t
 *
 * busbw is algbw times the factor of collective.h.
 */
#ifndef SEARCH_PERF_H
#define SEARCH_PERF_H

#include "search/tuned.h"

/* Iterations that nccl-tests take the mean of, where nobody asks for others. */
enum { SEARCH_PERF_REPEATS = 20 };

/* How a collective fills the columns. */
struct search_perf_kind {
    const char *name; /* of nccl-tests' program, without _perf */
    int op;           /* enum model_op_kind */
    bool divided;     /* the count is a rank's part */
    bool reduces;     /* a reduction is named */
    bool rooted;      /* a root is named */
};

struct search_perf_row {
    int64_t size_bytes, count;
    double time_us; /* 0: nothing to move */
    double algbw_bytes_per_us, busbw_bytes_per_us;
    struct model_config config; /* unset where nothing moves */
};

struct search_perf {
    const struct search_perf_kind *kind;
    const struct model_topology *topology;
    const char *nccl_release;
    const char *type;      /* of elements */
    const char *reduction; /* "sum" */
    int64_t type_bytes;
    int64_t min_bytes, max_bytes;
    int64_t step_factor, step_bytes; /* one of them is 0 */
    int nodes, gpus_per_node;        /* that take part */
    struct search_perf_row *rows;
    int row_count;
    double mean_busbw_bytes_per_us; /* nothing moved counts as 0 */
    uint64_t fingerprint;
};

/* Read what the options say of sizes, type and reduction; *perf begins as 0. */
enum model_status search_perf_options(struct sim_cli *cli,
                                      struct search_perf *perf);

/* "8" or "2x4"; the second number is 0 when there is one alone. */
bool search_perf_parse_ranks(const char *text, long *first, long *second);

/*
 * Read --ranks for a topology: "N", nodes filled in order, or "NODESxN". Sets
 * perf->nodes and gpus_per_node.
 */
enum model_status search_perf_ranks(struct sim_cli *cli,
                                    const struct model_topology *topology,
                                    struct search_perf *perf);

/* Print in the format asked for. */
enum model_status search_perf_print(struct sim_cli *cli,
                                    const struct search_perf *perf);

#endif
