/*
 * compare_data.c - the speedup table as CSV and JSON.
 */
#include "search/uncertainty.h"

#include "build/version.h"
#include "sim/csv.h"
#include "sim/json.h"
#include "sim/report.h"

#include <math.h>
#include <string.h>

/* -- CSV -- */

/* A number as a cell with its comma; none for NAN. */
static void put_cell(FILE *out, double value)
{
    if (isnan(value)) {
        (void)fputc(',', out);
    } else {
        (void)fprintf(out, "%.6f,", value);
    }
}

/* The published range over a strategy, and the verdict by it. */
static void put_verdict(const struct search_comparison *table,
                        const struct search_compared *row,
                        const char *over)
{
    FILE *out = table->cli->out;
    struct search_verdict verdict;

    if (search_judge_over(table, row, over, &verdict)) {
        (void)fprintf(out, "%.2f,%.2f,%s,", verdict.claim->min_ratio,
                      verdict.claim->max_ratio, verdict.word);
    } else {
        (void)fputs(",,,", out);
    }
}

static double gap_to_bound(const struct search_compared *row)
{
    return row->of->bound_us > 0.0 ? search_gap_ratio(row, row->of->bound_us)
                                   : (double)NAN;
}

static void put_trials(FILE *out, const struct search_trials *trials)
{
    if (trials->count > 0) {
        (void)fprintf(out, "%d,%d,", trials->count, trials->found);
        put_cell(out, trials->mean_loss_ratio);
        put_cell(out, trials->worst_loss_ratio);
    } else {
        (void)fputs(",,,,", out);
    }
}

/* Least, median and most speedup over NCCL, where there are several. */
static void put_spread(FILE *out, const struct search_compared *row)
{
    const struct search_spread *spread = &row->spread;

    if (spread->count > 1) {
        (void)fprintf(out, "%d,%llu,", spread->count,
                      (unsigned long long)spread->seed);
        put_cell(out, row->of->nccl_us / spread->max_us);
        put_cell(out, row->of->nccl_us / row->tuned.times.iteration_us);
        put_cell(out, row->of->nccl_us / spread->min_us);
    } else {
        (void)fputs(",,,,,", out);
    }
}

/* The ends of a speedup's interval, where machines were drawn. */
static struct search_interval interval_of(const struct search_comparison *table,
                                          const struct search_compared *row,
                                          const char *over)
{
    const struct search_filter only = {NULL, NULL, row->of};

    return search_mean_interval(table, &only, (int)(row - row->of->rows), over);
}

static void put_interval(const struct search_comparison *table,
                         const struct search_compared *row,
                         const char *over)
{
    struct search_interval interval = interval_of(table, row, over);

    put_cell(table->cli->out, interval.low);
    put_cell(table->cli->out, interval.high);
}

static void put_row(const struct search_comparison *table,
                    const struct search_compared *row)
{
    const struct search_case *of = row->of;
    const struct search_times *times = &row->tuned.times;
    FILE *out = table->cli->out;

    sim_csv_text(out, of->input.topology.name);
    sim_csv_text(out, of->input.workload.name);
    sim_csv_text(out, row->strategy->name);
    put_cell(out, times->iteration_us);
    put_cell(out, search_speedup_ratio(table, row, "nccl"));
    (void)fprintf(out, "%d,", row->tuned.outcome.evaluations);
    put_verdict(table, row, "nccl");
    put_cell(out, search_speedup_ratio(table, row, "autoccl"));
    put_verdict(table, row, "autoccl");
    put_cell(out, of->bound_us);
    put_cell(out, search_gap_ratio(row, of->best_us));
    put_cell(out, gap_to_bound(row));
    put_cell(out, times->compute_us);
    put_cell(out, times->comm_us);
    put_cell(out, times->exposed_us);
    sim_csv_text(out, of->family);
    sim_csv_text(out, of->cluster);
    (void)fprintf(out, "%d,", model_topology_rank_count(&of->input.topology));
    put_trials(out, &row->tuned.trials);
    put_spread(out, row);
    put_interval(table, row, "nccl");
    put_interval(table, row, "autoccl");
    sim_csv_last(out, table->evaluator->name);
}

void search_comparison_csv(const struct search_comparison *table)
{
    (void)fputs(
        "topology,workload,strategy,iteration_us,speedup_vs_nccl,evaluations,"
        "published_min,published_max,verdict,speedup_vs_autoccl,"
        "published_min_vs_autoccl,published_max_vs_autoccl,verdict_vs_autoccl,"
        "bound_us,gap_to_best_ratio,gap_to_bound_ratio,compute_us,comm_us,"
        "exposed_comm_us,family,cluster,gpus,trials,trials_found,"
        "mean_loss_ratio,worst_loss_ratio,seeds,median_seed,"
        "min_speedup_vs_nccl,median_speedup_vs_nccl,max_speedup_vs_nccl,"
        "speedup_vs_nccl_low,speedup_vs_nccl_high,speedup_vs_autoccl_low,"
        "speedup_vs_autoccl_high,evaluator\n",
        table->cli->out);
    for (int i = 0; i < table->case_count; i++) {
        for (int s = 0; s < table->strategy_count; s++) {
            put_row(table, &table->cases[i]->rows[s]);
        }
    }
}

