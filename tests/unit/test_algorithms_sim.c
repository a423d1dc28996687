/*
 * test_algorithms_sim.c - collectives other than rings in simulated runs, on
 * machines whose times can be worked out by hand.
 *
 * The tiny machine of fixture.h, with a network: channels of 1000 bytes/us over
 * all kinds of hop, no latencies. 5 us from ready to running.
 */
#include "tests/unit/timeline.h"

#define PAIRWISE                                                               \
    "algorithm: pairwise, protocol: simple, transport: p2p, threads: 512, "    \
    "chunk: 16 KiB"

/* The tiny machine wired as the notation says, with further changes. */
static struct model_topology *tiny(struct model_arena *arena,
                                   const char *notation,
                                   const char *const *sets,
                                   int set_count)
{
    static const char *const network[] = {
        "node.nics.achieved=1",          "node.nics.latency=0 us",
        "node.nics.sync=0 us",           "node.nics.flag_sync=0 us",
        "node.nics.channel_rate=1 PB/s",
    };
    int base = FIXTURE_COUNT(fixture_tiny_sets);
    int more = strstr(notation, "nic:") != NULL ? FIXTURE_COUNT(network) : 0;
    const char **all = model_arena_array(
        arena, (size_t)base + (size_t)more + (size_t)set_count, sizeof *all);

    for (int i = 0; i < base + more; i++) {
        all[i] = i < base ? fixture_tiny_sets[i] : network[i - base];
    }
    for (int i = 0; i < set_count; i++) {
        all[base + more + i] = sets[i];
    }
    return fixture_topology(arena, notation, all, base + more + set_count);
}

/*
 * 2 nodes of 2 GPUs, NVLink of 250 bytes/us, NICs without limits. To the rank
 * two further, on the other node: 1 kB at the channel's 1000 in 1 us. To the
 * next rank, of which every other is a neighbour over NVLink: 4 us. Each is
 * known by its own time alone, or what they lost would not add up.
 */
static void shifts_are_told_apart(void **state)
{
    static const char *const sets[] = {"node.nvlink.rate=250 MB/s",
                                       "node.nics.rate=1 PB/s"};
    struct timeline timeline = run_on(
        *state, tiny(*state, "2x2 gpu:a40 nvswitch nic:2x8Gbit/s", sets, 2),
        "ops:\n"
        "  - {id: far, kind: send_recv, size: 1 kB, shift: 2, channels: "
        "1, " PAIRWISE "}\n"
        "  - {id: near, kind: send_recv, size: 1 kB, shift: 1, channels: "
        "1, " PAIRWISE "}\n");

    assert_near(end_of(&timeline, "far"), 6, CLOSE_US);
    assert_near(end_of(&timeline, "near"), 6 + 9, CLOSE_US);
}

/*
 * A tree over 4 GPUs: half of a CTA each way, 500 bytes/us. 100 kB a channel in
 * chunks of 50 kB, 100 us each; but the first has the CTA to itself, 50 us, 3
 * hops up and 3 down before the last rank has it: 300 us, and the second 100
 * more. 5 + 400.
 *
 * With LL each line goes on at once, without latency: 2 wire bytes at 500 a us,
 * 400 us.
 */
static void a_pipeline_fills(void **state)
{
    static const char *const sets[] = {"gpu.channel.ll.sync=0 us",
                                       "gpu.channel.ll.start=0 us"};
    struct timeline timeline =
        run_on(*state, tiny(*state, "1x4 gpu:a40 nvswitch", sets, 2),
               "ops:\n"
               "  - {id: a, kind: all_reduce, size: 400 kB, algorithm: tree, "
               "protocol: simple, transport: p2p, channels: 4, threads: 512, "
               "chunk: 50 kB}\n"
               "  - {id: b, kind: all_reduce, size: 400 kB, algorithm: tree, "
               "protocol: ll, transport: p2p, channels: 4, threads: 512, "
               "chunk: 50 kB, after: [a]}\n");

    assert_near(end_of(&timeline, "a"), 405, CLOSE_US);
    assert_near(end_of(&timeline, "b"), 405 + 405, CLOSE_US);
    /* all the while its SMs are held and it counts as communication */
    assert_near(timeline.result.comm_us, 400 + 400, CLOSE_US);
}

