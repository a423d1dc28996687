/*
 * compare_text.c - the speedup table as text.
 */
#include "search/uncertainty.h"

#include "build/version.h"
#include "sim/report.h"

#include <math.h>
#include <string.h>

enum { VERDICT_WIDTH = 11, RATIO_WIDTH = 5 }; /* "1.184 above", "1.184" */

/* What the columns need. */
struct layout {
    int topology, workload, strategy; /* widths */
    bool autoccl;                     /* speedups over it are known */
    bool judged;                      /* by something published; told here */
    bool families;                    /* have a heading each */
    bool trials;                      /* were made under noise */
    bool seeds;                       /* have a spread */
    bool sure;                        /* speedups have intervals */
};

static int wider(int width, const char *text)
{
    int length = (int)strlen(text);

    return length > width ? length : width;
}

static struct layout lay_out(const struct search_comparison *table)
{
    const struct search_filter all = {NULL, NULL, NULL};
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
    layout.trials = table->cli->options.trials > 0;
    layout.seeds = table->seeds > 1;
    layout.sure = table->uncertainty != NULL;
    layout.judged =
        !layout.trials && search_tally(table, &all, NULL).judged > 0;
    return layout;
}

/* Of a speedup with what stands beside it, at least. */
static int speedup_width(const struct layout *layout)
{
    int verdict = layout->judged ? VERDICT_WIDTH : 0;

    return layout->sure ? verdict + SEARCH_INTERVAL_WIDTH -
                              (layout->judged ? RATIO_WIDTH : 0)
                        : verdict;
}

static void print_header(const struct search_comparison *table,
                         const struct layout *layout)
{
    FILE *out = table->cli->out;

    int width = speedup_width(layout);

    (void)fprintf(out, "%-*s GPUs %-*s %-*s iteration ms %-*s",
                  layout->topology, "topology", layout->workload, "workload",
                  layout->strategy, "strategy", width, "vs nccl");
    if (layout->seeds) {
        (void)fprintf(out, " %9s", "seeds");
    }
    if (layout->autoccl) {
        (void)fprintf(out, " %-*s", width, "vs autoccl");
    }
    (void)fprintf(out, "%s evals\n",
                  layout->trials ? "     gap  found  loss: mean   worst"
                                 : " best    gap  bound");
}

char *search_interval_print(double ratio,
                            const struct search_interval *interval,
                            char *buffer,
                            size_t buffer_bytes)
{
    (void)snprintf(buffer, buffer_bytes, "%.2f (%.2f to %.2f)", ratio,
                   interval->low, interval->high);
    return buffer;
}

/* A speedup and how sure it is, with its verdict where there are verdicts. */
static void print_speedup(const struct search_comparison *table,
                          const struct search_compared *row,
                          const struct layout *layout,
                          const char *over,
                          int width)
{
    FILE *out = table->cli->out;
    const struct search_filter only = {NULL, NULL, row->of};
    struct search_verdict verdict;
    struct search_interval interval;
    double ratio = search_speedup_ratio(table, row, over);
    char text[64];

    if (layout->sure) {
        interval = search_mean_interval(table, &only,
                                        (int)(row - row->of->rows), over);
        (void)fprintf(
            out, " %*s", SEARCH_INTERVAL_WIDTH,
            search_interval_print(ratio, &interval, text, sizeof(text)));
    } else {
        (void)fprintf(out, " %*.3f", layout->judged ? RATIO_WIDTH : width,
                      ratio);
    }
    if (layout->judged) {
        (void)fprintf(
            out, " %-5s",
            search_judge_over(table, row, over, &verdict) ? verdict.word : "");
    }
}

/* The least and the most speedup over NCCL. */
static void print_spread(FILE *out, const struct search_compared *row)
{
    if (row->spread.count > 1) {
        (void)fprintf(out, " %4.2f-%4.2f",
                      row->of->nccl_us / row->spread.max_us,
                      row->of->nccl_us / row->spread.min_us);
    } else {
        (void)fprintf(out, " %9s", "");
    }
}

/* What no plan beats, and how far it is. */
static void print_bound(FILE *out, const struct search_compared *row)
{
    const struct search_case *of = row->of;

    if (of->bound_us > 0.0) {
        (void)fprintf(out, " %4.2f %5.2f%% %5.2f%%", of->nccl_us / of->bound_us,
                      100.0 * search_gap_ratio(row, of->best_us),
                      100.0 * search_gap_ratio(row, of->bound_us));
    } else {
        (void)fprintf(out, " %4s %5.2f%% %6s", "-",
                      100.0 * search_gap_ratio(row, of->best_us), "-");
    }
}

