/*
 * test_nccl_chunk.c - how much a step moves, by algorithm, protocol and size.
 */
#include "tests/unit/nccl.h"

enum { KIB = 1024, MIB = 1048576 };

enum {
    GATHER = MODEL_NCCL_ALL_GATHER,
    SCATTER = MODEL_NCCL_REDUCE_SCATTER,
    REDUCE = MODEL_NCCL_ALL_REDUCE,
    RING = MODEL_NCCL_RING,
    TREE = MODEL_NCCL_TREE,
    NVLS = MODEL_NCCL_NVLS,
    NVLS_TREE = MODEL_NCCL_NVLS_TREE,
    PAT = MODEL_NCCL_PAT,
    LL = MODEL_NCCL_LL,
    LL128 = MODEL_NCCL_LL128,
    SIMPLE = MODEL_NCCL_SIMPLE
};

static double chunk_bytes(struct nccl_rig *rig,
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
    return choice.chunk_bytes;
}

struct row {
    double bytes, chunk_bytes;
};

/* With the step that says so, last, where it is less than the most. */
static void check_rows(struct nccl_rig *rig,
                       int function,
                       int algorithm,
                       int protocol,
                       const struct row *rows,
                       int count)
{
    for (int i = 0; i < count; i++) {
        assert_near(
            chunk_bytes(rig, function, algorithm, protocol, rows[i].bytes),
            rows[i].chunk_bytes, 0);
    }
}

/*
 * 4 of 8 slots of 4 MiB, one to or from a root; half of an eighth of 512 KiB;
 * 15 of 16 of an eighth of 4915200. However short the message is.
 */
static void rings(void **state)
{
    struct nccl_rig *rig = nccl_rig_new(*state, "2.18", &nccl_a100);

    assert_near(chunk_bytes(rig, GATHER, RING, SIMPLE, MIB), 2 * MIB, 0);
    assert_near(chunk_bytes(rig, SCATTER, RING, SIMPLE, 8), 2 * MIB, 0);
    assert_near(chunk_bytes(rig, REDUCE, RING, SIMPLE, MIB), 2 * MIB, 0);
    assert_near(chunk_bytes(rig, MODEL_NCCL_BROADCAST, RING, SIMPLE, MIB),
                512 * KIB, 0);
    assert_near(chunk_bytes(rig, MODEL_NCCL_REDUCE, RING, SIMPLE, MIB),
                512 * KIB, 0);
    assert_near(chunk_bytes(rig, GATHER, RING, LL, 8), 32 * KIB, 0);
    assert_near(chunk_bytes(rig, GATHER, RING, LL128, 8), 576000, 0);
}

/*
 * NCCL_BUFFSIZE of 1 MiB, NCCL_LL_BUFFSIZE of 256 KiB, NCCL_LL128_BUFFSIZE of
 * 7680 x 8: 512 KiB, 16 KiB, 7200. With Arm CPUs 2.18 has 1 MiB anyway. 2.30
 * moves whole grains, of 1920 bytes with LL128: 3 of them, and one at least.
 */
static void buffers(void **state)
{
    struct nccl_machine arm = nccl_a100;
    struct nccl_rig *rig;

    arm.cpu = MODEL_CPU_ARM;
    rig = nccl_rig_new(*state, "2.18", &arm);
    assert_near(chunk_bytes(rig, GATHER, RING, SIMPLE, MIB), 512 * KIB, 0);
    rig->settings.buffer_bytes[SIMPLE] = 8 * MIB;
    assert_near(chunk_bytes(rig, GATHER, RING, SIMPLE, MIB), 4 * MIB, 0);
    rig = nccl_rig_new(*state, "2.30", &arm);
    assert_near(chunk_bytes(rig, GATHER, RING, SIMPLE, MIB), 2 * MIB, 0);
    rig->settings.buffer_bytes[SIMPLE] = MIB;
    rig->settings.buffer_bytes[LL] = 256 * KIB;
    rig->settings.buffer_bytes[LL128] = 7680 * 8;
    assert_near(chunk_bytes(rig, GATHER, RING, SIMPLE, MIB), 512 * KIB, 0);
    assert_near(chunk_bytes(rig, GATHER, RING, LL, MIB), 16 * KIB, 0);
    assert_near(chunk_bytes(rig, GATHER, RING, LL128, MIB), 5760, 0);
    rig->settings.buffer_bytes[LL128] = 8;
    assert_near(chunk_bytes(rig, GATHER, RING, LL128, MIB), 1920, 0);
    rig = nccl_rig_new(*state, "2.18", &nccl_a100);
    rig->settings.buffer_bytes[LL128] = 7680 * 8;
    assert_near(chunk_bytes(rig, GATHER, RING, LL128, MIB), 7200, 0);
}

