/*
 * test_nccl_shrink.c - channels and threads of small messages, and the way to
 * them.
 */
#include "tests/unit/nccl.h"

enum { KIB = 1024, MIB = 1048576 };

enum {
    GATHER = MODEL_NCCL_ALL_GATHER,
    REDUCE = MODEL_NCCL_ALL_REDUCE,
    RING = MODEL_NCCL_RING,
    TREE = MODEL_NCCL_TREE,
    NVLS = MODEL_NCCL_NVLS,
    LL = MODEL_NCCL_LL,
    LL128 = MODEL_NCCL_LL128,
    SIMPLE = MODEL_NCCL_SIMPLE,
    SEARCHED = MODEL_NCCL_AS_SEARCHED,
    CHANNELS = MODEL_NCCL_FEWER_CHANNELS,
    THREADS = MODEL_NCCL_FEWER_THREADS,
    CHUNK = MODEL_NCCL_SMALLER_CHUNK
};

/* With one algorithm and protocol. */
static struct model_nccl_choice forced(struct nccl_rig *rig,
                                       int function,
                                       int algorithm,
                                       int protocol,
                                       double bytes)
{
    struct model_nccl_choice choice;

    nccl_force(rig, algorithm, protocol);
    nccl_retune(rig);
    model_nccl_choose(&rig->tuning, (enum model_nccl_function)function, bytes,
                      &choice);
    assert_int_equal(choice.algorithm, algorithm);
    assert_int_equal(choice.protocol, protocol);
    return choice;
}

static void check_step(const struct model_nccl_choice *choice,
                       int i,
                       int cause,
                       int channels,
                       int threads,
                       double chunk_bytes)
{
    assert_true(i < choice->step_count);
    assert_int_equal(choice->steps[i].cause, cause);
    assert_int_equal(choice->steps[i].channels, channels);
    assert_int_equal(choice->steps[i].threads, threads);
    assert_near(choice->steps[i].chunk_bytes, chunk_bytes, 0);
}

struct row {
    int function, algorithm, protocol;
    double bytes;
    int channels, threads, extra_warps;
};

static void check_rows(struct nccl_rig *rig, const struct row *rows, int count)
{
    for (int i = 0; i < count; i++) {
        struct model_nccl_choice choice =
            forced(rig, rows[i].function, rows[i].algorithm, rows[i].protocol,
                   rows[i].bytes);

        assert_int_equal(choice.channels, rows[i].channels);
        assert_int_equal(choice.threads, rows[i].threads);
        assert_int_equal(choice.extra_warps, rows[i].extra_warps);
    }
}

/*
 * A Simple ring of 24 channels of 512 threads, 64 bytes each: all of them from
 * 768 KiB on, one from 64 KiB less a byte on. Then threads are halved, below 32
 * KiB, 16, 8; 64 of them are no two pairs of warps and stay. A warp on top
 * makes the least CTA of 96.
 */
static void channels_then_threads(void **state)
{
    static const struct row rows[] = {
        {GATHER, RING, SIMPLE, 768 * KIB, 24, 512, 1},
        {GATHER, RING, SIMPLE, 768 * KIB - 1, 23, 512, 1},
        {GATHER, RING, SIMPLE, 64 * KIB, 2, 512, 1},
        {GATHER, RING, SIMPLE, 64 * KIB - 1, 1, 512, 1},
        {GATHER, RING, SIMPLE, 32 * KIB, 1, 512, 1},
        {GATHER, RING, SIMPLE, 32 * KIB - 1, 1, 256, 1},
        {GATHER, RING, SIMPLE, 16 * KIB - 1, 1, 128, 1},
        {GATHER, RING, SIMPLE, 8 * KIB - 1, 1, 64, 1},
        {GATHER, RING, SIMPLE, 1, 1, 64, 1}};

    check_rows(nccl_rig_new(*state, "2.18", &nccl_h100), rows,
               FIXTURE_COUNT(rows));
}

