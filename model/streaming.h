/*
 * streaming.h - kernels that stream through memory: element-wise, norms, the
 * optimizer step, copies.
 *
 * Each has HBM bytes and operations of the vector units per element, per row
 * and per column, from one table in streaming.c; it takes the longer of the two
 * (roofline). Nothing is read twice, so L2 does not matter.
 */
#ifndef MODEL_STREAMING_H
#define MODEL_STREAMING_H

#include "model/kernel.h"

/* HBM bytes and vector operations of a whole kernel. */
struct model_streaming {
    double bytes, flops;
};

/* Elements of the type; each reads and writes so many of them. */
struct model_streaming model_streaming_elementwise(enum model_type type,
                                                   double elements,
                                                   double reads,
                                                   double writes);

/*
 * LayerNorm over each of `rows` rows; with a residual the sum of both inputs is
 * normalised and written too. Backward has the gradient of the input, and of
 * that sum, and of weight and bias.
 */
struct model_streaming model_streaming_norm(enum model_type type,
                                            double rows,
                                            double columns,
                                            bool residual,
                                            bool backward);

/* AdamW over parameters: gradient and weight of the type; weight, if that is
   not fp32, and both moments in fp32. */
struct model_streaming model_streaming_optimizer(enum model_type type,
                                                 double parameters);

/* Device to device: bytes read, and written. */
struct model_streaming model_streaming_copy(double bytes);

/* Its kernel: many small CTAs, 16 loads an SM. sm_limit 0: none. */
struct model_kernel
model_streaming_kernel(const struct model_gpu *gpu,
                       const struct model_streaming *streaming,
                       int sm_limit);

#endif
