/*
 * test_occupancy.c - CTAs on an SM, on the shipped GPUs. All have 65536
 * registers, in granules of 256 a warp; A40, A100 and H100 reserve 1 KiB of
 * shared memory for each CTA.
 *
 * A channel of NCCL: 96 registers a thread, 3072 a warp, and 87,500 bytes of
 * shared memory whatever its threads. Simple has one warp besides the workers:
 *
 *     NT 512   17 warps   52,224 registers   13,312 left
 *     NT 256    9 warps   27,648 registers   37,888 left
 *
 * and leaves of shared memory, after 88,524 bytes with what is reserved,
 *
 *     A40 100 KiB  13,876    A100 164 KiB  79,412    H100 228 KiB  144,948
 */
#include "model/occupancy.h"

#include "tests/unit/fixture.h"

static const struct model_gpu *gpu_of(struct model_arena *arena,
                                      const char *name)
{
    return &fixture_topology(
                arena, model_arena_format(arena, "1x1 gpu:%s", name), NULL, 0)
                ->gpu;
}

static struct model_config simple(int threads)
{
    struct model_config config = model_config_none();

    config.algorithm = MODEL_RING;
    config.protocol = MODEL_SIMPLE;
    config.threads = threads;
    return config;
}

static void a_channel_has_a_warp_more_than_workers(void **state)
{
    const struct model_gpu *gpu = gpu_of(*state, "a40");
    struct model_config config = simple(512);
    struct model_cta cta = model_occupancy_channel(gpu, &config);

    assert_int_equal(cta.threads, 544);
    assert_int_equal(cta.registers, 96);
    assert_near(cta.shared_bytes, 87500, 0);
}

/* 2.18.3: Simple + 1 warp in rings, + 4 in trees; LL, LL128 none; others 640.
 */
static void threads_follow_algorithm_and_protocol(void **state)
{
    static const struct {
        enum model_algorithm algorithm;
        enum model_protocol protocol;
        int threads;
    } rows[] = {
        {MODEL_RING, MODEL_SIMPLE, 288},     {MODEL_RING, MODEL_LL, 256},
        {MODEL_RING, MODEL_LL128, 256},      {MODEL_TREE, MODEL_SIMPLE, 384},
        {MODEL_TREE, MODEL_LL, 256},         {MODEL_NVLS, MODEL_SIMPLE, 640},
        {MODEL_PAIRWISE, MODEL_SIMPLE, 640}, {MODEL_PAT, MODEL_SIMPLE, 640}};
    const struct model_gpu *gpu = gpu_of(*state, "h100");

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct model_config config = simple(256);

        config.algorithm = (int)rows[i].algorithm;
        config.protocol = (int)rows[i].protocol;
        assert_int_equal(model_occupancy_channel(gpu, &config).threads,
                         rows[i].threads);
    }
}

/*
 * On an A40: 48 warps, 16 CTAs, 102,400 bytes. Each row is limited by another
 * of the four.
 */
static void each_limit_can_decide(void **state)
{
    static const struct {
        struct model_cta cta;
        int count;
    } rows[] = {
        /* 8 warps: 48 / 8 (registers 65536 / 8192 = 8) */
        {{256, 32, 0}, 6},
        /* 33 threads are 2 warps: 24, but 16 CTAs */
        {{33, 16, 0}, 16},
        /* 8 warps of 128 x 32 = 4096: 32,768, two of them */
        {{256, 128, 0}, 2},
        /* 8 warps of 129 x 32 = 4128, in granules 4352: 34,816, one */
        {{256, 129, 0}, 1},
        /* 49,152 + 1024 bytes, two; one byte more than half, one */
        {{128, 32, 49152}, 2},
        {{128, 32, 50177}, 1},
        /* 102,400 - 1024 just fits, one byte more does not */
        {{128, 32, 101376}, 1},
        {{128, 32, 101377}, 0},
        /* 1024 threads of 65 registers: 32 warps of 2304, 73,728 */
        {{1024, 65, 0}, 0},
    };
    const struct model_gpu *gpu = gpu_of(*state, "a40");

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        if (model_occupancy(gpu, &rows[i].cta) != rows[i].count) {
            fail_msg("row %d: %d CTAs, not %d", i,
                     model_occupancy(gpu, &rows[i].cta), rows[i].count);
        }
    }
}

static struct model_room
room_of(const struct model_gpu *gpu, struct model_cta cta, int threads)
{
    struct model_config config = simple(threads);
    struct model_kernel kernel = {.cta_threads = cta.threads,
                                  .cta_registers = cta.registers,
                                  .cta_shared_bytes = cta.shared_bytes};

    return model_occupancy_room(gpu, &kernel, &config);
}