/*
 * LL: 8 bytes a thread for each of 8 ranks of a ring, 8 of a tree; its CTA has
 * no warps on top, so the 64 threads left at last are made 96. LL128: 8 bytes,
 * 640 threads, 320 are no multiple of 128. A Simple tree has 4 more warps. NVLS
 * keeps its 16 channels.
 */
static void protocols(void **state)
{
    static const struct row rows[] = {
        {GATHER, RING, LL, 768 * KIB, 24, 512, 0},
        {GATHER, RING, LL, 768 * KIB - 1, 23, 512, 0},
        {GATHER, RING, LL, 8 * KIB, 1, 128, 0},
        {GATHER, RING, LL, 8 * KIB - 1, 1, 96, 0},
        {REDUCE, TREE, LL, 96 * KIB, 24, 512, 0},
        {REDUCE, TREE, LL, 96 * KIB - 1, 23, 512, 0},
        {GATHER, RING, LL128, 24 * 640 * 8, 24, 640, 0},
        {GATHER, RING, LL128, 24 * 640 * 8 - 1, 23, 640, 0},
        {GATHER, RING, LL128, 8, 1, 320, 0},
        {REDUCE, TREE, SIMPLE, 768 * KIB, 24, 512, 4},
        {REDUCE, TREE, SIMPLE, 8, 1, 64, 4},
        {REDUCE, NVLS, SIMPLE, 8, 16, 640, 0}};

    check_rows(nccl_rig_new(*state, "2.18", &nccl_h100), rows,
               FIXTURE_COUNT(rows));
}

/*
 * NCCL_NTHREADS=384: 24 x 384 x 64 is 576 KiB, and 192 are not halved; 96 not
 * at all. NCCL_THREAD_THRESHOLDS of 1 byte: from 12 KiB on; of 0: always.
 */
static void as_told(void **state)
{
    static const struct row wide[] = {
        {GATHER, RING, SIMPLE, 576 * KIB, 24, 384, 1},
        {GATHER, RING, SIMPLE, 576 * KIB - 1, 23, 384, 1},
        {GATHER, RING, SIMPLE, 1, 1, 192, 1}};
    static const struct row narrow[] = {{GATHER, RING, LL, 1, 1, 96, 0}};
    static const struct row fine[] = {
        {GATHER, RING, SIMPLE, 12 * KIB, 24, 512, 1},
        {GATHER, RING, SIMPLE, 12 * KIB - 1, 23, 512, 1}};
    static const struct row whole[] = {{GATHER, RING, SIMPLE, 1, 24, 512, 1}};
    struct nccl_rig *rig = nccl_rig_new(*state, "2.18", &nccl_h100);

    rig->settings.threads = 384;
    check_rows(rig, wide, FIXTURE_COUNT(wide));
    rig->settings.threads = 96;
    check_rows(rig, narrow, FIXTURE_COUNT(narrow));
    rig = nccl_rig_new(*state, "2.18", &nccl_h100);
    rig->settings.thread_threshold_bytes[RING][SIMPLE] = 1;
    check_rows(rig, fine, FIXTURE_COUNT(fine));
    rig->settings.thread_threshold_bytes[RING][SIMPLE] = 0;
    check_rows(rig, whole, FIXTURE_COUNT(whole));
}

/* What shrank, in order; nothing but the start when nothing did. */
static void the_way(void **state)
{
    struct nccl_rig *rig = nccl_rig_new(*state, "2.18", &nccl_h100);
    struct model_nccl_choice choice =
        forced(rig, GATHER, RING, SIMPLE, 64.0 * MIB);

    assert_int_equal(choice.step_count, 1);
    check_step(&choice, 0, SEARCHED, 24, 512, 2 * MIB);
    choice = forced(rig, GATHER, RING, SIMPLE, 256 * KIB);
    assert_int_equal(choice.step_count, 2);
    check_step(&choice, 0, SEARCHED, 24, 512, 2 * MIB);
    check_step(&choice, 1, CHANNELS, 8, 512, 2 * MIB);
    choice = forced(rig, GATHER, RING, LL, 8);
    assert_int_equal(choice.step_count, 3);
    check_step(&choice, 0, SEARCHED, 24, 512, 32 * KIB);
    check_step(&choice, 1, CHANNELS, 1, 512, 32 * KIB);
    check_step(&choice, 2, THREADS, 1, 96, 32 * KIB);
}

