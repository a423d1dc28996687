/*
 * test_sim_waves.c - computation without collectives, on the machine of
 * timeline.h: how long a kernel or a GEMM runs for its waves, its schedule and
 * its memory, and in which order streams, waits, launches and priorities let
 * ops onto the SMs.
 */
#include "tests/unit/timeline.h"

/* -- computation alone -- */

/* T CTAs on S = 10 SMs take launch + ceil(T / S) x 10 us. */
static void a_grid_takes_its_waves(void **state)
{
    static const struct {
        int ctas;
        int waves;
    } rows[] = {{1, 1},  {9, 1},  {10, 1},  {11, 2},   {20, 2},
                {21, 3}, {25, 3}, {99, 10}, {100, 10}, {101, 11}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        /* 10 MFLOP each */
        struct timeline timeline = run(
            *state, model_arena_format(*state,
                                       "ops: [{id: k, kind: kernel, ctas: %d, "
                                       "flops: %d MFLOP}]",
                                       rows[i].ctas, 10 * rows[i].ctas));

        assert_near(end_of(&timeline, "k"), 5.0 + 10.0 * rows[i].waves,
                    CLOSE_US);
    }
}

/* 5 x 5 tiles on 10 SMs: 3 waves, 5 + 30. */
static void a_gemm_takes_its_waves(void **state)
{
    struct timeline timeline = run(*state, "ops: [{id: g, " GEMM_25 "}]");

    assert_near(op_of(&timeline, "g")->start_us, 0, 0);
    assert_near(end_of(&timeline, "g"), 35, CLOSE_US);
    assert_near(timeline.result.iteration_us, 35, CLOSE_US);
    assert_near(timeline.result.compute_us, 30, CLOSE_US);
    assert_near(timeline.result.comm_us, 0, 0);
}

/* 25 tiles on at most 5 SMs: 5 waves. */
static void an_sm_limit_makes_more_waves(void **state)
{
    struct timeline timeline =
        run(*state, "ops: [{id: g, " GEMM_25 ", sm_limit: 5}]");

    assert_near(end_of(&timeline, "g"), 55, CLOSE_US);
}

/*
 * On at most 5 SMs: persistent 5 CTAs of 25 / 5 tiles; stream_k 250 us of work
 * over 5 SMs. Both 50 us. On at most 4: 7 tiles for one CTA, 70; 62.5.
 */
static void an_sm_limit_holds_for_all_schedules(void **state)
{
    static const struct {
        const char *schedule;
        int limit;
        double us;
    } rows[] = {{"waves", 5, 50},
                {"persistent", 5, 50},
                {"stream_k", 5, 50},
                {"waves", 4, 70},
                {"persistent", 4, 70},
                {"stream_k", 4, 62.5},
                /* more than there are: as without */
                {"waves", 99, 30},
                {"persistent", 99, 30},
                {"stream_k", 99, 25}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct timeline timeline =
            run(*state,
                model_arena_format(*state,
                                   "ops: [{id: g, " GEMM_25 ", schedule: %s, "
                                   "sm_limit: %d}]",
                                   rows[i].schedule, rows[i].limit));

        assert_near(end_of(&timeline, "g"), 5 + rows[i].us, CLOSE_US);
    }
}

/*
 * 40 CTAs of 10 MFLOP, 2 on an SM: 20 loads of 20 us on 10 SMs, 2 waves. Both
 * CTAs of an SM share its rate.
 */
static void occupancy_merges_ctas_into_loads(void **state)
{
    struct timeline timeline =
        run(*state, "ops: [{id: k, kind: kernel, ctas: 40, ctas_per_sm: 2, "
                    "flops: 400 MFLOP}]");

    assert_near(end_of(&timeline, "k"), 45, CLOSE_US);
}

/* stream_k: 25 tiles of 10 us divide evenly over 10 SMs: 25 us. */
static void stream_k_divides_evenly(void **state)
{
    struct timeline timeline =
        run(*state, "ops: [{id: g, " GEMM_25 ", schedule: stream_k}]");

    assert_near(end_of(&timeline, "g"), 30, CLOSE_US);
}

/*
 * A memory kernel of 300 kB at an HBM rate of 10 GB/s = 10,000 bytes/us: 30 us.
 */
static void a_memory_kernel_takes_bytes_over_rate(void **state)
{
    static const char *const sets[] = {"gpu.hbm.rate=10 GB/s"};
    struct timeline timeline =
        run_on(*state, fixture_tiny(*state, sets, 1),
               "ops: [{id: m, kind: memory, hbm: 300 kB}]");

    assert_near(end_of(&timeline, "m"), 35, CLOSE_US);
}

