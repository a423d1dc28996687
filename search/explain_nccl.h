/*
 * explain_nccl.h - `lagom explain --nccl`: why NCCL chooses what it chooses.
 */
#ifndef SEARCH_EXPLAIN_NCCL_H
#define SEARCH_EXPLAIN_NCCL_H

#include "search/nccl_rows.h"
#include "sim/load.h"

/*
 * Prints, for each communicator, the graphs that NCCL finds and the channels
 * that it makes of them; for each different collective, all pairs of algorithm
 * and protocol with the time that NCCL's model gives them, or why they are off,
 * and how channels, threads and chunk come about.
 */
enum model_status search_explain_nccl(struct sim_cli *cli,
                                      const struct sim_input *input);

/* The same as data: a row of CSV per candidate. */
enum model_status search_explain_nccl_json(struct sim_cli *cli,
                                           const struct sim_input *input,
                                           const struct search_nccl_rows *rows);
void search_explain_nccl_csv(struct sim_cli *cli,
                             const struct search_nccl_rows *rows);

#endif
