/*
 * test_algorithms_pairs.c - transfers between pairs: all_to_all, send_recv,
 * send, by NCCL's channels and by copy engines.
 */
#include "tests/unit/algorithms.h"

/*
 * 2 nodes of 8 on two sockets, 8 NICs, no PXN: an all_to_all of 15 channels
 * sends one channel's flow to each of 15 peers, 7 of its node and 8 of the
 * other. Each GPU uses the NIC beside it at both ends, so nothing crosses the
 * sockets, although 4 of the 8 receivers are on the other one.
 */
static void each_end_uses_its_own_nic(void **state)
{
    static const char *const sets[] = {"node.nics.pxn=false"};
    static const struct link_flows rows[] = {
        {"node0.gpu0.nvlink.out", 7}, {"node0.gpu5.nvlink.in", 7},
        {"node0.gpu0.pcie.up", 8},    {"node0.gpu5.pcie.down", 8},
        {"node0.nic0.out", 8},        {"node0.nic5.in", 8},
        {"node0.nic5.out", 8},        {"node0.socket0.cross.out", 0},
        {"node0.socket1.cross.in", 0}};
    struct algorithm_case it = {
        .topology = fixture_topology(
            *state, "2x8 gpu:h100 nvswitch sockets:2 nic:8x400Gbit/s", sets, 1),
        .kind = MODEL_ALL_TO_ALL,
        .size_bytes = 1e9,
        .config = config_of(MODEL_PAIRWISE, MODEL_SIMPLE, 15, 512, 65536)};

    for (int folded = 0; folded < 2; folded++) {
        struct model_collective cost;

        it.folded = folded == 1;
        cost = cost_of(*state, &it);
        CHECK_FLOWS(&it, &cost, rows);
    }
}

/*
 * More NICs than GPUs: GPU 1 of 2 has NICs 2 and 3 of 4, which share its 6
 * channels; fewer: GPUs 0 and 1 of 4 have NIC 0 of 2 together.
 */
static void nics_beside_a_gpu_share_its_channels(void **state)
{
    static const struct link_flows many[] = {{"node0.nic0.out", 3},
                                             {"node0.nic1.in", 3},
                                             {"node0.nic2.out", 3},
                                             {"node0.nic3.in", 3},
                                             {"node0.gpu1.pcie.up", 6}};
    static const struct link_flows few[] = {{"node0.nic0.out", 12},
                                            {"node0.nic1.in", 12},
                                            {"node0.gpu1.pcie.up", 6}};
    struct algorithm_case it = {
        .topology = fixture_topology(
            *state, "2x2 gpu:h100 nvswitch nic:4x100Gbit/s", NULL, 0),
        .folded = true,
        .kind = MODEL_SEND_RECV,
        .size_bytes = 1e9,
        .shift = 2,
        .config = config_of(MODEL_PAIRWISE, MODEL_SIMPLE, 6, 512, 65536)};
    struct model_collective cost = cost_of(*state, &it);

    CHECK_FLOWS(&it, &cost, many);
    it.topology = fixture_topology(
        *state, "2x4 gpu:h100 nvswitch nic:2x100Gbit/s", NULL, 0);
    it.shift = 4;
    cost = cost_of(*state, &it);
    CHECK_FLOWS(&it, &cost, few);
}

/* Members that would send to themselves send nothing: no rate of 0 / 0. */
static void a_whole_turn_moves_nothing(void **state)
{
    static const int turns[] = {8, -8, 16, 16777216};
    struct algorithm_case it = {
        .topology = fixture_topology(*state, "1x8 gpu:h100 nvswitch", NULL, 0),
        .kind = MODEL_SEND_RECV,
        .size_bytes = 1e9,
        .config = config_of(MODEL_PAIRWISE, MODEL_SIMPLE, 6, 512, 65536)};

    for (int i = 0; i < FIXTURE_COUNT(turns); i++) {
        struct model_collective cost;

        it.shift = turns[i];
        cost = cost_of(*state, &it);
        assert_near(cost.channel_bytes, 0, 0);
        assert_int_equal(cost.use_count, 0);
    }
}

/*
 * HBM bytes of a send_recv over the network, per byte: read here, written
 * there; the FIFO here written and read by the NIC, the one there written by
 * the NIC and read: 2 + 2 + 2. LL doubles what FIFOs hold, but its FIFO of the
 * sender is host memory: 2 + 2 x 2. LL128 carries 128 for 120: 2 + 4 x 16 / 15.
 * Without GPUDirect all FIFOs are host memory: 2.
 */