/*
 * The same over NVLinks of 1000 bytes/us. Half of the chains are 0 1 2 3, half
 * 0 3 2 1: GPU 2 has 2 flows out of each of 4 channels, 125 bytes/us, 400 us
 * for a chunk of 50 kB; GPUs 1 and 3 have 6 flows. While the first chunks go up
 * nothing goes down: 200 us an edge of GPU 2, 150 us the other one. Up and
 * down, and the second chunk: 2 x 550 + 400.
 */
static void links_make_a_pipeline_fill_later(void **state)
{
    static const char *const sets[] = {"node.nvlink.rate=1 GB/s"};
    struct timeline timeline =
        run_on(*state, tiny(*state, "1x4 gpu:a40 nvswitch", sets, 1),
               "ops:\n"
               "  - {id: a, kind: all_reduce, size: 400 kB, algorithm: tree, "
               "protocol: simple, transport: p2p, channels: 4, threads: 512, "
               "chunk: 50 kB}\n");

    assert_near(end_of(&timeline, "a"), 1505, CLOSE_US);
}

/*
 * A chain of 4 GPUs, 100 kB for each of 4 channels in chunks of 50 kB at 1000
 * bytes/us: 100 us, and two hops before the last GPU has its first chunk: 50 us
 * each. Of 20 equal ones in a row the first takes 5 + 200 us, the others 5 +
 * 100: 110 us in the mean.
 */
static void chains_in_a_row_fill_once(void **state)
{
    static const char ops[] =
        "ops: [{id: a, kind: broadcast, size: 400 kB, algorithm: ring, "
        "protocol: simple, transport: p2p, channels: 4, threads: 512, "
        "chunk: 50 kB}]\n";
    struct timeline timeline =
        run_on(*state, tiny(*state, "1x4 gpu:a40 nvswitch", NULL, 0), ops);
    const struct sim_op_result *op = &timeline.result.ops[0];

    assert_near(sim_op_mean_us(op, 1), 205, CLOSE_US);
    assert_near(sim_op_mean_us(op, 20), 110, CLOSE_US);
}

/*
 * Two nodes of 2 GPUs, each with a NIC of 1000 bytes/us: 2 channels of 100 kB
 * in chunks of 50 kB, 50 us a hop, and 50 for the NIC. The first chunk of
 * channel 1 is 50 + 100 + 50 us on its way, that of channel 2, which enters
 * nodes by their second GPUs, 100 + 50 + 100; of their mean of 225 the pace
 * counts 50: 5 + 175
 * + 100. As the orders differ, half of the 175 is paid by each one in a row.
 * With one channel of 200 kB it is paid once: 5 + 150 + 200.
 */
static void chains_over_nodes_fill_by_half(void **state)
{
    static const struct {
        int channels;
        double lone_us, mean_us;
    } rows[] = {{2, 280, 280 - 87.5 * 19 / 20},
                {1, 355, 355 - 150 * 19 / 20.0}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct timeline timeline = run_on(
            *state, tiny(*state, "2x2 gpu:a40 nvswitch nic:2x8Gbit/s", NULL, 0),
            model_arena_format(
                *state,
                "ops: [{id: a, kind: broadcast, size: 200 kB, algorithm: ring, "
                "protocol: simple, transport: p2p, channels: %d, threads: 512, "
                "chunk: 50 kB}]\n",
                rows[i].channels));
        const struct sim_op_result *op = &timeline.result.ops[0];

        assert_near(sim_op_mean_us(op, 1), rows[i].lone_us, 1e-3);
        assert_near(sim_op_mean_us(op, 20), rows[i].mean_us, 1e-3);
    }
}

/*
 * Two nodes of 4 GPUs with one NIC of 1000 bytes/us, which 2 channels share: an
 * AllGather of 800 kB moves 50 kB a step and channel, which the NIC takes 100
 * us for. The other 3 hops of a node take 50 us each, the network's own 50 + 25
 * + 20 us before and behind the NIC: while chunks are there the NIC sends
 * others, and 7 steps take 700 us.
 */
static void nics_hide_the_latency_of_steps(void **state)
{
    static const char *const sets[] = {"node.nics.sync=20 us"};
    struct timeline timeline = run_on(
        *state, tiny(*state, "2x4 gpu:a40 nvswitch nic:1x8Gbit/s", sets, 1),
        "ops: [{id: a, kind: all_gather, size: 800 kB, algorithm: ring, "
        "protocol: simple, transport: p2p, channels: 2, threads: 512, "
        "chunk: 50 kB}]\n");

    assert_near(end_of(&timeline, "a"), 705, 1e-3);
}

