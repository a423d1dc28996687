/*
 * test_sim_ranks.c - ranks that differ, on the machine of timeline.h: a rank
 * whose kernels are slow, jitter, and two kinds of GPU. Early ranks wait in
 * their collective for the late ones and hold their SMs meanwhile.
 */
#include "sim/jitter.h"

#include "tests/unit/timeline.h"

/* Without HBM. */
#define KERNEL_25 "kind: kernel, ctas: 25, flops: 250 MFLOP"

static struct timeline run_ranks(struct model_arena *arena,
                                 const struct model_topology *topology,
                                 const char *ops)
{
    const struct model_workload *workload = fixture_workload(
        arena, topology, model_arena_format(arena, "name: test\n%s", ops));

    return run_one(arena, topology, workload, true);
}

static const struct sim_op_result *
on(const struct timeline *timeline, const char *id, int rank)
{
    return &timeline->ops[rank * timeline->workload->op_count +
                          fixture_op(timeline->workload, id)];
}

/* Time of an op on a rank less all that it lost: its time alone there. */
static double
alone_on(const struct timeline *timeline, const char *id, int rank)
{
    const struct sim_op_result *op = on(timeline, id, rank);

    return op->end_us - op->start_us - sum_of(&op->lost);
}

/*
 * Rank 1 takes 1.2 times as long. k: 5 + 10 us there, 5 + 12 here. The
 * AllGather after it is on rank 0 at 20 and on rank 1 at 22: 2 us of waiting,
 * then 100 us on both.
 */
static void peers_wait_for_a_slow_rank(void **state)
{
    static const char *const sets[] = {
        "variation.ranks=[{rank: 1, slow: 1.2}]"};
    struct timeline timeline =
        run_ranks(*state, fixture_tiny(*state, sets, 1),
                  "ops:\n"
                  "  - {id: k, " KERNEL_10 "}\n"
                  "  - {id: a, " GATHER_4 ", after: [k]}\n");

    assert_near(on(&timeline, "k", 0)->end_us, 15, CLOSE_US);
    assert_near(on(&timeline, "k", 1)->end_us, 17, CLOSE_US);
    /* slow, but it lost nothing to anybody */
    assert_near(alone_on(&timeline, "k", 1), 17, CLOSE_US);
    assert_near(on(&timeline, "k", 1)->lost.sm, 0, CLOSE_US);
    assert_near(on(&timeline, "a", 0)->lost.peer, 2, CLOSE_US);
    assert_near(on(&timeline, "a", 1)->lost.peer, 0, CLOSE_US);
    assert_near(on(&timeline, "a", 0)->end_us, 122, CLOSE_US);
    assert_near(on(&timeline, "a", 1)->end_us, 122, CLOSE_US);
}

/*
 * Rank 1 is slower by half. Beside the AllGather runs a GEMM of 25 tiles of 10
 * us, after k too (priority 0, so the AllGather is served first).
 *
 *     rank 0   k 5-15; a holds 4 SMs from 20, spins; g on 6 SMs: 20-70
 *     rank 1   k 5-20; a and g at 25; a moves 25-125; g: 5 waves of 15, 25-100
 *
 * 5 us of rank 0's spinning are lost to computation: alone g takes 3 waves.
 */
static void a_waiting_rank_keeps_its_sms(void **state)
{
    static const char *const sets[] = {
        "variation.ranks=[{rank: 1, slow: 1.5}]"};
    struct timeline timeline =
        run_ranks(*state, fixture_tiny(*state, sets, 1),
                  "ops:\n"
                  "  - {id: k, " KERNEL_10 "}\n"
                  "  - {id: a, " GATHER_4 ", after: [k]}\n"
                  "  - {id: g, " GEMM_25 "}\n");

    assert_near(on(&timeline, "a", 0)->lost.peer, 5, CLOSE_US);
    assert_near(on(&timeline, "a", 0)->end_us, 125, CLOSE_US);
    assert_near(on(&timeline, "g", 0)->end_us, 70, CLOSE_US);
    assert_near(on(&timeline, "g", 0)->lost.sm, 20, CLOSE_US);
    assert_near(on(&timeline, "g", 1)->end_us, 100, CLOSE_US);
    assert_near(on(&timeline, "g", 1)->lost.sm, 30, CLOSE_US);
}

