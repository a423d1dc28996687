/*
 * tuning.c - NCCL's table of latencies and bandwidths (2.18.3 and 2.30.7:
 * src/graph/tuning.cc, ncclTopoTuneModel).
 *
 * Bandwidth begins with the graph's, channels x rate of one: what the bus
 * carries. Protocols and generations of GPU leave a share of it, or cap a
 * channel; what moves M bytes with more or fewer bytes on the bus turns it into
 * algorithm bandwidth. Latency is a base and so many steps, each over NVLink,
 * PCIe or the network. N nodes, n ranks:
 *
 *     ring   steps 2 (n - 1) to all_reduce, n - 1 to gather or scatter
 *     tree   up and down: 2 ((n / N - 1) within a node + log2 N between them)
 *     PAT    log2 N between nodes, overlapping, and something for each rank
 */
#include "model/nccl/tuning_parts.h"

#include <math.h>

int model_nccl_log2(int n)
{
    int result = 0;

    while (n > 1) {
        n /= 2;
        result++;
    }
    return result;
}

const struct model_nccl_graph *
model_nccl_graph_of(const struct model_nccl_comm *comm, int algorithm)
{
    switch (algorithm) {
    case MODEL_NCCL_TREE:
    case MODEL_NCCL_PAT:
        return &comm->graphs[MODEL_NCCL_GRAPH_TREE];
    case MODEL_NCCL_NVLS:
    case MODEL_NCCL_NVLS_TREE:
        return &comm->graphs[MODEL_NCCL_GRAPH_NVLS];
    default:
        return &comm->graphs[MODEL_NCCL_GRAPH_RING];
    }
}

static int generation(const struct model_nccl_comm *comm)
{
    int capability = comm->compute_capability;

    return capability >= 100  ? MODEL_NCCL_BLACKWELL
           : capability >= 90 ? MODEL_NCCL_HOPPER
           : capability >= 80 ? MODEL_NCCL_AMPERE
                              : MODEL_NCCL_VOLTA;
}

static int scale(const struct model_nccl_comm *comm)
{
    return comm->node_count <= 1   ? MODEL_NCCL_ONE_NODE
           : comm->node_count == 2 ? MODEL_NCCL_TWO_NODES
                                   : MODEL_NCCL_MORE_NODES;
}

static double rate(const struct model_nccl_comm *comm,
                   const struct model_nccl_rates *rates)
{
    return rates->bytes_per_us[generation(comm)][scale(comm)];
}

/* Across nodes it is the CPUs that limit LL. */
static double ll_most_bytes_per_us(const struct model_nccl_comm *comm)
{
    const struct model_nccl_rates *rates = &comm->version->tuning.ll_most;
    int row = comm->topology->host.cpu == MODEL_CPU_AMD ? MODEL_NCCL_AMPERE
                                                        : MODEL_NCCL_VOLTA;

    return comm->node_count == 1 ? rate(comm, rates)
                                 : rates->bytes_per_us[row][scale(comm)];
}

static double ranks_per_node(const struct model_nccl_comm *comm)
{
    return (double)comm->rank_count / (double)comm->node_count;
}

static int ring_steps(const struct model_nccl_comm *comm, int function)
{
    switch (function) {
    case MODEL_NCCL_ALL_REDUCE:
        return 2 * (comm->rank_count - 1);
    case MODEL_NCCL_ALL_GATHER:
    case MODEL_NCCL_REDUCE_SCATTER:
        return comm->rank_count - 1;
    default:
        return comm->rank_count;
    }
}

static double ring_ratio(const struct model_nccl_comm *comm, int function)
{
    return (double)comm->rank_count / (double)ring_steps(comm, function);
}

static double graph_bytes_per_us(const struct model_nccl_comm *comm,
                                 const struct model_nccl_graph *graph)
{
    return graph->channels * (comm->node_count <= 2
                                  ? graph->intra_bytes_per_us
                                  : graph->inter_bytes_per_us);
}

static double ring_bytes_per_us(const struct model_nccl_comm *comm,
                                int function,
                                int protocol)
{
    const struct model_nccl_tuning_data *data = &comm->version->tuning;
    const struct model_nccl_shares *shares = &data->shares;
    const struct model_nccl_graph *graph =
        model_nccl_graph_of(comm, MODEL_NCCL_RING);
    double bus = graph_bytes_per_us(comm, graph);
    bool gathers = comm->node_count == 1 && function != MODEL_NCCL_ALL_REDUCE &&
                   function != MODEL_NCCL_REDUCE;

    if (protocol == MODEL_NCCL_LL) {
        bus = fmin(ll_most_bytes_per_us(comm),
                   bus * (gathers ? shares->ring_ll_gather_ratio
                                  : shares->ring_ll_ratio));
    } else if (protocol == MODEL_NCCL_LL128) {
        bus *= ranks_per_node(comm) < 2.0 ? shares->ring_ll128_lone_ratio
                                          : shares->ring_ll128_ratio;
        bus = fmin(bus, graph->channels * rate(comm, &data->ring_ll128_most));
    }
    return bus * ring_ratio(comm, function);
}

