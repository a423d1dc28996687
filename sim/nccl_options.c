/*
 * nccl_options.c - from options and files to a version and its settings.
 */
#include "sim/nccl_options.h"

#include "model/nccl/settings_read.h"
#include "model/node_merge.h"
#include "model/text.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { FILE_BYTES_MAX = 1 << 20 };

bool sim_nccl_as_observed(const struct sim_cli *cli)
{
    return cli->options.nccl == NULL || cli->options.nccl[0] == '\0';
}

static enum model_status read_version(struct sim_cli *cli,
                                      const struct model_topology *topology,
                                      struct model_nccl_version *version)
{
    const struct model_node *nccl = model_node_find(topology->tree, "nccl");
    const struct model_node *node =
        model_node_is_mapping(nccl) ? model_node_find(nccl, "version") : NULL;

    if (!sim_nccl_as_observed(cli)) {
        return model_nccl_version_read(cli->arena, cli->options.nccl,
                                       (struct model_place){"--nccl", 0, 0},
                                       NULL, version, cli->errors);
    }
    return model_nccl_version_read(cli->arena, topology->nccl.version,
                                   node != NULL ? node->place
                                                : topology->tree->place,
                                   "nccl.version", version, cli->errors);
}

/* The topology's variables, each at its place in the file. */
static void read_topology(struct model_nccl_reader *reader,
                          const struct model_topology *topology)
{
    const struct model_node *nccl = model_node_find(topology->tree, "nccl");
    const struct model_node *env =
        model_node_is_mapping(nccl) ? model_node_find(nccl, "env") : NULL;

    for (const struct model_node *item = env != NULL ? env->first : NULL;
         item != NULL; item = item->next) {
        (void)model_nccl_settings_read(reader, item->text, item->place);
    }
}

/* -- a file -- */

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t')) {
        at++;
    }
    return at;
}

/* The end of a value: of its quotes, or before blanks and a comment. */
static void trim_value(const char **start, const char **end)
{
    const char *at = *start;
    const char *last = *end;

    if (at < last && (*at == '"' || *at == '\'')) {
        const char *quote = memchr(at + 1, *at, (size_t)(last - at - 1));

        if (quote != NULL) {
            *start = at + 1;
            *end = quote;
            return;
        }
    }
    for (; at < last; at++) {
        if (*at == '#' && (at == *start || at[-1] == ' ' || at[-1] == '\t')) {
            last = at;
        }
    }
    while (last > *start && isspace((unsigned char)last[-1])) {
        last--;
    }
    *end = last;
}

/* One line of the file, from `at` to `end`, which starts at `start`. */
static void read_line(struct model_nccl_reader *reader,
                      struct model_place place,
                      const char *start,
                      const char *end)
{
    const char *at = skip_blanks(start, end);
    const char *name;
    const char *value;

    if (at == end || *at == '#') {
        return;
    }
    if (end - at > 7 && strncmp(at, "export", 6) == 0 &&
        (at[6] == ' ' || at[6] == '\t')) {
        at = skip_blanks(at + 6, end);
    }
    place.column = (int)(at - start) + 1;
    name = at;
    while (at < end && (isalnum((unsigned char)*at) || *at == '_')) {
        at++;
    }
    if (at == name || at == end || *at != '=') {
        (void)model_errors_add(reader->errors, MODEL_BAD_INPUT, place, NULL,
                               "write NAME=VALUE, without blanks around =",
                               "not a variable with a value");
        return;
    }
    if (at - name < 4 || strncasecmp(name, "NCCL", 4) != 0) {
        return;
    }
    value = at + 1;
    trim_value(&value, &end);
    (void)model_nccl_settings_read(
        reader,
        model_arena_format(reader->arena, "%.*s=%.*s", (int)(at - name), name,
                           (int)(end - value), value),
        place);
}

static void read_file(struct model_nccl_reader *reader, const char *file)
{
    struct model_text text;
    struct model_place place = {.file = file};
    const char *at;
    const char *end;

    if (!model_text_read(reader->arena, file, FILE_BYTES_MAX, &text,
                         reader->errors) ||
        !model_text_check(&text, reader->errors)) {
        return;
    }
    place.file = text.file;
    model_errors_excerpt(reader->errors, text.file, text.text, text.length);
    at = text.text;
    end = text.text + text.length;
    while (at < end) {
        const char *stop = at;

        while (stop < end && model_text_break_bytes(stop, end) == 0) {
            stop++;
        }
        place.line++;
        read_line(reader, place, at, stop);
        at = stop < end ? stop + model_text_break_bytes(stop, end) : stop;
    }
}

/* -- all of it -- */

static void print_notes(const struct sim_cli *cli,
                        const struct model_nccl_reader *reader)
{
    for (const struct model_nccl_note *note = reader->first; note != NULL;
         note = note->next) {
        if (note->quiet && !cli->options.verbose) {
            continue;
        }
        model_text_print(note->place.file, cli->log);
        if (note->place.line > 0) {
            (void)fprintf(cli->log, ":%d:%d", note->place.line,
                          note->place.column);
        }
        (void)fputs(note->quiet ? ": note: " : ": warning: ", cli->log);
        model_text_print(note->variable, cli->log);
        (void)fputs(": ", cli->log);
        model_text_print(note->text, cli->log);
        (void)fputc('\n', cli->log);
    }
}

enum model_status sim_nccl_options(struct sim_cli *cli,
                                   struct model_topology *topology,
                                   struct model_nccl_version *version,
                                   struct model_nccl_settings *settings)
{
    struct model_nccl_reader reader = {.arena = cli->arena,
                                       .version = version,
                                       .settings = settings,
                                       .errors = cli->errors};
    int before = cli->errors->count;

    *settings = model_nccl_settings_none();
    if (read_version(cli, topology, version) != MODEL_OK) {
        return MODEL_BAD_INPUT;
    }
    read_topology(&reader, topology);
    if (cli->options.env_file != NULL) {
        read_file(&reader, cli->options.env_file);
    }
    for (int i = 0; i < cli->options.envs.count; i++) {
        (void)model_nccl_settings_read(&reader, cli->options.envs.items[i],
                                       (struct model_place){"--env", 0, 0});
    }
    print_notes(cli, &reader);
    if (cli->errors->count > before) {
        return MODEL_BAD_INPUT;
    }
    model_nccl_settings_apply(settings, topology);
    return MODEL_OK;
}
