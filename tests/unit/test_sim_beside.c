/*
 * test_sim_beside.c - computation beside collectives, on the machine of
 * timeline.h: a channel holds an SM, so that fewer are left for the waves of a
 * kernel, and a collective waits for the boundary of a wave and for all its
 * SMs. What is lost depends on the schedule of the kernel.
 */
#include "tests/unit/timeline.h"

/* -- computation beside collectives -- */

/*
 * NC = 4 of 10 SMs go to the AllGather (5 to 105); the GEMM's 25 tiles run on
 * 6 SMs: 5 waves, 5 to 55. Alone 3 waves: 20 us lost to SMs.
 */
static void a_collective_takes_its_sms(void **state)
{
    struct timeline timeline = run(*state, "ops:\n"
                                           "  - {id: a, " GATHER_4 "}\n"
                                           "  - {id: g, " GEMM_25 "}\n");

    assert_near(end_of(&timeline, "a"), 105, CLOSE_US);
    assert_near(end_of(&timeline, "g"), 55, CLOSE_US);
    assert_near(timeline.result.compute_us, 50, CLOSE_US);
    assert_near(timeline.result.comm_us, 100, CLOSE_US);
    assert_near(timeline.result.exposed_comm_us, 50, CLOSE_US);
}

/* T tiles beside NC channels: launch + ceil(T / (10 - NC)) x 10. */
static void waves_follow_the_channels(void **state)
{
    for (int channels = 1; channels <= 9; channels++) {
        /* lasts 1000 us: 2 x NC x 1000 x 1000 bytes */
        struct timeline timeline = run(
            *state,
            model_arena_format(
                *state,
                "ops:\n"
                "  - {id: a, kind: all_gather, size: %d MB, channels: %d, " RING
                "}\n"
                "  - {id: g, " GEMM_25 "}\n",
                2 * channels, channels));
        int left = 10 - channels;

        assert_near(end_of(&timeline, "a"), 1005, CLOSE_US);
        assert_near(end_of(&timeline, "g"),
                    5.0 + 10.0 * ((25 + left - 1) / left), CLOSE_US);
    }
}

/*
 * All 10 SMs are held: the GEMM waits for the end of the AllGather at 105 and
 * then takes its 3 waves.
 */
static void a_full_gpu_keeps_the_gemm_out(void **state)
{
    struct timeline timeline = run(
        *state,
        "ops:\n"
        "  - {id: a, kind: all_gather, size: 2 MB, channels: 10, " RING "}\n"
        "  - {id: g, " GEMM_25 "}\n");

    assert_near(end_of(&timeline, "a"), 105, CLOSE_US);
    assert_near(end_of(&timeline, "g"), 135, CLOSE_US);
    assert_near(op_of(&timeline, "g")->lost.sm, 100, CLOSE_US);
}

/*
 * SMs that one kernel frees go to another that has loads left, however many of
 * its rounds were skipped: at 5 us b takes 5 of 10 SMs and a the others; b ends
 * at 15, when a has 35 of its 40 loads of 10 us to do: four rounds, 55 us.
 */
static void freed_sms_go_to_the_other_kernel(void **state)
{
    struct timeline timeline = run(
        *state,
        "ops:\n"
        "  - {id: b, kind: kernel, ctas: 5, flops: 50 MFLOP, stream: one}\n"
        "  - {id: a, kind: kernel, ctas: 40, flops: 400 MFLOP, stream: two}\n");

    assert_near(end_of(&timeline, "b"), 15, CLOSE_US);
    assert_near(end_of(&timeline, "a"), 55, CLOSE_US);
}

/*
 * The AllGather (2 x 4 x 1000 x 25 = 200 kB) lasts from 5 to 30. 6 SMs: tiles
 * 1 to 6 until 15, to 12 until 25, to 18 until 35. At 30 its 4 SMs take tiles
 * 19 to 22, until 40. At 35 the 6 SMs take the last 3, until 45.
 */
static void freed_sms_join_in_mid_wave(void **state)
{
    struct timeline timeline = run(
        *state,
        "ops:\n"
        "  - {id: a, kind: all_gather, size: 200 kB, channels: 4, " RING "}\n"
        "  - {id: g, " GEMM_25 "}\n");

    assert_near(end_of(&timeline, "a"), 30, CLOSE_US);
    assert_near(end_of(&timeline, "g"), 45, CLOSE_US);
}

/*
 * The AllGather comes at 7 + 5 = 12, in the first wave (5 to 15). It waits for
 * the boundary: 3 us; then 100 us. 15 tiles are left for 6 SMs: 3 waves, 45.
 */
static void a_collective_waits_for_the_boundary(void **state)
{
    struct timeline timeline =
        run(*state, "ops:\n"
                    "  - {id: g, " GEMM_25 "}\n"
                    "  - {id: a, " GATHER_4 ", start: 7 us}\n");

    assert_near(end_of(&timeline, "a"), 115, CLOSE_US);
    assert_near(op_of(&timeline, "a")->lost.sm, 3, CLOSE_US);
    assert_near(end_of(&timeline, "g"), 45, CLOSE_US);
}

