/*
 * nccl_bound.h - attempts of which it is plain that they cannot win.
 *
 * Links that every channel must pass bound the number of channels: those of all
 * NICs together, those of all GPUs together, and those around the GPUs of a
 * PCIe switch or a socket. An attempt whose bound is not better than the best
 * found so far need not be made; only its steps would count (nccl_relax.c).
 */
#ifndef MODEL_NCCL_BOUND_H
#define MODEL_NCCL_BOUND_H

#include "model/nccl_walk.h"

/* May no set of channels that `now` asks for be better than `best`? */
bool model_nccl_hopeless(const struct model_nccl_walk *walk,
                         const struct model_nccl_draft *now,
                         const struct model_nccl_draft *best);

#endif
