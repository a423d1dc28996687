/*
 * test_sim_collectives.c - collectives on the machine of timeline.h: how long
 * one takes alone, and what they share: links and ports among themselves, the
 * HBM and the L2 with computation. Then groups of some of the ranks, where
 * those that come early wait for their peers.
 */
#include "tests/unit/timeline.h"

/* -- collectives -- */

/* 5 us launch, then 100,000 bytes a channel at 1000 bytes/us. */
static void a_collective_alone(void **state)
{
    struct timeline timeline = run(*state, "ops: [{id: a, " GATHER_4 "}]");

    assert_near(end_of(&timeline, "a"), 105, CLOSE_US);
    assert_near(timeline.result.comm_us, 100, CLOSE_US);
    assert_near(timeline.result.exposed_comm_us, 100, CLOSE_US);
    assert_near(timeline.result.compute_us, 0, 0);
}

/*
 * On 2 GPUs an AllReduce makes 2 steps of M / 2, twice an AllGather; a
 * ReduceScatter as much as an AllGather. Where recvCopySend and recvReduceSend
 * take 1 a byte, loads and stores 1/3 each, an AllReduce's recvReduceCopySend
 * takes 4/3; with a send and a recv, 1, that is 7/3 for 2 steps: 7/6 of 200 us.
 */
static void kinds_differ_in_steps(void **state)
{
    struct timeline timeline = run(
        *state,
        "ops:\n"
        "  - {id: r, kind: all_reduce, size: 800 kB, channels: 4, " RING "}\n"
        "  - {id: s, kind: reduce_scatter, size: 800 kB, "
        "channels: 4, " RING "}\n");

    assert_near(end_of(&timeline, "r"), 5 + 700 / 3.0, CLOSE_US);
    assert_near(end_of(&timeline, "s"), 5 + 700 / 3.0 + 105, CLOSE_US);
}

/*
 * Two on one stream: 5 + 100, then 5 + 50 (2 kB x 4 x 50 = 400 kB).
 */
static void one_stream_serialises_collectives(void **state)
{
    struct timeline timeline = run(
        *state,
        "ops:\n"
        "  - {id: a, " GATHER_4 "}\n"
        "  - {id: b, kind: all_gather, size: 400 kB, channels: 4, " RING "}\n");

    assert_near(end_of(&timeline, "a"), 105, CLOSE_US);
    assert_near(op_of(&timeline, "b")->start_us, 105, CLOSE_US);
    assert_near(end_of(&timeline, "b"), 160, CLOSE_US);
}

/*
 * The channel is limited by its own 1000 bytes/us and the link carries as
 * much: alone 1 channel needs 100 us for 200 kB (a) and 50 us for 100 kB (b).
 * Together each has 500 bytes/us. b is done at 5 + 100. a has then moved
 * 50,000 of its 100,000 bytes, the rest takes 50 us: 155.
 */
static void two_streams_share_a_link_in_halves(void **state)
{
    static const char *const sets[] = {"node.nvlink.rate=1 GB/s"};
    struct timeline timeline =
        run_on(*state, fixture_tiny(*state, sets, 1),
               "ops:\n"
               "  - {id: a, kind: all_gather, size: 200 kB, channels: 1, "
               "stream: s1, " RING "}\n"
               "  - {id: b, kind: all_gather, size: 100 kB, channels: 1, "
               "stream: s2, " RING "}\n");

    assert_near(end_of(&timeline, "b"), 105, CLOSE_US);
    assert_near(end_of(&timeline, "a"), 155, CLOSE_US);
    /* b: 100 us for what takes 50; a: 100 us for 50, then as alone */
    assert_near(op_of(&timeline, "b")->lost.link, 50, CLOSE_US);
    assert_near(op_of(&timeline, "a")->lost.link, 50, CLOSE_US);
}

/*
 * Links of 3000 bytes/us, a with 1 channel and b with 5: per channel 500.
 * a: 100,000 bytes in 200 us. b: 2 x 5 x 500 x 200 = 1 MB, as long.
 */