static double tree_bytes_per_us(const struct model_nccl_comm *comm,
                                int protocol)
{
    const struct model_nccl_tuning_data *data = &comm->version->tuning;
    const struct model_nccl_shares *shares = &data->shares;
    const struct model_nccl_graph *graph =
        model_nccl_graph_of(comm, MODEL_NCCL_TREE);
    double bus = fmin(graph_bytes_per_us(comm, graph) * shares->tree_ratio,
                      graph->channels * rate(comm, &data->tree_most));

    if (protocol == MODEL_NCCL_LL) {
        bus = fmin(bus / shares->tree_ll_divisor_ratio,
                   ll_most_bytes_per_us(comm));
    } else if (protocol == MODEL_NCCL_LL128) {
        bus *= comm->node_count == 1 ? shares->tree_ll128_one_node_ratio
                                     : shares->tree_ll128_ratio;
        bus = fmin(bus, graph->channels * rate(comm, &data->tree_ll128_most));
    }
    if (graph->pattern == MODEL_NCCL_PLAIN_TREE) {
        bus *= shares->plain_tree_ratio;
    }
    return bus * shares->tree_bus_ratio;
}

static double nvls_fixed_bytes_per_us(const struct model_nccl_comm *comm,
                                      int algorithm)
{
    const struct model_nccl_shares *shares = &comm->version->tuning.shares;
    double bus = graph_bytes_per_us(comm, model_nccl_graph_of(comm, algorithm));
    double nodes = comm->node_count;

    return algorithm == MODEL_NCCL_NVLS ? bus * shares->nvls_bus_ratio
                                        : bus * shares->nvls_tree_bus_ratio *
                                              nodes / (2.0 * (nodes - 1.0));
}

/*
 * The switch reaches a share of the links' rate, and one of k channels is busy
 * with something else. An all_reduce overlaps its reduction and its multicast;
 * the others need not move a rank's own part.
 */
static double nvls_pipelined_bytes_per_us(const struct model_nccl_comm *comm,
                                          int function,
                                          int algorithm)
{
    const struct model_nccl_tuning_data *data = &comm->version->tuning;
    const struct model_nccl_graph *graph = model_nccl_graph_of(comm, algorithm);
    double channels = graph->channels, ranks = ranks_per_node(comm);
    bool tree = algorithm == MODEL_NCCL_NVLS_TREE;
    bool all_reduce = function == MODEL_NCCL_ALL_REDUCE;
    double intra = graph->intra_bytes_per_us *
                   data->shares.nvls_efficiency_ratio[generation(comm)] *
                   (channels - 1.0) / channels *
                   (all_reduce ? 2.0 : (ranks - 1.0) / ranks);
    double inter =
        graph->inter_bytes_per_us * (tree && comm->node_count <= 2 ? 2.0 : 1.0);
    double most = tree ? rate(comm, &data->nvls_tree_most) : HUGE_VAL;
    double bus = channels * fmin(fmin(intra, inter), most);

    return all_reduce ? bus * ring_ratio(comm, function) : bus;
}

static double pair_bytes_per_us(const struct model_nccl_comm *comm,
                                int function,
                                int algorithm,
                                int protocol)
{
    const struct model_nccl_tuning_data *data = &comm->version->tuning;

    switch (algorithm) {
    case MODEL_NCCL_RING:
        return ring_bytes_per_us(comm, function, protocol);
    case MODEL_NCCL_TREE:
        return tree_bytes_per_us(comm, protocol);
    case MODEL_NCCL_PAT:
        return data->shares.pat_ratio *
               graph_bytes_per_us(comm, model_nccl_graph_of(comm, algorithm));
    default:
        return data->nvls_model == MODEL_NCCL_NVLS_FIXED
                   ? nvls_fixed_bytes_per_us(comm, algorithm)
                   : nvls_pipelined_bytes_per_us(comm, function, algorithm);
    }
}

static double
hop_us(const struct model_nccl_comm *comm, int hop, int algorithm, int protocol)
{
    return comm->version->tuning.hops[hop].us[algorithm][protocol];
}

