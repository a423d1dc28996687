/*
 * test_algorithms_ring.c - rings of several groups at once, other protocols
 * than Simple, and the open ring of broadcast and reduce. Rings of the whole
 * machine with Simple are in test_collective.c.
 */
#include "tests/unit/algorithms.h"

static struct algorithm_case ring_on(struct model_arena *arena,
                                     const char *notation,
                                     enum model_collective_kind kind,
                                     int channels)
{
    return (struct algorithm_case){
        .topology = fixture_topology(arena, notation, NULL, 0),
        .kind = kind,
        .size_bytes = 1e9,
        .config = config_of(MODEL_RING, MODEL_SIMPLE, channels, 512, 2097152)};
}

/* -- the chain -- */

/*
 * 4 GPUs, 4 channels: half of them 0 1 2 3, half 0 3 2 1. Nothing comes into
 * the root, and nothing leaves the last. A reduce runs the other way.
 */
static void chains_are_open(void **state)
{
    static const struct {
        const char *broadcast, *reduce;
        double flows;
    } rows[] = {
        {"node0.gpu0.nvlink.out", "node0.gpu0.nvlink.in", 4},
        {"node0.gpu1.nvlink.out", "node0.gpu1.nvlink.in", 2},
        {"node0.gpu2.nvlink.out", "node0.gpu2.nvlink.in", 4},
        {"node0.gpu3.nvlink.out", "node0.gpu3.nvlink.in", 2},
        {"node0.gpu0.nvlink.in", "node0.gpu0.nvlink.out", 0},
        {"node0.gpu1.nvlink.in", "node0.gpu1.nvlink.out", 4},
        {"node0.gpu2.nvlink.in", "node0.gpu2.nvlink.out", 4},
        {"node0.gpu3.nvlink.in", "node0.gpu3.nvlink.out", 4},
    };

    for (int reduce = 0; reduce < 2; reduce++) {
        struct algorithm_case it =
            ring_on(*state, "1x4 gpu:a100 nvswitch",
                    reduce == 1 ? MODEL_REDUCE : MODEL_BROADCAST, 4);
        struct model_collective cost = cost_of(*state, &it);

        for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
            const char *name = reduce == 1 ? rows[i].reduce : rows[i].broadcast;

            assert_near(flows_on(&it, &cost, name), rows[i].flows, 0);
        }
        /* 3 hops of 4 channels, 2 links each */
        assert_near(all_flows(&cost), 24, 0);
    }
}

/*
 * Two nodes of 2, one NIC: 0 1 over to 2 3, or 0 by the other way round: 0,
 * over to 3, 2, and 1 last. 2 channels: one each. Both cross the network once,
 * of node 1 nothing comes back but the backward one.
 */
static void a_chain_over_nodes(void **state)
{
    static const struct link_flows rows[] = {
        {"node0.gpu0.nvlink.out", 1}, {"node0.gpu1.nvlink.out", 0},
        {"node1.gpu0.nvlink.out", 1}, {"node1.gpu1.nvlink.out", 1},
        {"node0.gpu1.pcie.up", 1},    {"node0.gpu0.pcie.up", 1},
        {"node1.gpu0.pcie.down", 1},  {"node1.gpu1.pcie.down", 1},
        {"node0.nic0.out", 2},        {"node1.nic0.in", 2},
        {"node1.nic0.out", 1},        {"node0.nic0.in", 1},
        {"node1.gpu0.pcie.up", 1},    {"node0.gpu1.pcie.down", 1}};
    struct algorithm_case it = ring_on(
        *state, "2x2 gpu:a100 nvswitch nic:1x100Gbit/s", MODEL_BROADCAST, 2);
    struct model_collective cost = cost_of(*state, &it);

    CHECK_FLOWS(&it, &cost, rows);
}