/*
 * Memory and stream_k kernels take 1.5 times as long too. 300 kB at 10,000
 * bytes/us: 30 us, 45 there. 250 us of tiles over 10 SMs: 25 and 37.5.
 */
static void all_kinds_of_kernels_are_slow(void **state)
{
    static const char *const sets[] = {"variation.ranks=[{rank: 1, slow: 1.5}]",
                                       "gpu.hbm.rate=10 GB/s"};
    struct timeline timeline =
        run_ranks(*state, fixture_tiny(*state, sets, 2),
                  "ops:\n"
                  "  - {id: m, kind: memory, hbm: 300 kB}\n");

    assert_near(on(&timeline, "m", 0)->end_us, 35, CLOSE_US);
    assert_near(on(&timeline, "m", 1)->end_us, 50, CLOSE_US);
    timeline = run_ranks(*state, fixture_tiny(*state, sets, 1),
                         "ops:\n"
                         "  - {id: g, " GEMM_25 ", schedule: stream_k}\n");
    assert_near(on(&timeline, "g", 0)->end_us, 30, CLOSE_US);
    assert_near(on(&timeline, "g", 1)->end_us, 42.5, CLOSE_US);
    assert_near(alone_on(&timeline, "g", 1), 42.5, CLOSE_US);
}

/* Each kernel of each rank has its own factor; the launch has none. */
static void jitter_changes_each_kernel(void **state)
{
    static const char *const sets[] = {"variation.jitter=5%",
                                       "variation.ranks=[{rank: 1, slow: 2}]"};
    struct timeline timeline = run_ranks(*state, fixture_tiny(*state, sets, 2),
                                         "ops:\n"
                                         "  - {id: k, " KERNEL_10 "}\n"
                                         "  - {id: l, " KERNEL_10 "}\n");

    for (int rank = 0; rank < 2; rank++) {
        double slow = rank == 1 ? 2 : 1;
        double k_us = 5 + 10 * slow * sim_jitter_factor(0, rank, 0, 0.05);
        double l_us = 5 + 10 * slow * sim_jitter_factor(0, rank, 1, 0.05);

        assert_near(on(&timeline, "k", rank)->end_us, k_us, CLOSE_US);
        assert_near(on(&timeline, "l", rank)->end_us, k_us + l_us, CLOSE_US);
        assert_near(alone_on(&timeline, "l", rank), l_us, CLOSE_US);
    }
}

/*
 * Rank 1 has another GPU: 5 SMs, as fast each, 8 us to launch, a tenth of the
 * HBM, and channels of 500 bytes/us.
 */
static struct model_topology *mixed(struct model_arena *arena)
{
    struct model_topology *t = fixture_tiny(arena, NULL, 0);
    struct model_mixed *row = model_arena_alloc(arena, sizeof *row);
    double *rank = model_arena_array(arena, 1, sizeof *rank);

    t->gpu.hbm_bytes_per_us = 1e5;
    row->gpu = t->gpu;
    row->gpu.sm_count = 5;
    row->gpu.peak_flops_per_us[MODEL_BF16] /= 2;
    row->gpu.launch_us = 8;
    row->gpu.hbm_bytes_per_us = 1e4;
    row->gpu.channel_bytes_per_us = 500;
    *rank = 1;
    row->ranks = (struct model_list){rank, 1};
    t->mixed = (struct model_list){row, 1};
    return t;
}

/* 25 CTAs of 10 us: 3 waves after 5 us, 5 after 8. 600 kB: 6 and 60 us. */
static void kernels_follow_their_gpu(void **state)
{
    struct timeline timeline =
        run_ranks(*state, mixed(*state),
                  "ops:\n"
                  "  - {id: g, " KERNEL_25 "}\n"
                  "  - {id: m, kind: memory, hbm: 600 kB}\n");

    assert_near(on(&timeline, "g", 0)->end_us, 35, CLOSE_US);
    assert_near(on(&timeline, "g", 1)->end_us, 58, CLOSE_US);
    assert_near(on(&timeline, "m", 0)->end_us, 35 + 5 + 6, CLOSE_US);
    assert_near(on(&timeline, "m", 1)->end_us, 58 + 8 + 60, CLOSE_US);
    assert_near(on(&timeline, "g", 1)->lost.sm, 0, CLOSE_US);
    assert_near(on(&timeline, "m", 1)->lost.hbm, 0, CLOSE_US);
}

