/*
 * leaf.c - leaves by arithmetic on numbers of nodes and NICs.
 */
#include "model/leaf.h"

int model_leaf_nodes(const struct model_topology *topology)
{
    const struct model_network *network = &topology->network;

    if (network->kind == MODEL_NETWORK_FLAT || topology->nics.count == 0) {
        return 0;
    }
    return network->nodes_per_leaf > 0 &&
                   network->nodes_per_leaf < topology->node_count
               ? network->nodes_per_leaf
               : topology->node_count;
}

/* The same where there are leaves, so that it can be divided by. */
static int leaf_size(const struct model_topology *topology)
{
    int nodes = model_leaf_nodes(topology);

    return nodes > 0 ? nodes : 1;
}

int model_leaf_rails(const struct model_topology *topology)
{
    return topology->network.kind == MODEL_NETWORK_RAILS &&
                   topology->nics.count > 1
               ? topology->nics.count
               : 1;
}

int model_leaf_count(const struct model_topology *topology)
{
    int size = leaf_size(topology);

    return model_leaf_nodes(topology) > 0
               ? (topology->node_count + size - 1) / size *
                     model_leaf_rails(topology)
               : 0;
}

int model_leaf_of(const struct model_topology *topology, int node, int nic)
{
    int rails = model_leaf_rails(topology);

    return node / leaf_size(topology) * rails + (rails > 1 ? nic : 0);
}

double model_leaf_share_bytes_per_us(const struct model_topology *topology)
{
    const struct model_nics *nics = &topology->nics;
    int nics_on_leaf =
        topology->network.kind == MODEL_NETWORK_RAILS ? 1 : nics->count;

    return nics->bytes_per_us * nics->ratio * (double)nics_on_leaf /
           topology->network.oversubscription_ratio;
}

double model_leaf_bytes_per_us(const struct model_topology *topology, int leaf)
{
    int size = leaf_size(topology);
    int left = topology->node_count - leaf / model_leaf_rails(topology) * size;

    return model_leaf_share_bytes_per_us(topology) *
           (double)(left < size ? left : size);
}

static int least_of(int a, int b)
{
    return a < b ? a : b;
}

/* Of the nodes below a leaf of m, how many send out of it. */
static int leaving(int nodes, int node_count, int distance)
{
    return least_of(least_of(distance, node_count - distance),
                    least_of(nodes, node_count - nodes));
}

double model_leaf_busiest_ratio(const struct model_topology *topology,
                                int distance)
{
    int size = leaf_size(topology);
    int rest = topology->node_count % size;
    int least = rest > 0 ? rest : size;

    return (double)leaving(least, topology->node_count, distance) /
           (double)least;
}

double model_leaf_mean_ratio(const struct model_topology *topology,
                             int distance)
{
    int count = topology->node_count;
    int size = leaf_size(topology);
    int all = count / size * leaving(size, count, distance) +
              leaving(count % size, count, distance);

    return (double)all / (double)count;
}
