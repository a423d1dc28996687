/*
 * cmd_compare.c - `lagom compare`: the speedup table.
 *
 * Topologies with workloads, under every strategy; beside the speedups stands
 * what the workload's file quotes as published.
 */
#include "search/compare.h"

#include "search/bound.h"

#include <string.h>

/* The names of those that the table compares by itself. */
static const char *usual_strategies(struct model_arena *arena)
{
    const char *text = "";

    for (int i = 0; search_strategies[i].name != NULL; i++) {
        if (search_strategies[i].compared) {
            text = model_arena_format(arena, "%s%s%s", text,
                                      text[0] != '\0' ? "," : "",
                                      search_strategies[i].name);
        }
    }
    return text;
}

/* Which strategies to compare, and by what they measure. */
static enum model_status read_strategies(struct search_comparison *table)
{
    const char *text = table->cli->options.strategies != NULL
                           ? table->cli->options.strategies
                           : usual_strategies(table->cli->arena);
    char *copy = model_arena_text(table->cli->arena, text);
    char *state = NULL;

    table->evaluator = search_evaluator_find(table->cli->options.evaluator,
                                             table->cli->errors);
    if (table->evaluator == NULL) {
        return MODEL_USAGE;
    }
    for (char *name = strtok_r(copy, ",", &state); name != NULL;
         name = strtok_r(NULL, ",", &state)) {
        const struct search_strategy *strategy =
            search_strategy_find(name, table->cli->errors);

        if (strategy == NULL) {
            return MODEL_USAGE;
        }
        if (table->strategy_count == SEARCH_COMPARED_MAX) {
            return model_errors_add(table->cli->errors, MODEL_USAGE,
                                    (struct model_place){"lagom", 0, 0}, NULL,
                                    "name each once", "too many strategies");
        }
        table->strategies[table->strategy_count++] = strategy;
    }
    return table->strategy_count > 0
               ? MODEL_OK
               : model_errors_add(table->cli->errors, MODEL_USAGE,
                                  (struct model_place){"lagom", 0, 0}, NULL,
                                  "write --strategies nccl,lagom",
                                  "no strategy given");
}

/* What the rows of a case have in common. */
static void sum_up(struct model_arena *arena,
                   const struct search_comparison *table,
                   struct search_case *of)
{
    of->nccl_us = of->rows[0].tuned.nccl_us;
    of->bound_us = search_bound_us(arena, &of->rows[0].tuned.problem);
    of->best_us = of->nccl_us;
    for (int i = 0; i < table->strategy_count; i++) {
        double time_us = of->rows[i].tuned.times.iteration_us;

        if (time_us < of->best_us ||
            (of->best == NULL && i == search_strategy_index(table, "nccl"))) {
            of->best_us = time_us;
            of->best = &of->rows[i];
        }
    }
}

static enum model_status compare_case(struct search_comparison *table,
                                      struct search_case *of)
{
    enum model_status status = MODEL_OK;

    for (int i = 0; status == MODEL_OK && i < table->strategy_count; i++) {
        status = search_tune(table->cli, &of->input, table->strategies[i],
                             &of->rows[i].tuned);
    }
    if (status == MODEL_OK) {
        sum_up(table->cli->arena, table, of);
    }
    return status;
}

enum model_status search_command_compare(struct sim_cli *cli)
{
    struct search_comparison table = {.cli = cli};
    enum model_status status =
        cli->options.published ? MODEL_OK : sim_load_check(cli, false);

    if (status == MODEL_OK) {
        status = read_strategies(&table);
    }
    if (status == MODEL_OK) {
        status = search_cases_load(&table);
    }
    for (int i = 0; status == MODEL_OK && i < table.case_count; i++) {
        status = compare_case(&table, table.cases[i]);
    }
    if (status != MODEL_OK) {
        return status;
    }
    switch ((enum sim_format)cli->options.format) {
    case SIM_JSON:
        return search_comparison_json(&table);
    case SIM_CSV:
        search_comparison_csv(&table);
        break;
    case SIM_TEXT:
        search_comparison_text(&table);
        break;
    }
    return MODEL_OK;
}
