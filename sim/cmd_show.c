/*
 * cmd_show.c - a topology as YAML, one line or JSON; a workload as the list of
 * operations that it is lowered to.
 */
#include "sim/cmd_show.h"

#include "build/version.h"
#include "model/files.h"
#include "model/nccl/variables.h"
#include "model/nccl/xml_write.h"
#include "model/notation.h"
#include "model/plan.h"
#include "model/units.h"
#include "sim/csv.h"
#include "sim/draw.h"
#include "sim/json.h"
#include "sim/load.h"
#include "sim/report.h"

#include <stdlib.h>
#include <string.h>

/* -- topology -- */

static void print_origins(FILE *out, const struct model_topology *topology)
{
    for (const struct model_provenance_entry *entry =
             topology->provenance.first;
         entry != NULL; entry = entry->next) {
        char value[64];

        (void)fprintf(out, "# %-28s %-14s %-9s %s\n", entry->path,
                      model_units_print(entry->value, entry->dimension, value,
                                        sizeof(value)),
                      model_origin_names[entry->origin],
                      entry->source != NULL ? entry->source : "");
    }
}

static enum model_status topology_json(FILE *out,
                                       const struct model_topology *topology)
{
    struct sim_json *root = sim_json_object();
    struct sim_json *numbers;
    enum model_status status;

    sim_json_text(root, "version", LAGOM_VERSION);
    sim_json_text(root, "topology", topology->name);
    sim_json_text(root, "gpu", topology->gpu.name);
    sim_json_count(root, "nodes", topology->node_count);
    sim_json_count(root, "gpus_per_node", topology->gpus_per_node);
    sim_json_text(root, "nvlink", model_nvlink_names[topology->nvlink.kind]);
    numbers = sim_json_put_array(root, "numbers");
    for (const struct model_provenance_entry *entry =
             topology->provenance.first;
         entry != NULL; entry = entry->next) {
        struct sim_json *json = sim_json_append(numbers);
        char value[64];

        sim_json_text(json, "key", entry->path);
        sim_json_text(json, "value",
                      model_units_print(entry->value, entry->dimension, value,
                                        sizeof(value)));
        sim_json_text(json, "from", model_origin_names[entry->origin]);
        sim_json_text(json, "source", entry->source);
    }
    status = sim_json_print(root, out);
    sim_json_free(root);
    return status;
}

static void topology_csv(FILE *out, const struct model_topology *topology)
{
    (void)fputs("key,value,from,source\n", out);
    for (const struct model_provenance_entry *entry =
             topology->provenance.first;
         entry != NULL; entry = entry->next) {
        char value[64];

        sim_csv_text(out, entry->path);
        sim_csv_text(out, model_units_print(entry->value, entry->dimension,
                                            value, sizeof(value)));
        sim_csv_text(out, model_origin_names[entry->origin]);
        sim_csv_last(out, entry->source != NULL ? entry->source : "");
    }
}

/* One node as a file for NCCL. */
static enum model_status topology_xml(struct sim_cli *cli,
                                      const struct model_topology *topology)
{
    const struct model_xml_element *root =
        model_nccl_xml_tree(cli->arena, topology);
    int elements = model_nccl_xml_elements(root);

    if (elements > MODEL_NCCL_XML_ELEMENTS_MAX && !cli->options.quiet) {
        (void)fprintf(cli->log,
                      "lagom: warning: %d elements, of which NCCL reads %d\n",
                      elements, (int)MODEL_NCCL_XML_ELEMENTS_MAX);
    }
    return model_xml_write(root, cli->out);
}

