/*
 * comm.c - a communicator: who is on which node, the graphs of each kind
 * of node, and what all agree on.
 */
#include "model/nccl/comm.h"

#include "model/nccl/channels.h"
#include "model/nccl/search.h"

#include <string.h>

const char *const model_nccl_path_names[] = {"LOC", "NVL", "NVB", "C2C", "PIX",
                                             "PXB", "P2C", "PXN", "PHB", "SYS",
                                             "NET", "DIS", NULL};

/* The members of one node; nodes that hold the same GPUs are one. */
struct share {
    int *gpus; /* ascending */
    int *capabilities;
    int count;
};

struct shares {
    struct share *items;
    int count, room;
};

static int smaller(int one, int other)
{
    return one < other ? one : other;
}

static int larger(int one, int other)
{
    return one > other ? one : other;
}

/* -- who is on which node -- */

static bool is_known(const struct shares *shares, const struct share *share)
{
    size_t bytes = (size_t)share->count * sizeof(int);

    for (int i = shares->count - 1; i >= 0; i--) {
        const struct share *each = &shares->items[i];

        if (each->count == share->count &&
            memcmp(each->gpus, share->gpus, bytes) == 0 &&
            memcmp(each->capabilities, share->capabilities, bytes) == 0) {
            return true;
        }
    }
    return false;
}

static void keep_share(struct model_arena *arena,
                       struct shares *shares,
                       const struct share *share)
{
    size_t bytes = (size_t)share->count * sizeof(int);
    struct share kept = {.count = share->count};

    if (is_known(shares, share)) {
        return;
    }
    kept.gpus = model_arena_alloc(arena, bytes);
    kept.capabilities = model_arena_alloc(arena, bytes);
    memcpy(kept.gpus, share->gpus, bytes);
    memcpy(kept.capabilities, share->capabilities, bytes);
    shares->items = model_arena_grow(arena, shares->items, shares->count,
                                     &shares->room, sizeof(*shares->items));
    shares->items[shares->count++] = kept;
}

static void end_node(struct model_arena *arena,
                     struct model_nccl_comm *comm,
                     struct shares *shares,
                     struct share *share)
{
    comm->node_count++;
    comm->ranks_per_node = larger(comm->ranks_per_node, share->count);
    comm->least_ranks_per_node =
        comm->node_count == 1
            ? share->count
            : smaller(comm->least_ranks_per_node, share->count);
    keep_share(arena, shares, share);
    share->count = 0;
}

/* Members ascend, so that those of a node follow each other. */
static struct shares share_out(struct model_arena *arena,
                               const struct model_topology *topology,
                               const struct model_group *group,
                               struct model_nccl_comm *comm)
{
    size_t gpus = (size_t)topology->gpus_per_node;
    struct shares shares = {
        .items = model_arena_array(arena, 1, sizeof(*shares.items)), .room = 1};
    struct share share = {.gpus = model_arena_array(arena, gpus, sizeof(int)),
                          .capabilities =
                              model_arena_array(arena, gpus, sizeof(int))};
    int node = model_group_rank(group, 0) / topology->gpus_per_node;

    for (int i = 0; i < group->count; i++) {
        int rank = model_group_rank(group, i);
        int capability = model_ranks_gpu(topology, rank)->compute_capability;

        if (rank / topology->gpus_per_node != node) {
            end_node(arena, comm, &shares, &share);
            node = rank / topology->gpus_per_node;
        }
        share.gpus[share.count] = rank % topology->gpus_per_node;
        share.capabilities[share.count++] = capability;
        comm->compute_capability =
            i == 0 ? capability : smaller(comm->compute_capability, capability);
    }
    end_node(arena, comm, &shares, &share);
    return shares;
}

/* -- the graphs of one node -- */

/* What the members of one node find out before they tell the others. */
struct findings {
    struct model_nccl_graph graphs[MODEL_NCCL_GRAPHS];
    int p2p_type;
    bool by_host;
    int channels_per_peer; /* of the pair that has fewest */
    bool has_nvswitch;
};

static bool wants_nvls(const struct model_nccl_machine *machine)
{
    return machine->settings->nvls_enable != 0 &&
           model_nccl_count(machine, MODEL_NCCL_NVS) > 0 &&
           model_nccl_count(machine, MODEL_NCCL_GPU) > 2 &&
           machine->least_capability >= 90;
}

static void find_graphs(struct model_arena *arena,
                        const struct model_nccl_paths *paths,
                        struct findings *findings)
{
    int most = paths->machine->data->max_channels;
    struct model_nccl_wish ring = {MODEL_NCCL_RING_PATTERN, 1,
                                   larger(most / 2, 1)};
    struct model_nccl_wish nvls = {MODEL_NCCL_NVLS_PATTERN, 1, most};
    struct model_nccl_wish tree = {.pattern = MODEL_NCCL_BALANCED_TREE};

    findings->graphs[MODEL_NCCL_GRAPH_RING] =
        model_nccl_search(arena, paths, &ring);
    tree.least = findings->graphs[MODEL_NCCL_GRAPH_RING].channels;
    tree.most = tree.least;
    findings->graphs[MODEL_NCCL_GRAPH_TREE] =
        model_nccl_search(arena, paths, &tree);
    if (wants_nvls(paths->machine)) {
        findings->graphs[MODEL_NCCL_GRAPH_NVLS] =
            model_nccl_search(arena, paths, &nvls);
    }
}

/* -- all nodes -- */

