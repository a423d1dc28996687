/*
 * test_window_cost.c - Lagom's cost model by hand: SMs and waves (eq. 5), the
 * time of a wave (eq. 6), work split over collectives (eq. 4), X, Y and Z (eq.
 * 1); and a collective's own terms on the tiny machine.
 */
#include "model/window_cost.h"

#include "tests/unit/fixture.h"

/* 10 SMs, HBM of 1000 bytes/us in all, L2 of 1000 bytes, launches of 5 us. */
static const struct model_gpu gpu = {.sm_count = 10,
                                     .sm_threads = 2048,
                                     .sm_registers = 65536,
                                     .sm_ctas = 16,
                                     .sm_shared_bytes = 102400,
                                     .sm_bytes_per_us = 1e9,
                                     .hbm_bytes_per_us = 1250,
                                     .hbm_ratio = 0.8,
                                     .l2_bytes = 1000,
                                     .launch_us = 5};

/* 20 loads of 10 us and 1 byte: two waves on the empty GPU. */
static const struct model_kernel busy = {
    .loads = 20, .load_us = 10, .load_bytes = 1, .load_no_reuse_bytes = 1};

/* 20 loads of 1000 bytes, or 3000 without L2, and 2 us. */
static const struct model_kernel hungry = {.loads = 20,
                                           .load_us = 2,
                                           .load_bytes = 1000,
                                           .load_no_reuse_bytes = 3000,
                                           .working_set_bytes = 1000};

static const struct model_config config = {.algorithm = MODEL_RING,
                                           .protocol = MODEL_SIMPLE,
                                           .channels = 2,
                                           .threads = 96};

static const struct model_contender two_sms = {
    .time_us = 50, .sms = 2, .config = &config};
static const struct model_contender five_sms = {
    .time_us = 20, .sms = 5, .config = &config};

/* Alone 20 loads on 10 SMs; beside 2 channels on 8, beside 5 on 5. */
static void channels_take_sms_and_so_add_waves(void **state)
{
    (void)state;
    assert_int_equal(model_window_sms(&gpu, &busy, NULL), 10);
    assert_int_equal(model_window_sms(&gpu, &busy, &two_sms), 8);
    assert_near_ratio(model_window_kernel_us(&gpu, &busy, NULL), 20, 1e-12);
    assert_near_ratio(model_window_kernel_us(&gpu, &busy, &two_sms), 30, 1e-12);
    assert_near_ratio(model_window_kernel_us(&gpu, &busy, &five_sms), 40,
                      1e-12);
}

/* 20 / 8 = 2.5 waves where work divides evenly; at most 4 SMs: 5 waves. */
static void schedules_and_limits(void **state)
{
    struct model_kernel kernel = busy;

    (void)state;
    kernel.schedule = MODEL_STREAM_K;
    assert_near_ratio(model_window_kernel_us(&gpu, &kernel, &two_sms), 25,
                      1e-12);
    kernel = busy;
    kernel.sm_limit = 4;
    assert_int_equal(model_window_sms(&gpu, &kernel, &two_sms), 4);
    assert_near_ratio(model_window_kernel_us(&gpu, &kernel, &two_sms), 50,
                      1e-12);
}

/*
 * CTAs of 1024 threads, two on an SM; a channel has 96 workers and a warp, 128
 * threads, which leaves 1920: one CTA of two. Two channels leave one SM's
 * worth: 10 - 2 + 1. A collective on all SMs leaves the kernel one.
 */
static void ctas_that_fit_beside_channels(void **state)
{
    struct model_kernel kernel = busy;
    struct model_contender all = two_sms;

    (void)state;
    all.sms = 10;
    assert_int_equal(model_window_sms(&gpu, &kernel, &all), 1);
    kernel.cta_threads = 1024;
    assert_int_equal(model_window_sms(&gpu, &kernel, &two_sms), 9);
}

