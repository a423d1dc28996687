/*
 * test_gemm.c - GEMMs by hand: tiles, time and bytes of a CTA, split K, groups,
 * and the choice of a tile.
 */
#include "model/gemm.h"

#include "model/workload.h"
#include "tests/unit/fixture.h"

/*
 * 10 SMs; bf16 8e6 flops/us at 0.5, that is 400,000 flops/us an SM. One tile,
 * of which an SM holds one.
 */
static struct model_gemm_tile one_tile[] = {{.rows = 100,
                                             .columns = 400,
                                             .cta = {256, 200, 1000},
                                             .ratio = 1,
                                             .ctas_per_sm = 1}};

static const struct model_gpu gpu = {
    .sm_count = 10,
    .sm_bytes_per_us = 1e9,
    .peak_flops_per_us = {[MODEL_BF16] = 8e6, [MODEL_FP32] = 4e6},
    .class_ratio = {[MODEL_CLASS_GEMM] = 0.5},
    .gemm_tiles = {one_tile, 1},
    .hbm_bytes_per_us = 1e9,
    .hbm_ratio = 1,
};

static struct model_gemm of(double m, double n, double k, double batch)
{
    return (struct model_gemm){
        .type = MODEL_BF16, .m = m, .n = n, .k = k, .batch = batch};
}

static struct model_kernel
gemm(double m, double n, double k, double batch, enum model_schedule schedule)
{
    struct model_gemm shape = of(m, n, k, batch);

    shape.schedule = schedule;
    return model_gemm_kernel(&gpu, &shape);
}

/*
 * 750 x 1700 with tiles of 100 x 400: 8 x 5 = 40 tiles, cut ones take as long
 * as whole ones: 2 x 100 x 400 x 304 = 24.32e6 flops at 400,000: 60.8 us.
 */
static void tiles_and_their_time(void **state)
{
    struct model_kernel kernel = gemm(750, 1704, 304, 1, MODEL_WAVES);

    (void)state;
    assert_int_equal(kernel.loads, 40);
    assert_near_ratio(kernel.load_us, 60.8, 1e-12);
    assert_int_equal(kernel.sm_limit, 0);
    assert_int_equal(kernel.cta_threads, 256);
    assert_int_equal(kernel.cta_registers, 200);
    assert_near(kernel.cta_shared_bytes, 1000, 0);
    assert_int_equal(kernel.ctas_per_sm, 1);
    /* three of them: thrice the tiles, each as before */
    kernel = gemm(750, 1704, 304, 3, MODEL_WAVES);
    assert_int_equal(kernel.loads, 120);
    assert_near_ratio(kernel.load_us, 60.8, 1e-12);
    /* exactly full tiles, and one row more */
    assert_int_equal(gemm(800, 2000, 8, 1, MODEL_WAVES).loads, 40);
    assert_int_equal(gemm(801, 2000, 8, 1, MODEL_WAVES).loads, 45);
    assert_int_equal(gemm(1, 1, 8, 1, MODEL_WAVES).loads, 1);
}

/*
 * 50 x 50 tiles instead of the GPU's: 16 x 34, 2 x 50 x 50 x 304 flops at the
 * rate of the only tile there is.
 */
static void a_tile_can_be_given(void **state)
{
    struct model_gemm shape = of(800, 1700, 304, 1);
    struct model_kernel kernel;

    (void)state;
    shape.n = 1696;
    shape.rows = 50;
    shape.columns = 50;
    kernel = model_gemm_kernel(&gpu, &shape);
    assert_int_equal(kernel.loads, 16 * 34);
    assert_near_ratio(kernel.load_us, 1.52e6 / 400000.0, 1e-12);
}

/*
 * 800 x 2000: 8 x 5 whole tiles. A wave of 10 in a block of a x 10/a reads 100
 * a + 4000 / a rows of 304 elements. Least where both are alike, a = sqrt(40) =
 * 6.32 (8 are there), b = 1.58: 2 x 632.46 rows. Of 2 bytes: 2 x 632.46 x 304 x
 * 2 = 769,065.9 bytes a wave and a tenth of it a tile; the output tile has 100
 * x 400 x 2 = 80,000. No reuse: (100 + 400) x 304 x 2 = 304,000, and the
 * output.
 */
