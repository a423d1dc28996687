/*
 * output.h - files that are there whole or not at all.
 *
 * A regular file is written beside its name and renamed when it is complete, so
 * that neither a full disk nor a killed program leaves half of one. Devices and
 * pipes are written straight.
 */
#ifndef SIM_OUTPUT_H
#define SIM_OUTPUT_H

#include "model/arena.h"
#include "model/error.h"

#include <stdbool.h>
#include <stdio.h>

struct sim_output {
    const char *path;
    const char *temporary; /* NULL: written straight */
    FILE *stream;
};

/* Open for writing; reports the fault. path is borrowed. */
enum model_status sim_output_open(struct model_arena *arena,
                                  const char *path,
                                  struct sim_output *output,
                                  struct model_errors *errors);

/*
 * Close; keep the file when `complete` and nothing failed, else leave what was
 * there before and report why.
 */
enum model_status sim_output_close(struct sim_output *output,
                                   bool complete,
                                   struct model_errors *errors);

#endif
