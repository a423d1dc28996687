/*
 * plan.c - reading, writing and matching of plans.
 */
#include "model/plan.h"

#include <string.h>

struct top {
    const char *strategy, *topology, *workload;
    struct model_list rows;
};

#define AT(member) offsetof(struct model_plan_row, member)

#define CHOICE(name, member, names, text)                                      \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_CHOICE, .offset = AT(member),       \
        .choices = (names), .help = (text)                                     \
    }

#define TEXT(name, member, text)                                               \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_TEXT, .offset = AT(member),         \
        .help = (text)                                                         \
    }

#define BYTES(name, member, low, high, text)                                   \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_QUANTITY, .dimension = MODEL_BYTES, \
        .offset = AT(member), .min = (low), .max = (high), .help = (text)      \
    }

static const struct model_field row_fields[] = {
    TEXT("op", op, "id of the op; * stands for any text in it"),
    TEXT("window", window, "overlap window of the op"),
    /* Stored relative to the first collective; see fix_row. */
    CHOICE("kind", kind, model_collective_names, "kind of collective"),
    BYTES("min_size", min_bytes, 0, 1e18, "least size"),
    BYTES("max_size", max_bytes, 0, 1e18, "largest size"),
    TEXT("group", group, "name of the group"),
    CHOICE("algorithm", config.algorithm, model_algorithm_names, "algorithm"),
    CHOICE("protocol", config.protocol, model_protocol_names, "protocol"),
    CHOICE("transport", config.transport, model_transport_names, "transport"),
    {.key = "channels",
     .kind = MODEL_FIELD_COUNT,
     .dimension = MODEL_COUNT,
     .offset = AT(config.channels),
     .min = 1,
     .max = 1024,
     .help = "CTAs"},
    {.key = "threads",
     .kind = MODEL_FIELD_COUNT,
     .dimension = MODEL_COUNT,
     .offset = AT(config.threads),
     .min = 32,
     .max = 1024,
     .help = "worker threads of a CTA"},
    BYTES("chunk",
          config.chunk_bytes,
          16.0,
          1073741824.0,
          "moved per ring step and channel"),
    {.key = NULL}};

const struct model_field model_plan_fields[] = {
    {.key = "strategy",
     .kind = MODEL_FIELD_TEXT,
     .offset = offsetof(struct top, strategy),
     .help = "which strategy made the plan"},
    {.key = "topology",
     .kind = MODEL_FIELD_TEXT,
     .offset = offsetof(struct top, topology),
     .help = "for which topology"},
    {.key = "workload",
     .kind = MODEL_FIELD_TEXT,
     .offset = offsetof(struct top, workload),
     .help = "for which workload"},
    {.key = "collectives",
     .kind = MODEL_FIELD_LIST,
     .offset = offsetof(struct top, rows),
     .fields = row_fields,
     .item_bytes = sizeof(struct model_plan_row),
     .required = true,
     .help = "rows; the first that matches counts"},
    {.key = NULL}};

/* Keys that a row left out read as zero: make them "unset". */
static void fix_row(struct model_plan_row *row, const struct model_node *node)
{
    row->place = node->place;
    if (model_node_find(node, "kind") == NULL) {
        row->kind = MODEL_UNSET;
    } else {
        row->kind += MODEL_OP_ALL_GATHER;
    }
    if (model_node_find(node, "algorithm") == NULL) {
        row->config.algorithm = MODEL_UNSET;
    }
    if (model_node_find(node, "protocol") == NULL) {
        row->config.protocol = MODEL_UNSET;
    }
    if (model_node_find(node, "transport") == NULL) {
        row->config.transport = MODEL_UNSET;
    }
}

enum model_status model_plan_read(struct model_arena *arena,
                                  const char *file,
                                  struct model_plan *plan,
                                  struct model_errors *errors)
{
    struct model_binding binding = {.arena = arena, .errors = errors};
    int before = errors->count;
    struct model_node *root = model_yaml_read_file(arena, file, errors);
    struct top top = {.strategy = NULL};
    const struct model_node *node;

    if (root == NULL ||
        model_schema_bind(&binding, model_plan_fields, root, &top) !=
            MODEL_OK ||
        errors->count > before) {
        return MODEL_BAD_INPUT;
    }
    plan->rows = top.rows.items;
    plan->row_count = top.rows.count;
    plan->strategy = top.strategy;
    node = model_node_find(root, "collectives")->first;
    for (int i = 0; i < plan->row_count; i++, node = node->next) {
        fix_row(&plan->rows[i], node);
    }
    return MODEL_OK;
}

static void put(struct model_arena *arena,
                struct model_node *mapping,
                const char *key,
                const char *text)
{
    if (text != NULL) {
        model_node_new(arena, MODEL_SCALAR, mapping, key, text);
    }
}

static void put_name(struct model_arena *arena,
                     struct model_node *mapping,
                     const char *key,
                     const char *const *names,
                     int index)
{
    if (index != MODEL_UNSET) {
        put(arena, mapping, key, names[index]);
    }
}

