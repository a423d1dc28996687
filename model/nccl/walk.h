/*
 * walk.h - one attempt of NCCL's search: channels of a given rate and of
 * paths no farther than given, found by backtracking within a number of steps.
 *
 * A channel is a walk through all GPUs of the node: from a NIC or anywhere,
 * from GPU to GPU, back to a NIC (the first, second or last GPU, by pattern) or
 * to the first GPU. Each hop takes its rate from the links it passes; what is
 * left of them decides how many channels fit. After each complete channel the
 * next one is tried, first the same walk again; each set of channels is
 * compared with the best so far. All is done in NCCL's order, and each GPU
 * visited costs a step, so that where steps run out the same is found.
 *
 * NCCL: graph/search.cc. Rates in whole bytes/us.
 */
#ifndef MODEL_NCCL_WALK_H
#define MODEL_NCCL_WALK_H

#include "model/nccl/paths.h"

/* A set of channels: what was asked of them, and those found so far. */
struct model_nccl_draft {
    int pattern;   /* enum model_nccl_pattern */
    int cross_nic; /* 0: back to the NIC it came from; 1: to any; 2: in pairs */
    int intra_type, inter_type;                 /* no farther than these */
    int intra_bytes_per_us, inter_bytes_per_us; /* of a channel */
    int least, most;                            /* channels to find */
    bool same;                                  /* all alike */
    int channels;
    int hops;   /* links passed, within the node */
    int *order; /* GPUs, channel by channel */
    int *nics;  /* each channel's first and last NET */
};

enum { MODEL_NCCL_PERFECT = -1 }; /* steps left: as many channels as may be */

struct model_nccl_walk {
    const struct model_nccl_paths *paths;
    const struct model_nccl_machine *machine;
    const struct model_nccl_graph_data *data;
    int gpus, nets;
    struct model_nccl_draft *now, *best;
    int steps;             /* left, or MODEL_NCCL_PERFECT */
    int *left;             /* bytes/us of each link */
    int *net_left;         /* of each NET */
    bool *used;            /* [channel][GPU] */
    unsigned short *next;  /* [channel][step][GPU]: GPUs to try */
    long long *scores;     /* of those, for sorting */
    int *pcie_link;        /* of each GPU, the one upwards */
    int p2p_thousandths;   /* what P2P by an Intel root complex takes */
    long long *gpu_scores; /* [from][to]: smaller first */
    long long *net_scores; /* [NET][GPU] */
    int *preferred;        /* NETs that each GPU takes, in order */
    int *preferred_count;
    int *starts; /* [NET][GPU]: those fastest and nearest from it */
    int *start_count;
    int *start_bytes_per_us;
    int *net_order; /* NETs to try from each GPU and (last) from any */
    int *net_count;
};

/* The GPUs of a channel, of so many a node, and its first and last NET. */
static inline int *model_nccl_draft_order(const struct model_nccl_draft *draft,
                                          int gpus,
                                          int channel)
{
    return draft->order + (ptrdiff_t)channel * gpus;
}

static inline int *model_nccl_draft_nics(const struct model_nccl_draft *draft,
                                         int channel)
{
    return draft->nics + (ptrdiff_t)2 * channel;
}

/* The NETs to try from a GPU; by the number of GPUs: from any. */
static inline int *model_nccl_nets_of(const struct model_nccl_walk *walk,
                                      int gpu)
{
    return walk->net_order + (ptrdiff_t)gpu * walk->nets;
}

/* Room for attempts on these paths of at most so many channels. */
struct model_nccl_walk
model_nccl_walk_make(struct model_arena *arena,
                     const struct model_nccl_paths *paths,
                     int most_channels);

/* An empty draft with room for so many channels. */
struct model_nccl_draft
model_nccl_draft_make(struct model_arena *arena, int gpus, int most_channels);

/* Copy a draft into one with room for it. */
void model_nccl_draft_copy(struct model_nccl_draft *to,
                           const struct model_nccl_draft *from,
                           int gpus);

/*
 * Is a set of channels better than the best before? It is when they carry more
 * together, or as much over fewer links; of NVLS, when there are more heads.
 */
bool model_nccl_better(const struct model_nccl_walk *walk,
                       const struct model_nccl_draft *now,
                       const struct model_nccl_draft *best);

/*
 * Try to find what `now` asks for in so many steps; *best is replaced by what
 * is better. Returns the steps left, 0 when they ran out, or
 * MODEL_NCCL_PERFECT.
 */
int model_nccl_walk_attempt(struct model_nccl_walk *walk,
                            struct model_nccl_draft *now,
                            struct model_nccl_draft *best,
                            int steps);

#endif
