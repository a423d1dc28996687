/*
 * replay.h - lagom-replay, from its arguments to its exit status.
 */
#ifndef VALIDATE_REPLAY_REPLAY_H
#define VALIDATE_REPLAY_REPLAY_H

#include "model/arena.h"
#include "model/error.h"
#include "validate/replay/device.h"

#include <stdio.h>

/* What the program is given. */
struct replay_job {
    const struct replay_driver *driver;
    const char *program; /* path by which it can run itself */
    char **words;        /* arguments behind its name */
    int word_count;
    FILE *out; /* results, where no file is named */
    FILE *log; /* notes */
};

/* Faults go to errors; the status is the exit code. */
enum model_status replay_run(struct model_arena *arena,
                             const struct replay_job *job,
                             struct model_errors *errors);

#endif
