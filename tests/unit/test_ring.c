/*
 * test_ring.c - the order of rings: who follows whom, which NIC, how channels
 * spread over variants, and that every variant is one cycle through all.
 */
#include "model/ring.h"

#include "tests/unit/fixture.h"

static struct model_ring
make(struct model_arena *arena, const char *notation, struct model_group *group)
{
    const struct model_topology *topology =
        fixture_topology(arena, notation, NULL, 0);

    if (group->count == 0) {
        group->count = model_topology_rank_count(topology);
    }
    return model_ring_make(arena, topology, group);
}

/* From the first member on: every rank once, then back at the first. */
static void check_cycle(const struct model_ring *ring, int variant)
{
    enum { MOST = 256 };
    const struct model_group *group = ring->group;
    bool seen[MOST] = {false};
    int member = 0;

    assert_true(group->count <= MOST);
    for (int i = 0; i < group->count; i++) {
        int rank = model_ring_next(ring, member, variant);
        int next = 0;

        assert_false(seen[member]);
        seen[member] = true;
        while (next < group->count && model_group_rank(group, next) != rank) {
            next++;
        }
        if (next == group->count) {
            fail_msg("variant %d: rank %d is not in the group", variant, rank);
        }
        member = next;
    }
    assert_int_equal(member, 0);
}

static void check_cycles(const struct model_ring *ring)
{
    for (int variant = 0; variant < ring->variants; variant++) {
        check_cycle(ring, variant);
    }
}

/* How many steps of a variant lead to another node. */
static int crossings(const struct model_ring *ring, int variant)
{
    int gpus = ring->topology->gpus_per_node;
    int count = 0;

    for (int member = 0; member < ring->group->count; member++) {
        count += model_group_rank(ring->group, member) / gpus !=
                         model_ring_next(ring, member, variant) / gpus
                     ? 1
                     : 0;
    }
    return count;
}

static void
expect_next(const struct model_ring *ring, int variant, const int *next)
{
    for (int i = 0; i < ring->group->count; i++) {
        assert_int_equal(model_ring_next(ring, i, variant), next[i]);
    }
}

/* One node: forward and backward, as the ranks are numbered. */
static void one_node_of_8(void **state)
{
    struct model_group world = {.name = "world"};
    struct model_ring ring = make(*state, "1x8 gpu:a40 nvswitch", &world);

    assert_int_equal(ring.variants, 2);
    expect_next(&ring, 0, (const int[]){1, 2, 3, 4, 5, 6, 7, 0});
    expect_next(&ring, 1, (const int[]){7, 0, 1, 2, 3, 4, 5, 6});
    check_cycles(&ring);
}

/* NICs change nothing within a node. */
static void one_node_with_nics(void **state)
{
    struct model_group world = {.name = "world"};
    struct model_ring ring =
        make(*state, "1x8 gpu:a40 nvswitch nic:2x400Gbit/s", &world);

    assert_int_equal(ring.variants, 2);
    expect_next(&ring, 0, (const int[]){1, 2, 3, 4, 5, 6, 7, 0});
    check_cycles(&ring);
}

/* Is this variant the ring that `next` tells? */
static bool is_ring(const struct model_ring *ring, int variant, const int *next)
{
    for (int i = 0; i < ring->group->count; i++) {
        if (model_ring_next(ring, i, variant) != next[i]) {
            return false;
        }
    }
    return true;
}

/*
 * Two nodes, two NICs. Over NIC 0 a node is walked 0 .. 7, over NIC 1 from the
 * half of it: 4 5 6 7 0 1 2 3; the last GPU leads to the other node's first.
 * Backwards all the arrows turn round. Each of the four once.
 */
