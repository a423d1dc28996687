/*
 * bound.c - sums of the kernels' least times.
 */
#include "search/bound.h"

#include <math.h>

double search_bound_us(struct model_arena *arena,
                       const struct search_problem *problem)
{
    const struct model_workload *workload = problem->workload;
    const struct model_gpu *gpu = &problem->topology->gpu;
    double *sums = model_arena_array(arena, (size_t)workload->stream_count + 1,
                                     sizeof(*sums));
    double bound_us = 0.0;

    for (int i = 0; i < workload->op_count; i++) {
        const struct model_op *op = &workload->ops[i];
        struct model_kernel kernel;

        if (model_op_is_collective(op)) {
            continue;
        }
        kernel = model_op_kernel(op, gpu);
        sums[op->stream] +=
            gpu->launch_us + model_kernel_bound_us(&kernel, gpu);
        bound_us = fmax(bound_us, sums[op->stream]);
    }
    return bound_us;
}
