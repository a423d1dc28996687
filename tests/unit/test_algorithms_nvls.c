/*
 * test_algorithms_nvls.c - collectives in the NVSwitch: links, memory, pace,
 * chunks, and the trees that join nodes.
 */
#include "tests/unit/algorithms.h"

/* NVLS has NVLink's whole rate, unless a test says otherwise. */
static const char *const whole_link[] = {"gpu.channel.nvls.link=1"};

static struct algorithm_case nvls_on(struct model_arena *arena,
                                     const char *notation,
                                     enum model_collective_kind kind,
                                     int channels)
{
    return (struct algorithm_case){
        .topology = fixture_topology(arena, notation, whole_link, 1),
        .kind = kind,
        .size_bytes = 16e9,
        .config = config_of(MODEL_NVLS, MODEL_SIMPLE, channels, 640, 2097152)};
}

/*
 * 8 GPUs, 16 channels of 1 GB each, progress in payload. An AllReduce sends all
 * of it to the switch and multicasts its eighth: 16 (1 + 1/8) = 18 out; gets
 * its eighth reduced and all of the result: 18 in. 6 HBM bytes: copy in 2, the
 * switch reads 1 and writes 1, copy out 2. A ReduceScatter sends all, gets an
 * eighth and writes it: 2 + 1 + 1/8. An AllGather the reverse. Folded the same.
 * A loop moves 128 KiB of each of 8 heads on 16 channels: 16 MiB in L2.
 */
static void bytes_by_hand(void **state)
{
    static const struct {
        enum model_collective_kind kind;
        double out, in, hbm_ratio;
    } rows[] = {{MODEL_ALL_REDUCE, 18, 18, 6},
                {MODEL_REDUCE_SCATTER, 16, 2, 3.125},
                {MODEL_ALL_GATHER, 2, 16, 3.125}};

    for (int i = 0; i < 2 * FIXTURE_COUNT(rows); i++) {
        struct algorithm_case it =
            nvls_on(*state, "1x8 gpu:h100 nvswitch", rows[i / 2].kind, 16);
        struct model_collective cost;

        it.folded = i % 2 == 1;
        cost = cost_of(*state, &it);
        assert_null(cost.fault);
        assert_near_ratio(cost.channel_bytes, 1e9, 1e-12);
        assert_int_equal(cost.sms, 16);
        assert_near_ratio(cost.hbm_ratio, rows[i / 2].hbm_ratio, 1e-12);
        assert_near_ratio(cost.footprint_bytes, 16.0 * 1048576, 1e-12);
        assert_int_equal(cost.use_count, 16);
        for (int gpu = 0; gpu < 8; gpu++) {
            assert_near(flows_on(&it, &cost,
                                 model_arena_format(
                                     *state, "node0.gpu%d.nvlink.out", gpu)),
                        rows[i / 2].out, 1e-9);
            assert_near(flows_on(&it, &cost,
                                 model_arena_format(
                                     *state, "node0.gpu%d.nvlink.in", gpu)),
                        rows[i / 2].in, 1e-9);
        }
    }
}

/*
 * Two groups of 4 on a node: each GPU is head of a quarter, 8 (1 + 1/4) = 10.
 * Folded both, on one of two nodes; one alone its own GPUs, on its own node.
 */
static void groups_of_a_node(void **state)
{
    static const int upper[] = {12, 13, 14, 15};
    static const struct link_flows both[] = {{"node0.gpu0.nvlink.out", 10},
                                             {"node0.gpu3.nvlink.in", 10},
                                             {"node0.gpu4.nvlink.out", 10},
                                             {"node0.gpu7.nvlink.in", 10}};
    static const struct link_flows one[] = {{"node0.gpu4.nvlink.out", 0},
                                            {"node1.gpu3.nvlink.out", 0},
                                            {"node1.gpu4.nvlink.out", 10},
                                            {"node1.gpu7.nvlink.in", 10}};
    struct algorithm_case it = nvls_on(
        *state, "2x8 gpu:h100 nvswitch nic:8x400Gbit/s", MODEL_ALL_REDUCE, 8);
    struct model_collective cost;

    it.folded = true;
    it.group = (struct model_group){.name = "g", .count = 4, .family = true};
    cost = cost_of(*state, &it);
    CHECK_FLOWS(&it, &cost, both);
    assert_near(cost.hbm_ratio, 6, 1e-12);
    it.folded = false;
    it.group = (struct model_group){.name = "g", .ranks = upper, .count = 4};
    cost = cost_of(*state, &it);
    CHECK_FLOWS(&it, &cost, one);
    assert_int_equal(cost.use_count, 8);
}

/* Where NVLS reaches 4/5 of NVLink's rate, its flows weigh 5/4. */
static void a_share_of_nvlink(void **state)
{
    static const char *const sets[] = {"gpu.channel.nvls.link=0.8"};
    struct algorithm_case it =
        nvls_on(*state, "1x8 gpu:h100 nvswitch", MODEL_ALL_REDUCE, 16);
    struct model_collective cost;

    it.topology = fixture_topology(*state, "1x8 gpu:h100 nvswitch", sets, 1);
    cost = cost_of(*state, &it);
    assert_near(flows_on(&it, &cost, "node0.gpu0.nvlink.out"), 22.5, 1e-9);
    assert_near_ratio(cost.hbm_ratio, 6, 1e-12);
}

