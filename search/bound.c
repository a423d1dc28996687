/*
 * bound.c - sums of times alone.
 */
#include "search/bound.h"

#include "sim/alone.h"

#include <math.h>

double search_bound_us(struct model_arena *arena,
                       const struct search_problem *problem)
{
    const struct model_workload *workload = problem->workload;
    struct sim_request request = {.topology = problem->topology,
                                  .workload = workload,
                                  .fallback = &problem->baseline};
    struct sim_alone *alone = sim_alone_new(arena, &request);
    double *sums = model_arena_array(arena, (size_t)workload->stream_count + 1,
                                     sizeof(*sums));
    double bound_us = 0.0;

    for (int i = 0; i < workload->op_count; i++) {
        const struct model_op *op = &workload->ops[i];

        if (!model_op_is_collective(op)) {
            sums[op->stream] += sim_alone_us(alone, i, &problem->baseline);
            bound_us = fmax(bound_us, sums[op->stream]);
        }
    }
    return bound_us;
}
