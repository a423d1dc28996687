/*
 * test_kernel.c - grids of kernels by hand: tiles, time and bytes of a load,
 * schedules, and the share of L2.
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
    .tile_m = 100,
    .tile_n = 400,
};

static struct model_kernel
gemm(double m, double n, double k, double batch, enum model_schedule schedule)
{
    return model_kernel_gemm(&gpu, MODEL_BF16, m, n, k, batch, 0, 0, schedule);
}

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

/*
 * 750 x 1700 with tiles of 100 x 400: 8 x 5 = 40 tiles, cut ones count whole.
 * A tile: 2 x 100 x 400 x 300 = 24e6 flops at 400,000: 60 us.
 */
static void tiles_and_their_time(void **state)
{
    struct model_kernel kernel = gemm(750, 1700, 300, 1, MODEL_WAVES);

    (void)state;
    assert_int_equal(kernel.loads, 40);
    assert_near_ratio(kernel.load_us, 60, 1e-12);
    assert_int_equal(kernel.sm_limit, 0);
    /* three of them: thrice the tiles, each as before */
    kernel = gemm(750, 1700, 300, 3, MODEL_WAVES);
    assert_int_equal(kernel.loads, 120);
    assert_near_ratio(kernel.load_us, 60, 1e-12);
    /* exactly full tiles, and one row more */
    assert_int_equal(gemm(800, 2000, 8, 1, MODEL_WAVES).loads, 40);
    assert_int_equal(gemm(801, 2000, 8, 1, MODEL_WAVES).loads, 45);
    assert_int_equal(gemm(1, 1, 8, 1, MODEL_WAVES).loads, 1);
}

/* 50 x 50 tiles instead of the GPU's: 15 x 34; 2 x 50 x 50 x 300 flops. */
static void a_tile_can_be_given(void **state)
{
    struct model_kernel kernel = model_kernel_gemm(&gpu, MODEL_BF16, 750, 1700,
                                                   300, 1, 50, 50, MODEL_WAVES);

    (void)state;
    assert_int_equal(kernel.loads, 510);
    assert_near_ratio(kernel.load_us, 1.5e6 / 400000.0, 1e-12);
}

/*
 * A wave of 10 tiles in a block of a x 10/a reads 100 a + 4000 / a rows of 300
 * elements. Least where both are alike, a = sqrt(40) = 6.32 (8 are there), b =
 * 1.58: 2 x 632.46 rows. Of 2 bytes: 2 x 632.46 x 300 x 2 = 758,946.6 bytes a
 * wave and a tenth of it a tile; the output tile has 100 x 400 x 2 = 80,000.
 * No reuse: (100 + 400) x 300 x 2 = 300,000, and the output.
 */
static void bytes_with_and_without_reuse(void **state)
{
    struct model_kernel kernel = gemm(750, 1700, 300, 1, MODEL_WAVES);
    double panel_bytes = 2 * 100 * sqrt(40.0) * 300 * 2;

    (void)state;
    assert_near(panel_bytes, 758946.6, 0.1);
    assert_near_ratio(kernel.working_set_bytes, panel_bytes, 1e-12);
    assert_near_ratio(kernel.load_bytes, panel_bytes / 10 + 80000, 1e-12);
    assert_near_ratio(kernel.load_no_reuse_bytes, 380000, 1e-12);
}

/*
 * 2 x 5 tiles only (m = 200): the best a of 6.32 is more than 2, so the whole
 * matrix is the wave: 2 x 100 + 5 x 400 = 2200 rows.
 */
static void a_flat_matrix_makes_a_flat_wave(void **state)
{
    struct model_kernel kernel = gemm(200, 2000, 300, 1, MODEL_WAVES);

    (void)state;
    assert_near_ratio(kernel.working_set_bytes, 2200 * 300 * 2.0, 1e-12);
    assert_near_ratio(kernel.load_bytes, 132000 + 80000, 1e-12);
}

/*
 * 30 x 1 tiles: one column, so a wave is 10 x 1: 10 x 100 + 400 = 1400 rows.
 */
static void a_narrow_matrix_makes_a_high_wave(void **state)
{
    struct model_kernel kernel = gemm(3000, 400, 300, 1, MODEL_WAVES);

    (void)state;
    assert_near_ratio(kernel.working_set_bytes, 1400 * 300 * 2.0, 1e-12);
    assert_near_ratio(kernel.load_bytes, 84000 + 80000, 1e-12);
}

/*
 * 1 x 3 tiles, fewer than SMs: the wave is 3 tiles, 100 + 3 x 400 rows. Each of
 * 3 tiles loads a third.
 */
static void a_small_matrix_is_one_wave(void **state)
{
    struct model_kernel kernel = gemm(100, 1200, 300, 1, MODEL_WAVES);

    (void)state;
    assert_int_equal(kernel.loads, 3);
    assert_near_ratio(kernel.working_set_bytes, 1300 * 300 * 2.0, 1e-12);
    assert_near_ratio(kernel.load_bytes, 260000 + 80000, 1e-12);
}

/* One tile: no reuse to have, both bounds are the same. */
static void one_tile_has_no_reuse(void **state)
{
    struct model_kernel kernel = gemm(100, 400, 300, 1, MODEL_WAVES);

    (void)state;
    assert_near_ratio(kernel.load_bytes, 380000, 1e-12);
    assert_near_ratio(kernel.load_no_reuse_bytes, 380000, 1e-12);
}