static void channels_share_a_link_alike(void **state)
{
    static const char *const sets[] = {"node.nvlink.rate=3 GB/s"};
    struct timeline timeline =
        run_on(*state, fixture_tiny(*state, sets, 1),
               "ops:\n"
               "  - {id: a, kind: all_gather, size: 200 kB, channels: 1, "
               "stream: s1, " RING "}\n"
               "  - {id: b, kind: all_gather, size: 1 MB, channels: 5, stream: "
               "s2, " RING "}\n");

    assert_near(end_of(&timeline, "a"), 205, CLOSE_US);
    assert_near(end_of(&timeline, "b"), 205, CLOSE_US);
}

/*
 * Over PCIe P2P a port carries both directions: 1 channel's 2 flows share its
 * 1000 bytes/us. 512 threads of 1 kB a warp keep 16 kB in flight, 32 kB on the
 * port. Above an onset of 8 kB the rate falls by (32 / 8)^0.5 = 2: 250 bytes/us
 * a flow, 50,000 bytes in 200 us. At an onset of 32 kB nothing is lost: 100 us.
 * Two of them: 64 kB in flight, 4 flows: 1000 / 8^0.5 / 4 bytes/us each.
 */
static void ports_congest(void **state)
{
    static const char *const onsets[] = {"node.pcie.congestion_onset=8 kB",
                                         "node.pcie.congestion_onset=32 kB"};
    static const char *const pcie[] = {
        "gpu.channel.warp_in_flight=1 kB",
        "node.pcie.rate=1 PB/s",
        "node.pcie.latency=0 us",
        "node.pcie.p2p_rate=1 GB/s",
        "node.pcie.congestion_exponent=0.5",
    };
    /* the tiny machine but for its NVLink, which is last in its list */
    enum { TINY = FIXTURE_COUNT(fixture_tiny_sets) - 2, PCIE = 5 };
    const char *sets[TINY + PCIE + 1];
    const char *gather = "kind: all_gather, size: 100 kB, channels: 1, " RING;

    for (int i = 0; i < TINY; i++) {
        sets[i] = fixture_tiny_sets[i];
    }
    for (int i = 0; i < PCIE; i++) {
        sets[TINY + i] = pcie[i];
    }
    for (int i = 0; i < 2; i++) {
        struct timeline timeline;

        sets[TINY + PCIE] = onsets[i];
        timeline = run_on(
            *state,
            fixture_topology(*state, "1x2 gpu:a40", sets, TINY + PCIE + 1),
            model_arena_format(*state, "ops: [{id: a, %s}]", gather));
        assert_near(end_of(&timeline, "a"), i == 0 ? 205 : 105, CLOSE_US);
    }
    sets[TINY + PCIE] = onsets[0];
    {
        struct timeline timeline = run_on(
            *state,
            fixture_topology(*state, "1x2 gpu:a40", sets, TINY + PCIE + 1),
            model_arena_format(*state,
                               "ops:\n"
                               "  - {id: a, stream: s1, %s}\n"
                               "  - {id: b, stream: s2, %s}\n",
                               gather, gather));
        double both_us = 50000 / (1000 / sqrt(8) / 4);

        assert_near(end_of(&timeline, "a"), 5 + both_us, CLOSE_US);
        assert_near(end_of(&timeline, "b"), 5 + both_us, CLOSE_US);
        assert_near(op_of(&timeline, "b")->lost.link, both_us - 200, CLOSE_US);
    }
}

/* How much the links were used, over 155 us: (100 + 50) us of 1 GB/s. */
static void resources_tell_how_busy_they_were(void **state)
{
    static const char *const sets[] = {"node.nvlink.rate=1 GB/s"};
    struct timeline timeline =
        run_on(*state, fixture_tiny(*state, sets, 1),
               "ops:\n"
               "  - {id: a, kind: all_gather, size: 200 kB, channels: 1, "
               "stream: s1, " RING "}\n"
               "  - {id: b, kind: all_gather, size: 100 kB, channels: 1, "
               "stream: s2, " RING "}\n");
    int links = 0;

    for (int i = 0; i < timeline.result.resource_count; i++) {
        /* resource 0 is the HBM of the one rank */
        if (timeline.result.resources[i].resource > 0) {
            assert_near(timeline.result.resources[i].busy_ratio, 150.0 / 155.0,
                        1e-7);
            links++;
        }
    }
    assert_int_equal(links, 4); /* out and in of both GPUs */
}

