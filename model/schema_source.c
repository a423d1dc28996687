/*
 * schema_source.c - key paths and faults of a binding, and the origin of its
 * numbers.
 *
 * A number that describes hardware is a claim: {value, from, source}. The
 * claim is judged here (known words, a source where one is needed, a source
 * that exists) apart from the value, so that both are reported. A value that
 * --set replaced is an override whatever the file says beside it.
 */
#include "model/schema_source.h"

#include <string.h>

const char *const model_origin_names[MODEL_ORIGINS + 1] = {
    [MODEL_FROM_DATASHEET] = "datasheet", [MODEL_FROM_MEASURED] = "measured",
    [MODEL_FROM_FITTED] = "fitted",       [MODEL_FROM_GUESS] = "guess",
    [MODEL_FROM_OVERRIDE] = "override",   [MODEL_ORIGINS] = NULL};

/* The key path as text, such as "ops[3].m"; "" for the root. */
static const char *source_path(const struct model_schema_at *at)
{
    struct model_arena *arena = at->binding->arena;
    const char *up = at->up == NULL ? "" : source_path(at->up);
    if (at->name == NULL) {
        return at->up == NULL
                   ? ""
                   : model_arena_format(arena, "%s[%d]", up, at->index);
    }
    return model_arena_format(arena, "%s%s%s", up, up[0] == '\0' ? "" : ".",
                              at->name);
}

/* Beyond the faults that are kept no words are needed, only the count. */
static bool source_faults_full(const struct model_schema_at *at)
{
    return at->binding->errors->count >= MODEL_ERRORS_MAX;
}

void model_schema_fault(const struct model_schema_at *at,
                        struct model_place place,
                        const char *hint,
                        const char *format,
                        ...)
{
    const char *path = NULL;
    const char *message = "";
    if (!source_faults_full(at)) {
        va_list values;
        va_start(values, format);
        message = model_arena_format_list(at->binding->arena, format, values);
        va_end(values);
        path = source_path(at);
    }
    model_errors_add(at->binding->errors, MODEL_BAD_INPUT, place, path, hint,
                     "%s", message);
}

/* "known keys: a, b, c" */
static const char *source_words_list(struct model_arena *arena,
                                     const char *lead,
                                     const char *const *words)
{
    const char *text = lead;
    for (int i = 0; words[i] != NULL; i++) {
        text = model_arena_format(arena, "%s%s%s", text, i == 0 ? " " : ", ",
                                  words[i]);
    }
    return text;
}

void model_schema_unknown_report(const struct model_schema_at *at,
                                 const struct model_node *node,
                                 const char *const *names)
{
    const char *hint = NULL;
    if (!source_faults_full(at)) {
        struct model_arena *arena = at->binding->arena;
        const char *near = model_nearest_name(node->key, names);
        hint = near != NULL
                   ? model_arena_format(arena, "did you mean \"%s\"?", near)
                   : source_words_list(arena, "known keys:", names);
    }
    model_schema_fault(at, node->key_place, hint, "unknown key \"%s\"",
                       node->key);
}

bool model_schema_word_read(const struct model_schema_at *at,
                            const struct model_node *node,
                            const char *const *words,
                            int *index)
{
    for (int i = 0; words[i] != NULL; i++) {
        if (strcmp(words[i], node->text) == 0) {
            *index = i;
            return true;
        }
    }
    const char *hint =
        source_faults_full(at)
            ? NULL
            : source_words_list(at->binding->arena, "write one of:", words);
    model_schema_fault(at, node->place, hint, "unknown word \"%s\"",
                       node->text);
    return false;
}

static bool source_is_override(const struct model_node *node)
{
    return node != NULL && node->place.file != NULL &&
           strcmp(node->place.file, MODEL_OVERRIDE_FILE) == 0;
}

/* The scalar child of a claim, or NULL; faults are reported. */
static const struct model_node *
source_part_find(const struct model_schema_at *at,
                 const struct model_node *claim,
                 const char *key)
{
    const struct model_node *part = model_node_find(claim, key);
    if (part != NULL && (part->kind != MODEL_SCALAR || part->text[0] == '\0')) {
        struct model_schema_at inner = {
            .binding = at->binding, .up = at, .name = key};
        model_schema_fault(&inner, part->place, NULL, "a text is wanted");
        return NULL;
    }
    return part;
}

static void source_keys_check(const struct model_schema_at *at,
                              const struct model_node *claim)
{
    static const char *const names[] = {"value", "from", "source", NULL};
    struct model_schema_at inner = {.binding = at->binding, .up = at};
    for (const struct model_node *n = claim->first; n != NULL; n = n->next) {
        inner.name = n->key;
        if (strcmp(n->key, names[0]) != 0 && strcmp(n->key, names[1]) != 0 &&
            strcmp(n->key, names[2]) != 0) {
            model_schema_unknown_report(&inner, n, names);
        }
    }
}

