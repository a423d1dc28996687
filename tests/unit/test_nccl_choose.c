/*
 * test_nccl_choose.c - what NCCL takes by size, and what the simulator is then
 * to run.
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
    LL = MODEL_NCCL_LL,
    LL128 = MODEL_NCCL_LL128,
    SIMPLE = MODEL_NCCL_SIMPLE
};

static struct model_nccl_choice
choose(const struct nccl_rig *rig, int function, double bytes)
{
    struct model_nccl_choice choice;

    model_nccl_choose(&rig->tuning, (enum model_nccl_function)function, bytes,
                      &choice);
    return choice;
}

static void check(const struct nccl_rig *rig,
                  int function,
                  double bytes,
                  int algorithm,
                  int protocol)
{
    struct model_nccl_choice choice = choose(rig, function, bytes);

    assert_int_equal(choice.function, function);
    assert_int_equal(choice.algorithm, algorithm);
    assert_int_equal(choice.protocol, protocol);
}

/*
 * What NCCL 2.18.3's own code takes to gather and scatter. H100: LL up to 1
 * MiB, LL128 4 to 16, Simple from 64; A100: LL up to 1 MiB, LL128 4, Simple
 * from 16; A40: LL up to 64 KiB, Simple from 256, two nodes LL up to 256 KiB.
 * By hand at 4 MiB on the H100: LL 10.8 + 41.8, LL128 27.3 + 11.1, Simple 32.2
 * + 10.2 us.
 */
static void gathering(void **state)
{
    static const struct {
        const struct nccl_machine *machine;
        double kib;
        int protocol;
    } rows[] = {{&nccl_h100, 1, LL},
                {&nccl_h100, 1024, LL},
                {&nccl_h100, 4096, LL128},
                {&nccl_h100, 16384, LL128},
                {&nccl_h100, 65536, SIMPLE},
                {&nccl_h100, 1048576, SIMPLE},
                {&nccl_a100, 1, LL},
                {&nccl_a100, 1024, LL},
                {&nccl_a100, 4096, LL128},
                {&nccl_a100, 16384, SIMPLE},
                {&nccl_a100, 1048576, SIMPLE},
                {&nccl_a40, 1, LL},
                {&nccl_a40, 64, LL},
                {&nccl_a40, 256, SIMPLE},
                {&nccl_a40, 1048576, SIMPLE},
                {&nccl_a40_nodes, 256, LL},
                {&nccl_a40_nodes, 1024, SIMPLE}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct nccl_rig *rig = nccl_rig_new(*state, "2.18", rows[i].machine);

        check(rig, GATHER, rows[i].kib * KIB, RING, rows[i].protocol);
        check(rig, SCATTER, rows[i].kib * KIB, RING, rows[i].protocol);
    }
}

/*
 * The same of all_reduce. H100: NVLS from 1 MiB; two DGX A100: trees with LL
 * and LL128 up to 4 MiB, rings with LL128 16 to 64, Simple above; A40: Simple
 * rings from 256 KiB.
 */
static void reducing(void **state)
{
    static const struct {
        const struct nccl_machine *machine;
        double kib;
        int algorithm, protocol;
    } rows[] = {{&nccl_h100, 256, RING, LL},
                {&nccl_h100, 1024, NVLS, SIMPLE},
                {&nccl_h100, 1048576, NVLS, SIMPLE},
                {&nccl_dgx_a100, 1, TREE, LL},
                {&nccl_dgx_a100, 64, TREE, LL},
                {&nccl_dgx_a100, 1024, TREE, LL128},
                {&nccl_dgx_a100, 4096, TREE, LL128},
                {&nccl_dgx_a100, 16384, RING, LL128},
                {&nccl_dgx_a100, 65536, RING, LL128},
                {&nccl_dgx_a100, 262144, RING, SIMPLE},
                {&nccl_a40, 64, RING, LL},
                {&nccl_a40, 256, RING, SIMPLE},
                {&nccl_a40, 1048576, RING, SIMPLE}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        check(nccl_rig_new(*state, "2.18", rows[i].machine), REDUCE,
              rows[i].kib * KIB, rows[i].algorithm, rows[i].protocol);
    }
}

