/*
 * chosen.c - a plan from a file, or from a strategy.
 */
#include "search/chosen.h"

#include "search/tuned.h"

/* A misspelt window would leave a collective to NCCL without a word. */
static void warn_of_idle_rows(struct sim_cli *cli,
                              const struct model_plan *plan,
                              const struct model_workload *workload)
{
    for (int i = 0; i < plan->row_count; i++) {
        if (!model_plan_row_matches(&plan->rows[i], workload)) {
            model_text_print(plan->rows[i].place.file, cli->log);
            (void)fprintf(cli->log,
                          ":%d: warning: collectives[%d] matches no "
                          "collective\n",
                          plan->rows[i].place.line, i);
        }
    }
}

/* Options of a search would be lost without a word where none is made. */
static enum model_status check_search_options(struct sim_cli *cli)
{
    const struct sim_options *options = &cli->options;
    bool reads = options->readings.count > 0;

    if (options->strategy != NULL || (!reads && options->budget == 0)) {
        return MODEL_OK;
    }
    return model_errors_add(cli->errors, MODEL_USAGE,
                            (struct model_place){"lagom", 0, 0}, NULL,
                            "write --strategy lagom, too",
                            "nothing is searched: --%s is for a search",
                            reads ? "reading" : "budget");
}

enum model_status search_choose(struct sim_cli *cli,
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
    status = check_search_options(cli);
    if (status != MODEL_OK) {
        return status;
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

enum model_status search_request(struct sim_cli *cli,
                                 struct sim_input *input,
                                 struct model_plan *plan,
                                 struct sim_request *request,
                                 const char **name)
{
    enum model_status status = sim_load_check(cli, true);

    if (status == MODEL_OK) {
        status = sim_load(cli, cli->options.topologies.items[0],
                          cli->options.workloads.items[0], input);
    }
    if (status == MODEL_OK) {
        status = search_choose(cli, input, plan, name);
    }
    if (status != MODEL_OK) {
        return status;
    }
    *request =
        (struct sim_request){.topology = &input->topology,
                             .workload = &input->workload,
                             .plan = plan,
                             .nccl = &input->nccl,
                             .all_ranks = cli->options.ranks == SIM_RANKS_ALL,
                             .seed = cli->options.seed};
    return MODEL_OK;
}