static void bytes_with_and_without_reuse(void **state)
{
    struct model_kernel kernel = gemm(800, 2000, 304, 1, MODEL_WAVES);
    double panel_bytes = 2 * 100 * sqrt(40.0) * 304 * 2;

    (void)state;
    assert_near(panel_bytes, 769065.9, 0.1);
    assert_near_ratio(kernel.working_set_bytes, panel_bytes, 1e-12);
    assert_near_ratio(kernel.load_bytes, panel_bytes / 10 + 80000, 1e-12);
    assert_near_ratio(kernel.load_no_reuse_bytes, 384000, 1e-12);
}

/*
 * Cut tiles load what is there: of 750 x 1600 in 8 x 4 tiles the mean is 93.75
 * x 400. No reuse: 493.75 x 304 x 2 = 300,200; output 93.75 x 400 x 2 = 75,000.
 */
static void cut_tiles_load_less(void **state)
{
    struct model_kernel kernel = gemm(750, 1600, 304, 1, MODEL_WAVES);

    (void)state;
    assert_int_equal(kernel.loads, 32);
    assert_near_ratio(kernel.load_no_reuse_bytes, 375200, 1e-12);
}

/*
 * 30 x 1 tiles: one column, so a wave is 10 x 1: 10 x 100 + 400 = 1400 rows.
 */
static void a_narrow_matrix_makes_a_high_wave(void **state)
{
    struct model_kernel kernel = gemm(3000, 400, 304, 1, MODEL_WAVES);

    (void)state;
    assert_near_ratio(kernel.working_set_bytes, 1400 * 304 * 2.0, 1e-12);
    assert_near_ratio(kernel.load_bytes, 85120 + 80000, 1e-12);
}

/*
 * 3 x 5 tiles: the best block of 10 would be 6.32 high, three are there: 3 x
 * 100 + 10/3 x 400 = 1633.3 rows.
 */
static void a_flat_matrix_makes_a_flat_wave(void **state)
{
    struct model_kernel kernel = gemm(300, 2000, 304, 1, MODEL_WAVES);

    (void)state;
    assert_near_ratio(kernel.working_set_bytes, 4900.0 / 3 * 304 * 2.0, 1e-12);
}

/*
 * 1 x 3 tiles, fewer than SMs: the wave is the matrix, 100 + 1200 rows. Each of
 * 3 tiles loads a third.
 */
static void a_small_matrix_is_one_wave(void **state)
{
    struct model_kernel kernel = gemm(100, 1200, 304, 1, MODEL_WAVES);

    (void)state;
    assert_int_equal(kernel.loads, 3);
    assert_near_ratio(kernel.working_set_bytes, 1300 * 304 * 2.0, 1e-12);
    assert_near_ratio(kernel.load_bytes, 1300 * 304 * 2.0 / 3 + 80000, 1e-12);
    /* of 8 such, a wave of 10 tiles works on 3 1/3 */
    kernel = gemm(100, 1200, 304, 8, MODEL_WAVES);
    assert_near_ratio(kernel.working_set_bytes, 1300 * 304 * 2.0 * 10 / 3,
                      1e-12);
}

/* One tile: no reuse to have, both bounds are the same. */
static void one_tile_has_no_reuse(void **state)
{
    struct model_kernel kernel = gemm(100, 400, 304, 1, MODEL_WAVES);

    (void)state;
    assert_near_ratio(kernel.load_bytes, 384000, 1e-12);
    assert_near_ratio(kernel.load_no_reuse_bytes, 384000, 1e-12);
}

/* 4 bytes an element, and half the rate. */
static void types_have_their_bytes(void **state)
{
    struct model_kernel half = gemm(750, 1704, 304, 1, MODEL_WAVES);
    struct model_gemm shape = of(750, 1704, 304, 1);
    struct model_kernel full;

    (void)state;
    shape.type = MODEL_FP32;
    full = model_gemm_kernel(&gpu, &shape);
    assert_near_ratio(full.load_us, 121.6, 1e-12);
    assert_near_ratio(full.load_bytes, 2 * half.load_bytes, 1e-12);
    assert_near_ratio(full.load_no_reuse_bytes, 2 * half.load_no_reuse_bytes,
                      1e-12);
}

/*
 * Persistent: 45 tiles of 60.8 us on 10 slots: 10 CTAs, the longest has 5
 * tiles. Bytes are those of all tiles: 4.5 tiles each. A grid below the slots
 * stays as it is.
 */
