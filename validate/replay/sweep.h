/*
 * sweep.h - lists of points to measure: a file for --mode sweep.
 *
 *     name: overlap
 *     sets:
 *       - ops:
 *           - {kind: ring_step, size: 64 MiB, threads: 512,
 *              channels: [1, 4, 16], chunk: [64 KiB, 512 KiB]}
 *           - - {kind: gemm, m: 8192, n: 8192, k: 8192}
 *             - {kind: gemm, m: 4096, n: 4096, k: 8192}
 *         match: true
 *
 * A set is one op, measured alone, or a collective and a computation, measured
 * alone and together. An op is written as in a workload, without id and
 * stream; a key with a list of values, and a list of ops, stand for each of
 * them, and a set for each combination. `match: true` measures the collective
 * with so many bytes that it lasts as long as the computation.
 * `working_set: [1 MiB, ...]` lets a kernel or memory read its hbm bytes from
 * so many, again and again: a curve of L2.
 */
#ifndef VALIDATE_REPLAY_SWEEP_H
#define VALIDATE_REPLAY_SWEEP_H

#include "model/workload.h"

enum { REPLAY_POINTS_MAX = 20000 };

/* Ops of the sweep's workload; MODEL_UNSET: none. */
struct replay_point {
    int collective, computation;
    bool match;
    double working_set_bytes; /* 0: none */
};

struct replay_sweep {
    struct model_workload workload; /* all ops of all points */
    struct replay_point *points;
    int count;
    bool curve; /* points have working sets */
};

/* Read a file, with overrides such as "sets[0].match=false". Faults, with
   place, go to errors. */
enum model_status replay_sweep_read(struct model_arena *arena,
                                    const char *file,
                                    const struct model_topology *topology,
                                    struct replay_sweep *sweep,
                                    struct model_errors *errors);

#endif
