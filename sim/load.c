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

void sim_load_split(const struct sim_cli *cli,
                    struct sim_cli_list *for_topology,
                    struct sim_cli_list *for_workload)
{
    const struct sim_cli_list *sets = &cli->options.sets;

    for_topology->count = 0;
    for_workload->count = 0;
    for (int i = 0; i < sets->count; i++) {
        struct sim_cli_list *list =
            is_for_workload(sets->items[i]) ? for_workload : for_topology;

        list->items[list->count++] = sets->items[i];
    }
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
    struct sim_cli_list for_topology;
    struct sim_cli_list for_workload;
    struct model_nccl_settings settings;
    enum model_status status;

    sim_load_split(cli, &for_topology, &for_workload);
    status =
        model_topology_read(cli->arena, topology, for_topology.items,
                            for_topology.count, &input->topology, cli->errors);
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