/* "-0.0" is none. */
static double percent(double ratio)
{
    return fabs(ratio) < 0.00005 ? 0.0 : 100.0 * ratio;
}

static void print_trials(FILE *out, const struct search_compared *row)
{
    const struct search_trials *trials = &row->tuned.trials;

    (void)fprintf(out, " %6.2f%% %6d %10.2f%% %6.2f%%",
                  100.0 * search_gap_ratio(row, row->of->best_us),
                  trials->found, percent(trials->mean_loss_ratio),
                  percent(trials->worst_loss_ratio));
}

static void print_row(const struct search_comparison *table,
                      const struct search_compared *row,
                      const struct layout *layout)
{
    const struct search_case *of = row->of;
    FILE *out = table->cli->out;

    (void)fprintf(out, "%-*s %4d %-*s %-*s %12.3f", layout->topology,
                  of->input.topology.name,
                  model_topology_rank_count(&of->input.topology),
                  layout->workload, of->input.workload.name, layout->strategy,
                  row->strategy->name, row->tuned.times.iteration_us / 1000.0);
    print_speedup(table, row, layout, "nccl", 7);
    if (layout->seeds) {
        print_spread(out, row);
    }
    if (layout->autoccl) {
        print_speedup(table, row, layout, "autoccl", 10);
    }
    if (layout->trials) {
        print_trials(out, row);
    } else {
        print_bound(out, row);
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

static void print_seeds(const struct search_comparison *table)
{
    if (table->seeds > 1) {
        (void)fprintf(table->cli->out,
                      "%d seeds where %s: the run with the median iteration, "
                      "and speedups over nccl of all\n",
                      table->seeds,
                      table->noise_ratio > 0.0 ? "there is noise"
                                               : "a strategy draws at random");
    }
}

static void print_noise(const struct search_comparison *table)
{
    const struct sim_options *options = &table->cli->options;

    if (!(table->noise_ratio > 0.0)) {
        return;
    }
    (void)fprintf(table->cli->out, "noise of %g %%, ",
                  100.0 * table->noise_ratio);
    if (options->repeats > 1) {
        (void)fprintf(table->cli->out, "%d measurements for an evaluation, ",
                      (int)options->repeats);
    }
    if (options->trials > 0) {
        (void)fprintf(
            table->cli->out,
            "found in so many of %d trials: what the search finds without, "
            "or at most %g %% slower;\n  ",
            (int)options->trials, 100.0 * SEARCH_AS_GOOD);
    }
    (void)fputs("all times shown are without noise\n", table->cli->out);
}

static void print_uncertainty(const struct search_comparison *table)
{
    const struct search_uncertainty *found = table->uncertainty;
    FILE *out = table->cli->out;

    if (found == NULL) {
        return;
    }
    (void)fprintf(
        out, "(low to high): %s of %d machines drawn by the covariance of ",
        found->machines - found->left_out < SEARCH_MACHINES_SURE
            ? "the least and the most"
            : "95 %",
        found->machines);
    model_text_print(table->cli->params->file, out);
    (void)fputs(",\n  each searched anew", out);
    if (found->left_out > 0) {
        (void)fprintf(out, "; %d of them cannot be and are left out",
                      found->left_out);
    }
    (void)fputc('\n', out);
}

void search_comparison_text(const struct search_comparison *table)
{
    struct layout layout = lay_out(table);
    FILE *out = table->cli->out;

    print_header(table, &layout);
    print_rows(table, &layout);
    search_means_print(table);
    (void)fputc('\n', out);
    if (table->evaluator->measures) {
        (void)fprintf(out, "all times are measured: %s\n",
                      table->evaluator->summary);
    } else if (table->evaluator != &search_evaluators[0]) {
        (void)fprintf(out, "searched by the %s: %s; all times are simulated\n",
                      table->evaluator->name, table->evaluator->summary);
    }
    print_noise(table);
    print_seeds(table);
    print_uncertainty(table);
    for (int i = 0; i < table->strategy_count; i++) {
        if (table->budgets[i] > 0) {
            (void)fprintf(out, "%s: at a budget of %llu iterations measured\n",
                          table->strategies[i]->name,
                          (unsigned long long)table->budgets[i]);
        }
    }
    print_topologies(table);
    (void)fprintf(out, "lagom %s, seed %llu\n", LAGOM_VERSION,
                  (unsigned long long)table->cli->options.seed);
    sim_report_overrides(table->cli, "");
}