/*
 * M past each rank: 1 GB over 4 channels. n ranks over NVLink: a broadcast
 * reads the buffer once and writes it n - 1 times, a reduce reads n and writes
 * once; n - 1 FIFOs are written and read. All over n.
 */
static void bytes_of_a_chain(void **state)
{
    for (int n = 2; n <= 8; n++) {
        struct algorithm_case it = ring_on(
            *state, model_arena_format(*state, "1x%d gpu:a100 nvswitch", n),
            MODEL_BROADCAST, 4);
        struct model_collective cost = cost_of(*state, &it);

        assert_near_ratio(cost.channel_bytes, 250e6, 1e-12);
        assert_near(cost.bus_factor, 1, 0);
        assert_near_ratio(cost.chunk_bytes, 524288, 1e-12);
        assert_near_ratio(cost.hbm_ratio, (n + 2.0 * (n - 1)) / n, 1e-12);
        it.kind = MODEL_REDUCE;
        assert_near_ratio(cost_of(*state, &it).hbm_ratio,
                          (n + 1 + 2.0 * (n - 1)) / n, 1e-12);
    }
}

/*
 * 4 GPUs, 1000 bytes a warp, 128 threads: f = 4000, b = 4000, R = 2. Chunks of
 * 8000: 2 + 4 us. The CTA's sync 0.25 makes the pace, the way 0.5 more a hop; 3
 * hops, in which a chunk has come. LL: lines are passed on after R =
 * 1 and 0.125 + 0.5; f = 800, b = 2000: 4 + 10 us a chunk and 0.125.
 */
static void a_chain_by_hand(void **state)
{
    static const char *const sets[] = {"gpu.channel.warp_in_flight=1 kB",
                                       "gpu.channel.issue_rate=4 GB/s",
                                       "gpu.channel.rate=1 TB/s",
                                       "gpu.channel.sync=0.25 us",
                                       "gpu.channel.start=0 us",
                                       "gpu.channel.reduce=1",
                                       "gpu.channel.exchange=1",
                                       "gpu.hbm.latency=1 us",
                                       "node.nvlink.latency=0.5 us",
                                       "gpu.channel.ll.warp_in_flight=200 B",
                                       "gpu.channel.ll.sync=0.125 us",
                                       "gpu.channel.ll.start=0 us"};
    struct algorithm_case it = {
        .topology = fixture_topology(*state, "1x4 gpu:a100 nvswitch", sets,
                                     FIXTURE_COUNT(sets)),
        .kind = MODEL_BROADCAST,
        .size_bytes = 1e6,
        .config = config_of(MODEL_RING, MODEL_SIMPLE, 2, 128, 8000)};
    struct model_collective cost = cost_of(*state, &it);

    assert_near_ratio(cost.channel_bytes_per_us, 8000 / 6.25, 1e-12);
    assert_near_ratio(cost.fill_us, 3 * 6.75, 1e-12);
    assert_near_ratio(cost.first_bytes, 8000, 1e-12);
    it.config.protocol = MODEL_LL;
    cost = cost_of(*state, &it);
    assert_near_ratio(cost.channel_bytes_per_us, 8000 / 14.125, 1e-12);
    assert_near_ratio(cost.fill_us, 3 * 1.625, 1e-12);
    assert_near(cost.first_bytes, 0, 0);
}

/*
 * A kernel of 6 channels begins 6 times 0.5 us after one that sets up none;
 * copies by engines have no kernel.
 */
static void channels_are_set_up(void **state)
{
    static const char *const sets[] = {"nccl.channel_setup=0.5 us",
                                       "gpu.channel.start=3 us",
                                       "gpu.channel.nvls.start=7 us"};
    struct algorithm_case it = {
        .topology = fixture_topology(*state, "1x4 gpu:h100 nvswitch", sets, 3),
        .kind = MODEL_ALL_GATHER,
        .size_bytes = 1e6,
        .config = config_of(MODEL_RING, MODEL_SIMPLE, 6, 512, 524288)};

    assert_near(cost_of(*state, &it).start_us, 3 + 6 * 0.5, 1e-12);
    it.config.algorithm = MODEL_NVLS;
    assert_near(cost_of(*state, &it).start_us, 7 + 6 * 0.5, 1e-12);
    it.config.algorithm = MODEL_COPY_ENGINE;
    assert_near(cost_of(*state, &it).start_us, 0, 0);
}