/*
 * 2.30 on the H100: LL has 141 GB/s, so at 4 MiB 10.8 + 26.0 us beats LL128's
 * 27.3 + 11.1; NVLS never gathers, 208 GB/s against 411.
 */
static void gathering_later(void **state)
{
    struct nccl_rig *rig = nccl_rig_new(*state, "2.30", &nccl_h100);

    check(rig, GATHER, 4 * MIB, RING, LL);
    check(rig, GATHER, 16 * MIB, RING, LL128);
    check(rig, GATHER, 64 * MIB, RING, SIMPLE);
    check(rig, REDUCE, MIB, RING, LL);
    check(rig, REDUCE, 4 * MIB, NVLS, SIMPLE);
}

/*
 * Trees of two DGX A100 at 1 MiB, 14 doublings of 64 bytes: LL 0.5 of 11.25
 * GB/s, LL128 0.6 of 80, Simple 0.5 of 88.32. Just below 1 MiB they are those
 * before, 0.4, 0.6 and 0.5; of 512 MiB none is left; below 64 B the first.
 * Rings are not corrected, but the latency of Simple is 1.4 times as long: 1
 * MiB is more than 64 bytes x 16 channels x 16 ranks.
 */
static void factors(void **state)
{
    struct nccl_rig *rig = nccl_rig_new(*state, "2.18", &nccl_dgx_a100);
    struct model_nccl_choice choice = choose(rig, REDUCE, MIB);

    assert_near_ratio(choice.time_us[TREE][LL], 25.2 + MIB / 5625.0, 1e-12);
    assert_near_ratio(choice.time_us[TREE][LL128], 48.5 + MIB / 48e3, 1e-12);
    assert_near_ratio(choice.time_us[TREE][SIMPLE], 84 + MIB / 44160.0, 1e-12);
    assert_near_ratio(choice.time_us[RING][LL128], 82 + MIB / (256e3 / 3),
                      1e-12);
    assert_near_ratio(choice.time_us[RING][SIMPLE],
                      1.4 * 220.4 + MIB / 102400.0, 1e-12);
    choice = choose(rig, REDUCE, MIB - 1);
    assert_near_ratio(choice.time_us[TREE][LL], 25.2 + (MIB - 1) / 4500.0,
                      1e-12);
    choice = choose(rig, REDUCE, 512.0 * MIB);
    assert_near_ratio(choice.time_us[TREE][SIMPLE], 84 + 512.0 * MIB / 88320,
                      1e-12);
    choice = choose(rig, REDUCE, 8);
    assert_near_ratio(choice.time_us[TREE][SIMPLE], 84 + 8 / (0.9 * 88320),
                      1e-12);
}

/*
 * The plateau begins with 64 bytes of each of 16 channels and 16 ranks, 16384;
 * GPUs before Ampere have 1.9. There is none on one node.
 */
static void plateau(void **state)
{
    struct nccl_machine machine = nccl_dgx_a100;
    struct nccl_rig *rig = nccl_rig_new(*state, "2.18", &machine);
    struct model_nccl_choice choice = choose(rig, REDUCE, 16383);

    assert_near_ratio(choice.time_us[RING][SIMPLE], 220.4 + 16383 / 102400.0,
                      1e-12);
    choice = choose(rig, REDUCE, 16384);
    assert_near_ratio(choice.time_us[RING][SIMPLE],
                      1.4 * 220.4 + 16384 / 102400.0, 1e-12);
    machine.capability = 70;
    choice = choose(nccl_rig_new(*state, "2.18", &machine), REDUCE, 16384);
    assert_near_ratio(choice.time_us[RING][SIMPLE],
                      1.9 * 220.4 + 16384 / 102400.0, 1e-12);
    choice = choose(nccl_rig_new(*state, "2.18", &nccl_a100), REDUCE, MIB);
    assert_near_ratio(choice.time_us[RING][SIMPLE], 56 + MIB / (960e3 / 7),
                      1e-12);
}