/*
 * Finishes come before starts. A GEMM of 5 waves of t us, and an AllGather that
 * is on the device exactly at the boundary after w of them, at 5 + w t: the
 * wave that ends there has handed its SMs on to the next one, so the AllGather
 * gets its SMs at 5 + (w + 1) t, whatever t is, and ends 100 us later.
 */
static void at_a_boundary_the_next_wave_is_first(void **state)
{
    /* t = k / 100 us; 1/49 x 49 < 1 and 1/10 x 10 = 1 in doubles */
    static const int inner[] = {1000,  4900, 300,    700,  9800,
                                10300, 1,    123456, 1961, 777};

    for (int i = 0; i < FIXTURE_COUNT(inner); i++) {
        double wave_us = inner[i] / 100.0;

        for (int w = 1; w < 5; w++) {
            struct timeline timeline = run(
                *state, model_arena_format(
                            *state,
                            "ops:\n"
                            "  - {id: g, kind: gemm, m: 1000, n: 250, k: %d, "
                            "tile: [100, 50]}\n"
                            "  - {id: a, " GATHER_4 ", start: %.2f us}\n",
                            inner[i], w * wave_us));
            double expected = 5.0 + (w + 1) * wave_us + 100.0;

            if (!(fabs(end_of(&timeline, "a") - expected) <= CLOSE_US)) {
                fail_msg("waves of %g us, after %d: ends at %.9g, not at %.9g",
                         wave_us, w, end_of(&timeline, "a"), expected);
            }
        }
    }
}

/*
 * Two AllGathers of 4 and 8 channels: the second cannot get 8 of the 6 SMs that
 * are left; it starts when the first is done: 105 + 100.
 */
static void a_collective_waits_for_all_its_sms(void **state)
{
    struct timeline timeline =
        run(*state, "ops:\n"
                    "  - {id: a, " GATHER_4 ", stream: s1}\n"
                    "  - {id: b, kind: all_gather, size: 1600 kB, channels: 8, "
                    "stream: s2, " RING "}\n");

    assert_near(end_of(&timeline, "a"), 105, CLOSE_US);
    assert_near(end_of(&timeline, "b"), 205, CLOSE_US);
    assert_near(op_of(&timeline, "b")->lost.sm, 100, CLOSE_US);
}

/*
 * Persistent: 10 CTAs that each do ceil(25 / 10) = 3 tiles, 30 us. Beside 4
 * channels 6 of them run from 5 to 35, the 4 left over from 35 to 65.
 */
static void persistent_leftovers_run_afterwards(void **state)
{
    struct timeline timeline =
        run(*state, "ops:\n"
                    "  - {id: a, " GATHER_4 "}\n"
                    "  - {id: g, " GEMM_25 ", schedule: persistent}\n");

    assert_near(end_of(&timeline, "g"), 65, CLOSE_US);
    timeline = run(*state, "ops: [{id: g, " GEMM_25 ", schedule: persistent}]");
    assert_near(end_of(&timeline, "g"), 35, CLOSE_US);
}

/* A persistent grid given by its totals: 10 CTAs of 10 us, 6 then 4. */
static void a_persistent_kernel_takes_two_rounds(void **state)
{
    struct timeline timeline =
        run(*state, "ops:\n"
                    "  - {id: a, " GATHER_4 "}\n"
                    "  - {id: k, " KERNEL_10 ", schedule: persistent}\n");

    assert_near(end_of(&timeline, "k"), 25, CLOSE_US);
}

/* stream_k: 250 us of work over the 6 SMs it gets: 41.667 us. */
static void stream_k_takes_what_is_free(void **state)
{
    struct timeline timeline =
        run(*state, "ops:\n"
                    "  - {id: a, " GATHER_4 "}\n"
                    "  - {id: g, " GEMM_25 ", schedule: stream_k}\n");

    assert_near(end_of(&timeline, "g"), 5.0 + 250.0 / 6.0, CLOSE_US);
}

/*
 * The AllGather is on the device at 12, the GEMM's first wave runs from 5. It
 * waits for CTAs to end: with waves until 15, with a persistent grid, whose
 * CTAs do 3 tiles each, until 35, with stream_k until 30. Then 100 us.
 */
static void a_collective_waits_for_a_cta(void **state)
{
    static const struct {
        const char *schedule;
        double start_us;
    } rows[] = {{"waves", 15}, {"persistent", 35}, {"stream_k", 30}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct timeline timeline =
            run(*state,
                model_arena_format(*state,
                                   "ops:\n"
                                   "  - {id: g, " GEMM_25 ", schedule: %s}\n"
                                   "  - {id: a, " GATHER_4 ", start: 7 us}\n",
                                   rows[i].schedule));

        assert_near(end_of(&timeline, "a"), rows[i].start_us + 100, CLOSE_US);
        assert_near(op_of(&timeline, "a")->lost.sm, rows[i].start_us - 12,
                    CLOSE_US);
    }
}

