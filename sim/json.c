/*
 * json.c - a narrow door to Jansson.
 *
 * struct sim_json is Jansson's json_t under another name, so that no other
 * file sees the library. A failed put leaves its member out; json_set_new
 * takes NULL for a value that could not be made.
 */
#include "sim/json.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>

enum { DIGITS = 12 }; /* times to below a picosecond in a second */

static json_t *inner(struct sim_json *json)
{
    return (json_t *)json;
}

static struct sim_json *outer(json_t *json)
{
    return (struct sim_json *)json;
}

struct sim_json *sim_json_object(void)
{
    return outer(json_object());
}

void sim_json_free(struct sim_json *root)
{
    json_decref(inner(root));
}

static void put(struct sim_json *object, const char *key, json_t *value)
{
    (void)json_object_set_new(inner(object), key,
                              value != NULL ? value : json_null());
}

void sim_json_text(struct sim_json *object, const char *key, const char *text)
{
    put(object, key, text != NULL ? json_string(text) : NULL);
}

void sim_json_number(struct sim_json *object, const char *key, double number)
{
    put(object, key, isfinite(number) ? json_real(number) : NULL);
}

void sim_json_count(struct sim_json *object, const char *key, int64_t count)
{
    put(object, key, json_integer(count));
}

void sim_json_hex(struct sim_json *object, const char *key, uint64_t value)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "%016" PRIx64, value);
    sim_json_text(object, key, text);
}

struct sim_json *sim_json_put_object(struct sim_json *object, const char *key)
{
    json_t *child = json_object();

    put(object, key, child);
    return outer(child);
}

struct sim_json *sim_json_put_array(struct sim_json *object, const char *key)
{
    json_t *child = json_array();

    put(object, key, child);
    return outer(child);
}

struct sim_json *sim_json_append(struct sim_json *array)
{
    json_t *child = json_object();

    (void)json_array_append_new(inner(array), child);
    return outer(child);
}

enum model_status sim_json_print(const struct sim_json *root, FILE *stream)
{
    const json_t *json = (const json_t *)root;
    size_t flags = JSON_INDENT(2) | JSON_REAL_PRECISION(DIGITS);

    if (json == NULL || json_dumpf(json, stream, flags) != 0 ||
        fputc('\n', stream) == EOF) {
        return MODEL_FAULT;
    }
    return MODEL_OK;
}