/*
 * Two DGX A100, 16 channels, depth 7 + 1 = 8. 512 KiB is halved below 64 chunks
 * of each channel, to 128 KiB; below 32 to 64; below 8 to 32. So 512 MiB is
 * enough for 512 KiB, 256 MiB for 256, 64 MiB of 128; 8 MiB are 8 of 64.
 */
static void simple_trees(void **state)
{
    static const struct row rows[] = {
        {1024.0 * MIB, 512 * KIB},    {512.0 * MIB, 512 * KIB},
        {512.0 * MIB - 1, 256 * KIB}, {256.0 * MIB, 256 * KIB},
        {256.0 * MIB - 1, 128 * KIB}, {64.0 * MIB, 128 * KIB},
        {64.0 * MIB - 1, 64 * KIB},   {8.0 * MIB, 64 * KIB},
        {8.0 * MIB - 1, 32 * KIB},    {8, 32 * KIB}};
    static const struct row constant[] = {{1024.0 * MIB, 512 * KIB},
                                          {8, 512 * KIB}};

    check_rows(nccl_rig_new(*state, "2.18", &nccl_dgx_a100), REDUCE, TREE,
               SIMPLE, rows, FIXTURE_COUNT(rows));
    check_rows(nccl_rig_new(*state, "2.30", &nccl_dgx_a100), REDUCE, TREE,
               SIMPLE, constant, FIXTURE_COUNT(constant));
}

/*
 * Steps over ranks: (1 + 1 + 0.8) / 8 = 0.35. Whole chunks of each of 16
 * channels, below 22.4: 22 are too few, 23 not, even 22.9. 2.18 counts 614400
 * bytes with their flags: halved to 307200 below 226099200 bytes, to 153600
 * below half of that, to 76800 below a quarter; below 6 of 76800, 7372800
 * bytes, to 38400, below 3686400 to 19200, of which 15 / 16 are data.
 */
static void ll128_trees(void **state)
{
    static const struct row rows[] = {
        {226099200, 576000}, {226099199, 288000}, {113049600, 288000},
        {113049599, 144000}, {56524800, 144000},  {56524799, 72000},
        {7372800, 72000},    {7372799, 36000},    {3686400, 36000},
        {3686399, 18000},    {8, 18000}};

    check_rows(nccl_rig_new(*state, "2.18", &nccl_dgx_a100), REDUCE, TREE,
               LL128, rows, FIXTURE_COUNT(rows));
}

/*
 * 2.30 counts data, 576000 bytes: 16 x 23 of them are 211968000. A channel has
 * whole cells of 16 KiB, 809 then, which is more than 23 chunks. 202752000
 * bytes, 22 chunks each, are 774 cells, less than 23. The shortest is 18000, in
 * grains of 1920: 17280.
 */
static void ll128_trees_later(void **state)
{
    static const struct row rows[] = {
        {211968000, 576000}, {202752000, 288000}, {8, 17280}};

    check_rows(nccl_rig_new(*state, "2.30", &nccl_dgx_a100), REDUCE, TREE,
               LL128, rows, FIXTURE_COUNT(rows));
}

/*
 * 16 channels, 8 heads: 128 chunks under way. 64 x 128 of 128 KiB are 1 GiB,
 * below it 64 KiB; 8 x 128 of those 64 MiB, below it 32; 2 x 128 of those 8
 * MiB, below it 16.
 */
static void nvls(void **state)
{
    static const struct row rows[] = {{1024.0 * MIB, 128 * KIB},
                                      {1024.0 * MIB - 1, 64 * KIB},
                                      {64.0 * MIB, 64 * KIB},
                                      {64.0 * MIB - 1, 32 * KIB},
                                      {8.0 * MIB, 32 * KIB},
                                      {8.0 * MIB - 1, 16 * KIB},
                                      {8, 16 * KIB}};

    check_rows(nccl_rig_new(*state, "2.18", &nccl_h100), REDUCE, NVLS, SIMPLE,
               rows, FIXTURE_COUNT(rows));
}