static enum model_status
show_topology(struct sim_cli *cli, const char *name, struct model_node *root)
{
    struct model_topology topology;
    struct sim_sets for_topology;
    struct sim_sets for_workload;
    char text[128];
    enum model_status status = sim_load_params_check(cli, name);

    if (status != MODEL_OK) {
        return status;
    }
    sim_load_split(cli, &for_topology, &for_workload);
    status = model_topology_bind(cli->arena, root, name, for_topology.items,
                                 for_topology.count, &topology, cli->errors);
    if (status != MODEL_OK) {
        return status;
    }
    sim_load_notes(cli, &topology);
    if (cli->options.form == SIM_FORM_XML) {
        return topology_xml(cli, &topology);
    }
    if (cli->options.format == SIM_JSON) {
        return topology_json(cli->out, &topology);
    }
    if (cli->options.format == SIM_CSV) {
        topology_csv(cli->out, &topology);
        return MODEL_OK;
    }
    if (cli->options.form == SIM_FORM_LINE) {
        (void)fprintf(cli->out, "%s\n",
                      model_notation_print(cli->arena, &topology));
        return MODEL_OK;
    }
    if (cli->options.verbose) {
        print_origins(cli->out, &topology);
    }
    (void)fprintf(cli->out, "# %s\n# %s\n",
                  model_notation_print(cli->arena, &topology),
                  sim_report_guesses(&topology, text, sizeof(text)));
    sim_draw_topology(cli->arena, &topology, cli->out);
    return model_yaml_write(topology.tree, cli->out);
}

/* -- workload -- */

static void print_op(FILE *out,
                     const struct model_workload *workload,
                     const struct model_op *op)
{
    char text[64];

    (void)fprintf(out, "%-10s %-32s %-14s ", workload->streams[op->stream].name,
                  op->id, model_op_names[op->kind]);
    if (op->kind == MODEL_OP_GEMM) {
        (void)fprintf(out, "%.0f x %.0f x %.0f", op->m, op->n, op->k);
    } else {
        (void)fputs(
            model_units_print(op->bytes, MODEL_BYTES, text, sizeof(text)), out);
    }
    for (int i = 0; i < op->after_count; i++) {
        (void)fprintf(out, "%s%s", i == 0 ? "  after " : ", ",
                      workload->ops[op->after[i]].id);
    }
    (void)fputc('\n', out);
}

static void print_cycle(FILE *out, const struct model_workload *workload)
{
    const struct model_cycle *cycle = &workload->cycle;

    if (cycle->steps > 0) {
        (void)fprintf(out, "# %s to %s stand for %d equal steps of %d\n",
                      workload->ops[cycle->first].id,
                      workload->ops[cycle->end - 1].id, cycle->repeats,
                      cycle->steps);
    }
}

static enum model_status workload_json(FILE *out,
                                       const struct model_workload *workload)
{
    struct sim_json *root = sim_json_object();
    struct sim_json *ops;
    enum model_status status;

    sim_json_text(root, "version", LAGOM_VERSION);
    sim_json_text(root, "workload", workload->name);
    ops = sim_json_put_array(root, "ops");
    for (int i = 0; i < workload->op_count; i++) {
        const struct model_op *op = &workload->ops[i];
        struct sim_json *json = sim_json_append(ops);

        sim_json_text(json, "id", op->id);
        sim_json_text(json, "kind", model_op_names[op->kind]);
        sim_json_text(json, "stream", workload->streams[op->stream].name);
        sim_json_text(json, "window", op->window);
        sim_json_number(json, "repeats", model_workload_repeats(workload, i));
        if (op->kind == MODEL_OP_GEMM) {
            sim_json_number(json, "m", op->m);
            sim_json_number(json, "n", op->n);
            sim_json_number(json, "k", op->k);
        } else {
            sim_json_number(json, "size_bytes", op->bytes);
        }
    }
    status = sim_json_print(root, out);
    sim_json_free(root);
    return status;
}

static void workload_csv(FILE *out, const struct model_workload *workload)
{
    (void)fputs("id,kind,stream,window,m,n,k,bytes,repeats\n", out);
    for (int i = 0; i < workload->op_count; i++) {
        const struct model_op *op = &workload->ops[i];

        sim_csv_text(out, op->id);
        sim_csv_text(out, model_op_names[op->kind]);
        sim_csv_text(out, workload->streams[op->stream].name);
        sim_csv_text(out, op->window != NULL ? op->window : "");
        if (op->kind == MODEL_OP_GEMM) {
            (void)fprintf(out, "%.0f,%.0f,%.0f,", op->m, op->n, op->k);
        } else {
            (void)fprintf(out, ",,,%.0f", op->bytes);
        }
        (void)fprintf(out, ",%.0f\n", model_workload_repeats(workload, i));
    }
}

