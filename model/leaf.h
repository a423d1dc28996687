/*
 * leaf.h - which leaf switch a NIC hangs on, and what its uplink carries.
 *
 *     tree    nodes_per_leaf nodes with all their NICs on one leaf
 *     rails   NIC i of nodes_per_leaf nodes (of all, if not said) on one leaf
 *
 * A leaf is non-blocking; its links to the spine carry per direction what its
 * NICs carry together, divided by the oversubscription. In a flat network there
 * are no leaves. All functions are pure.
 */
#ifndef MODEL_LEAF_H
#define MODEL_LEAF_H

#include "model/topology.h"

/* Nodes below one leaf (the last may have fewer); 0 in a flat network. */
int model_leaf_nodes(const struct model_topology *topology);

/* Leaves of the whole network, and of one group of nodes. */
int model_leaf_count(const struct model_topology *topology);
int model_leaf_rails(const struct model_topology *topology);

/* The leaf of a NIC of a node. */
int model_leaf_of(const struct model_topology *topology, int node, int nic);

/* A node's even share of its leaf's uplink, bytes/us. */
double model_leaf_share_bytes_per_us(const struct model_topology *topology);

/* Rate of a leaf's links to the spine, per direction. */
double model_leaf_bytes_per_us(const struct model_topology *topology, int leaf);

/*
 * When all nodes send `distance` nodes further, round the end: the share of the
 * nodes below the smallest leaf that send out of it, and of all nodes. Of m
 * nodes below a leaf, N in all, min(d, N - d, m, N - m) do.
 */
double model_leaf_busiest_ratio(const struct model_topology *topology,
                                int distance);
double model_leaf_mean_ratio(const struct model_topology *topology,
                             int distance);

#endif
