/*
 * search.h - the graph that NCCL takes for a pattern.
 *
 * Attempts (walk.h) are made with the fastest rate of the version's list
 * that the machine could carry at all, then with ever less demanding wishes:
 * channels that differ, a simpler tree, farther paths, NICs crossed, lower
 * rates, until lower ones could not win any more. A second pass then tries
 * whether the same channels can be faster within the node.
 *
 * NCCL: graph/search.cc, ncclTopoCompute.
 */
#ifndef MODEL_NCCL_SEARCH_H
#define MODEL_NCCL_SEARCH_H

#include "model/nccl/paths.h"

struct model_nccl_wish {
    int pattern;     /* enum model_nccl_pattern */
    int least, most; /* channels */
};

/*
 * The graph lives in the arena, its order holds GPUs as the node numbers them.
 * Without any way a plain one results, but none (0 channels) of NVLS.
 */
struct model_nccl_graph model_nccl_search(struct model_arena *arena,
                                          const struct model_nccl_paths *paths,
                                          const struct model_nccl_wish *wish);

/* One slow channel through GPUs in their order. */
struct model_nccl_graph
model_nccl_plain_graph(struct model_arena *arena,
                       const struct model_nccl_graph_data *data,
                       int pattern,
                       const int *gpus,
                       int gpu_count);

#endif
