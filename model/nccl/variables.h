/*
 * variables.h - the variables that NCCL knows: one row each.
 *
 * Three kinds: those that the prediction follows, those that change a real
 * machine's times in ways that are not simulated, and those that change no time
 * at all (logs, addresses, time-outs).
 */
#ifndef MODEL_NCCL_VARIABLES_H
#define MODEL_NCCL_VARIABLES_H

#include "model/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum model_nccl_variable_kind {
    MODEL_NCCL_NUMBER,     /* int, as it is */
    MODEL_NCCL_POSITIVE,   /* int; below 1: as if not set */
    MODEL_NCCL_CHANNELS,   /* int from .low to the version's most channels */
    MODEL_NCCL_CTAS,       /* the same; the version says what below 1 does */
    MODEL_NCCL_BYTES,      /* double > 0 */
    MODEL_NCCL_THRESHOLD,  /* double >= 0: bytes */
    MODEL_NCCL_NS,         /* double: us, of nanoseconds */
    MODEL_NCCL_LEVEL,      /* name of a path: an int, and a bool for LOC */
    MODEL_NCCL_ALGO_LIST,  /* names of algorithms */
    MODEL_NCCL_PROTO_LIST, /* names of protocols */
    MODEL_NCCL_SIX,        /* bytes per thread: tree, then ring */
    MODEL_NCCL_POLICY,     /* of CTAs */
    MODEL_NCCL_NOT_SIMULATED,
    MODEL_NCCL_NO_EFFECT
};

/* What is wrong with a number, in words that follow it; NULL: nothing. */
typedef const char *model_nccl_judge(long long value);

struct model_nccl_variable {
    const char *name; /* without "NCCL_" */
    enum model_nccl_variable_kind kind;
    int since;     /* NCCL's code of the first version with it; 0: older than
                      those here */
    size_t offset; /* of its field in struct model_nccl_settings */
    const char *help;
    size_t local_offset; /* LEVEL: of the bool for LOC */
    long long low;       /* CHANNELS */
    model_nccl_judge *judge;
    const char *instead_of; /* an older name, heeded where this is not given */
    int until;              /* the first version without it; 0: still there */
};

/* The table, ended by a row without name. */
extern const struct model_nccl_variable model_nccl_variables[];

/*
 * The row of a name with "NCCL_" (of `length` letters), or NULL. Rows of
 * NOT_SIMULATED and NO_EFFECT may be made in the arena.
 */
const struct model_nccl_variable *model_nccl_variable_find(
    struct model_arena *arena, const char *name, size_t length);

/* All names without "NCCL_", ended by NULL. */
const char *const *model_nccl_variable_names(struct model_arena *arena);

/* What to write instead of a name that there is not: the nearest, if any. */
const char *model_nccl_variable_hint(struct model_arena *arena,
                                     const char *name);

/* Print the table as help; a name (with or without "NCCL_") narrows it. False
 * when there is no such variable. */
bool model_nccl_variables_help(struct model_arena *arena,
                               const char *name,
                               FILE *stream);

#endif
