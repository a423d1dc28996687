/*
 * paths_parts.h - what paths.c and nics.c share.
 */
#ifndef MODEL_NCCL_PATHS_PARTS_H
#define MODEL_NCCL_PATHS_PARTS_H

#include "model/nccl/paths.h"

/* Make the way between two devices go by way of a third: a CPU, or a GPU. */
void model_nccl_bend(const struct model_nccl_paths *paths,
                     int from,
                     int via,
                     int to);

/* The nearest CPU of a GPU, as a device. */
int model_nccl_cpu_of(const struct model_nccl_paths *paths, int gpu);

/* The type of a way that goes over one of each type. */
int model_nccl_merged_type(const struct model_nccl_paths *paths,
                           int one,
                           int other);

/* A level that was set (enum model_path, or LOC) among NCCL's paths. */
int model_nccl_level(int path, bool local);

/* What PXN and GPUDirect change, and whose each NET is. */
void model_nccl_bend_nets(struct model_arena *arena,
                          const struct model_nccl_paths *paths);

#endif