/* The slowest and farthest of any node counts for all. */
static void merge_graph(struct model_nccl_graph *graph,
                        const struct model_nccl_graph *other)
{
    if (other->intra_bytes_per_us < graph->intra_bytes_per_us) {
        graph->intra_bytes_per_us = other->intra_bytes_per_us;
    }
    if (other->inter_bytes_per_us < graph->inter_bytes_per_us) {
        graph->inter_bytes_per_us = other->inter_bytes_per_us;
    }
    graph->channels = smaller(graph->channels, other->channels);
    graph->intra_type = larger(graph->intra_type, other->intra_type);
    graph->inter_type = larger(graph->inter_type, other->inter_type);
    graph->same_channels = graph->same_channels && other->same_channels;
    graph->cross_nic = larger(graph->cross_nic, other->cross_nic);
}

static void merge(struct findings *all, const struct findings *other)
{
    for (int i = 0; i < MODEL_NCCL_GRAPHS; i++) {
        merge_graph(&all->graphs[i], &other->graphs[i]);
    }
    all->p2p_type = larger(all->p2p_type, other->p2p_type);
    all->by_host = all->by_host || other->by_host;
    all->channels_per_peer =
        smaller(all->channels_per_peer, other->channels_per_peer);
    all->has_nvswitch = all->has_nvswitch && other->has_nvswitch;
}

/*
 * More GPUs than NCCL can hold in a node: it makes no such communicator. One
 * plain channel stands for that.
 */
static struct findings find_nothing(struct model_arena *arena,
                                    const struct model_nccl_comm *comm,
                                    const struct share *share)
{
    struct findings findings = {.p2p_type = MODEL_NCCL_PATH_SYS,
                                .channels_per_peer =
                                    comm->version->graph.net_peer_channels};

    findings.graphs[MODEL_NCCL_GRAPH_RING] = model_nccl_plain_graph(
        arena, &comm->version->graph, MODEL_NCCL_RING_PATTERN, share->gpus,
        share->count);
    findings.graphs[MODEL_NCCL_GRAPH_TREE] = model_nccl_plain_graph(
        arena, &comm->version->graph, MODEL_NCCL_BALANCED_TREE, share->gpus,
        share->count);
    return findings;
}

static struct findings find_all(struct model_arena *arena,
                                const struct model_nccl_comm *comm,
                                const struct share *share)
{
    struct model_nccl_machine machine = model_nccl_machine_make(
        arena, comm->topology, &comm->version->graph, comm->settings,
        share->gpus, share->capabilities, share->count, comm->node_count > 1);
    struct model_nccl_paths paths = model_nccl_paths_make(arena, &machine);
    struct findings findings = {
        .p2p_type = model_nccl_farthest(&paths, MODEL_NCCL_GPU),
        .by_host = paths.by_host,
        .channels_per_peer = model_nccl_channels_per_peer(arena, &paths),
        .has_nvswitch = model_nccl_count(&machine, MODEL_NCCL_NVS) > 0};

    find_graphs(arena, &paths, &findings);
    return findings;
}

static struct findings find(struct model_arena *arena,
                            const struct model_nccl_comm *comm,
                            const struct share *share)
{
    return share->count > comm->version->graph.max_devices
               ? find_nothing(arena, comm, share)
               : find_all(arena, comm, share);
}

static int fullest_of(const struct shares *shares)
{
    int fullest = 0;

    for (int i = 1; i < shares->count; i++) {
        if (shares->items[i].count > shares->items[fullest].count) {
            fullest = i;
        }
    }
    return fullest;
}

/* -- all -- */

void model_nccl_comm_make(struct model_arena *arena,
                          const struct model_topology *topology,
                          const struct model_group *group,
                          const struct model_nccl_version *version,
                          const struct model_nccl_settings *settings,
                          struct model_nccl_comm *comm)
{
    struct shares shares;
    struct findings all;
    int fullest;
    int searched;

    *comm = (struct model_nccl_comm){.topology = topology,
                                     .version = version,
                                     .settings = settings,
                                     .rank_count = group->count};
    shares = share_out(arena, topology, group, comm);
    fullest = fullest_of(&shares);
    all = find(arena, comm, &shares.items[fullest]);
    for (int i = 0; i < shares.count; i++) {
        if (i != fullest) {
            struct findings other = find(arena, comm, &shares.items[i]);

            merge(&all, &other);
        }
    }
    memcpy(comm->graphs, all.graphs, sizeof(comm->graphs));
    for (int i = 0; i < MODEL_NCCL_GRAPHS && comm->node_count > 1; i++) {
        comm->graphs[i].inter_latency_us = topology->nics.reported_latency_us;
    }
    searched = smaller(comm->graphs[MODEL_NCCL_GRAPH_RING].channels,
                       comm->graphs[MODEL_NCCL_GRAPH_TREE].channels);
    comm->graphs[MODEL_NCCL_GRAPH_RING].channels = searched;
    comm->graphs[MODEL_NCCL_GRAPH_TREE].channels = searched;
    comm->p2p_type = all.p2p_type;
    comm->transport =
        all.by_host || settings->p2p_disable == 1 || settings->p2p_level_local
            ? MODEL_SHM
            : MODEL_P2P;
    comm->all_nvlink = all.p2p_type < (int)MODEL_NCCL_PATH_PIX;
    comm->has_nvswitch = all.has_nvswitch;
    model_nccl_count_channels(comm, all.channels_per_peer);
}
