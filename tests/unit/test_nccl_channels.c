/*
 * test_nccl_channels.c - from graphs to channels: limits that are set, send and
 * receive, groups of any shape.
 */
#include "tests/unit/nccl_machines.h"

/* -- limits -- */

static const struct machine h100 = {.version = "2.18",
                                    .topology = "dgx-h100-1node"};

static void limits_of_channels(void **state)
{
    static const struct {
        int min_channels, max_channels, min_ctas, max_ctas, expected;
    } cases[] = {{-1, -1, -1, -1, 24},
                 {-1, 10, -1, -1, 10},
                 {-1, -1, -1, 8, 8},
                 {-1, 10, -1, 8, 8},
                 {28, -1, -1, -1, 28},
                 {-1, -1, 30, -1, 30},
                 {100, -1, -1, -1, 32},
                 {-1, 0, -1, -1, 1},
                 /* First the limit from above, then up to that from below. */
                 {16, 4, -1, -1, 16},
                 /* Fewer CTAs at most than at least: as many as at most. */
                 {-1, -1, 20, 12, 12}};

    for (int i = 0; i < FIXTURE_COUNT(cases); i++) {
        struct model_nccl_settings settings = model_nccl_settings_none();
        struct model_nccl_comm comm;

        settings.min_channels = cases[i].min_channels;
        settings.max_channels = cases[i].max_channels;
        settings.min_ctas = cases[i].min_ctas;
        settings.max_ctas = cases[i].max_ctas;
        comm = make(*state, &h100, NULL, &settings);
        if (comm.channels != cases[i].expected) {
            fail_msg("case %d: %d channels", i, comm.channels);
        }
    }
}

/* NVLS has a number of its own, and the limits of CTAs only. */
static void limits_of_nvls(void **state)
{
    struct model_nccl_settings settings = model_nccl_settings_none();

    settings.max_channels = 4;
    assert_int_equal(make(*state, &h100, NULL, &settings).nvls_channels, 16);
    settings.nvls_channels = 10;
    assert_int_equal(make(*state, &h100, NULL, &settings).nvls_channels, 10);
    settings.max_ctas = 6;
    assert_int_equal(make(*state, &h100, NULL, &settings).nvls_channels, 6);
    settings.max_ctas = MODEL_UNSET;
    settings.min_ctas = 20;
    assert_int_equal(make(*state, &h100, NULL, &settings).nvls_channels, 20);
    settings.nvls_enable = 0;
    assert_int_equal(make(*state, &h100, NULL, &settings).nvls_channels, 0);
}

/*
 * One node of 8 H100: 18 links to each peer, so 36 channels a peer, but 24 at
 * most; both to the next power of two. NCCL_MAX_NCHANNELS=10 leaves send and
 * receive 16 (github.com/NVIDIA/nccl issue 1598).
 */
static void channels_of_send_and_receive(void **state)
{
    struct model_nccl_settings settings = model_nccl_settings_none();
    struct model_nccl_comm comm = make(*state, &h100, NULL, &settings);

    assert_int_equal(comm.p2p_channels, 32);
    assert_int_equal(comm.p2p_channels_per_peer, 32);
    settings.max_channels = 10;
    comm = make(*state, &h100, NULL, &settings);
    assert_int_equal(comm.channels, 10);
    assert_int_equal(comm.p2p_channels, 16);
    assert_int_equal(comm.p2p_channels_per_peer, 16);
    settings.max_p2p_channels = 4;
    comm = make(*state, &h100, NULL, &settings);
    assert_int_equal(comm.p2p_channels, 4);
    settings.min_p2p_channels = 5;
    comm = make(*state, &h100, NULL, &settings);
    assert_int_equal(comm.p2p_channels, 8);
}

/*
 * Across nodes 2 a peer, or as many as are set. From 2.30 on as many as it
 * takes channels of 14 GB/s for a NIC of 48: 4, for as long as the 32 peers of
 * 4 nodes, 8 at once, find room in 16 channels: 4 batches of 4.
 */
static void channels_of_a_net_peer(void **state)
{
    struct machine old = {.version = "2.18", .topology = "dgx-h100"};
    struct machine new = {.version = "2.30", .topology = "dgx-h100"};
    struct model_nccl_settings settings = model_nccl_settings_none();

    assert_int_equal(make(*state, &old, NULL, &settings).p2p_channels_per_peer,
                     2);
    assert_int_equal(make(*state, &new, NULL, &settings).p2p_channels_per_peer,
                     4);
    new.sets[0] = "nodes=8";
    assert_int_equal(make(*state, &new, NULL, &settings).p2p_channels_per_peer,
                     2);
    settings.channels_per_net_peer = 8;
    assert_int_equal(make(*state, &old, NULL, &settings).p2p_channels_per_peer,
                     8);
    assert_int_equal(make(*state, &new, NULL, &settings).p2p_channels_per_peer,
                     8);
}

/* -- groups -- */

/*
 * One GPU of each node and its NIC: a ring of 48 GB/s, made two of 24 by the
 * search, four channels. Trees are plain.
 */
static void one_rank_a_node(void **state)
{
    struct machine machine = {.version = "2.18", .topology = "dgx-h100"};
    struct model_group group = {.name = "rails", .count = 4, .stride = 8};
    struct model_nccl_settings settings = model_nccl_settings_none();
    struct model_nccl_comm comm = make(*state, &machine, &group, &settings);

    assert_int_equal(comm.node_count, 4);
    assert_int_equal(comm.ranks_per_node, 1);
    assert_int_equal(comm.graphs[MODEL_NCCL_GRAPH_RING].channels, 2);
    assert_near(comm.graphs[MODEL_NCCL_GRAPH_RING].intra_bytes_per_us, 24 * GB,
                1e-12);
    assert_int_equal(comm.graphs[MODEL_NCCL_GRAPH_TREE].pattern,
                     MODEL_NCCL_PLAIN_TREE);
    assert_int_equal(comm.channels, 4);
    assert_int_equal(comm.nvls_channels, 0);
    assert_true(comm.all_nvlink);
}

