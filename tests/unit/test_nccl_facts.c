/*
 * test_nccl_facts.c - what is known of NCCL's decisions, each the whole way
 * from the text of a topology: graphs, channels, model, choice, chunk.
 *
 * What NCCL 2.18.3's own search and tuning gave for a machine is told as such;
 * all else is derived beside it.
 */
#include "tests/unit/nccl_whole.h"

#define A40_PAIRS "gpu:a40 nvlink:pairs pcie:4:2/switch sockets:2"
#define A40_PCIE  "gpu:a40 pcie:4:2/switch sockets:2"
#define INTEL     "node.host.cpu=intel"
#define AMD       "node.host.cpu=amd"

/* -- the nine kinds of nodes -- */

static const struct machine h100 = {.version = "2.18",
                                    .topology = "dgx-h100-1node"};
static const struct machine h100_two = {
    .version = "2.18", .topology = "dgx-h100", .sets = {"nodes=2"}};
static const struct machine h100_four = {
    .version = "2.18", .topology = "dgx-h100", .sets = {"nodes=4"}};
static const struct machine a100 = {.version = "2.18", .topology = "dgx-a100"};
static const struct machine a100_two = {
    .version = "2.18", .topology = "dgx-a100", .sets = {"nodes=2"}};
static const struct machine a40 = {
    .version = "2.18", .topology = "1x8 " A40_PAIRS, .sets = {INTEL}};
static const struct machine a40_amd = {
    .version = "2.18", .topology = "1x8 " A40_PAIRS, .sets = {AMD}};
static const struct machine a40_two = {.version = "2.18",
                                       .topology =
                                           "2x8 " A40_PAIRS " nic:2x200Gbit/s",
                                       .sets = {INTEL}};
static const struct machine a40_pcie = {
    .version = "2.18", .topology = "1x8 " A40_PCIE, .sets = {INTEL}};
static const struct machine a40_pcie_two = {.version = "2.18",
                                            .topology = "2x8 " A40_PCIE
                                                        " nic:1x100Gbit/s",
                                            .sets = {INTEL}};

/*
 * Channels and threads of NCCL's own search, and of send and receive: of two
 * links to each peer (H100 36, A100 24, not more than there are), 2 over PCIe
 * and to other nodes, all to the next power of two.
 *
 * The model of Simple rings. The graph's bandwidth B and n ranks give B n / (n
 * - 1) gathered and half of it reduced. A step takes 3.4 us over NVLink and 5.7
 * over PCIe, at least 3 us across nodes, 6 with AMD's CPUs; over the network
 * 14: N - 1 of the n - 1 steps to gather, 2 N of 2 (n - 1) to reduce. 8.4 more.
 */
