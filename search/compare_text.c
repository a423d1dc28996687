/*
 * compare_text.c - the speedup table as text.
 */
#include "search/compare.h"

#include "build/version.h"
#include "sim/report.h"

#include <string.h>

/* What the columns need. */
struct layout {
    int topology, workload, strategy; /* widths */
    bool autoccl;                     /* speedups over it are known */
    bool judged;                      /* by something published */
    bool families;                    /* have a heading each */
};

static int wider(int width, const char *text)
{
    int length = (int)strlen(text);

    return length > width ? length : width;
}

static struct layout lay_out(const struct search_comparison *table)
{
    const struct search_filter all = {NULL, NULL};
    struct layout layout = {.topology = 8, .workload = 8, .strategy = 8};

    for (int i = 0; i < table->case_count; i++) {
        const struct search_case *of = table->cases[i];

        layout.topology = wider(layout.topology, of->input.topology.name);
        layout.workload = wider(layout.workload, of->input.workload.name);
        layout.families |= strcmp(of->family, table->cases[0]->family) != 0;
    }
    for (int i = 0; i < table->strategy_count; i++) {
        layout.strategy = wider(layout.strategy, table->strategies[i]->name);
    }
    layout.autoccl = search_strategy_index(table, "autoccl") >= 0;
    layout.judged = search_tally(table, &all, NULL).judged > 0;
    return layout;
}

static void print_header(const struct search_comparison *table,
                         const struct layout *layout)
{
    FILE *out = table->cli->out;

    (void)fprintf(out, "%-*s GPUs  %-*s  %-*s iteration ms vs nccl%s",
                  layout->topology, "topology", layout->workload, "workload",
                  layout->strategy, "strategy", layout->judged ? "      " : "");
    if (layout->autoccl) {
        (void)fprintf(out, " vs autoccl%s", layout->judged ? "      " : "");
    }
    (void)fputs("  best     gap   bound evals\n", out);
}

/* A speedup, with its verdict where there are verdicts. */
static void print_speedup(const struct search_comparison *table,
                          const struct search_compared *row,
                          const struct layout *layout,
                          const char *over,
                          int width)
{
    FILE *out = table->cli->out;
    struct search_verdict verdict;

    (void)fprintf(out, " %*.3f", width, search_speedup_ratio(table, row, over));
    if (layout->judged) {
        (void)fprintf(
            out, " %-5s",
            search_judge_over(table, row, over, &verdict) ? verdict.word : "");
    }
}

static void print_row(const struct search_comparison *table,
                      const struct search_compared *row,
                      const struct layout *layout)
{
    const struct search_case *of = row->of;
    FILE *out = table->cli->out;

    (void)fprintf(out, "%-*s %4d  %-*s  %-*s %12.3f", layout->topology,
                  of->input.topology.name,
                  model_topology_rank_count(&of->input.topology),
                  layout->workload, of->input.workload.name, layout->strategy,
                  row->strategy->name, row->tuned.times.iteration_us / 1000.0);
    print_speedup(table, row, layout, "nccl", 7);
    if (layout->autoccl) {
        print_speedup(table, row, layout, "autoccl", 10);
    }
    if (of->bound_us > 0.0) {
        (void)fprintf(out, " %5.2f", of->nccl_us / of->bound_us);
    } else {
        (void)fprintf(out, " %5s", "-");
    }
    (void)fprintf(out, " %6.2f%%", 100.0 * search_gap_ratio(row, of->best_us));
    if (of->bound_us > 0.0) {
        (void)fprintf(out, " %6.2f%%",
                      100.0 * search_gap_ratio(row, of->bound_us));
    } else {
        (void)fprintf(out, " %7s", "-");
    }
    (void)fprintf(out, " %5d\n", row->tuned.outcome.evaluations);
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

static void print_rows(const struct search_comparison *table,
                       const struct layout *layout)
{
    for (int i = 0; i < table->case_count; i++) {
        const struct search_case *of = table->cases[i];

        if (layout->families &&
            (i == 0 || strcmp(of->family, table->cases[i - 1]->family) != 0)) {
            (void)fprintf(table->cli->out, "-- %s\n", of->family);
        }
        for (int s = 0; s < table->strategy_count; s++) {
            print_row(table, &of->rows[s], layout);
            if (table->cli->options.verbose) {
                print_plan(table->cli->out, &of->rows[s]);
            }
        }
    }
}

/* Each topology's NCCL, and how many of its numbers are guesses; once. */
static void print_topologies(const struct search_comparison *table)
{
    char text[128];

    for (int i = 0; i < table->case_count; i++) {
        const struct sim_input *input = &table->cases[i]->input;
        bool known = false;

        for (int j = 0; j < i && !known; j++) {
            known = strcmp(table->cases[j]->input.topology.name,
                           input->topology.name) == 0;
        }
        if (!known) {
            (void)fprintf(
                table->cli->out, "%s: NCCL %s; %s\n", input->topology.name,
                sim_report_nccl(table->cli->arena, &input->nccl),
                sim_report_guesses(&input->topology, text, sizeof(text)));
        }
    }
}

void search_comparison_text(const struct search_comparison *table)
{
    struct layout layout = lay_out(table);
    FILE *out = table->cli->out;

    print_header(table, &layout);
    print_rows(table, &layout);
    search_means_print(table);
    (void)fputc('\n', out);
    if (table->evaluator != &search_evaluators[0]) {
        (void)fprintf(out, "searched by the %s: %s; all times are simulated\n",
                      table->evaluator->name, table->evaluator->summary);
    }
    print_topologies(table);
    (void)fprintf(out, "lagom %s, seed %llu\n", LAGOM_VERSION,
                  (unsigned long long)table->cli->options.seed);
    sim_report_overrides(table->cli, "");
}
