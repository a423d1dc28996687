/*
 * collective.h - what one collective under one configuration asks of the
 * machine: bytes, channel rate, links, memory, cache.
 *
 * `size` is counted as nccl-tests count it: the whole buffer, M. n ranks.
 *
 *     op              steps      wire bytes per rank   block per step
 *     all_gather      n-1        M (n-1)/n             M/n
 *     reduce_scatter  n-1        M (n-1)/n             M/n
 *     all_reduce      2(n-1)     2 M (n-1)/n           M/n
 *
 * Channels split every block evenly; each moves it in chunks of
 * C_eff = min(C, block / NC): C binds only when the block exceeds NC C.
 */
#ifndef MODEL_COLLECTIVE_H
#define MODEL_COLLECTIVE_H

#include "model/fabric.h"

enum model_collective_kind {
    MODEL_ALL_GATHER,
    MODEL_REDUCE_SCATTER,
    MODEL_ALL_REDUCE,
    MODEL_COLLECTIVE_KINDS
};

extern const char *const model_collective_names[MODEL_COLLECTIVE_KINDS + 1];

/* Ranks of a communicator in ring order of rank number. */
struct model_group {
    const char *name;
    const int *ranks; /* ascending, different; NULL: 0 .. count-1 */
    int count;
    bool per_node; /* stands for one such group in each node */
};

/* A link and how many channel flows of the collective pass it. */
struct model_use {
    int link;
    double flows;
};

/* What the simulator needs; lives in the arena given to the maker. */
struct model_collective {
    int rank_count;
    int channels;
    double channel_bytes;         /* wire bytes of one channel on one rank */
    double channel_bytes_per_us;  /* the most one channel reaches, with sync */
    double chunk_bytes;           /* C_eff */
    double in_flight_bytes;       /* per channel, over the slowest hop */
    double hbm_ratio;             /* HBM bytes of a rank per wire byte */
    double footprint_bytes;       /* one chunk of each channel: on its way
                                     through L2 to or from the user buffer,
                                     wherever the FIFO is */
    double bus_factor;            /* busbw / algbw */
    const struct model_use *uses; /* shown links, ascending */
    int use_count;
};

/* busbw / algbw of nccl-tests: steps / n. */
double model_collective_bus_factor(enum model_collective_kind kind,
                                   int rank_count);

/* Why a configuration cannot run on this machine, or NULL when it can. */
const char *model_collective_fault(const struct model_topology *topology,
                                   const struct model_config *config);

/*
 * A ring collective. group->count >= 1; config complete and without fault.
 * size_bytes > 0. With one rank nothing moves (channel_bytes 0).
 */
struct model_collective
model_collective_ring(struct model_arena *arena,
                      const struct model_fabric *fabric,
                      enum model_collective_kind kind,
                      double size_bytes,
                      const struct model_group *group,
                      const struct model_config *config);

#endif
