/*
 * test_sim_occupancy.c - kernels and channels on one SM, on the machine of
 * timeline.h, whose SMs are those of an A40: 48 warps, 65536 registers, 16
 * CTAs, 100 KiB of shared memory (test_occupancy.c).
 *
 * A CTA of 8 warps and 32 registers a thread (8192), without shared memory,
 * fits 6 times alone. Beside a channel of 512 threads 13,312 registers are
 * left: once. Beside one of 96 threads 53,248 registers and 44 warps: 5 times.
 */
#include "tests/unit/timeline.h"

#define LIGHT "cta_threads: 256, cta_registers: 32"
#define RING_OF(threads)                                                       \
    "algorithm: ring, protocol: simple, transport: p2p, threads: " threads     \
    ", chunk: 16 KiB"

/*
 * 10 CTAs are one on each of 10 SMs, and one fits beside a channel: the kernel
 * keeps all its SMs, 5 to 15. Where CTAs say nothing it has 6 SMs: 25.
 */
static void a_light_kernel_keeps_its_sms(void **state)
{
    struct timeline timeline =
        run(*state, "ops:\n"
                    "  - {id: a, " GATHER_4 "}\n"
                    "  - {id: k, " KERNEL_10 ", " LIGHT "}\n");

    assert_near(end_of(&timeline, "a"), 105, CLOSE_US);
    assert_near(end_of(&timeline, "k"), 15, CLOSE_US);
    assert_near(op_of(&timeline, "k")->lost.sm, 0, CLOSE_US);
    timeline = run(*state, "ops:\n"
                           "  - {id: a, " GATHER_4 "}\n"
                           "  - {id: k, " KERNEL_10 "}\n");
    assert_near(end_of(&timeline, "k"), 25, CLOSE_US);
}

/*
 * 16 KiB of shared memory, 17,408 with what is reserved: a channel leaves
 * 13,876. Nothing is shared: 6 SMs, then 4 loads: 25.
 */
static void shared_memory_keeps_them_apart(void **state)
{
    struct timeline timeline = run(*state, "ops:\n"
                                           "  - {id: a, " GATHER_4 "}\n"
                                           "  - {id: k, " KERNEL_10 ", " LIGHT
                                           ", cta_shared: 16 KiB}\n");

    assert_near(end_of(&timeline, "k"), 25, CLOSE_US);
}

/*
 * 60 CTAs of 10 us, 6 on an SM: 10 loads of 60 us. Each of 6 channels leaves
 * room for one CTA of six: 1 SM's worth, 5 SMs with the 4 free ones. Two
 * rounds, 5 to 125. Nothing shared: 4 SMs, three rounds, 185.
 */
static void channels_leave_a_part(void **state)
{
    static const char *const ops =
        "ops:\n"
        "  - {id: a, kind: all_gather, size: 12 MB, channels: 6, " RING "}\n"
        "  - {id: k, kind: kernel, ctas: 60, flops: 600 MFLOP, %s}\n";
    struct timeline timeline =
        run(*state, model_arena_format(*state, ops, LIGHT));

    assert_near(end_of(&timeline, "k"), 125, CLOSE_US);
    timeline = run(*state, model_arena_format(*state, ops, "ctas_per_sm: 6"));
    assert_near(end_of(&timeline, "k"), 185, CLOSE_US);
}

/*
 * 20 CTAs, two on each SM: 5 to 25. The AllGather is on the device at 15; its
 * channels of 96 threads leave room for both CTAs, so it starts at once.
 */
static void a_thin_channel_joins_at_once(void **state)
{
    struct timeline timeline =
        run(*state,
            "ops:\n"
            "  - {id: k, kind: kernel, ctas: 20, flops: 200 MFLOP, " LIGHT "}\n"
            "  - {id: a, kind: all_gather, size: 800 kB, channels: 4, "
            "start: 10 us, " RING_OF("96") "}\n");

    assert_near(end_of(&timeline, "k"), 25, CLOSE_US);
    assert_near(end_of(&timeline, "a"), 115, CLOSE_US);
    assert_near(op_of(&timeline, "a")->lost.sm, 0, CLOSE_US);
}

/*
 * Two CTAs an SM; channels of 512 threads leave room for one. Running CTAs are
 * not sent away, so the AllGather waits from 15 to the end of the loads at 25.
 * Of 36 CTAs, 18 loads of 20 us, 8 are left then, and the kernel has 6 SMs and
 * half of 4: one round, 45. The AllGather: 25 to 125.
 */
static void a_thick_channel_waits_and_then_shares(void **state)
{
    struct timeline timeline =
        run(*state, "ops:\n"
                    "  - {id: k, kind: kernel, ctas: 36, flops: 360 MFLOP, "
                    "ctas_per_sm: 2, " LIGHT "}\n"
                    "  - {id: a, " GATHER_4 ", start: 10 us}\n");

    assert_near(end_of(&timeline, "k"), 45, CLOSE_US);
    assert_near(end_of(&timeline, "a"), 125, CLOSE_US);
    assert_near(op_of(&timeline, "a")->lost.sm, 10, CLOSE_US);
}