/*
 * 10 CTAs on 10 SMs, each 10 us of arithmetic; 100 kB each at 40,000 bytes/us
 * of HBM make 25 us: the larger counts. At 200,000 bytes/us, 5 us: arithmetic.
 */
static void a_load_takes_the_larger_of_both(void **state)
{
    static const char *const slow[] = {"gpu.hbm.rate=40 GB/s"};
    static const char *const fast[] = {"gpu.hbm.rate=200 GB/s"};
    const char *ops = "ops: [{id: k, " KERNEL_10 ", hbm: 1 MB}]";
    struct timeline timeline =
        run_on(*state, fixture_tiny(*state, slow, 1), ops);

    assert_near(end_of(&timeline, "k"), 30, CLOSE_US);
    timeline = run_on(*state, fixture_tiny(*state, fast, 1), ops);
    assert_near(end_of(&timeline, "k"), 15, CLOSE_US);
}

/* A single SM moves 5000 bytes/us here: 100 kB take 20 us, HBM or not. */
static void one_sm_moves_no_faster(void **state)
{
    static const char *const sets[] = {"gpu.sm.rate=5 GB/s"};
    struct timeline timeline =
        run_on(*state, fixture_tiny(*state, sets, 1),
               "ops: [{id: k, kind: kernel, ctas: 1, flops: 10 MFLOP, "
               "hbm: 100 kB}]");

    assert_near(end_of(&timeline, "k"), 25, CLOSE_US);
}

/* -- order -- */

/* One stream: 5 + 10, then again 5 + 10 from there. */
static void a_stream_runs_in_order(void **state)
{
    struct timeline timeline = run(*state, "ops:\n"
                                           "  - {id: a, " KERNEL_10 "}\n"
                                           "  - {id: b, " KERNEL_10 "}\n");

    assert_near(end_of(&timeline, "a"), 15, CLOSE_US);
    assert_near(op_of(&timeline, "b")->start_us, 15, CLOSE_US);
    assert_near(end_of(&timeline, "b"), 30, CLOSE_US);
}

/* b on its own stream but after a: the same times as above. */
static void after_waits_for_the_end(void **state)
{
    struct timeline timeline =
        run(*state, "ops:\n"
                    "  - {id: b, " KERNEL_10 ", stream: two, after: [a]}\n"
                    "  - {id: a, " KERNEL_10 ", stream: one}\n");

    assert_near(op_of(&timeline, "b")->start_us, 15, CLOSE_US);
    assert_near(end_of(&timeline, "b"), 30, CLOSE_US);
}

/* Ready at 40, not before; on the device at 45. */
static void start_is_not_before(void **state)
{
    struct timeline timeline =
        run(*state, "ops: [{id: k, " KERNEL_10 ", start: 40 us}]");

    assert_near(op_of(&timeline, "k")->start_us, 40, CLOSE_US);
    assert_near(end_of(&timeline, "k"), 55, CLOSE_US);
}

/*
 * The CPU needs 20 us a launch: op i is launched at 20 i. Three streams, all
 * ready at 0; on the device at 5, 25, 45; each runs 10 us alone.
 */
static void the_cpu_launches_one_after_another(void **state)
{
    static const char *const sets[] = {"gpu.launch.interval=20 us"};
    struct timeline timeline =
        run_on(*state, fixture_tiny(*state, sets, 1),
               "ops:\n"
               "  - {id: a, " KERNEL_10 ", stream: one}\n"
               "  - {id: b, " KERNEL_10 ", stream: two}\n"
               "  - {id: c, " KERNEL_10 ", stream: three}\n");

    assert_near(end_of(&timeline, "a"), 15, CLOSE_US);
    assert_near(end_of(&timeline, "b"), 35, CLOSE_US);
    assert_near(end_of(&timeline, "c"), 55, CLOSE_US);
    assert_near(op_of(&timeline, "b")->lost.launch, 20, CLOSE_US);
    assert_near(op_of(&timeline, "c")->lost.launch, 40, CLOSE_US);
}

/*
 * hog has all SMs from 5 to 15. low asks at 6, high at 7. At 15 the stream of
 * the higher priority is served: high 15 to 25, low 25 to 35.
 */
