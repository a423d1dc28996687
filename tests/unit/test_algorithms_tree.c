/*
 * test_algorithms_tree.c - all_reduce over double binary trees: the trees
 * themselves, by another construction than the model's, what flows where, the
 * node that stands for all, pace, fill and chunks.
 */
#include "model/collective_parts.h"

#include "tests/unit/algorithms.h"

/* -- the trees -- */

enum { NODES_MAX = 64 };

struct tree {
    int children[NODES_MAX]; /* how many */
    int parent[NODES_MAX];
};

static void adopt(struct tree *tree, int parent, int child)
{
    tree->children[parent]++;
    assert_int_equal(tree->parent[child], -1);
    tree->parent[child] = parent;
}

/*
 * From the top down: node 0 has the largest power of two below n; a node whose
 * lowest bit is b has the nodes b / 2 below and above it, the upper one nearer,
 * by halves, until it is one of the n.
 */
static struct tree tree_by_children(int n)
{
    struct tree tree = {.children = {0}};
    int top = 1;

    for (int i = 0; i < n; i++) {
        tree.parent[i] = -1;
    }
    while (2 * top < n) {
        top *= 2;
    }
    adopt(&tree, 0, top);
    for (int node = 1; node < n; node++) {
        int half = (node & -node) / 2;
        int upper = half;

        if (half == 0) {
            continue;
        }
        adopt(&tree, node, node - half);
        while (upper > 0 && node + upper >= n) {
            upper /= 2;
        }
        if (upper > 0) {
            adopt(&tree, node, node + upper);
        }
    }
    return tree;
}

/* The same with other numbers: mirrored for even n, one further for odd. */
static struct tree second_tree(const struct tree *first, int n)
{
    struct tree tree = {.children = {0}};

    for (int node = 0; node < n; node++) {
        int image = n % 2 == 0 ? n - 1 - node : (node + 1) % n;
        int parent = first->parent[node];

        tree.children[image] = first->children[node];
        tree.parent[image] = parent < 0   ? -1
                             : n % 2 == 0 ? n - 1 - parent
                                          : (parent + 1) % n;
    }
    return tree;
}

static int edges_of(const struct tree *tree, int node)
{
    return tree->children[node] + (tree->parent[node] >= 0 ? 1 : 0);
}