/* All four causes: a Simple tree's chunk is cut last, with what it has then. */
static void the_whole_way(void **state)
{
    struct nccl_rig *rig = nccl_rig_new(*state, "2.18", &nccl_dgx_a100);
    struct model_nccl_choice choice =
        forced(rig, REDUCE, TREE, SIMPLE, 16 * KIB);

    assert_int_equal(choice.step_count, 4);
    check_step(&choice, 0, SEARCHED, 16, 512, 512 * KIB);
    check_step(&choice, 1, CHANNELS, 1, 512, 512 * KIB);
    check_step(&choice, 2, THREADS, 1, 256, 512 * KIB);
    check_step(&choice, 3, CHUNK, 1, 256, 32 * KIB);
    assert_near(choice.chunk_bytes, 32 * KIB, 0);
    assert_near(choice.channel_bytes, 16 * KIB, 0);
}

/*
 * 2.30 deals cells of 32 KiB of traffic. 1 MiB gathered by 8 ranks, Simple, 24
 * channels: 128 KiB a rank in cells of 4 KiB, 32 of them; a 24th of 1 MiB is 2
 * cells at least: 16 channels, of 8 KiB for each rank. 3 MiB: 96 cells, 4 each,
 * all 24. LL counts fourfold: cells of 1 KiB, 128; 6 each, 22 channels.
 * Reduced, twice: cells of 16 KiB, 64; 3 each, 22. From a root, once: 32 cells
 * of 32 KiB, 2 each. NVLS, 16 channels: 8 cells of 16 KiB fill 8.
 */
static void dealt_in_cells(void **state)
{
    static const struct {
        int function, algorithm, protocol;
        double kib;
        int channels;
        double channel_kib;
    } rows[] = {{GATHER, RING, SIMPLE, 1024, 16, 64},
                {GATHER, RING, SIMPLE, 3072, 24, 128},
                {GATHER, RING, LL, 1024, 22, 48},
                {REDUCE, RING, SIMPLE, 1024, 22, 48},
                {MODEL_NCCL_REDUCE, RING, SIMPLE, 1024, 16, 64},
                {REDUCE, NVLS, SIMPLE, 1024, 16, 64},
                {REDUCE, NVLS, SIMPLE, 128, 8, 16},
                {GATHER, RING, SIMPLE, 1, 1, 1}};
    struct nccl_rig *rig = nccl_rig_new(*state, "2.30", &nccl_h100);

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct model_nccl_choice choice =
            forced(rig, rows[i].function, rows[i].algorithm, rows[i].protocol,
                   rows[i].kib * KIB);

        assert_int_equal(choice.channels, rows[i].channels);
        assert_near(choice.channel_bytes, rows[i].channel_kib * KIB, 0);
    }
}

/*
 * A broadcast of 2.30 is an all_gather of 8 times as much, in equal parts: 96
 * KiB have 24 channels, a byte less 23. NVLS for want of it has a ring's.
 */
