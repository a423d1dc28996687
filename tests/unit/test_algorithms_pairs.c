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

/*
 * A cluster of 100,000 nodes of 8 below leaves of 16: each GPU sends one flow
 * to each of the 8 x 99984 GPUs off its leaf, the 8 of a node so many over
 * its share of the uplink, and 99999 x 8 over its NIC. Of 5 nodes below leaves
 * of 2 the last is alone below its own, which counts as the busiest: 2 GPUs
 * send to the 2 of each of 4 nodes.
 */
static void an_all_to_all_of_many_leaves(void **state)
{
    static const struct link_flows many[] = {{"leaf0.up", 8.0 * 8 * 99984},
                                             {"leaf0.down", 8.0 * 8 * 99984},
                                             {"node0.nic3.out", 99999 * 8}};
    static const struct link_flows few[] = {{"leaf0.up", 16},
                                            {"node0.nic0.out", 8}};
    struct algorithm_case it = {
        .topology = fixture_topology(
            *state,
            "100000x8 gpu:h100 nvswitch nic:8x400Gbit/s net:tree:16/leaf:1",
            NULL, 0),
        .folded = true,
        .kind = MODEL_ALL_TO_ALL,
        .size_bytes = 1e9,
        .config = config_of(MODEL_PAIRWISE, MODEL_SIMPLE, 799999, 512, 65536)};
    struct model_collective cost = cost_of(*state, &it);

    CHECK_FLOWS(&it, &cost, many);
    it.topology = fixture_topology(
        *state, "5x2 gpu:h100 nvswitch nic:2x100Gbit/s net:tree:2/leaf:1", NULL,
        0);
    it.config.channels = 9;
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

/*
 * 8 GPUs, 80 MB, 7 channels: an all_to_all sends 10 MB to each of 7 peers, 10
 * MB a channel in all; a send_recv and a send all of it. HBM over NVLink: what
 * is sent is read, what is received written, each through a FIFO, 4; an
 * all_to_all also copies its own eighth, 2 in 7. Of a send that is the mean of
 * two ranks.
 */
static void bytes_by_hand(void **state)
{
    static const struct {
        enum model_collective_kind kind;
        int ranks;
        double channel_bytes, chunk_bytes, hbm_ratio, bus_factor;
    } rows[] = {
        {MODEL_ALL_TO_ALL, 8, 10e6, 10e6 / 7, 4 + 2 / 7.0, 7 / 8.0},
        {MODEL_SEND_RECV, 8, 80e6 / 7, 524288, 4, 1},
        {MODEL_SEND, 2, 80e6 / 7, 524288, 2, 1},
    };

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct algorithm_case it = {
            .topology =
                fixture_topology(*state, "1x8 gpu:h100 nvswitch", NULL, 0),
            .kind = rows[i].kind,
            .size_bytes = 80e6,
            .group = {.name = "g", .count = rows[i].ranks},
            .config = config_of(MODEL_PAIRWISE, MODEL_SIMPLE, 7, 512, 2097152)};
        struct model_collective cost = cost_of(*state, &it);

        assert_near_ratio(cost.channel_bytes, rows[i].channel_bytes, 1e-12);
        assert_near_ratio(cost.hbm_ratio, rows[i].hbm_ratio, 1e-12);
        assert_near_ratio(cost.bus_factor, rows[i].bus_factor, 1e-12);
        assert_near_ratio(cost.chunk_bytes, fmin(rows[i].chunk_bytes, 524288),
                          1e-12);
    }
}

/*
 * To the next of 4, 5 channels: all NVLinks alike, out and in. To the next but
 * one over PCIe, 2 GPUs a switch: up through both switches.
 */
static void links_of_a_send_recv(void **state)
{
    static const struct link_flows near[] = {{"node0.gpu0.nvlink.out", 5},
                                             {"node0.gpu3.nvlink.out", 5},
                                             {"node0.gpu0.nvlink.in", 5}};
    static const struct link_flows far[] = {{"node0.gpu0.pcie.up", 5},
                                            {"node0.gpu0.pcie.down", 5},
                                            {"node0.gpu2.port.p2p", 10},
                                            {"node0.switch0.up", 10},
                                            {"node0.switch1.down", 10}};
    struct algorithm_case it = {
        .topology = fixture_topology(*state, "1x4 gpu:a100 nvswitch", NULL, 0),
        .kind = MODEL_SEND_RECV,
        .size_bytes = 1e9,
        .config = config_of(MODEL_PAIRWISE, MODEL_SIMPLE, 5, 512, 65536)};
    struct model_collective cost = cost_of(*state, &it); /* shift 0 is 1 */

    CHECK_FLOWS(&it, &cost, near);
    assert_near(all_flows(&cost), 4 * 2 * 5, 0);
    it.topology =
        fixture_topology(*state, "1x4 gpu:a100 pcie:4:2/switch", NULL, 0);
    it.shift = 2;
    cost = cost_of(*state, &it);
    CHECK_FLOWS(&it, &cost, far);
    /* backwards is the same where it is half of a turn */
    it.shift = -2;
    cost = cost_of(*state, &it);
    CHECK_FLOWS(&it, &cost, far);
}

