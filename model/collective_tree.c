/*
 * collective_tree.c - all_reduce over double binary trees, as NCCL builds them
 * (Sanders, Speck, Traeff 2009; NCCL 2.18.3 src/graph/trees.cc).
 *
 * Within a node the tree is a chain along the ring's order; the chain's head,
 * beside the NIC, joins a binary tree over the nodes. Half of the channels use
 * a second tree, in which the leaves of the first are inner nodes. Data goes
 * up, reduced, and down, at once: half of a CTA works on each way.
 *
 * Progress is payload: M / NC a channel. Each edge carries it up and down, a
 * stream of chunks of at most one FIFO slot, less for small M (see
 * collective_chunk.c) and at most M / NC, at the pace of the slowest edge. The
 * pipeline is full when the first chunk has gone up and down the deepest path.
 *
 * A head reduces what up to three children send, from two nodes and the chain,
 * and sends to as many, which takes 5/3 of the time of others. NCCL's tuning
 * says the same of H100 (2.18.3, perChMaxTreeBws: 36 to 41 GB/s, half of it
 * payload, for two channels).
 *
 * HBM: every rank reads its input once and writes its output once; each edge
 * has a FIFO either way.
 *
 * Folded, the node that stands for all is one with the most edges.
 */
#include "model/collective_parts.h"

#include "model/ring.h"

#include <math.h>

/*
 * While first chunks go up nothing goes down, and the other way round: half of
 * all flows.
 */
static const double PHASE_RATIO = 0.5;

/* Parent in the first tree over n nodes, or -1 for the root, node 0. */
static int parent_of(int node, int n)
{
    int bit = node & -node;
    int up = (node ^ bit) | (bit << 1);

    if (node == 0) {
        return -1;
    }
    return up < n ? up : node ^ bit;
}

/* The second tree: the first mirrored (n even) or turned by one (n odd). */
static int parent_in(int tree, int node, int n)
{
    int image;
    int parent;

    if (tree == 0) {
        return parent_of(node, n);
    }
    image = n % 2 == 0 ? n - 1 - node : (node + n - 1) % n;
    parent = parent_of(image, n);
    if (parent < 0) {
        return -1;
    }
    return n % 2 == 0 ? n - 1 - parent : (parent + 1) % n;
}

/*
 * Edges up from node 1, a leaf of the lowest level; 0 with one node. Without
 * the check of n its ancestors are 2, 4, 8, ...: one edge for each doubling.
 */
int model_parts_tree_depth(int nodes)
{
    int depth = 0;

    for (int at = nodes > 1 ? 1 : 0; at > 0; at = parent_of(at, nodes)) {
        depth++;
    }
    return depth;
}

/*
 * A node with the most edges. In the first tree node 2 has a parent and
 * children 1 and 3; in the second it is a leaf, as odd nodes are in the first:
 * 4 edges, which no node exceeds.
 */
static int busiest_node(int nodes)
{
    return nodes > 2 ? 2 : 0;
}

/* The trees of one group. */
struct trees {
    struct model_walk *walk;
    const struct model_group *group;
    struct model_ring ring;
    int *first; /* member of each node; first[nodes] = count */
    int nodes;
    int shown;                /* the node that stands for all, or -1 */
    int place;                /* its number in the cluster */
    double chain_us, edge_us; /* along the longest chain, over one edge of
                                 the network */
};

static int node_of(const struct trees *trees, int rank)
{
    return rank / trees->walk->fabric->topology->gpus_per_node;
}

static void find_nodes(struct trees *trees)
{
    int count = trees->group->count;
    int last = -1;

    trees->first = model_arena_array(trees->walk->arena, (size_t)count + 1,
                                     sizeof(*trees->first));
    for (int member = 0; member < count; member++) {
        int node = node_of(trees, model_group_rank(trees->group, member));

        if (node != last) {
            trees->first[trees->nodes++] = member;
        }
        last = node;
    }
    trees->first[trees->nodes] = count;
}

