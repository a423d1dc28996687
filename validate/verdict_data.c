/*
 * verdict_data.c - a verdict as JSON and CSV. Errors are ratios of the measured
 * value.
 */
#include "validate/verdict_print.h"

#include "build/version.h"
#include "sim/csv.h"
#include "sim/json.h"
#include "sim/report.h"

#include <string.h>

/* -- JSON -- */

static void put_accuracy(struct sim_json *json,
                         const struct validate_accuracy *accuracy)
{
    sim_json_count(json, "rows", accuracy->count);
    sim_json_number(json, "median_error", accuracy->median_ratio);
    sim_json_number(json, "p95_error", accuracy->p95_ratio);
    sim_json_number(json, "worst_error", accuracy->worst_ratio);
    sim_json_number(json, "bias", accuracy->bias_ratio);
    sim_json_number(json, "spearman", accuracy->spearman);
    sim_json_number(json, "kendall", accuracy->kendall);
    sim_json_count(json, "ranked", accuracy->ranked);
}

static void put_line(struct sim_json *json, const struct validate_line *line)
{
    sim_json_text(json, "topology", line->topologies);
    sim_json_text(json, "shapes", line->shapes);
    sim_json_count(json, "fit", line->fit ? 1 : 0);
    put_accuracy(json, &line->accuracy);
}

static void put_set(struct sim_json *list,
                    const struct validate_verdict *verdict,
                    const struct validate_line *set)
{
    struct sim_json *json = sim_json_append(list);
    struct sim_json *parts;

    sim_json_text(json, "records", set->set);
    put_line(json, set);
    parts = sim_json_put_array(json, "operations");
    for (int i = 0; i < verdict->parts.count; i++) {
        const struct validate_line *part = &verdict->parts.list[i];

        if (strcmp(part->set, set->set) == 0) {
            struct sim_json *entry = sim_json_append(parts);

            sim_json_text(entry, "operation", part->operation);
            put_line(entry, part);
        }
    }
}

static void put_pair(struct sim_json *json,
                     const struct validate_verdict *verdict,
                     const struct validate_pair *pair)
{
    const struct validate_record *row = &verdict->records->rows[pair->row];
    const struct validate_prediction *prediction =
        &verdict->predictions[pair->row];

    sim_json_text(json, "file", row->place.file);
    sim_json_count(json, "line", row->place.line);
    sim_json_text(json, "records", row->set);
    sim_json_text(
        json, "topology",
        validate_predictor_place(verdict->predictor, pair->row).topology);
    sim_json_text(json, "operation",
                  validate_operation(verdict->records, pair));
    sim_json_count(json, "nodes", row->nodes);
    sim_json_count(json, "gpus", row->gpus);
    sim_json_number(json, "size_bytes", row->size_bytes);
    sim_json_number(json, "measured_us", pair->measured_us);
    sim_json_number(json, "predicted_us", pair->predicted_us);
    sim_json_number(json, "error", pair->error_ratio);
    if (row->kind != MODEL_UNSET) {
        sim_report_put_config(json, &prediction->config);
        sim_json_text(json, "limited_by", prediction->limited_by);
        sim_json_number(json, "launch_us", prediction->launch_us);
        sim_json_number(json, "moving_us", prediction->moving_us);
    }
}

static void put_worst(struct sim_json *list,
                      struct model_arena *arena,
                      const struct validate_verdict *verdict,
                      const struct validate_worst *worst)
{
    struct sim_json *json = sim_json_append(list);

    put_pair(json, verdict, &verdict->pairs.list[worst->pair]);
    sim_json_number(json, "start_us", worst->start_us);
    sim_json_number(json, "steps_us", worst->steps_us);
    sim_json_text(json, "explanation",
                  validate_worst_words(arena, verdict, worst));
}

static void put_texts(struct sim_json *root,
                      const char *key,
                      const char *const *texts,
                      int count)
{
    struct sim_json *list = sim_json_put_array(root, key);

    for (int i = 0; i < count; i++) {
        sim_json_text(sim_json_append(list), "text", texts[i]);
    }
}

static void put_lists(struct sim_cli *cli,
                      const struct validate_verdict *verdict,
                      const struct validate_worsts *worsts,
                      struct sim_json *root)
{
    struct sim_json *list = sim_json_put_array(root, "sets");

