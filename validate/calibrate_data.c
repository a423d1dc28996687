/*
 * calibrate_data.c - a calibration as JSON and CSV.
 */
#include "validate/calibrate_print.h"

#include "build/version.h"
#include "sim/csv.h"
#include "sim/json.h"
#include "sim/report.h"

#include <math.h>

static void put_errors(struct sim_json *root,
                       const char *key,
                       const struct validate_accuracy *errors)
{
    struct sim_json *object = sim_json_put_object(root, key);

    sim_json_number(object, "median_error", errors->median_ratio);
    sim_json_number(object, "p95_error", errors->p95_ratio);
    sim_json_number(object, "worst_error", errors->worst_ratio);
    sim_json_number(object, "bias", errors->bias_ratio);
}

static void put_side(struct sim_json *root,
                     const char *key,
                     const struct validate_accuracy errors[2])
{
    struct sim_json *object = sim_json_put_object(root, key);

    sim_json_count(object, "times", errors[0].count);
    if (errors[0].count > 0) {
        put_errors(object, "before", &errors[0]);
        put_errors(object, "after", &errors[1]);
    }
}

static void put_quantity(struct sim_json *object,
                         const char *key,
                         const struct validate_calibrated *parameter,
                         double value)
{
    char text[64];

    sim_json_text(
        object, key,
        model_units_print(value, parameter->dimension, text, sizeof(text)));
}

static void put_parameters(struct sim_json *root,
                           const struct validate_calibration *of)
{
    struct sim_json *list = sim_json_put_array(root, "parameters");

    for (int j = 0; j < of->parameter_count; j++) {
        const struct validate_calibrated *parameter = &of->parameters[j];
        struct sim_json *object = sim_json_append(list);

        sim_json_text(object, "path", parameter->path);
        put_quantity(object, "value", parameter, parameter->now);
        put_quantity(object, "low", parameter, parameter->low);
        put_quantity(object, "high", parameter, parameter->high);
        put_quantity(object, "was", parameter, parameter->was);
        sim_json_text(object, "was_from", model_origin_names[parameter->from]);
        sim_json_number(object, "decided_ratio", parameter->decided_ratio);
        sim_json_count(object, "at_bound", parameter->at_bound);
    }
}

static void put_correlations(struct sim_json *root,
                             const struct validate_calibration *of)
{
    struct sim_json *list = sim_json_put_array(root, "correlated");

    for (int i = 0; i < of->parameter_count; i++) {
        for (int j = i + 1; j < of->parameter_count; j++) {
            double r = validate_calibration_correlation(of, i, j);

            if (fabs(r) > CALIBRATE_CORRELATED) {
                struct sim_json *object = sim_json_append(list);

                sim_json_text(object, "path", of->parameters[i].path);
                sim_json_text(object, "other", of->parameters[j].path);
                sim_json_number(object, "correlation", r);
            }
        }
    }
}

static void put_rows(struct sim_json *root,
                     const struct validate_calibration *of)
{
    struct sim_json *list = sim_json_put_array(root, "rows");

    for (int i = 0; i < of->row_count; i++) {
        const struct validate_calibrated_row *row = &of->rows[i];
        const struct validate_record *record =
            &of->options->records->rows[row->row];
        struct sim_json *object = sim_json_append(list);

        sim_json_text(object, "file", record->place.file);
        sim_json_count(object, "line", record->place.line);
        sim_json_text(object, "time",
                      row->computation ? "computation" : "collective");
        sim_json_text(object, "use", row->held_out ? "held out" : "fitted");
        sim_json_number(object, "measured_us", row->measured_us);
        sim_json_number(object, "before_us", row->before_us);
        sim_json_number(object, "after_us", row->after_us);
    }
}

static void put_records(struct sim_json *root,
                        const struct model_params *params)
{
    struct sim_json *list = sim_json_put_array(root, "records");

    for (int i = 0; i < params->record_count; i++) {
        struct sim_json *object = sim_json_append(list);

        sim_json_text(object, "file", params->records[i].file);
        sim_json_count(object, "rows", params->records[i].rows);
        sim_json_hex(object, "hash", params->records[i].hash);
    }
}

enum model_status
validate_calibration_json(struct sim_cli *cli,
                          const struct validate_calibration *of,
                          const struct model_params *params)
{
    struct sim_json *root = sim_json_object();
    struct sim_json *topologies;
    enum model_status status;

    sim_json_text(root, "version", LAGOM_VERSION);
    sim_json_text(root, "name", params->name);
    sim_json_text(root, "date", params->date);
    sim_json_count(root, "seed", (int64_t)cli->options.seed);
    sim_json_text(root, "gpu", of->targets[0].topology.gpu.name);
    topologies = sim_json_put_array(root, "topologies");
    for (int t = 0; t < of->target_count; t++) {
        sim_json_text(sim_json_append(topologies), "topology",
                      of->targets[t].label);
    }
    sim_report_put_overrides(cli, root);
    put_records(root, params);
    sim_json_count(root, "small_rows", of->small_count);
    sim_json_count(root, "rows_left_out", of->left_out_count);
    put_side(root, "fitted", of->fitted);
    put_side(root, "held_out", of->held_out);
    sim_json_number(root, "scatter_ratio", of->fit.noise_ratio);
    sim_json_count(root, "iterations", of->fit.iterations);
    sim_json_count(root, "evaluations", of->fit.evaluations);
    sim_json_count(root, "converged", of->fit.converged);
    put_parameters(root, of);
    put_correlations(root, of);
    put_rows(root, of);
    status = sim_json_print(root, cli->out);
    sim_json_free(root);
    return status;
}

void validate_calibration_csv(struct sim_cli *cli,
                              const struct validate_calibration *of)
{
    (void)fputs("path,value,low,high,was,was_from,decided_ratio,at_bound\n",
                cli->out);
    for (int j = 0; j < of->parameter_count; j++) {
        const struct validate_calibrated *parameter = &of->parameters[j];
        double values[] = {parameter->now, parameter->low, parameter->high,
                           parameter->was};

        sim_csv_text(cli->out, parameter->path);
        for (int i = 0; i < 4; i++) {
            char text[64];

            sim_csv_text(cli->out,
                         model_units_print(values[i], parameter->dimension,
                                           text, sizeof(text)));
        }
        (void)fprintf(cli->out, "%s,%.4f,%d\n",
                      model_origin_names[parameter->from],
                      parameter->decided_ratio, parameter->at_bound);
    }
}
