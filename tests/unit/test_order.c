/*
 * test_order.c - which walks rings take over the GPUs of a node, by wiring.
 */
#include "model/order.h"
#include "model/wiring.h"

#include "tests/unit/fixture.h"

static const int all[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                          12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23};

/* Walks over the first so many GPUs; nics NULL: within a node. */
static struct model_orders make(struct model_arena *arena,
                                const char *text,
                                const char *set,
                                int gpus,
                                const int *nics,
                                int nic_count)
{
    return model_orders_make(
        arena, fixture_topology(arena, text, &set, set != NULL ? 1 : 0), all,
        gpus, nics, nic_count);
}

/* As text, "0 1 2 3". */
static const char *
walk(struct model_arena *arena, const struct model_orders *orders, int index)
{
    const char *text = "";

    for (int i = 0; i < orders->length; i++) {
        text = model_arena_format(arena, "%s%s%d", text, i > 0 ? " " : "",
                                  orders->walks[index * orders->length + i]);
    }
    return text;
}

/* Each walk visits every GPU once. */
static void check_walks(const struct model_orders *orders)
{
    assert_int_equal(orders->count % 2, 0);
    for (int i = 0; i < orders->count; i++) {
        bool seen[24] = {false};

        for (int j = 0; j < orders->length; j++) {
            int at = orders->walks[i * orders->length + j];

            assert_in_range(at, 0, orders->length - 1);
            assert_false(seen[at]);
            seen[at] = true;
        }
    }
}

/* How often the walks and mirrors take each ordered pair. */
static void
count_steps(const struct model_orders *orders, bool closed, int *steps)
{
    int n = orders->length;

    memset(steps, 0, (size_t)(n * n) * sizeof *steps);
    for (int i = 0; i < orders->count; i++) {
        for (int j = closed ? 0 : 1; j < n; j++) {
            steps[orders->walks[i * n + (j + n - 1) % n] * n +
                  orders->walks[i * n + j]]++;
        }
    }
}

/* Within a node: GPUs of a tree, pairs or a switch as they are numbered. */
static void near_numbers_are_near_gpus(void **state)
{
    static const char *const texts[] = {
        "1x8 gpu:a40", "1x8 gpu:a40 pcie:4:2/switch sockets:2",
        "1x8 gpu:a40 nvlink:pairs sockets:2", "1x8 gpu:a40 nvswitch"};

    for (int i = 0; i < FIXTURE_COUNT(texts); i++) {
        struct model_orders orders = make(*state, texts[i], NULL, 8, NULL, 0);

        assert_int_equal(orders.count, 2);
        assert_string_equal(walk(*state, &orders, 0), "0 1 2 3 4 5 6 7");
        assert_string_equal(walk(*state, &orders, 1), "7 6 5 4 3 2 1 0");
    }
}

/*
 * A DGX-1 with V100: the 8 pairs with two links are one circle, 0 3 2 1 5 6 7
 * 4, and so are those with one, 0 1 3 7 5 4 6 2. The first twice and the second
 * once use every link, each direction by a mirror: the 6 rings that NCCL finds.
 */
static void all_links_of_a_cube_mesh(void **state)
{
    const struct model_topology *topology =
        fixture_topology(*state, "dgx1-v100", NULL, 0);
    struct model_orders orders =
        model_orders_make(*state, topology, all, 8, NULL, 0);
    int steps[64];

    check_walks(&orders);
    assert_int_equal(orders.count, 6);
    assert_string_equal(walk(*state, &orders, 0), "0 3 2 1 5 6 7 4");
    assert_string_equal(walk(*state, &orders, 1), "0 1 3 7 5 4 6 2");
    assert_string_equal(walk(*state, &orders, 2), "0 3 2 1 5 6 7 4");
    count_steps(&orders, true, steps);
    for (int pair = 0; pair < 64; pair++) {
        assert_int_equal(steps[pair],
                         model_wiring_nvlinks(topology, pair / 8, pair % 8));
    }
}

/*
 * Four GPUs, two links between any: 6 links each, so 3 walks at most, and there
 * are just 3 circles of four.
 */
static void all_links_of_four(void **state)
{
    struct model_orders orders =
        make(*state,
             "1x4 gpu:v100 "
             "nvlink:links:0-1x2,0-2x2,0-3x2,1-2x2,1-3x2,2-3x2:22GB/s",
             NULL, 4, NULL, 0);
    int steps[16];

    check_walks(&orders);
    assert_int_equal(orders.count, 6);
    count_steps(&orders, true, steps);
    for (int pair = 0; pair < 16; pair++) {
        assert_int_equal(steps[pair], pair / 4 != pair % 4 ? 2 : 0);
    }
}

/*
 * A ring of links without chords: one walk. A square with one diagonal: the
 * diagonal is on no circle of four.
 */