static double send(struct trees *trees, int from, int to, int nic, double flows)
{
    return nic == MODEL_NIC_OF_PAIR
               ? model_walk_pair(trees->walk, from, to, flows)
               : model_walk_send(trees->walk, from, to, nic, flows);
}

/*
 * Up and down an edge; how soon a chunk is over it. Folded, what leaves the
 * shown node stands for what enters it too.
 */
static double
both_ways(struct trees *trees, int one, int other, int nic, double flows)
{
    double hop_us = 0.0;

    if (trees->shown < 0 || node_of(trees, one) == trees->place) {
        hop_us = send(trees, one, other, nic, flows);
    }
    if (trees->shown < 0 || node_of(trees, other) == trees->place) {
        hop_us = fmax(hop_us, send(trees, other, one, nic, flows));
    }
    return hop_us;
}

/*
 * The chain of a node: the ring's edges within it, but for the one that closes
 * the ring on a single node.
 */
static void walk_chain(struct trees *trees, int node, int variant, double flows)
{
    int root = model_group_rank(trees->group, 0);
    double chain_us = 0.0;

    for (int i = trees->first[node]; i < trees->first[node + 1]; i++) {
        int rank = model_group_rank(trees->group, i);
        int next = model_ring_next(&trees->ring, i, variant);

        if (node_of(trees, next) == node_of(trees, rank) && next != rank &&
            (trees->nodes > 1 || next != root)) {
            chain_us += both_ways(trees, rank, next, 0, flows);
        }
    }
    trees->chain_us = fmax(trees->chain_us, chain_us);
}

/*
 * The rank that joins a node to the network: the one beside the NIC, where
 * rings that run forwards enter. It is at one end of the chain of mirrored ones
 * too.
 */
static int head_of(const struct trees *trees, int node, int variant)
{
    return model_ring_entry(&trees->ring, trees->first[node],
                            variant % (trees->ring.variants / 2));
}

static bool is_walked(const struct trees *trees, int node, int parent)
{
    return parent >= 0 &&
           (trees->shown < 0 || node == trees->shown || parent == trees->shown);
}

/*
 * CTA time of a head, relative to a rank in the chain. That one has a child:
 * two loads and a store up, a load and two stores down. Each child more is a
 * load more up, and a store more down.
 */
static double head_ratio(const struct trees *trees)
{
    bool has_chain = trees->group->count > trees->nodes;
    int children = (trees->nodes > 2 ? 2 : 1) + (has_chain ? 1 : 0);

    return (2.0 + children) / 3.0;
}

/* Edges between nodes; folded, those of the shown one. */
static void walk_network(struct trees *trees, int variant, double flows)
{
    int nic = model_ring_nic(&trees->ring, variant);
    double work_ratio = trees->walk->role.work_ratio;

    trees->walk->role.work_ratio = work_ratio * head_ratio(trees);
    for (int tree = 0; tree < 2; tree++) {
        for (int node = 0; node < trees->nodes; node++) {
            int parent = parent_in(tree, node, trees->nodes);

            if (is_walked(trees, node, parent)) {
                int one = head_of(trees, node, variant);
                int other = head_of(trees, parent, variant);

                trees->edge_us =
                    fmax(trees->edge_us,
                         both_ways(trees, one, other, nic, 0.5 * flows));
            }
        }
    }
    trees->walk->role.work_ratio = work_ratio;
}

/* The same where each GPU has a tree of its own for its share of the data. */
static void walk_rails(struct trees *trees, double flows)
{
    for (int tree = 0; tree < 2; tree++) {
        for (int node = 0; node < trees->nodes; node++) {
            int parent = parent_in(tree, node, trees->nodes);
            int from = trees->first[node];
            int to = parent >= 0 ? trees->first[parent] : 0;

            if (!is_walked(trees, node, parent)) {
                continue;
            }
            for (int i = 0; from + i < trees->first[node + 1]; i++) {
                int one = model_group_rank(trees->group, from + i);
                int other = model_group_rank(trees->group, to + i);
                trees->edge_us = fmax(
                    trees->edge_us, both_ways(trees, one, other,
                                              MODEL_NIC_OF_PAIR, 0.5 * flows));
            }
        }
    }
}