/* -- memory and cache -- */

/*
 * Two memory kernels of 100 kB, 5 SMs each, at 10,000 bytes/us of HBM: alone 10
 * us; together all 200 kB take 20 us.
 */
static void hbm_is_shared(void **state)
{
    static const char *const sets[] = {"gpu.hbm.rate=10 GB/s"};
    struct timeline timeline = run_on(
        *state, fixture_tiny(*state, sets, 1),
        "ops:\n"
        "  - {id: a, kind: memory, hbm: 100 kB, sm_limit: 5, stream: s1}\n"
        "  - {id: b, kind: memory, hbm: 100 kB, sm_limit: 5, stream: s2}\n");

    assert_near(end_of(&timeline, "a"), 25, CLOSE_US);
    assert_near(end_of(&timeline, "b"), 25, CLOSE_US);
    assert_near(op_of(&timeline, "a")->lost.hbm, 10, CLOSE_US);
    assert_near(op_of(&timeline, "a")->lost.sm, 0, CLOSE_US);
}

/*
 * An AllGather of 4 channels on 2 GPUs moves (3 x 2 - 1) / (2 - 1) = 5 HBM
 * bytes a wire byte: 4 x 5 x 1000 = 20,000 bytes/us at its full rate. With an
 * HBM of 8000 bytes/us it runs at 400 bytes/us: 100,000 bytes in 250 us.
 */
static void hbm_limits_a_collective(void **state)
{
    static const char *const sets[] = {"gpu.hbm.rate=8 GB/s"};
    struct timeline timeline = run_on(*state, fixture_tiny(*state, sets, 1),
                                      "ops: [{id: a, " GATHER_4 "}]");

    assert_near(end_of(&timeline, "a"), 255, CLOSE_US);
}

/*
 * 3 x 4 tiles of 100 x 50, k 1000. A wave of 10 tiles in the block that loads
 * least: a tiles high, 10 / a wide, rows 100 a + 500 / a, least at
 * a = sqrt(5) = 2.24, but at most 4 fit in the width: a = 2.5, 450 rows of 1000
 * elements of 2 bytes: 900,000 bytes a wave, 90,000 a tile, with its output
 * 100 x 50 x 2 = 10,000: 100,000. Without reuse 150 x 1000 x 2 + 10,000 =
 * 310,000.
 *
 * An SM moves 10,000 bytes/us: alone a tile takes max(10, 10) us; 12 tiles on
 * 10 SMs 2 waves, 5 + 20.
 *
 * The AllGather's 4 chunks of 225,000 bytes fill an L2 of 900,000 bytes just as
 * the wave does: half of the reuse is left, 205,000 bytes, 20.5 us a tile. On 6
 * SMs 12 tiles take 2 waves: 5 + 41. All of the 21 us more is lost to L2.
 * The AllGather is resident at 5, before the GEMM, and lasts 300 us.
 */
static void chunks_take_l2_from_the_gemm(void **state)
{
    static const char *const sets[] = {"gpu.sm.rate=10 GB/s", "gpu.l2=900 kB"};
    const struct model_topology *topology = fixture_tiny(*state, sets, 2);
    const char *gemm =
        "  - {id: g, kind: gemm, m: 300, n: 200, k: 1000, tile: [100, 50]}\n";
    struct timeline timeline =
        run_on(*state, topology, model_arena_format(*state, "ops:\n%s", gemm));

    assert_near(end_of(&timeline, "g"), 25, CLOSE_US);
    timeline = run_on(
        *state, topology,
        model_arena_format(*state,
                           "ops:\n"
                           "  - {id: a, kind: all_gather, size: 2400 kB, "
                           "channels: 4, algorithm: ring, protocol: simple, "
                           "transport: p2p, threads: 512, chunk: 225 kB}\n%s",
                           gemm));
    assert_near(end_of(&timeline, "a"), 305, CLOSE_US);
    assert_near(end_of(&timeline, "g"), 46, CLOSE_US);
    assert_near(op_of(&timeline, "g")->lost.l2, 21, CLOSE_US);
}