/* A send goes from the lower rank to the higher with shift 1, else back. */
static void a_send_has_a_direction(void **state)
{
    static const char *const no_pxn[] = {"node.nics.pxn=false"};
    static const int ranks[] = {0, 9};
    static const struct link_flows there[] = {
        {"node0.gpu0.pcie.up", 4}, {"node0.nic0.out", 4},
        {"node1.nic1.in", 4},      {"node1.gpu1.pcie.down", 4},
        {"node1.nic1.out", 0},     {"node0.gpu0.pcie.down", 0}};
    static const struct link_flows back[] = {
        {"node1.gpu1.pcie.up", 4}, {"node1.nic1.out", 4},
        {"node0.nic0.in", 4},      {"node0.gpu0.pcie.down", 4},
        {"node0.nic0.out", 0},     {"node1.gpu1.pcie.down", 0}};
    struct algorithm_case it = {
        .topology = fixture_topology(
            *state, "2x8 gpu:h100 nvswitch nic:8x400Gbit/s", no_pxn, 1),
        .kind = MODEL_SEND,
        .size_bytes = 1e9,
        .shift = 1,
        .group = {.name = "0 to 9", .ranks = ranks, .count = 2},
        .config = config_of(MODEL_PAIRWISE, MODEL_SIMPLE, 4, 512, 65536)};
    struct model_collective cost = cost_of(*state, &it);

    CHECK_FLOWS(&it, &cost, there);
    assert_int_equal(cost.use_count, 4);
    it.shift = -1;
    cost = cost_of(*state, &it);
    CHECK_FLOWS(&it, &cost, back);
    assert_int_equal(cost.use_count, 4);
}

/*
 * LL doubles the flows of an all_to_all, LL128 makes 128 of 120. Chunks are one
 * slot. Over PCIe LL128 cannot run.
 */
static void protocols_of_an_all_to_all(void **state)
{
    static const char *const sets[] = {"gpu.channel.ll128.link=1"};
    static const double flows[] = {7, 14, 7 * 16 / 15.0};
    static const double chunks[] = {524288, 32768, 576000};
    struct algorithm_case it = {
        .topology = fixture_topology(*state, "1x8 gpu:h100 nvswitch", sets, 1),
        .kind = MODEL_ALL_TO_ALL,
        .size_bytes = 1e9,
        .config = config_of(MODEL_PAIRWISE, MODEL_SIMPLE, 7, 512, 2097152)};

    for (int protocol = 0; protocol < MODEL_PROTOCOLS; protocol++) {
        struct model_collective cost;

        it.config.protocol = protocol;
        cost = cost_of(*state, &it);
        assert_near(flows_on(&it, &cost, "node0.gpu2.nvlink.out"),
                    flows[protocol], 1e-9);
        assert_near(cost.chunk_bytes, chunks[protocol], 1e-6);
        assert_null(cost.fault);
    }
    it.topology = fixture_topology(*state, "1x8 gpu:a100", NULL, 0);
    assert_non_null(cost_of(*state, &it).fault);
}

/*
 * 2 nodes of 2, no PXN; 1000 bytes a warp, 128 threads, chunks of 8000, all
 * that a peer gets of a channel (32 kB to 4, 1 channel). A CTA has 4 pairs at
 * once, the own too, and sends with half of itself: f = b = 4000 / 8. A send
 * takes half of an exchange, here 1/2: 4000 bytes.
 *
 *     NVLink    R 2    8 + 16 + 0.25     24.25; a hop 24.75
 *     network   R 1    8 + 8 + 0.25      16.25; 16 + 13.25 + 8 = 37.25
 *
 * Of 3 peers one is near: the mean of a chunk is 56.75 / 3, of a hop 99.25 / 3.
 */
