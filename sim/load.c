/*
 * load.c - from options to inputs.
 */
#include "sim/load.h"

#include "model/files.h"
#include "sim/nccl_options.h"

#include <string.h>

/* Top-level keys of a workload file; all other paths are the topology's. */
static bool is_for_workload(const char *path)
{
    static const char *const keys[] = {"model",   "parallel", "batch",    "ops",
                                       "streams", "groups",   "published"};
    size_t length = strcspn(path, ".[=");

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (strlen(keys[i]) == length && strncmp(path, keys[i], length) == 0) {
            return true;
        }
    }
    return false;
}

static struct sim_sets empty_sets(const struct sim_cli *cli)
{
    int params = cli->params != NULL ? cli->params->count : 0;

    return (struct sim_sets){.items = model_arena_array(
                                 cli->arena,
                                 (size_t)(cli->options.sets.count + params) + 1,
                                 sizeof(const char *))};
}

/* The values of --set for the one or the other, behind what is there. */
static void
add_sets(const struct sim_cli *cli, bool workload, struct sim_sets *sets)
{
    const struct sim_cli_list *given = &cli->options.sets;

    for (int i = 0; i < given->count; i++) {
        if (is_for_workload(given->items[i]) == workload) {
            sets->items[sets->count++] = given->items[i];
        }
    }
}

void sim_load_split(const struct sim_cli *cli,
                    struct sim_sets *for_topology,
                    struct sim_sets *for_workload)
{
    *for_topology = empty_sets(cli);
    *for_workload = empty_sets(cli);
    if (cli->params != NULL) {
        const char *const *fitted =
            model_params_sets(cli->arena, cli->params, cli->params_shift);

        for (int i = 0; i < cli->params->count; i++) {
            for_topology->items[for_topology->count++] = fitted[i];
        }
    }
    add_sets(cli, false, for_topology);
    add_sets(cli, true, for_workload);
}

enum model_status sim_load_params(struct sim_cli *cli)
{
    struct model_params *params;

    if (cli->options.params == NULL) {
        return MODEL_OK;
    }
    params = model_arena_alloc(cli->arena, sizeof(*params));
    cli->params = params;
    return model_params_read(cli->arena, cli->options.params, params,
                             cli->errors);
}

enum model_status sim_load_params_check(struct sim_cli *cli,
                                        const char *topology)
{
    struct model_topology plain;
    struct sim_sets sets = empty_sets(cli);

    if (cli->params == NULL || strcmp(topology, "-") == 0) {
        return MODEL_OK;
    }
    add_sets(cli, false, &sets);
    if (model_topology_read(cli->arena, topology, sets.items, sets.count,
                            &plain, cli->errors) != MODEL_OK) {
        return MODEL_BAD_INPUT;
    }
    return model_params_check(cli->params, &plain.provenance, plain.name,
                              cli->errors);
}

enum model_status sim_load_topology(struct sim_cli *cli,
                                    const char *name,
                                    const char *more,
                                    struct model_topology *topology)
{
    struct sim_sets sets;
    struct sim_sets others;

    sim_load_split(cli, &sets, &others);
    if (more != NULL) {
        sets.items[sets.count++] = more;
    }
    return sim_load_params_check(cli, name) == MODEL_OK
               ? model_topology_read(cli->arena, name, sets.items, sets.count,
                                     topology, cli->errors)
               : MODEL_BAD_INPUT;
}

static enum model_status
missing(struct sim_cli *cli, const char *hint, const char *message)
{
    struct model_place place = {"lagom", 0, 0};

    return model_errors_add(cli->errors, MODEL_USAGE, place, NULL, hint, "%s",
                            message);
}

enum model_status sim_load_check(struct sim_cli *cli, bool one)
{
    const struct sim_options *options = &cli->options;
    enum model_status status = MODEL_OK;

    if (options->topologies.count == 0) {
        status = missing(cli,
                         "write -t lagom-a-1node, a file, or "
                         "-t \"1x8 gpu:h100 nvswitch\"",
                         "no topology given");
    }
    if (options->workloads.count == 0) {
        status =
            missing(cli, "write -w phi-2-fsdp, or a file", "no workload given");
    }
    for (int i = 0; i < options->topologies.count; i++) {
        for (int j = 0; j < options->workloads.count; j++) {
            if (strcmp(options->topologies.items[i], "-") == 0 &&
                strcmp(options->workloads.items[j], "-") == 0) {
                return missing(cli, "write one of them to a file",
                               "topology and workload are both standard "
                               "input");
            }
        }
    }
    if (one &&
        (options->topologies.count > 1 || options->workloads.count > 1)) {
        status = missing(cli, "lagom compare takes several",
                         "this command takes one topology and one workload");
    }
    return status;
}

void sim_load_notes(struct sim_cli *cli, const struct model_topology *topology)
{
    const char *const *notes = topology->notes.items;

    if (cli->options.quiet ||
        (cli->noted != NULL && strcmp(cli->noted, topology->label) == 0)) {
        return;
    }
    for (int i = 0; i < topology->notes.count; i++) {
        (void)fputs("lagom: warning: ", cli->log);
        model_text_print(topology->label, cli->log);
        (void)fputs(": ", cli->log);
        model_text_print(notes[i], cli->log);
        (void)fputc('\n', cli->log);
    }
    cli->noted = topology->label;
}

enum model_status sim_load(struct sim_cli *cli,
                           const char *topology,
                           const char *workload,
                           struct sim_input *input)
{
    struct sim_sets for_workload = empty_sets(cli);
    struct model_nccl_settings settings;
    enum model_status status =
        sim_load_topology(cli, topology, NULL, &input->topology);

    if (status != MODEL_OK) {
        /* Say at once when the workload is not there either. */
        (void)model_file_find(cli->arena, "workloads", workload,
                              (struct model_place){"lagom", 0, 0}, NULL,
                              cli->errors);
        return status;
    }
    sim_load_notes(cli, &input->topology);
    status =
        sim_nccl_options(cli, &input->topology, &input->version, &settings);
    add_sets(cli, true, &for_workload);
    if (status == MODEL_OK) {
        status = model_workload_read(cli->arena, workload, for_workload.items,
                                     for_workload.count, &input->topology,
                                     &input->workload, cli->errors);
    }
    if (status == MODEL_OK) {
        model_nccl_make(cli->arena, &input->topology, &input->workload,
                        &input->version, &settings, sim_nccl_as_observed(cli),
                        &input->nccl);
    }
    return status;
}