/* In a ring all ranks need each other's data until the end. */
static void rings_in_a_row_fill_each(void **state)
{
    static const char ops[] =
        "ops: [{id: a, kind: all_gather, size: 400 kB, algorithm: ring, "
        "protocol: simple, transport: p2p, channels: 4, threads: 512, "
        "chunk: 50 kB}]\n";
    struct timeline timeline =
        run_on(*state, tiny(*state, "1x4 gpu:a40 nvswitch", NULL, 0), ops);
    const struct sim_op_result *op = &timeline.result.ops[0];

    assert_near(sim_op_mean_us(op, 20), op->end_us - op->start_us, 0);
}

/*
 * A GEMM of 25 tiles of 10 us beside the tree that fills: 6 of 10 SMs are left,
 * ceil(25 / 6) = 5 rounds, from the first moment on.
 */
static void a_filling_pipeline_holds_its_sms(void **state)
{
    struct timeline timeline =
        run_on(*state, tiny(*state, "1x4 gpu:a40 nvswitch", NULL, 0),
               "ops:\n"
               "  - {id: a, kind: all_reduce, size: 400 kB, algorithm: tree, "
               "protocol: simple, transport: p2p, channels: 4, threads: 512, "
               "chunk: 50 kB}\n"
               "  - {id: g, " GEMM_25 "}\n");

    assert_near(end_of(&timeline, "a"), 405, CLOSE_US);
    assert_near(end_of(&timeline, "g"), 55, CLOSE_US);
}

/*
 * 4 GPUs, 400 kB, 3 channels: each rank sends 300 kB, 100 kB a channel, over an
 * NVLink of 600 bytes/us: 200 a channel of its 500, 500 us.
 */
static void an_all_to_all_is_bound_by_the_switch(void **state)
{
    static const char *const sets[] = {"node.nvlink.rate=600 MB/s"};
    struct timeline timeline =
        run_on(*state, tiny(*state, "1x4 gpu:a40 nvswitch", sets, 1),
               "ops: [{id: a, kind: all_to_all, size: 400 kB, channels: "
               "3, " PAIRWISE "}]");

    assert_near(end_of(&timeline, "a"), 505, CLOSE_US);
}

/*
 * Two nodes of 8, a NIC of 1000 bytes/us beside each GPU. Tensor parallel ranks
 * on a node, an AllReduce of 800 kB: 2 x 7/8 x 800 kB over 4 channels of 1000
 * bytes/us in 350 us, times (1 + 4/3 + 6 x 2) / 14 for the work in its steps.
 * At once 8 groups of one rank a node gather 200 kB: 100 kB over the NIC of
 * each in 100 us, and the half chunk of 8192 bytes for which all channels wait
 * at first. Neither takes anything from the other.
 */
static void two_families_at_once(void **state)
{
    struct timeline timeline = run_on(
        *state, tiny(*state, "2x8 gpu:a40 nvswitch nic:8x8Gbit/s", NULL, 0),
        "groups: {tp: {size: 8}, dp: {size: 2, stride: 8}}\n"
        "ops:\n"
        "  - {id: t, kind: all_reduce, size: 800 kB, channels: 4, group: tp, "
        "stream: one, " RING "}\n"
        "  - {id: d, kind: all_gather, size: 200 kB, channels: 2, group: dp, "
        "stream: two, " RING "}\n");

    assert_near(end_of(&timeline, "t"), 5 + 350 * 43 / 42.0, CLOSE_US);
    assert_near(end_of(&timeline, "d"), 105 + 8.192, CLOSE_US);
    assert_near(op_of(&timeline, "t")->lost.link, 0, CLOSE_US);
    assert_near(op_of(&timeline, "d")->lost.link, 0, CLOSE_US);
}

/*
 * The same 8 groups beside an all_to_all of all 16 ranks over the same NICs: of
 * 16 parts of 10 kB each rank sends 8 to the other node. 3 channels: 50 kB
 * each, of which 8/15 pass the NIC. Max-min over a NIC of 1000 bytes/us with 2
 * flows and 3 x 8/15 = 1.6: 1000 / 3.6 each; the channels of the gathering have
 * 50 kB each and are done after 180 us, when the all_to_all has moved as much,
 * all it has. Both at 185, but for the NIC's time for a first chunk.
 */