static void priority_goes_before_launch_order(void **state)
{
    struct timeline timeline = run(
        *state, "streams: {bottom: 0, top: 5}\n"
                "ops:\n"
                "  - {id: hog, " KERNEL_10 "}\n"
                "  - {id: low, " KERNEL_10 ", stream: bottom, start: 1 us}\n"
                "  - {id: high, " KERNEL_10 ", stream: top, start: 2 us}\n");

    assert_near(end_of(&timeline, "high"), 25, CLOSE_US);
    assert_near(end_of(&timeline, "low"), 35, CLOSE_US);
    assert_near(op_of(&timeline, "low")->lost.sm, 19, CLOSE_US);
}

/* The same with equal priorities: launch order decides. */
static void equal_priorities_keep_launch_order(void **state)
{
    struct timeline timeline = run(
        *state, "streams: {bottom: 0, top: 0}\n"
                "ops:\n"
                "  - {id: hog, " KERNEL_10 "}\n"
                "  - {id: low, " KERNEL_10 ", stream: bottom, start: 1 us}\n"
                "  - {id: high, " KERNEL_10 ", stream: top, start: 2 us}\n");

    assert_near(end_of(&timeline, "low"), 25, CLOSE_US);
    assert_near(end_of(&timeline, "high"), 35, CLOSE_US);
}

/*
 * No preemption: a (30 CTAs, 3 waves) from 5; b, of higher priority, asks at
 * 12 and gets the SMs at the boundary at 15; then a goes on: 25 to 45.
 */
static void a_wave_is_not_interrupted(void **state)
{
    struct timeline timeline =
        run(*state, "streams: {top: 5}\n"
                    "ops:\n"
                    "  - {id: a, kind: kernel, ctas: 30, flops: 300 MFLOP}\n"
                    "  - {id: b, " KERNEL_10 ", stream: top, start: 7 us}\n");

    assert_near(end_of(&timeline, "b"), 25, CLOSE_US);
    assert_near(end_of(&timeline, "a"), 45, CLOSE_US);
    assert_near(op_of(&timeline, "b")->lost.sm, 3, CLOSE_US);
    assert_near(op_of(&timeline, "a")->lost.sm, 10, CLOSE_US);
}

/*
 * Equal priorities: b, asking at 12, waits for the whole of a, which was first:
 * a 5 to 35, b 35 to 45.
 */
static void who_comes_first_goes_on(void **state)
{
    struct timeline timeline =
        run(*state, "ops:\n"
                    "  - {id: a, kind: kernel, ctas: 30, flops: 300 MFLOP}\n"
                    "  - {id: b, " KERNEL_10 ", stream: two, start: 7 us}\n");

    assert_near(end_of(&timeline, "a"), 35, CLOSE_US);
    assert_near(end_of(&timeline, "b"), 45, CLOSE_US);
}

/*
 * a's last wave is 5 CTAs of 25; b (5 CTAs, waiting since 12) takes the other
 * 5 SMs at 25: both end at 35.
 */
static void a_partial_wave_leaves_sms_to_the_next(void **state)
{
    struct timeline timeline =
        run(*state,
            "ops:\n"
            "  - {id: a, " GEMM_25 "}\n"
            "  - {id: b, kind: kernel, ctas: 5, flops: 50 MFLOP, stream: two, "
            "start: 7 us}\n");

    assert_near(end_of(&timeline, "a"), 35, CLOSE_US);
    assert_near(end_of(&timeline, "b"), 35, CLOSE_US);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grid_takes_its_waves),
        cmocka_unit_test(a_gemm_takes_its_waves),
        cmocka_unit_test(an_sm_limit_makes_more_waves),
        cmocka_unit_test(an_sm_limit_holds_for_all_schedules),
        cmocka_unit_test(occupancy_merges_ctas_into_loads),
        cmocka_unit_test(stream_k_divides_evenly),
        cmocka_unit_test(a_memory_kernel_takes_bytes_over_rate),
        cmocka_unit_test(a_load_takes_the_larger_of_both),
        cmocka_unit_test(one_sm_moves_no_faster),
        cmocka_unit_test(a_stream_runs_in_order),
        cmocka_unit_test(after_waits_for_the_end),
        cmocka_unit_test(start_is_not_before),
        cmocka_unit_test(the_cpu_launches_one_after_another),
        cmocka_unit_test(priority_goes_before_launch_order),
        cmocka_unit_test(equal_priorities_keep_launch_order),
        cmocka_unit_test(a_wave_is_not_interrupted),
        cmocka_unit_test(who_comes_first_goes_on),
        cmocka_unit_test(a_partial_wave_leaves_sms_to_the_next),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
