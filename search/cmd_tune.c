/*
 * cmd_tune.c - `lagom tune`: find a plan, write it, show how it was found.
 */
#include "search/tuned.h"

#include "build/version.h"
#include "sim/json.h"
#include "sim/output.h"
#include "sim/report.h"

#include <string.h>

static enum model_status write_to(struct sim_cli *cli,
                                  const struct sim_input *input,
                                  const struct model_plan *plan,
                                  FILE *stream)
{
    return model_plan_write(cli->arena, plan, input->topology.name,
                            input->workload.name, stream);
}

/* To the file of -o, or to standard output, whose state main() looks at. */
static enum model_status write_plan(struct sim_cli *cli,
                                    const struct sim_input *input,
                                    const struct model_plan *plan)
{
    const char *file = cli->options.output;
    struct sim_output output;
    enum model_status status;

    if (file == NULL || strcmp(file, "-") == 0) {
        (void)write_to(cli, input, plan, cli->out);
        return MODEL_OK;
    }
    status = sim_output_open(cli->arena, file, &output, cli->errors);
    if (status == MODEL_OK) {
        status = write_to(cli, input, plan, output.stream);
        status = sim_output_close(&output, status == MODEL_OK, cli->errors);
    }
    return status;
}

static void print_csv(struct sim_cli *cli, const struct search_tuned *tuned)
{
    (void)fputs("evaluation,iteration_us\n", cli->out);
    for (int i = 0; i < tuned->outcome.curve_count; i++) {
        (void)fprintf(cli->out, "%d,%.6f\n", tuned->outcome.curve[i].evaluation,
                      tuned->outcome.curve[i].iteration_us);
    }
}

static enum model_status print_json(struct sim_cli *cli,
                                    const struct sim_input *input,
                                    const struct search_tuned *tuned,
                                    const char *strategy)
{
    struct sim_json *root = sim_json_object();
    struct sim_json *curve;
    enum model_status status;

    sim_json_text(root, "version", LAGOM_VERSION);
    sim_json_text(root, "topology", input->topology.name);
    sim_json_text(root, "workload", input->workload.name);
    sim_json_text(root, "strategy", strategy);
    sim_json_text(root, "evaluator", tuned->evaluator->name);
    search_put_noise(cli, root);
    sim_json_count(root, "seed", (int64_t)cli->options.seed);
    sim_report_put_overrides(cli, root);
    sim_json_number(root, "iteration_us", tuned->outcome.iteration_us);
    sim_json_number(root, "searched_us", tuned->searched_us);
    sim_json_number(root, "nccl_us", tuned->nccl_us);
    if (tuned->evaluator->measures) {
        sim_json_number(root, "spread_us", tuned->times.spread_us);
        sim_json_number(root, "simulated_us", tuned->simulated_us);
        sim_json_number(root, "simulated_nccl_us", tuned->simulated_nccl_us);
    }
    sim_json_count(root, "evaluations", tuned->outcome.evaluations);
    curve = sim_json_put_array(root, "convergence");
    for (int i = 0; i < tuned->outcome.curve_count; i++) {
        struct sim_json *point = sim_json_append(curve);

        sim_json_count(point, "evaluation", tuned->outcome.curve[i].evaluation);
        sim_json_number(point, "iteration_us",
                        tuned->outcome.curve[i].iteration_us);
    }
    status = sim_json_print(root, cli->out);
    sim_json_free(root);
    return status;
}

/* Times of a machine, and beside them what the model makes of the plans. */
static void print_measured(struct sim_cli *cli,
                           const char *strategy,
                           const struct search_tuned *tuned)
{
    (void)fprintf(cli->log,
                  "%s: measured %.3f ms an iteration (spread %.3f), NCCL %.3f "
                  "ms; simulated %.3f and %.3f ms; %d evaluations\n",
                  strategy, tuned->outcome.iteration_us / 1000.0,
                  tuned->times.spread_us / 1000.0, tuned->nccl_us / 1000.0,
                  tuned->simulated_us / 1000.0,
                  tuned->simulated_nccl_us / 1000.0,
                  tuned->outcome.evaluations);
}

/* Times are simulated; the evaluator is named where it is another. */
static void print_outcome(struct sim_cli *cli,
                          const char *strategy,
                          const struct search_tuned *tuned)
{
    if (tuned->evaluator->measures) {
        print_measured(cli, strategy, tuned);
        return;
    }
    (void)fprintf(cli->log,
                  "%s: %.3f ms an iteration, NCCL %.3f ms, %d evaluations",
                  strategy, tuned->outcome.iteration_us / 1000.0,
                  tuned->nccl_us / 1000.0, tuned->outcome.evaluations);
    if (tuned->evaluator != &search_evaluators[0]) {
        (void)fprintf(cli->log, " of the %s, which says %.3f ms",
                      tuned->evaluator->name, tuned->searched_us / 1000.0);
    }
    (void)fputc('\n', cli->log);
}

/* The plan goes to -o; the convergence to standard output as JSON or CSV. */
static enum model_status print(struct sim_cli *cli,
                               const struct sim_input *input,
                               const struct model_plan *plan,
                               const struct search_tuned *tuned)
{
    enum model_status status = MODEL_OK;

    if (cli->options.format == SIM_TEXT || cli->options.output != NULL) {
        status = write_plan(cli, input, plan);
    }
    if (status == MODEL_OK && cli->options.format == SIM_CSV) {
        print_csv(cli, tuned);
    }
    if (status == MODEL_OK && cli->options.format == SIM_JSON) {
        status = print_json(cli, input, tuned, plan->strategy);
    }
    if (status == MODEL_OK && cli->options.format == SIM_TEXT &&
        !cli->options.quiet) {
        if (cli->options.verbose && tuned->outcome.account != NULL) {
            (void)fputs(tuned->outcome.account, cli->log);
        }
        print_outcome(cli, plan->strategy, tuned);
    }
    if (status == MODEL_OK && !cli->options.quiet &&
        tuned->outcome.iteration_us > tuned->nccl_us) {
        (void)fprintf(cli->log,
                      "lagom: warning: the plan is slower than NCCL's own "
                      "choice\n");
    }
    return status;
}

enum model_status search_command_tune(struct sim_cli *cli)
{
    const char *name =
        cli->options.strategy != NULL ? cli->options.strategy : "lagom";
    const struct search_strategy *strategy;
    struct sim_input input;
    struct search_tuned tuned;
    struct model_plan plan;
    double noise_ratio;
    enum model_status status = sim_load_check(cli, true);

    if (status != MODEL_OK) {
        return status;
    }
    strategy = search_strategy_find(name, cli->errors);
    if (strategy == NULL ||
        search_evaluator_find(cli->options.evaluator, cli->errors) == NULL ||
        search_tune_check(cli, &noise_ratio) != MODEL_OK) {
        return MODEL_USAGE;
    }
    status = sim_load(cli, cli->options.topologies.items[0],
                      cli->options.workloads.items[0], &input);
    if (status == MODEL_OK) {
        status = search_tune(cli, &input, strategy, &tuned);
    }
    if (status != MODEL_OK) {
        return status;
    }
    plan = search_plan(cli->arena, &tuned.problem, tuned.outcome.configs,
                       strategy->name);
    return print(cli, &input, &plan, &tuned);
}
