/*
 * subspaces.c - which subspaces a collective has, and their limits.
 */
#include "search/space.h"

#include "model/nccl/tuning.h"

/* NCCL's buffers as AutoCCL has them; all is counted in payload. */
static const double SIMPLE_CHUNK_BYTES = 2097152.0;
static const double SIMPLE_SLOT_BYTES = 524288.0;
static const double LL_SLOT_BYTES = 40960.0;
static const double LL128_SLOT_BYTES = 576000.0;
static const double LONG_BYTES = 1e12; /* a message that is not cut */

enum {
    THREADS_MIN = 96,
    THREADS_MAX = 640,
    SIMPLE_THREADS_MAX = 608,
    TREE_THREADS_MAX = 512,
    PAIR_THREADS_MAX = 256 /* of all pairs of a CTA, one way */
};

/* -- limits -- */

int search_channels_max(const struct search_problem *problem)
{
    const struct model_topology *topology = problem->topology;
    int most = SEARCH_CHANNELS_MAX;

    for (int i = 0; i < model_ranks_gpu_count(topology); i++) {
        int sms = model_ranks_gpu_at(topology, i)->sm_count;

        most = sms < most ? sms : most;
    }
    return most;
}

/* The class is of an op, whose kind it has. */
static enum model_collective_kind kind_of(const struct search_class *part)
{
    return (enum model_collective_kind)(part->kind - MODEL_OP_ALL_GATHER);
}

static const struct model_nccl_comm *
comm_of(const struct search_problem *problem, const struct search_class *part)
{
    return problem->nccl->groups[part->group].comm;
}

/* NCCL's chunk between two members. */
static double pair_chunk_bytes(const struct model_nccl_comm *comm)
{
    struct model_nccl_choice choice;

    model_nccl_choose_p2p(comm, LONG_BYTES, 1, &choice);
    return choice.chunk_bytes;
}

static double chunk_max_bytes(const struct search_problem *problem,
                              const struct search_class *part,
                              const struct search_space *space)
{
    bool slot = space->subspace.algorithm == MODEL_TREE ||
                part->kind == MODEL_OP_BROADCAST ||
                part->kind == MODEL_OP_REDUCE;

    switch (space->subspace.protocol) {
    case MODEL_LL:
        return LL_SLOT_BYTES;
    case MODEL_LL128:
        return LL128_SLOT_BYTES;
    default:
        return space->peers > 0 ? pair_chunk_bytes(comm_of(problem, part))
               : slot           ? SIMPLE_SLOT_BYTES
                                : SIMPLE_CHUNK_BYTES;
    }
}

static double
count_bytes(const struct search_class *part, int algorithm, double n)
{
    switch ((enum model_op_kind)part->kind) {
    case MODEL_OP_ALL_REDUCE:
        return algorithm == MODEL_TREE ? part->bytes : part->bytes / n;
    case MODEL_OP_ALL_GATHER:
    case MODEL_OP_REDUCE_SCATTER:
    case MODEL_OP_ALL_TO_ALL:
        return part->bytes / n;
    default:
        return part->bytes;
    }
}

static void set_limits(const struct search_problem *problem,
                       struct search_space *space)
{
    bool simple = space->subspace.protocol == MODEL_SIMPLE;
    bool tree = space->subspace.algorithm == MODEL_TREE;

    space->channels_max = search_channels_max(problem);
    space->threads_min = THREADS_MIN;
    space->threads_max = !simple ? THREADS_MAX
                         : tree  ? TREE_THREADS_MAX
                                 : SIMPLE_THREADS_MAX;
    if (space->peers > 0) {
        space->threads_min = SEARCH_THREADS_STEP;
        space->threads_max = PAIR_THREADS_MAX;
    }
    space->last_threads = space->threads_max;
}