/*
 * Heads are the GPUs that channels begin at: here 2, of which 4 channels take
 * turns. 16 x 2 x 64 x 128 KiB is 256 MiB.
 */
static void heads(void **state)
{
    static const int order[] = {0, 1, 2, 3, 4, 5, 6, 7, 1, 0, 2, 3, 4, 5, 6, 7,
                                0, 1, 2, 3, 4, 5, 6, 7, 1, 0, 2, 3, 4, 5, 6, 7};
    static const struct row rows[] = {{256.0 * MIB, 128 * KIB},
                                      {256.0 * MIB - 1, 64 * KIB}};
    struct nccl_rig *rig = nccl_rig_new(*state, "2.18", &nccl_h100);

    rig->comm.graphs[MODEL_NCCL_GRAPH_NVLS].order = order;
    rig->comm.graphs[MODEL_NCCL_GRAPH_NVLS].channels = 4;
    check_rows(rig, REDUCE, NVLS, SIMPLE, rows, FIXTURE_COUNT(rows));
}

/*
 * 128 under way. From 512 KiB, 2.18: 32 x 128 are 2 GiB, 256; 16 x 128 of those
 * 512 MiB, 128; 4 x 128 of those 64 MiB, 64; 128 of those 8 MiB, 32. 2.30
 * begins with 128 KiB, with 64 from four nodes on.
 */
static void nvls_trees(void **state)
{
    static const struct row rows[] = {
        {2048.0 * MIB, 512 * KIB}, {2048.0 * MIB - 1, 256 * KIB},
        {512.0 * MIB, 256 * KIB},  {512.0 * MIB - 1, 128 * KIB},
        {64.0 * MIB, 128 * KIB},   {64.0 * MIB - 1, 64 * KIB},
        {8.0 * MIB, 64 * KIB},     {8.0 * MIB - 1, 32 * KIB}};
    static const struct row late[] = {{2048.0 * MIB, 128 * KIB},
                                      {64.0 * MIB, 128 * KIB},
                                      {60.0 * MIB, 64 * KIB},
                                      {4.0 * MIB, 32 * KIB}};
    static const struct row many[] = {{2048.0 * MIB, 64 * KIB}};
    struct nccl_machine machine = nccl_h100_nodes;

    check_rows(nccl_rig_new(*state, "2.18", &machine), REDUCE, NVLS_TREE,
               SIMPLE, rows, FIXTURE_COUNT(rows));
    check_rows(nccl_rig_new(*state, "2.30", &machine), REDUCE, NVLS_TREE,
               SIMPLE, late, FIXTURE_COUNT(late));
    machine.nodes = 4;
    check_rows(nccl_rig_new(*state, "2.30", &machine), REDUCE, NVLS_TREE,
               SIMPLE, many, FIXTURE_COUNT(many));
}

/*
 * Blackwell over nodes, a large message: NICs of 50 GB/s or 100, near or not, 4
 * to 72 GPUs a node.
 */
static void blackwell(void **state)
{
    static const struct {
        int nodes, ranks, inter;
        double nic_gbytes, kib;
    } rows[] = {{2, 4, MODEL_NCCL_PATH_PXN, 50, 256},
                {2, 16, MODEL_NCCL_PATH_PXN, 50, 64},
                {2, 8, MODEL_NCCL_PATH_PXB, 50, 64},
                {2, 8, MODEL_NCCL_PATH_PXB, 100, 128},
                {2, 8, MODEL_NCCL_PATH_PXN, 50, 128},
                {2, 8, MODEL_NCCL_PATH_PXN, 25, 128},
                {3, 8, MODEL_NCCL_PATH_PXN, 100, 256},
                {3, 16, MODEL_NCCL_PATH_PXN, 100, 128},
                {3, 72, MODEL_NCCL_PATH_PXN, 100, 64},
                {3, 8, MODEL_NCCL_PATH_PXB, 50, 64},
                {3, 8, MODEL_NCCL_PATH_PXN, 50, 128},
                {4, 8, MODEL_NCCL_PATH_PXN, 25, 64}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct nccl_machine machine = nccl_h100_nodes;
        struct nccl_rig *rig;

        machine.capability = 100;
        machine.nodes = rows[i].nodes;
        machine.ranks = rows[i].ranks;
        machine.inter_type = rows[i].inter;
        rig = nccl_rig_new(*state, "2.30", &machine);
        rig->topology.nics.bytes_per_us = rows[i].nic_gbytes * 1e3;
        assert_near(chunk_bytes(rig, REDUCE, NVLS_TREE, SIMPLE, 65536.0 * MIB),
                    rows[i].kib * KIB, 0);
    }
}

