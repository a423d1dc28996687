/*
 * cmd_validate.c - `lagom validate`: predicted against measured.
 */
#include "validate/commands.h"

#include "model/files.h"
#include "sim/load.h"
#include "validate/measured.h"
#include "validate/verdict_print.h"

#include <string.h>

enum { WORST_SHOWN = 10 };

static enum model_status
usage(struct sim_cli *cli, const char *hint, const char *message)
{
    return model_errors_add(cli->errors, MODEL_USAGE,
                            (struct model_place){"lagom", 0, 0}, NULL, hint,
                            "%s", message);
}

/* All that the command works on. */
struct validation {
    struct model_arena *scratch; /* of the predictions */
    struct validate_records records;
    struct validate_predictor *predictor;
    struct validate_prediction *predictions;
    struct validate_fits fits;
    struct validate_budgets budgets;
    struct validate_verdict verdict;
    struct validate_worsts worsts;
    struct sim_sets sets;
};

/* -- input -- */

static enum model_status check(struct sim_cli *cli)
{
    const struct sim_cli_list *topologies = &cli->options.topologies;

    if (topologies->count > 1) {
        return usage(cli, "leave it out: records name theirs",
                     "this command takes one topology");
    }
    if (topologies->count == 1 && strcmp(topologies->items[0], "-") == 0) {
        return usage(cli, "write it to a file",
                     "a topology is read for each number of nodes");
    }
    if (topologies->count == 1) {
        struct model_topology topology;

        return sim_load_topology(cli, topologies->items[0], NULL, &topology);
    }
    return MODEL_OK;
}

/* The named files, or all shipped ones. */
static enum model_status read_records(struct sim_cli *cli,
                                      struct validate_records *records)
{
    const struct sim_cli_list *operands = &cli->options.operands;
    const char *const *shipped;

    for (int i = 0; i < operands->count; i++) {
        const char *path = validate_records_path(cli, operands->items[i]);

        if (path != NULL) {
            (void)validate_records_read(cli->arena, path, records, cli->errors);
        }
    }
    if (operands->count > 0) {
        return model_errors_status(cli->errors);
    }
    shipped = model_file_shipped(cli->arena, VALIDATE_RECORDS_FOLDER, ".csv");
    if (shipped[0] == NULL) {
        return usage(cli, "write lagom validate RECORDS.csv",
                     "no records named, and the shipped ones are not there");
    }
    for (int i = 0; shipped[i] != NULL; i++) {
        (void)validate_records_read(cli->arena, shipped[i], records,
                                    cli->errors);
    }
    return model_errors_status(cli->errors);
}

static enum model_status read_input(struct sim_cli *cli, struct validation *it)
{
    enum model_status status = check(cli);
    struct sim_sets others;

    if (status == MODEL_OK) {
        status = validate_min_size_read(cli, &it->verdict.min_size_bytes);
    }
    if (status == MODEL_OK) {
        status = read_records(cli, &it->records);
    }
    if (status == MODEL_OK) {
        status = validate_fits_read(cli->arena, &it->records, cli->params,
                                    &it->fits, cli->errors);
    }
    if (status == MODEL_OK && cli->options.budget_file != NULL) {
        status = validate_budgets_read(cli->arena, cli->options.budget_file,
                                       &it->budgets, cli->errors);
    }
    sim_load_split(cli, &it->sets, &others);
    return status;
}

/* -- work -- */

static enum model_status judge(struct sim_cli *cli, struct validation *it)
{
    const struct sim_cli_list *topologies = &cli->options.topologies;
    enum model_status status = validate_predictor_make(
        cli->arena, &it->records,
        topologies->count > 0 ? topologies->items[0] : NULL, &it->predictor,
        cli->errors);

    it->predictions = model_arena_array(cli->arena, (size_t)it->records.count,
                                        sizeof(*it->predictions));
    if (status == MODEL_OK) {
        status =
            validate_predict(it->predictor, it->sets.items, it->sets.count,
                             NULL, it->scratch, it->predictions, cli->errors);
    }
    if (status != MODEL_OK) {
        return status;
    }
    it->verdict.records = &it->records;
    it->verdict.predictions = it->predictions;
    it->verdict.predictor = it->predictor;
    it->verdict.fits = &it->fits;
    validate_judge(cli->arena, &it->verdict);
    return cli->options.format == SIM_CSV
               ? MODEL_OK
               : validate_worst(cli->arena, &it->verdict, it->sets.items,
                                it->sets.count, WORST_SHOWN, &it->worsts);
}

/* -- output -- */

/* After the table that they are about, wherever both go. */
static void say(const struct sim_cli *cli, const char *const *texts, int count)
{
    (void)fflush(cli->out);
    for (int i = 0; i < count; i++) {
        (void)fprintf(cli->log, "lagom: %s\n", texts[i]);
    }
}

static enum model_status print(struct sim_cli *cli, struct validation *it)
{
    bool limited = cli->options.budget_file != NULL;
    struct validate_spent spent =
        validate_spend(cli->arena, &it->budgets, &it->verdict);
    enum model_status status = MODEL_OK;

    switch ((enum sim_format)cli->options.format) {
    case SIM_JSON:
        status = validate_print_json(cli, &it->verdict, &it->worsts,
                                     limited ? &spent : NULL);
        break;
    case SIM_CSV:
        validate_print_csv(cli, &it->verdict);
        break;
    case SIM_TEXT:
        validate_print_text(cli, &it->verdict, &it->worsts);
        break;
    }
    say(cli, spent.exceeded, spent.exceeded_count);
    if (!cli->options.quiet) {
        say(cli, spent.loose, spent.loose_count);
    }
    if (status == MODEL_OK && spent.exceeded_count > 0) {
        return MODEL_BUDGET;
    }
    return it->verdict.pairs.count > 0 || status != MODEL_OK
               ? status
               : model_errors_add(cli->errors, MODEL_BAD_INPUT,
                                  (struct model_place){"lagom", 0, 0}, NULL,
                                  NULL, "no row to compare");
}

/* Apart from its caller, so that no local lives across the jump. */
static enum model_status guarded(struct sim_cli *cli, struct validation *it)
{
    jmp_buf out_of_memory;
    enum model_status status;

    if (it->scratch == NULL || setjmp(out_of_memory) != 0) {
        return MODEL_FAULT;
    }
    (void)model_arena_guard(it->scratch, &out_of_memory);
    status = read_input(cli, it);
    if (status == MODEL_OK) {
        status = judge(cli, it);
    }
    return status == MODEL_OK ? print(cli, it) : status;
}

enum model_status validate_command_validate(struct sim_cli *cli)
{
    struct validation it = {.scratch = model_arena_new()};
    enum model_status status = guarded(cli, &it);

    model_arena_free(it.scratch);
    return status;
}