/*
 * 4000 bytes/us and no latency. recvCopySend 1, recvReduceSend 0.8: loads 0.2,
 * stores 0.4, so recvReduceCopySend 1.2; a send and a recv 1.2. 2 ranks: 2.4 in
 * 2 steps; 4: 2.4 + 2 x 1.8 in 6; 10: 2.4 + 8 x 1.8 in 18.
 */
static void work_of_an_all_reduce(void **state)
{
    static const char *const sets[] = {"gpu.channel.warp_in_flight=1 GB",
                                       "gpu.channel.issue_rate=4 GB/s",
                                       "gpu.channel.rate=1 TB/s",
                                       "gpu.channel.sync=0 us",
                                       "gpu.channel.reduce=0.8",
                                       "gpu.channel.exchange=1.2",
                                       "gpu.hbm.latency=0 us",
                                       "node.nvlink.latency=0 us"};
    static const struct {
        int ranks;
        double ratio;
    } rows[] = {{2, 1.2}, {4, 1}, {10, 14 / 15.0}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct algorithm_case it = {
            .topology = fixture_topology(
                *state,
                model_arena_format(*state, "1x%d gpu:a100 nvswitch",
                                   rows[i].ranks),
                sets, FIXTURE_COUNT(sets)),
            .kind = MODEL_ALL_REDUCE,
            .size_bytes = 1e9,
            .config = config_of(MODEL_RING, MODEL_SIMPLE, 2, 512, 524288)};

        assert_near_ratio(cost_of(*state, &it).channel_bytes_per_us,
                          4000 / rows[i].ratio, 1e-12);
    }
}

/* -- protocols -- */

/*
 * On the wire LL takes 2 bytes for one, LL128 128 for 120; in FIFOs too. 8
 * GPUs: a step is 1 byte of the user's buffer and 2 of the FIFO, and 2 in 7
 * more. Footprint and what is in flight count them too: chunks of one slot, 4
 * channels; 16 warps of 256 and 1920 bytes. Of NVLink's rate LL128 reaches 0.8
 * here: its flows count 1/0.8 as much.
 */
static void wire_bytes(void **state)
{
    static const char *const sets[] = {"gpu.channel.ll128.link=0.8"};
    static const struct {
        enum model_protocol protocol;
        double wire, flows, chunk_bytes, in_flight_bytes;
    } rows[] = {
        {MODEL_SIMPLE, 1, 4, 2097152, 16 * 4096},
        {MODEL_LL, 2, 8, 32768, 16 * 256 * 2},
        {MODEL_LL128, 16 / 15.0, 16 / 3.0, 576000, 16 * 1920 * 16 / 15.0}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct algorithm_case it =
            ring_on(*state, "1x8 gpu:a100 nvswitch", MODEL_REDUCE_SCATTER, 4);
        struct model_collective cost;

        it.topology =
            fixture_topology(*state, "1x8 gpu:a100 nvswitch", sets, 1);
        it.config.protocol = (int)rows[i].protocol;
        cost = cost_of(*state, &it);
        assert_near_ratio(cost.channel_bytes, 7 * 1e9 / 8 / 4, 1e-12);
        assert_near_ratio(cost.chunk_bytes, rows[i].chunk_bytes, 1e-12);
        assert_near_ratio(flows_on(&it, &cost, "node0.gpu3.nvlink.out"),
                          rows[i].flows, 1e-12);
        assert_near_ratio(cost.hbm_ratio, 1 + 2 / 7.0 + 2 * rows[i].wire,
                          1e-12);
        assert_near_ratio(cost.footprint_bytes,
                          4 * rows[i].chunk_bytes * rows[i].wire, 1e-12);
        assert_near_ratio(cost.in_flight_bytes, rows[i].in_flight_bytes, 1e-12);
        assert_null(cost.fault);
    }
}

