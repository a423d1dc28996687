/*
 * trace.h - the timeline as a Chrome trace, for Perfetto or chrome://tracing.
 *
 * One process per rank, one thread per stream, one complete event per op, with
 * configuration, time alone and losses as arguments. An event begins when the
 * op is ready, so waiting is part of it. Times are in us.
 */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include "sim/sim.h"

/* MODEL_BAD_INPUT when the file cannot be written. */
enum model_status sim_trace_write(struct model_arena *arena,
                                  const char *file,
                                  const struct sim_request *request,
                                  const struct sim_result *result,
                                  struct model_errors *errors);

#endif