/*
 * 80 CTAs, 4 on an SM (what 80 need), 20 loads of 40 us. Beside 8 channels of
 * 512 threads: 2 SMs and 8 / 4, from 5 on. At 30 the AllGather (2 kB x 8 x 25)
 * ends: of its 8 SMs, 2 went on to be whole ones of the kernel, 6 are new.
 * 4 SMs end at 45, 85, 125, 6 at 70, 110. Loads begun by then: 4 + 6, + 4, + 6
 * make 20, the last 6 at 70. All done at 110.
 */
static void what_is_shared_becomes_whole(void **state)
{
    struct timeline timeline = run(
        *state,
        "ops:\n"
        "  - {id: a, kind: all_gather, size: 400 kB, channels: 8, " RING "}\n"
        "  - {id: k, kind: kernel, ctas: 80, flops: 800 MFLOP, "
        "ctas_per_sm: 4, " LIGHT "}\n");

    assert_near(end_of(&timeline, "a"), 30, CLOSE_US);
    assert_near(end_of(&timeline, "k"), 110, CLOSE_US);
}

/*
 * Room is taken by the channels that are there, not by those that wait. b wants
 * 8 SMs beside the 4 of a and gets 6. k (10 loads of 10 us, one CTA each) has
 * room beside all 10 channels: 5 to 15. b starts when a ends, at 105.
 */
static void waiting_channels_leave_room_too(void **state)
{
    struct timeline timeline =
        run(*state, "streams: {s1: 2, s2: 1}\n"
                    "ops:\n"
                    "  - {id: a, " GATHER_4 ", stream: s1}\n"
                    "  - {id: b, kind: all_gather, size: 1600 kB, channels: 8, "
                    "stream: s2, " RING "}\n"
                    "  - {id: k, " KERNEL_10 ", " LIGHT "}\n");

    assert_near(end_of(&timeline, "k"), 15, CLOSE_US);
    assert_near(end_of(&timeline, "b"), 205, CLOSE_US);
}

/*
 * A kernel that shares and one that does not: heavy (6 loads of 30 us) has 6
 * SMs from 5 to 35, light (4 loads, 10 us) the other 4. Both AllGathers are on
 * the device at 10. a, of 6 channels, gets the 4 SMs of light, and keeps them
 * when light is done at 15. The rest comes when heavy ends at 35: 2 for a, 4
 * for b, and both run until 135.
 */
static void channels_join_only_kernels_with_room(void **state)
{
    struct timeline timeline =
        run(*state, "ops:\n"
                    "  - {id: heavy, kind: kernel, ctas: 6, flops: 180 MFLOP}\n"
                    "  - {id: light, kind: kernel, ctas: 4, flops: 40 MFLOP, "
                    "stream: two, " LIGHT "}\n"
                    "  - {id: a, kind: all_gather, size: 1200 kB, channels: 6, "
                    "start: 5 us, " RING "}\n"
                    "  - {id: b, kind: all_gather, size: 800 kB, channels: 4, "
                    "start: 5 us, stream: other, " RING "}\n");

    assert_near(end_of(&timeline, "light"), 15, CLOSE_US);
    assert_near(end_of(&timeline, "heavy"), 35, CLOSE_US);
    assert_near(op_of(&timeline, "a")->lost.sm, 25, CLOSE_US);
    assert_near(end_of(&timeline, "a"), 135, CLOSE_US);
    assert_near(op_of(&timeline, "b")->lost.sm, 25, CLOSE_US);
    assert_near(end_of(&timeline, "b"), 135, CLOSE_US);
}

static void a_cta_that_fits_nowhere_is_refused(void **state)
{
    const struct model_topology *topology = fixture_tiny(*state, NULL, 0);
    const struct model_workload *workload = fixture_workload(
        *state, topology,
        "name: test\nops: [{id: k, " KERNEL_10 ", cta_threads: 1024, "
        "cta_registers: 65}]");
    struct sim_request request = {.topology = topology, .workload = workload};
    struct model_errors errors = {.arena = *state};

    assert_null(sim_new(*state, &request, &errors));
    fixture_expect_error(&errors, "k", "not one of its CTAs fits into an SM");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_light_kernel_keeps_its_sms),
        cmocka_unit_test(shared_memory_keeps_them_apart),
        cmocka_unit_test(channels_leave_a_part),
        cmocka_unit_test(a_thin_channel_joins_at_once),
        cmocka_unit_test(a_thick_channel_waits_and_then_shares),
        cmocka_unit_test(what_is_shared_becomes_whole),
        cmocka_unit_test(waiting_channels_leave_room_too),
        cmocka_unit_test(channels_join_only_kernels_with_room),
        cmocka_unit_test(a_cta_that_fits_nowhere_is_refused),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