static void one_rank(void **state)
{
    struct model_group group = {.name = "alone", .count = 1, .first = 3};
    struct model_nccl_settings settings = model_nccl_settings_none();
    struct model_nccl_comm comm = make(*state, &h100, &group, &settings);

    assert_int_equal(comm.node_count, 1);
    assert_int_equal(comm.ranks_per_node, 1);
    assert_true(comm.channels >= 1);
    assert_int_equal(comm.graphs[MODEL_NCCL_GRAPH_RING].order[0], 3);
    assert_int_equal(comm.p2p_type, MODEL_NCCL_PATH_LOC);
}

/*
 * Part of a node: two GPUs of a pair have NVLink alone, 4 links of 12 GB/s,
 * both ways round. Rings of 40 GB/s, made two of 20: 4 channels. Nodes that
 * hold different parts take what the poorest has, here one GPU.
 */
static void parts_of_nodes(void **state)
{
    static const int ranks[] = {0, 9, 10};
    struct machine machine = {.version = "2.18", .topology = "lagom-a"};
    struct model_group pair = {.name = "pair", .count = 2, .first = 2};
    struct model_group uneven = {.name = "uneven", .ranks = ranks, .count = 3};
    struct model_nccl_settings settings = model_nccl_settings_none();
    struct model_nccl_comm comm = make(*state, &machine, &pair, &settings);

    assert_int_equal(comm.node_count, 1);
    assert_true(comm.all_nvlink);
    assert_int_equal(comm.graphs[MODEL_NCCL_GRAPH_RING].channels, 2);
    assert_near(comm.graphs[MODEL_NCCL_GRAPH_RING].intra_bytes_per_us, 20 * GB,
                1e-12);
    assert_int_equal(comm.channels, 4);
    assert_int_equal(comm.graphs[MODEL_NCCL_GRAPH_RING].order[0], 2);

    comm = make(*state, &machine, &uneven, &settings);
    assert_int_equal(comm.node_count, 2);
    assert_int_equal(comm.ranks_per_node, 2);
    assert_int_equal(comm.least_ranks_per_node, 1);
    assert_true(comm.channels >= 2);
    /* GPUs 1 and 2 of the second node, which has more. */
    assert_int_equal(comm.graphs[MODEL_NCCL_GRAPH_RING].order[0] +
                         comm.graphs[MODEL_NCCL_GRAPH_RING].order[1],
                     3);
}

/* NCCL 2.18 holds 256 GPUs a node at most, 2.30 holds 576. */
static void too_many_gpus(void **state)
{
    struct machine machine = {.version = "2.18",
                              .topology = "1x300 gpu:h100 nvswitch"};
    struct model_nccl_settings settings = model_nccl_settings_none();
    struct model_nccl_comm comm = make(*state, &machine, NULL, &settings);

    assert_int_equal(comm.channels, 2);
    assert_int_equal(comm.graphs[MODEL_NCCL_GRAPH_RING].order[299], 299);
    machine.version = "2.30";
    comm = make(*state, &machine, NULL, &settings);
    assert_int_equal(comm.channels, 24);
}

/* Two H100 have no use for NVLS. */
static void nvls_needs_three(void **state)
{
    struct model_group two = {.name = "two", .count = 2};
    struct model_group three = {.name = "three", .count = 3};
    struct model_nccl_settings settings = model_nccl_settings_none();

    assert_int_equal(make(*state, &h100, &two, &settings).nvls_channels, 0);
    assert_int_equal(make(*state, &h100, &three, &settings).nvls_channels, 16);
}

/* -- levels -- */

/*
 * NCCL_P2P_LEVEL=LOC sends all by the CPUs: 8 H100 have a ring over PCIe 5.0,
 * 48 GB/s, of which P2P between PHBs of Intel takes 1.2 times, and over 10 GB/s
 * between sockets.
 */
static void levels_bend_paths(void **state)
{
    struct model_nccl_settings settings = model_nccl_settings_none();
    struct model_nccl_comm comm;

    settings.p2p_disable = 1;
    comm = make(*state, &h100, NULL, &settings);
    assert_int_equal(comm.p2p_type, MODEL_NCCL_PATH_SYS);
    assert_false(comm.all_nvlink);
    assert_int_equal(comm.graphs[MODEL_NCCL_GRAPH_RING].intra_type,
                     MODEL_NCCL_PATH_SYS);
    settings.p2p_disable = 0;
    settings.p2p_level = MODEL_PATH_NVL;
    comm = make(*state, &h100, NULL, &settings);
    assert_int_equal(comm.p2p_type, MODEL_NCCL_PATH_NVL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_of_channels),
        cmocka_unit_test(limits_of_nvls),
        cmocka_unit_test(channels_of_send_and_receive),
        cmocka_unit_test(channels_of_a_net_peer),
        cmocka_unit_test(one_rank_a_node),
        cmocka_unit_test(one_rank),
        cmocka_unit_test(parts_of_nodes),
        cmocka_unit_test(nvls_needs_three),
        cmocka_unit_test(too_many_gpus),
        cmocka_unit_test(levels_bend_paths),
    };

    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
