/*
 * version.c - a version's file, read by the tables of its sections.
 */
#include "model/nccl/version.h"

#include "model/files.h"

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

enum model_status model_nccl_version_read(struct model_arena *arena,
                                          const char *name,
                                          struct model_place place,
                                          const char *path,
                                          struct model_nccl_version *version,
                                          struct model_errors *errors)
{
    struct model_binding binding = {.arena = arena, .errors = errors};
    const char *file =
        model_file_find(arena, "topologies/nccl", name, place, path, errors);
    const struct model_node *root =
        file != NULL ? model_yaml_read_file(arena, file, errors) : NULL;

    *version = (struct model_nccl_version){.name = name};
    if (root == NULL) {
        return MODEL_BAD_INPUT;
    }
    return model_schema_bind(&binding, version_fields, root, version);
}