/* -- JSON -- */

static void put_plan(struct sim_json *json, const struct search_compared *row)
{
    struct sim_json *plan = sim_json_put_array(json, "plan");

    for (int i = 0; i < row->tuned.problem.class_count; i++) {
        const struct search_class *part = &row->tuned.problem.classes[i];
        const struct model_config *config = &row->tuned.outcome.configs[i];
        struct sim_json *item = sim_json_append(plan);

        sim_json_text(item, "op", model_op_names[part->kind]);
        sim_json_text(item, "window", part->window);
        sim_json_number(item, "size_bytes", part->bytes);
        sim_report_put_config(item, config);
    }
}

static void put_claim(struct sim_json *json, const struct model_claim *claim)
{
    sim_json_text(json, "strategy", claim->strategy);
    sim_json_text(json, "over", claim->over);
    sim_json_number(json, "min", claim->min_ratio);
    sim_json_number(json, "max", claim->max_ratio);
    sim_json_text(json, "source", claim->source);
}

static void put_verdicts(struct sim_json *json,
                         const struct search_comparison *table,
                         const struct search_compared *row)
{
    const struct model_list *list = &row->of->input.workload.claims;
    const struct model_claim *claims = list->items;
    struct sim_json *array = sim_json_put_array(json, "published");

    for (int i = 0; i < list->count; i++) {
        struct search_verdict verdict;

        if (search_judge(table, row, &claims[i], &verdict)) {
            struct sim_json *item = sim_json_append(array);

            put_claim(item, &claims[i]);
            sim_json_number(item, "speedup", verdict.ratio);
            sim_json_text(item, "verdict", verdict.word);
        }
    }
}

static void put_seeds(struct sim_json *json, const struct search_compared *row)
{
    const struct search_spread *spread = &row->spread;
    struct sim_json *object;

    if (spread->count > 1) {
        object = sim_json_put_object(json, "over_seeds");
        sim_json_count(object, "seeds", spread->count);
        sim_json_count(object, "median_seed", (int64_t)spread->seed);
        sim_json_number(object, "min_speedup_vs_nccl",
                        row->of->nccl_us / spread->max_us);
        sim_json_number(object, "median_speedup_vs_nccl",
                        row->of->nccl_us / row->tuned.times.iteration_us);
        sim_json_number(object, "max_speedup_vs_nccl",
                        row->of->nccl_us / spread->min_us);
    }
}

/* Members of a row or a mean, where machines were drawn. */
static void put_ends(struct sim_json *json,
                     const struct search_comparison *table,
                     const struct search_filter *filter,
                     int strategy)
{
    static const char *const names[][3] = {
        {"nccl", "speedup_vs_nccl_low", "speedup_vs_nccl_high"},
        {"autoccl", "speedup_vs_autoccl_low", "speedup_vs_autoccl_high"}};

    for (int i = 0; table->uncertainty != NULL && i < 2; i++) {
        struct search_interval interval =
            search_mean_interval(table, filter, strategy, names[i][0]);

        sim_json_number(json, names[i][1], interval.low);
        sim_json_number(json, names[i][2], interval.high);
    }
}

static void put_uncertainty(struct sim_json *root,
                            const struct search_comparison *table)
{
    struct sim_json *json;

    if (table->uncertainty != NULL) {
        json = sim_json_put_object(root, "uncertainty");
        sim_json_count(json, "machines", table->uncertainty->machines);
        sim_json_count(json, "left_out", table->uncertainty->left_out);
    }
}