/* -- several ranks -- */

/*
 * 4 GPUs. p joins ranks 0 and 1: 2 x 4 x 1000 x 100 = 800 kB, 5 to 105. w joins
 * all, 3 x 240 kB / 4 / 3 channels = 60,000 bytes, 60 us. Ranks 2 and 3 take no
 * part in p, are resident for w at 5 and spin until ranks 0 and 1 come at
 * 105 + 5: 105 us. w ends at 110 + 60 everywhere.
 */
static void early_ranks_wait_for_their_peers(void **state)
{
    static const char *const sets[] = {"node.gpus=4"};
    const struct model_topology *topology = fixture_tiny(*state, sets, 1);
    const struct model_workload *workload = fixture_workload(
        *state, topology,
        "name: test\n"
        "groups: {pair: [0, 1]}\n"
        "ops:\n"
        "  - {id: p, " GATHER_4 ", group: pair}\n"
        "  - {id: w, kind: all_gather, size: 240 kB, channels: 3, " RING "}\n");
    struct timeline timeline = run_one(*state, topology, workload, true);

    assert_int_equal(timeline.result.op_count, 8);
    for (int rank = 0; rank < 4; rank++) {
        const struct sim_op_result *p = &timeline.ops[rank * 2];
        const struct sim_op_result *w = &timeline.ops[rank * 2 + 1];

        assert_int_equal(w->rank, rank);
        assert_near(p->end_us, rank < 2 ? 105 : 0, CLOSE_US);
        assert_near(w->start_us, rank < 2 ? 105 : 0, CLOSE_US);
        assert_near(w->end_us, 170, CLOSE_US);
        assert_near(w->lost.peer, rank < 2 ? 0 : 105, CLOSE_US);
    }
}

/*
 * Early ranks hold their SMs: as above, and on ranks 2 and 3 a GEMM of 25 tiles
 * has only 10 - 3 = 7 SMs, 4 waves: 5 + 40. On ranks 0 and 1 it has 10 - 4 = 6:
 * 5 waves, 5 + 50.
 */
static void early_ranks_hold_their_sms(void **state)
{
    static const char *const sets[] = {"node.gpus=4"};
    const struct model_topology *topology = fixture_tiny(*state, sets, 1);
    const struct model_workload *workload = fixture_workload(
        *state, topology,
        "name: test\n"
        "groups: {pair: [0, 1]}\n"
        "ops:\n"
        "  - {id: p, " GATHER_4 ", group: pair}\n"
        "  - {id: w, kind: all_gather, size: 240 kB, channels: 3, " RING "}\n"
        "  - {id: g, " GEMM_25 ", start: 1 us}\n");
    struct timeline timeline = run_one(*state, topology, workload, true);

    for (int rank = 0; rank < 4; rank++) {
        assert_near(timeline.ops[rank * 3 + 2].end_us,
                    1 + 5 + (rank < 2 ? 50 : 40), CLOSE_US);
    }
}

/*
 * Links of 4000 bytes/us and AllReduces between two of 4 GPUs: 2 steps of half
 * of 400 kB, 100,000 bytes on each of 4 channels, 1000 bytes/us of the link for
 * each. By the work in its steps one alone takes 7/6 of 100 us. b between the
 * same two GPUs, or one of them and another, leaves each half of the links: 200
 * us. Between the other two it costs a nothing.
 */
