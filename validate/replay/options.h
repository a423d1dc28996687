/*
 * options.h - the command line of lagom-replay: one table of rows.
 */
#ifndef VALIDATE_REPLAY_OPTIONS_H
#define VALIDATE_REPLAY_OPTIONS_H

#include "sim/cli.h"

enum replay_mode { REPLAY_ALONE, REPLAY_OVERLAP, REPLAY_SWEEP, REPLAY_MODES };

struct replay_options {
    const char *topology, *workload, *plan, *output;
    struct sim_cli_list sets;
    int mode; /* enum replay_mode */
    int repeats, warmup;
    bool ops;
    bool stand_in, nearest;
    bool describe, self_test;
    bool quiet, help, version;

    /* Where it runs. */
    int gpu;         /* the first of this process */
    int node, nodes; /* of one process a node; nodes 0: not said */
    const char *id_file;

    /* What the program adds when it runs itself, once for each rank. */
    int rank, ranks; /* ranks 0: not such a run */
    int environment; /* of environment.h */
};

/* Read arguments (after the program's name). Faults, MODEL_USAGE, go to
   errors. */
enum model_status replay_options_parse(int count,
                                       char **words,
                                       struct replay_options *options,
                                       struct model_errors *errors);

/* What --help prints. */
void replay_options_help(FILE *stream);

/* A fault of the command line or of the machine, without a place in a file. */
enum model_status replay_fault_add(struct model_errors *errors,
                                   enum model_status status,
                                   const char *hint,
                                   const char *message,
                                   const char *word);

#endif
