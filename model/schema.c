/*
 * schema.c - binds a mapping to a struct by a table of rows.
 *
 * The children of a mapping are taken in the order of the file and each is
 * given to the reader of its row's kind; then rows without a child get their
 * default, or are missed. A fault never ends the walk, so that all of a file
 * come out in one go. Key paths are kept as a chain on the stack and made text
 * only when a fault or a provenance entry needs one.
 */
#include "model/schema.h"

#include "model/schema_source.h"

#include <limits.h>
#include <string.h>

static bool schema_fields_bind(const struct model_schema_at *at,
                               const struct model_field *fields,
                               const struct model_node *mapping,
                               char *target);

static bool schema_kind_check(const struct model_schema_at *at,
                              const struct model_node *node,
                              enum model_node_kind kind)
{
    static const char *const names[] = {[MODEL_SCALAR] = "a single value",
                                        [MODEL_SEQUENCE] = "a list",
                                        [MODEL_MAPPING] = "a mapping"};
    static const char *const hints[] = {
        [MODEL_SCALAR] = NULL,
        [MODEL_SEQUENCE] = "write \"[..., ...]\"",
        [MODEL_MAPPING] = "write \"{key: value, ...}\""};
    if (node->kind == kind) {
        return true;
    }
    model_schema_fault(at, node->place, hints[kind], "%s is wanted, this is %s",
                       names[kind], names[node->kind]);
    return false;
}

/* A single value that is there. */
static bool schema_scalar_check(const struct model_schema_at *at,
                                const struct model_node *node)
{
    if (!schema_kind_check(at, node, MODEL_SCALAR)) {
        return false;
    }
    if (node->text[0] == '\0' && !node->quoted) {
        model_schema_fault(at, node->place, at->field->help, "no value");
        return false;
    }
    return true;
}

static bool schema_range_check(const struct model_schema_at *at,
                               const struct model_node *node,
                               double value)
{
    const struct model_field *field = at->field;
    char range[160];
    bool open = !(field->max > 0.0) && !(field->min > 0.0);
    if (open || (value >= field->min &&
                 (field->max < field->min || value <= field->max))) {
        return true;
    }
    model_schema_range_print(field, range, sizeof range);
    model_schema_fault(
        at, node->place,
        model_arena_format(at->binding->arena, "write a value %s", range),
        "\"%s\" is out of range", node->text);
    return false;
}

/* Read a quantity or count, judge its range and record where it is from. */
static bool schema_number_read(const struct model_schema_at *at,
                               const struct model_node *node,
                               enum model_dimension dimension,
                               double *value)
{
    struct model_units_fault fault;
    double number = 0;
    if (!schema_scalar_check(at, node)) {
        return false;
    }
    if (model_units_parse(node->text, dimension, &number, &fault) != MODEL_OK) {
        if (fault.quote) {
            model_schema_fault(at, node->place, fault.hint, "\"%s\" %s",
                               node->text, fault.message);
        } else {
            model_schema_fault(at, node->place, fault.hint, "%s",
                               fault.message);
        }
        return false;
    }
    if (!schema_range_check(at, node, number)) {
        return false;
    }
    model_schema_record(at, node, number, dimension);
    *value = number;
    return true;
}

static void schema_quantity_read(const struct model_schema_at *at,
                                 const struct model_node *node,
                                 void *target)
{
    schema_number_read(at, node, at->field->dimension, target);
}

static void schema_count_read(const struct model_schema_at *at,
                              const struct model_node *node,
                              void *target)
{
    double number = 0;
    if (!schema_number_read(at, node, MODEL_COUNT, &number)) {
        return;
    }
    if (number > INT_MAX) {
        model_schema_fault(at, node->place, NULL, "\"%s\" is too large",
                           node->text);
        return;
    }
    *(int *)target = (int)number;
}

static void schema_bool_read(const struct model_schema_at *at,
                             const struct model_node *node,
                             void *target)
{
    if (!schema_scalar_check(at, node)) {
        return;
    }
    bool yes = strcmp(node->text, "true") == 0;
    if (!yes && strcmp(node->text, "false") != 0) {
        model_schema_fault(at, node->place, "write \"true\" or \"false\"",
                           "\"%s\" is neither true nor false", node->text);
        return;
    }
    *(bool *)target = yes;
}

