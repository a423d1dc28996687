/*
 * lagom_reading.h - how Lagom's printed algorithms are read where they leave a
 * hole: a table of named readings, which --reading NAME=VALUE switches.
 *
 * The defaults are the readings nearest to the text (arXiv 2602.20656, section
 * 3.4) that make sense; each row says why.
 */
#ifndef SEARCH_LAGOM_READING_H
#define SEARCH_LAGOM_READING_H

#include "model/error.h"

enum search_reading_lr {
    SEARCH_LR_GAIN,   /* (x - x') / x' */
    SEARCH_LR_SHARE,  /* (x - x') / x */
    SEARCH_LR_PRINTED /* (x' - x) / x' */
};

enum search_reading_most {
    SEARCH_MOST_TENTH,
    SEARCH_MOST_THIRD,
    SEARCH_MOST_ALL
};

enum search_reading_scale {
    SEARCH_SCALE_RANGE,
    SEARCH_SCALE_LINEAR,
    SEARCH_SCALE_VALUE
};

enum search_reading_first { SEARCH_FIRST_SKIP, SEARCH_FIRST_NCCL };

enum search_reading_worse { SEARCH_WORSE_LITTLE, SEARCH_WORSE_LONGER };

enum search_reading_keep { SEARCH_KEEP_NEW, SEARCH_KEEP_OLD };

enum search_reading_balance { SEARCH_BALANCE_WINDOW, SEARCH_BALANCE_ITERATION };

enum search_reading_turns { SEARCH_TURNS_TOGETHER, SEARCH_TURNS_WINDOW };

enum search_reading_spaces {
    SEARCH_SPACES_TRANSPORTS,
    SEARCH_SPACES_OWN,
    SEARCH_SPACES_ALL
};

enum search_reading_native { SEARCH_NATIVE_STAYS, SEARCH_NATIVE_OUT };

/* A value of one of the enums above each; zero is the default. */
struct search_reading {
    int lr;
    int most;
    int scale;
    int first;
    int worse;
    int keep;
    int balance;
    int turns;
    int spaces;
    int native;
};

/* A reading: what it is about, its values, and what each means. */
struct search_reading_row {
    const char *name;
    const char *summary;
    const char
        *values[4]; /* by enum, ended by NULL; the first is the default */
    const char *meanings[3];
    size_t offset; /* in struct search_reading, of an int */
};

/* Ended by a row without name. */
extern const struct search_reading_row search_readings[];

/* Set what "NAME=VALUE" says, or report what to write instead. */
enum model_status search_reading_set(const char *text,
                                     struct search_reading *reading,
                                     struct model_errors *errors);

#endif