static void nodes(void **state)
{
    static const struct {
        const struct machine *machine;
        int channels, threads, nvls, p2p, per_peer;
        double gathered_gbytes, gathered_us, reduced_us;
    } rows[] = {
        {&h100, 24, 512, 16, 32, 32, 360 * 8 / 7.0, 8.4 + 7 * 3.4,
         8.4 + 14 * 3.4},
        {&h100_two, 16, 512, 16, 16, 2, 360 * 16 / 15.0, 8.4 + 14 * 3.4 + 14,
         8.4 + 26 * 3.4 + 4 * 14},
        {&h100_four, 16, 512, 16, 16, 2, 360 * 32 / 31.0,
         8.4 + 28 * 3.4 + 3 * 14, 8.4 + 54 * 3.4 + 8 * 14},
        {&a100, 24, 512, 0, 32, 32, 240 * 8 / 7.0, 8.4 + 7 * 3.4,
         8.4 + 14 * 3.4},
        {&a100_two, 16, 512, 0, 16, 2, 192 * 16 / 15.0, 8.4 + 14 * 6 + 14,
         8.4 + 26 * 6 + 4 * 14},
        {&a40, 2, 256, 0, 2, 2, 80 / 7.0, 8.4 + 7 * 5.7, 8.4 + 14 * 5.7},
        {&a40_amd, 4, 512, 0, 4, 2, 24 * 8 / 7.0, 8.4 + 7 * 5.7,
         8.4 + 14 * 5.7},
        {&a40_two, 4, 512, 0, 4, 2, 20 * 16 / 15.0, 8.4 + 14 * 5.7 + 14,
         8.4 + 26 * 5.7 + 4 * 14},
        {&a40_pcie, 2, 256, 0, 2, 2, 80 / 7.0, 8.4 + 7 * 5.7, 8.4 + 14 * 5.7},
        {&a40_pcie_two, 2, 256, 0, 2, 2, 10 * 16 / 15.0, 8.4 + 14 * 5.7 + 14,
         8.4 + 26 * 5.7 + 4 * 14}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        const struct whole *whole = whole_of(*state, rows[i].machine);
        const struct model_nccl_pair *gather =
            &whole->tuning.pairs[GATHER][RING][SIMPLE];
        const struct model_nccl_pair *reduce =
            &whole->tuning.pairs[REDUCE][RING][SIMPLE];

        assert_int_equal(whole->comm.channels, rows[i].channels);
        assert_int_equal(whole->tuning.threads[RING][SIMPLE], rows[i].threads);
        assert_int_equal(whole->comm.nvls_channels, rows[i].nvls);
        assert_int_equal(whole->comm.p2p_channels, rows[i].p2p);
        assert_int_equal(whole->comm.p2p_channels_per_peer, rows[i].per_peer);
        assert_near_ratio(gather->bytes_per_us, rows[i].gathered_gbytes * GB,
                          1e-12);
        assert_near_ratio(gather->latency_us, rows[i].gathered_us, 1e-12);
        assert_near_ratio(reduce->bytes_per_us,
                          rows[i].gathered_gbytes * GB / 2, 1e-12);
        assert_near_ratio(reduce->latency_us, rows[i].reduced_us, 1e-12);
    }
}

/* By NCCL 2.18.3's own code, at powers of 4. */
static void selection_by_size(void **state)
{
    static const struct band gathering[] = {
        {&h100, 1, 1024, RING, LL},
        {&h100, 4096, 16384, RING, LL128},
        {&h100, 65536, 1048576, RING, SIMPLE},
        {&a100, 1, 1024, RING, LL},
        {&a100, 4096, 4096, RING, LL128},
        {&a100, 16384, 1048576, RING, SIMPLE},
        {&a40, 1, 64, RING, LL},
        {&a40, 256, 1048576, RING, SIMPLE},
        {&a40_pcie, 1, 64, RING, LL},
        {&a40_pcie, 256, 1048576, RING, SIMPLE},
        {&a40_two, 1, 256, RING, LL},
        {&a40_two, 1024, 1048576, RING, SIMPLE}};
    static const struct band reducing[] = {
        {&h100, 1024, 1048576, NVLS, SIMPLE},
        {&a100_two, 1, 64, TREE, LL},
        {&a100_two, 1024, 4096, TREE, LL128},
        {&a100_two, 16384, 65536, RING, LL128},
        {&a100_two, 262144, 1048576, RING, SIMPLE},
        {&a40, 256, 1048576, RING, SIMPLE}};

    check_bands(*state, GATHER, gathering, FIXTURE_COUNT(gathering));
    check_bands(*state, SCATTER, gathering, FIXTURE_COUNT(gathering));
    check_bands(*state, REDUCE, reducing, FIXTURE_COUNT(reducing));
}

/* -- trees, small messages, chunks -- */

/*
 * The factors of a tree's bandwidth, from 64 bytes on, doubling; above 256 MiB
 * there is none.
 */