static void append_row(struct sim_json *rows,
                       const struct search_comparison *table,
                       const struct search_compared *row)
{
    const struct search_filter only = {NULL, NULL, row->of};
    int strategy = (int)(row - row->of->rows);
    uint64_t budget = table->budgets[strategy];
    const struct search_case *of = row->of;
    const struct search_times *times = &row->tuned.times;
    struct sim_json *json = sim_json_append(rows);

    sim_json_text(json, "topology", of->input.topology.name);
    sim_json_text(json, "workload", of->input.workload.name);
    sim_json_text(json, "strategy", row->strategy->name);
    sim_json_text(json, "family", of->family);
    sim_json_text(json, "cluster", of->cluster);
    sim_json_count(json, "gpus",
                   model_topology_rank_count(&of->input.topology));
    sim_report_put_nccl(json, &of->input.nccl);
    sim_json_number(json, "iteration_us", times->iteration_us);
    if (table->evaluator->measures) {
        sim_json_number(json, "spread_us", times->spread_us);
        sim_json_number(json, "simulated_us", row->tuned.simulated_us);
    }
    sim_json_number(json, "compute_us", times->compute_us);
    sim_json_number(json, "comm_us", times->comm_us);
    sim_json_number(json, "exposed_comm_us", times->exposed_us);
    sim_json_number(json, "speedup_vs_nccl",
                    search_speedup_ratio(table, row, "nccl"));
    sim_json_number(json, "speedup_vs_autoccl",
                    search_speedup_ratio(table, row, "autoccl"));
    put_ends(json, table, &only, strategy);
    sim_json_count(json, "evaluations", row->tuned.outcome.evaluations);
    if (budget > 0) {
        sim_json_count(json, "budget", (int64_t)budget);
    }
    sim_json_number(json, "bound_us",
                    of->bound_us > 0.0 ? of->bound_us : (double)NAN);
    sim_json_number(json, "gap_to_best_ratio",
                    search_gap_ratio(row, of->best_us));
    sim_json_number(json, "gap_to_bound_ratio", gap_to_bound(row));
    if (row->tuned.trials.count > 0) {
        const struct search_trials *trials = &row->tuned.trials;

        sim_json_count(json, "trials", trials->count);
        sim_json_count(json, "trials_found", trials->found);
        sim_json_number(json, "mean_loss_ratio", trials->mean_loss_ratio);
        sim_json_number(json, "worst_loss_ratio", trials->worst_loss_ratio);
    }
    put_seeds(json, row);
    put_verdicts(json, table, row);
    put_plan(json, row);
}

/* Means of one group of rows over both baselines. */
static void append_means(struct sim_json *means,
                         const struct search_comparison *table,
                         const struct search_filter *filter)
{
    for (int i = 0; i < table->strategy_count; i++) {
        struct sim_json *json = sim_json_append(means);

        sim_json_text(json, "family", filter->family);
        sim_json_text(json, "cluster", filter->cluster);
        sim_json_text(json, "strategy", table->strategies[i]->name);
        sim_json_number(json, "speedup_vs_nccl",
                        search_mean_ratio(table, filter, i, "nccl"));
        sim_json_number(json, "speedup_vs_autoccl",
                        search_mean_ratio(table, filter, i, "autoccl"));
        put_ends(json, table, filter, i);
    }
}

/* Of all rows; of each family; of each cluster in it. */
static void put_means(struct sim_json *root,
                      const struct search_comparison *table)
{
    struct sim_json *means = sim_json_put_array(root, "means");
    size_t room = (size_t)table->case_count + 1;
    const char **families =
        model_arena_array(table->cli->arena, room, sizeof(*families));
    const char **clusters =
        model_arena_array(table->cli->arena, room, sizeof(*clusters));
    int family_count = search_families(table, families);

    append_means(means, table, &(struct search_filter){NULL, NULL, NULL});
    for (int i = 0; i < family_count; i++) {
        struct search_filter filter = {families[i], NULL, NULL};
        int cluster_count = search_clusters(table, &filter, clusters);

        append_means(means, table, &filter);
        for (int j = 0; j < cluster_count; j++) {
            filter.cluster = clusters[j];
            append_means(means, table, &filter);
        }
    }
}

/* The claims of each family, and how many rows are in and near their range. */
static void put_claims(struct sim_json *root,
                       const struct search_comparison *table)
{
    struct sim_json *array = sim_json_put_array(root, "claims");
    const char **families = model_arena_array(
        table->cli->arena, (size_t)table->case_count + 1, sizeof(*families));
    int family_count = search_families(table, families);

    for (int i = 0; i < family_count; i++) {
        const struct search_filter filter = {families[i], NULL, NULL};
        const struct model_claim *claims[SEARCH_CLAIMS_MAX];
        int count = search_claims(table, &filter, claims);

        for (int j = 0; j < count; j++) {
            struct sim_json *json = sim_json_append(array);
            struct search_tally tally = search_tally(table, &filter, claims[j]);

            sim_json_text(json, "family", families[i]);
            put_claim(json, claims[j]);
            sim_json_count(json, "rows", tally.judged);
            sim_json_count(json, "in", tally.in);
            sim_json_count(json, "near", tally.near);
        }
    }
}

enum model_status search_comparison_json(const struct search_comparison *table)
{
    struct sim_json *root = sim_json_object();
    struct sim_json *rows;
    enum model_status status;

    sim_json_text(root, "version", LAGOM_VERSION);
    sim_json_count(root, "seed", (int64_t)table->cli->options.seed);
    sim_json_text(root, "evaluator", table->evaluator->name);
    search_put_noise(table->cli, root);
    sim_report_put_overrides(table->cli, root);
    put_uncertainty(root, table);
    rows = sim_json_put_array(root, "rows");
    for (int i = 0; i < table->case_count; i++) {
        for (int s = 0; s < table->strategy_count; s++) {
            append_row(rows, table, &table->cases[i]->rows[s]);
        }
    }
    put_means(root, table);
    put_claims(root, table);
    status = sim_json_print(root, table->cli->out);
    sim_json_free(root);
    return status;
}