static void dealt_otherwise(void **state)
{
    static const struct row rows[] = {
        {MODEL_NCCL_BROADCAST, RING, SIMPLE, 96 * KIB, 24, 512, 1},
        {MODEL_NCCL_BROADCAST, RING, SIMPLE, 96 * KIB - 1, 23, 512, 1}};
    struct nccl_rig *rig = nccl_rig_new(*state, "2.30", &nccl_h100);
    struct model_nccl_choice choice;

    check_rows(rig, rows, FIXTURE_COUNT(rows));
    choice = forced(rig, MODEL_NCCL_BROADCAST, RING, SIMPLE, 96 * KIB);
    assert_near(choice.channel_bytes, 4 * KIB, 0);
    rig = nccl_rig_new(*state, "2.18", &nccl_a100);
    model_nccl_choose(&rig->tuning, MODEL_NCCL_ALL_REDUCE, MIB, &choice);
    model_nccl_settle(&rig->tuning, NVLS, SIMPLE, &choice);
    assert_int_equal(choice.channels, 24);
    assert_int_equal(choice.threads, 640);
    check_step(&choice, 0, SEARCHED, 24, 640, 128 * KIB);
}

/* 600 KiB: 18 channels of 512 x 64 bytes, then 19 cells, 2 each: 10. */
static void channels_go_twice(void **state)
{
    struct nccl_rig *rig = nccl_rig_new(*state, "2.30", &nccl_h100);
    struct model_nccl_choice choice =
        forced(rig, GATHER, RING, SIMPLE, 600 * KIB);

    assert_int_equal(choice.step_count, 3);
    check_step(&choice, 0, SEARCHED, 24, 512, 2 * MIB);
    check_step(&choice, 1, CHANNELS, 18, 512, 2 * MIB);
    check_step(&choice, 2, CHANNELS, 10, 512, 2 * MIB);
    assert_int_equal(choice.channels, 10);
}

/*
 * A tree's CTA is full in 2.30, 640 threads, 512 of them Simple's workers,
 * whatever its size: that is not a step. Its channels go all the same: below 64
 * KiB for 16 of LL 15, of which 8 get the 16 cells of 4 KiB, two each.
 */
static void full_trees(void **state)
{
    static const struct row rows[] = {
        {REDUCE, TREE, SIMPLE, 8, 1, 512, 4},
        {REDUCE, TREE, LL, 8, 1, 640, 0},
        {REDUCE, TREE, LL, 64 * KIB, 16, 640, 0},
        {REDUCE, TREE, LL, 64 * KIB - 1, 8, 640, 0},
        {REDUCE, TREE, LL128, 8, 1, 640, 0}};
    struct nccl_rig *rig = nccl_rig_new(*state, "2.30", &nccl_dgx_a100);
    struct model_nccl_choice choice;

    check_rows(rig, rows, FIXTURE_COUNT(rows));
    choice = forced(rig, REDUCE, TREE, LL, 8);
    assert_int_equal(choice.step_count, 2);
    check_step(&choice, 0, SEARCHED, 16, 640, 32 * KIB);
    check_step(&choice, 1, CHANNELS, 1, 640, 32 * KIB);
}

/*
 * PAT keeps threads, 512 workers of 640; its channels only go for want of
 * cells: 64 KiB gathered by 2 ranks are 2 cells of 16 KiB for each.
 */
static void pat_is_full(void **state)
{
    static const struct row rows[] = {
        {GATHER, MODEL_NCCL_PAT, SIMPLE, 64 * MIB, 16, 512, 4},
        {GATHER, MODEL_NCCL_PAT, SIMPLE, 64 * KIB, 2, 512, 4}};
    struct nccl_machine machine = nccl_h100_nodes;

    machine.ranks = 1;
    check_rows(nccl_rig_new(*state, "2.30", &machine), rows,
               FIXTURE_COUNT(rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(channels_then_threads),
        cmocka_unit_test(protocols),
        cmocka_unit_test(as_told),
        cmocka_unit_test(the_way),
        cmocka_unit_test(the_whole_way),
        cmocka_unit_test(dealt_in_cells),
        cmocka_unit_test(dealt_otherwise),
        cmocka_unit_test(channels_go_twice),
        cmocka_unit_test(full_trees),
        cmocka_unit_test(pat_is_full),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
