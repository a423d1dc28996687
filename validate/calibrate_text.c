/*
 * calibrate_text.c - a calibration in words.
 */
#include "validate/calibrate_print.h"

#include "search/paragraph.h"

#include <math.h>
#include <string.h>

/* Parts of a direction less than this of its largest are not named. */
#define PART 0.5

/* Parameters of which the data decide less are told. */
#define UNDECIDED 0.1

/* Numbers that kernels take are told where they change by more than this. */
#define MOVED_RATIO 1.25

/* Of what the data do not tell, so many are named without -v. */
enum { SHOWN = 5 };

double validate_calibration_correlation(const struct validate_calibration *of,
                                        int i,
                                        int j)
{
    const double *covariance = of->fit.covariance;
    int n = of->parameter_count;

    return covariance[i * n + j] /
           sqrt(covariance[i * n + i] * covariance[j * n + j]);
}

/* "1 row", "2 rows" */
static const char *rows(int count, char *buffer, size_t buffer_bytes)
{
    (void)snprintf(buffer, buffer_bytes, "%d row%s", count,
                   count == 1 ? "" : "s");
    return buffer;
}

static void print_head(FILE *out,
                       const struct validate_calibration *of,
                       const struct model_params *params)
{
    char text[32];

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
        (void)fprintf(out, " (%s)",
                      rows(params->records[i].rows, text, sizeof(text)));
    }
    (void)fputc('\n', out);
    if (of->small_count > 0) {
        (void)fprintf(out, "not used, below --min-size: %s\n",
                      rows(of->small_count, text, sizeof(text)));
    }
    if (of->left_out_count > 0) {
        (void)fprintf(out, "not used, cannot run: %s, ",
                      rows(of->left_out_count, text, sizeof(text)));
        model_text_print(of->left_out_reason, out);
        (void)fputc('\n', out);
    }
}

