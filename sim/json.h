/*
 * json.h - JSON values to be printed; json.c is the one file that knows
 * Jansson.
 *
 * A value is owned by the object or array it was put into; the root is freed
 * by sim_json_free. Keys keep the order in which they were put. When memory
 * runs out the tree stays valid but incomplete and printing reports it.
 */
#ifndef SIM_JSON_H
#define SIM_JSON_H

#include "model/status.h"

#include <stdint.h>
#include <stdio.h>

struct sim_json;

struct sim_json *sim_json_object(void);
void sim_json_free(struct sim_json *root);

/* Put a member into an object. NULL text and NaN become null. */
void sim_json_text(struct sim_json *object, const char *key, const char *text);
void sim_json_number(struct sim_json *object, const char *key, double number);
void sim_json_count(struct sim_json *object, const char *key, int64_t count);
void sim_json_hex(struct sim_json *object, const char *key, uint64_t value);

/* A new object or array as a member; borrowed. */
struct sim_json *sim_json_put_object(struct sim_json *object, const char *key);
struct sim_json *sim_json_put_array(struct sim_json *object, const char *key);

/* A new object at the end of an array; borrowed. */
struct sim_json *sim_json_append(struct sim_json *array);

/* Print the tree with a newline. MODEL_FAULT when the stream or memory fails.
 */
enum model_status sim_json_print(const struct sim_json *root, FILE *stream);

#endif