/*
 * NVLSTree of 2.30 is corrected from Blackwell on, on x86: at 1 MiB by 0.5. 8
 * x 40: 0.74 x 7 / 8 x 2 of it is 51.8, less than the NIC's 80 and the table's
 * 96. 25 + 2 x 20.9 us.
 */
static void nvls_trees_are_corrected(void **state)
{
    struct nccl_machine machine = nccl_h100_nodes;
    double gbytes = 8 * 51.8 * 16 / 30, none = 66.8 + MIB / (gbytes * 1e3);
    struct model_nccl_choice choice;

    machine.capability = 100;
    choice = choose(nccl_rig_new(*state, "2.30", &machine), REDUCE, MIB);
    assert_near_ratio(choice.time_us[MODEL_NCCL_NVLS_TREE][SIMPLE],
                      66.8 + MIB / (gbytes * 500), 1e-12);
    machine.cpu = MODEL_CPU_ARM;
    choice = choose(nccl_rig_new(*state, "2.30", &machine), REDUCE, MIB);
    assert_near_ratio(choice.time_us[MODEL_NCCL_NVLS_TREE][SIMPLE], none,
                      1e-12);
}

/* Of equal times the first wins: trees before rings, LL before Simple. */
static void ties(void **state)
{
    struct nccl_rig *rig = nccl_rig_new(*state, "2.18", &nccl_a100);
    struct model_nccl_pair(*pairs)[MODEL_NCCL_PROTOCOLS] =
        rig->tuning.pairs[REDUCE];

    for (int a = 0; a < MODEL_NCCL_ALGORITHMS; a++) {
        for (int p = 0; p < MODEL_NCCL_PROTOCOLS; p++) {
            pairs[a][p].off = "not here";
        }
    }
    pairs[RING][SIMPLE] = (struct model_nccl_pair){1e3, 5, NULL};
    check(rig, REDUCE, 512.0 * MIB, RING, SIMPLE);
    pairs[RING][LL128] = pairs[RING][SIMPLE];
    check(rig, REDUCE, 512.0 * MIB, RING, LL128);
    pairs[TREE][SIMPLE] = pairs[RING][SIMPLE];
    check(rig, REDUCE, 512.0 * MIB, TREE, SIMPLE);
}

/* What is forced is taken, whatever it costs; off is negative. */
static void forced(void **state)
{
    struct nccl_rig *rig = nccl_rig_new(*state, "2.18", &nccl_a100);
    struct model_nccl_choice choice;

    nccl_force(rig, TREE, SIMPLE);
    nccl_retune(rig);
    check(rig, REDUCE, KIB, TREE, SIMPLE);
    check(rig, GATHER, KIB, RING, SIMPLE);
    choice = choose(rig, REDUCE, KIB);
    assert_true(choice.time_us[RING][SIMPLE] < 0);
    assert_true(choice.time_us[TREE][LL] < 0);
    assert_true(choice.time_us[TREE][SIMPLE] > 0);
}

/* NVLS with LL: nothing, and nothing to run. */
static void nothing_left(void **state)
{
    struct nccl_rig *rig = nccl_rig_new(*state, "2.30", &nccl_h100);
    struct model_nccl_choice choice;
    struct model_config config;

    nccl_force(rig, NVLS, LL);
    nccl_retune(rig);
    choice = choose(rig, REDUCE, MIB);
    config = model_nccl_config(&choice);
    assert_int_equal(choice.algorithm, MODEL_UNSET);
    assert_int_equal(choice.protocol, MODEL_UNSET);
    assert_int_equal(choice.step_count, 0);
    assert_int_equal(config.algorithm, MODEL_UNSET);
    assert_int_equal(config.channels, 0);
}