/* LL128 over NVLink pairs too, but not between them; LL anywhere. */
static void ll128_needs_nvlink(void **state)
{
    struct algorithm_case it =
        ring_on(*state, "1x8 gpu:a40 nvlink:pairs", MODEL_ALL_REDUCE, 4);

    it.config.protocol = MODEL_LL128;
    assert_non_null(cost_of(*state, &it).fault);
    it.group = (struct model_group){.name = "pair", .count = 2};
    assert_null(cost_of(*state, &it).fault);
    it.group = (struct model_group){.name = "apart", .first = 1, .count = 2};
    assert_non_null(cost_of(*state, &it).fault);
    it.config.protocol = MODEL_LL;
    assert_null(cost_of(*state, &it).fault);
}

/* -- groups -- */

/*
 * {size: 2, stride: 8} on two nodes of 8, all 8 rings of two: over the NIC of
 * each GPU, 3 channels there and 3 back; no NVLink. {size: 4}: rings within the
 * node, 3 channels on each NVLink, no NIC. {size: 16}: the world.
 */
static void families_add_up(void **state)
{
    static const struct link_flows rails[] = {
        {"node0.nic0.out", 3},         {"node0.nic7.out", 3},
        {"node0.nic7.in", 3},          {"node0.gpu7.pcie.up", 3},
        {"node0.gpu0.pcie.down", 3},   {"node0.gpu0.nvlink.out", 0},
        {"node0.socket0.cross.out", 0}};
    static const struct link_flows fours[] = {{"node0.gpu0.nvlink.out", 3},
                                              {"node0.gpu3.nvlink.in", 3},
                                              {"node0.gpu4.nvlink.out", 3},
                                              {"node0.nic0.out", 0}};
    struct algorithm_case it =
        ring_on(*state, "2x8 gpu:h100 nvswitch sockets:2 nic:8x400Gbit/s",
                MODEL_ALL_GATHER, 3);
    struct model_collective cost;

    it.folded = true;
    it.group = (struct model_group){
        .name = "rails", .count = 2, .stride = 8, .family = true};
    cost = cost_of(*state, &it);
    CHECK_FLOWS(&it, &cost, rails);
    /* out, in, up and down of each GPU */
    assert_near(all_flows(&cost), 8 * 4 * 3, 0);
    assert_near_ratio(cost.channel_bytes, 1e9 / 2 / 3, 1e-12);
    /* 2 ranks, GPUDirect: 5 HBM bytes a step, and 2 of the one step more */
    assert_near_ratio(cost.hbm_ratio, 7, 1e-12);
    it.group = (struct model_group){
        .name = "fours", .count = 4, .stride = 1, .family = true};
    cost = cost_of(*state, &it);
    CHECK_FLOWS(&it, &cost, fours);
    assert_near(all_flows(&cost), 8 * 2 * 3, 0);
    assert_near_ratio(cost.channel_bytes, 3 * 1e9 / 4 / 3, 1e-12);
    assert_near_ratio(cost.hbm_ratio, 3 + 2 / 3.0, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_are_open),
        cmocka_unit_test(a_chain_over_nodes),
        cmocka_unit_test(bytes_of_a_chain),
        cmocka_unit_test(a_chain_by_hand),
        cmocka_unit_test(channels_are_set_up),
        cmocka_unit_test(work_of_an_all_reduce),
        cmocka_unit_test(wire_bytes),
        cmocka_unit_test(ll128_needs_nvlink),
        cmocka_unit_test(families_add_up),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