static void persistent_grids_are_static(void **state)
{
    struct model_kernel waves = gemm(850, 1704, 304, 1, MODEL_WAVES);
    struct model_kernel kernel = gemm(850, 1704, 304, 1, MODEL_PERSISTENT);

    (void)state;
    assert_int_equal(waves.loads, 45);
    assert_int_equal(kernel.loads, 10);
    assert_near_ratio(kernel.load_us, 304, 1e-12);
    assert_near_ratio(kernel.load_bytes, 4.5 * waves.load_bytes, 1e-12);
    assert_near_ratio(kernel.load_no_reuse_bytes,
                      4.5 * waves.load_no_reuse_bytes, 1e-12);
    assert_near_ratio(kernel.working_set_bytes, waves.working_set_bytes, 1e-12);
    kernel = gemm(100, 1200, 304, 1, MODEL_PERSISTENT);
    assert_int_equal(kernel.loads, 3);
    assert_near_ratio(kernel.load_us, 60.8, 1e-12);
}

/* stream_k: the 45 tiles' 2736 us divide over 10 SMs: 273.6 us each. */
static void stream_k_is_even(void **state)
{
    struct model_kernel waves = gemm(850, 1704, 304, 1, MODEL_WAVES);
    struct model_kernel kernel = gemm(850, 1704, 304, 1, MODEL_STREAM_K);

    (void)state;
    assert_int_equal(kernel.loads, 10);
    assert_near_ratio(kernel.load_us, 273.6, 1e-12);
    assert_near_ratio(kernel.load_bytes, 4.5 * waves.load_bytes, 1e-12);
    /* 3 tiles: 182.4 us over 10 SMs */
    kernel = gemm(100, 1200, 304, 1, MODEL_STREAM_K);
    assert_int_equal(kernel.loads, 10);
    assert_near_ratio(kernel.load_us, 18.24, 1e-12);
}

/*
 * 3 us a CTA where an SM holds one. Where it holds four, 40 tiles on 10 SMs
 * hide it from each other: 0.75; with 10 tiles nobody is beside: 3; with 20
 * one: 1.5.
 */
static void overhead_hides_behind_neighbours(void **state)
{
    struct model_gemm_tile small[] = {one_tile[0]};
    struct model_gpu g = gpu;
    static const struct {
        double m, us;
    } rows[] = {{800, 0.75}, {400, 1.5}, {200, 3}};

    (void)state;
    g.gemm_overhead_us = 3;
    g.gemm_tiles.items = small;
    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct model_gemm shape = of(rows[i].m, 2000, 304, 1);

        small[0].ctas_per_sm = 1;
        assert_near_ratio(model_gemm_kernel(&g, &shape).load_us, 63.8, 1e-12);
        small[0].ctas_per_sm = 4;
        assert_near_ratio(model_gemm_kernel(&g, &shape).load_us,
                          60.8 + rows[i].us, 1e-12);
    }
}

/*
 * 2 x 2 tiles of K 1600, each in 4 parts of K 400: 16 CTAs of 2 x 100 x 400 x
 * 400 = 32e6 flops, 80 us. Each part is a product of its own, of 200 + 800
 * rows: 1000 x 400 x 2 / 4 = 200,000 bytes a CTA; it writes 40,000 partial sums
 * of 4 bytes, they are read again, and a quarter of the 80,000 bytes of output
 * falls on each. A start for the product, one for adding up.
 */
static void split_k_adds_up_in_fp32(void **state)
{
    struct model_gpu g = gpu;
    struct model_gemm shape = of(200, 800, 1600, 1);
    struct model_kernel kernel;

    (void)state;
    g.gemm_overhead_us = 3;
    shape.split_k = 4;
    kernel = model_gemm_kernel(&g, &shape);
    assert_int_equal(kernel.loads, 16);
    assert_near_ratio(kernel.load_us, 86, 1e-12);
    assert_near_ratio(kernel.load_bytes, 200000 + 2 * 160000 + 20000, 1e-12);
    /* 1000 x 400 x 2 a wave of 4 tiles; 10 SMs work on two and a half */
    assert_near_ratio(kernel.working_set_bytes, 2.5 * 800000, 1e-12);
}

/*
 * Groups of 250, 0 and 90 rows, n = 800, k = 304: 3 x 2 and 1 x 2 tiles, 8 in
 * all. Weights of the two that have rows are read once each, their rows once:
 * (250 + 800 + 90 + 800) x 304 x 2 = 1,179,520 bytes; outputs 340 x 800 x 2 =
 * 544,000. Without L2: tiles of each of 2 columns read the rows, those of each
 * row the weights: (250 x 2 + 800 x 3 + 90 x 2 + 800) x 608 = 2,359,040.
 */
