/*
 * params.c - reading files of fitted parameters.
 *
 * Which dimension a number has is told by its unit: a file can be read without
 * the topology that it is for. Whether topology and file agree is checked when
 * both are there.
 */
#include "model/params.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A parameter as it stands in the file. */
struct param_row {
    const char *path, *value, *low, *high, *was;
    int from;
    int now_from; /* only that it is checked */
};

struct records_row {
    const char *file, *hash;
    int rows;
};

struct params_top {
    const char *name, *date;
    struct model_list records, parameters;
    const struct model_node *covariance;
};

struct params_reader {
    struct model_arena *arena;
    struct model_errors *errors;
    struct model_params *params;
};

#define TEXT(name, place, text)                                                \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_TEXT, .offset = (place),            \
        .required = true, .help = (text)                                       \
    }

static const struct model_field records_fields[] = {
    TEXT("file", offsetof(struct records_row, file), "name of the file"),
    {.key = "rows",
     .kind = MODEL_FIELD_COUNT,
     .dimension = MODEL_COUNT,
     .offset = offsetof(struct records_row, rows),
     .min = 0,
     .max = 1e9,
     .required = true,
     .help = "rows of it that were used"},
    {.key = "hash",
     .kind = MODEL_FIELD_TEXT,
     .offset = offsetof(struct records_row, hash),
     .help = "of the file's bytes (FNV-1a), \"0x..\""},
    {.key = NULL}};

#define ROW(member) offsetof(struct param_row, member)

/* All that such a file holds is that. */
static const char *const origins[] = {"fitted", NULL};

static const struct model_field param_fields[] = {
    TEXT("path", ROW(path), "the number's key path, as --set takes it"),
    TEXT("value", ROW(value), "its value, with unit"),
    {.key = "from",
     .kind = MODEL_FIELD_CHOICE,
     .offset = ROW(now_from),
     .choices = origins,
     .default_text = "fitted",
     .help = "where that is from"},
    TEXT("low", ROW(low), "lower end of the 95 % interval"),
    TEXT("high", ROW(high), "upper end of it"),
    TEXT("was", ROW(was), "the value before"),
    {.key = "was_from",
     .kind = MODEL_FIELD_CHOICE,
     .offset = ROW(from),
     .choices = model_origin_names,
     .required = true,
     .help = "where that was from"},
    {.key = NULL}};

#define TOP(member) offsetof(struct params_top, member)

const struct model_field model_params_fields[] = {
    TEXT("name", TOP(name), "name for reports"),
    TEXT("date", TOP(date), "day of the fit"),
    {.key = "records",
     .kind = MODEL_FIELD_LIST,
     .fields = records_fields,
     .item_bytes = sizeof(struct records_row),
     .offset = TOP(records),
     .help = "what was fitted to"},
    {.key = "parameters",
     .kind = MODEL_FIELD_LIST,
     .fields = param_fields,
     .item_bytes = sizeof(struct param_row),
     .offset = TOP(parameters),
     .required = true,
     .help = "the numbers"},
    {.key = "covariance",
     .kind = MODEL_FIELD_NODE,
     .offset = TOP(covariance),
     .help = "of their natural logarithms, a row for each in their order"},
    {.key = NULL}};

/* -- reading -- */

static bool fault(const struct params_reader *reader,
                  struct model_place place,
                  const char *key,
                  const char *hint,
                  const char *message)
{
    (void)model_errors_add(reader->errors, MODEL_BAD_INPUT, place, key, hint,
                           "%s", message);
    return false;
}

/* A number of that dimension. */
static bool read_number(const struct params_reader *reader,
                        const struct model_node *node,
                        const char *key,
                        enum model_dimension dimension,
                        double *value)
{
    struct model_units_fault why;

    if (model_units_parse(node->text, dimension, value, &why) == MODEL_OK) {
        return true;
    }
    return fault(reader, node->place, key, why.hint,
                 why.quote ? model_arena_format(reader->arena, "\"%s\" %s",
                                                node->text, why.message)
                           : why.message);
}

/* The dimension that its unit tells. */
static bool read_dimension(const struct params_reader *reader,
                           const struct model_node *node,
                           const char *key,
                           struct model_param *param)
{
    static const enum model_dimension dimensions[] = {
        MODEL_TIME,  MODEL_BYTES,     MODEL_RATE,
        MODEL_FLOPS, MODEL_FLOP_RATE, MODEL_RATIO};