    for (int i = 0; i < verdict->sets.count; i++) {
        put_set(list, verdict, &verdict->sets.list[i]);
    }
    list = sim_json_put_array(root, "gpus");
    for (int i = 0; i < verdict->gpus.count; i++) {
        struct sim_json *json = sim_json_append(list);

        sim_json_text(json, "gpu", verdict->gpus.list[i].gpu);
        put_accuracy(json, &verdict->gpus.list[i].accuracy);
    }
    list = sim_json_put_array(root, "worst");
    for (int i = 0; i < worsts->count; i++) {
        put_worst(list, cli->arena, verdict, &worsts->list[i]);
    }
    list = sim_json_put_array(root, "left_out");
    for (int i = 0; i < verdict->left_out_count; i++) {
        struct sim_json *json = sim_json_append(list);

        sim_json_count(json, "rows", verdict->left_out[i].rows);
        sim_json_text(json, "reason", verdict->left_out[i].reason);
    }
    list = cli->options.verbose ? sim_json_put_array(root, "rows") : NULL;
    for (int i = 0; list != NULL && i < verdict->pairs.count; i++) {
        put_pair(sim_json_append(list), verdict, &verdict->pairs.list[i]);
    }
}

enum model_status validate_print_json(struct sim_cli *cli,
                                      const struct validate_verdict *verdict,
                                      const struct validate_worsts *worsts,
                                      const struct validate_spent *spent)
{
    struct sim_json *root = sim_json_object();
    enum model_status status;

    sim_json_text(root, "version", LAGOM_VERSION);
    sim_json_hex(root, "records_hash", verdict->records->hash);
    sim_report_put_overrides(cli, root);
    sim_json_number(root, "min_size_bytes", verdict->min_size_bytes);
    put_lists(cli, verdict, worsts, root);
    put_accuracy(sim_json_put_object(root, "fits"), &verdict->fitted.accuracy);
    put_accuracy(sim_json_put_object(root, "others"),
                 &verdict->others.accuracy);
    put_accuracy(sim_json_put_object(root, "all"), &verdict->all.accuracy);
    sim_json_number(root, "median_error", verdict->all.accuracy.median_ratio);
    sim_json_number(root, "median_of_medians", verdict->median_of_medians);
    if (spent != NULL) {
        put_texts(root, "exceeded", spent->exceeded, spent->exceeded_count);
        put_texts(root, "loose", spent->loose, spent->loose_count);
    }
    status = sim_json_print(root, cli->out);
    sim_json_free(root);
    return status;
}

/* -- CSV -- */

static void put_row(struct sim_cli *cli,
                    const struct validate_verdict *verdict,
                    const struct validate_pair *pair)
{
    const struct validate_record *row = &verdict->records->rows[pair->row];
    const struct validate_prediction *prediction =
        &verdict->predictions[pair->row];
    struct validate_place place =
        validate_predictor_place(verdict->predictor, pair->row);
    char config[96];

    sim_csv_text(cli->out, row->place.file);
    (void)fprintf(cli->out, "%d,", row->place.line);
    sim_csv_text(cli->out, row->set);
    sim_csv_text(cli->out, place.topology);
    sim_csv_text(cli->out, place.gpu);
    sim_csv_text(cli->out, validate_operation(verdict->records, pair));
    (void)fprintf(cli->out, "%d,%d,%.0f,%.6f,%.6f,%.6f,", row->nodes, row->gpus,
                  row->size_bytes, pair->measured_us, pair->predicted_us,
                  pair->error_ratio);
    sim_csv_text(cli->out, row->kind != MODEL_UNSET
                               ? model_config_print(&prediction->config, config,
                                                    sizeof(config))
                               : row->computation);
    sim_csv_last(cli->out, prediction->limited_by);
}

void validate_print_csv(struct sim_cli *cli,
                        const struct validate_verdict *verdict)
{
    (void)fputs("file,line,set,topology,gpu,kind,nodes,gpus,size_bytes,"
                "measured_us,predicted_us,error,settings,limited_by\n",
                cli->out);
    for (int i = 0; i < verdict->pairs.count; i++) {
        put_row(cli, verdict, &verdict->pairs.list[i]);
    }
}