static void groups_are_tiled_one_by_one(void **state)
{
    static const double rows[] = {250, 0, 90};
    struct model_gemm shape = of(0, 800, 304, 0);
    struct model_kernel kernel;

    (void)state;
    shape.groups = rows;
    shape.group_count = 3;
    kernel = model_gemm_kernel(&gpu, &shape);
    assert_int_equal(kernel.loads, 8);
    assert_near_ratio(kernel.load_us, 60.8, 1e-12);
    assert_near_ratio(kernel.load_bytes * 8, 1179520 + 544000, 1e-12);
    assert_near_ratio(kernel.load_no_reuse_bytes * 8, 2359040 + 544000, 1e-12);
    assert_near_ratio(kernel.working_set_bytes, 1179520, 1e-12);
    assert_near_ratio(model_gemm_flops(&shape), 2.0 * 340 * 800 * 304, 1e-12);
    assert_near_ratio(model_gemm_bytes(&shape),
                      (340 * 304 + 2 * 304 * 800 + 340 * 800) * 2.0, 1e-12);
    /* one group is a plain product */
    shape.group_count = 1;
    kernel = model_gemm_kernel(&gpu, &shape);
    assert_near_ratio(kernel.load_bytes,
                      gemm(250, 800, 304, 1, MODEL_WAVES).load_bytes, 1e-12);
    assert_near_ratio(kernel.working_set_bytes,
                      gemm(250, 800, 304, 1, MODEL_WAVES).working_set_bytes,
                      1e-12);
}

/*
 * Tiles of 100 x 400. k = 305: rows of 610 bytes, 2-byte accesses. A tile loads
 * 500 x 305 elements and writes 40,000: 192,500 x 2 bytes at 1000 bytes/us: 385
 * us. k = 306, 4 bytes at a time: (153,000 + 40,000) x 2 / 2000 = 193 us. k =
 * 304, 16 bytes: not at all. A single column has no next row.
 */
static void odd_rows_are_loaded_narrowly(void **state)
{
    struct model_gpu g = gpu;
    static const struct {
        double n, k, us;
    } rows[] = {
        {2000, 305, 385}, {2000, 306, 193}, {2000, 304, 60.8}, {1, 304, 60.8}};

    (void)state;
    g.gemm_narrow_bytes_per_us = 1000;
    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct model_gemm shape = of(800, rows[i].n, rows[i].k, 1);

        assert_near_ratio(model_gemm_kernel(&g, &shape).load_us, rows[i].us,
                          1e-12);
    }
}

/* -- the rule -- */

/* Of 400,000 flops/us an SM: 400,000, 360,000, 200,000. */
static struct model_gemm_tile three_tiles[] = {{.rows = 128,
                                                .columns = 256,
                                                .cta = {256, 200, 0},
                                                .ratio = 1,
                                                .ctas_per_sm = 1},
                                               {.rows = 128,
                                                .columns = 128,
                                                .cta = {256, 200, 0},
                                                .ratio = 0.9,
                                                .ctas_per_sm = 1},
                                               {.rows = 64,
                                                .columns = 64,
                                                .cta = {256, 200, 0},
                                                .ratio = 0.5,
                                                .ctas_per_sm = 1}};

static struct model_gpu chooser(void)
{
    struct model_gpu g = gpu;

    g.gemm_tiles = (struct model_list){three_tiles, 3};
    g.gemm_overhead_us = 2;
    g.gemm_split_k = 512;
    return g;
}

static void expect_choice(const struct model_gpu *g,
                          const struct model_gemm *shape,
                          int rows,
                          int columns,
                          int split_k,
                          double us)
{
    struct model_gemm_choice choice = model_gemm_choose(g, shape);

    assert_int_equal(choice.rows, rows);
    assert_int_equal(choice.columns, columns);
    assert_int_equal(choice.split_k, split_k);
    assert_near_ratio(choice.us, us, 1e-12);
}

/*
 * k = 400, one CTA: 128 x 256 65.536 + 2 = 67.536 us; 128 x 128 36.409 + 2 =
 * 38.409; 64 x 64 16.384 + 2 = 18.384. On 10 SMs:
 *   1280 x 256   10, 20, 80 tiles: 1, 2, 8 rounds: 67.5, 76.8, 147.1
 *   1408 x 256   11, 22, 88 tiles: 2, 3, 9 rounds: 135.1, 115.2, 165.5
 *   64 x 640     3, 5, 10 tiles: 1 round each: 67.5, 38.4, 18.4
 */