static void two_nodes_with_two_nics(void **state)
{
    static const struct {
        int nic;
        int next[16];
    } rings[] = {{0, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0}},
                 {0, {15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}},
                 /* 4 5 6 7 0 1 2 3, then 12 13 14 15 8 9 10 11 */
                 {1, {1, 2, 3, 12, 5, 6, 7, 0, 9, 10, 11, 4, 13, 14, 15, 8}},
                 {1, {7, 0, 1, 2, 11, 4, 5, 6, 15, 8, 9, 10, 3, 12, 13, 14}}};
    struct model_group world = {.name = "world"};
    struct model_ring ring =
        make(*state, "2x8 gpu:a40 nvswitch nic:2x400Gbit/s", &world);

    assert_int_equal(ring.variants, 4);
    check_cycles(&ring);
    for (int i = 0; i < 4; i++) {
        int found = 0;

        for (int variant = 0; variant < 4; variant++) {
            assert_int_equal(crossings(&ring, variant), 2);
            if (is_ring(&ring, variant, rings[i].next)) {
                assert_int_equal(model_ring_nic(&ring, variant), rings[i].nic);
                found++;
            }
        }
        assert_int_equal(found, 1);
    }
}

/* Is variant b variant a turned round, over the same NIC? */
static bool is_mirror(const struct model_ring *ring, int a, int b)
{
    for (int i = 0; i < ring->group->count; i++) {
        if (model_ring_next(ring, model_ring_next(ring, i, a), b) != i) {
            return false;
        }
    }
    return model_ring_nic(ring, a) == model_ring_nic(ring, b);
}

/* Every variant has one mirror, which uses the ports' other direction. */
static void each_variant_has_its_mirror(void **state)
{
    struct model_group world = {.name = "world"};
    struct model_ring ring =
        make(*state, "3x8 gpu:a40 nvswitch nic:4x200Gbit/s", &world);

    assert_int_equal(ring.variants, 8);
    for (int a = 0; a < 8; a++) {
        int mirrors = 0;

        for (int b = 0; b < 8; b++) {
            mirrors += is_mirror(&ring, a, b) ? 1 : 0;
        }
        assert_int_equal(mirrors, 1);
    }
}

/* 10 channels over 4 variants: 3 3 2 2; always as many as there are. */
static void channels_spread_evenly(void **state)
{
    struct model_group world = {.name = "world"};
    struct model_ring ring =
        make(*state, "2x8 gpu:a40 nvswitch nic:2x400Gbit/s", &world);
    static const int of_10[] = {3, 3, 2, 2};

    for (int variant = 0; variant < 4; variant++) {
        assert_int_equal(model_ring_channels(&ring, variant, 10),
                         of_10[variant]);
    }
    for (int channels = 1; channels <= 64; channels++) {
        int sum = 0;

        for (int variant = 0; variant < 4; variant++) {
            int part = model_ring_channels(&ring, variant, channels);

            assert_true(part == channels / 4 || part == channels / 4 + 1);
            sum += part;
        }
        assert_int_equal(sum, channels);
    }
}

/* NICs differ by one channel at most, whatever the number of channels. */
static void nics_get_alike(void **state)
{
    enum { NICS = 4 };
    struct model_group world = {.name = "world"};
    struct model_ring ring =
        make(*state, "2x8 gpu:a40 nvswitch nic:4x400Gbit/s", &world);

    for (int channels = 1; channels <= 64; channels++) {
        int of_nic[NICS] = {0};

        for (int variant = 0; variant < ring.variants; variant++) {
            of_nic[model_ring_nic(&ring, variant)] +=
                model_ring_channels(&ring, variant, channels);
        }
        for (int nic = 0; nic < NICS; nic++) {
            assert_true(of_nic[nic] == channels / NICS ||
                        of_nic[nic] == channels / NICS + 1);
        }
    }
}

