/*
 * compare_data.c - the speedup table as CSV and JSON.
 */
#include "search/compare.h"

#include "build/version.h"
#include "sim/csv.h"
#include "sim/json.h"
#include "sim/report.h"

#include <math.h>

void search_comparison_csv(const struct search_comparison *table)
{
    FILE *out = table->cli->out;

    (void)fputs("topology,workload,strategy,iteration_us,speedup_vs_nccl,"
                "evaluations,published_min,published_max,bound_us,"
                "gap_to_best_ratio,gap_to_bound_ratio,evaluator\n",
                out);
    for (int i = 0; i < table->row_count; i++) {
        const struct search_compared *row = &table->rows[i];
        const struct model_published *published =
            search_compared_published(table, row);

        sim_csv_text(out, row->input->topology.name);
        sim_csv_text(out, row->input->workload.name);
        sim_csv_text(out, row->strategy->name);
        (void)fprintf(out, "%.6f,%.6f,%d,", row->tuned.outcome.iteration_us,
                      row->speedup, row->tuned.outcome.evaluations);
        if (published != NULL) {
            (void)fprintf(out, "%.2f,%.2f,", published->min_ratio,
                          published->max_ratio);
        } else {
            (void)fputs(",,", out);
        }
        (void)fprintf(out, "%.6f,%.6f,", row->bound_us,
                      search_compared_gap_ratio(row, row->best_us));
        if (row->bound_us > 0.0) {
            (void)fprintf(out, "%.6f",
                          search_compared_gap_ratio(row, row->bound_us));
        }
        (void)fprintf(out, ",%s\n", table->evaluator->name);
    }
}

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

enum model_status search_comparison_json(const struct search_comparison *table)
{
    struct sim_json *root = sim_json_object();
    struct sim_json *rows;
    enum model_status status;

    sim_json_text(root, "version", LAGOM_VERSION);
    sim_json_count(root, "seed", (int64_t)table->cli->options.seed);
    sim_json_text(root, "evaluator", table->evaluator->name);
    sim_report_put_overrides(table->cli, root);
    rows = sim_json_put_array(root, "rows");
    for (int i = 0; i < table->row_count; i++) {
        const struct search_compared *row = &table->rows[i];
        struct sim_json *json = sim_json_append(rows);

        sim_json_text(json, "topology", row->input->topology.name);
        sim_json_text(json, "workload", row->input->workload.name);
        sim_json_text(json, "strategy", row->strategy->name);
        sim_report_put_nccl(json, &row->input->nccl);
        sim_json_number(json, "iteration_us", row->tuned.outcome.iteration_us);
        sim_json_number(json, "speedup_vs_nccl", row->speedup);
        sim_json_count(json, "evaluations", row->tuned.outcome.evaluations);
        sim_json_number(json, "bound_us",
                        row->bound_us > 0.0 ? row->bound_us : (double)NAN);
        sim_json_number(json, "gap_to_best_ratio",
                        search_compared_gap_ratio(row, row->best_us));
        sim_json_number(json, "gap_to_bound_ratio",
                        row->bound_us > 0.0
                            ? search_compared_gap_ratio(row, row->bound_us)
                            : (double)NAN);
        put_plan(json, row);
    }
    status = sim_json_print(root, table->cli->out);
    sim_json_free(root);
    return status;
}
