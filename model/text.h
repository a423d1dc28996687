/*
 * text.h - files as text: letters, lines and columns, reading as a whole.
 *
 * Text is UTF-8. Columns count letters; lines end at LF, CR, CR LF, NEL, LS
 * and PS, as libyaml counts them, so that places from here and there agree.
 */
#ifndef MODEL_TEXT_H
#define MODEL_TEXT_H

#include "model/arena.h"
#include "model/error.h"

#include <stdbool.h>

/* A whole file in memory. text need not end with NUL. */
struct model_text {
    const char *file;
    const char *text;
    size_t length;
};

/*
 * The first letter of text (length > 0 bytes) by strict UTF-8. Returns the
 * bytes it takes, or 0 when they are no UTF-8.
 */
size_t model_utf8_decode(const char *text, size_t length, unsigned *letter);

/* Bytes of the line break at `at` (before end), or 0 when there is none. */
size_t model_text_break_bytes(const char *at, const char *end);

/* The place of the byte at offset in text. */
struct model_place
model_place_at(const char *file, const char *text, size_t offset);

/* The place of the last letter that is no blank. */
struct model_place model_text_last_place(const struct model_text *text);

/*
 * Read a file ("-" is standard input) of at most bytes_max into the arena.
 * Returns false with one fault in errors when it cannot be read.
 */
bool model_text_read(struct model_arena *arena,
                     const char *file,
                     size_t bytes_max,
                     struct model_text *text,
                     struct model_errors *errors);

/*
 * Is it text: UTF-8 without NUL and control characters? Else the first fault
 * is in errors. A byte order mark is dropped.
 */
bool model_text_check(struct model_text *text, struct model_errors *errors);

/* A star of the pattern stands for any text, also none. */
bool model_text_matches(const char *pattern, const char *text);

#endif