static void the_fastest_tile_wins(void **state)
{
    struct model_gpu g = chooser();
    struct model_gemm shape = of(1280, 256, 400, 1);

    (void)state;
    expect_choice(&g, &shape, 128, 256, 1, 67.536);
    shape.m = 1408;
    expect_choice(&g, &shape, 128, 128, 1, 3 * (16384.0 * 800 / 360000 + 2));
    shape = of(64, 640, 400, 1);
    expect_choice(&g, &shape, 64, 64, 1, 18.384);
}

/*
 * 1280 x 256 on 5 SMs: 10, 20, 80 tiles in 2, 4, 16 rounds: 135.1 us. With 4
 * SMs 3, 5, 20 rounds: 202.6, 192.0, 367.7.
 */
static void the_rule_knows_the_limit(void **state)
{
    struct model_gpu g = chooser();
    struct model_gemm shape = of(1280, 256, 400, 1);

    (void)state;
    shape.sm_limit = 5;
    expect_choice(&g, &shape, 128, 256, 1, 135.072);
    shape.sm_limit = 4;
    expect_choice(&g, &shape, 128, 128, 1, 5 * (16384.0 * 800 / 360000 + 2));
    assert_int_equal(model_gemm_kernel(&g, &shape).sm_limit, 4);
}

/*
 * 128 x 256 x 4096, one tile: 671.088 + 2 us alone. 128 x 256 in 8 parts of K
 * 512 (the least): 83.886 + 4 us on 8 SMs; 128 x 128: 2 tiles in 4 parts of
 * 1024 on 8 SMs 93.207 + 4, in 8 parts two rounds; 64 x 64: 8 tiles, in 2 parts
 * of 2048 two rounds of 83.886 + 4.
 */
static void long_k_is_split(void **state)
{
    struct model_gpu g = chooser();
    struct model_gemm shape = of(128, 256, 4096, 1);

    (void)state;
    expect_choice(&g, &shape, 128, 256, 8, 65536.0 * 512 / 400000 + 4);
    /* a fixed split, and a fixed tile */
    shape.split_k = 2;
    expect_choice(&g, &shape, 64, 64, 2, 2 * (8192.0 * 2048 / 200000 + 4));
    shape.split_k = 0;
    shape.rows = 128;
    shape.columns = 128;
    expect_choice(&g, &shape, 128, 128, 4, 32768.0 * 1024 / 360000 + 4);
    /* stream_k has no use for it */
    shape.schedule = MODEL_STREAM_K;
    assert_int_equal(model_gemm_choose(&g, &shape).split_k, 1);
}

/*
 * Bound by HBM all tiles are alike, since no wave loads anything twice: 16 x
 * 400 + 1280 x 400 + 16 x 1280 elements of 2 bytes at 1000 bytes/us.
 */
static void equals_go_to_the_larger_tile(void **state)
{
    struct model_gpu g = chooser();
    struct model_gemm shape = of(16, 1280, 400, 1);

    (void)state;
    g.hbm_bytes_per_us = 1000;
    expect_choice(&g, &shape, 128, 256, 1,
                  (16 * 400 + 1280 * 400 + 16 * 1280) * 2 / 1000.0);
}

/*
 * A tile that the file lacks takes the numbers of the nearest in size: 256 x
 * 128 those of 128 x 256, 32 x 64 those of 64 x 64.
 */
static void an_unknown_tile_is_like_the_nearest(void **state)
{
    struct model_gpu g = chooser();
    struct model_gemm shape = of(256, 128, 400, 1);

    (void)state;
    shape.rows = 256;
    shape.columns = 128;
    assert_ptr_equal(model_gemm_choose(&g, &shape).tile, &three_tiles[0]);
    shape.rows = 32;
    shape.columns = 64;
    assert_ptr_equal(model_gemm_choose(&g, &shape).tile, &three_tiles[2]);
}

/* -- shipped GPUs -- */

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
    const struct model_topology *a40 =
        fixture_topology(*state, "1x8 gpu:a40", NULL, 0);

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct model_op op = {.kind = MODEL_OP_GEMM,
                              .type = MODEL_BF16,
                              .m = 4096,
                              .n = rows[i].n,
                              .k = rows[i].k,
                              .batch = 1,
                              .tile_m = 128,
                              .tile_n = 256,
                              .split_k = 1,
                              .sm_limit = 7};
        struct model_kernel kernel = model_op_kernel(&op, &a40->gpu);

        assert_int_equal(kernel.loads, rows[i].tiles);
        assert_int_equal(kernel.sm_limit, 7);
    }
}

