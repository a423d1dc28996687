/*
 * streaming.c - the table of streaming kernels.
 */
#include "model/streaming.h"

/*
 * Streaming kernels have far more CTAs than the GPU has slots; so many loads
 * that what the last wave wastes does not matter.
 */
enum { LOADS_PER_SM = 16 };

enum kind { ELEMENTWISE, NORM, NORM_BACKWARD, OPTIMIZER, OPTIMIZER_FP32, COPY };

/* Accesses are reads and writes of one element of the type. */
static const struct cost {
    double element_accesses;
    double element_bytes; /* whatever the type */
    double row_bytes;
    double column_accesses;
    double element_flops;
} costs[] = {
    /* accesses are the op's own; operations: those of a GeLU by tanh */
    [ELEMENTWISE] = {.element_flops = 10.0},
    /* x, y; mean and rstd; weight, bias. sum 1, variance 3, (x - mean) rstd 2,
       scale and shift 2 */
    [NORM] = {.element_accesses = 2.0,
              .row_bytes = 8.0,
              .column_accesses = 2.0,
              .element_flops = 8.0},
    /* x, dy, dx; mean and rstd; weight and both gradients. x^ 2, dy weight 1,
       two sums 3, dx 4, the two gradients 3 */
    [NORM_BACKWARD] = {.element_accesses = 3.0,
                       .row_bytes = 8.0,
                       .column_accesses = 3.0,
                       .element_flops = 13.0},
    /* gradient, weight; master and two moments read and written. Moments 7,
       corrections 2, root, epsilon and quotient 3, decay 1, update 2 */
    [OPTIMIZER] = {.element_accesses = 2.0,
                   .element_bytes = 24.0,
                   .element_flops = 15.0},
    /* the weight is its own master */
    [OPTIMIZER_FP32] = {.element_accesses = 1.0,
                        .element_bytes = 24.0,
                        .element_flops = 15.0},
    [COPY] = {.element_bytes = 2.0},
};

static struct model_streaming total(const struct cost *cost,
                                    enum model_type type,
                                    double rows,
                                    double columns)
{
    double bytes = model_type_bytes(type);
    double elements = rows * columns;

    return (struct model_streaming){
        .bytes =
            elements * (cost->element_accesses * bytes + cost->element_bytes) +
            rows * cost->row_bytes + columns * cost->column_accesses * bytes,
        .flops = elements * cost->element_flops};
}

struct model_streaming model_streaming_elementwise(enum model_type type,
                                                   double elements,
                                                   double reads,
                                                   double writes)
{
    struct cost cost = costs[ELEMENTWISE];

    cost.element_accesses = reads + writes;
    return total(&cost, type, 1.0, elements);
}

struct model_streaming model_streaming_norm(enum model_type type,
                                            double rows,
                                            double columns,
                                            bool residual,
                                            bool backward)
{
    struct cost cost = costs[backward ? NORM_BACKWARD : NORM];

    if (residual) {
        /* the other input and the sum; backward the gradient of the sum */
        cost.element_accesses += backward ? 1.0 : 2.0;
        cost.element_flops += 1.0;
    }
    return total(&cost, type, rows, columns);
}

struct model_streaming model_streaming_optimizer(enum model_type type,
                                                 double parameters)
{
    return total(&costs[type == MODEL_FP32 ? OPTIMIZER_FP32 : OPTIMIZER], type,
                 1.0, parameters);
}

struct model_streaming model_streaming_copy(double bytes)
{
    return total(&costs[COPY], MODEL_FP8, 1.0, bytes);
}

struct model_kernel
model_streaming_kernel(const struct model_gpu *gpu,
                       const struct model_streaming *streaming,
                       int sm_limit)
{
    int loads = LOADS_PER_SM * gpu->sm_count;
    double each = streaming->bytes / (double)loads;
    struct model_kernel kernel = {.schedule = MODEL_WAVES,
                                  .loads = loads,
                                  .load_bytes = each,
                                  .load_no_reuse_bytes = each,
                                  .sm_limit = sm_limit};

    if (streaming->flops > 0.0) {
        kernel.load_us =
            streaming->flops / (double)loads /
            model_gpu_sm_flops_per_us(gpu, MODEL_FP32, MODEL_CLASS_VECTOR);
    }
    model_kernel_set_cta(&kernel, &gpu->streaming_cta, 0);
    return kernel;
}
