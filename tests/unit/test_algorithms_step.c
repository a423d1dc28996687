/*
 * test_algorithms_step.c - ring_step, the stand-in for a ring on one GPU: its
 * pace and memory by hand, its time alone and beside a kernel, who may search
 * what of it.
 */
#include "tests/unit/algorithms.h"
#include "tests/unit/timeline.h"

#include "search/strategy.h"

#include "tests/unit/searching.h"

/*
 * 4 channels of 128 threads, 1 kB of each warp in flight: 4 kB. A part is 40 kB
 * of 160 kB, a chunk 10 kB, of which recvReduceSend makes 8 kB of work: 4 us of
 * issue at 2000 bytes/us, and 2 trips of 0.5 us to L2 or of 1 us to memory; the
 * two slices' synchronisation takes 0.5 us. Through L2 pass 2 x 4 x 8 x 10 kB.
 * With the longest chunk it is the whole part: 32 kB of work, 16 us, 8 trips,
 * 2 x 4 x 8 x 40 kB. Memory: the buffer is read, and without L2 the FIFO is
 * read and written.
 */
static void a_step_by_hand(void **state)
{
    static const struct {
        const char *l2;
        double chunk_bytes, made_bytes, us, hbm_ratio;
    } rows[] = {{"gpu.l2=640000 B", 10e3, 10e3, 5.5, 1},
                {"gpu.l2=639999 B", 10e3, 10e3, 6.5, 3},
                {"gpu.l2=2560000 B", 1e6, 40e3, 20.5, 1},
                {"gpu.l2=2559999 B", 1e6, 40e3, 24.5, 3}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        const char *sets[] = {
            "gpu.channel.warp_in_flight=1 kB",
            "gpu.channel.issue_rate=2 GB/s",
            "gpu.channel.rate=1 TB/s",
            "gpu.channel.sync=0.25 us",
            "gpu.channel.reduce=0.8",
            "gpu.channel.start=3 us",
            "gpu.hbm.latency=1 us",
            "gpu.l2_latency=0.5 us",
            "node.pcie.latency=7 us",
            "nccl.channel_setup=10 us",
            rows[i].l2,
        };
        struct algorithm_case it = {
            .topology = fixture_topology(*state, "1x4 gpu:a40 pcie:4", sets,
                                         FIXTURE_COUNT(sets)),
            .kind = MODEL_RING_STEP,
            .size_bytes = 160e3,
            .group = {.count = 1, .first = 2},
            .config = config_of(MODEL_RING, MODEL_SIMPLE, 4, 128,
                                rows[i].chunk_bytes)};
        struct model_collective cost = cost_of(*state, &it);

        assert_int_equal(cost.sms, 4);
        assert_int_equal(cost.use_count, 0);
        assert_near(cost.channel_bytes, 40e3, 0);
        assert_near(cost.chunk_bytes, rows[i].made_bytes, 0);
        assert_near_ratio(cost.channel_bytes_per_us,
                          rows[i].made_bytes / rows[i].us, 1e-12);
        assert_near_ratio(cost.crowded_bytes_per_us,
                          rows[i].made_bytes /
                              (rows[i].made_bytes > 10e3 ? 24.5 : 6.5),
                          1e-12);
        assert_near(cost.hbm_ratio, rows[i].hbm_ratio, 0);
        assert_near(cost.crowded_hbm_ratio, 3, 0);
        assert_near(cost.footprint_bytes, 4 * rows[i].made_bytes, 0);
        assert_near(cost.start_us, 3, 0);
        assert_near(cost.bus_factor, 1, 0);
    }
}

/* Only as the kernel is: with flags by slice, its FIFO on the GPU. */
static void there_is_one_way_to_do_it(void **state)
{
    const struct model_topology *topology =
        fixture_topology(*state, "1x1 gpu:h100", NULL, 0);

    for (int algorithm = 0; algorithm < MODEL_ALGORITHMS; algorithm++) {
        for (int protocol = 0; protocol < MODEL_PROTOCOLS; protocol++) {
            for (int transport = 0; transport < MODEL_TRANSPORTS; transport++) {
                struct model_config config =
                    config_of((enum model_algorithm)algorithm,
                              (enum model_protocol)protocol, 4, 512, 65536);

                config.transport = transport;
                assert_int_equal(
                    model_collective_fault(topology, MODEL_RING_STEP,
                                           &config) == NULL,
                    algorithm == MODEL_RING && protocol == MODEL_SIMPLE &&
                        transport == MODEL_P2P);
            }
        }
    }
}