/* Chains and trees of one group, by the variants of its ring. */
static void walk_variants(struct trees *trees, int channels)
{
    for (int variant = 0; variant < trees->ring.variants; variant++) {
        double flows =
            (double)model_ring_channels(&trees->ring, variant, channels);

        if (!(flows > 0.0)) {
            continue;
        }
        for (int node = 0; node < trees->nodes; node++) {
            if (trees->shown < 0 || node == trees->shown) {
                walk_chain(trees, node, variant, flows);
            }
        }
        walk_network(trees, variant, flows);
    }
}

/*
 * From the deepest leaf to the root. All nodes on the way but the root have two
 * children, whose chunks come one after the other.
 */
static double path_us(const struct trees *trees)
{
    double depth = (double)model_parts_tree_depth(trees->nodes);

    return trees->chain_us + depth * trees->edge_us +
           fmax(depth - 1.0, 0.0) * trees->walk->forward_us;
}

static struct trees make_trees(struct model_walk *walk,
                               const struct model_group *group)
{
    struct trees trees = {
        .walk = walk, .group = group, .shown = -1, .place = -1};

    find_nodes(&trees);
    if (model_fabric_is_folded(walk->fabric)) {
        trees.shown = busiest_node(trees.nodes);
        trees.place =
            node_of(&trees, model_group_rank(group, trees.first[trees.shown]));
    }
    trees.ring = model_ring_make(walk->arena, walk->fabric->topology, group);
    return trees;
}

/* All edges; how soon a first chunk is up the deepest path. */
static double walk_edges(struct trees *trees, int channels, double share)
{
    trees->chain_us = 0.0;
    trees->edge_us = 0.0;
    if (share < 1.0) {
        walk_rails(trees, share * (double)channels);
    } else {
        walk_variants(trees, channels);
    }
    return path_us(trees);
}

double model_parts_walk_trees(struct model_walk *walk,
                              const struct model_collective_task *task,
                              double share,
                              int *nodes)
{
    int gpus = walk->fabric->topology->gpus_per_node;
    int channels = task->config->channels;
    struct model_group *groups =
        model_arena_array(walk->arena, (size_t)gpus, sizeof(*groups));
    struct trees *trees =
        model_arena_array(walk->arena, (size_t)gpus, sizeof(*trees));
    int count = model_parts_groups(walk, task->group, 0, groups);
    double us = 0.0;

    for (int i = 0; i < count; i++) {
        trees[i] = make_trees(walk, &groups[i]);
        (void)walk_edges(&trees[i], channels, share);
        *nodes = trees[i].nodes;
    }
    model_walk_time_first(walk, PHASE_RATIO);
    for (int i = 0; i < count; i++) {
        us = fmax(us, walk_edges(&trees[i], channels, share));
    }
    return us + walk->queue_us;
}

void model_collective_tree(struct model_walk *walk,
                           const struct model_collective_task *task,
                           struct model_collective *result)
{
    double part_bytes = task->size_bytes / (double)task->config->channels;
    struct model_group one = model_group_instance(task->group, 0);
    int nodes = model_parts_nodes(walk, &one);
    double chunk_bytes =
        fmin(model_parts_tree_chunk_bytes(walk->fabric->topology, task, nodes),
             part_bytes);
    struct model_channel_role role = model_parts_role(walk, task);
    double up_us;

    role.share = 0.5;
    role.first_share = 1.0;
    model_walk_start(walk, task->config, &role, chunk_bytes);
    up_us = model_parts_walk_trees(walk, task, 1.0, &nodes);
    result->channel_bytes = part_bytes;
    result->channel_bytes_per_us = chunk_bytes / walk->slowest_stream_us;
    /* Up and down. */
    result->fill_us = 2.0 * up_us;
    result->first_bytes = model_walk_first_bytes(walk);
    result->hbm_ratio = 2.0 + model_parts_fifo_ratio(walk, task);
    model_parts_finish(walk, task, chunk_bytes, result);
}
