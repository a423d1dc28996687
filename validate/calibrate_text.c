/*
 * calibrate_text.c - a calibration in words.
 */
#include "validate/calibrate_print.h"

#include "search/paragraph.h"

#include <math.h>
#include <string.h>

/* Parts of a direction less than this of its largest are not named. */
#define PART 0.3

double validate_calibration_correlation(const struct validate_calibration *of,
                                        int i,
                                        int j)
{
    const double *covariance = of->fit.covariance;
    int n = of->parameter_count;

    return covariance[i * n + j] /
           sqrt(covariance[i * n + i] * covariance[j * n + j]);
}

static void print_head(FILE *out,
                       const struct validate_calibration *of,
                       const struct model_params *params)
{
    (void)fprintf(out, "GPU %s, topolog%s", of->targets[0].topology.gpu.name,
                  of->target_count == 1 ? "y" : "ies");
    for (int t = 0; t < of->target_count; t++) {
        (void)fprintf(out, "%s ", t == 0 ? "" : ",");
        model_text_print(of->targets[t].label, out);
    }
    (void)fputs("\nrecords", out);
    for (int i = 0; i < params->record_count; i++) {
        (void)fprintf(out, "%s ", i == 0 ? "" : ",");
        model_text_print(params->records[i].file, out);
        (void)fprintf(out, " (%d rows)", params->records[i].rows);
    }
    (void)fputc('\n', out);
    if (of->small_count > 0) {
        (void)fprintf(out, "%d rows below --min-size are not used\n",
                      of->small_count);
    }
    if (of->left_out_count > 0) {
        (void)fprintf(out, "%d rows cannot run: ", of->left_out_count);
        model_text_print(of->left_out_reason, out);
        (void)fputc('\n', out);
    }
}

static void print_errors(FILE *out,
                         const char *name,
                         const char *when,
                         const struct validate_errors *errors)
{
    (void)fprintf(out, "%-9s %6d  %-7s %8.1f %8.1f %8.1f %+8.1f\n", name,
                  errors->rows, when, 100.0 * errors->median,
                  100.0 * errors->p95, 100.0 * errors->worst,
                  100.0 * errors->bias);
}

static void print_table(FILE *out, const struct validate_calibration *of)
{
    static const char *const when[] = {"before", "after"};

    (void)fputs("\nrows       times  error % |  median      p95    worst     "
                "bias\n",
                out);
    for (int i = 0; i < 2; i++) {
        print_errors(out, "fitted", when[i], &of->fitted[i]);
    }
    for (int i = 0; i < 2 && of->held_out[0].rows > 0; i++) {
        print_errors(out, "held out", when[i], &of->held_out[i]);
    }
}

static const char *quantity(const struct validate_calibrated *parameter,
                            double value,
                            char *buffer,
                            size_t buffer_bytes)
{
    return model_units_print(value, parameter->dimension, buffer, buffer_bytes);
}

static void print_parameters(FILE *out, const struct validate_calibration *of)
{
    (void)fprintf(out, "\n%-30s %-12s %-9s %-12s %-25s %s\n", "number", "was",
                  "from", "now", "95 % interval", "by data");
    for (int j = 0; j < of->parameter_count; j++) {
        const struct validate_calibrated *parameter = &of->parameters[j];
        char was[64], now[64], low[64], high[64], interval[160];

        (void)snprintf(
            interval, sizeof(interval), "%s to %s",
            quantity(parameter, parameter->low, low, sizeof(low)),
            quantity(parameter, parameter->high, high, sizeof(high)));
        (void)fprintf(out, "%-30s %-12s %-9s %-12s %-25s %3.0f %%%s\n",
                      parameter->path,
                      quantity(parameter, parameter->was, was, sizeof(was)),
                      model_origin_names[parameter->from],
                      quantity(parameter, parameter->now, now, sizeof(now)),
                      interval, 100.0 * parameter->decided_ratio,
                      parameter->at_bound ? ", at its bound" : "");
    }
}

/* -- what the data do not tell -- */

/* "a, b and c" of those marked. */
static const char *list_paths(struct model_arena *arena,
                              const struct validate_calibration *of,
                              const bool *marked)
{
    const char *text = NULL;

    for (int j = 0; j < of->parameter_count; j++) {
        if (marked[j]) {
            text = text == NULL ? of->parameters[j].path
                                : model_arena_format(arena, "%s, %s", text,
                                                     of->parameters[j].path);
        }
    }
    return text;
}

