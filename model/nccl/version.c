/*
 * version.c - a version's file, read by the tables of its sections.
 */
#include "model/nccl/version.h"

#include "model/files.h"

#include <stdlib.h>
#include <string.h>

static const char FOLDER[] = "topologies/nccl";

#define AT(member) offsetof(struct model_nccl_version, member)

static const struct model_field version_fields[] = {
    {.key = "release",
     .kind = MODEL_FIELD_TEXT,
     .offset = AT(release),
     .required = true,
     .help = "the release that the constants are of"},
    {.key = "since",
     .kind = MODEL_FIELD_TEXT,
     .offset = AT(since),
     .required = true,
     .help = "the first release that these rules are nearest to"},
    {.key = "graph",
     .kind = MODEL_FIELD_STRUCT,
     .offset = AT(graph),
     .fields = model_nccl_graph_fields,
     .required = true,
     .help = "of the graph search"},
    {.key = "tuning",
     .kind = MODEL_FIELD_STRUCT,
     .offset = AT(tuning),
     .fields = model_nccl_tuning_fields,
     .required = true,
     .help = "of the tuning model"},
    {.key = "settings",
     .kind = MODEL_FIELD_STRUCT,
     .offset = AT(settings),
     .fields = model_nccl_settings_fields,
     .required = true,
     .help = "how variables are read"},
    {.key = NULL}};

/* Versions are few: all are named where one is asked for that is none. */
static enum model_status report_unknown(struct model_arena *arena,
                                        const char *name,
                                        struct model_place place,
                                        const char *path,
                                        struct model_errors *errors)
{
    const char *const *names = model_file_names(arena, FOLDER);
    const char *list = NULL;

    for (int i = 0; names[i] != NULL; i++) {
        bool twice = false;

        for (int j = 0; j < i; j++) {
            twice = twice || strcmp(names[j], names[i]) == 0;
        }
        if (!twice) {
            list = list == NULL
                       ? names[i]
                       : model_arena_format(arena, "%s, %s", list, names[i]);
        }
    }
    return model_errors_add(
        errors, MODEL_BAD_INPUT, place, path,
        model_arena_format(arena, "write one of %s: the rules of the nearest",
                           list != NULL ? list : "topologies/nccl"),
        "no such version of NCCL: \"%s\"", name);
}

static bool is_known(struct model_arena *arena, const char *name)
{
    const char *const *names = model_file_names(arena, FOLDER);

    for (int i = 0; names[i] != NULL; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return model_file_exists(name);
}

enum model_status model_nccl_version_read(struct model_arena *arena,
                                          const char *name,
                                          struct model_place place,
                                          const char *path,
                                          struct model_nccl_version *version,
                                          struct model_errors *errors)
{
    struct model_binding binding = {.arena = arena, .errors = errors};
    const struct model_node *root;
    const char *file;

    *version = (struct model_nccl_version){.name = name};
    if (!is_known(arena, name)) {
        return report_unknown(arena, name, place, path, errors);
    }
    file = model_file_find(arena, FOLDER, name, place, path, errors);
    root = file != NULL ? model_yaml_read_file(arena, file, errors) : NULL;
    if (root == NULL) {
        return MODEL_BAD_INPUT;
    }
    return model_schema_bind(&binding, version_fields, root, version);
}

const struct model_nccl_version *model_nccl_versions_read(
    struct model_arena *arena, int *count, struct model_errors *errors)
{
    const char *const *names = model_file_names(arena, FOLDER);
    struct model_nccl_version *list = NULL;
    int room = 0;

    *count = 0;
    for (int i = 0; names[i] != NULL; i++) {
        bool twice = false;

        for (int j = 0; j < i; j++) {
            twice = twice || strcmp(names[j], names[i]) == 0;
        }
        if (twice) {
            continue;
        }
        list = model_arena_grow(arena, list, *count, &room, sizeof(*list));
        if (model_nccl_version_read(arena, names[i],
                                    (struct model_place){FOLDER, 0, 0}, NULL,
                                    &list[*count], errors) != MODEL_OK) {
            return NULL;
        }
        (*count)++;
    }
    return list;
}

/* "2.27.7" as a number that grows with it, or -1. */
static long release_number(const char *text)
{
    long number = 0;

    for (int part = 0; part < 3; part++) {
        char *end;
        long value = *text >= '0' && *text <= '9' ? strtol(text, &end, 10) : -1;

        if (value < 0 || value > 999) {
            return part == 0 ? -1 : number * (part == 1 ? 1000000 : 1000);
        }
        number = number * 1000 + value;
        text = *end == '.' ? end + 1 : "";
    }
    return number;
}

const struct model_nccl_version *model_nccl_version_nearest(
    const struct model_nccl_version *list, int count, const char *release)
{
    const struct model_nccl_version *nearest = NULL;
    long wanted = release_number(release);

    if (wanted < 0) {
        return NULL;
    }
    for (int i = 0; i < count; i++) {
        long since = release_number(list[i].since);
        long best = nearest != NULL ? release_number(nearest->since) : -1;
        bool reached = since <= wanted;

        if (nearest == NULL || (reached && (best > wanted || since > best)) ||
            (!reached && best > wanted && since < best)) {
            nearest = &list[i];
        }
    }
    return nearest;
}
