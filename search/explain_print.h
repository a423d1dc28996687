/*
 * explain_print.h - an explanation as text, JSON or CSV (internal to the
 * command).
 */
#ifndef SEARCH_EXPLAIN_PRINT_H
#define SEARCH_EXPLAIN_PRINT_H

#include "search/explain.h"
#include "sim/cli.h"

/* Sentences. */
void search_explain_text(struct sim_cli *cli,
                         const struct search_explanation *it);

/* The same as data: names of numbers carry their units. */
enum model_status search_explain_json(struct sim_cli *cli,
                                      const struct search_explanation *it);

/* One row per window. */
void search_explain_csv(struct sim_cli *cli,
                        const struct search_explanation *it);

#endif