/* A step within a node. */
static int intra_hop(const struct model_nccl_comm *comm, int algorithm)
{
    return model_nccl_graph_of(comm, algorithm)->intra_type ==
                   MODEL_NCCL_PATH_NVL
               ? MODEL_NCCL_HOP_NVLINK
               : MODEL_NCCL_HOP_PCIE;
}

static double
intra_us(const struct model_nccl_comm *comm, int algorithm, int protocol)
{
    return hop_us(comm, intra_hop(comm, algorithm), algorithm, protocol);
}

/* A step across nodes; Simple flushes, which is one more trip to the NIC. */
static double
inter_us(const struct model_nccl_comm *comm, int algorithm, int protocol)
{
    bool alone = comm->version->tuning.lone_rank_tree_latency &&
                 comm->rank_count == comm->node_count;
    double nic_us = model_nccl_graph_of(comm, algorithm)->inter_latency_us;

    return hop_us(comm, MODEL_NCCL_HOP_NETWORK,
                  alone ? MODEL_NCCL_TREE : algorithm, protocol) +
           (protocol == MODEL_NCCL_SIMPLE ? 2.0 * nic_us : nic_us);
}

/* No step is shorter than it takes to tell the proxy. */
static double net_overhead_us(const struct model_nccl_comm *comm, int protocol)
{
    const struct model_nccl_tuning_data *data = &comm->version->tuning;
    double us = comm->topology->host.cpu == MODEL_CPU_AMD
                    ? data->amd_net_overhead_us
                    : data->net_overhead_us;

    if (comm->node_count == 1) {
        return 0.0;
    }
    if (comm->settings->net_overhead_us >= 0.0) {
        us = comm->settings->net_overhead_us;
    }
    return protocol == MODEL_NCCL_SIMPLE ? us * data->net_overhead_simple_ratio
                                         : us;
}

/* Down a chain from the root, or up to it. */
static double chain_us(const struct model_nccl_comm *comm, int protocol)
{
    const struct model_nccl_graph *graph =
        model_nccl_graph_of(comm, MODEL_NCCL_RING);
    int hop = comm->node_count == 1 ? intra_hop(comm, MODEL_NCCL_RING)
                                    : MODEL_NCCL_HOP_NETWORK;

    if (graph->same_channels) {
        return hop_us(comm, hop, MODEL_NCCL_RING, protocol);
    }
    return comm->rank_count * hop_us(comm, hop,
                                     protocol == MODEL_NCCL_SIMPLE
                                         ? MODEL_NCCL_TREE
                                         : MODEL_NCCL_RING,
                                     protocol);
}

static double
ring_us(const struct model_nccl_comm *comm, int function, int protocol)
{
    int nodes = comm->node_count, steps = ring_steps(comm, function);
    int across =
        nodes == 1                          ? 0
        : function != MODEL_NCCL_ALL_REDUCE ? nodes - 1
        : comm->version->tuning.network_steps == MODEL_NCCL_STEPS_OF_NODES
            ? 2 * nodes
            : 2 * (nodes - 1);

    if (function == MODEL_NCCL_BROADCAST || function == MODEL_NCCL_REDUCE) {
        return chain_us(comm, protocol);
    }
    return (steps - across) * fmax(intra_us(comm, MODEL_NCCL_RING, protocol),
                                   net_overhead_us(comm, protocol)) +
           across * inter_us(comm, MODEL_NCCL_RING, protocol);
}

static double nvls_us(const struct model_nccl_comm *comm, int algorithm)
{
    int nodes = comm->node_count;
    double network =
        hop_us(comm, MODEL_NCCL_HOP_NETWORK, algorithm, MODEL_NCCL_SIMPLE);
    double inter = inter_us(comm, algorithm, MODEL_NCCL_SIMPLE);

    if (comm->version->tuning.nvls_model == MODEL_NCCL_NVLS_FIXED) {
        return algorithm == MODEL_NCCL_NVLS_TREE ? 2 * (nodes - 1) * network
               : nodes > 1                       ? network
                                                 : 0.0;
    }
    return intra_us(comm, algorithm, MODEL_NCCL_SIMPLE) +
           (algorithm == MODEL_NCCL_NVLS_TREE
                ? 2 * model_nccl_log2(nodes) * inter
            : nodes > 1 ? inter
                        : 0.0);
}

