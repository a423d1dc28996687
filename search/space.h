/*
 * space.h - the configurations that AutoCCL's generator allows a collective.
 *
 * For each subspace (algorithm, protocol, transport), with the rules of
 * AutoCCL's code (nccl_candidate.h) for Ring and Simple:
 *
 *   channels   1 .. SEARCH_CHANNELS_MAX, at most the GPU's SMs
 *   threads    96 .. 608 in steps of 32
 *   chunk      i * threads * 8 bytes, at most 2 MiB, and i at most
 *              count / (channels * threads * 8), but i = 1 always;
 *              count = size / ranks
 *
 * AutoCCL's chunk is what a CTA moves per slice, of which it makes up to 4 a
 * chunk; here it is the chunk of a ring step.
 *
 * Of the many chunks of one (channels, threads) at most `chunks_max` evenly
 * spread ones are kept, so that a search over the whole list stays cheap.
 */
#ifndef SEARCH_SPACE_H
#define SEARCH_SPACE_H

#include "search/problem.h"

enum {
    SEARCH_CHANNELS_MAX = 128,
    SEARCH_THREADS_MIN = 96,
    SEARCH_THREADS_MAX = 608,
    SEARCH_THREADS_STEP = 32,
    SEARCH_CHUNK_MAX = 2097152,
    SEARCH_CHUNK_GRAIN = 8 /* bytes per thread */
};

struct search_space {
    struct model_config subspace; /* algorithm, protocol, transport */
    int channels_max;
    double count_bytes; /* per rank */
};

/*
 * The subspaces of a class: the algorithm that NCCL chooses, Simple, over each
 * transport; returns how many, at most MODEL_TRANSPORTS. Where NVLink joins
 * all its GPUs of a node, host memory is no alternative.
 */
int search_subspaces(const struct search_problem *problem,
                     const struct search_class *part,
                     struct search_space spaces[MODEL_TRANSPORTS]);

/* How many chunks a (channels, threads) has: i = 1 .. result. */
int search_space_chunks(const struct search_space *space,
                        int channels,
                        int threads);

/* All candidates, thinned to chunks_max chunks; returns how many. */
int search_space_list(struct model_arena *arena,
                      const struct search_space *space,
                      int chunks_max,
                      struct model_config **list);

#endif
