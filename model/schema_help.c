/*
 * schema_help.c - what a table says about itself.
 *
 * Each row takes two lines: the key with what may stand there, and its help
 * text; nested tables follow, indented. The same words about ranges are used
 * by the error messages.
 */
#include "model/schema.h"

#include <string.h>

enum { HELP_KEY_WIDTH = 24, HELP_INDENT = 2 };

static bool help_field_has_range(const struct model_field *field)
{
    bool number = field->kind == MODEL_FIELD_QUANTITY ||
                  field->kind == MODEL_FIELD_QUANTITIES ||
                  field->kind == MODEL_FIELD_COUNT;
    return number && (field->min != 0 || field->max != 0);
}

static enum model_dimension help_dimension(const struct model_field *field)
{
    return field->kind == MODEL_FIELD_COUNT ? MODEL_COUNT : field->dimension;
}

char *model_schema_range_print(const struct model_field *field,
                               char *buffer,
                               size_t buffer_bytes)
{
    char least[64];
    char most[64];
    enum model_dimension dimension = help_dimension(field);
    model_units_print(field->min, dimension, least, sizeof least);
    model_units_print(field->max, dimension, most, sizeof most);
    if (!help_field_has_range(field)) {
        snprintf(buffer, buffer_bytes, "%s", "");
    } else if (field->max < field->min) {
        snprintf(buffer, buffer_bytes, "of at least %s", least);
    } else if (field->min == 0) {
        snprintf(buffer, buffer_bytes, "of at most %s", most);
    } else {
        snprintf(buffer, buffer_bytes, "from %s to %s", least, most);
    }
    return buffer;
}

static void help_choices_print(const char *const *choices, FILE *stream)
{
    fputs("one of ", stream);
    for (int i = 0; choices[i] != NULL; i++) {
        fprintf(stream, "%s%s", i == 0 ? "" : ", ", choices[i]);
    }
}

static void help_kind_print(const struct model_field *field, FILE *stream)
{
    static const char *const names[] = {[MODEL_FIELD_QUANTITY] = "",
                                        [MODEL_FIELD_COUNT] = "whole number",
                                        [MODEL_FIELD_BOOL] = "true or false",
                                        [MODEL_FIELD_TEXT] = "text",
                                        [MODEL_FIELD_STRUCT] = "mapping",
                                        [MODEL_FIELD_LIST] = "list of mappings",
                                        [MODEL_FIELD_QUANTITIES] = "list: ",
                                        [MODEL_FIELD_TEXTS] = "list of texts",
                                        [MODEL_FIELD_NODE] = "see below"};
    if (field->kind == MODEL_FIELD_CHOICE) {
        help_choices_print(field->choices, stream);
        return;
    }
    fputs(field->one_or_more ? "one or a list: " : names[field->kind], stream);
    if (field->kind == MODEL_FIELD_QUANTITY ||
        field->kind == MODEL_FIELD_QUANTITIES) {
        fprintf(stream, "%s, such as %s",
                model_units_dimension_name(field->dimension),
                model_units_example(field->dimension));
    }
}

static void
help_field_print(const struct model_field *field, int indent, FILE *stream)
{
    char range[160];
    model_schema_range_print(field, range, sizeof range);
    fprintf(stream, "%*s%-*s ", indent, "", HELP_KEY_WIDTH - indent,
            field->key);
    help_kind_print(field, stream);
    if (range[0] != '\0') {
        fprintf(stream, ", %s", range);
    }
    if (field->default_text != NULL) {
        fprintf(stream, ", default %s", field->default_text);
    } else {
        fputs(field->required ? ", required" : ", optional", stream);
    }
    fputs(field->sourced ? ", with source\n" : "\n", stream);
    if (field->help != NULL) {
        fprintf(stream, "%*s%s\n", indent + 2 * HELP_INDENT, "", field->help);
    }
}

static void
help_table_print(const struct model_field *fields, int indent, FILE *stream);

static void
help_branch_print(const struct model_field *field, int indent, FILE *stream)
{
    help_field_print(field, indent, stream);
    if (field->fields != NULL) {
        help_table_print(field->fields, indent + HELP_INDENT, stream);
    }
}

static void
help_table_print(const struct model_field *fields, int indent, FILE *stream)
{
    for (; fields->key != NULL; fields++) {
        help_branch_print(fields, indent, stream);
    }
}

/* The row at path; an index such as [3] behind a list's key is passed over. */
static const struct model_field *
help_field_find(const struct model_field *fields, const char *path)
{
    while (fields != NULL && fields->key != NULL) {
        size_t length = strcspn(path, ".[");
        if (strlen(fields->key) != length ||
            strncmp(fields->key, path, length) != 0) {
            fields++;
            continue;
        }
        path += length;
        path += path[0] == '[' ? strcspn(path, ".") : 0;
        if (path[0] == '\0') {
            return fields;
        }
        path++;
        fields = fields->fields;
    }
    return NULL;
}

bool model_schema_help(const struct model_field *fields,
                       const char *path,
                       FILE *stream)
{
    if (path == NULL || path[0] == '\0') {
        help_table_print(fields, 0, stream);
        return true;
    }
    const struct model_field *field = help_field_find(fields, path);
    if (field == NULL) {
        return false;
    }
    help_branch_print(field, 0, stream);
    return true;
}