static void tree_factors(void **state)
{
    static const double factors[MODEL_NCCL_PROTOCOLS][24] = {
        [LL] = {1,  1,  1,  1,  .9, .8, .7, .7, .7, .7, .6, .5,
                .4, .4, .5, .6, .7, .8, .9, 1,  1,  1,  1,  1},
        [LL128] = {1,  1,  1,  1,  1,  .9, .8, .8, .8, .7, .6, .6,
                   .6, .6, .6, .6, .8, .9, .9, .9, .9, 1,  1,  1},
        [SIMPLE] = {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
                    .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, 1}};
    static const char *const versions[] = {"2.18", "2.30"};

    for (int v = 0; v < FIXTURE_COUNT(versions); v++) {
        struct machine machine = a100_two;
        const struct whole *whole;

        machine.version = versions[v];
        whole = whole_of(*state, &machine);
        for (int p = 0; p < MODEL_NCCL_PROTOCOLS; p++) {
            const struct model_nccl_pair *pair =
                &whole->tuning.pairs[REDUCE][TREE][p];

            for (int i = 0; i < 24; i++) {
                double bytes = ldexp(64.0, i);
                double us = model_nccl_time_us(
                    &whole->tuning, MODEL_NCCL_ALL_REDUCE, TREE, p, bytes);

                assert_near_ratio(us,
                                  pair->latency_us +
                                      bytes /
                                          (pair->bytes_per_us * factors[p][i]),
                                  1e-12);
            }
        }
    }
}

/*
 * A thread has 64 bytes of Simple, 8 of LL128, 8 of LL for each of 8 ranks at
 * least, or channels go, then threads: 24 x 512 x 64 is 768 KiB, as is LL's; 24
 * x 640 x 8 is 120 KiB. The A40 has 2 x 256 x 64 bytes, 32 KiB, two DGX A100 16
 * x 512 x 8 x 16, 1 MiB.
 */
static void small_messages(void **state)
{
    static const struct {
        const struct machine *machine;
        int protocol;
        double bytes;
        int channels, threads;
    } rows[] = {{&h100, SIMPLE, 768 * KIB, 24, 512},
                {&h100, SIMPLE, 768 * KIB - 1, 23, 512},
                {&h100, SIMPLE, 32 * KIB - 1, 1, 256},
                {&h100, SIMPLE, 1, 1, 64},
                {&h100, LL, 768 * KIB, 24, 512},
                {&h100, LL, 768 * KIB - 1, 23, 512},
                {&h100, LL, 1, 1, 96},
                {&h100, LL128, 120 * KIB, 24, 640},
                {&h100, LL128, 120 * KIB - 1, 23, 640},
                {&a40, SIMPLE, 32 * KIB, 2, 256},
                {&a40, SIMPLE, 32 * KIB - 1, 1, 256},
                {&a40, SIMPLE, 16 * KIB - 1, 1, 128},
                {&a100_two, LL, 1024 * KIB, 16, 512},
                {&a100_two, LL, 1024 * KIB - 1, 15, 512}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        const struct whole *whole =
            forced(*state, rows[i].machine, RING, rows[i].protocol);
        struct model_nccl_choice choice = choose(whole, GATHER, rows[i].bytes);

        assert_int_equal(choice.channels, rows[i].channels);
        assert_int_equal(choice.threads, rows[i].threads);
    }
}

static const struct machine h100_late = {.version = "2.30",
                                         .topology = "dgx-h100-1node"};
static const struct machine h100_two_late = {
    .version = "2.30", .topology = "dgx-h100", .sets = {"nodes=2"}};
static const struct machine h100_four_late = {
    .version = "2.30", .topology = "dgx-h100", .sets = {"nodes=4"}};
static const struct machine a100_two_late = {
    .version = "2.30", .topology = "dgx-a100", .sets = {"nodes=2"}};
static const struct machine lone_late = {
    .version = "2.30",
    .topology = "4x1 gpu:h100 pcie:5:1/switch nic:1x400Gbit/s"};

/*
 * What one step of one channel moves, of MiB in all and perhaps a byte less.
 *
 * Rings: 4 of 8 slots of 4 MiB, one to a root; half of a slot of 64 KiB; 15 of
 * 16 of 614400. Trees on two DGX A100, 16 channels, 8 deep: 512 KiB from 16 x 8
 * x 8 of them on, halved to 128 below; then 64 below 16 x 4 x 8 of those, 32
 * below 16 x 8. In 2.30 always 512. NVLS, 16 channels, 8 heads: 128 KiB from 64
 * x 128 on, 64 from 8 x 128, 32 from 2 x 128, else 16. NVLSTree: 512 KiB from
 * 32 x 128 on, 256 from 16 x 128, 128 from 4 x 128, 64 from 128, else 32; in
 * 2.30 it begins with 128, with 64 from four nodes on. PAT, four lone ranks, 4
 * channels: 512 KiB from 32 x 4 on to gather and 16 x 4 to scatter, at least
 * 64.
 */
