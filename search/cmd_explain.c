/*
 * cmd_explain.c - `lagom explain`: why an iteration takes what it takes, and
 * what would help.
 */
#include "search/chosen.h"
#include "search/explain_nccl.h"
#include "search/explain_print.h"
#include "search/tuned.h"

#include <string.h>

/* The strategy whose plan is compared with. */
static const char *const TUNER = "lagom";

/*
 * What the tuner finds; false when it has nothing to decide here, is what is
 * explained anyway, or cannot say. Its own faults are not those of the command.
 */
static bool tune(const struct sim_cli *cli,
                 const struct sim_input *input,
                 const char *chosen,
                 struct model_plan *plan)
{
    struct model_errors errors = {.arena = cli->arena};
    struct sim_cli silent = *cli;
    const struct search_strategy *strategy;
    struct search_problem problem;
    struct search_tuned tuned;

    silent.errors = &errors;
    strategy = search_strategy_find(TUNER, &errors);
    search_problem_make(cli->arena, &input->nccl, &problem);
    if (strcmp(chosen, TUNER) == 0 || strategy == NULL ||
        problem.class_count == 0 ||
        search_tune(&silent, input, strategy, &tuned) != MODEL_OK) {
        return false;
    }
    *plan = search_plan(cli->arena, &tuned.problem, tuned.outcome.configs,
                        strategy->name);
    return true;
}

static enum model_status print(struct sim_cli *cli,
                               const struct search_explanation *explanation)
{
    switch ((enum sim_format)cli->options.format) {
    case SIM_JSON:
        return search_explain_json(cli, explanation);
    case SIM_CSV:
        search_explain_csv(cli, explanation);
        break;
    case SIM_TEXT:
        search_explain_text(cli, explanation);
        break;
    }
    return MODEL_OK;
}

static enum model_status explain(struct sim_cli *cli,
                                 const struct sim_input *input,
                                 const struct sim_request *request,
                                 const char *strategy)
{
    struct sim *sim = sim_new(cli->arena, request, cli->errors);
    struct model_plan tuned = {.row_count = 0};
    struct sim_result result;
    struct search_explanation explanation = {.sim = sim,
                                             .request = request,
                                             .result = &result,
                                             .strategy = strategy};
    enum model_status status;
    bool has_tuned;

    if (sim == NULL) {
        return MODEL_BAD_INPUT;
    }
    status = sim_run(sim, &result, cli->errors);
    if (status != MODEL_OK) {
        return status;
    }
    has_tuned = tune(cli, input, strategy, &tuned);
    status =
        search_explain(cli->arena, has_tuned ? &tuned : NULL, &explanation);
    if (status != MODEL_OK) {
        return model_errors_add(cli->errors, status,
                                (struct model_place){"lagom", 0, 0}, NULL, NULL,
                                "out of memory");
    }
    return print(cli, &explanation);
}

/* NCCL's choices instead of an iteration. */
static enum model_status explain_nccl(struct sim_cli *cli)
{
    struct sim_input input;
    enum model_status status = sim_load_check(cli, true);

    if (status == MODEL_OK) {
        status = sim_load(cli, cli->options.topologies.items[0],
                          cli->options.workloads.items[0], &input);
    }
    return status == MODEL_OK ? search_explain_nccl(cli, &input) : status;
}

enum model_status search_command_explain(struct sim_cli *cli)
{
    struct sim_input input;
    struct model_plan plan = {.row_count = 0};
    struct sim_request request;
    const char *name;
    enum model_status status;

    if (cli->options.nccl != NULL) {
        return explain_nccl(cli);
    }
    status = search_request(cli, &input, &plan, &request, &name);

    return status == MODEL_OK ? explain(cli, &input, &request, name) : status;
}