/* Change of a parameter along a direction, where the largest is 10 %. */
static double
change(const struct validate_calibration *of, int direction, int parameter)
{
    int n = of->parameter_count;
    double most = 0.0;
    double mine = 0.0;

    for (int j = 0; j < n; j++) {
        /* a direction is in widths of the priors */
        double part =
            of->fit.directions[j * n + direction] * of->parameters[j].width;

        mine = j == parameter ? part : mine;
        most = fabs(part) > fabs(most) ? part : most;
    }
    return 0.1 * mine / most;
}

/* Parameters that a direction moves. */
static int
mark_parts(const struct validate_calibration *of, int direction, bool *marked)
{
    int count = 0;

    for (int j = 0; j < of->parameter_count; j++) {
        marked[j] = fabs(change(of, direction, j)) >= 0.1 * PART;
        count += marked[j];
    }
    return count;
}

static const char *direction_text(struct model_arena *arena,
                                  const struct validate_calibration *of,
                                  int direction,
                                  const bool *marked)
{
    const char *text = "";

    for (int j = 0; j < of->parameter_count; j++) {
        if (marked[j]) {
            text = model_arena_format(
                arena, "%s%s%s %+.0f %%", text, text[0] == '\0' ? "" : " with ",
                of->parameters[j].path, 100.0 * change(of, direction, j));
        }
    }
    return model_arena_format(
        arena, "The rows cannot tell apart: %s changes them little.", text);
}

static void print_unknown(struct sim_cli *cli,
                          const struct validate_calibration *of)
{
    size_t n = (size_t)of->parameter_count;
    bool *marked = model_arena_array(cli->arena, n, sizeof(bool));
    bool *alone = model_arena_array(cli->arena, n, sizeof(bool));
    const char *text;

    for (int k = 0; k < of->parameter_count; k++) {
        if (of->fit.known[k] >= CALIBRATE_UNKNOWN) {
            continue;
        }
        if (mark_parts(of, k, marked) > 1) {
            search_paragraph(cli->out, 0,
                             direction_text(cli->arena, of, k, marked));
        } else {
            for (size_t j = 0; j < n; j++) {
                alone[j] = alone[j] || marked[j];
            }
        }
    }
    text = list_paths(cli->arena, of, alone);
    if (text != NULL) {
        search_paragraph(
            cli->out, 0,
            model_arena_format(cli->arena,
                               "The rows say less than the sources of: %s.",
                               text));
    }
}

static void print_correlated(struct sim_cli *cli,
                             const struct validate_calibration *of)
{
    for (int i = 0; i < of->parameter_count; i++) {
        for (int j = i + 1; j < of->parameter_count; j++) {
            double r = validate_calibration_correlation(of, i, j);

            if (fabs(r) > CALIBRATE_CORRELATED) {
                search_paragraph(
                    cli->out, 0,
                    model_arena_format(
                        cli->arena,
                        "%s and %s are known %s only (correlation %.3f).",
                        of->parameters[i].path, of->parameters[j].path,
                        r > 0.0 ? "by their ratio" : "by their product", r));
            }
        }
    }
}

static void print_unseen(struct sim_cli *cli,
                         const struct validate_calibration *of)
{
    for (int i = 0; i < of->unseen_count; i++) {
        (void)fprintf(cli->out, "No row depends on %s: it stays.\n",
                      of->unseen[i]);
    }
}

void validate_calibration_text(struct sim_cli *cli,
                               const struct validate_calibration *of,
                               const struct model_params *params)
{
    print_head(cli->out, of, params);
    print_table(cli->out, of);
    print_parameters(cli->out, of);
    (void)fputc('\n', cli->out);
    print_unknown(cli, of);
    print_correlated(cli, of);
    print_unseen(cli, of);
    (void)fprintf(cli->out,
                  "times scatter by %.1f %% about the fit; %d iterations, %d "
                  "evaluations%s\n",
                  100.0 * of->fit.noise_ratio, of->fit.iterations,
                  of->fit.evaluations,
                  of->fit.converged ? "" : ", not converged");
}