/*
 * NCCL_NVLS_CHUNKSIZE and NCCL_NVLSTREE_MAX_CHUNKSIZE came after 2.18. 512 KiB
 * is a slot; NVLSTree's goes with it unless told.
 */
static void nvls_as_told(void **state)
{
    struct nccl_rig *rig = nccl_rig_new(*state, "2.18", &nccl_h100);

    rig->settings.nvls_chunk_bytes = MIB;
    assert_near(chunk_bytes(rig, REDUCE, NVLS, SIMPLE, 65536.0 * MIB),
                128 * KIB, 0);
    rig = nccl_rig_new(*state, "2.30", &nccl_h100);
    rig->settings.nvls_chunk_bytes = MIB;
    assert_near(chunk_bytes(rig, REDUCE, NVLS, SIMPLE, 65536.0 * MIB),
                512 * KIB, 0);
    rig = nccl_rig_new(*state, "2.30", &nccl_h100_nodes);
    rig->settings.nvls_chunk_bytes = 256 * KIB;
    assert_near(chunk_bytes(rig, REDUCE, NVLS_TREE, SIMPLE, 65536.0 * MIB),
                256 * KIB, 0);
    rig->settings.nvls_tree_chunk_bytes = 32 * KIB;
    assert_near(chunk_bytes(rig, REDUCE, NVLS_TREE, SIMPLE, 65536.0 * MIB),
                32 * KIB, 0);
}

/*
 * PAT, four nodes, 16 channels: 512 KiB as long as each has 32 of them to
 * gather, 256 MiB in all, 16 to scatter; never less than 64.
 */
static void pat(void **state)
{
    static const struct row gathered[] = {
        {256.0 * MIB, 512 * KIB}, {240.0 * MIB, 256 * KIB},
        {128.0 * MIB, 256 * KIB}, {64.0 * MIB, 128 * KIB},
        {32.0 * MIB, 64 * KIB},   {MIB, 64 * KIB}};
    static const struct row scattered[] = {
        {128.0 * MIB, 512 * KIB}, {120.0 * MIB, 256 * KIB}, {MIB, 64 * KIB}};
    struct nccl_machine machine = nccl_h100_nodes;

    machine.nodes = 4;
    machine.ranks = 1;
    check_rows(nccl_rig_new(*state, "2.30", &machine), GATHER, PAT, SIMPLE,
               gathered, FIXTURE_COUNT(gathered));
    check_rows(nccl_rig_new(*state, "2.30", &machine), SCATTER, PAT, SIMPLE,
               scattered, FIXTURE_COUNT(scattered));
}

/* Cutting is the last step, and only where it cuts. */
static void cutting_is_a_step(void **state)
{
    struct nccl_rig *rig = nccl_rig_new(*state, "2.18", &nccl_h100);
    struct model_nccl_choice choice;

    model_nccl_choose(&rig->tuning, MODEL_NCCL_ALL_REDUCE, 1024.0 * MIB,
                      &choice);
    assert_int_equal(choice.algorithm, NVLS);
    assert_int_equal(choice.step_count, 1);
    assert_near(choice.steps[0].chunk_bytes, 128 * KIB, 0);
    model_nccl_choose(&rig->tuning, MODEL_NCCL_ALL_REDUCE, 16.0 * MIB, &choice);
    assert_int_equal(choice.step_count, 2);
    assert_int_equal(choice.steps[1].cause, MODEL_NCCL_SMALLER_CHUNK);
    assert_int_equal(choice.steps[1].channels, 16);
    assert_int_equal(choice.steps[1].threads, 640);
    assert_near(choice.steps[1].chunk_bytes, 32 * KIB, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings),
        cmocka_unit_test(buffers),
        cmocka_unit_test(simple_trees),
        cmocka_unit_test(ll128_trees),
        cmocka_unit_test(ll128_trees_later),
        cmocka_unit_test(nvls),
        cmocka_unit_test(heads),
        cmocka_unit_test(nvls_trees),
        cmocka_unit_test(blackwell),
        cmocka_unit_test(nvls_as_told),
        cmocka_unit_test(pat),
        cmocka_unit_test(cutting_is_a_step),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
