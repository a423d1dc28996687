/*
 * cmd_run.c - `lagom run`: one iteration, with a plan or a strategy.
 */
#include "search/tuned.h"

#include "sim/report.h"
#include "sim/trace.h"

#include <time.h>

static double clock_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* A misspelt window would leave a collective to NCCL without a word. */
static void warn_of_idle_rows(struct sim_cli *cli,
                              const struct model_plan *plan,
                              const struct model_workload *workload)
{
    for (int i = 0; i < plan->row_count; i++) {
        if (!model_plan_row_matches(&plan->rows[i], workload)) {
            (void)fprintf(cli->log,
                          "%s:%d: warning: collectives[%d] matches no "
                          "collective\n",
                          plan->rows[i].place.file, plan->rows[i].place.line,
                          i);
        }
    }
}

/* The plan to run: from a file, or found by a strategy. */
static enum model_status get_plan(struct sim_cli *cli,
                                  const struct sim_input *input,
                                  struct model_plan *plan,
                                  const char **name)
{
    const struct search_strategy *strategy;
    struct search_tuned tuned;
    enum model_status status;

    *name = "nccl";
    if (cli->options.plan != NULL && cli->options.strategy != NULL) {
        return model_errors_add(
            cli->errors, MODEL_USAGE, (struct model_place){"lagom", 0, 0}, NULL,
            "leave one of them out", "both --plan and --strategy are given");
    }
    if (cli->options.plan != NULL) {
        *name = "plan";
        status =
            model_plan_read(cli->arena, cli->options.plan, plan, cli->errors);
        if (status == MODEL_OK) {
            status = model_plan_check(plan, &input->workload, cli->errors);
        }
        if (status == MODEL_OK) {
            warn_of_idle_rows(cli, plan, &input->workload);
        }
        return status;
    }
    if (cli->options.strategy == NULL) {
        return MODEL_OK;
    }
    strategy = search_strategy_find(cli->options.strategy, cli->errors);
    if (strategy == NULL) {
        return MODEL_USAGE;
    }
    *name = strategy->name;
    status = search_tune(cli, input, strategy, &tuned);
    if (status == MODEL_OK) {
        *plan = search_plan(cli->arena, &tuned.problem, tuned.outcome.configs,
                            strategy->name);
    }
    return status;
}

static enum model_status simulate(struct sim_cli *cli,
                                  const struct sim_request *request,
                                  const char *strategy)
{
    double start_us = clock_us();
    struct sim *sim = sim_new(cli->arena, request, cli->errors);
    struct sim_result result;
    struct sim_report report = {.sim = sim,
                                .request = request,
                                .result = &result,
                                .strategy = strategy};
    enum model_status status;

    if (sim == NULL) {
        return MODEL_BAD_INPUT;
    }
    sim_check_invariants(sim, cli->options.check);
    status = sim_run(sim, &result, cli->errors);
    if (status != MODEL_OK) {
        return status;
    }
    report.wall_us = clock_us() - start_us;
    if (cli->options.trace != NULL) {
        status = sim_trace_write(cli->arena, cli->options.trace, request,
                                 &result, cli->errors);
    }
    return status == MODEL_OK ? sim_report_print(cli, &report) : status;
}

enum model_status search_command_run(struct sim_cli *cli)
{
    struct sim_input input;
    struct model_plan plan = {.row_count = 0};
    struct sim_request request = {.topology = &input.topology,
                                  .workload = &input.workload,
                                  .plan = &plan,
                                  .all_ranks =
                                      cli->options.ranks == SIM_RANKS_ALL};
    const char *name;
    enum model_status status = sim_load_check(cli, true);

    if (status == MODEL_OK) {
        status = sim_load(cli, cli->options.topologies.items[0],
                          cli->options.workloads.items[0], &input);
    }
    if (status == MODEL_OK) {
        status = get_plan(cli, &input, &plan, &name);
    }
    if (status != MODEL_OK) {
        return status;
    }
    request.fallback = input.topology.observed.present
                           ? &input.topology.observed.config
                           : NULL;
    return simulate(cli, &request, name);
}
