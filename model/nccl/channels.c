/*
 * channels.c - from graphs to numbers of channels.
 */
#include "model/nccl/channels.h"

static int smaller(int one, int other)
{
    return one < other ? one : other;
}

static int larger(int one, int other)
{
    return one > other ? one : other;
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

int model_nccl_channels_per_peer(struct model_arena *arena,
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

/* -- channels of collectives -- */

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
static int count_channels(const struct model_nccl_comm *comm)
{
    const struct model_nccl_graph_data *data = &comm->version->graph;
    const struct model_nccl_graph *ring = &comm->graphs[MODEL_NCCL_GRAPH_RING];
    int channels = smaller(2 * ring->channels, data->max_channels);
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

void model_nccl_count_channels(struct model_nccl_comm *comm, int per_peer)
{
    comm->channels = count_channels(comm);
    comm->nvls_channels = count_nvls_channels(comm);
    count_p2p_channels(comm, per_peer);
}