static void one_walk_where_there_is_one(void **state)
{
    static const char *const texts[] = {
        "1x4 gpu:v100 nvlink:links:0-2,2-1,1-3,3-0:22GB/s",
        "1x4 gpu:v100 nvlink:links:0-2,2-1,1-3,3-0,0-1:22GB/s"};

    for (int i = 0; i < FIXTURE_COUNT(texts); i++) {
        struct model_orders orders = make(*state, texts[i], NULL, 4, NULL, 0);

        assert_int_equal(orders.count, 2);
        assert_string_equal(walk(*state, &orders, 0), "0 2 1 3");
    }
}

/*
 * Bridges between 0-3 and 1-2 only, with P2P as far as NVLink, so that none
 * goes through a GPU: both bridges are taken, PCIe joins them. From 0 the
 * bridge comes first, then the nearest by number.
 */
static void bridges_are_taken(void **state)
{
    struct model_orders orders =
        make(*state, "1x4 gpu:a40 nvlink:links:0-3x4,1-2x4:12GB/s",
             "node.pcie.p2p=nvl", 4, NULL, 0);

    assert_int_equal(orders.count, 2);
    assert_string_equal(walk(*state, &orders, 0), "0 3 1 2");
}

/*
 * A mesh of n: for even n n - 1 walks that take each link twice, for odd n (n -
 * 1) / 2 that take each once; mirrors take the other direction.
 */
static void all_links_of_a_mesh(void **state)
{
    static const struct {
        int gpus, walks, steps;
    } rows[] = {{2, 1, 2}, {3, 1, 1}, {4, 3, 2},  {5, 2, 1},
                {8, 7, 2}, {9, 4, 1}, {24, 23, 2}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        int n = rows[i].gpus;
        struct model_orders orders = make(
            *state, model_arena_format(*state, "1x%d gpu:a40 nvlink:mesh", n),
            NULL, n, NULL, 0);
        int steps[24 * 24];

        check_walks(&orders);
        assert_int_equal(orders.count, 2 * rows[i].walks);
        count_steps(&orders, true, steps);
        for (int pair = 0; pair < n * n; pair++) {
            assert_int_equal(steps[pair],
                             pair / n != pair % n ? rows[i].steps : 0);
        }
    }
}

/*
 * NVSwitch, 4 switches of two GPUs with a NIC each: in by one GPU of the switch
 * and out by the other. The mirror is the same walk backwards.
 */
static void in_and_out_beside_the_nic(void **state)
{
    static const int nics[] = {0, 3};
    struct model_orders orders =
        make(*state,
             "2x8 gpu:a100 nvswitch pcie:4:2/switch sockets:2 nic:4x200Gbit/s",
             NULL, 8, nics, 2);

    assert_int_equal(orders.count, 4);
    assert_string_equal(walk(*state, &orders, 0), "0 2 3 4 5 6 7 1");
    assert_string_equal(walk(*state, &orders, 1), "6 0 1 2 3 4 5 7");
    assert_string_equal(walk(*state, &orders, 2), "1 7 6 5 4 3 2 0");
    assert_string_equal(walk(*state, &orders, 3), "7 5 4 3 2 1 0 6");
}

/*
 * A NIC for each GPU: only GPU 3 is beside NIC 3. All others send over it by
 * PXN, so any may be last; but no ring enters there, so that the mirror starts
 * at GPU 3 too.
 */
static void mirrors_enter_beside_the_nic(void **state)
{
    static const int nics[] = {3};
    struct model_orders orders = make(*state, "dgx-h100", NULL, 8, nics, 1);

    assert_string_equal(walk(*state, &orders, 0), "3 4 5 6 7 0 1 2");
    assert_string_equal(walk(*state, &orders, 1), "3 2 1 0 7 6 5 4");
}

/*
 * Without PXN GPUs 0 to 2 reach NIC 3 within the socket, 4 to 7 do not: the
 * walk that is numbered on from 3 ends at 2, which will do; that of NIC 4 ended
 * at 3, now at the nearest before it of the own socket, 7.
 */
static void without_pxn_out_in_the_same_socket(void **state)
{
    static const int nics[] = {3, 4};
    struct model_orders orders =
        make(*state, "dgx-h100", "node.nics.pxn=false", 8, nics, 2);

    assert_string_equal(walk(*state, &orders, 0), "3 4 5 6 7 0 1 2");
    assert_string_equal(walk(*state, &orders, 1), "4 5 6 0 1 2 3 7");
}

/*
 * lagom-a: pairs 01 23 | 45 67, a NIC on each socket. Two steps between sockets
 * are least, whether both are in the walk (0 1 4 5 6 7 2 3) or one is the way
 * out to the NIC: of equal walks the one by number is taken.
 */
static void walks_of_lagom_a(void **state)
{
    static const int nics[] = {0, 1};
    struct model_orders orders = make(*state, "lagom-a", NULL, 8, nics, 2);

    assert_string_equal(walk(*state, &orders, 0), "0 1 2 3 4 5 6 7");
    assert_string_equal(walk(*state, &orders, 1), "4 5 6 7 0 1 2 3");
    assert_string_equal(walk(*state, &orders, 2), "7 6 5 4 3 2 1 0");
    assert_string_equal(walk(*state, &orders, 3), "3 2 1 0 7 6 5 4");
}