static void print_errors(FILE *out,
                         const char *name,
                         const char *when,
                         const struct validate_accuracy *errors)
{
    (void)fprintf(out, "%-9s %6d  %-7s %8.1f %8.1f %8.1f %+8.1f\n", name,
                  errors->count, when, 100.0 * errors->median_ratio,
                  100.0 * errors->p95_ratio, 100.0 * errors->worst_ratio,
                  100.0 * errors->bias_ratio);
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
    for (int i = 0; i < 2 && of->held_out[0].count > 0; i++) {
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

/*
 * Change of a parameter along a direction, which is in widths of the priors,
 * where the largest is +10 %.
 */
static double
change(const struct validate_calibration *of, int direction, int parameter)
{
    int n = of->parameter_count;
    double most = 0.0;
    double mine = 0.0;

    for (int j = 0; j < n; j++) {
        double part =
            of->fit.directions[j * n + direction] * of->parameters[j].width;

        mine = j == parameter ? part : mine;
        most = fabs(part) > fabs(most) ? part : most;
    }
    return 0.1 * mine / most;
}

/* Do the data tell anything of it? */
static bool is_decided(const struct validate_calibration *of, int parameter)
{
    return of->parameters[parameter].decided_ratio >= UNDECIDED;
}

/*
 * A direction in words, or NULL where it is one parameter alone, beside some of
 * which the data tell nothing: those go with any direction.
 */
static const char *direction_text(struct model_arena *arena,
                                  const struct validate_calibration *of,
                                  int direction)
{
    const char *text = "";
    int parts = 0;

    for (int j = 0; j < of->parameter_count; j++) {
        double by = change(of, direction, j);

        if (is_decided(of, j) && fabs(by) >= 0.1 * PART) {
            text = model_arena_format(
                arena, "%s%s %s %s by %.0f %%", text,
                parts++ == 0 ? "" : " and", of->parameters[j].path,
                by > 0.0 ? "grows" : "falls", 100.0 * fabs(by));
        }
    }
    return parts > 1 ? model_arena_format(
                           arena, "The rows hardly change when%s.", text)
                     : NULL;
}

/* How many of a list are told: with -v all. */
static int shown_of(const struct sim_cli *cli, int count)
{
    return cli->options.verbose || count < SHOWN ? count : SHOWN;
}

static void print_directions(struct sim_cli *cli,
                             const struct validate_calibration *of)
{
    int left = shown_of(cli, of->parameter_count);

    /* The least known is last. */
    for (int k = of->parameter_count - 1; k >= 0 && left > 0; k--) {
        const char *text = of->fit.known[k] < CALIBRATE_UNKNOWN
                               ? direction_text(cli->arena, of, k)
                               : NULL;

        search_paragraph(cli->out, 0, text);
        left -= text != NULL;
    }
}

/* The parameters that the data do not decide, the least decided first. */
static int list_undecided(const struct validate_calibration *of, int *list)
{
    int count = 0;

    for (int j = 0; j < of->parameter_count; j++) {
        int at = count;

        if (is_decided(of, j)) {
            continue;
        }
        while (at > 0 && of->parameters[list[at - 1]].decided_ratio >
                             of->parameters[j].decided_ratio) {
            list[at] = list[at - 1];
            at--;
        }
        list[at] = j;
        count++;
    }
    return count;
}

static void print_undecided(struct sim_cli *cli,
                            const struct validate_calibration *of)
{
    int *list = model_arena_array(cli->arena, (size_t)of->parameter_count,
                                  sizeof(*list));
    int count = list_undecided(of, list);
    int shown = shown_of(cli, count);
    const char *text = "The rows say next to nothing of";

    if (count == 0) {
        return;
    }
    for (int i = 0; i < shown; i++) {
        text =
            model_arena_format(cli->arena, "%s%s %s", text, i == 0 ? "" : ",",
                               of->parameters[list[i]].path);
    }
    search_paragraph(
        cli->out, 0,
        count > shown ? model_arena_format(cli->arena, "%s and %d more (-v).",
                                           text, count - shown)
                      : model_arena_format(cli->arena, "%s.", text));
}

static void print_correlated(struct sim_cli *cli,
                             const struct validate_calibration *of)
{
    int left = shown_of(cli, of->parameter_count * of->parameter_count);

    for (int i = 0; i < of->parameter_count; i++) {
        for (int j = i + 1; j < of->parameter_count && left > 0; j++) {
            double r = validate_calibration_correlation(of, i, j);

            if (fabs(r) > CALIBRATE_CORRELATED) {
                search_paragraph(
                    cli->out, 0,
                    model_arena_format(
                        cli->arena,
                        "The rows know %s and %s together better than each "
                        "of them (correlation %.3f).",
                        of->parameters[i].path, of->parameters[j].path, r));
                left--;
            }
        }
    }
}

static void print_unseen(struct sim_cli *cli,
                         const struct validate_calibration *of)
{
    int shown = shown_of(cli, of->unseen_count);
    const char *text = "No row depends on";

    if (of->unseen_count == 0) {
        return;
    }
    for (int i = 0; i < shown; i++) {
        text = model_arena_format(cli->arena, "%s%s %s", text,
                                  i == 0 ? "" : ",", of->unseen[i]);
    }
    if (of->unseen_count > shown) {
        text = model_arena_format(cli->arena, "%s and %d more (-v)", text,
                                  of->unseen_count - shown);
    }
    search_paragraph(
        cli->out, 0,
        model_arena_format(
            cli->arena,
            of->unseen_count == 1 ? "%s: it stays." : "%s: they stay.", text));
}

/* A number that kernels take too, and that is now another. */
static bool slows_kernels(const struct validate_calibrated *parameter)
{
    static const char *const shared[] = {"gpu.hbm.achieved",
                                         "gpu.launch.latency"};
    bool is_shared = false;

    for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++) {
        is_shared = is_shared || strcmp(parameter->path, shared[i]) == 0;
    }
    return is_shared && parameter->was > 0.0 && parameter->now > 0.0 &&
           fabs(log(parameter->now / parameter->was)) > log(MOVED_RATIO);
}

/* Collectives alone say little of what kernels do: what they move there may
   stand for something that the model lacks. */
static void print_shared(struct sim_cli *cli,
                         const struct validate_calibration *of)
{
    const char *names = NULL;

    for (int i = 0; i < of->row_count; i++) {
        if (of->rows[i].computation) {
            return;
        }
    }
    for (int j = 0; j < of->parameter_count; j++) {
        const char *path = of->parameters[j].path;

        if (slows_kernels(&of->parameters[j]) && is_decided(of, j)) {
            names = names == NULL ? path
                                  : model_arena_format(cli->arena, "%s and %s",
                                                       names, path);
        }
    }
    if (names != NULL) {
        search_paragraph(
            cli->out, 0,
            model_arena_format(
                cli->arena,
                "Kernels take %s, too, and no row is of computation: measure "
                "some, or name the other numbers by --fit.",
                names));
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
    print_undecided(cli, of);
    print_directions(cli, of);
    print_correlated(cli, of);
    print_unseen(cli, of);
    print_shared(cli, of);
    (void)fprintf(cli->out,
                  "times scatter by %.1f %% about the fit; %d iterations, %d "
                  "evaluations%s\n",
                  100.0 * of->fit.noise_ratio, of->fit.iterations,
                  of->fit.evaluations,
                  of->fit.converged ? "" : ", not converged");
}