static void all_reduces_meet_on_their_links(void **state)
{
    static const char *const sets[] = {"node.gpus=4",
                                       "node.nvlink.rate=4 GB/s"};
    static const struct {
        const char *ranks; /* of b */
        int first;
        double us;
    } rows[] = {
        {"[0, 1]", 0, 200}, {"[1, 2]", 1, 200}, {"[2, 3]", 2, 700 / 6.0}};
    const struct model_topology *topology = fixture_tiny(*state, sets, 2);
    const char *reduce = "kind: all_reduce, size: 400 kB, channels: 4, " RING;

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        const struct model_workload *workload = fixture_workload(
            *state, topology,
            model_arena_format(*state,
                               "name: test\n"
                               "groups: {one: [0, 1], other: %s}\n"
                               "ops:\n"
                               "  - {id: a, stream: s1, group: one, %s}\n"
                               "  - {id: b, stream: s2, group: other, %s}\n",
                               rows[i].ranks, reduce, reduce));
        struct timeline timeline = run_one(*state, topology, workload, true);

        for (int member = 0; member < 2; member++) {
            int rank = rows[i].first + member;
            const struct sim_op_result *a = &timeline.ops[member * 2];
            const struct sim_op_result *b = &timeline.ops[rank * 2 + 1];

            assert_near(a->end_us, 5 + rows[i].us, CLOSE_US);
            assert_near(b->end_us, 5 + rows[i].us, CLOSE_US);
            assert_near(a->lost.link, rows[i].us - 700 / 6.0, CLOSE_US);
            assert_near(b->lost.link, rows[i].us - 700 / 6.0, CLOSE_US);
        }
    }
}

/* A group of one rank: nothing to move, done when it is on the device. */
static void a_group_of_one_moves_nothing(void **state)
{
    const struct model_topology *topology = fixture_tiny(*state, NULL, 0);
    const struct model_workload *workload =
        fixture_workload(*state, topology,
                         "name: test\n"
                         "groups: {self: [1]}\n"
                         "ops: [{id: a, " GATHER_4 ", group: self}]\n");
    struct timeline timeline = run_one(*state, topology, workload, true);

    assert_near(timeline.ops[1].end_us, 5, CLOSE_US);
}

/*
 * The CPU of a rank launches only that rank's ops, every 20 us: b is the first
 * of ranks 2 and 3, and k, the second of each rank, comes 20 us later.
 */
static void a_rank_launches_its_own_ops(void **state)
{
    static const char *const sets[] = {"node.gpus=4",
                                       "gpu.launch.interval=20 us"};
    const struct model_topology *topology = fixture_tiny(*state, sets, 2);
    const struct model_workload *workload = fixture_workload(
        *state, topology,
        "name: test\n"
        "groups: {low: [0, 1], high: [2, 3]}\n"
        "ops:\n"
        "  - {id: a, " GATHER_4 ", group: low}\n"
        "  - {id: b, " GATHER_4 ", group: high, stream: other}\n"
        "  - {id: k, " KERNEL_10 "}\n");
    struct timeline timeline = run_one(*state, topology, workload, true);

    for (int rank = 0; rank < 4; rank++) {
        const struct sim_op_result *own =
            &timeline.ops[rank * 3 + (rank < 2 ? 0 : 1)];

        assert_near(own->end_us, 105, CLOSE_US);
        assert_near(own->lost.launch, 0, CLOSE_US);
        assert_near(timeline.ops[rank * 3 + 2].lost.launch, 20, CLOSE_US);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_collective_alone),
        cmocka_unit_test(kinds_differ_in_steps),
        cmocka_unit_test(one_stream_serialises_collectives),
        cmocka_unit_test(two_streams_share_a_link_in_halves),
        cmocka_unit_test(channels_share_a_link_alike),
        cmocka_unit_test(ports_congest),
        cmocka_unit_test(resources_tell_how_busy_they_were),
        cmocka_unit_test(hbm_is_shared),
        cmocka_unit_test(hbm_limits_a_collective),
        cmocka_unit_test(chunks_take_l2_from_the_gemm),
        cmocka_unit_test(early_ranks_wait_for_their_peers),
        cmocka_unit_test(early_ranks_hold_their_sms),
        cmocka_unit_test(all_reduces_meet_on_their_links),
        cmocka_unit_test(a_group_of_one_moves_nothing),
        cmocka_unit_test(a_rank_launches_its_own_ops),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