/*
 * A workload in the model form is lowered for the number of ranks of a
 * topology.
 */
static enum model_status show_workload(struct sim_cli *cli,
                                       const char *name,
                                       struct model_node *root,
                                       const char *topology)
{
    struct sim_input input;
    struct sim_sets for_topology;
    struct sim_sets for_workload;
    enum model_status status =
        sim_load_topology(cli, topology, NULL, &input.topology);

    sim_load_split(cli, &for_topology, &for_workload);
    if (status == MODEL_OK) {
        status = model_workload_bind(cli->arena, root, name, for_workload.items,
                                     for_workload.count, &input.topology,
                                     &input.workload, cli->errors);
    }
    if (status != MODEL_OK) {
        return status;
    }
    if (cli->options.format == SIM_JSON) {
        return workload_json(cli->out, &input.workload);
    }
    if (cli->options.format == SIM_CSV) {
        workload_csv(cli->out, &input.workload);
        return MODEL_OK;
    }
    (void)fprintf(cli->out, "# %s: %d operations on %d streams, %d GPUs\n",
                  input.workload.name, input.workload.op_count,
                  input.workload.stream_count,
                  model_topology_rank_count(&input.topology));
    print_cycle(cli->out, &input.workload);
    for (int i = 0; i < input.workload.op_count; i++) {
        print_op(cli->out, &input.workload, &input.workload.ops[i]);
    }
    return MODEL_OK;
}

/*
 * The tree of a topology or a workload: a shipped topology, then a shipped
 * workload, or any file. Read once, so that it may be a pipe.
 */
static struct model_node *read_tree(struct sim_cli *cli, const char *name)
{
    struct model_errors ignored = {.arena = cli->arena};
    struct model_place place = {"lagom", 0, 0};
    struct sim_sets for_topology;
    struct sim_sets for_workload;
    const char *path;

    if (model_notation_is(name) && !model_file_exists(name)) {
        return model_notation_parse(cli->arena, name, cli->errors);
    }
    path =
        model_file_find(cli->arena, "workloads", name, place, NULL, &ignored);
    if (path == NULL) {
        path = model_file_find(cli->arena, "topologies", name, place, NULL,
                               cli->errors);
    }
    sim_load_split(cli, &for_topology, &for_workload);
    return path != NULL
               ? model_topology_file(cli->arena, path, for_topology.items,
                                     for_topology.count, cli->errors)
               : NULL;
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* The shipped names of a folder, sorted, each once. */
static void list_names(struct sim_cli *cli, const char *folder)
{
    const char *const *names = model_file_names(cli->arena, folder);
    const char **sorted;
    size_t count = 0;

    while (names[count] != NULL) {
        count++;
    }
    sorted = model_arena_array(cli->arena, count + 1, sizeof(const char *));
    for (size_t i = 0; i < count; i++) {
        sorted[i] = names[i];
    }
    qsort(sorted, count, sizeof(const char *), compare_names);
    (void)fprintf(cli->out, "%s\n", folder);
    for (size_t i = 0; i < count; i++) {
        /* Parts of topologies (model/topology_read.c), and what records gave
           (validate/fitted.c). */
        if (strcmp(sorted[i], "defaults") == 0 ||
            strcmp(sorted[i], "fitted") == 0) {
            continue;
        }
        if (i == 0 || strcmp(sorted[i], sorted[i - 1]) != 0) {
            (void)fprintf(cli->out, "  %s\n", sorted[i]);
        }
    }
}

enum model_status sim_command_show(struct sim_cli *cli)
{
    const struct sim_cli_list *operands = &cli->options.operands;
    struct model_node *root;