static enum model_origin source_origin_read(const struct model_schema_at *at,
                                            const struct model_node *claim)
{
    int origin = MODEL_FROM_GUESS;
    const struct model_node *from = source_part_find(at, claim, "from");
    struct model_schema_at inner = {
        .binding = at->binding, .up = at, .name = "from"};
    if (from != NULL) {
        model_schema_word_read(&inner, from, model_origin_names, &origin);
    } else if (model_node_find(claim, "from") == NULL) {
        const char *hint = source_words_list(
            at->binding->arena, "write one of:", model_origin_names);
        model_schema_fault(&inner, claim->place, hint,
                           "required key is missing");
    }
    if (source_is_override(model_node_find(claim, "value")) &&
        !source_is_override(from)) {
        origin = MODEL_FROM_OVERRIDE;
    }
    return (enum model_origin)origin;
}

static void source_dangling_report(const struct model_schema_at *at,
                                   const struct model_node *source)
{
    const struct model_node *known = at->binding->sources;
    const char *names[MODEL_SCHEMA_ROWS_MAX + 1] = {NULL};
    const struct model_node *n =
        known != NULL && known->kind == MODEL_MAPPING ? known->first : NULL;
    for (int i = 0; n != NULL && i < MODEL_SCHEMA_ROWS_MAX; n = n->next) {
        names[i++] = n->key;
    }
    const char *near = model_nearest_name(source->text, names);
    const char *hint = "write it under \"sources\", or the full text here";
    if (near != NULL) {
        hint = model_arena_format(at->binding->arena, "did you mean \"%s\"?",
                                  near);
    }
    model_schema_fault(at, source->place, hint, "no source \"%s\"",
                       source->text);
}

/* The full text of a source: by name, or itself when it holds a blank. */
static const char *source_text_read(const struct model_schema_at *at,
                                    const struct model_node *source)
{
    const struct model_node *entry =
        model_node_find(at->binding->sources, source->text);
    if (entry != NULL && entry->kind == MODEL_SCALAR) {
        return entry->text;
    }
    if (entry == NULL && strchr(source->text, ' ') != NULL) {
        return source->text;
    }
    if (entry != NULL) {
        model_schema_fault(at, entry->place, NULL,
                           "source \"%s\" is not a text", source->text);
    } else {
        source_dangling_report(at, source);
    }
    return NULL;
}

static const char *source_source_read(const struct model_schema_at *at,
                                      const struct model_node *claim,
                                      enum model_origin origin)
{
    const struct model_node *source = source_part_find(at, claim, "source");
    struct model_schema_at inner = {
        .binding = at->binding, .up = at, .name = "source"};
    /* an overridden number is not what the source says */
    if (origin == MODEL_FROM_OVERRIDE) {
        return NULL;
    }
    if (source != NULL) {
        return source_text_read(&inner, source);
    }
    if (origin != MODEL_FROM_GUESS &&
        model_node_find(claim, "source") == NULL) {
        model_schema_fault(&inner, claim->place,
                           "write a name from \"sources\", or from: guess",
                           "from: %s needs a source",
                           model_origin_names[origin]);
    }
    return NULL;
}

const struct model_node *model_schema_claim_read(struct model_schema_at *at,
                                                 const struct model_node *node)
{
    at->source = NULL;
    at->origin =
        source_is_override(node) ? MODEL_FROM_OVERRIDE : MODEL_FROM_GUESS;
    if (node->kind != MODEL_MAPPING) {
        return node;
    }
    source_keys_check(at, node);
    at->origin = source_origin_read(at, node);
    at->source = source_source_read(at, node, at->origin);
    const struct model_node *value = model_node_find(node, "value");
    if (value == NULL) {
        struct model_schema_at inner = {
            .binding = at->binding, .up = at, .name = "value"};
        model_schema_fault(&inner, node->place,
                           "write \"{value: .., from: .., source: ..}\"",
                           "required key is missing");
    }
    return value;
}

void model_schema_record(const struct model_schema_at *at,
                         const struct model_node *node,
                         double value,
                         enum model_dimension dimension)
{
    struct model_provenance *provenance = at->binding->provenance;
    if (provenance == NULL || !at->field->sourced) {
        return;
    }
    struct model_provenance_entry *entry =
        model_arena_alloc(at->binding->arena, sizeof *entry);
    *entry = (struct model_provenance_entry){.path = source_path(at),
                                             .file = node->place.file,
                                             .origin = at->origin,
                                             .source = at->source,
                                             .value = value,
                                             .dimension = dimension,
                                             .field = at->field};
    if (provenance->last == NULL) {
        provenance->first = entry;
    } else {
        provenance->last->next = entry;
    }
    provenance->last = entry;
    provenance->count[at->origin]++;
}
