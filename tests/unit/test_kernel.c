/*
 * test_kernel.c - grids known by their totals, by hand: time and bytes of a
 * load, schedules, limits of an SM, and the share of L2.
 */
#include "model/kernel.h"

#include "tests/unit/fixture.h"

/*
 * 10 SMs; bf16 8e6 flops/us at 0.5, that is 400,000 flops/us an SM; attention
 * at 0.25 of it; vector 2e6 at 0.8, that is 160,000 flops/us an SM.
 */
static const struct model_gpu gpu = {
    .sm_count = 10,
    .peak_flops_per_us = {[MODEL_BF16] = 8e6, [MODEL_FP32] = 4e6},
    .vector_flops_per_us = 2e6,
    .class_ratio = {[MODEL_CLASS_GEMM] = 0.5,
                    [MODEL_CLASS_ATTENTION] = 0.25,
                    [MODEL_CLASS_VECTOR] = 0.8},
};

static void one_sm_has_its_part_of_the_peak(void **state)
{
    (void)state;
    assert_near_ratio(
        model_gpu_sm_flops_per_us(&gpu, MODEL_BF16, MODEL_CLASS_GEMM), 400000,
        1e-15);
    assert_near_ratio(
        model_gpu_sm_flops_per_us(&gpu, MODEL_FP32, MODEL_CLASS_GEMM), 200000,
        1e-15);
    assert_near_ratio(
        model_gpu_sm_flops_per_us(&gpu, MODEL_BF16, MODEL_CLASS_ATTENTION),
        200000, 1e-15);
    /* the vector units know no types */
    assert_near_ratio(
        model_gpu_sm_flops_per_us(&gpu, MODEL_BF16, MODEL_CLASS_VECTOR), 160000,
        1e-15);
}

static void types_have_their_bytes(void **state)
{
    (void)state;
    assert_near(model_type_bytes(MODEL_BF16), 2, 0);
    assert_near(model_type_bytes(MODEL_FP16), 2, 0);
    assert_near(model_type_bytes(MODEL_FP32), 4, 0);
    assert_near(model_type_bytes(MODEL_FP8), 1, 0);
}

/*
 * 40 CTAs, 4 on an SM: 10 loads. 8e6 flops and 2e6 bytes in all: a tenth each,
 * 800,000 flops at 400,000 (gemm) or 160,000 (vector).
 */
static void a_grid_by_its_totals(void **state)
{
    struct model_kernel kernel = model_kernel_grid(
        &gpu, MODEL_BF16, MODEL_CLASS_GEMM, 40, 4, 8e6, 2e6, MODEL_WAVES);

    (void)state;
    assert_int_equal(kernel.loads, 10);
    assert_near_ratio(kernel.load_us, 2, 1e-12);
    assert_near_ratio(kernel.load_bytes, 200000, 1e-12);
    assert_near_ratio(kernel.load_no_reuse_bytes, 200000, 1e-12);
    assert_near(kernel.working_set_bytes, 0, 0);
    kernel = model_kernel_grid(&gpu, MODEL_BF16, MODEL_CLASS_VECTOR, 40, 4, 8e6,
                               2e6, MODEL_WAVES);
    assert_near_ratio(kernel.load_us, 5, 1e-12);
}

/* 3 CTAs where 8 fit on an SM: one load with all the work. */
static void a_part_full_sm_does_what_is_there(void **state)
{
    struct model_kernel kernel = model_kernel_grid(
        &gpu, MODEL_BF16, MODEL_CLASS_GEMM, 3, 8, 8e6, 2e6, MODEL_WAVES);

    (void)state;
    assert_int_equal(kernel.loads, 1);
    assert_near_ratio(kernel.load_us, 20, 1e-12);
    assert_near_ratio(kernel.load_bytes, 2e6, 1e-12);
}

/* 25 CTAs of 400,000 flops under stream_k: 2.5 us on each of 10 SMs. */
static void a_grid_under_stream_k(void **state)
{
    struct model_kernel kernel = model_kernel_grid(
        &gpu, MODEL_BF16, MODEL_CLASS_GEMM, 25, 1, 1e7, 5e6, MODEL_STREAM_K);

    (void)state;
    assert_int_equal(kernel.loads, 10);
    assert_near_ratio(kernel.load_us, 2.5, 1e-12);
    assert_near_ratio(kernel.load_bytes, 5e5, 1e-12);
}

/*
 * 25 CTAs of 400,000 flops, 1 us, persistent on 10 SMs: 10 CTAs, the longest
 * does 3 parts, the bytes are those of all.
 */
static void a_grid_may_be_persistent(void **state)
{
    struct model_kernel kernel = model_kernel_grid(
        &gpu, MODEL_BF16, MODEL_CLASS_GEMM, 25, 1, 1e7, 5e6, MODEL_PERSISTENT);

    (void)state;
    assert_int_equal(kernel.loads, 10);
    assert_near_ratio(kernel.load_us, 3, 1e-12);
    assert_near_ratio(kernel.load_bytes, 5e5, 1e-12);
    kernel = model_kernel_grid(&gpu, MODEL_BF16, MODEL_CLASS_GEMM, 8, 1, 8e6,
                               2e6, MODEL_PERSISTENT);
    assert_int_equal(kernel.loads, 8);
    assert_near_ratio(kernel.load_us, 2.5, 1e-12);
}

