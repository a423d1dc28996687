/*
 * params_write.c - writing files of fitted parameters, and applying them.
 */
#include "model/params.h"

#include <math.h>
#include <string.h>

/* -- writing -- */

static void put(struct model_arena *arena,
                struct model_node *mapping,
                const char *key,
                const char *text)
{
    (void)model_node_new(arena, MODEL_SCALAR, mapping, key, text);
}

static void put_quantity(struct model_arena *arena,
                         struct model_node *mapping,
                         const char *key,
                         const struct model_param *param,
                         double value)
{
    char text[64];

    put(arena, mapping, key,
        model_units_print(value, param->dimension, text, sizeof(text)));
}

static void put_records(struct model_arena *arena,
                        struct model_node *root,
                        const struct model_params *params)
{
    struct model_node *list =
        model_node_new(arena, MODEL_SEQUENCE, root, "records", NULL);

    for (int i = 0; i < params->record_count; i++) {
        const struct model_params_records *records = &params->records[i];
        struct model_node *item =
            model_node_new(arena, MODEL_MAPPING, list, NULL, NULL);

        put(arena, item, "file", records->file);
        put(arena, item, "rows",
            model_arena_format(arena, "%d", records->rows));
        if (records->hash != 0) {
            put(arena, item, "hash",
                model_arena_format(arena, "0x%016llx",
                                   (unsigned long long)records->hash));
        }
    }
}

static void put_covariance(struct model_arena *arena,
                           struct model_node *root,
                           const struct model_params *params)
{
    struct model_node *list =
        model_node_new(arena, MODEL_SEQUENCE, root, "covariance", NULL);

    for (int i = 0; i < params->count; i++) {
        struct model_node *row =
            model_node_new(arena, MODEL_SEQUENCE, list, NULL, NULL);

        for (int j = 0; j < params->count; j++) {
            put(arena, row, NULL,
                model_arena_format(arena, "%.9g",
                                   params->covariance[i * params->count + j]));
        }
    }
}

enum model_status model_params_write(struct model_arena *arena,
                                     const struct model_params *params,
                                     FILE *stream)
{
    struct model_node *root =
        model_node_new(arena, MODEL_MAPPING, NULL, NULL, NULL);
    struct model_node *list;

    put(arena, root, "name", params->name);
    put(arena, root, "date", params->date);
    put_records(arena, root, params);
    list = model_node_new(arena, MODEL_SEQUENCE, root, "parameters", NULL);
    for (int i = 0; i < params->count; i++) {
        const struct model_param *param = &params->list[i];
        struct model_node *item =
            model_node_new(arena, MODEL_MAPPING, list, NULL, NULL);

        put(arena, item, "path", param->path);
        put_quantity(arena, item, "value", param, param->value);
        put(arena, item, "from", model_origin_names[MODEL_FROM_FITTED]);
        put_quantity(arena, item, "low", param, param->low);
        put_quantity(arena, item, "high", param, param->high);
        put_quantity(arena, item, "was", param, param->was);
        put(arena, item, "was_from", model_origin_names[param->from]);
    }
    if (params->covariance != NULL) {
        put_covariance(arena, root, params);
    }
    return model_yaml_write(root, stream);
}

/* -- applying -- */

enum model_status model_params_check(const struct model_params *params,
                                     const struct model_provenance *provenance,
                                     const char *name,
                                     struct model_errors *errors)
{
    int before = errors->count;

    for (int i = 0; i < params->count; i++) {
        const struct model_param *param = &params->list[i];
        const struct model_provenance_entry *entry = provenance->first;

        while (entry != NULL && strcmp(entry->path, param->path) != 0) {
            entry = entry->next;
        }
        if (entry == NULL) {
            (void)model_errors_add(errors, MODEL_BAD_INPUT, param->place,
                                   param->path,
                                   "lagom show TOPOLOGY -v lists what it has",
                                   "topology %s has no such number", name);
        } else if (entry->dimension != param->dimension) {
            (void)model_errors_add(
                errors, MODEL_BAD_INPUT, param->place, param->path, NULL,
                "topology %s has a %s there, not a %s", name,
                model_units_dimension_name(entry->dimension),
                model_units_dimension_name(param->dimension));
        }
    }
    return errors->count == before ? MODEL_OK : MODEL_BAD_INPUT;
}

/* The source as it stands between quotes in YAML; it holds a blank. */
static const char *source_text(struct model_arena *arena,
                               const struct model_params *params)
{
    char *text = model_arena_format(arena, "fit %s of %s, file %s",
                                    params->name, params->date, params->file);

    for (char *at = text; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\' || *at < ' ' || *at > '~') {
            *at = '?';
        }
    }
    return text;
}

const char *const *model_params_sets(struct model_arena *arena,
                                     const struct model_params *params,
                                     const double *shift)
{
    const char **sets =
        model_arena_array(arena, (size_t)params->count, sizeof(const char *));
    const char *source = source_text(arena, params);

    for (int i = 0; i < params->count; i++) {
        const struct model_param *param = &params->list[i];
        double factor = shift != NULL ? exp(shift[i]) : 1.0;
        char value[64];

        sets[i] = model_arena_format(
            arena, "%s={value: %s, from: fitted, source: \"%s\"}", param->path,
            model_units_print(param->value * factor, param->dimension, value,
                              sizeof(value)),
            source);
    }
    return sets;
}