/* 4 bytes an element, and half the rate. */
static void types_have_their_bytes(void **state)
{
    struct model_kernel half = gemm(750, 1700, 300, 1, MODEL_WAVES);
    struct model_kernel full = model_kernel_gemm(&gpu, MODEL_FP32, 750, 1700,
                                                 300, 1, 0, 0, MODEL_WAVES);

    (void)state;
    assert_near_ratio(full.load_us, 120, 1e-12);
    assert_near_ratio(full.load_bytes, 2 * half.load_bytes, 1e-12);
    assert_near_ratio(full.load_no_reuse_bytes, 760000, 1e-12);
    assert_near(model_type_bytes(MODEL_BF16), 2, 0);
    assert_near(model_type_bytes(MODEL_FP16), 2, 0);
    assert_near(model_type_bytes(MODEL_FP32), 4, 0);
    assert_near(model_type_bytes(MODEL_FP8), 1, 0);
}

/*
 * Persistent: 45 tiles of 60 us on 10 slots: 10 CTAs, the longest has 5 tiles:
 * 300 us. Bytes are those of all tiles: 4.5 tiles each. A grid below the slots
 * stays as it is.
 */
static void persistent_grids_are_static(void **state)
{
    struct model_kernel waves = gemm(850, 1700, 300, 1, MODEL_WAVES);
    struct model_kernel kernel = gemm(850, 1700, 300, 1, MODEL_PERSISTENT);

    (void)state;
    assert_int_equal(waves.loads, 45);
    assert_int_equal(kernel.loads, 10);
    assert_near_ratio(kernel.load_us, 300, 1e-12);
    assert_near_ratio(kernel.load_bytes, 4.5 * waves.load_bytes, 1e-12);
    assert_near_ratio(kernel.load_no_reuse_bytes,
                      4.5 * waves.load_no_reuse_bytes, 1e-12);
    assert_near_ratio(kernel.working_set_bytes, waves.working_set_bytes, 1e-12);
    kernel = gemm(100, 1200, 300, 1, MODEL_PERSISTENT);
    assert_int_equal(kernel.loads, 3);
    assert_near_ratio(kernel.load_us, 60, 1e-12);
}

/* stream_k: the 45 tiles' 2700 us divide over 10 SMs: 270 us each. */
static void stream_k_is_even(void **state)
{
    struct model_kernel waves = gemm(850, 1700, 300, 1, MODEL_WAVES);
    struct model_kernel kernel = gemm(850, 1700, 300, 1, MODEL_STREAM_K);

    (void)state;
    assert_int_equal(kernel.loads, 10);
    assert_near_ratio(kernel.load_us, 270, 1e-12);
    assert_near_ratio(kernel.load_bytes, 4.5 * waves.load_bytes, 1e-12);
    /* 3 tiles: 180 us over 10 SMs */
    kernel = gemm(100, 1200, 300, 1, MODEL_STREAM_K);
    assert_int_equal(kernel.loads, 10);
    assert_near_ratio(kernel.load_us, 18, 1e-12);
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

/* 3.2e6 bytes in 16 loads for each of 10 SMs; no arithmetic, no reuse. */
static void a_memory_kernel_is_bytes_only(void **state)
{
    struct model_kernel kernel = model_kernel_memory(&gpu, 3.2e6);

    (void)state;
    assert_int_equal(kernel.loads, 160);
    assert_near(kernel.load_us, 0, 0);
    assert_near_ratio(kernel.load_bytes, 20000, 1e-12);
    assert_near_ratio(kernel.load_no_reuse_bytes, 20000, 1e-12);
    assert_near(kernel.working_set_bytes, 0, 0);
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
 * Lagom, section 4.3, by hand: Phi-2's four GEMMs of a layer, 4096
 * tokens, on an A40 with 128 x 256 tiles: 32 rows of tiles by 30, 10, 40, 10.
 */
static void phi_2_has_the_tiles_of_the_hand_check(void **state)
{
    static const struct {
        double n, k;
        int tiles;
    } rows[] = {{7680, 2560, 960},
                {2560, 2560, 320},
                {10240, 2560, 1280},
                {2560, 10240, 320}};
    static const char *const sets[] = {"gpu.gemm.tile_m=128",
                                       "gpu.gemm.tile_n=256"};
    const struct model_topology *a40 =
        fixture_topology(*state, "1x8 gpu:a40", sets, 2);

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct model_op op = {.kind = MODEL_OP_GEMM,
                              .type = MODEL_BF16,
                              .m = 4096,
                              .n = rows[i].n,
                              .k = rows[i].k,
                              .batch = 1,
                              .sm_limit = 7};
        struct model_kernel kernel = model_op_kernel(&op, &a40->gpu);

        assert_int_equal(kernel.loads, rows[i].tiles);
        assert_int_equal(kernel.sm_limit, 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_sm_has_its_part_of_the_peak),
        cmocka_unit_test(tiles_and_their_time),
        cmocka_unit_test(a_tile_can_be_given),
        cmocka_unit_test(bytes_with_and_without_reuse),
        cmocka_unit_test(a_flat_matrix_makes_a_flat_wave),
        cmocka_unit_test(a_narrow_matrix_makes_a_high_wave),
        cmocka_unit_test(a_small_matrix_is_one_wave),
        cmocka_unit_test(one_tile_has_no_reuse),
        cmocka_unit_test(types_have_their_bytes),
        cmocka_unit_test(persistent_grids_are_static),
        cmocka_unit_test(stream_k_is_even),
        cmocka_unit_test(a_grid_by_its_totals),
        cmocka_unit_test(a_part_full_sm_does_what_is_there),
        cmocka_unit_test(a_grid_under_stream_k),
        cmocka_unit_test(a_grid_may_be_persistent),
        cmocka_unit_test(a_memory_kernel_is_bytes_only),
        cmocka_unit_test(l2_share_at_its_corners),
        cmocka_unit_test(l2_share_falls_with_the_footprint),
        cmocka_unit_test(bytes_lie_between_the_bounds),
        cmocka_unit_test(phi_2_has_the_tiles_of_the_hand_check),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