    if (operands->count == 0) {
        list_names(cli, "topologies");
        list_names(cli, "topologies/gpu");
        list_names(cli, "topologies/nccl");
        list_names(cli, "workloads");
        list_names(cli, "validate/records");
        return MODEL_OK;
    }
    root = read_tree(cli, operands->items[0]);
    if (root == NULL) {
        return MODEL_BAD_INPUT;
    }
    return model_topology_is(root)
               ? show_topology(cli, operands->items[0], root)
               : show_workload(cli, operands->items[0], root,
                               operands->count > 1 ? operands->items[1]
                                                   : "lagom-a-1node");
}

/* -- help -- */

static void help_readings(struct sim_cli *cli)
{
    struct sim_cli_reading row;

    (void)fputs("How the strategy lagom reads its paper (arXiv 2602.20656, "
                "section 3.4) where that\nleaves a hole: --reading NAME=VALUE. "
                "The first value is the default, by the text's\nsense.\n",
                cli->out);
    for (int i = 0; (row = sim_cli_reading(i)).name != NULL; i++) {
        (void)fprintf(cli->out, "\n%s: %s\n", row.name, row.summary);
        for (int j = 0; row.values[j] != NULL; j++) {
            (void)fprintf(cli->out, "  %-12s%s\n", row.values[j],
                          row.meanings[j]);
        }
    }
}

enum model_status sim_command_help(struct sim_cli *cli)
{
    static const struct {
        const char *name;
        const char *first; /* said before the keys */
        const struct model_field *fields;
    } files[] = {
        {"topology",
         "base: NAME takes what a file leaves out from another topology.\n"
         "A topology file of NCCL (NCCL_TOPO_DUMP_FILE) may stand for a file.\n"
         "Where a required key is missing then, the GPU's file or\n"
         "topologies/defaults.yaml gives it. A number written without `from`\n"
         "counts as a guess.\n\n",
         model_topology_fields},
        {"gpu",
         "base: NAME takes what a file leaves out from another GPU's file.\n"
         "A number written without `from` counts as a guess.\n\n",
         model_gpu_fields},
        {"workload", "", model_workload_fields},
        {"plan", "", model_plan_fields},
        {"params", "", model_params_fields}};
    const struct sim_cli_list *operands = &cli->options.operands;
    const char *what = operands->count > 0 ? operands->items[0] : NULL;
    const char *key = operands->count > 1 ? operands->items[1] : NULL;

    if (what == NULL) {
        sim_cli_overview(cli->out);
        (void)fputs(
            "\nlagom help topology|gpu|workload|plan|params [KEY] lists the "
            "keys of a file,\nlagom help nccl [VARIABLE] NCCL's variables,\n"
            "lagom help readings how lagom reads its paper.\n",
            cli->out);
        return MODEL_OK;
    }
    if (sim_cli_find(what) != NULL && key == NULL) {
        sim_cli_help(sim_cli_find(what), cli->out);
        return MODEL_OK;
    }
    if (strcmp(what, "readings") == 0 && key == NULL) {
        help_readings(cli);
        return MODEL_OK;
    }
    if (strcmp(what, "nccl") == 0 &&
        model_nccl_variables_help(cli->arena, key, cli->out)) {
        return MODEL_OK;
    }
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (strcmp(files[i].name, what) == 0 && key == NULL) {
            (void)fputs(files[i].first, cli->out);
        }
        if (strcmp(files[i].name, what) == 0 &&
            model_schema_help(files[i].fields, key, cli->out)) {
            return MODEL_OK;
        }
    }
    return model_errors_add(
        cli->errors, MODEL_USAGE, (struct model_place){"lagom", 0, 0}, NULL,
        strcmp(what, "nccl") == 0
            ? model_nccl_variable_hint(cli->arena, key)
            : "write lagom help topology, gpu, workload, plan, params, nccl, "
              "readings, or the name of a command; a key below another as "
              "node.nics",
        "no help on %s%s%s", what, key != NULL ? " " : "",
        key != NULL ? key : "");
}