/*
 * The slower end: 500 bytes/us a channel, so that 100,000 bytes take 200 us.
 * (HBM: 4 channels x 500 x 5 bytes, as much as rank 1 has.) Rank 0 is there at
 * 5 and waits for rank 1 until 8. 25 CTAs beside it: on rank 0 5 waves on 6
 * SMs.
 */
static void a_collective_goes_at_the_slower_end(void **state)
{
    struct timeline timeline = run_ranks(*state, mixed(*state),
                                         "ops:\n"
                                         "  - {id: a, " GATHER_4 "}\n"
                                         "  - {id: g, " KERNEL_25 "}\n");

    assert_near(on(&timeline, "a", 0)->end_us, 208, CLOSE_US);
    assert_near(on(&timeline, "a", 1)->end_us, 208, CLOSE_US);
    assert_near(on(&timeline, "a", 0)->lost.peer, 3, CLOSE_US);
    assert_near(on(&timeline, "a", 1)->lost.peer, 0, CLOSE_US);
    assert_near(alone_on(&timeline, "a", 0), 205, CLOSE_US);
    assert_near(alone_on(&timeline, "a", 1), 208, CLOSE_US);
    assert_near(on(&timeline, "g", 0)->end_us, 55, CLOSE_US);
}

/*
 * Groups of nodes: node 1 has the slow channels, so that its own AllGather
 * takes 8 + 200 us, that of node 0 5 + 100; alone just as long.
 */
static void each_node_has_its_own_time(void **state)
{
    struct model_topology *t =
        fixture_topology(*state, "2x2 gpu:a40 nvswitch nic:1x100Gbit/s",
                         fixture_tiny_sets, FIXTURE_COUNT(fixture_tiny_sets));
    struct model_topology *other = mixed(*state);
    struct model_mixed *row = other->mixed.items;
    struct timeline timeline;

    row->nodes = row->ranks; /* number 1 */
    row->ranks = (struct model_list){NULL, 0};
    row->gpu.hbm_bytes_per_us = 1e9;
    t->mixed = other->mixed;
    timeline = run_ranks(*state, t,
                         "ops:\n"
                         "  - {id: a, " GATHER_4 ", group: node}\n");
    for (int rank = 0; rank < 4; rank++) {
        double us = rank < 2 ? 105 : 208;

        assert_near(on(&timeline, "a", rank)->end_us, us, CLOSE_US);
        assert_near(alone_on(&timeline, "a", rank), us, CLOSE_US);
        assert_near(on(&timeline, "a", rank)->lost.peer, 0, CLOSE_US);
    }
}

/* More channels than the smaller GPU has SMs; one rank for all. */
static void what_cannot_run_is_refused(void **state)
{
    static const char *const sets[] = {"variation.jitter=1%"};
    const struct model_topology *t = mixed(*state);
    const struct model_workload *workload =
        fixture_workload(*state, t,
                         "name: test\nops: [{id: a, kind: all_gather, "
                         "size: 1 MB, channels: 6, " RING "}]");
    struct sim_request request = {
        .topology = t, .workload = workload, .all_ranks = true};
    struct model_errors errors = {.arena = *state};

    assert_null(sim_new(*state, &request, &errors));
    fixture_expect_error(&errors, "a", "more channels than the GPU has SMs");
    request.all_ranks = false;
    errors = (struct model_errors){.arena = *state};
    assert_null(sim_new(*state, &request, &errors));
    fixture_expect_error(&errors, "mixed", "one cannot stand for all");
    request.topology = fixture_tiny(*state, sets, 1);
    errors = (struct model_errors){.arena = *state};
    assert_null(sim_new(*state, &request, &errors));
    fixture_expect_error(&errors, "variation", "one cannot stand for all");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peers_wait_for_a_slow_rank),
        cmocka_unit_test(a_waiting_rank_keeps_its_sms),
        cmocka_unit_test(all_kinds_of_kernels_are_slow),
        cmocka_unit_test(jitter_changes_each_kernel),
        cmocka_unit_test(kernels_follow_their_gpu),
        cmocka_unit_test(a_collective_goes_at_the_slower_end),
        cmocka_unit_test(each_node_has_its_own_time),
        cmocka_unit_test(what_cannot_run_is_refused),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