static void hbm_bytes_over_the_network(void **state)
{
    static const char *const by_host[] = {"node.nics.gpudirect=false"};
    static const struct {
        bool direct;
        enum model_protocol protocol;
        double ratio;
    } rows[] = {{true, MODEL_SIMPLE, 6},
                {true, MODEL_LL, 6},
                {true, MODEL_LL128, 2 + 4 * 16.0 / 15.0},
                {false, MODEL_SIMPLE, 2},
                {false, MODEL_LL, 2}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct algorithm_case it = {
            .topology = fixture_topology(*state, "2x1 gpu:a100 nic:1x100Gbit/s",
                                         by_host, rows[i].direct ? 0 : 1),
            .kind = MODEL_SEND_RECV,
            .size_bytes = 1e9,
            .config =
                config_of(MODEL_PAIRWISE, rows[i].protocol, 4, 512, 65536)};
        struct model_collective cost = cost_of(*state, &it);

        assert_near_ratio(cost.hbm_ratio, rows[i].ratio, 1e-12);
        assert_null(cost.fault);
    }
}

/*
 * Copy engines: n - 1 reads and n - 1 writes of a block a rank, and the copy of
 * its own: 2 n blocks for n - 1 on the wire. No FIFO, no SM, nothing in L2.
 */
static void copy_engines_hold_no_sm(void **state)
{
    static const enum model_collective_kind kinds[] = {MODEL_ALL_GATHER,
                                                       MODEL_ALL_TO_ALL};

    for (int i = 0; i < FIXTURE_COUNT(kinds); i++) {
        struct algorithm_case it = {
            .topology =
                fixture_topology(*state, "1x8 gpu:h100 nvswitch", NULL, 0),
            .kind = kinds[i],
            .size_bytes = 1e9,
            .config = config_of(MODEL_COPY_ENGINE, MODEL_SIMPLE, 7, 512, 16)};
        struct model_collective cost = cost_of(*state, &it);

        assert_int_equal(cost.sms, 0);
        assert_int_equal(cost.channels, 7);
        assert_near_ratio(cost.channel_bytes, 7 * 1e9 / 8 / 7, 1e-12);
        assert_near_ratio(cost.hbm_ratio, 16.0 / 7.0, 1e-12);
        assert_near(cost.footprint_bytes, 0, 0);
        assert_near(flows_on(&it, &cost, "node0.gpu3.nvlink.out"), 7, 1e-9);
        assert_near(flows_on(&it, &cost, "node0.gpu3.nvlink.in"), 7, 1e-9);
        assert_null(cost.fault);
    }
}

/*
 * A block of 8 MB in 2 copies side by side, 4 MB each; the engines together
 * move 400 bytes/us: 20,000 us, and 3 us to launch each copy.
 */
static void engines_share_their_rate(void **state)
{
    static const char *const sets[] = {"gpu.copy_engine.rate=400 MB/s",
                                       "gpu.copy_engine.launch=3 us"};
    struct algorithm_case it = {
        .topology = fixture_topology(*state, "1x4 gpu:h100 nvswitch", sets, 2),
        .kind = MODEL_ALL_GATHER,
        .size_bytes = 32e6,
        .config = config_of(MODEL_COPY_ENGINE, MODEL_SIMPLE, 2, 512, 16)};

    assert_near_ratio(cost_of(*state, &it).channel_bytes_per_us, 4e6 / 20003.0,
                      1e-12);
}

/* They reach their own node: not over the network, but over PCIe. */
static void engines_stay_on_their_node(void **state)
{
    struct algorithm_case it = {
        .topology =
            fixture_topology(*state, "2x4 gpu:a40 nic:1x100Gbit/s", NULL, 0),
        .folded = true,
        .kind = MODEL_ALL_TO_ALL,
        .size_bytes = 1e9,
        .config = config_of(MODEL_COPY_ENGINE, MODEL_SIMPLE, 3, 512, 16)};

    assert_non_null(cost_of(*state, &it).fault);
    it.group = (struct model_group){.name = "node", .count = 4, .family = true};
    assert_null(cost_of(*state, &it).fault);
    /* 3 peers at a channel each, in and out of the port */
    {
        struct model_collective cost = cost_of(*state, &it);

        assert_near(flows_on(&it, &cost, "node0.gpu2.pcie.up"), 3, 1e-9);
        assert_near(flows_on(&it, &cost, "node0.gpu2.port.p2p"), 6, 1e-9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_end_uses_its_own_nic),
        cmocka_unit_test(nics_beside_a_gpu_share_its_channels),
        cmocka_unit_test(a_whole_turn_moves_nothing),
        cmocka_unit_test(hbm_bytes_over_the_network),
        cmocka_unit_test(copy_engines_hold_no_sm),
        cmocka_unit_test(engines_share_their_rate),
        cmocka_unit_test(engines_stay_on_their_node),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