static void schema_text_read(const struct model_schema_at *at,
                             const struct model_node *node,
                             void *target)
{
    if (schema_scalar_check(at, node)) {
        *(const char **)target = node->text;
    }
}

static void schema_choice_read(const struct model_schema_at *at,
                               const struct model_node *node,
                               void *target)
{
    if (schema_scalar_check(at, node)) {
        model_schema_word_read(at, node, at->field->choices, target);
    }
}

static void schema_struct_read(const struct model_schema_at *at,
                               const struct model_node *node,
                               void *target)
{
    schema_fields_bind(at, at->field->fields, node, target);
}

/* Bind each entry of a sequence by read, into an array of item_bytes each. */
static void schema_items_read(const struct model_schema_at *at,
                              const struct model_node *node,
                              struct model_list *list,
                              size_t item_bytes,
                              model_schema_reader *read)
{
    if (!schema_kind_check(at, node, MODEL_SEQUENCE)) {
        return;
    }
    char *items =
        model_arena_array(at->binding->arena, (size_t)node->count, item_bytes);
    struct model_schema_at item = *at;
    item.up = at;
    item.name = NULL;
    item.index = 0;
    for (const struct model_node *n = node->first; n != NULL; n = n->next) {
        read(&item, n, items + (size_t)item.index * item_bytes);
        item.index++;
    }
    *list = (struct model_list){items, node->count};
}

static void schema_list_read(const struct model_schema_at *at,
                             const struct model_node *node,
                             void *target)
{
    schema_items_read(at, node, target, at->field->item_bytes,
                      schema_struct_read);
}

static void schema_quantities_read(const struct model_schema_at *at,
                                   const struct model_node *node,
                                   void *target)
{
    struct model_list *list = target;
    if (at->field->one_or_more && node->kind == MODEL_SCALAR) {
        list->items = model_arena_array(at->binding->arena, 1, sizeof(double));
        list->count = 1;
        schema_quantity_read(at, node, list->items);
        return;
    }
    schema_items_read(at, node, target, sizeof(double), schema_quantity_read);
    if (at->field->one_or_more && list->count == 0 &&
        node->kind == MODEL_SEQUENCE) {
        model_schema_fault(at, node->place, at->field->help, "an empty list");
    }
}

static void schema_texts_read(const struct model_schema_at *at,
                              const struct model_node *node,
                              void *target)
{
    schema_items_read(at, node, target, sizeof(const char *), schema_text_read);
}

static void schema_node_read(const struct model_schema_at *at,
                             const struct model_node *node,
                             void *target)
{
    (void)at;
    *(const struct model_node **)target = node;
}

static const struct {
    model_schema_reader *read;
    bool single; /* written as one scalar */
    bool number; /* may be sourced */
} schema_kinds[] = {
    [MODEL_FIELD_QUANTITY] = {schema_quantity_read, true, true},
    [MODEL_FIELD_COUNT] = {schema_count_read, true, true},
    [MODEL_FIELD_BOOL] = {schema_bool_read, true, true},
    [MODEL_FIELD_TEXT] = {schema_text_read, true, true},
    [MODEL_FIELD_CHOICE] = {schema_choice_read, true, true},
    [MODEL_FIELD_STRUCT] = {schema_struct_read, false, false},
    [MODEL_FIELD_LIST] = {schema_list_read, false, false},
    [MODEL_FIELD_QUANTITIES] = {schema_quantities_read, false, true},
    [MODEL_FIELD_TEXTS] = {schema_texts_read, false, true},
    [MODEL_FIELD_NODE] = {schema_node_read, false, false},
};

/* Bind what stands at a key; target is the whole struct. */
static void schema_field_read(struct model_schema_at *at,
                              const struct model_node *node,
                              char *target)
{
    const struct model_field *field = at->field;
    if (field->kind == MODEL_FIELD_STRUCT && field->present_offset > 0) {
        *(bool *)(target + field->present_offset - 1) = true;
    }
    const struct model_node *value = node;
    if (field->sourced && schema_kinds[field->kind].number) {
        value = model_schema_claim_read(at, node);
    }
    if (value != NULL) {
        schema_kinds[field->kind].read(at, value, target + field->offset);
    }
}