/*
 * Three NICs on the root ports of 8 GPUs in pairs: the even share of NIC 1
 * would start at GPU 2, that of NIC 2 at 5, and break a pair: 6 starts the
 * next.
 */
static void a_pair_is_not_broken(void **state)
{
    static const int nics[] = {1, 2};
    struct model_orders orders = make(
        *state, "2x8 gpu:a40 nvlink:pairs nic:3x100Gbit/s", NULL, 8, nics, 2);

    assert_string_equal(walk(*state, &orders, 0), "2 3 4 5 6 7 0 1");
    assert_string_equal(walk(*state, &orders, 1), "6 7 0 1 2 3 4 5");
}

/*
 * A DGX-1's NICs are below its four switches: each walk over NVLink alone, from
 * one GPU of the NIC's switch to the other. Four walks of 7 steps on 24 links:
 * no link is taken by more than two of them, nor one of a pair by more than one
 * (28 / 24, rounded up, over pairs with one link or two).
 */
static void walks_between_dgx1_nodes(void **state)
{
    static const int nics[] = {0, 1, 2, 3};
    const struct model_topology *topology =
        fixture_topology(*state, "dgx1-v100", NULL, 0);
    struct model_orders orders =
        model_orders_make(*state, topology, all, 8, nics, 4);
    int steps[64];

    check_walks(&orders);
    assert_int_equal(orders.count, 8);
    for (int i = 0; i < 8; i++) {
        const int *w = orders.walks + i * 8;

        assert_int_equal(w[0] / 2, i % 4);
        assert_int_equal(w[7] / 2, i % 4);
        for (int j = 1; j < 8; j++) {
            assert_true(model_wiring_nvlinks(topology, w[j - 1], w[j]) > 0);
        }
    }
    count_steps(&orders, false, steps);
    for (int pair = 0; pair < 64; pair++) {
        assert_in_range(steps[pair], 0,
                        2 * model_wiring_nvlinks(topology, pair / 8, pair % 8));
    }
}

/*
 * The upper half of a DGX-1: 4-7, 5-6 and 6-7 have two links, 4-5, 4-6 and 5-7
 * one. First 4 7 6 5, over all the double ones: 1/2 + 1/2 + 1/2 + 1. Now a step
 * over those costs 3/2 and 4-5 costs 3, so 4 6 5 7 follows: 1 + 3/2 + 1 + 3/2.
 * No link is then shared, and GPU 4 with its 4 links has no third.
 */
static void some_of_the_gpus(void **state)
{
    static const int upper[] = {4, 5, 6, 7};
    const struct model_topology *topology =
        fixture_topology(*state, "dgx1-v100", NULL, 0);
    struct model_orders orders =
        model_orders_make(*state, topology, upper, 4, NULL, 0);

    check_walks(&orders);
    assert_int_equal(orders.count, 4);
    assert_string_equal(walk(*state, &orders, 0), "0 3 2 1");
    assert_string_equal(walk(*state, &orders, 1), "0 2 1 3");
}

static void one_gpu_is_a_walk(void **state)
{
    static const char *const texts[] = {
        "1x1 gpu:a40", "2x1 gpu:a40 nic:1x1GB/s",
        "2x4 gpu:a40 nvlink:mesh nic:1x1GB/s",
        "2x4 gpu:a40 nvswitch nic:1x1GB/s", "dgx1-v100"};
    static const int nics[] = {0};

    for (int i = 0; i < FIXTURE_COUNT(texts); i++) {
        struct model_orders orders = make(*state, texts[i], NULL, 1, NULL, 0);

        assert_int_equal(orders.count, 2);
        assert_string_equal(walk(*state, &orders, 1), "0");
        if (i > 0) {
            orders = make(*state, texts[i], NULL, 1, nics, 1);
            assert_int_equal(orders.count, 2);
            assert_string_equal(walk(*state, &orders, 1), "0");
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_numbers_are_near_gpus),
        cmocka_unit_test(all_links_of_a_cube_mesh),
        cmocka_unit_test(all_links_of_four),
        cmocka_unit_test(one_walk_where_there_is_one),
        cmocka_unit_test(bridges_are_taken),
        cmocka_unit_test(all_links_of_a_mesh),
        cmocka_unit_test(in_and_out_beside_the_nic),
        cmocka_unit_test(mirrors_enter_beside_the_nic),
        cmocka_unit_test(without_pxn_out_in_the_same_socket),
        cmocka_unit_test(walks_of_lagom_a),
        cmocka_unit_test(a_pair_is_not_broken),
        cmocka_unit_test(walks_between_dgx1_nodes),
        cmocka_unit_test(some_of_the_gpus),
        cmocka_unit_test(one_gpu_is_a_walk),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