static void families_share_their_nics(void **state)
{
    struct timeline timeline = run_on(
        *state, tiny(*state, "2x8 gpu:a40 nvswitch nic:8x8Gbit/s", NULL, 0),
        "groups: {dp: {size: 2, stride: 8}}\n"
        "ops:\n"
        "  - {id: d, kind: all_gather, size: 200 kB, channels: 2, group: dp, "
        "stream: one, algorithm: ring, protocol: simple, transport: p2p, "
        "threads: 512, chunk: 16 B}\n"
        "  - {id: w, kind: all_to_all, size: 160 kB, channels: 3, "
        "stream: two, algorithm: pairwise, protocol: simple, transport: p2p, "
        "threads: 512, chunk: 16 B}\n");

    assert_near(end_of(&timeline, "d"), 185, 0.05);
    assert_near(end_of(&timeline, "w"), 185, 0.05);
}

/*
 * From rank 0 to 9, on the other node and another GPU: 200 kB over 2 channels,
 * which share a NIC of 1000 bytes/us: 200 us. The NIC sends a chunk of 16,384
 * bytes when it is there, which takes as long again: 16.384 us before the first
 * has come. Other ranks have nothing to do; rank 9 sends back at once.
 */
static void a_send_to_another_node(void **state)
{
    const struct model_topology *topology =
        tiny(*state, "2x8 gpu:a40 nvswitch nic:8x8Gbit/s", NULL, 0);
    const struct model_workload *workload = fixture_workload(
        *state, topology,
        "name: test\n"
        "ops:\n"
        "  - {id: there, kind: send, size: 200 kB, from: 0, to: 9, channels: "
        "2, "
        "stream: one, " PAIRWISE "}\n"
        "  - {id: back, kind: send, size: 200 kB, from: 9, to: 0, channels: 2, "
        "stream: two, " PAIRWISE "}\n");
    struct timeline timeline = run_one(*state, topology, workload, true);

    for (int i = 0; i < timeline.result.op_count; i++) {
        const struct sim_op_result *op = &timeline.ops[i];
        bool part = op->rank == 0 || op->rank == 9;

        assert_int_equal(op->takes_part, part);
        assert_near(op->end_us, part ? 5 + 200 + 16.384 : 0, CLOSE_US);
    }
}

/*
 * An AllGather of 800 kB beside a GEMM of 25 tiles of 10 us, on 2 GPUs. By 4
 * channels: 100 us, and the GEMM has 6 SMs, 5 rounds. By copy engines of 4000
 * bytes/us as long, and the GEMM has all 10: 3 rounds.
 */
static void copy_engines_leave_the_sms(void **state)
{
    static const char *const sets[] = {"gpu.copy_engine.rate=4 GB/s",
                                       "gpu.copy_engine.launch=0 us"};
    static const struct {
        const char *gather;
        double gemm_us;
    } rows[] = {{"kind: all_gather, size: 800 kB, channels: 4, " RING, 55},
                {"kind: all_gather, size: 800 kB, channels: 4, algorithm: "
                 "copy_engine, protocol: simple, transport: p2p, threads: 512, "
                 "chunk: 16 KiB",
                 35}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct timeline timeline = run_on(
            *state, fixture_tiny(*state, sets, 2),
            model_arena_format(*state, "ops:\n  - {id: a, %s}\n  - {id: g, %s}",
                               rows[i].gather, GEMM_25));

        assert_near(end_of(&timeline, "a"), 105, CLOSE_US);
        assert_near(end_of(&timeline, "g"), rows[i].gemm_us, CLOSE_US);
        assert_near(timeline.result.exposed_comm_us, 105 - rows[i].gemm_us,
                    CLOSE_US);
    }
}

/*
 * 8 engines' worth of copies need no SM either where there is none: a kernel
 * that holds all of them, 100 us.
 */
static void copy_engines_wait_for_no_sm(void **state)
{
    static const char *const sets[] = {"gpu.copy_engine.rate=4 GB/s",
                                       "gpu.copy_engine.launch=2 us"};
    struct timeline timeline = run_on(
        *state, fixture_tiny(*state, sets, 2),
        "ops:\n"
        "  - {id: k, kind: kernel, ctas: 10, flops: 1 GFLOP}\n"
        "  - {id: a, kind: all_to_all, size: 80 kB, channels: 1, start: 20 us, "
        "algorithm: copy_engine, protocol: simple, transport: p2p, "
        "threads: 512, chunk: 16 KiB}\n");

    assert_near(end_of(&timeline, "k"), 105, CLOSE_US);
    /* 5 us of launch, 40 kB at 4000 bytes/us and 2 us of the engine's own */
    assert_near(end_of(&timeline, "a"), 20 + 5 + 12, CLOSE_US);
}