static void a_limit_takes_slots(void **state)
{
    (void)state;
    assert_int_equal(model_gpu_slots(&gpu, 0), 10);
    assert_int_equal(model_gpu_slots(&gpu, 4), 4);
    assert_int_equal(model_gpu_slots(&gpu, 40), 10);
}

/*
 * 25 loads of 2 us on 10 SMs of 1e6 bytes/us: 3 rounds, 6 us; on 4 of them 7
 * rounds, 14 us. Loads of 4e6 bytes: 4 us, 12 in all; through HBM of 5e6
 * bytes/us 100e6 bytes take 20 us.
 */
static void no_kernel_beats_its_bound(void **state)
{
    struct model_gpu g = gpu;
    struct model_kernel kernel = {.loads = 25, .load_us = 2};

    (void)state;
    g.sm_bytes_per_us = 1e6;
    g.hbm_bytes_per_us = 1e9;
    g.hbm_ratio = 1;
    assert_near(model_kernel_bound_us(&kernel, &g), 6, 1e-12);
    kernel.sm_limit = 4;
    assert_near(model_kernel_bound_us(&kernel, &g), 14, 1e-12);
    kernel.sm_limit = 0;
    kernel.load_bytes = 4e6;
    assert_near(model_kernel_bound_us(&kernel, &g), 12, 1e-12);
    g.hbm_bytes_per_us = 10e6;
    g.hbm_ratio = 0.5;
    assert_near(model_kernel_bound_us(&kernel, &g), 20, 1e-12);
}

/* min(1, L2 / (min(ws, L2) + min(fp, L2))) */
static void l2_share_at_its_corners(void **state)
{
    static const struct {
        double l2, working_set, footprint, share;
    } rows[] = {
        {6, 4, 0, 1},       /* nobody else */
        {6, 100, 0, 1},     /* nobody else, though it does not fit itself */
        {6, 0, 100, 1},     /* nothing to keep */
        {6, 4, 2, 1},       /* both fit exactly */
        {6, 4, 4, 0.75},    /* 6 / 8 */
        {6, 6, 6, 0.5},     /* halves */
        {6, 1e9, 1e9, 0.5}, /* more than all counts as all */
        {6, 3, 1e9, 6.0 / 9.0}, {6, 1e9, 3, 6.0 / 9.0}, {6, 0, 0, 1},
    };

    (void)state;
    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        assert_near(
            model_l2_share(rows[i].l2, rows[i].working_set, rows[i].footprint),
            rows[i].share, 1e-15);
    }
}

/* More chunks never leave more. */
static void l2_share_falls_with_the_footprint(void **state)
{
    double before = 1;

    (void)state;
    for (int i = 0; i <= 100; i++) {
        double share = model_l2_share(6e6, 4e6, i * 1e5);

        assert_true(share <= before && share >= 0.5 && share <= 1);
        before = share;
    }
    assert_near(before, 0.6, 1e-12); /* 6 / (4 + 6) */
}

static void bytes_lie_between_the_bounds(void **state)
{
    struct model_kernel kernel = {.load_bytes = 100,
                                  .load_no_reuse_bytes = 300};

    (void)state;
    assert_near(model_kernel_load_bytes(&kernel, 1), 100, 0);
    assert_near(model_kernel_load_bytes(&kernel, 0), 300, 0);
    assert_near(model_kernel_load_bytes(&kernel, 0.75), 150, 1e-12);
}

/*
 * The same 25 loads: two waves of 10 and 5 loads. By arithmetic 3 x 2 us. With
 * 4e6 bytes a load and 5e6 bytes/us of HBM: a wave takes 8 us, the rest 4, 20
 * in all. With 20e6 bytes/us: 2 us, 2 and the SM's 4: all waves 4 us.
 * Arithmetic of 6 us beside the 8 of HBM: 8, 8, 6.
 */
static void alone_wave_by_wave(void **state)
{
    struct model_gpu g = gpu;
    struct model_kernel kernel = {.loads = 25, .load_us = 2};

    (void)state;
    g.sm_bytes_per_us = 1e6;
    g.hbm_bytes_per_us = 5e6;
    g.hbm_ratio = 1;
    assert_near(model_kernel_alone_us(&kernel, &g), 6, 1e-12);
    kernel.load_bytes = 4e6;
    assert_near(model_kernel_alone_us(&kernel, &g), 20, 1e-12);
    g.hbm_bytes_per_us = 20e6;
    assert_near(model_kernel_alone_us(&kernel, &g), 12, 1e-12);
    g.hbm_bytes_per_us = 5e6;
    kernel.load_us = 6;
    assert_near(model_kernel_alone_us(&kernel, &g), 22, 1e-12);
    /* 4 SMs: 6 waves of 4 loads, 3.2 us each by HBM; 6 of arithmetic */
    kernel.sm_limit = 4;
    assert_near(model_kernel_alone_us(&kernel, &g), 42, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_sm_has_its_part_of_the_peak),
        cmocka_unit_test(types_have_their_bytes),
        cmocka_unit_test(a_grid_by_its_totals),
        cmocka_unit_test(a_part_full_sm_does_what_is_there),
        cmocka_unit_test(a_grid_under_stream_k),
        cmocka_unit_test(a_grid_may_be_persistent),
        cmocka_unit_test(a_limit_takes_slots),
        cmocka_unit_test(no_kernel_beats_its_bound),
        cmocka_unit_test(alone_wave_by_wave),
        cmocka_unit_test(l2_share_at_its_corners),
        cmocka_unit_test(l2_share_falls_with_the_footprint),
        cmocka_unit_test(bytes_lie_between_the_bounds),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