    for (size_t i = 0; i < sizeof(dimensions) / sizeof(dimensions[0]); i++) {
        if (model_units_parse(node->text, dimensions[i], &param->value, NULL) ==
            MODEL_OK) {
            param->dimension = dimensions[i];
            return true;
        }
    }
    return fault(
        reader, node->place, key,
        "write \"0.61 us\", \"27.5 GB/s\" or \"0.85\"",
        model_arena_format(reader->arena, "\"%s\" is no quantity", node->text));
}

/* Letters of a path; others would make another assignment of it. */
static bool is_path(const char *text)
{
    return text[0] != '\0' &&
           strspn(text,
                  "abcdefghijklmnopqrstuvwxyz"
                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-[]") == strlen(text);
}

static bool read_path(const struct params_reader *reader,
                      const struct model_node *node,
                      const char *key)
{
    const struct model_params *params = reader->params;

    if (!is_path(node->text)) {
        return fault(reader, node->place, key, "write gpu.channel.sync",
                     "not a key path");
    }
    for (int i = 0; i < params->count; i++) {
        if (strcmp(params->list[i].path, node->text) == 0) {
            return fault(reader, node->place, key, "name each once",
                         model_arena_format(reader->arena, "%s is there twice",
                                            node->text));
        }
    }
    return true;
}

static bool check_interval(const struct params_reader *reader,
                           const struct model_param *param,
                           const char *key)
{
    if (!(param->value > 0.0)) {
        return fault(reader, param->place, key, NULL, "must be above 0");
    }
    if (!(param->low <= param->value && param->value <= param->high)) {
        return fault(reader, param->place, key, "write low <= value <= high",
                     "the value is not in its interval");
    }
    return true;
}

/* Append the parameter in a mapping that has all keys. */
static bool read_param(const struct params_reader *reader,
                       const struct model_node *item,
                       const struct param_row *row)
{
    static const char *const keys[] = {"low", "high", "was"};
    struct model_params *params = reader->params;
    const char *prefix =
        model_arena_format(reader->arena, "parameters[%d]", params->count);
    const char *key = model_arena_format(reader->arena, "%s.value", prefix);
    struct model_param param = {.path = row->path,
                                .from = (enum model_origin)row->from,
                                .place = item->place};
    double *numbers[] = {&param.low, &param.high, &param.was};
    bool good =
        read_path(reader, model_node_find(item, "path"),
                  model_arena_format(reader->arena, "%s.path", prefix)) &&
        read_dimension(reader, model_node_find(item, "value"), key, &param);

    for (int i = 0; good && i < 3; i++) {
        good = read_number(
            reader, model_node_find(item, keys[i]),
            model_arena_format(reader->arena, "%s.%s", prefix, keys[i]),
            param.dimension, numbers[i]);
    }
    good = good && check_interval(reader, &param, key);
    params->list[params->count++] = param;
    return good;
}

static bool read_list(const struct params_reader *reader,
                      const struct params_top *top,
                      const struct model_node *node)
{
    const struct param_row *rows = top->parameters.items;
    bool good = true;

    if (top->parameters.count == 0 ||
        top->parameters.count > MODEL_PARAMS_MAX) {
        return fault(reader, node->place, "parameters",
                     "write 1 to 256 of them",
                     top->parameters.count == 0 ? "no parameters"
                                                : "too many parameters");
    }
    reader->params->list =
        model_arena_array(reader->arena, (size_t)top->parameters.count,
                          sizeof(struct model_param));
    node = node->first;
    for (int i = 0; i < top->parameters.count; i++, node = node->next) {
        good = read_param(reader, node, &rows[i]) && good;
    }
    return good;
}

static bool read_records(const struct params_reader *reader,
                         const struct params_top *top,
                         const struct model_node *node)
{
    const struct records_row *rows = top->records.items;
    struct model_params *params = reader->params;

    params->record_count = top->records.count;
    params->records =
        model_arena_array(reader->arena, (size_t)top->records.count,
                          sizeof(struct model_params_records));
    node = node != NULL ? node->first : NULL;
    for (int i = 0; node != NULL; i++, node = node->next) {
        char *end = NULL;
        uint64_t hash =
            rows[i].hash != NULL ? strtoull(rows[i].hash, &end, 16) : 0;

        if (end != NULL && *end != '\0') {
            return fault(
                reader, node->place,
                model_arena_format(reader->arena, "records[%d].hash", i),
                "write \"0x1f..\"", "not a hexadecimal number");
        }
        params->records[i] =
            (struct model_params_records){rows[i].file, rows[i].rows, hash};
    }
    return true;
}

/* -- covariance -- */

static bool covariance_fault(const struct params_reader *reader,
                             const struct model_node *node,
                             const char *message)
{
    return fault(reader, node->place, "covariance",
                 "write a row for each parameter, with a number for each",
                 message);
}

static bool read_covariance_row(const struct params_reader *reader,
                                const struct model_node *row,
                                double *numbers)
{
    int count = reader->params->count;
    const struct model_node *node = row->first;

    if (row->kind != MODEL_SEQUENCE || row->count != count) {
        return covariance_fault(reader, row,
                                model_arena_format(reader->arena,
                                                   "not a row of %d numbers",
                                                   count));
    }
    for (int i = 0; i < count; i++, node = node->next) {
        bool minus = node->kind == MODEL_SCALAR && node->text[0] == '-';

        if (node->kind != MODEL_SCALAR ||
            model_units_parse(node->text + minus, MODEL_RATIO, &numbers[i],
                              NULL) != MODEL_OK) {
            return covariance_fault(reader, node, "not a number");
        }
        numbers[i] = minus ? -numbers[i] : numbers[i];
    }
    return true;
}

/*
 * Is a symmetric matrix a covariance: is there a Cholesky factor of its
 * correlations? Digits were rounded when it was written.
 */
static bool is_covariance(const double *c, int n, double *factor)
{
    const double slack = 1e-6;

    for (int i = 0; i < n; i++) {
        if (!(c[i * n + i] > 0.0)) {
            return false;
        }
        for (int j = 0; j <= i; j++) {
            /* Each root by itself: their product may be out of range. */
            double scale = sqrt(c[i * n + i]) * sqrt(c[j * n + j]);
            double sum = c[i * n + j] / scale;

            if (!(fabs(c[i * n + j] - c[j * n + i]) <= slack * scale)) {
                return false;
            }
            for (int k = 0; k < j; k++) {
                sum -= factor[i * n + k] * factor[j * n + k];
            }
            if (i == j) {
                if (sum < -slack) {
                    return false;
                }
                factor[i * n + i] = sqrt(fmax(sum, slack));
            } else {
                factor[i * n + j] = sum / factor[j * n + j];
            }
        }
    }
    return true;
}

static bool read_covariance(const struct params_reader *reader,
                            const struct model_node *node)
{
    struct model_params *params = reader->params;
    size_t count = (size_t)params->count;
    double *numbers;
    const struct model_node *row;

    if (node == NULL) {
        return true;
    }
    if (node->kind != MODEL_SEQUENCE || node->count != params->count) {
        return covariance_fault(
            reader, node,
            model_arena_format(reader->arena, "not %d rows of %d numbers",
                               params->count, params->count));
    }
    numbers = model_arena_array(reader->arena, count * count, sizeof(double));
    row = node->first;
    for (size_t i = 0; i < count; i++, row = row->next) {
        if (!read_covariance_row(reader, row, numbers + i * count)) {
            return false;
        }
    }
    if (!is_covariance(
            numbers, params->count,
            model_arena_array(reader->arena, count * count, sizeof(double)))) {
        return covariance_fault(reader, node,
                                "no covariance: it must be "
                                "symmetric and positive");
    }
    params->covariance = numbers;
    return true;
}

enum model_status model_params_read(struct model_arena *arena,
                                    const char *file,
                                    struct model_params *params,
                                    struct model_errors *errors)
{
    struct model_binding binding = {.arena = arena, .errors = errors};
    struct params_reader reader = {arena, errors, params};
    struct params_top top = {.name = NULL};
    int before = errors->count;
    const struct model_node *root = model_yaml_read_file(arena, file, errors);

    *params = (struct model_params){.file = file};
    if (root == NULL ||
        model_schema_bind(&binding, model_params_fields, root, &top) !=
            MODEL_OK ||
        errors->count > before) {
        return MODEL_BAD_INPUT;
    }
    params->name = top.name;
    params->date = top.date;
    return read_records(&reader, &top, model_node_find(root, "records")) &&
                   read_list(&reader, &top,
                             model_node_find(root, "parameters")) &&
                   read_covariance(&reader, top.covariance)
               ? MODEL_OK
               : MODEL_BAD_INPUT;
}
