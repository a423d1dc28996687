/*
 * ranks.h - what differs from rank to rank of a cluster: the GPU and its speed.
 *
 *     mixed:
 *       - {nodes: [1], gpu: a100}
 *       - {ranks: [3], gpu: v100}
 *     variation:
 *       jitter: 2%
 *       ranks: [{rank: 3, slow: 1.2}]
 *
 * Both describe the machine, whatever runs on it, so they are keys of a
 * topology. Wiring is the same for all nodes. Where ranks differ, one cannot
 * stand for all: such a topology is simulated rank by rank.
 */
#ifndef MODEL_RANKS_H
#define MODEL_RANKS_H

#include "model/gpu.h"

struct model_topology;

/* Kernels of a rank take `slow` times as long. */
struct model_slow {
    int rank;
    double ratio;
};

struct model_variation {
    double jitter_ratio;     /* deviation of the logarithm of kernel times */
    struct model_list ranks; /* of struct model_slow */
};

/* Nodes or ranks that have another GPU than topology.gpu. */
struct model_mixed {
    struct model_list nodes; /* of double, whole numbers */
    struct model_list ranks; /* the same; one of both is given */
    const struct model_node *gpu_node;
    struct model_gpu gpu;
};

/* Tables of keys. */
extern const struct model_field model_mixed_fields[];
extern const struct model_field model_variation_fields[];

/*
 * What the tables cannot say: ranks and nodes that exist, each named once.
 * Reports all faults, at the parts of the topology's tree.
 */
enum model_status model_ranks_check(struct model_arena *arena,
                                    const struct model_topology *topology,
                                    struct model_errors *errors);

/* True where one rank cannot stand for all. */
bool model_ranks_differ(const struct model_topology *topology);

/* Kinds of GPU: 1 and one more for each entry of `mixed`. */
int model_ranks_gpu_count(const struct model_topology *topology);

/* The kind that a rank has, 0: topology.gpu. */
int model_ranks_gpu_index(const struct model_topology *topology, int rank);

/* A kind, from 0. */
const struct model_gpu *
model_ranks_gpu_at(const struct model_topology *topology, int index);

/* The GPU of a rank. */
static inline const struct model_gpu *
model_ranks_gpu(const struct model_topology *topology, int rank)
{
    return model_ranks_gpu_at(topology, model_ranks_gpu_index(topology, rank));
}

/* How many times as long as usual a rank's kernels take, without jitter. */
double model_ranks_slow_ratio(const struct model_topology *topology, int rank);

#endif
