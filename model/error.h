/*
 * error.h - what is wrong, where, and what to write instead.
 *
 * The reader of a file reports every fault it finds into one struct
 * model_errors and goes on, so that a user mends a file in one go. At most
 * MODEL_ERRORS_MAX are kept; further ones are only counted. Printed as
 *
 *     topologies/dgx.yaml:17:12: error: nodes.nics.rate: no unit (write "400
 * Gbit/s") rate: 400
 *               ^
 *
 * Library code neither prints nor exits: main() calls model_errors_print.
 */
#ifndef MODEL_ERROR_H
#define MODEL_ERROR_H

#include "model/arena.h"
#include "model/status.h"

#include <stdio.h>

enum { MODEL_ERRORS_MAX = 20 };

/* A place in an input. line and column count from 1; 0 means "the whole". */
struct model_place {
    const char *file; /* as the user wrote it; "--set" for an override; NULL */
    int line;
    int column;
};

struct model_error {
    enum model_status status;
    struct model_place place;
    const char *key;     /* full key path such as "hbm.rate", or NULL */
    const char *message; /* what is wrong */
    const char *hint;    /* what to write, or NULL */
    const char *excerpt; /* the source line, or NULL */
};

/* Zero-initialise, then set arena. All texts live in the arena. */
struct model_errors {
    struct model_arena *arena;
    struct model_error list[MODEL_ERRORS_MAX];
    int count; /* all reported, may exceed MODEL_ERRORS_MAX */
};

/*
 * Report one fault. key and hint may be NULL and are copied. Returns status,
 * so that a caller can `return model_errors_add(...)`.
 */
enum model_status model_errors_add(struct model_errors *errors,
                                   enum model_status status,
                                   struct model_place place,
                                   const char *key,
                                   const char *hint,
                                   const char *format,
                                   ...) __attribute__((format(printf, 6, 7)));

/* MODEL_OK when empty, otherwise the status of the first fault. */
enum model_status model_errors_status(const struct model_errors *errors);

/*
 * Attach the source line to each error placed in `file` that has none yet.
 * text is the whole file, of length bytes.
 */
void model_errors_excerpt(struct model_errors *errors,
                          const char *file,
                          const char *text,
                          size_t length);

/* Print all kept errors, and how many more there were. */
void model_errors_print(const struct model_errors *errors, FILE *stream);

/*
 * The entry of names (ended by NULL) nearest to word by edit distance, or
 * NULL when none is near enough (more than a third of the letters differ).
 */
const char *model_nearest_name(const char *word, const char *const *names);

#endif