/*
 * A wave of 10 SMs moves 10,000 bytes in 10 us, which hides 2 us of arithmetic,
 * or all but 2 of 12. 8 SMs, with V = 200 of 1000: 8000 / 800; the last wave
 * has 4 loads: 4000 / 800. So all 20,000 bytes take 25 us.
 */
static void collectives_take_memory_bandwidth(void **state)
{
    struct model_contender beside = two_sms;
    struct model_kernel kernel = hungry;

    (void)state;
    assert_near_ratio(model_window_wave_us(&gpu, &hungry, NULL, 10), 10, 1e-12);
    kernel.load_us = 12;
    assert_near_ratio(model_window_wave_us(&gpu, &kernel, NULL, 10), 12, 1e-12);
    beside.hbm_bytes_per_us = 200;
    beside.hbm_flows = 4;
    assert_near_ratio(model_window_wave_us(&gpu, &hungry, &beside, 8), 10,
                      1e-12);
    assert_near_ratio(model_window_kernel_us(&gpu, &hungry, &beside), 25,
                      1e-12);
}

/*
 * V = 990 would leave 10; but memory serves 8 SMs and flows worth 2 alike, so
 * the SMs have 800 of it.
 */
static void memory_is_shared_evenly_at_worst(void **state)
{
    struct model_contender beside = two_sms;

    (void)state;
    beside.hbm_bytes_per_us = 990;
    beside.hbm_flows = 2;
    assert_near_ratio(model_window_wave_us(&gpu, &hungry, &beside, 8), 10,
                      1e-12);
}

/* A footprint as large as L2 leaves half of it: (1000 + 3000) / 2 bytes. */
static void chunks_take_l2(void **state)
{
    struct model_contender beside = two_sms;

    (void)state;
    beside.footprint_bytes = 1000;
    assert_near_ratio(model_window_wave_us(&gpu, &hungry, &beside, 8), 16,
                      1e-12);
    beside.footprint_bytes = 0;
    assert_near_ratio(model_window_wave_us(&gpu, &hungry, &beside, 8), 8,
                      1e-12);
}

static struct model_window_cost
cost_of(int kernels,
        const struct model_contender *const *collectives,
        int collective_count,
        double *kernel_us)
{
    static const struct model_kernel *const list[] = {&busy, &busy};
    struct model_window window = {.gpu = &gpu,
                                  .kernels = list,
                                  .kernel_count = kernels,
                                  .collectives = collectives,
                                  .collective_count = collective_count};

    return model_window_cost(&window, kernel_us);
}

/*
 * One collective of 50 us. First kernel: launch 5, then 30 beside it; 15 are
 * left. Second: launch 5, then 10 beside it do a third of its 30; the rest, two
 * thirds of 20, is alone.
 */
static void kernels_outlast_a_collective(void **state)
{
    const struct model_contender *const list[] = {&two_sms};
    double kernel_us[2];
    struct model_window_cost cost = cost_of(2, list, 1, kernel_us);

    (void)state;
    assert_near_ratio(kernel_us[0], 35, 1e-12);
    assert_near_ratio(kernel_us[1], 5 + 10 + 40.0 / 3, 1e-12);
    assert_near(cost.x_us, 50, 0);
    assert_near_ratio(cost.y_us, 50 + 40.0 / 3, 1e-12);
    assert_near(cost.z_us, cost.y_us, 0);
}

/*
 * Then one of 20 us on 5 SMs: of the two thirds that are left, 20 of 40 us do a
 * half, and a sixth of 20 is alone.
 */
static void work_is_split_over_collectives(void **state)
{
    const struct model_contender *const list[] = {&two_sms, &five_sms};
    double kernel_us[2];
    struct model_window_cost cost = cost_of(2, list, 2, kernel_us);

    (void)state;
    assert_near_ratio(kernel_us[1], 5 + 10 + 20 + 20.0 / 6, 1e-12);
    assert_near(cost.x_us, 70, 0);
    assert_near_ratio(cost.z_us, 70 + 20.0 / 6, 1e-12);
}

