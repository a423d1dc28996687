/*
 * cmd_import.c - files of other tools as files of ours; of those, the topology
 * files of NCCL.
 */
#include "sim/cmd_import.h"

#include "model/nccl/xml_read.h"
#include "sim/output.h"

#include <limits.h>
#include <string.h>

static struct model_node *read_nccl_topo(struct sim_cli *cli,
                                         const char *path,
                                         struct model_node **found,
                                         const struct model_node **lost)
{
    const struct sim_options *given = &cli->options;
    struct model_nccl_xml_options options = {
        .gpu = given->gpu,
        .name = given->name,
        .nodes = given->nodes < INT_MAX ? (int)given->nodes : INT_MAX};
    struct model_text text;
    const struct model_xml_element *system;
    struct model_node *root;

    if (!model_text_read(cli->arena, path, MODEL_XML_BYTES_MAX, &text,
                         cli->errors)) {
        return NULL;
    }
    system = model_xml_read(cli->arena, text, cli->errors);
    root = system != NULL ? model_nccl_xml_read(cli->arena, system, &options,
                                                found, cli->errors)
                          : NULL;
    *lost = root != NULL ? model_node_find(root, "notes") : NULL;
    return root;
}

static enum model_status
usage(struct sim_cli *cli, const char *hint, const char *message)
{
    return model_errors_add(cli->errors, MODEL_USAGE,
                            (struct model_place){"lagom", 0, 0}, NULL, hint,
                            "%s", message);
}

static void
say(struct sim_cli *cli, const char *how, const struct model_node *texts)
{
    for (const struct model_node *text = texts != NULL ? texts->first : NULL;
         text != NULL && !cli->options.quiet; text = text->next) {
        (void)fputs(how, cli->log);
        model_text_print(text->text, cli->log);
        (void)fputc('\n', cli->log);
    }
}

static enum model_status write_tree(struct sim_cli *cli,
                                    const struct model_node *root)
{
    struct sim_output output;
    bool complete;

    if (cli->options.output == NULL) {
        return model_yaml_write(root, cli->out);
    }
    if (sim_output_open(cli->arena, cli->options.output, &output,
                        cli->errors) != MODEL_OK) {
        return MODEL_BAD_INPUT;
    }
    complete = model_yaml_write(root, output.stream) == MODEL_OK;
    return sim_output_close(&output, complete, cli->errors);
}

enum model_status sim_import_nccl_topo(struct sim_cli *cli, const char *path)
{
    struct model_node *found = NULL;
    const struct model_node *lost = NULL;
    const struct model_node *root = read_nccl_topo(cli, path, &found, &lost);

    if (root == NULL) {
        return model_errors_status(cli->errors);
    }
    say(cli, "found: ", found);
    say(cli, "lagom: warning: ", lost);
    return write_tree(cli, root);
}

/* -- the command -- */

enum { FORMATS_MAX = 16 };

static const struct sim_import_format *find_format(struct sim_cli *cli,
                                                   const char *name)
{
    const char *names[FORMATS_MAX + 1] = {NULL};
    const char *list = "";
    const char *nearest;

    for (int i = 0; i < FORMATS_MAX && sim_import_formats[i].name != NULL;
         i++) {
        const struct sim_import_format *format = &sim_import_formats[i];

        if (strcmp(format->name, name) == 0) {
            return format;
        }
        names[i] = format->name;
        list =
            model_arena_format(cli->arena, "%s%s%s: %s", list,
                               i > 0 ? "; " : "", format->name, format->what);
    }
    nearest = model_nearest_name(name, names);
    (void)usage(
        cli,
        nearest != NULL
            ? model_arena_format(cli->arena, "did you mean \"%s\"?", nearest)
            : list,
        model_arena_format(cli->arena, "no such format: %s", name));
    return NULL;
}

enum model_status sim_command_import(struct sim_cli *cli)
{
    const struct sim_cli_list *operands = &cli->options.operands;
    const struct sim_import_format *format;

    if (operands->count < 2) {
        return usage(
            cli,
            model_arena_format(cli->arena, "write lagom import %s FILE",
                               operands->count == 0 ? "nccl-topo"
                                                    : operands->items[0]),
            operands->count == 0 ? "no format and no file given"
                                 : "no file given");
    }
    format = find_format(cli, operands->items[0]);
    return format != NULL ? format->run(cli, operands->items[1]) : MODEL_USAGE;
}