static void expect_room(struct model_room room, int full, int beside)
{
    assert_int_equal(room.full, full);
    assert_int_equal(room.beside, beside);
}

/*
 * 100 KiB: a CTA of 32 KiB (33,792 with what is reserved) has no room beside
 * a channel, whatever NT: 13,876 are left. Alone three. One without shared
 * memory (8 warps, 8192 registers) fits once beside NT 512: 13,312 / 8192.
 */
static void an_a40_has_no_shared_memory_left(void **state)
{
    const struct model_gpu *gpu = gpu_of(*state, "a40");
    struct model_cta tile = {128, 128, 32768};
    struct model_cta stream = {256, 32, 0};

    expect_room(room_of(gpu, tile, 512), 3, 0);
    expect_room(room_of(gpu, tile, 96), 3, 0);
    expect_room(room_of(gpu, stream, 512), 6, 1);
    /* NT 96: 4 warps, 12,288 registers; 44 warps left, 5 x 8 */
    expect_room(room_of(gpu, stream, 96), 6, 5);
}

/*
 * The same tile: 4 warps of 4096 registers, 16,384. Alone four of them, by
 * registers and on the A100 by shared memory too. Beside NT 512 13,312
 * registers are left: none. Beside NT 256 37,888: two, on the A100 and H100.
 */
static void registers_decide_on_a100_and_h100(void **state)
{
    struct model_cta tile = {128, 128, 32768};

    expect_room(room_of(gpu_of(*state, "a100"), tile, 512), 4, 0);
    expect_room(room_of(gpu_of(*state, "a100"), tile, 256), 4, 2);
    expect_room(room_of(gpu_of(*state, "h100"), tile, 512), 4, 0);
    expect_room(room_of(gpu_of(*state, "h100"), tile, 256), 4, 2);
    /* 64 KiB: 79,412 holds one on the A100, 144,948 two on the H100 */
    tile.shared_bytes = 65536;
    expect_room(room_of(gpu_of(*state, "a100"), tile, 256), 2, 1);
    expect_room(room_of(gpu_of(*state, "h100"), tile, 256), 3, 2);
}

/* Without cta_threads a load has its SM to itself. */
static void an_unknown_cta_shares_no_sm(void **state)
{
    const struct model_gpu *gpu = gpu_of(*state, "h100");
    struct model_kernel kernel = {.loads = 1};
    struct model_config config = simple(96);

    expect_room(model_occupancy_room(gpu, &kernel, &config), 1, 0);
}

static const struct model_op *kernel_op(struct model_arena *arena,
                                        const char *keys)
{
    const struct model_topology *topology =
        fixture_topology(arena, "1x1 gpu:a100", NULL, 0);

    return fixture_workload(
               arena, topology,
               model_arena_format(
                   arena,
                   "name: t\nops: [{id: k, kind: kernel, flops: 1 GFLOP, %s}]",
                   keys))
        ->ops;
}

/*
 * On 108 SMs the tile above fits four times. 1080 CTAs: 270 loads of four. 150
 * CTAs are two an SM where it has to be: 75 loads. ctas_per_sm caps it.
 */
static void loads_follow_from_the_limits(void **state)
{
    static const char *const tile =
        "cta_threads: 128, cta_registers: 128, cta_shared: 32 KiB";
    const struct model_gpu *gpu = gpu_of(*state, "a100");
    static const struct {
        const char *keys;
        int loads, each;
    } rows[] = {{"ctas: 1080", 270, 4},
                {"ctas: 150", 75, 2},
                {"ctas: 108", 108, 1},
                {"ctas: 1080, ctas_per_sm: 3", 360, 3},
                {"ctas: 1080, ctas_per_sm: 9", 270, 4}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct model_kernel kernel = model_op_kernel(
            kernel_op(*state,
                      model_arena_format(*state, "%s, %s", rows[i].keys, tile)),
            gpu);

        assert_int_equal(kernel.loads, rows[i].loads);
        assert_int_equal(kernel.ctas_per_sm, rows[i].each);
    }
    /* without resources: one, or what is given, however small the grid */
    assert_int_equal(
        model_op_kernel(kernel_op(*state, "ctas: 1080"), gpu).loads, 1080);
    assert_int_equal(
        model_op_kernel(kernel_op(*state, "ctas: 9, ctas_per_sm: 3"), gpu)
            .loads,
        3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_channel_has_a_warp_more_than_workers),
        cmocka_unit_test(threads_follow_algorithm_and_protocol),
        cmocka_unit_test(each_limit_can_decide),
        cmocka_unit_test(an_a40_has_no_shared_memory_left),
        cmocka_unit_test(registers_decide_on_a100_and_h100),
        cmocka_unit_test(an_unknown_cta_shares_no_sm),
        cmocka_unit_test(loads_follow_from_the_limits),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