/*
 * PAT over 4 nodes of one GPU: 3/4 of 400 kB over one channel of 1000 bytes/us,
 * a NIC of 2000. 30 chunks of 10 kB, 10 us each; log2 4 hops of 15 us, since
 * the NIC takes 5 for a chunk, less the first chunk. A ring's NIC sends half
 * chunks, and each step waits for one: 30 of 12.5 us, and no time to fill.
 */
static void pat_on_one_rank_a_node(void **state)
{
    struct timeline timeline = run_on(
        *state, tiny(*state, "4x1 gpu:a40 nvswitch nic:1x16Gbit/s", NULL, 0),
        "ops:\n"
        "  - {id: p, kind: all_gather, size: 400 kB, algorithm: pat, protocol: "
        "simple, transport: p2p, channels: 1, threads: 512, chunk: 10 kB}\n"
        "  - {id: r, kind: all_gather, size: 400 kB, algorithm: ring, "
        "protocol: "
        "simple, transport: p2p, channels: 1, threads: 512, chunk: 10 kB}\n");

    assert_near(end_of(&timeline, "p"), 5 + 300 + 20, CLOSE_US);
    assert_near(end_of(&timeline, "r"), 325 + 5 + 30 * 12.5, CLOSE_US);
}

/*
 * Rings of one rank a node, every second GPU: {size: 2, stride: 4} on nodes of
 * 4 is all of them; 100 kB of 200 kB over its own NIC, one channel: chunks of
 * 10 kB, 10 us and 5 us of the NIC's slice: 150 us.
 */
static void strided_rings(void **state)
{
    struct timeline timeline = run_on(
        *state, tiny(*state, "2x4 gpu:a40 nvswitch nic:4x8Gbit/s", NULL, 0),
        "groups: {g: {size: 2, stride: 4}}\n"
        "ops: [{id: a, kind: reduce_scatter, size: 200 kB, group: g, "
        "algorithm: "
        "ring, protocol: simple, transport: p2p, channels: 1, threads: 512, "
        "chunk: 10 kB}]\n");

    assert_near(end_of(&timeline, "a"), 155, CLOSE_US);
}

/*
 * NVLS on 4 GPUs, one channel of 1000 bytes/us: 400 kB in loops of 4 chunks of
 * 10 kB. Each is copied in and out, and a fourth of it by way of the switch,
 * half of the time that a channel's step takes: 2.25 x 40 / 2 = 45 us. The
 * third role has a first loop after two: 12 loops.
 */
static void nvls_on_one_node(void **state)
{
    static const char *const sets[] = {"gpu.channel.nvls.start=0 us"};
    struct timeline timeline =
        run_on(*state, tiny(*state, "1x4 gpu:h100 nvswitch", sets, 1),
               "ops: [{id: a, kind: all_reduce, size: 400 kB, algorithm: nvls, "
               "protocol: simple, transport: p2p, channels: 1, threads: 512, "
               "chunk: 10 "
               "kB}]\n");

    assert_near(end_of(&timeline, "a"), 5 + 12 * 45, CLOSE_US);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shifts_are_told_apart),
        cmocka_unit_test(a_pipeline_fills),
        cmocka_unit_test(chains_in_a_row_fill_once),
        cmocka_unit_test(chains_over_nodes_fill_by_half),
        cmocka_unit_test(nics_hide_the_latency_of_steps),
        cmocka_unit_test(rings_in_a_row_fill_each),
        cmocka_unit_test(links_make_a_pipeline_fill_later),
        cmocka_unit_test(a_filling_pipeline_holds_its_sms),
        cmocka_unit_test(an_all_to_all_is_bound_by_the_switch),
        cmocka_unit_test(two_families_at_once),
        cmocka_unit_test(families_share_their_nics),
        cmocka_unit_test(a_send_to_another_node),
        cmocka_unit_test(copy_engines_leave_the_sms),
        cmocka_unit_test(copy_engines_wait_for_no_sm),
        cmocka_unit_test(pat_on_one_rank_a_node),
        cmocka_unit_test(strided_rings),
        cmocka_unit_test(nvls_on_one_node),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
