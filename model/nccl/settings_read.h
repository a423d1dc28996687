/*
 * settings_read.h - NCCL_NAME=VALUE to settings, as a version reads it.
 *
 * NCCL is lenient: it reads numbers with strtoll (base 0, so 0x and octal; what
 * follows the digits is dropped, no digits count as 0), ignores names that it
 * does not know, and mends values. So is this, but it says so: each such thing
 * is a note. Faults are only what NCCL itself refuses, and a variable that no
 * version knows: that is a typo.
 */
#ifndef MODEL_NCCL_SETTINGS_READ_H
#define MODEL_NCCL_SETTINGS_READ_H

#include "model/nccl/settings.h"
#include "model/nccl/version.h"

/* What a user should know of a variable. */
struct model_nccl_note {
    struct model_place place;
    const char *variable; /* with "NCCL_" */
    const char *text;
    bool quiet; /* that it changes no time: for those who ask */
    struct model_nccl_note *next;
};

/*
 * Reads any number of assignments; of one variable the last counts. Zero-
 * initialise, then set what is borrowed. Settings begin as
 * model_nccl_settings_none(). Notes live in the arena, in order.
 */
struct model_nccl_reader {
    struct model_arena *arena;
    const struct model_nccl_version *version;
    struct model_nccl_settings *settings;
    struct model_errors *errors;
    struct model_nccl_note *first, *last;
    const char **given; /* names so far, without "NCCL_" */
    int given_count, given_room;
};

/* Read "NCCL_NAME=VALUE"; faults go to errors, with the name as key. */
enum model_status model_nccl_settings_read(struct model_nccl_reader *reader,
                                           const char *assignment,
                                           struct model_place place);

/* -- for settings_read.c and lists.c -- */

/* One assignment on its way. */
struct model_nccl_reading {
    struct model_nccl_reader *reader;
    struct model_place place;
    const char *variable; /* with "NCCL_" */
    const char *value;
};

void model_nccl_note_add(const struct model_nccl_reading *reading,
                         bool quiet,
                         const char *format,
                         ...) __attribute__((format(printf, 3, 4)));

/*
 * Read NCCL_ALGO's or NCCL_PROTO's list. names are what the version knows,
 * ended by NULL; allowed[f * width + i] says what is left to a function by the
 * index in `all`, which holds width names. set[f]: was the function named.
 */
enum model_status model_nccl_list_read(const struct model_nccl_reading *reading,
                                       const char *const *names,
                                       const char *const *all,
                                       int width,
                                       bool *allowed,
                                       bool *set);

/* Note the functions for which a list leaves nothing, and what NCCL does
 * then. */
void model_nccl_list_note(const struct model_nccl_reading *reading,
                          const bool *allowed,
                          int width,
                          const char *then);

#endif
