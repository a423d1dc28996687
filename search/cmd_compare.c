/*
 * cmd_compare.c - `lagom compare`: the speedup table.
 *
 * Every topology with every workload, under every strategy; beside the
 * speedup over NCCL stands the range that the workload's file quotes as
 * published for Lagom, and whether the result lies in it.
 */
#include "search/compare.h"

#include "build/version.h"
#include "search/bound.h"
#include "sim/report.h"

#include <math.h>
#include <string.h>

enum { SUMMARY_MAX = 256 };

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

/* Over the last rows, which are one input's; NCCL's plan counts, listed or
 * not. */
static void find_best(struct search_comparison *table)
{
    struct search_compared *rows =
        &table->rows[table->row_count - table->strategy_count];
    double best_us = rows[0].tuned.nccl_us;

    for (int i = 0; i < table->strategy_count; i++) {
        best_us = fmin(best_us, rows[i].tuned.outcome.iteration_us);
    }
    for (int i = 0; i < table->strategy_count; i++) {
        rows[i].best_us = best_us;
    }
}

double search_compared_gap_ratio(const struct search_compared *row,
                                 double than_us)
{
    return row->tuned.outcome.iteration_us / than_us - 1.0;
}

/* All strategies on one input; speedups are over NCCL, tuned or not. */
static enum model_status compare_input(struct search_comparison *table,
                                       const struct sim_input *input)
{
    enum model_status status = MODEL_OK;
    for (int i = 0; status == MODEL_OK && i < table->strategy_count; i++) {
        struct search_compared *row = &table->rows[table->row_count];

        row->input = input;
        row->strategy = table->strategies[i];
        status = search_tune(table->cli, input, row->strategy, &row->tuned);
        if (status == MODEL_OK) {
            row->speedup = row->tuned.nccl_us / row->tuned.outcome.iteration_us;
            row->bound_us =
                search_bound_us(table->cli->arena, &row->tuned.problem);
            table->row_count++;
        }
    }
    if (status == MODEL_OK) {
        find_best(table);
    }
    return status;
}

static enum model_status compare_all(struct search_comparison *table)
{
    struct sim_cli *cli = table->cli;
    const struct sim_options *options = &cli->options;

    table->rows = model_arena_array(cli->arena,
                                    (size_t)options->topologies.count *
                                        (size_t)options->workloads.count *
                                        (size_t)table->strategy_count,
                                    sizeof(*table->rows));
    for (int t = 0; t < options->topologies.count; t++) {
        for (int w = 0; w < options->workloads.count; w++) {
            struct sim_input *input =
                model_arena_alloc(cli->arena, sizeof(*input));
            enum model_status status =
                sim_load(cli, options->topologies.items[t],
                         options->workloads.items[w], input);

            if (status == MODEL_OK) {
                status = compare_input(table, input);
            }
            if (status != MODEL_OK) {
                return status;
            }
        }
    }
    return MODEL_OK;
}

/* -- text -- */

const struct model_published *
search_compared_published(const struct search_comparison *table,
                          const struct search_compared *row)
{
    const struct model_published *published = &row->input->workload.published;
    const char *const *names = published->topologies.items;

    if (sim_report_is_changed(table->cli) ||
        strcmp(row->strategy->name, "lagom") != 0) {
        return NULL;
    }
    for (int i = 0; i < published->topologies.count; i++) {
        if (strcmp(names[i], row->input->topology.name) == 0) {
            return published;
        }
    }
    return NULL;
}

/* "below", "in", "above" the published range, or "" where there is none. */
static const char *verdict(const struct search_comparison *table,
                           const struct search_compared *row)
{
    const struct model_published *published =
        search_compared_published(table, row);

    if (published == NULL) {
        return "";
    }
    if (row->speedup < published->min_ratio) {
        return "below";
    }
    return row->speedup > published->max_ratio ? "above" : "in";
}

static int longest(const struct search_comparison *table, bool workloads)
{
    size_t longest = 8;

    for (int i = 0; i < table->row_count; i++) {
        const struct sim_input *input = table->rows[i].input;
        size_t length =
            strlen(workloads ? input->workload.name : input->topology.name);

        longest = length > longest ? length : longest;
    }
    return (int)longest;
}

/* Over NCCL, whatever the settings; "-" without kernels to bound it. */
static const char *best_speedup(const struct search_compared *row,
                                char *buffer,
                                size_t buffer_bytes)
{
    if (!(row->bound_us > 0.0)) {
        return "-";
    }
    (void)snprintf(buffer, buffer_bytes, "%.2f",
                   row->tuned.nccl_us / row->bound_us);
    return buffer;
}

static void print_row(const struct search_comparison *table,
                      const struct search_compared *row)
{
    char best[32];
    const struct model_published *published =
        search_compared_published(table, row);
    FILE *out = table->cli->out;

    (void)fprintf(out, "%-*s %6d  %-*s  %-8s %12.3f %8.3f %6s %6.2f%% %6d",
                  longest(table, false), row->input->topology.name,
                  model_topology_rank_count(&row->input->topology),
                  longest(table, true), row->input->workload.name,
                  row->strategy->name, row->tuned.outcome.iteration_us / 1000.0,
                  row->speedup, best_speedup(row, best, sizeof(best)),
                  100.0 * search_compared_gap_ratio(row, row->best_us),
                  row->tuned.outcome.evaluations);
    if (published != NULL) {
        (void)fprintf(out, "  %.2f-%.2f  %s", published->min_ratio,
                      published->max_ratio, verdict(table, row));
    }
    (void)fputc('\n', out);
}