/*
 * FIFOs that alone stay in L2. A chunk of 16 KiB, fewer bytes than are in
 * flight, waits for its loads: 8.192 us from L2, 2000 bytes/us, or 16.384 us
 * from memory, 1000 bytes/us. 100 kB a channel: 5 to 55 alone. A kernel that
 * reads memory runs beside it from 5 to 15: 10 kB by then, 90 kB until 60, and
 * 5 us lost to L2. One that reads nothing leaves the FIFOs where they are.
 * Links are fast, not infinitely so: 1 ns.
 */
static void kernels_drive_fifos_out_of_l2(void **state)
{
    static const char *const sets[] = {
        "gpu.channel.rate=1 PB/s", "gpu.channel.warp_in_flight=4 KiB",
        "gpu.l2_latency=8.192 us", "gpu.hbm.latency=16.384 us"};
    static const struct {
        const char *hbm;
        double end_us;
    } rows[] = {{"hbm: 6 kB", 60}, {"hbm: 0 B", 55}};
    const struct model_topology *topology =
        fixture_tiny(*state, sets, FIXTURE_COUNT(sets));

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct timeline timeline =
            run_on(*state, topology,
                   model_arena_format(*state,
                                      "ops:\n"
                                      "  - {id: a, " GATHER_4 "}\n"
                                      "  - {id: k, kind: kernel, ctas: 6, "
                                      "flops: 60 MFLOP, %s}\n",
                                      rows[i].hbm));

        assert_near(end_of(&timeline, "k"), 15, 1e-3);
        assert_near(end_of(&timeline, "a"), rows[i].end_us, 1e-3);
        assert_near(op_of(&timeline, "a")->lost.l2, rows[i].end_us - 55, 1e-3);
    }
}

/*
 * Of equal priority the GEMM, launched first, goes on: its third wave of 5
 * tiles leaves 5 SMs at 25. Of higher priority it does too. With priority for
 * the AllGather, as above, it begins at 15.
 */
static void priority_orders_kernels_and_collectives(void **state)
{
    static const struct {
        const char *streams;
        double start_us;
    } rows[] = {{"{compute: 1, comm: 1}", 25},
                {"{compute: 2, comm: 1}", 25},
                {"{compute: 1, comm: 2}", 15}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct timeline timeline =
            run(*state,
                model_arena_format(*state,
                                   "streams: %s\n"
                                   "ops:\n"
                                   "  - {id: g, " GEMM_25 "}\n"
                                   "  - {id: a, " GATHER_4 ", start: 7 us}\n",
                                   rows[i].streams));

        assert_near(end_of(&timeline, "a"), rows[i].start_us + 100, CLOSE_US);
    }
}

/*
 * At most 4 SMs: 7 waves, 5 to 75. The other 6 are free for the AllGather at
 * 12. With at most 8 it finds 2 and waits for 2 more until 15.
 */
static void an_sm_limit_leaves_sms_to_collectives(void **state)
{
    struct timeline timeline =
        run(*state, "ops:\n"
                    "  - {id: g, " GEMM_25 ", sm_limit: 4}\n"
                    "  - {id: a, " GATHER_4 ", start: 7 us}\n");

    assert_near(end_of(&timeline, "g"), 75, CLOSE_US);
    assert_near(end_of(&timeline, "a"), 112, CLOSE_US);
    timeline = run(*state, "ops:\n"
                           "  - {id: g, " GEMM_25 ", sm_limit: 8}\n"
                           "  - {id: a, " GATHER_4 ", start: 7 us}\n");
    assert_near(end_of(&timeline, "a"), 115, CLOSE_US);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_collective_takes_its_sms),
        cmocka_unit_test(waves_follow_the_channels),
        cmocka_unit_test(a_full_gpu_keeps_the_gemm_out),
        cmocka_unit_test(freed_sms_go_to_the_other_kernel),
        cmocka_unit_test(freed_sms_join_in_mid_wave),
        cmocka_unit_test(a_collective_waits_for_the_boundary),
        cmocka_unit_test(at_a_boundary_the_next_wave_is_first),
        cmocka_unit_test(a_collective_waits_for_all_its_sms),
        cmocka_unit_test(persistent_leftovers_run_afterwards),
        cmocka_unit_test(a_persistent_kernel_takes_two_rounds),
        cmocka_unit_test(stream_k_takes_what_is_free),
        cmocka_unit_test(a_collective_waits_for_a_cta),
        cmocka_unit_test(kernels_drive_fifos_out_of_l2),
        cmocka_unit_test(priority_orders_kernels_and_collectives),
        cmocka_unit_test(an_sm_limit_leaves_sms_to_collectives),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
