/*
 * measured.h - the times of an iteration's ops as lagom-replay writes them.
 *
 *     op,stream,start_us,end_us,spread_us
 *     forward.0.qkv,compute,5.1,310.4,1.9
 *     iteration,,0,8123.5,12.7
 *
 * is CSV (RFC 4180) with columns by name, in any order, of which stream and
 * spread_us may be left out. There is a line for each op of the workload, of
 * rank 0, in any order, and one for the whole: times are from the beginning of
 * the iteration, medians of repeats, and their spread.
 */
#ifndef SEARCH_MEASURED_H
#define SEARCH_MEASURED_H

#include "model/error.h"
#include "model/workload.h"
#include "sim/sim.h"

struct search_measured {
    struct sim_result
        result;       /* iteration_us, compute_us, comm_us,
                         exposed_comm_us, steady; start and end of ops */
    double spread_us; /* of the iteration; 0: not said */
};

/*
 * Read a file. What a workload's cycle leaves out is added as the simulator
 * does. compute_us and comm_us are how long ops last from start to end, those
 * of rank 0. Faults, each with its line, go to errors under the given name.
 */
enum model_status search_measured_read(struct model_arena *arena,
                                       const char *file,
                                       const char *name,
                                       const struct model_workload *workload,
                                       struct search_measured *measured,
                                       struct model_errors *errors);

#endif
