/*
 * cmd_compare.c - `lagom compare`: the speedup table.
 *
 * Topologies with workloads, under every strategy; beside the speedups stands
 * what the workload's file quotes as published.
 */
#include "search/uncertainty.h"

#include <stdlib.h>
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

/* Take the budget off "oracle:200". */
static enum model_status
read_budget(struct sim_cli *cli, char *name, uint64_t *budget)
{
    char *colon = strchr(name, ':');
    char *end;

    *budget = 0;
    if (colon == NULL) {
        return MODEL_OK;
    }
    *budget = strtoull(colon + 1, &end, 10);
    if (colon[1] < '0' || colon[1] > '9' || *end != '\0' || *budget == 0 ||
        *budget > SEARCH_BUDGET_MAX) {
        return model_errors_add(
            cli->errors, MODEL_USAGE, (struct model_place){"lagom", 0, 0}, NULL,
            "write oracle:200, in iterations measured, at most 100000",
            "no such budget: %s", name);
    }
    *colon = '\0';
    return MODEL_OK;
}

/* --seeds. Trials are runs of their own, beside one without noise. */
static enum model_status read_seeds(struct search_comparison *table)
{
    const struct sim_options *options = &table->cli->options;
    struct model_place place = {"lagom", 0, 0};

    if (options->seeds > SEARCH_SEEDS_MAX) {
        return model_errors_add(table->cli->errors, MODEL_USAGE, place,
                                "--seeds", "write up to 100", "too many seeds");
    }
    if (options->seeds > 1 && options->trials > 0) {
        return model_errors_add(table->cli->errors, MODEL_USAGE, place,
                                "--seeds", "leave --trials out",
                                "trials differ in their noise already");
    }
    if (options->seeds > 1 && options->seed > INT64_MAX - SEARCH_SEEDS_MAX) {
        return model_errors_add(table->cli->errors, MODEL_USAGE, place,
                                "--seed", "write a smaller one",
                                "so large a seed has too few after it");
    }
    table->seeds = options->seeds > 0 ? (int)options->seeds : 1;
    return MODEL_OK;
}

/* The next of the list, with its budget. */
static const struct search_strategy *
read_entry(struct sim_cli *cli, char *name, uint64_t *budget)
{
    const struct search_strategy *strategy =
        read_budget(cli, name, budget) == MODEL_OK
            ? search_strategy_find(name, cli->errors)
            : NULL;

    if (strategy != NULL && *budget > 0 &&
        (strategy->find == search_find_nccl ||
         strategy->find == search_find_lagom)) {
        (void)model_errors_add(
            cli->errors, MODEL_USAGE, (struct model_place){"lagom", 0, 0}, NULL,
            model_arena_format(cli->arena, "write %s alone", name),
            "no budget for %s: it ends by itself", name);
        return NULL;
    }
    return strategy;
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
    if (table->evaluator == NULL ||
        search_tune_check(table->cli, &table->noise_ratio) != MODEL_OK ||
        read_seeds(table) != MODEL_OK ||
        search_uncertainty_check(table) != MODEL_OK) {
        return MODEL_USAGE;
    }
    for (char *name = strtok_r(copy, ",", &state); name != NULL;
         name = strtok_r(NULL, ",", &state)) {
        uint64_t budget;
        const struct search_strategy *strategy =
            read_entry(table->cli, name, &budget);

        if (strategy == NULL) {
            return MODEL_USAGE;
        }
        if (table->strategy_count == SEARCH_COMPARED_MAX) {
            return model_errors_add(table->cli->errors, MODEL_USAGE,
                                    (struct model_place){"lagom", 0, 0}, NULL,
                                    "name each once", "too many strategies");
        }
        table->budgets[table->strategy_count] = budget;
        table->strategies[table->strategy_count++] = strategy;
    }
    return table->strategy_count > 0
               ? MODEL_OK
               : model_errors_add(table->cli->errors, MODEL_USAGE,
                                  (struct model_place){"lagom", 0, 0}, NULL,
                                  "write --strategies nccl,lagom",
                                  "no strategy given");
}

static enum model_status print(const struct search_comparison *table)
{
    switch ((enum sim_format)table->cli->options.format) {
    case SIM_JSON:
        return search_comparison_json(table);
    case SIM_CSV:
        search_comparison_csv(table);
        break;
    case SIM_TEXT:
        search_comparison_text(table);
        break;
    }
    return MODEL_OK;
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
    if (status == MODEL_OK) {
        status = search_cases_run(&table);
    }
    if (status == MODEL_OK) {
        status = search_uncertainty_run(&table);
    }
    if (status == MODEL_OK) {
        status = print(&table);
    }
    search_cases_free(&table);
    return status;
}