/*
 * 4 GPUs, 1000 bytes a warp, 128 threads: f = b = 4000, R = 1; a load and a
 * store take half of what a send and a recv do, here 1/2. A loop moves 4 chunks
 * of 1000 bytes in, out, and a fourth of them to and from the switch: 9000,
 * 4500 / 4000 + 4500 / 4000 = 2.25, and 0.25 + 0.5 of synchronisation. The two
 * other roles have to see a first loop, while 8000 bytes are moved. With chunks
 * of 4000: 4.5 + 4.5 + 0.75. An AllGather has one copy less: 20,000 bytes, 2.5
 * + 2.5 + 0.75, and one role that waits.
 */
static void pace_by_hand(void **state)
{
    static const char *const sets[] = {"gpu.channel.warp_in_flight=1 kB",
                                       "gpu.channel.issue_rate=4 GB/s",
                                       "gpu.channel.rate=1 TB/s",
                                       "gpu.channel.sync=0.25 us",
                                       "gpu.channel.nvls.start=0 us",
                                       "gpu.channel.start=0 us",
                                       "gpu.channel.reduce=1",
                                       "gpu.channel.exchange=1",
                                       "gpu.hbm.latency=1 us",
                                       "node.nvlink.latency=0.5 us"};
    struct algorithm_case it = {
        .topology = fixture_topology(*state, "1x4 gpu:h100 nvswitch", sets,
                                     FIXTURE_COUNT(sets)),
        .kind = MODEL_ALL_REDUCE,
        .size_bytes = 1e6,
        .config = config_of(MODEL_NVLS, MODEL_SIMPLE, 2, 128, 1000)};
    struct model_collective cost = cost_of(*state, &it);

    assert_near_ratio(cost.channel_bytes_per_us, 4000 / 3.0, 1e-12);
    assert_near_ratio(cost.fill_us, 2 * 3.0, 1e-12);
    assert_near_ratio(cost.fill_bytes, 8000, 1e-12);
    it.config.chunk_bytes = 4000;
    cost = cost_of(*state, &it);
    assert_near_ratio(cost.channel_bytes_per_us, 16000 / 9.75, 1e-12);
    it.kind = MODEL_ALL_GATHER;
    cost = cost_of(*state, &it);
    assert_near_ratio(cost.channel_bytes_per_us, 16000 / 5.75, 1e-12);
    assert_near_ratio(cost.fill_us, 5.75, 1e-12);
    assert_near_ratio(cost.fill_bytes, 16000, 1e-12);
}

/*
 * 8 heads, 16 channels: 128 chunks under way. NVLS: 128 KiB from 64 x 128 x 128
 * KiB = 1 GiB, below 64 KiB; below 8 x 128 x 64 KiB = 64 MiB 32 KiB; below 2 x
 * 128 x 32 KiB = 8 MiB 16 KiB. Less that is set is kept, what there is not
 * exceeded: of 1 MiB a channel has 64 KiB, a head 8 KiB.
 *
 * Joined: from 2 GiB 512 KiB; 512 MiB = 16 x 128 x 256 KiB still 256 KiB, less
 * 128; 64 MiB = 4 x 128 x 128 KiB still 128 KiB, less 64; below 8 MiB 32 KiB.
 */
static void chunks_by_size(void **state)
{
    static const struct {
        enum model_algorithm algorithm;
        double size_mib, set_bytes, chunk_kib;
    } rows[] = {
        {MODEL_NVLS, 1024, 2097152, 128},
        {MODEL_NVLS, 1023, 2097152, 64},
        {MODEL_NVLS, 64, 2097152, 64},
        {MODEL_NVLS, 63, 2097152, 32},
        {MODEL_NVLS, 8, 2097152, 32},
        {MODEL_NVLS, 7, 2097152, 16},
        {MODEL_NVLS, 64, 131072, 64},
        {MODEL_NVLS, 63, 98304, 96},
        {MODEL_NVLS, 64, 4096, 4},
        {MODEL_NVLS, 1, 2097152, 8},
        {MODEL_NVLS_TREE, 2048, 2097152, 512},
        {MODEL_NVLS_TREE, 2047, 2097152, 256},
        {MODEL_NVLS_TREE, 512, 2097152, 256},
        {MODEL_NVLS_TREE, 511, 2097152, 128},
        {MODEL_NVLS_TREE, 64, 2097152, 128},
        {MODEL_NVLS_TREE, 63, 2097152, 64},
        {MODEL_NVLS_TREE, 7, 2097152, 32},
    };

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct algorithm_case it =
            nvls_on(*state,
                    rows[i].algorithm == MODEL_NVLS
                        ? "1x8 gpu:h100 nvswitch"
                        : "2x8 gpu:h100 nvswitch nic:8x400Gbit/s",
                    MODEL_ALL_REDUCE, 16);

        it.size_bytes = rows[i].size_mib * 1048576;
        it.config.algorithm = (int)rows[i].algorithm;
        it.config.chunk_bytes = rows[i].set_bytes;
        assert_near_ratio(cost_of(*state, &it).chunk_bytes,
                          rows[i].chunk_kib * 1024, 1e-12);
    }
}