static int depth_of(const struct tree *tree, int n)
{
    int deepest = 0;

    for (int node = 0; node < n; node++) {
        int depth = 0;

        for (int at = node; tree->parent[at] >= 0; at = tree->parent[at]) {
            depth++;
            assert_true(depth < n);
        }
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest;
}

static struct algorithm_case
tree_over(struct model_arena *arena, const char *notation, int channels)
{
    return (struct algorithm_case){
        .topology = fixture_topology(arena, notation, NULL, 0),
        .kind = MODEL_ALL_REDUCE,
        .size_bytes = 1e9,
        .config = config_of(MODEL_TREE, MODEL_SIMPLE, channels, 512, 2097152)};
}

static double nic_flows(struct model_arena *arena,
                        const struct algorithm_case *it,
                        const struct model_collective *cost,
                        int node,
                        const char *way)
{
    return flows_on(it, cost,
                    model_arena_format(arena, "node%d.nic0.%s", node, way));
}

/*
 * One GPU a node, n nodes, 2 channels, one for each tree: a NIC carries up and
 * down the edges of its node in both trees. No node has more than 4, and the
 * folded one has as many as any. An even number of nodes: inner nodes of one
 * tree are leaves of the other. (An odd one: but for node 0.)
 */
static void trees_of_many_nodes(void **state)
{
    for (int n = 2; n <= NODES_MAX; n++) {
        struct tree trees[2] = {tree_by_children(n), {.children = {0}}};
        struct algorithm_case it = tree_over(
            *state,
            model_arena_format(*state, "%dx1 gpu:a100 nic:1x100Gbit/s", n), 2);
        struct model_collective all = cost_of(*state, &it);
        struct model_collective folded;
        int most = 0;

        trees[1] = second_tree(&trees[0], n);
        for (int node = 0; node < n; node++) {
            int edges = edges_of(&trees[0], node) + edges_of(&trees[1], node);

            assert_near(nic_flows(*state, &it, &all, node, "out"), edges, 1e-9);
            assert_near(nic_flows(*state, &it, &all, node, "in"), edges, 1e-9);
            assert_in_range(edges, 1, 4);
            most = edges > most ? edges : most;
            if (n % 2 == 0 || node > 0) {
                assert_true(trees[0].children[node] == 0 ||
                            trees[1].children[node] == 0);
            }
        }
        it.folded = true;
        folded = cost_of(*state, &it);
        assert_near(nic_flows(*state, &it, &folded, 0, "out"), most, 1e-9);
        assert_near(nic_flows(*state, &it, &folded, 0, "in"), most, 1e-9);
        assert_int_equal(depth_of(&trees[0], n), model_parts_tree_depth(n));
        assert_int_equal(depth_of(&trees[1], n), model_parts_tree_depth(n));
    }
    assert_int_equal(model_parts_tree_depth(1), 0);
}

/* -- flows -- */

/*
 * 4 channels on one node of 4: half of them a chain 0 1 2 3, half 0 3 2 1. The
 * ends of a chain have one edge, the others two, each up and down.
 */
static void chains_of_one_node(void **state)
{
    static const struct link_flows rows[] = {
        {"node0.gpu0.nvlink.out", 4}, {"node0.gpu0.nvlink.in", 4},
        {"node0.gpu1.nvlink.out", 6}, {"node0.gpu1.nvlink.in", 6},
        {"node0.gpu2.nvlink.out", 8}, {"node0.gpu2.nvlink.in", 8},
        {"node0.gpu3.nvlink.out", 6}, {"node0.gpu3.nvlink.in", 6}};
    struct algorithm_case it = tree_over(*state, "1x4 gpu:a100 nvswitch", 4);

    for (int folded = 0; folded < 2; folded++) {
        struct model_collective cost;

        it.folded = folded == 1;
        cost = cost_of(*state, &it);
        CHECK_FLOWS(&it, &cost, rows);
        /* 3 edges of 4 channels, 2 ways, 2 links each */
        assert_near(all_flows(&cost), 3 * 4 * 2 * 2, 1e-9);
    }
}

/*
 * Two nodes of 4, one NIC, beside GPU 0, which is the head of all chains. The
 * one edge between the nodes is in both trees: all 4 channels, up and down.
 */
static void two_nodes(void **state)
{
    static const struct link_flows rows[] = {
        {"node0.gpu0.nvlink.out", 4}, {"node0.gpu1.nvlink.out", 8},
        {"node0.gpu2.nvlink.in", 8},  {"node0.gpu3.nvlink.in", 4},
        {"node0.nic0.out", 4},        {"node0.nic0.in", 4},
        {"node0.gpu0.pcie.up", 4},    {"node0.gpu0.pcie.down", 4},
        {"node0.gpu3.pcie.up", 0}};
    struct algorithm_case it =
        tree_over(*state, "2x4 gpu:a100 nvswitch nic:1x100Gbit/s", 4);

    for (int folded = 0; folded < 2; folded++) {
        struct model_collective cost;

        it.folded = folded == 1;
        cost = cost_of(*state, &it);
        CHECK_FLOWS(&it, &cost, rows);
    }
}

/*
 * Two sockets, a NIC on each: a chain leaves the node beside its NIC, so that
 * nothing crosses the sockets. 4 channels, 2 over each NIC.
 */
static void heads_are_beside_their_nics(void **state)
{
    static const struct link_flows rows[] = {
        {"node0.nic0.out", 2},         {"node0.nic1.in", 2},
        {"node0.gpu0.pcie.up", 2},     {"node0.gpu2.pcie.up", 2},
        {"node0.gpu1.pcie.up", 0},     {"node0.socket0.cross.out", 0},
        {"node0.socket1.cross.out", 0}};
    struct algorithm_case it =
        tree_over(*state, "2x4 gpu:a100 nvswitch sockets:2 nic:2x100Gbit/s", 4);
    struct model_collective cost = cost_of(*state, &it);

    CHECK_FLOWS(&it, &cost, rows);
}

/*
 * The same with a NIC for each of 8 GPUs, where rings turn round behind their
 * first GPU: 16 channels, 2 over each NIC, no detour by host memory.
 */
static void each_gpu_heads_its_chains(void **state)
{
    struct algorithm_case it = tree_over(*state, "dgx-h100", 16);
    struct model_collective cost;

    it.folded = true; /* the node with 4 edges by halves */
    cost = cost_of(*state, &it);
    for (int gpu = 0; gpu < 8; gpu++) {
        assert_near(
            flows_on(&it, &cost,
                     model_arena_format(*state, "node0.gpu%d.pcie.up", gpu)),
            4, 1e-9);
        assert_near(flows_on(&it, &cost,
                             model_arena_format(*state, "node0.nic%d.in", gpu)),
                    4, 1e-9);
    }
    assert_near(flows_on(&it, &cost, "node0.socket0.memory"), 0, 0);
    assert_near(flows_on(&it, &cost, "node0.socket0.cross.out"), 0, 0);
}

/*
 * Four nodes: the folded one, node 2, has 3 edges in one tree and 1 in the
 * other, 4 x 4 / 2 = 8 flows. Node 0 has one in the first tree, in the second,
 * where it is node 3, one more: 4.
 */
static void four_nodes(void **state)
{
    struct algorithm_case it =
        tree_over(*state, "4x4 gpu:a100 nvswitch nic:1x100Gbit/s", 4);
    struct model_collective cost = cost_of(*state, &it);

    assert_near(nic_flows(*state, &it, &cost, 0, "out"), 4, 1e-9);
    assert_near(nic_flows(*state, &it, &cost, 2, "out"), 8, 1e-9);
    it.folded = true;
    cost = cost_of(*state, &it);
    assert_near(nic_flows(*state, &it, &cost, 0, "out"), 8, 1e-9);
    assert_near(nic_flows(*state, &it, &cost, 0, "in"), 8, 1e-9);
}

/*
 * {size: 4, stride: 4} on two nodes of 8: 0 4 8 12 | 1 5 9 13 | ..., four
 * groups with 2 GPUs a node, beside both of 2 NICs. 2 channels: one heads at
 * the lower GPU and NIC 0, one at the upper and NIC 1. On a node each group has
 * one edge of NVLink for both channels, and one over each NIC.
 */
static void families_add_up(void **state)
{
    static const struct link_flows family[] = {
        {"node0.gpu0.nvlink.out", 2}, {"node0.gpu3.nvlink.in", 2},
        {"node0.gpu4.nvlink.out", 2}, {"node0.gpu7.nvlink.in", 2},
        {"node0.nic0.out", 4},        {"node0.nic0.in", 4},
        {"node0.nic1.out", 4},        {"node0.gpu0.pcie.up", 1},
        {"node0.gpu4.pcie.down", 1}};
    static const struct link_flows one[] = {
        {"node0.gpu0.nvlink.out", 2}, {"node0.gpu4.nvlink.in", 2},
        {"node0.gpu1.nvlink.out", 0}, {"node0.nic0.out", 1},
        {"node1.nic1.in", 1},         {"node0.gpu0.pcie.up", 1},
        {"node1.gpu4.pcie.down", 1},  {"node0.gpu1.pcie.up", 0}};
    struct algorithm_case it =
        tree_over(*state, "2x8 gpu:a100 nvswitch nic:2x100Gbit/s", 2);
    struct model_collective cost;

    it.group = (struct model_group){.name = "g", .count = 4, .stride = 4};
    cost = cost_of(*state, &it);
    CHECK_FLOWS(&it, &cost, one);
    it.folded = true;
    it.group.family = true;
    cost = cost_of(*state, &it);
    CHECK_FLOWS(&it, &cost, family);
}

/* -- memory, pace, fill -- */

/*
 * One node of n over NVLink: an input read, an output written, and n - 1 edges
 * with a FIFO each way, written and read: 2 + 4 (n - 1) / n, as a ring's
 * (6 n - 4) / n. One GPU a node over GPUDirect: each of the 2 (n - 1) sends is
 * also read by the NIC and written before: 2 + 8 (n - 1) / n.
 */
static void hbm_bytes(void **state)
{
    for (int n = 2; n <= 9; n++) {
        struct algorithm_case near = tree_over(
            *state, model_arena_format(*state, "1x%d gpu:a100 nvswitch", n), 4);
        struct algorithm_case far = tree_over(
            *state,
            model_arena_format(*state, "%dx1 gpu:a100 nic:1x100Gbit/s", n), 4);

        assert_near_ratio(cost_of(*state, &near).hbm_ratio, (6.0 * n - 4) / n,
                          1e-12);
        assert_near_ratio(cost_of(*state, &far).hbm_ratio,
                          2 + 8.0 * (n - 1) / n, 1e-12);
        near.config.protocol = MODEL_LL; /* FIFOs of twice the bytes */
        assert_near_ratio(cost_of(*state, &near).hbm_ratio,
                          2 + 8.0 * (n - 1) / n, 1e-12);
    }
}

/*
 * 4 GPUs, 1000 bytes a warp, 128 threads: each way has 2 warps, f = 2000, and
 * half of an issue rate of 4000: b = 2000. R = 2 x 0.5 + 1 = 2, 0.25 us a sync.
 * 2 channels of 80 kB in chunks of 8 kB:
 *
 *     in the stream   8000 / 2000 + 4 x 2 + 0.25 = 12.25
 *     a first chunk   8000 / 4000 + 4 x 2 + 0.25 + 0.5 = 10.75 a hop, as the
 *                     other half of the CTA waits; 3 hops up and 3 down
 *
 * With the network between two GPUs: R = 1, 8000 / 2000 + 4 x 1 = 8 and 0.25, a
 * first hop 6 + 0.25 + 3 + 10 + 8000 / 1000 of the NIC; one edge, up and down.
 *
 * A head with a child more, two of other nodes or one in its chain, loads or
 * stores 4 times for 3, with three children 5 times: so often 8 us.
 */
static void pace_and_fill_by_hand(void **state)
{
    enum { NEAR = 9, FIRST_FAR = 1, FAR = 12 };
    static const char *const sets[] = {"node.nvlink.latency=0.5 us",
                                       "gpu.channel.issue_rate=4 GB/s",
                                       "gpu.channel.warp_in_flight=1 kB",
                                       "gpu.channel.rate=1 TB/s",
                                       "gpu.channel.sync=0.25 us",
                                       "gpu.channel.start=0 us",
                                       "gpu.channel.reduce=1",
                                       "gpu.channel.exchange=1",
                                       "gpu.hbm.latency=1 us",
                                       "node.nics.achieved=1",
                                       "node.nics.latency=3 us",
                                       "node.nics.sync=10 us",
                                       "node.nics.channel_rate=1 TB/s"};
    static const struct {
        const char *notation;
        double work;
    } heads[] = {{"2x1 gpu:a100 nic:1x8Gbit/s", 1},
                 {"3x1 gpu:a100 nic:1x8Gbit/s", 4 / 3.0},
                 {"2x2 gpu:a100 nvswitch nic:2x8Gbit/s", 4 / 3.0},
                 {"4x2 gpu:a100 nvswitch nic:2x8Gbit/s", 5 / 3.0}};
    struct algorithm_case it = {
        .topology =
            fixture_topology(*state, "1x4 gpu:a100 nvswitch", sets, NEAR),
        .kind = MODEL_ALL_REDUCE,
        .size_bytes = 160e3,
        .config = config_of(MODEL_TREE, MODEL_SIMPLE, 2, 128, 8000)};
    struct model_collective cost = cost_of(*state, &it);

    assert_near_ratio(cost.channel_bytes, 80e3, 1e-12);
    assert_near_ratio(cost.chunk_bytes, 8000, 1e-12);
    assert_near_ratio(cost.footprint_bytes, 16000, 1e-12);
    assert_near_ratio(cost.in_flight_bytes, 2000, 1e-12);
    assert_near_ratio(cost.channel_bytes_per_us, 8000 / 12.25, 1e-12);
    assert_near_ratio(cost.fill_us, 6 * 10.75, 1e-6);
    assert_near_ratio(cost.first_bytes, 8000, 1e-12);
    it.topology = fixture_topology(*state, "2x1 gpu:a100 nic:1x8Gbit/s",
                                   sets + FIRST_FAR, FAR);
    cost = cost_of(*state, &it);
    assert_near_ratio(cost.channel_bytes_per_us, 8000 / 8.25, 1e-12);
    assert_near_ratio(cost.fill_us, 2 * (6 + 0.25 + 13 + 8), 1e-12);
    for (int i = 0; i < FIXTURE_COUNT(heads); i++) {
        struct model_topology *topology =
            fixture_topology(*state, heads[i].notation, sets + FIRST_FAR, FAR);

        topology->nvlink.latency_us = 0; /* chains are faster */
        it.topology = topology;
        cost = cost_of(*state, &it);
        assert_near_ratio(cost.channel_bytes_per_us,
                          8000 / (heads[i].work * 8 + 0.25), 1e-12);
    }
}

/* -- chunks by size -- */

/*
 * LL128 on 8 GPUs: k = 1 + 0 + 0.8; a slot of 614,400 bytes with its flags. 16
 * MiB are 1.14 times 24 slots, below 1.8 x 64 / 8 = 14.4: halved to 76,800,
 * below 128 KiB. Then 9.1 times, more than 3.6. Of it 120 / 128 is data:
 * 72,000. LL keeps its slot of 32 KiB.
 */
static void chunks_by_size(void **state)
{
    struct algorithm_case it = tree_over(*state, "1x8 gpu:a100 nvswitch", 24);

    it.size_bytes = 16777216;
    it.config.protocol = MODEL_LL128;
    assert_near_ratio(cost_of(*state, &it).chunk_bytes, 72000, 1e-12);
    it.config.chunk_bytes = 576000; /* a slot leaves the choice too */
    assert_near_ratio(cost_of(*state, &it).chunk_bytes, 72000, 1e-12);
    it.config.chunk_bytes = 100000;
    assert_near_ratio(cost_of(*state, &it).chunk_bytes, 100000, 1e-12);
    it.config.chunk_bytes = 2097152;
    it.config.protocol = MODEL_LL;
    assert_near_ratio(cost_of(*state, &it).chunk_bytes, 32768, 1e-12);
    it.config.protocol = MODEL_SIMPLE;
    assert_near_ratio(cost_of(*state, &it).chunk_bytes, 524288, 1e-12);
    it.size_bytes = 1048576;
    assert_near_ratio(cost_of(*state, &it).chunk_bytes, 1048576 / 24.0, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_of_many_nodes),
        cmocka_unit_test(chains_of_one_node),
        cmocka_unit_test(two_nodes),
        cmocka_unit_test(heads_are_beside_their_nics),
        cmocka_unit_test(each_gpu_heads_its_chains),
        cmocka_unit_test(four_nodes),
        cmocka_unit_test(families_add_up),
        cmocka_unit_test(hbm_bytes),
        cmocka_unit_test(pace_and_fill_by_hand),
        cmocka_unit_test(chunks_by_size),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