static void print_plan(FILE *out, const struct search_compared *row)
{
    for (int i = 0; i < row->tuned.problem.class_count; i++) {
        const struct search_class *part = &row->tuned.problem.classes[i];
        char size[32];
        char config[96];

        (void)fprintf(
            out, "    %-10s %-14s %-12s %s\n",
            part->window != NULL ? part->window : "-",
            model_op_names[part->kind],
            model_units_print(part->bytes, MODEL_BYTES, size, sizeof(size)),
            model_config_print(&row->tuned.outcome.configs[i], config,
                               sizeof(config)));
    }
}

/* Geometric mean over the rows of a strategy. */
static double mean_speedup(const struct search_comparison *table,
                           const struct search_strategy *strategy)
{
    double sum = 0.0;
    int count = 0;

    for (int i = 0; i < table->row_count; i++) {
        if (table->rows[i].strategy == strategy) {
            sum += log(table->rows[i].speedup);
            count++;
        }
    }
    return count > 0 ? exp(sum / count) : 0.0;
}

/* The means of a strategy's gaps, or NAN where no row has one. */
static double mean_gap(const struct search_comparison *table,
                       const struct search_strategy *strategy,
                       bool to_bound)
{
    double sum = 0.0;
    int count = 0;

    for (int i = 0; i < table->row_count; i++) {
        const struct search_compared *row = &table->rows[i];
        double than_us = to_bound ? row->bound_us : row->best_us;

        if (row->strategy == strategy && than_us > 0.0) {
            sum += search_compared_gap_ratio(row, than_us);
            count++;
        }
    }
    return count > 0 ? sum / count : (double)NAN;
}

static void print_gaps(const struct search_comparison *table,
                       const char *title,
                       bool to_bound)
{
    FILE *out = table->cli->out;

    if (isnan(mean_gap(table, table->strategies[0], to_bound))) {
        return;
    }
    (void)fprintf(out, "%s:", title);
    for (int i = 0; i < table->strategy_count; i++) {
        (void)fprintf(out, " %s %.2f%%", table->strategies[i]->name,
                      100.0 * mean_gap(table, table->strategies[i], to_bound));
    }
    (void)fputc('\n', out);
}

static void print_outside(FILE *out, const struct search_comparison *table)
{
    int outside = 0;
    int judged = 0;

    for (int i = 0; i < table->row_count; i++) {
        const char *word = verdict(table, &table->rows[i]);

        judged += word[0] != '\0' ? 1 : 0;
        if (strcmp(word, "below") == 0 || strcmp(word, "above") == 0) {
            (void)fprintf(out, "%s published range: %s, %s: %.3f\n", word,
                          table->rows[i].input->topology.name,
                          table->rows[i].input->workload.name,
                          table->rows[i].speedup);
            outside++;
        }
    }
    if (judged > 0) {
        (void)fprintf(out, "%d of %d rows lie in the published range\n",
                      judged - outside, judged);
    }
}

static void print_text(const struct search_comparison *table)
{
    FILE *out = table->cli->out;
    char text[128];

    (void)fprintf(out,
                  "%-*s   GPUs  %-*s  strategy iteration ms  speedup   best "
                  "    gap  evals  published\n",
                  longest(table, false), "topology", longest(table, true),
                  "workload");
    for (int i = 0; i < table->row_count; i++) {
        print_row(table, &table->rows[i]);
        if (table->cli->options.verbose) {
            print_plan(out, &table->rows[i]);
        }
    }
    (void)fputs("\ngeometric mean over NCCL:", out);
    for (int i = 0; i < table->strategy_count; i++) {
        (void)fprintf(out, " %s %.3f", table->strategies[i]->name,
                      mean_speedup(table, table->strategies[i]));
    }
    (void)fputc('\n', out);
    print_gaps(table, "mean gap to the fastest plan found", false);
    print_gaps(table, "mean gap to the bound", true);
    print_outside(out, table);
    if (table->evaluator != &search_evaluators[0]) {
        (void)fprintf(out, "searched by the %s: %s; all times are simulated\n",
                      table->evaluator->name, table->evaluator->summary);
    }
    for (int i = 0; i < table->row_count; i += table->strategy_count) {
        const struct model_topology *topology = &table->rows[i].input->topology;

        if (i == 0 ||
            topology->label != table->rows[i - 1].input->topology.label) {
            (void)fprintf(
                out, "%s: NCCL %s; %s\n", topology->name,
                sim_report_nccl(table->cli->arena, &table->rows[i].input->nccl),
                sim_report_guesses(topology, text, sizeof(text)));
        }
    }
    (void)fprintf(out, "lagom %s, seed %llu\n", LAGOM_VERSION,
                  (unsigned long long)table->cli->options.seed);
    sim_report_overrides(table->cli, "");
}

enum model_status search_command_compare(struct sim_cli *cli)
{
    struct search_comparison table = {.cli = cli};
    enum model_status status = sim_load_check(cli, false);

    if (status == MODEL_OK) {
        status = read_strategies(&table);
    }
    if (status == MODEL_OK) {
        status = compare_all(&table);
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
        print_text(&table);
        break;
    }
    return MODEL_OK;
}
