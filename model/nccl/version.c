/*
 * version.c - a version's file, read by the tables of its sections.
 */
#include "model/nccl/version.h"

#include "model/files.h"

#include <string.h>

static const char FOLDER[] = "topologies/nccl";

#define AT(member) offsetof(struct model_nccl_version, member)

static const struct model_field version_fields[] = {
    {.key = "release",
     .kind = MODEL_FIELD_TEXT,
     .offset = AT(release),
     .required = true,
     .help = "the release that the constants are of"},
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