/* A lone rank copies, as a Simple ring of all channels. */
static void alone(void **state)
{
    struct nccl_rig *rig = nccl_rig_new(*state, "2.18", &nccl_a100);
    struct model_nccl_choice choice;

    rig->comm.rank_count = 1;
    nccl_retune(rig);
    choice = choose(rig, REDUCE, 64.0 * MIB);
    assert_int_equal(choice.algorithm, RING);
    assert_int_equal(choice.protocol, SIMPLE);
    assert_int_equal(choice.channels, 24);
    assert_true(choice.time_us[RING][SIMPLE] < 0);
}

/*
 * The simulator's names. 64 MiB gathered on the A40: a Simple ring of 2
 * channels, 256 workers, 2 MiB; by way of host memory when P2P is disabled. 64
 * KiB: LL, 32 KiB. On the H100 4 MiB with LL128: 576000 bytes; NVLS.
 */
static void what_to_run(void **state)
{
    struct nccl_rig *rig = nccl_rig_new(*state, "2.18", &nccl_a40);
    struct model_nccl_choice choice = choose(rig, GATHER, 64.0 * MIB);
    struct model_config config = model_nccl_config(&choice);
    struct model_config wanted = {.algorithm = MODEL_RING,
                                  .protocol = MODEL_SIMPLE,
                                  .transport = MODEL_P2P,
                                  .channels = 2,
                                  .threads = 256,
                                  .chunk_bytes = 2 * MIB};

    assert_true(model_config_equal(&config, &wanted));
    rig->comm.transport = MODEL_SHM;
    choice = choose(rig, GATHER, 64 * KIB);
    config = model_nccl_config(&choice);
    wanted = (struct model_config){.algorithm = MODEL_RING,
                                   .protocol = MODEL_LL,
                                   .transport = MODEL_SHM,
                                   .channels = 2,
                                   .threads = 512,
                                   .chunk_bytes = 32 * KIB};
    assert_true(model_config_equal(&config, &wanted));
    rig = nccl_rig_new(*state, "2.18", &nccl_h100);
    choice = choose(rig, GATHER, 4.0 * MIB);
    config = model_nccl_config(&choice);
    wanted = (struct model_config){.algorithm = MODEL_RING,
                                   .protocol = MODEL_LL128,
                                   .transport = MODEL_P2P,
                                   .channels = 24,
                                   .threads = 640,
                                   .chunk_bytes = 576000};
    assert_true(model_config_equal(&config, &wanted));
    choice = choose(rig, REDUCE, 1024.0 * MIB);
    assert_int_equal(model_nccl_config(&choice).algorithm, MODEL_NVLS);
}

static void what_trees_and_pat_are(void **state)
{
    struct nccl_machine machine = nccl_h100_nodes;
    struct nccl_rig *rig = nccl_rig_new(*state, "2.18", &machine);
    struct model_nccl_choice choice = choose(rig, REDUCE, 64 * KIB);

    assert_int_equal(model_nccl_config(&choice).algorithm, MODEL_TREE);
    choice = choose(rig, REDUCE, 64.0 * MIB);
    assert_int_equal(model_nccl_config(&choice).algorithm, MODEL_NVLS_TREE);
    machine.ranks = 1;
    rig = nccl_rig_new(*state, "2.30", &machine);
    nccl_force(rig, MODEL_NCCL_PAT, -1);
    nccl_retune(rig);
    choice = choose(rig, GATHER, 64.0 * MIB);
    assert_int_equal(model_nccl_config(&choice).algorithm, MODEL_PAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gathering),
        cmocka_unit_test(reducing),
        cmocka_unit_test(gathering_later),
        cmocka_unit_test(factors),
        cmocka_unit_test(plateau),
        cmocka_unit_test(nvls_trees_are_corrected),
        cmocka_unit_test(ties),
        cmocka_unit_test(forced),
        cmocka_unit_test(nothing_left),
        cmocka_unit_test(alone),
        cmocka_unit_test(what_to_run),
        cmocka_unit_test(what_trees_and_pat_are),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