/*
 * Every shipped GPU: a large product takes the first tile of its file, whose
 * ratio is 1, and reaches achieved.gemm but for the last wave and overhead. All
 * tiles of the file fit into an SM.
 */
static void shipped_tables_hold_together(void **state)
{
    static const struct {
        const char *name;
        int tiles;
    } gpus[] = {{"a40", 8},   {"a100", 8}, {"a100-40", 8},
                {"b300", 6},  {"h100", 6}, {"h200", 6},
                {"gh200", 6}, {"l40s", 8}, {"v100", 6}};

    for (int i = 0; i < FIXTURE_COUNT(gpus); i++) {
        const struct model_gpu *g =
            &fixture_topology(
                 *state, model_arena_format(*state, "1x1 gpu:%s", gpus[i].name),
                 NULL, 0)
                 ->gpu;
        const struct model_gemm_tile *tiles = g->gemm_tiles.items;
        struct model_gemm shape = of(16384, 16384, 16384, 1);
        struct model_gemm_choice choice;

        shape.type = MODEL_FP16;
        choice = model_gemm_choose(g, &shape);
        assert_int_equal(choice.rows * choice.columns,
                         tiles[0].rows * tiles[0].columns);
        assert_near(tiles[0].ratio, 1, 0);
        assert_near_ratio(model_gemm_flops(&shape) / choice.us,
                          g->peak_flops_per_us[MODEL_FP16] *
                              g->class_ratio[MODEL_CLASS_GEMM],
                          0.03);
        assert_int_equal(g->gemm_tiles.count, gpus[i].tiles);
        for (int t = 0; t < g->gemm_tiles.count; t++) {
            assert_true(tiles[t].ctas_per_sm >= 1);
            assert_true(tiles[t].rows * tiles[t].columns <=
                        tiles[0].rows * tiles[0].columns);
        }
    }
}

/*
 * An A40's SM has 100 KiB: with 64 KiB, less 1 KiB that each CTA costs, tiles
 * of 72 and 80 KiB and the one of exactly 64 KiB are gone; 48 KiB remain.
 */
static void tiles_that_do_not_fit_are_left_out(void **state)
{
    static const char *const sets[] = {"gpu.sm.shared=64 KiB"};
    const struct model_gpu *g =
        &fixture_topology(*state, "1x1 gpu:a40", sets, 1)->gpu;
    const struct model_gemm_tile *tiles = g->gemm_tiles.items;

    assert_int_equal(g->gemm_tiles.count, 3);
    assert_int_equal(tiles[0].rows * tiles[0].columns, 128 * 64);
    assert_int_equal(tiles[0].ctas_per_sm, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_and_their_time),
        cmocka_unit_test(a_tile_can_be_given),
        cmocka_unit_test(bytes_with_and_without_reuse),
        cmocka_unit_test(cut_tiles_load_less),
        cmocka_unit_test(a_flat_matrix_makes_a_flat_wave),
        cmocka_unit_test(a_narrow_matrix_makes_a_high_wave),
        cmocka_unit_test(a_small_matrix_is_one_wave),
        cmocka_unit_test(one_tile_has_no_reuse),
        cmocka_unit_test(types_have_their_bytes),
        cmocka_unit_test(persistent_grids_are_static),
        cmocka_unit_test(stream_k_is_even),
        cmocka_unit_test(overhead_hides_behind_neighbours),
        cmocka_unit_test(split_k_adds_up_in_fp32),
        cmocka_unit_test(groups_are_tiled_one_by_one),
        cmocka_unit_test(odd_rows_are_loaded_narrowly),
        cmocka_unit_test(the_fastest_tile_wins),
        cmocka_unit_test(the_rule_knows_the_limit),
        cmocka_unit_test(long_k_is_split),
        cmocka_unit_test(equals_go_to_the_larger_tile),
        cmocka_unit_test(an_unknown_tile_is_like_the_nearest),
        cmocka_unit_test(phi_2_has_the_tiles_of_the_hand_check),
        cmocka_unit_test(shipped_tables_hold_together),
        cmocka_unit_test(tiles_that_do_not_fit_are_left_out),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
