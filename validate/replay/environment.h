/*
 * environment.h - settings that NCCL takes from the environment alone.
 *
 * Channels are asked for communicator by communicator. Algorithm, protocol,
 * threads, buffer and transport hold for a whole process, which reads them when
 * NCCL starts. So items that want different values are measured by different
 * processes; what must run in one process (mode overlap) may not differ, but
 * for algorithm and protocol by kind of collective, from NCCL 2.24 on.
 *
 * A chunk C is asked for by the size of the buffer, of 8 slots: of ring and
 * Simple a chunk is 4 slots, of everything else one; LL's slots hold flags for
 * half of their bytes, LL128's for 8 of 128.
 */
#ifndef VALIDATE_REPLAY_ENVIRONMENT_H
#define VALIDATE_REPLAY_ENVIRONMENT_H

#include "validate/replay/schedule.h"

enum {
    REPLAY_VARIABLES_MAX = 16,
    REPLAY_BY_FUNCTION = 22400 /* NCCL that takes algorithms by function */
};

struct replay_environment {
    const char *variables[REPLAY_VARIABLES_MAX]; /* "NCCL_NTHREADS=256" */
    int count;
};

struct replay_environments {
    struct replay_environment *list;
    int count;
};

/*
 * Find the environment of each item of a schedule, which gets its number.
 * one: all items run together, so there is one environment (of no variables,
 * where there is nothing to say); items that contradict each other are faults,
 * or, with `nearest`, follow those that move the most bytes, with a note in
 * *notes (a list of const char *). Settings that NCCL cannot be told are faults
 * in any case. version: of NCCL, as 22809.
 */
struct replay_environment_request {
    struct replay_schedule *schedule;
    int version;
    bool one, nearest;
};

enum model_status
replay_environments_make(struct model_arena *arena,
                         const struct replay_environment_request *request,
                         struct replay_environments *environments,
                         struct model_list *notes,
                         struct model_errors *errors);

#endif
