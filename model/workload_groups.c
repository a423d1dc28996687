/*
 * workload_groups.c - communicators: world, node, and the file's own.
 */
#include "model/workload_build.h"

struct pattern {
    int size, stride;
};

#define AT(member) offsetof(struct pattern, member)

static const struct model_field pattern_fields[] = {
    {.key = "size",
     .kind = MODEL_FIELD_COUNT,
     .dimension = MODEL_COUNT,
     .offset = AT(size),
     .min = 1,
     .max = 16777216,
     .required = true,
     .help = "ranks of each group"},
    {.key = "stride",
     .kind = MODEL_FIELD_COUNT,
     .dimension = MODEL_COUNT,
     .offset = AT(stride),
     .min = 1,
     .max = 16777216,
     .default_text = "1",
     .help = "from one member to the next"},
    {.key = NULL}};

static enum model_status read_list(struct model_builder *builder,
                                   const struct model_node *list,
                                   int rank_count,
                                   struct model_errors *errors)
{
    int *ranks = model_arena_array(builder->arena, (size_t)list->count + 1,
                                   sizeof(*ranks));
    int count = 0;
    const char *key =
        model_arena_format(builder->arena, "groups.%s", list->key);

    if (list->kind != MODEL_SEQUENCE || list->count == 0) {
        return model_errors_add(errors, MODEL_BAD_INPUT, list->place, key,
                                "write [0, 1, 2, 3], or {size: 4, stride: 2}",
                                "not a list of ranks");
    }
    for (const struct model_node *item = list->first; item != NULL;
         item = item->next) {
        double value = -1.0;

        if (item->kind != MODEL_SCALAR ||
            model_units_parse(item->text, MODEL_COUNT, &value, NULL) !=
                MODEL_OK ||
            value >= (double)rank_count ||
            (count > 0 && (int)value <= ranks[count - 1])) {
            return model_errors_add(
                errors, MODEL_BAD_INPUT, item->place, key,
                model_arena_format(builder->arena,
                                   "write ascending ranks from 0 to %d",
                                   rank_count - 1),
                "bad rank \"%s\"",
                item->kind == MODEL_SCALAR ? item->text : "...");
        }
        ranks[count++] = (int)value;
    }
    model_builder_group(builder, list->key, ranks, count);
    return MODEL_OK;
}

/* {size: 4, stride: 2}: a family that holds every rank once. */
static enum model_status read_pattern(struct model_builder *builder,
                                      const struct model_node *node,
                                      int rank_count,
                                      struct model_errors *errors)
{
    const char *key =
        model_arena_format(builder->arena, "groups.%s", node->key);
    struct model_binding binding = {
        .arena = builder->arena, .errors = errors, .path = key};
    struct model_group *group;
    struct pattern pattern = {.size = 1};
    int index;

    if (model_schema_bind(&binding, pattern_fields, node, &pattern) !=
        MODEL_OK) {
        return MODEL_BAD_INPUT;
    }
    if (rank_count % pattern.size != 0 ||
        rank_count / pattern.size % pattern.stride != 0) {
        return model_errors_add(errors, MODEL_BAD_INPUT, node->place, key,
                                "size times stride must divide the ranks",
                                "%d ranks do not divide into groups of %d at "
                                "stride %d",
                                rank_count, pattern.size, pattern.stride);
    }
    index = model_builder_group(builder, node->key, NULL, pattern.size);
    group = &builder->workload->groups[index];
    group->stride = pattern.stride;
    group->family = true;
    return MODEL_OK;
}

static enum model_status read_group(struct model_builder *builder,
                                    const struct model_node *node,
                                    int rank_count,
                                    struct model_errors *errors)
{
    return node->kind == MODEL_MAPPING
               ? read_pattern(builder, node, rank_count, errors)
               : read_list(builder, node, rank_count, errors);
}

/* The groups that every workload has, then the file's own. */
enum model_status model_read_groups(struct model_builder *builder,
                                    const struct model_node *groups,
                                    const struct model_topology *topology,
                                    struct model_errors *errors)
{
    int rank_count = model_topology_rank_count(topology);
    enum model_status status = MODEL_OK;
    int node;

    model_builder_group(builder, "world", NULL, rank_count);
    node = model_builder_group(builder, "node", NULL, topology->gpus_per_node);
    builder->workload->groups[node].family = true;
    for (const struct model_node *list = groups != NULL ? groups->first : NULL;
         list != NULL; list = list->next) {
        if (model_builder_find_group(builder, list->key) >= 0) {
            status = model_errors_add(errors, MODEL_BAD_INPUT, list->key_place,
                                      "groups", "choose another name",
                                      "\"%s\" is always there", list->key);
        } else if (read_group(builder, list, rank_count, errors) != MODEL_OK) {
            /* Known by name, so that its users are not faults too. */
            (void)model_builder_group(builder, list->key, NULL, 1);
            status = MODEL_BAD_INPUT;
        }
    }
    return status;
}
