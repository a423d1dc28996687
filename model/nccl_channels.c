/*
 * nccl_channels.c - a communicator: the graphs of each kind of node it has, and
 * from them numbers of channels.
 */
#include "model/nccl_comm.h"

#include "model/nccl_search.h"

#include <string.h>

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

/* -- channels of send and receive -- */

/* Two for each NVLink between two GPUs, or two. */
static int
channels_of_pair(const struct model_nccl_paths *paths, int gpu, int peer)
{
    const struct model_nccl_machine *machine = paths->machine;
    const struct model_nccl_way *way = model_nccl_way(paths, peer, gpu);
    int rate =
        model_nccl_nvlink_rate(machine->data, machine->capabilities[gpu]);

    return way->type == (int)MODEL_NCCL_PATH_NVL && rate > 0
               ? 2 * larger(1, way->bytes_per_us / rate)
               : 2;
}

/*
 * The NICs that a GPU takes in turns, as many as fill its way to the CPU, one
 * channel each, or as many as it takes for their rate.
 */
static int channels_by_nics(struct model_arena *arena,
                            const struct model_nccl_paths *paths,
                            int gpu)
{
    const struct model_nccl_machine *machine = paths->machine;
    int devices = machine->first[MODEL_NCCL_DEVICE_KINDS];
    int *found = model_arena_array(arena, (size_t)devices, sizeof(*found));
    int first = -1;
    int count = 0;
    long long rate = 0;
    long long whole;
    int to_cpu = 0;

    for (int i = 0; i < model_nccl_count(machine, MODEL_NCCL_CPU); i++) {
        to_cpu = larger(to_cpu, model_nccl_way_of(paths, MODEL_NCCL_GPU, gpu,
                                                  MODEL_NCCL_CPU, i)
                                    ->bytes_per_us);
    }
    for (int channel = 0; channel < machine->data->max_channels; channel++) {
        int net = model_nccl_local_net(paths, gpu, channel, found);

        if (net == first) {
            break;
        }
        first = channel == 0 ? net : first;
        rate +=
            model_nccl_way_of(paths, MODEL_NCCL_GPU, gpu, MODEL_NCCL_NET, net)
                ->bytes_per_us;
        count++;
        if (rate >= to_cpu) {
            break;
        }
    }
    /* Both rates in whole GB/s. */
    rate /= 1000;
    whole = (long long)(machine->data->net_peer_bytes_per_us / 1000.0);
    return larger(count, (int)((rate + whole - 1) / whole));
}

static int channels_per_net_peer(struct model_arena *arena,
                                 const struct model_nccl_paths *paths,
                                 int gpu)
{
    const struct model_nccl_machine *machine = paths->machine;

    if (machine->settings->channels_per_net_peer > 0) {
        return machine->settings->channels_per_net_peer;
    }
    return machine->data->net_peer_bytes_per_us > 0.0
               ? channels_by_nics(arena, paths, gpu)
               : machine->data->net_peer_channels;
}

static int channels_per_peer(struct model_arena *arena,
                             const struct model_nccl_paths *paths)
{
    const struct model_nccl_machine *machine = paths->machine;
    int gpus = model_nccl_count(machine, MODEL_NCCL_GPU);
    int least = machine->data->max_channels;

    for (int gpu = 0; gpu < gpus; gpu++) {
        for (int peer = 0; peer < gpus; peer++) {
            if (peer != gpu) {
                least = smaller(least, channels_of_pair(paths, gpu, peer));
            }
        }
        if (model_nccl_count(machine, MODEL_NCCL_NET) > 0) {
            least = smaller(least, channels_per_net_peer(arena, paths, gpu));
        }
    }
    return least;
}

static int power_up(int value)
{
    int power = 1;

    while (power < value) {
        power *= 2;
    }
    return power;
}