/* 1000 us beside two kernels of 35: the collective bounds. One side alone. */
static void the_longer_side_bounds(void **state)
{
    struct model_contender longer = two_sms;
    const struct model_contender *const list[] = {&longer};
    struct model_window_cost cost;

    (void)state;
    longer.time_us = 1000;
    cost = cost_of(2, list, 1, NULL);
    assert_near(cost.x_us, 1000, 0);
    assert_near_ratio(cost.y_us, 70, 1e-12);
    assert_near(cost.z_us, 1000, 0);
    cost = cost_of(2, NULL, 0, NULL);
    assert_near(cost.x_us, 0, 0);
    assert_near_ratio(cost.z_us, 50, 1e-12);
    cost = cost_of(0, list, 1, NULL);
    assert_near(cost.y_us, 0, 0);
    assert_near(cost.z_us, 1000, 0);
}

/* A collective that ends within a launch gap: 3 of 5 us; one follows it. */
static void a_collective_ends_in_a_gap(void **state)
{
    struct model_contender brief = two_sms;
    const struct model_contender *const list[] = {&brief, &five_sms};
    double kernel_us[1];

    (void)state;
    brief.time_us = 3;
    /* 18 us beside the second, of 40; the rest, 22 of 40, alone */
    (void)cost_of(1, list, 2, kernel_us);
    assert_near_ratio(kernel_us[0], 5 + 18 + 20 * 22.0 / 40, 1e-12);
}

/*
 * The tiny machine: 2 GPUs, channels of 1000 bytes/us. An AllGather of 4 MB
 * over 4 channels gives each 500,000 bytes: 500 us and the launch. Each channel
 * reads and writes memory hbm_ratio times its progress.
 */
static void a_collective_on_the_tiny_machine(void **state)
{
    const struct model_topology *topology = fixture_tiny(*state, NULL, 0);
    struct model_group group = {.count = 2};
    struct model_config four = {.algorithm = MODEL_RING,
                                .protocol = MODEL_SIMPLE,
                                .transport = MODEL_P2P,
                                .channels = 4,
                                .threads = 512,
                                .chunk_bytes = 1000};
    struct model_collective_task task = {.kind = MODEL_ALL_GATHER,
                                         .size_bytes = 4e6,
                                         .group = &group,
                                         .config = &four};
    struct model_fabric fabric;
    struct model_collective collective;
    struct model_contender contender;

    model_fabric_make(topology, true, &fabric);
    collective = model_collective_make(model_walk_new(*state, &fabric), &task);
    contender =
        model_contender_make(&collective, &four, &fabric, &topology->gpu);
    assert_near_ratio(contender.time_us, 505, 1e-3);
    assert_int_equal(contender.sms, 4);
    assert_true(collective.hbm_ratio > 0);
    assert_near_ratio(contender.hbm_bytes_per_us,
                      4 * 1000 * collective.hbm_ratio, 1e-9);
    assert_near(contender.footprint_bytes, collective.footprint_bytes, 0);
    /* one rank moves nothing and holds nothing */
    group.count = 1;
    collective = model_collective_make(model_walk_new(*state, &fabric), &task);
    contender =
        model_contender_make(&collective, &four, &fabric, &topology->gpu);
    assert_near(contender.time_us, 5, 0);
    assert_int_equal(contender.sms, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(channels_take_sms_and_so_add_waves),
        cmocka_unit_test(schedules_and_limits),
        cmocka_unit_test(ctas_that_fit_beside_channels),
        cmocka_unit_test(collectives_take_memory_bandwidth),
        cmocka_unit_test(memory_is_shared_evenly_at_worst),
        cmocka_unit_test(chunks_take_l2),
        cmocka_unit_test(kernels_outlast_a_collective),
        cmocka_unit_test(work_is_split_over_collectives),
        cmocka_unit_test(the_longer_side_bounds),
        cmocka_unit_test(a_collective_ends_in_a_gap),
        cmocka_unit_test(a_collective_on_the_tiny_machine),
    };

    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