static void chunks(void **state)
{
    static const struct {
        const struct machine *machine;
        int function, algorithm, protocol, mib, less;
        double chunk_bytes;
    } rows[] = {{&a100, GATHER, RING, SIMPLE, 1024, 0, 2 * MIB},
                {&a100, SCATTER, RING, SIMPLE, 1, 0, 2 * MIB},
                {&a100, BROADCAST, RING, SIMPLE, 1024, 0, 512 * KIB},
                {&a100, MODEL_NCCL_REDUCE, RING, SIMPLE, 1024, 0, 512 * KIB},
                {&a100, GATHER, RING, LL, 1024, 0, 32 * KIB},
                {&a100, GATHER, RING, LL128, 1024, 0, 576000},
                {&a100_two, REDUCE, TREE, SIMPLE, 512, 0, 512 * KIB},
                {&a100_two, REDUCE, TREE, SIMPLE, 512, 1, 256 * KIB},
                {&a100_two, REDUCE, TREE, SIMPLE, 64, 0, 128 * KIB},
                {&a100_two, REDUCE, TREE, SIMPLE, 64, 1, 64 * KIB},
                {&a100_two, REDUCE, TREE, SIMPLE, 8, 1, 32 * KIB},
                {&a100_two_late, REDUCE, TREE, SIMPLE, 8, 1, 512 * KIB},
                {&h100, REDUCE, NVLS, SIMPLE, 1024, 0, 128 * KIB},
                {&h100, REDUCE, NVLS, SIMPLE, 1024, 1, 64 * KIB},
                {&h100, REDUCE, NVLS, SIMPLE, 64, 1, 32 * KIB},
                {&h100, REDUCE, NVLS, SIMPLE, 8, 1, 16 * KIB},
                {&h100_late, REDUCE, NVLS, SIMPLE, 1024, 0, 128 * KIB},
                {&h100_late, REDUCE, NVLS, SIMPLE, 4, 0, 16 * KIB},
                {&h100_two, REDUCE, NVLS_TREE, SIMPLE, 2048, 0, 512 * KIB},
                {&h100_two, REDUCE, NVLS_TREE, SIMPLE, 2048, 1, 256 * KIB},
                {&h100_two, REDUCE, NVLS_TREE, SIMPLE, 512, 1, 128 * KIB},
                {&h100_two, REDUCE, NVLS_TREE, SIMPLE, 64, 1, 64 * KIB},
                {&h100_two, REDUCE, NVLS_TREE, SIMPLE, 8, 1, 32 * KIB},
                {&h100_two_late, REDUCE, NVLS_TREE, SIMPLE, 2048, 0, 128 * KIB},
                {&h100_four_late, REDUCE, NVLS_TREE, SIMPLE, 2048, 0, 64 * KIB},
                {&lone_late, GATHER, PAT, SIMPLE, 64, 0, 512 * KIB},
                {&lone_late, GATHER, PAT, SIMPLE, 48, 0, 256 * KIB},
                {&lone_late, GATHER, PAT, SIMPLE, 1, 0, 64 * KIB},
                {&lone_late, SCATTER, PAT, SIMPLE, 32, 0, 512 * KIB},
                {&lone_late, SCATTER, PAT, SIMPLE, 24, 0, 256 * KIB}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        const struct whole *whole = forced(*state, rows[i].machine,
                                           rows[i].algorithm, rows[i].protocol);
        struct model_nccl_choice choice = choose(
            whole, rows[i].function, (double)rows[i].mib * MIB - rows[i].less);

        if (choice.algorithm != rows[i].algorithm ||
            fabs(choice.chunk_bytes - rows[i].chunk_bytes) > 0) {
            fail_msg("row %d: %s, chunk %g", i,
                     model_nccl_algorithm_names[choice.algorithm],
                     choice.chunk_bytes);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes),        cmocka_unit_test(selection_by_size),
        cmocka_unit_test(tree_factors), cmocka_unit_test(small_messages),
        cmocka_unit_test(chunks),
    };

    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