static void count_p2p_channels(struct model_nccl_comm *comm, int per_peer)
{
    const struct model_nccl_graph_data *data = &comm->version->graph;
    const struct model_nccl_settings *settings = comm->settings;
    int channels = comm->channels;
    bool own = settings->channels_per_net_peer == MODEL_UNSET;

    if (settings->max_p2p_channels != MODEL_UNSET) {
        channels = smaller(channels, settings->max_p2p_channels);
    }
    if (settings->min_p2p_channels != MODEL_UNSET) {
        channels = larger(channels, settings->min_p2p_channels);
    }
    channels = smaller(larger(channels, 1), data->max_channels);
    if (!data->p2p_peers_bounded) {
        per_peer = smaller(per_peer, channels);
    }
    per_peer = power_up(per_peer);
    channels = power_up(channels);
    if (data->p2p_batch > 0 && comm->node_count > 1 && own) {
        int batches =
            (comm->rank_count + data->p2p_batch - 1) / data->p2p_batch;

        while (per_peer > 1 && (long long)per_peer * batches > channels) {
            per_peer /= 2;
        }
    } else if (data->p2p_peers_bounded) {
        per_peer = smaller(per_peer, channels);
    }
    comm->p2p_channels = channels;
    comm->p2p_channels_per_peer = per_peer;
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
        .channels_per_peer = channels_per_peer(arena, &paths),
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

/* -- channels -- */

/* A limit that was set, at least 1 and at most what there can be. */
static int limit(const struct model_nccl_comm *comm, int set, int otherwise)
{
    int most = comm->version->graph.max_channels;

    return set == MODEL_UNSET ? otherwise : smaller(larger(set, 1), most);
}

static int least_ctas(const struct model_nccl_comm *comm)
{
    int most = limit(comm, comm->settings->max_ctas,
                     comm->version->graph.max_channels);

    return smaller(limit(comm, comm->settings->min_ctas, 1), most);
}

static int most_ctas(const struct model_nccl_comm *comm)
{
    return limit(comm, comm->settings->max_ctas,
                 comm->version->graph.max_channels);
}

/*
 * Twice the graph's channels, in some cases four times; limits from above come
 * first, then channels are added up to those from below.
 */
static int count_channels(const struct model_nccl_comm *comm, int searched)
{
    const struct model_nccl_graph_data *data = &comm->version->graph;
    const struct model_nccl_graph *ring = &comm->graphs[MODEL_NCCL_GRAPH_RING];
    int channels = smaller(2 * searched, data->max_channels);
    int most =
        smaller(limit(comm, comm->settings->max_channels, data->max_channels),
                most_ctas(comm));
    int least = larger(comm->settings->min_channels == MODEL_UNSET
                           ? 0
                           : limit(comm, comm->settings->min_channels, 0),
                       least_ctas(comm));

    if (comm->compute_capability >= 90 &&
        comm->compute_capability <= data->double_capability &&
        comm->node_count > 1 &&
        ring->intra_bytes_per_us > data->again_bytes_per_us &&
        channels < data->double_below) {
        channels *= 2;
    }
    return larger(smaller(channels, most), least);
}

static int count_nvls_channels(const struct model_nccl_comm *comm)
{
    const struct model_nccl_nvls_default *row = comm->version->graph.nvls.items;
    int channels = 0;

    if (comm->graphs[MODEL_NCCL_GRAPH_NVLS].channels == 0) {
        return 0;
    }
    for (int i = 0; i < comm->version->graph.nvls.count; i++) {
        if (row[i].capability <= comm->compute_capability) {
            channels =
                comm->node_count > 1 ? row[i].more_nodes : row[i].one_node;
        }
    }
    if (comm->settings->nvls_channels > 0) {
        channels = comm->settings->nvls_channels;
    }
    return larger(least_ctas(comm), smaller(most_ctas(comm), channels));
}

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
    comm->all_nvlink = all.p2p_type < (int)MODEL_NCCL_PATH_PIX;
    comm->has_nvswitch = all.has_nvswitch;
    comm->channels = count_channels(comm, searched);
    comm->nvls_channels = count_nvls_channels(comm);
    count_p2p_channels(comm, all.channels_per_peer);
}