/* The default as a node; scalars need no quotes in the table. */
static const struct model_node *
schema_default_node(const struct model_schema_at *at)
{
    const struct model_field *field = at->field;
    struct model_arena *arena = at->binding->arena;
    const char *text = field->default_text;
    if (!schema_kinds[field->kind].single || field->sourced) {
        return model_yaml_read_text(arena, "default", text, strlen(text),
                                    at->binding->errors);
    }
    struct model_node *node =
        model_node_new(arena, MODEL_SCALAR, NULL, NULL, text);
    node->place.file = "default";
    node->quoted = true;
    return node;
}

static void schema_missing_report(const struct model_schema_at *at,
                                  const struct model_node *mapping)
{
    const struct model_field *field = at->field;
    const char *hint = field->help;
    if (field->kind == MODEL_FIELD_QUANTITY ||
        field->kind == MODEL_FIELD_COUNT) {
        enum model_dimension dimension =
            field->kind == MODEL_FIELD_COUNT ? MODEL_COUNT : field->dimension;
        hint = model_arena_format(at->binding->arena, "write \"%s: %s\"",
                                  field->key, model_units_example(dimension));
    }
    model_schema_fault(at, mapping->place, hint, "required key is missing");
}

/*
 * A row whose key is absent. mapping is where it should have been, or NULL
 * inside a mapping that is absent itself, where nothing is required.
 */
static void schema_absent_fill(struct model_schema_at *at,
                               const struct model_node *mapping,
                               char *target)
{
    const struct model_field *field = at->field;
    if (field->default_text != NULL) {
        const struct model_node *node = schema_default_node(at);
        if (node != NULL) {
            schema_field_read(at, node, target);
        }
    } else if (field->required && mapping != NULL) {
        schema_missing_report(at, mapping);
    } else if (field->kind == MODEL_FIELD_STRUCT) {
        const struct model_field *row = field->fields;
        for (; row->key != NULL; row++) {
            struct model_schema_at inner = {.binding = at->binding,
                                            .up = at,
                                            .name = row->key,
                                            .field = row};
            schema_absent_fill(&inner, NULL, target + field->offset);
        }
    }
}

static void schema_unknown_report(const struct model_schema_at *at,
                                  const struct model_field *fields,
                                  const struct model_node *node)
{
    const char *names[MODEL_SCHEMA_ROWS_MAX + 1];
    size_t count = 0;
    while (fields[count].key != NULL && count < MODEL_SCHEMA_ROWS_MAX) {
        names[count] = fields[count].key;
        count++;
    }
    names[count] = NULL;
    model_schema_unknown_report(at, node, names);
}

static const struct model_field *
schema_field_find(const struct model_field *fields, const char *key)
{
    while (fields->key != NULL && strcmp(fields->key, key) != 0) {
        fields++;
    }
    return fields->key != NULL ? fields : NULL;
}

static bool schema_fields_bind(const struct model_schema_at *at,
                               const struct model_field *fields,
                               const struct model_node *mapping,
                               char *target)
{
    if (!schema_kind_check(at, mapping, MODEL_MAPPING)) {
        return false;
    }
    struct model_schema_at inner = {.binding = at->binding, .up = at};
    for (const struct model_node *n = mapping->first; n != NULL; n = n->next) {
        inner.name = n->key;
        inner.field = schema_field_find(fields, n->key);
        if (inner.field == NULL) {
            schema_unknown_report(&inner, fields, n);
        } else {
            schema_field_read(&inner, n, target);
        }
    }
    for (const struct model_field *row = fields; row->key != NULL; row++) {
        inner.name = row->key;
        inner.field = row;
        if (model_node_find(mapping, row->key) == NULL) {
            schema_absent_fill(&inner, mapping, target);
        }
    }
    return true;
}

enum model_status model_schema_bind(const struct model_binding *binding,
                                    const struct model_field *fields,
                                    const struct model_node *mapping,
                                    void *target)
{
    static const struct model_field whole = {.key = ""};
    const struct model_schema_at at = {
        .binding = binding, .name = binding->path, .field = &whole};
    int before = binding->errors->count;

    schema_fields_bind(&at, fields, mapping, target);
    return binding->errors->count == before ? MODEL_OK : MODEL_BAD_INPUT;
}
