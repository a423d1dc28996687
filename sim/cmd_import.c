/*
 * cmd_import.c - files of other tools as files of ours: one row a format.
 */
#include "sim/cmd_import.h"

#include "model/nccl/xml_read.h"
#include "sim/output.h"

#include <limits.h>
#include <string.h>

struct format {
    const char *name;
    const char *what;
    /* The tree to write; found and lost are sequences of texts, or NULL. */
    struct model_node *(*read)(struct sim_cli *cli,
                               const char *path,
                               struct model_node **found,
                               const struct model_node **lost);
};

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

static const struct format formats[] = {
    {"nccl-topo", "a topology file of NCCL (NCCL_TOPO_DUMP_FILE)",
     read_nccl_topo}};

enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

static enum model_status
usage(struct sim_cli *cli, const char *hint, const char *message)
{
    return model_errors_add(cli->errors, MODEL_USAGE,
                            (struct model_place){"lagom", 0, 0}, NULL, hint,
                            "%s", message);
}

static const struct format *find_format(struct sim_cli *cli, const char *name)
{
    const char *names[FORMATS + 1] = {NULL};
    const char *list = "";
    const char *nearest;

    for (int i = 0; i < FORMATS; i++) {
        if (strcmp(formats[i].name, name) == 0) {
            return &formats[i];
        }
        names[i] = formats[i].name;
        list = model_arena_format(cli->arena, "%s%s%s: %s", list,
                                  i > 0 ? "; " : "", formats[i].name,
                                  formats[i].what);
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

enum model_status sim_command_import(struct sim_cli *cli)
{
    const struct sim_cli_list *operands = &cli->options.operands;
    const struct format *format;
    struct model_node *found = NULL;
    const struct model_node *lost = NULL;
    const struct model_node *root;

    if (operands->count < 2) {
        return usage(cli, "write lagom import nccl-topo FILE",
                     operands->count == 0 ? "no format and no file given"
                                          : "no file given");
    }
    format = find_format(cli, operands->items[0]);
    if (format == NULL) {
        return MODEL_USAGE;
    }
    root = format->read(cli, operands->items[1], &found, &lost);
    if (root == NULL) {
        return model_errors_status(cli->errors);
    }
    say(cli, "found: ", found);
    say(cli, "lagom: warning: ", lost);
    return write_tree(cli, root);
}
