/*
 * search_parts.h - a search on its way, for search.c and
 * relax.c alone.
 */
#ifndef MODEL_NCCL_SEARCH_PARTS_H
#define MODEL_NCCL_SEARCH_PARTS_H

#include "model/nccl/bound.h"

enum { MODEL_NCCL_RATES_MAX = 64 };

/* An attempt that was made, or need not be. */
struct model_nccl_attempt {
    int pattern, cross_nic, intra_type, inter_type, rate;
    bool same;
    int left; /* steps, or MODEL_NCCL_UNKNOWN */
};

/* An attempt in its turn: what it costs, and where it ends for good. */
struct model_nccl_turn {
    int attempt; /* its number: equal ones are made once */
    int cost;    /* steps */
    bool ended;  /* what is left of its steps went back, and if there was */
    bool found;  /* something by then, spent steps end the search */
};

enum { MODEL_NCCL_UNKNOWN = -2 };

struct model_nccl_hunt {
    struct model_arena *arena;
    const struct model_nccl_machine *machine;
    const struct model_nccl_graph_data *data;
    struct model_nccl_walk walk;
    struct model_nccl_bounds bounds;
    struct model_nccl_draft now, best;
    int gpus, nets;
    int rates[MODEL_NCCL_RATES_MAX]; /* bytes/us, falling */
    int rate_count, rate;
    int most_bytes_per_us;  /* of the fastest way that a channel needs */
    int total_bytes_per_us; /* of all links of a GPU */
    bool try_same;
    int cross_nic; /* as NCCL_CROSS_NIC allows here */
    int nearest_intra, nearest_inter, farthest_intra, farthest_inter;
    bool present[2][MODEL_NCCL_PATHS]; /* paths to GPUs, to NETs */
    struct model_nccl_attempt *attempts;
    int attempt_count, attempt_room;
    struct model_nccl_turn *turns;
    int turn_count, turn_room;
    int steps; /* left of the last one */
};

/* Find the best channels with ever less demanding wishes. */
void model_nccl_first_pass(struct model_nccl_hunt *hunt);

/* Try the same channels faster within the node. */
void model_nccl_second_pass(struct model_nccl_hunt *hunt);

#endif
