/*
 * cmd_run.c - `lagom run`: one iteration, with a plan or a strategy.
 */
#include "search/chosen.h"

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
    struct sim_request request;
    const char *name;
    enum model_status status =
        search_request(cli, &input, &plan, &request, &name);

    return status == MODEL_OK ? simulate(cli, &request, name) : status;
}