static void many_shapes_are_cycles(void **state)
{
    static const char *const shapes[] = {
        "1x1 gpu:a40",
        "1x2 gpu:a40 nvswitch",
        "1x7 gpu:a40 nvswitch",
        "2x1 gpu:a40 nic:1x100Gbit/s",
        "2x2 gpu:a40 nic:2x100Gbit/s",
        "2x8 gpu:a40 nvlink:pairs nic:1x100Gbit/s",
        "3x4 gpu:a40 nic:4x100Gbit/s",
        "5x6 gpu:a40 nic:4x100Gbit/s",
        "4x3 gpu:a40 nic:8x100Gbit/s",
        "16x8 gpu:h100 nvswitch nic:8x400Gbit/s",
    };

    for (int i = 0; i < FIXTURE_COUNT(shapes); i++) {
        struct model_group world = {.name = "world"};
        struct model_ring ring = make(*state, shapes[i], &world);

        check_cycles(&ring);
        for (int variant = 0; variant < ring.variants; variant++) {
            int nodes = ring.topology->node_count;
            int nics = ring.topology->nics.count;

            assert_int_equal(crossings(&ring, variant), nodes > 1 ? nodes : 0);
            assert_in_range(model_ring_nic(&ring, variant), 0,
                            nics > 0 ? nics - 1 : 0);
        }
    }
}

/*
 * Chosen ranks: parts of nodes, one a node, all on one node. Of 2 NICs GPUs 0
 * to 3 have the first as their own and 4 to 7 the second: rings use those that
 * are some member's, a walk and a mirror each. Ranks 2, 10 and 18 are GPU 2 of
 * each node: NIC 0 only.
 */
static void chosen_ranks_are_cycles(void **state)
{
    static const int uneven[] = {1, 3, 9, 10, 11, 14, 23};
    static const int one_each[] = {2, 10, 18};
    static const int same_node[] = {8, 11, 13};
    static const struct {
        const int *ranks;
        int count, variants;
    } rows[] = {{uneven, 7, 4}, {one_each, 3, 2}, {same_node, 3, 2}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct model_group group = {
            .name = "g", .ranks = rows[i].ranks, .count = rows[i].count};
        struct model_ring ring =
            make(*state, "3x8 gpu:a40 nvswitch nic:2x400Gbit/s", &group);

        assert_int_equal(ring.variants, rows[i].variants);
        check_cycles(&ring);
    }
    /* the second node's own ring: 8 11 13 */
    {
        struct model_group group = {
            .name = "g", .ranks = same_node, .count = 3};
        struct model_ring ring =
            make(*state, "3x8 gpu:a40 nvswitch nic:2x400Gbit/s", &group);

        expect_next(&ring, 0, (const int[]){11, 13, 8});
        expect_next(&ring, 1, (const int[]){13, 8, 11});
    }
}

/* A NIC to each GPU: forward and mirrored rings enter each node beside it. */
static void rings_enter_beside_their_nics(void **state)
{
    struct model_group world = {.name = "world"};
    struct model_ring ring =
        make(*state, "2x8 gpu:h100 nvswitch nic:8x400Gbit/s", &world);

    assert_int_equal(ring.variants, 16);
    for (int variant = 0; variant < ring.variants; variant++) {
        assert_int_equal(model_ring_nic(&ring, variant), variant % 8);
        assert_int_equal(model_ring_entry(&ring, 3, variant), variant % 8);
        assert_int_equal(model_ring_entry(&ring, 8, variant), 8 + variant % 8);
    }
}

static void members_have_ranks(void **state)
{
    static const int chosen[] = {3, 5, 8};
    struct model_group listed = {.name = "g", .ranks = chosen, .count = 3};
    struct model_group world = {.name = "world", .count = 16};

    (void)state;
    assert_int_equal(model_group_rank(&listed, 2), 8);
    assert_int_equal(model_group_rank(&world, 2), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_node_of_8),
        cmocka_unit_test(one_node_with_nics),
        cmocka_unit_test(two_nodes_with_two_nics),
        cmocka_unit_test(each_variant_has_its_mirror),
        cmocka_unit_test(channels_spread_evenly),
        cmocka_unit_test(nics_get_alike),
        cmocka_unit_test(many_shapes_are_cycles),
        cmocka_unit_test(chosen_ranks_are_cycles),
        cmocka_unit_test(rings_enter_beside_their_nics),
        cmocka_unit_test(members_have_ranks),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