static void pace_by_hand(void **state)
{
    static const char *const sets[] = {
        "gpu.channel.warp_in_flight=1 kB", "gpu.channel.issue_rate=4 GB/s",
        "gpu.channel.rate=1 TB/s",         "gpu.channel.sync=0.25 us",
        "gpu.channel.start=0 us",          "gpu.channel.reduce=1",
        "gpu.channel.exchange=1",          "gpu.hbm.latency=1 us",
        "node.nvlink.latency=0.5 us",      "node.nics.achieved=1",
        "node.nics.latency=3 us",          "node.nics.sync=10 us",
        "node.nics.channel_rate=1 TB/s",   "node.nics.pxn=false"};
    static const int ends[] = {0, 1};
    struct algorithm_case it = {
        .topology =
            fixture_topology(*state, "2x2 gpu:a100 nvswitch nic:2x8Gbit/s",
                             sets, FIXTURE_COUNT(sets)),
        .kind = MODEL_ALL_TO_ALL,
        .size_bytes = 32e3,
        .config = config_of(MODEL_PAIRWISE, MODEL_SIMPLE, 1, 128, 2097152)};

    for (int folded = 0; folded < 2; folded++) {
        struct model_collective cost;

        it.folded = folded == 1;
        cost = cost_of(*state, &it);
        assert_near_ratio(cost.chunk_bytes, 8000, 1e-12);
        assert_near_ratio(cost.channel_bytes_per_us, 24000 / (56.75 / 3),
                          1e-12);
        assert_near_ratio(cost.fill_us, (99.25 - 56.75) / 3, 1e-12);
    }
    /* half of the CTA: 2 + 4 + 0.25, and the way of 0.5 until it is full */
    it.kind = MODEL_SEND;
    it.folded = false;
    it.shift = 1;
    it.group = (struct model_group){.name = "s", .ranks = ends, .count = 2};
    it.config.chunk_bytes = 8000;
    {
        struct model_collective cost = cost_of(*state, &it);

        assert_near_ratio(cost.channel_bytes_per_us, 8000 / 6.25, 1e-12);
        assert_near_ratio(cost.fill_us, 0.5, 1e-9);
    }
}

/*
 * Of 20 warps 16 work: 8 each way for one pair, 4 for two, 2 for four, 1 for
 * eight; three pairs are like four. A CTA of 4000 bytes/us, a send half of an
 * exchange: 8000 times the share of a direction a pair. Of n pairs n - 1 send.
 */
static void warps_that_work(void **state)
{
    static const char *const sets[] = {
        "gpu.channel.warp_in_flight=1 GB", "gpu.channel.issue_rate=4 GB/s",
        "gpu.channel.rate=1 TB/s",         "gpu.channel.sync=0 us",
        "gpu.channel.exchange=1",          "gpu.hbm.latency=0 us",
        "node.nvlink.latency=0 us"};
    static const struct {
        int ranks, warps; /* each way, of 20 */
    } rows[] = {{2, 4}, {3, 2}, {4, 2}, {8, 1}};
    struct algorithm_case it = {
        .kind = MODEL_ALL_TO_ALL,
        .size_bytes = 1e9,
        .config = config_of(MODEL_PAIRWISE, MODEL_SIMPLE, 2, 640, 524288)};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        it.topology = fixture_topology(
            *state,
            model_arena_format(*state, "1x%d gpu:a100 nvswitch", rows[i].ranks),
            sets, FIXTURE_COUNT(sets));
        assert_near_ratio(cost_of(*state, &it).channel_bytes_per_us,
                          (rows[i].ranks - 1) * 8000 * rows[i].warps / 20.0,
                          1e-12);
    }
    it.kind = MODEL_SEND_RECV;
    assert_near_ratio(cost_of(*state, &it).channel_bytes_per_us,
                      8000 * 8 / 20.0, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_end_uses_its_own_nic),
        cmocka_unit_test(nics_beside_a_gpu_share_its_channels),
        cmocka_unit_test(an_all_to_all_of_many_leaves),
        cmocka_unit_test(a_whole_turn_moves_nothing),
        cmocka_unit_test(hbm_bytes_over_the_network),
        cmocka_unit_test(bytes_by_hand),
        cmocka_unit_test(links_of_a_send_recv),
        cmocka_unit_test(a_send_has_a_direction),
        cmocka_unit_test(protocols_of_an_all_to_all),
        cmocka_unit_test(pace_by_hand),
        cmocka_unit_test(warps_that_work),
        cmocka_unit_test(copy_engines_hold_no_sm),
        cmocka_unit_test(engines_share_their_rate),
        cmocka_unit_test(engines_stay_on_their_node),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