static void put_quantity(struct model_arena *arena,
                         struct model_node *mapping,
                         const char *key,
                         enum model_dimension dimension,
                         double value)
{
    char text[64];

    if (value > 0.0) {
        put(arena, mapping, key,
            model_units_print(value, dimension, text, sizeof(text)));
    }
}

static void put_row(struct model_arena *arena,
                    struct model_node *list,
                    const struct model_plan_row *row)
{
    struct model_node *item =
        model_node_new(arena, MODEL_MAPPING, list, NULL, NULL);
    const struct model_config *config = &row->config;

    put(arena, item, "op", row->op);
    put(arena, item, "window", row->window);
    put_name(arena, item, "kind", model_op_names, row->kind);
    put_quantity(arena, item, "min_size", MODEL_BYTES, row->min_bytes);
    put_quantity(arena, item, "max_size", MODEL_BYTES, row->max_bytes);
    put(arena, item, "group", row->group);
    put_name(arena, item, "algorithm", model_algorithm_names,
             config->algorithm);
    put_name(arena, item, "protocol", model_protocol_names, config->protocol);
    put_name(arena, item, "transport", model_transport_names,
             config->transport);
    put_quantity(arena, item, "channels", MODEL_COUNT, config->channels);
    put_quantity(arena, item, "threads", MODEL_COUNT, config->threads);
    put_quantity(arena, item, "chunk", MODEL_BYTES, config->chunk_bytes);
}

enum model_status model_plan_write(struct model_arena *arena,
                                   const struct model_plan *plan,
                                   const char *topology,
                                   const char *workload,
                                   FILE *stream)
{
    struct model_node *root =
        model_node_new(arena, MODEL_MAPPING, NULL, NULL, NULL);
    struct model_node *list;

    put(arena, root, "strategy", plan->strategy);
    put(arena, root, "topology", topology);
    put(arena, root, "workload", workload);
    list = model_node_new(arena, MODEL_SEQUENCE, root, "collectives", NULL);
    for (int i = 0; i < plan->row_count; i++) {
        put_row(arena, list, &plan->rows[i]);
    }
    return model_yaml_write(root, stream);
}

static bool text_matches(const char *wanted, const char *text)
{
    return wanted == NULL || (text != NULL && strcmp(wanted, text) == 0);
}

bool model_plan_row_takes(const struct model_plan_row *row,
                          const struct model_workload *workload,
                          const struct model_op *op)
{
    return (row->op == NULL || model_text_matches(row->op, op->id)) &&
           text_matches(row->window, op->window) &&
           text_matches(row->group, workload->groups[op->group].name) &&
           (row->kind == MODEL_UNSET || row->kind == op->kind) &&
           op->bytes >= row->min_bytes &&
           (!(row->max_bytes > 0.0) || op->bytes <= row->max_bytes);
}

bool model_plan_row_matches(const struct model_plan_row *row,
                            const struct model_workload *workload)
{
    for (int i = 0; i < workload->op_count; i++) {
        if (model_op_is_collective(&workload->ops[i]) &&
            model_plan_row_takes(row, workload, &workload->ops[i])) {
            return true;
        }
    }
    return false;
}

enum model_status model_plan_check(const struct model_plan *plan,
                                   const struct model_workload *workload,
                                   struct model_errors *errors)
{
    enum model_status status = MODEL_OK;
    bool any = false;

    for (int i = 0; i < plan->row_count; i++) {
        const struct model_plan_row *row = &plan->rows[i];
        bool matched = model_plan_row_matches(row, workload);

        any = any || matched;
        if (!matched && row->op != NULL) {
            status = model_errors_add(
                errors, MODEL_BAD_INPUT, row->place,
                model_arena_format(errors->arena, "collectives[%d].op", i),
                "write the id of a collective of the workload",
                "no collective \"%s\" that the row matches", row->op);
        }
    }
    if (!any && plan->row_count > 0 && status == MODEL_OK) {
        status = model_errors_add(errors, MODEL_BAD_INPUT, plan->rows[0].place,
                                  "collectives",
                                  "lagom show WORKLOAD lists its collectives",
                                  "no row matches any collective");
    }
    return status;
}

const struct model_plan_row *
model_plan_find(const struct model_plan *plan,
                const struct model_workload *workload,
                const struct model_op *op)
{
    for (int i = 0; plan != NULL && i < plan->row_count; i++) {
        if (model_plan_row_takes(&plan->rows[i], workload, op)) {
            return &plan->rows[i];
        }
    }
    return NULL;
}

struct model_config model_plan_config(const struct model_plan *plan,
                                      const struct model_workload *workload,
                                      const struct model_op *op,
                                      const struct model_nccl *nccl)
{
    struct model_config config = op->config;
    const struct model_plan_row *row = model_plan_find(plan, workload, op);

    if (row != NULL) {
        model_config_fill(&config, &row->config);
    }
    if (nccl != NULL) {
        config = model_nccl_complete(nccl, op, &config);
    }
    return config;
}