static double pair_us(const struct model_nccl_comm *comm,
                      int function,
                      int algorithm,
                      int protocol)
{
    const struct model_nccl_tuning_data *data = &comm->version->tuning;
    double base = data->base.us[algorithm][protocol];
    int levels = model_nccl_log2(comm->node_count);
    int chain = comm->rank_count / comm->node_count - 1;

    switch (algorithm) {
    case MODEL_NCCL_RING:
        return base + ring_us(comm, function, protocol);
    case MODEL_NCCL_TREE:
        return base + 2 * (chain * intra_us(comm, algorithm, protocol) +
                           levels * inter_us(comm, algorithm, protocol));
    case MODEL_NCCL_PAT:
        return base +
               levels * inter_us(comm, algorithm, protocol) /
                   data->pat_overlap_ratio +
               comm->rank_count * data->pat_rank_us;
    default:
        return base + nvls_us(comm, algorithm);
    }
}

static void pair_make(const struct model_nccl_comm *comm,
                      int function,
                      int algorithm,
                      int protocol,
                      struct model_nccl_pair *pair)
{
    *pair = (struct model_nccl_pair){
        .off = model_nccl_off(comm, function, algorithm, protocol)};
    if (pair->off == NULL) {
        pair->bytes_per_us =
            pair_bytes_per_us(comm, function, algorithm, protocol);
        pair->latency_us = pair_us(comm, function, algorithm, protocol);
        if (!(pair->bytes_per_us > 0.0)) {
            pair->off = "NCCL's model gives it no bandwidth here";
        }
    }
}

/* M bytes from one rank are run as M from each would be, over the same ring. */
static void broadcast_as_gather(struct model_nccl_tuning *tuning)
{
    for (int p = 0; p < MODEL_NCCL_PROTOCOLS; p++) {
        struct model_nccl_pair *pair =
            &tuning->pairs[MODEL_NCCL_BROADCAST][MODEL_NCCL_RING][p];

        *pair = tuning->pairs[MODEL_NCCL_ALL_GATHER][MODEL_NCCL_RING][p];
        pair->bytes_per_us /= tuning->comm->rank_count;
    }
}

/* What a variable asks for; nonsense is taken for the most. */
static int asked(int threads, int least, int most, int unset)
{
    if (threads <= 0) {
        return unset;
    }
    return threads % 32 != 0 || threads > most ? most
           : threads < least                   ? least
                                               : threads;
}

static int
full_threads(const struct model_nccl_comm *comm, int algorithm, int protocol)
{
    const struct model_nccl_threads *threads = &comm->version->tuning.threads;
    const struct model_nccl_settings *settings = comm->settings;
    const struct model_nccl_graph *graph = model_nccl_graph_of(comm, algorithm);
    bool slow = algorithm == MODEL_NCCL_RING &&
                graph->intra_bytes_per_us * graph->channels <=
                    threads->slow_bytes_per_us;

    if (algorithm != MODEL_NCCL_RING && algorithm != MODEL_NCCL_TREE) {
        return algorithm == MODEL_NCCL_PAT ? threads->pat : threads->cta;
    }
    switch (protocol) {
    case MODEL_NCCL_LL:
        return asked(settings->threads, threads->least, threads->ll,
                     threads->ll);
    case MODEL_NCCL_LL128:
        return asked(settings->ll128_threads, threads->least_ll128,
                     threads->ll128, threads->ll128);
    default:
        return asked(settings->threads, threads->least, threads->simple,
                     slow ? threads->slow : threads->simple);
    }
}

/* Bytes that a thread has at least; 0: of what is never shrunk. */
static double
threshold_bytes(const struct model_nccl_comm *comm, int algorithm, int protocol)
{
    double bytes = comm->version->tuning.thread_bytes[protocol];

    if (algorithm != MODEL_NCCL_RING && algorithm != MODEL_NCCL_TREE) {
        return 0.0;
    }
    if (comm->settings->thread_threshold_bytes[algorithm][protocol] >= 0.0) {
        return comm->settings->thread_threshold_bytes[algorithm][protocol];
    }
    return algorithm == MODEL_NCCL_RING && protocol == MODEL_NCCL_LL
               ? bytes * comm->rank_count
               : bytes;
}

void model_nccl_tuning_make(const struct model_nccl_comm *comm,
                            struct model_nccl_tuning *tuning)
{
    *tuning = (struct model_nccl_tuning){.comm = comm};
    for (int a = 0; a < MODEL_NCCL_ALGORITHMS; a++) {
        for (int p = 0; p < MODEL_NCCL_PROTOCOLS; p++) {
            tuning->threads[a][p] = full_threads(comm, a, p);
            tuning->threshold_bytes[a][p] = threshold_bytes(comm, a, p);
            for (int f = 0; f < MODEL_NCCL_FUNCTIONS; f++) {
                pair_make(comm, f, a, p, &tuning->pairs[f][a][p]);
            }
        }
    }
    if (comm->version->tuning.broadcast_gathers) {
        broadcast_as_gather(tuning);
    }
}