/*
 * Two nodes of 4, a NIC beside each GPU, 8 channels. On the switch 8 (1 + 1/4).
 * A head passes its quarter on: each GPU 8 / 4 up and down the one edge that
 * both trees have. HBM: 6, and of a quarter, a FIFO written and read on either
 * side, by the NIC too: 4 / 4. Four nodes, folded: 4 edges by halves: 4 out,
 * HBM 6 + 2 x 4 / 4.
 */
static void trees_join_nodes(void **state)
{
    static const struct link_flows two[] = {
        {"node0.gpu0.nvlink.out", 10}, {"node0.gpu3.nvlink.in", 10},
        {"node0.nic0.out", 2},         {"node0.nic0.in", 2},
        {"node0.nic3.out", 2},         {"node0.gpu3.pcie.up", 2},
        {"node0.gpu3.pcie.down", 2}};
    static const struct link_flows four[] = {{"node0.gpu0.nvlink.out", 10},
                                             {"node0.nic0.out", 4},
                                             {"node0.nic3.in", 4},
                                             {"node0.gpu3.pcie.up", 4}};
    struct algorithm_case it = nvls_on(
        *state, "2x4 gpu:h100 nvswitch nic:4x400Gbit/s", MODEL_ALL_REDUCE, 8);

    it.config.algorithm = MODEL_NVLS_TREE;
    for (int folded = 0; folded < 2; folded++) {
        struct model_collective cost;

        it.folded = folded == 1;
        cost = cost_of(*state, &it);
        assert_null(cost.fault);
        CHECK_FLOWS(&it, &cost, two);
        assert_near_ratio(cost.hbm_ratio, 7, 1e-12);
    }
    it.topology = fixture_topology(
        *state, "4x4 gpu:h100 nvswitch nic:4x400Gbit/s", whole_link, 1);
    {
        struct model_collective cost = cost_of(*state, &it);

        CHECK_FLOWS(&it, &cost, four);
        assert_near_ratio(cost.hbm_ratio, 8, 1e-12);
    }
}

/*
 * A slow network between nodes of 4: a connection carries 100 bytes/us, a chunk
 * of 8000 takes 80 us and the CTA's 0.25, and brings 4 heads 32,000 bytes
 * further. It is full when a chunk has gone up and down one edge, 80.25 + 3 +
 * 10 + 8000 / 1000 of the NIC each, and, as on one node, through the other
 * roles, three with the way down: two copies and two fourths of 32,000, half of
 * 80,000, f = 8000: 10 + 5 us and 0.25 + 0.5. In the latter 3 times 32,000
 * bytes of progress are moved.
 */
static void network_pace_by_hand(void **state)
{
    static const char *const sets[] = {
        "gpu.channel.warp_in_flight=1 kB",
        "gpu.channel.issue_rate=4 GB/s",
        "gpu.channel.rate=1 TB/s",
        "gpu.channel.sync=0.25 us",
        "gpu.channel.nvls.start=0 us",
        "gpu.channel.start=0 us",
        "gpu.channel.reduce=1",
        "gpu.channel.exchange=1",
        "gpu.hbm.latency=1 us",
        "node.nvlink.latency=0.5 us",
        "node.nics.achieved=1",
        "node.nics.latency=3 us",
        "node.nics.sync=10 us",
        "node.nics.channel_rate=100 MB/s",
    };
    struct algorithm_case it = {
        .topology =
            fixture_topology(*state, "2x4 gpu:h100 nvswitch nic:4x8Gbit/s",
                             sets, FIXTURE_COUNT(sets)),
        .kind = MODEL_ALL_REDUCE,
        .size_bytes = 1e6,
        .config = config_of(MODEL_NVLS_TREE, MODEL_SIMPLE, 1, 256, 8000)};
    struct model_collective cost = cost_of(*state, &it);
    double loop_us = 10 + 5 + 0.75;

    assert_near_ratio(cost.channel_bytes_per_us, 32000 / 80.25, 1e-12);
    assert_near_ratio(cost.fill_us, 2 * (80.25 + 3 + 10 + 8) + 3 * loop_us,
                      1e-12);
    assert_near_ratio(cost.fill_bytes, 3 * 32000, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_by_hand),
        cmocka_unit_test(groups_of_a_node),
        cmocka_unit_test(a_share_of_nvlink),
        cmocka_unit_test(pace_by_hand),
        cmocka_unit_test(chunks_by_size),
        cmocka_unit_test(trees_join_nodes),
        cmocka_unit_test(network_pace_by_hand),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
