/*
 * gemm.h - matrix products: tiles, split K, and what they ask of a GPU.
 *
 * C[m x n] = A[m x k] B[k x n], row by row in memory, `batch` times; or one
 * product for each of several groups (experts) that differ in m only. The
 * output is cut into tiles, one CTA each. With s-way split K each tile is s
 * CTAs of k / s, which write partial sums in fp32; these are read back and
 * added.
 *
 * Arithmetic of a CTA, us:
 *   2 rows columns (k / s) / (SM peak x achieved.gemm x ratio of the tile)
 *   and at least the accesses of its operands and results at narrow_rate, where
 *   rows of A, B or C are not a multiple of 16 bytes apart: those kernels load
 *   through registers, an element at a time. A cut tile takes as long as a
 *   whole one.
 * Overhead of a CTA, us: fill of its pipeline, prologue and epilogue; once more
 *   with split K, for adding up. The CTAs that an SM holds beside it hide it.
 * HBM bytes of a CTA, with L2: a wave of S tiles (at most one per SM) in the
 *   block of a x b tiles that reads least, a sqrt(aspect) by b, loads
 *   (a rows + b columns) k elements once, 1/S of it per tile; and the tile's
 *   output. Cut tiles load what is there: sides are means, m / tiles.
 * HBM bytes without L2: each tile reads its own (rows + columns) k elements.
 *
 * The tile is chosen by this rule, blind to what else runs, as cuBLAS's
 * heuristic is: of all tiles of the GPU's file and 1, 2, 4, ... splits, while k
 * / s is at least gemm.split_k and the grid without the last doubling is less
 * than two waves, the one of least model_kernel_alone_us; of equals the larger
 * tile, then the fewer splits. stream_k divides K itself: no splits.
 */
#ifndef MODEL_GEMM_H
#define MODEL_GEMM_H

#include "model/kernel.h"

/* Sizes are positive. A zero of tile and split is left to the rule. */
struct model_gemm {
    enum model_type type; /* must have a peak on this GPU */
    double m, n, k, batch;
    const double *groups; /* m of each group, at least one of them not 0; then
                             m and batch have no meaning. Borrowed */
    int group_count;      /* 0: no groups */
    int rows, columns;    /* tile */
    int split_k;
    enum model_schedule schedule;
    int sm_limit; /* 0: none */
};

/* A way to run it. A tile that the GPU's file lacks is timed as the one there
   of the nearest size. */
struct model_gemm_choice {
    int rows, columns;
    int split_k;
    const struct model_gemm_tile *tile; /* in the GPU */
    double us;                          /* on the empty GPU, without launch */
};

/* The choice of the rule, or what the GEMM fixes. */
struct model_gemm_choice model_gemm_choose(const struct model_gpu *gpu,
                                           const struct model_gemm *gemm);

/* The kernel under that choice. */
struct model_kernel model_gemm_kernel(const struct model_gpu *gpu,
                                      const struct model_gemm *gemm);

/* 2 m n k, summed over batch or groups. */
double model_gemm_flops(const struct model_gemm *gemm);

/* A, B and C once each, summed over batch or groups. */
double model_gemm_bytes(const struct model_gemm *gemm);

#endif
