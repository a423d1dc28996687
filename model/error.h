/*
 * error.h - what is wrong, where, and what to write instead.
 *
 * The reader of a file reports every fault it finds into one struct
 * model_errors and goes on, so that a user mends a file in one go. At most
 * MODEL_ERRORS_MAX are kept; further ones are only counted. Printed as
 *
 *     dgx.yaml:17:9: error: nics.rate: no unit (write "400 Gbit/s")
 *           rate: 400
 *                 ^
 *
 * A hint is a whole phrase and is printed in parentheses as it stands: either
 * `write "..."`, or `did you mean "..."?`, or a list such as `known keys: ..`.
 * Texts that come from a file are made safe to print and are cut when long:
 * control characters and broken bytes show as '?'.
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
    const char *excerpt; /* the source line or the part near column, or NULL */
    int caret_column; /* where in excerpt the caret stands, from 1; 0: none */
};

struct model_error_text; /* a file's text, kept for excerpts */

/* Zero-initialise, then set arena. All texts live in the arena. */
struct model_errors {
    struct model_arena *arena;
    struct model_error list[MODEL_ERRORS_MAX];
    int count; /* all reported, may exceed MODEL_ERRORS_MAX */
    struct model_error_text *texts;
};

/*
 * Report one fault. All texts are copied; key and hint may be NULL. Returns
 * status, so that a caller can `return model_errors_add(...)`.
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
 * Attach the source line to each error placed in `file` that has none yet, and
 * to those reported from now on. text is the whole file, of length bytes; it
 * is borrowed and must live as long as faults in it are reported. The readers
 * of yaml.h call this; a caller that binds their tree need not.
 */
void model_errors_excerpt(struct model_errors *errors,
                          const char *file,
                          const char *text,
                          size_t length);

/* Report all of `from` in errors too, in the order of their places. */
void model_errors_move(struct model_errors *errors, struct model_errors *from);

/*
 * Print a text that may hold anything, such as a file's name, with '?' for what
 * would disturb a terminal.
 */
void model_text_print(const char *text, FILE *stream);

/* Print all kept errors, and how many more there were. */
void model_errors_print(const struct model_errors *errors, FILE *stream);

/*
 * The entry of names (ended by NULL) nearest to word by edit distance, or
 * NULL when none is near enough (more than a third of the letters differ).
 * Capitals count as small letters, two letters swapped as one difference.
 */
const char *model_nearest_name(const char *word, const char *const *names);

#endif