#define STEP_4                                                                 \
    "kind: ring_step, size: 400 kB, channels: 4, threads: 512, chunk: 2 kB"

/* 5 us launch, then 100,000 bytes a channel at 1000 bytes/us; a second one
 * on the stream after it. On the tiny machine's 2 GPUs each does its own. */
static void a_step_alone(void **state)
{
    struct timeline timeline =
        run(*state, "ops:\n  - {id: a, " STEP_4 "}\n  - {id: b, " STEP_4 "}\n");

    assert_near(end_of(&timeline, "a"), 105, CLOSE_US);
    assert_near(end_of(&timeline, "b"), 210, CLOSE_US);
    assert_near(op_of(&timeline, "a")->hbm_bytes, 400e3, 1e-6);
}

/*
 * Memory of 9000 bytes/us, of which one SM moves at most 500. Alone the step
 * reads 4 x 1000 of them. A kernel on the 6 other SMs drives its FIFO out of
 * L2, so that each of its 4 channels asks for 3 bytes a byte: with x for each
 * of 6 SMs and 12 accesses, 18 x = 9000, x = 500. So the step takes 200 us, and
 * the kernel, 3 MB at 6 x 500, 1000 us less the 200 us in which it gets 4 SMs
 * more: when the step is over, 3 MB - 200 x 3000 are left at 5000 bytes/us.
 */
static void beside_a_kernel_the_fifo_costs_memory(void **state)
{
    static const char *const sets[] = {"gpu.hbm.rate=9 GB/s",
                                       "gpu.sm.rate=500 MB/s"};
    struct timeline timeline = run_on(
        *state, fixture_tiny(*state, sets, 2),
        "ops:\n  - {id: a, " STEP_4 "}\n"
        "  - {id: m, kind: kernel, ctas: 60, flops: 0 FLOP, hbm: 3 MB}\n");

    assert_near(end_of(&timeline, "a"), 205, CLOSE_US);
    assert_near(op_of(&timeline, "a")->lost.hbm, 100, CLOSE_US);
}

/* What its keys leave open is searched: one subspace, of Simple rings. */
static void open_keys_are_a_class(void **state)
{
    const struct model_topology *topology =
        fixture_topology(*state, "1x1 gpu:h100", NULL, 0);
    const struct model_workload *workload = fixture_workload(
        *state, topology,
        "name: test\nops:\n"
        "  - {id: a, kind: ring_step, size: 64 MiB}\n"
        "  - {id: b, kind: ring_step, size: 32 MiB, channels: 8, threads: 256,"
        " chunk: 64 KiB}\n");
    struct search_problem problem;
    struct search_space spaces[SEARCH_SUBSPACES_MAX];

    search_problem_make(*state, fixture_nccl(*state, topology, workload),
                        &problem);
    assert_int_equal(problem.class_count, 1);
    assert_int_equal(problem.class_of[1], -1);
    assert_int_equal(search_subspaces(&problem, &problem.classes[0], spaces),
                     1);
    assert_int_equal(spaces[0].subspace.algorithm, MODEL_RING);
    assert_int_equal(spaces[0].subspace.protocol, MODEL_SIMPLE);
    assert_int_equal(spaces[0].subspace.transport, MODEL_P2P);
    assert_true(model_config_is_complete(&problem.classes[0].baseline));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_by_hand),
        cmocka_unit_test(there_is_one_way_to_do_it),
        cmocka_unit_test(a_step_alone),
        cmocka_unit_test(beside_a_kernel_the_fifo_costs_memory),
        cmocka_unit_test(open_keys_are_a_class),
    };

    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
