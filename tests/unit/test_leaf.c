/*
 * test_leaf.c - leaves, what their uplinks carry, and how many nodes use them.
 */
#include "model/leaf.h"

#include "tests/unit/fixture.h"

/* With NICs of 10 GB/s that carry all of it. */
static const struct model_topology *cluster(struct model_arena *arena,
                                            const char *net)
{
    static const char *const sets[] = {"node.nics.achieved=1"};

    return fixture_topology(
        arena,
        model_arena_format(arena, "10x8 gpu:a40 nvswitch nic:4x10GB/s %s", net),
        sets, 1);
}

static void a_flat_network_has_none(void **state)
{
    const struct model_topology *flat = cluster(*state, "");

    assert_int_equal(model_leaf_nodes(flat), 0);
    assert_int_equal(model_leaf_count(flat), 0);
}

/*
 * 10 nodes, 4 a leaf: leaves of 4, 4 and 2 nodes. 4 NICs of 10 GB/s a node,
 * oversubscribed 2 to 1: 80 GB/s up from the first two, 40 from the last, 20 a
 * node.
 */
static void a_tree_of_leaves(void **state)
{
    const struct model_topology *tree = cluster(*state, "net:tree:4/leaf:2");

    assert_int_equal(model_leaf_count(tree), 3);
    assert_int_equal(model_leaf_of(tree, 3, 3), 0);
    assert_int_equal(model_leaf_of(tree, 4, 0), 1);
    assert_int_equal(model_leaf_of(tree, 9, 2), 2);
    assert_near_ratio(model_leaf_bytes_per_us(tree, 0), 80e3, 1e-12);
    assert_near_ratio(model_leaf_bytes_per_us(tree, 1), 80e3, 1e-12);
    assert_near_ratio(model_leaf_bytes_per_us(tree, 2), 40e3, 1e-12);
    assert_near_ratio(model_leaf_share_bytes_per_us(tree), 20e3, 1e-12);
}

/*
 * Rails: NIC i of all 10 nodes on leaf i; 2 to 1: 50 GB/s up, 5 a node. With 5
 * nodes to a leaf 8 leaves, node 7's NIC 2 on the second group's third.
 */
static void rails_are_leaves(void **state)
{
    const struct model_topology *rails = cluster(*state, "net:rails:2");
    const struct model_topology *groups = cluster(*state, "net:rails:5/leaf:2");

    assert_int_equal(model_leaf_count(rails), 4);
    assert_int_equal(model_leaf_rails(rails), 4);
    assert_int_equal(model_leaf_of(rails, 9, 2), 2);
    assert_near_ratio(model_leaf_bytes_per_us(rails, 3), 50e3, 1e-12);
    assert_near_ratio(model_leaf_share_bytes_per_us(rails), 5e3, 1e-12);
    assert_int_equal(model_leaf_count(groups), 8);
    assert_int_equal(model_leaf_of(groups, 7, 2), 6);
    assert_near_ratio(model_leaf_bytes_per_us(groups, 6), 25e3, 1e-12);
}

/*
 * Leaves of 4, 4 and 2 of 10 nodes, d nodes further:
 *
 *     d = 1 or 9   the last node of each leaf (the first): 1 of 4, 1 of 2; 3
 *                  of all 10
 *     d = 2 or 8   2 of 4, 2 of 2; 6
 *     d = 5        4 of 4, 2 of 2; 10
 */
static void who_leaves_a_leaf(void **state)
{
    static const struct {
        int distance;
        double busiest, mean;
    } rows[] = {
        {1, 0.5, 0.3}, {9, 0.5, 0.3}, {2, 1, 0.6}, {8, 1, 0.6}, {5, 1, 1}};
    const struct model_topology *tree = cluster(*state, "net:tree:4/leaf");

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        assert_near(model_leaf_busiest_ratio(tree, rows[i].distance),
                    rows[i].busiest, 1e-12);
        assert_near(model_leaf_mean_ratio(tree, rows[i].distance), rows[i].mean,
                    1e-12);
    }
}

/* By counting: of each leaf the nodes whose peer is below another. */
static void counted_one_by_one(void **state)
{
    enum { NODES = 10 };

    for (int size = 1; size <= NODES; size++) {
        const struct model_topology *tree = cluster(
            *state, model_arena_format(*state, "net:tree:%d/leaf", size));

        for (int distance = 1; distance < NODES; distance++) {
            int all = 0;
            int last = 0;
            int last_nodes = 0;

            for (int node = 0; node < NODES; node++) {
                int leaf = model_leaf_of(tree, node, 0);
                bool leaves =
                    leaf != model_leaf_of(tree, (node + distance) % NODES, 0);

                all += leaves ? 1 : 0;
                if (leaf == model_leaf_count(tree) - 1) {
                    last += leaves ? 1 : 0;
                    last_nodes++;
                }
            }
            assert_near(model_leaf_mean_ratio(tree, distance), all / 10.0,
                        1e-12);
            assert_near(model_leaf_busiest_ratio(tree, distance),
                        (double)last / last_nodes, 1e-12);
        }
    }
}

/* All nodes below one leaf: nobody passes the spine. */
static void one_leaf_is_left_by_nobody(void **state)
{
    const struct model_topology *tree = cluster(*state, "net:tree:16/leaf:3");

    assert_int_equal(model_leaf_count(tree), 1);
    assert_near(model_leaf_busiest_ratio(tree, 1), 0, 0);
    assert_near(model_leaf_mean_ratio(tree, 5), 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flat_network_has_none),
        cmocka_unit_test(a_tree_of_leaves),
        cmocka_unit_test(rails_are_leaves),
        cmocka_unit_test(who_leaves_a_leaf),
        cmocka_unit_test(counted_one_by_one),
        cmocka_unit_test(one_leaf_is_left_by_nobody),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