static struct search_space make_space(const struct search_problem *problem,
                                      const struct search_class *part,
                                      const struct model_config *subspace)
{
    double n = problem->workload->groups[part->group].count;
    struct search_space space = {.subspace = *subspace};

    if (subspace->algorithm == MODEL_PAIRWISE) {
        space.peers = part->kind == MODEL_OP_ALL_TO_ALL ? (int)n : 1;
    }
    space.grain_bytes = subspace->protocol == MODEL_LL128 ? 60.0 : 8.0;
    space.chunk_max_bytes = chunk_max_bytes(problem, part, &space);
    space.count_bytes = count_bytes(part, subspace->algorithm, n);
    set_limits(problem, &space);
    search_space_end(&space, part->kind == MODEL_OP_ALL_REDUCE
                                 ? part->bytes
                                 : space.count_bytes);
    return space;
}

/* -- which there are -- */

static bool agrees(int given, int value)
{
    return given == MODEL_UNSET || given == value;
}

/* AutoCCL's algorithms, and NCCL's own where that is another. */
static bool is_searched(const struct search_class *part, int algorithm)
{
    return algorithm == MODEL_RING || algorithm == MODEL_TREE ||
           algorithm == MODEL_PAIRWISE || algorithm == part->baseline.algorithm;
}

static bool has_protocol(const struct model_nccl_comm *comm,
                         const struct model_config *subspace)
{
    switch (subspace->algorithm) {
    case MODEL_RING:
    case MODEL_TREE:
        return subspace->protocol != MODEL_LL128 ||
               model_nccl_ll128_off(comm, subspace->algorithm == MODEL_TREE
                                              ? MODEL_NCCL_TREE
                                              : MODEL_NCCL_RING) == NULL;
    case MODEL_PAIRWISE:
        return subspace->protocol == MODEL_SIMPLE ||
               (subspace->protocol == MODEL_LL && comm->node_count == 1);
    default:
        return subspace->protocol == MODEL_SIMPLE;
    }
}

static bool is_subspace(const struct search_problem *problem,
                        const struct search_class *part,
                        const struct model_config *subspace)
{
    const struct model_nccl_comm *comm = comm_of(problem, part);
    const struct model_config *given = &part->fixed;

    return agrees(given->algorithm, subspace->algorithm) &&
           agrees(given->protocol, subspace->protocol) &&
           agrees(given->transport, subspace->transport) &&
           is_searched(part, subspace->algorithm) &&
           has_protocol(comm, subspace) &&
           /* Where NVLink joins all, there is no other way. */
           (subspace->transport == MODEL_P2P || !comm->all_nvlink) &&
           model_collective_fault(problem->topology, kind_of(part), subspace) ==
               NULL;
}

int search_subspaces(const struct search_problem *problem,
                     const struct search_class *part,
                     struct search_space spaces[SEARCH_SUBSPACES_MAX])
{
    struct model_config subspace = model_config_none();
    int count = 0;

    for (int a = 0; a < MODEL_ALGORITHMS; a++) {
        for (int p = 0; p < MODEL_PROTOCOLS; p++) {
            for (int t = 0; t < MODEL_TRANSPORTS; t++) {
                subspace.algorithm = a;
                subspace.protocol = p;
                subspace.transport = t;
                if (is_subspace(problem, part, &subspace)) {
                    spaces[count++] = make_space(problem, part, &subspace);
                }
            }
        }
    }
    if (count == 0) {
        subspace.algorithm = part->baseline.algorithm;
        subspace.protocol = part->baseline.protocol;
        subspace.transport = part->baseline.transport;
        spaces[count++] = make_space(problem, part, &subspace);
    }
    return count;
}

int search_subspace_of(const struct search_space *spaces,
                       int count,
                       const struct model_config *config)
{
    for (int i = 0; i < count; i++) {
        if (spaces[i].subspace.algorithm == config->algorithm &&
            spaces[i].subspace.protocol == config->protocol &&
            spaces[i].subspace.transport == config->transport) {
            return i;
        }
    }
    return -1;
}
