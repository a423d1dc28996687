/*
 * work.h - from an op of a workload to one launch, and back to text.
 */
#ifndef VALIDATE_REPLAY_WORK_H
#define VALIDATE_REPLAY_WORK_H

#include "model/workload.h"
#include "validate/replay/device.h"

/* Equal works need one set of buffers and take one time. */
bool replay_work_same(const struct replay_work *a, const struct replay_work *b);

/*
 * What runs for a computation. GEMMs are cuBLAS's; kernels and what only
 * streams are grids with their CTAs, flops and bytes. Attention has no kernel
 * here: a grid of the model's shape stands in, and *replaced is its name, else
 * NULL.
 */
struct replay_work replay_work_compute(const struct model_op *op,
                                       const struct model_gpu *gpu,
                                       const char **replaced);

/*
 * A collective by NCCL, of the settings that somebody fixed; with config
 * complete and stand_in, a ring_step of as many bytes as a ring of `ranks`
 * sends from one of them.
 */
struct replay_work replay_work_collective(const struct model_op *op,
                                          const struct model_config *config,
                                          bool stand_in,
                                          int ranks);

/* A computation as records have it: "{kind: gemm, m: 64, n: 64, k: 64}". */
const char *replay_work_text(struct model_arena *arena,
                             const struct replay_work *work);

#endif
