/*
 * test_nccl_tuning.c - NCCL's table of latencies and bandwidths, threads, and
 * why a pair is off.
 */
#include "tests/unit/nccl.h"

struct row {
    const struct nccl_machine *machine;
    int function, algorithm, protocol;
    double gbytes, us;
};

static void check(struct nccl_rig *rig, const struct row *row)
{
    const struct model_nccl_pair *pair =
        &rig->tuning.pairs[row->function][row->algorithm][row->protocol];

    assert_null(pair->off);
    assert_near_ratio(pair->bytes_per_us, row->gbytes * 1e3, 1e-12);
    assert_near_ratio(pair->latency_us, row->us, 1e-12);
}

static void
check_rows(void **state, const char *version, const struct row *rows, int count)
{
    for (int i = 0; i < count; i++) {
        check(nccl_rig_new(*state, version, rows[i].machine), &rows[i]);
    }
}

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

/*
 * What NCCL 2.18.3's own search and tuning print: H100 411 GB/s and 32 us to
 * gather, 206 and 56 to all_reduce, NVLS 267 and 23; A100 274 and 137; A40 11.4
 * and 48 us, 5.7 and 88 us. By hand: the graph's bandwidth times 8 / 7 or 8 /
 * 14 (NVLS 5 / 6 of 8 x 40), the base and 7 or 14 steps.
 */
static void one_node(void **state)
{
    static const struct row rows[] = {
        {&nccl_h100, GATHER, RING, SIMPLE, 360 * 8 / 7.0, 8.4 + 7 * 3.4},
        {&nccl_h100, SCATTER, RING, SIMPLE, 360 * 8 / 7.0, 8.4 + 7 * 3.4},
        {&nccl_h100, REDUCE, RING, SIMPLE, 360 * 8 / 14.0, 8.4 + 14 * 3.4},
        {&nccl_h100, REDUCE, NVLS, SIMPLE, 320 * 5 / 6.0, 23},
        {&nccl_a100, GATHER, RING, SIMPLE, 240 * 8 / 7.0, 8.4 + 7 * 3.4},
        {&nccl_a100, REDUCE, RING, SIMPLE, 240 * 8 / 14.0, 8.4 + 14 * 3.4},
        {&nccl_a40, GATHER, RING, SIMPLE, 80 / 7.0, 8.4 + 7 * 5.7},
        {&nccl_a40, REDUCE, RING, SIMPLE, 80 / 14.0, 8.4 + 14 * 5.7}};

    check_rows(state, "2.18", rows, FIXTURE_COUNT(rows));
}

/*
 * LL: a third of what gathers on one node, a quarter of the rest, at most 87.7
 * in all from Ampere on. LL128: 0.92, at most 20 (Hopper 36.7) a channel.
 * Trees: 0.92, at most 38.7 a channel of Hopper's (24 of Ampere's), halved;
 * with LL by 3.8, with LL128 by 7 / 9; up and down 7 steps each.
 */
static void protocols_of_one_node(void **state)
{
    static const struct row rows[] = {
        {&nccl_h100, GATHER, RING, LL, 87.7 * 8 / 7, 6.6 + 7 * 0.6},
        {&nccl_h100, REDUCE, RING, LL, 87.7 * 8 / 14, 6.6 + 14 * 0.6},
        {&nccl_a100, GATHER, RING, LL, 80 * 8 / 7.0, 6.6 + 7 * 0.6},
        {&nccl_a40, GATHER, RING, LL, 10 / 3.0 * 8 / 7, 6.6 + 7},
        {&nccl_a40, REDUCE, RING, LL, 2.5 * 8 / 14, 6.6 + 14},
        {&nccl_h100, GATHER, RING, LL128, 331.2 * 8 / 7, 14 + 7 * 1.9},
        {&nccl_a100, GATHER, RING, LL128, 220.8 * 8 / 7, 14 + 7 * 1.9},
        {&nccl_h100, REDUCE, TREE, LL, 331.2 / 3.8 / 2, 6.8 + 14 * 0.6},
        {&nccl_h100, REDUCE, TREE, LL128, 331.2 * 7 / 18, 14 + 14 * 1.25},
        {&nccl_h100, REDUCE, TREE, SIMPLE, 331.2 / 2, 14 * 4},
        {&nccl_a40, REDUCE, TREE, SIMPLE, 9.2 / 2, 14 * 6},
    };

    check_rows(state, "2.18", rows, FIXTURE_COUNT(rows));
}

/*
 * Two nodes, 16 ranks. A ring's all_reduce has 30 steps, 4 of the network, the
 * others no shorter than what it takes to tell the proxy: 2 us with AMD CPUs, 1
 * with Intel's, Simple three times that. LL is limited by the CPU: 22.5 and 39.
 * NVLSTree: 0.7 x 2 / 2 of 8 x 40, the network up and down.
 */
static void two_nodes(void **state)
{
    static const struct row rows[] = {
        {&nccl_dgx_a100, REDUCE, RING, LL, 22.5 * 16 / 30, 6.6 + 26 * 2 + 10.8},
        {&nccl_dgx_a100, REDUCE, RING, LL128, 160 * 16 / 30.0, 14 + 52 + 16},
        {&nccl_dgx_a100, REDUCE, RING, SIMPLE, 192 * 16 / 30.0,
         8.4 + 26 * 6 + 4 * 14},
        {&nccl_dgx_a100, GATHER, RING, SIMPLE, 192 * 16 / 15.0,
         8.4 + 14 * 6 + 14},
        {&nccl_dgx_a100, REDUCE, TREE, LL, 22.5 / 2, 6.8 + 2 * (7 * 0.6 + 5)},
        {&nccl_dgx_a100, REDUCE, TREE, LL128, 160 / 2.0,
         14 + 2 * (7 * 1.25 + 8.5)},
        {&nccl_dgx_a100, REDUCE, TREE, SIMPLE, 0.92 * 192 / 2,
         2 * (7 * 4 + 14)},
        {&nccl_h100_nodes, GATHER, RING, LL, 39 * 16 / 15.0,
         6.6 + 14 * 1 + 2.7},
        {&nccl_h100_nodes, REDUCE, RING, SIMPLE, 360 * 16 / 30.0,
         8.4 + 26 * 3.4 + 4 * 14},
        {&nccl_h100_nodes, REDUCE, NVLS_TREE, SIMPLE, 0.7 * 320, 23 + 2 * 19}};

    check_rows(state, "2.18", rows, FIXTURE_COUNT(rows));
}

/*
 * 2.30.7. LL: half, at most 141 with Hopper. NVLS: 8 channels of 40, 0.85 of
 * it, 7 / 8 of the channels; gathering 7 / 8 for a rank's own part, reducing
 * twice and the ring's 8 / 14. NVLSTree on two nodes: 40 x 0.85 x 7 / 8 x 2 is
 * 59.5, twice the NIC's 40 is 80, at most 57.7 a channel. 2 steps of the
 * network in a ring's all_reduce.
 */
static void later_version(void **state)
{
    static const struct row rows[] = {
        {&nccl_h100, GATHER, RING, LL, 141 * 8 / 7.0, 6.6 + 7 * 0.6},
        {&nccl_h100, GATHER, RING, SIMPLE, 360 * 8 / 7.0, 8.4 + 7 * 3.4},
        {&nccl_h100, GATHER, NVLS, SIMPLE, 320 * 0.85 * 49 / 64, 25},
        {&nccl_h100, REDUCE, NVLS, SIMPLE, 320 * 0.85 * 1.75 * 8 / 14, 25},
        {&nccl_h100, REDUCE, TREE, SIMPLE, 331.2 / 2, 8.4 + 14 * 4},
        {&nccl_a40, REDUCE, TREE, SIMPLE, 9.2 / 2, 8.4 + 14 * 4},
        {&nccl_a40, GATHER, RING, LL, 5 * 8 / 7.0, 6.6 + 7},
        {&nccl_h100_nodes, REDUCE, RING, SIMPLE, 360 * 16 / 30.0,
         8.4 + 28 * 3.4 + 2 * 14},
        {&nccl_h100_nodes, REDUCE, NVLS_TREE, SIMPLE, 8 * 57.7 * 16 / 30,
         25 + 2 * 20.9}};

    check_rows(state, "2.30", rows, FIXTURE_COUNT(rows));
}

/* A rank on each of 4 nodes; the NIC takes 1 us. */
static struct nccl_rig *lone_ranks(void **state, const char *version)
{
    struct nccl_machine machine = nccl_h100_nodes;
    struct nccl_rig *rig;

    machine.nodes = 4;
    machine.ranks = 1;
    machine.nvls_channels = 0;
    rig = nccl_rig_new(*state, version, &machine);
    for (int g = 0; g < MODEL_NCCL_GRAPHS; g++) {
        rig->comm.graphs[g].inter_latency_us = 1;
    }
    nccl_retune(rig);
    return rig;
}

/*
 * 3 steps to gather, all of the network. 2.30 has a tree's latency there, LL 5
 * instead of 2.7, and PAT: 2 levels that overlap 3.5 times, with Simple and so
 * with the NIC's latency twice, and 2.8 us a rank; 0.75 of 8 x 45. LL128: 2.18
 * leaves 0.7 of a lone rank's ring, 2.30 0.92.
 */
static void one_rank_a_node(void **state)
{
    static const struct row early[] = {
        {NULL, GATHER, RING, LL, 20.4 * 4 / 3, 6.6 + 3 * 3.7},
        {NULL, GATHER, RING, LL128, 0.7 * 360 * 4 / 3, 14 + 3 * 5},
        {NULL, GATHER, RING, SIMPLE, 480, 8.4 + 3 * 16}};
    static const struct row late[] = {
        {NULL, GATHER, RING, LL, 20.4 * 4 / 3, 6.6 + 3 * 6},
        {NULL, GATHER, RING, LL128, 8 * 36.7 * 4 / 3, 14 + 3 * 9.5},
        {NULL, GATHER, PAT, SIMPLE, 270, 8 + 2 * 16 / 3.5 + 4 * 2.8},
        {NULL, SCATTER, PAT, SIMPLE, 270, 8 + 2 * 16 / 3.5 + 4 * 2.8}};
    struct nccl_rig *rig = lone_ranks(state, "2.18");

    for (int i = 0; i < FIXTURE_COUNT(early); i++) {
        check(rig, &early[i]);
    }
    rig = lone_ranks(state, "2.30");
    for (int i = 0; i < FIXTURE_COUNT(late); i++) {
        check(rig, &late[i]);
    }
}

/*
 * What is sent from a root or to it: all ranks share a chain, n bytes of the
 * bus for n. Where chains are alike on all nodes the pipeline is as good as
 * full after a step, otherwise there are n; Simple's are a tree's then. 2.30
 * runs a broadcast as an all_gather of as much from each of 8.
 */
static void roots(void **state)
{
    static const struct row alike = {
        NULL, MODEL_NCCL_BROADCAST, RING, SIMPLE, 360, 8.4 + 3.4};
    static const struct row reduces = {NULL, MODEL_NCCL_REDUCE, RING, LL,
                                       87.7, 6.6 + 0.6};
    static const struct row other = {NULL, MODEL_NCCL_BROADCAST, RING, SIMPLE,
                                     360,  8.4 + 8 * 4};
    static const struct row across = {NULL, MODEL_NCCL_BROADCAST, RING, LL,
                                      22.5, 6.6 + 16 * 2.7};
    static const struct row gathers = {
        NULL, MODEL_NCCL_BROADCAST, RING, SIMPLE, 360 / 7.0, 8.4 + 7 * 3.4};
    struct nccl_rig *rig = nccl_rig_new(*state, "2.30", &nccl_h100);

    check(rig, &gathers);
    rig = nccl_rig_new(*state, "2.18", &nccl_h100);
    check(rig, &alike);
    check(rig, &reduces);
    rig->comm.graphs[MODEL_NCCL_GRAPH_RING].same_channels = false;
    nccl_retune(rig);
    check(rig, &other);
    rig = nccl_rig_new(*state, "2.18", &nccl_dgx_a100);
    rig->comm.graphs[MODEL_NCCL_GRAPH_RING].same_channels = false;
    nccl_retune(rig);
    check(rig, &across);
}

/*
 * A fast graph, so that the tables bind. LL, by CPU across nodes (Arm as
 * Intel): 20.4 and 19 on four nodes, 39 and 22.5 on two; by GPU on one. Trees:
 * so much a channel of 8, halved.
 */
static void tables(void **state)
{
    static const struct {
        const char *version;
        int capability, cpu, nodes;
        double ll, ring_ll128, tree_ll128, tree;
    } rows[] = {{"2.18", 70, MODEL_CPU_AMD, 1, 39, 20, 20, 26.5},
                {"2.18", 70, MODEL_CPU_INTEL, 2, 39, 20, 20, 18.5},
                {"2.18", 70, MODEL_CPU_INTEL, 4, 20.4, 20, 20, 10},
                {"2.18", 80, MODEL_CPU_INTEL, 1, 87.7, 20, 20, 24},
                {"2.18", 80, MODEL_CPU_AMD, 2, 22.5, 20, 20, 23.6},
                {"2.18", 80, MODEL_CPU_AMD, 4, 19, 20, 20, 17.8},
                {"2.18", 90, MODEL_CPU_ARM, 1, 87.7, 36.7, 36.7, 38.7},
                {"2.18", 90, MODEL_CPU_ARM, 2, 39, 36.7, 36.7, 41.4},
                {"2.18", 90, MODEL_CPU_AMD, 4, 19, 36.7, 29, 36},
                {"2.30", 90, MODEL_CPU_AMD, 1, 141, 36.7, 36.7, 38.7},
                {"2.30", 90, MODEL_CPU_AMD, 4, 19, 36.7, 29, 36},
                {"2.30", 100, MODEL_CPU_INTEL, 1, 282, 40, 55.6, 70},
                {"2.30", 100, MODEL_CPU_INTEL, 2, 39, 40, 31.67, 42.8},
                {"2.30", 103, MODEL_CPU_INTEL, 3, 20.4, 40, 20, 24}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct nccl_machine machine = {.cpu = rows[i].cpu,
                                       .capability = rows[i].capability,
                                       .nodes = rows[i].nodes,
                                       .ranks = 2,
                                       .graph_channels = 8,
                                       .graph_gbytes = 1e3,
                                       .intra_type = MODEL_NCCL_PATH_NVL,
                                       .channels = 16};
        struct nccl_rig *rig = nccl_rig_new(*state, rows[i].version, &machine);
        struct model_nccl_pair(*reduce)[MODEL_NCCL_PROTOCOLS] =
            rig->tuning.pairs[REDUCE];
        double ranks = 2.0 * rows[i].nodes;
        double ring = ranks / (2 * (ranks - 1)) * 1e3;

        assert_near_ratio(reduce[RING][LL].bytes_per_us, rows[i].ll * ring,
                          1e-12);
        assert_near_ratio(reduce[RING][LL128].bytes_per_us,
                          8 * rows[i].ring_ll128 * ring, 1e-12);
        assert_near_ratio(reduce[TREE][SIMPLE].bytes_per_us,
                          8 * rows[i].tree / 2 * 1e3, 1e-12);
        assert_near_ratio(reduce[TREE][LL].bytes_per_us,
                          fmin(8 * rows[i].tree / 3.8, rows[i].ll) / 2 * 1e3,
                          1e-12);
        assert_near_ratio(
            reduce[TREE][LL128].bytes_per_us,
            8 *
                fmin(rows[i].tree *
                         (rows[i].nodes == 1 ? 7 / 9.0 : 120 / 128.0),
                     rows[i].tree_ll128) /
                2 * 1e3,
            1e-12);
    }
}

/* Plain trees are slower; NCCL_NET_OVERHEAD is what it says. */
static void what_changes_them(void **state)
{
    static const struct row plain = {NULL,   REDUCE,       TREE,
                                     SIMPLE, 0.85 * 88.32, 84};
    static const struct row told = {NULL,   GATHER, RING,
                                    SIMPLE, 204.8,  8.4 + 14 * 15 + 14};
    struct nccl_rig *rig = nccl_rig_new(*state, "2.18", &nccl_dgx_a100);

    rig->comm.graphs[MODEL_NCCL_GRAPH_TREE].pattern = MODEL_NCCL_PLAIN_TREE;
    rig->settings.net_overhead_us = 5;
    nccl_retune(rig);
    check(rig, &plain);
    check(rig, &told);
}

/*
 * 512 threads, 640 with LL128 and NVLS; 256 for a Simple ring whose graph does
 * no more than 12 GB/s: the A40's 10, but not twice that.
 */
static void threads_as_they_are(void **state)
{
    struct nccl_rig *rig = nccl_rig_new(*state, "2.18", &nccl_h100);

    assert_int_equal(rig->tuning.threads[RING][SIMPLE], 512);
    assert_int_equal(rig->tuning.threads[RING][LL], 512);
    assert_int_equal(rig->tuning.threads[RING][LL128], 640);
    assert_int_equal(rig->tuning.threads[TREE][SIMPLE], 512);
    assert_int_equal(rig->tuning.threads[NVLS][SIMPLE], 640);
    rig = nccl_rig_new(*state, "2.18", &nccl_a40);
    assert_int_equal(rig->tuning.threads[RING][SIMPLE], 256);
    assert_int_equal(rig->tuning.threads[RING][LL], 512);
    assert_int_equal(rig->tuning.threads[TREE][SIMPLE], 512);
    rig = nccl_rig_new(*state, "2.18", &nccl_a40_nodes);
    assert_int_equal(rig->tuning.threads[RING][SIMPLE], 512);
    rig = nccl_rig_new(*state, "2.18", &nccl_a40);
    rig->comm.graphs[MODEL_NCCL_GRAPH_RING].intra_bytes_per_us = 12e3;
    nccl_retune(rig);
    assert_int_equal(rig->tuning.threads[RING][SIMPLE], 256);
}

/*
 * NCCL_NTHREADS is for LL and Simple, 64 to 512, NCCL_LL128_NTHREADS 160 to
 * 640. What is no multiple of a warp becomes the most, which is twice what the
 * slow graph of the A40 would have; so does what is more; what is less becomes
 * the least.
 */
static void threads_as_told(void **state)
{
    static const struct {
        int told, simple, ll128;
    } rows[] = {{128, 128, 160},  {100, 512, 640}, {32, 64, 160},
                {1024, 512, 640}, {0, 256, 640},   {-5, 256, 640},
                {320, 320, 320}};
    struct nccl_rig *rig = nccl_rig_new(*state, "2.18", &nccl_a40);

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        rig->settings.threads = rows[i].told;
        rig->settings.ll128_threads = rows[i].told;
        nccl_retune(rig);
        assert_int_equal(rig->tuning.threads[RING][SIMPLE], rows[i].simple);
        assert_int_equal(rig->tuning.threads[RING][LL128], rows[i].ll128);
        assert_int_equal(rig->tuning.threads[NVLS][SIMPLE], 640);
    }
}

/* 8 bytes a thread of LL, of a ring's for each rank; 64 of Simple. */
static void least_work(void **state)
{
    struct nccl_rig *rig = nccl_rig_new(*state, "2.18", &nccl_h100);

    assert_near(rig->tuning.threshold_bytes[RING][LL], 64, 0);
    assert_near(rig->tuning.threshold_bytes[TREE][LL], 8, 0);
    assert_near(rig->tuning.threshold_bytes[RING][LL128], 8, 0);
    assert_near(rig->tuning.threshold_bytes[TREE][SIMPLE], 64, 0);
    assert_near(rig->tuning.threshold_bytes[NVLS][SIMPLE], 0, 0);
    rig->settings.thread_threshold_bytes[RING][LL] = 100;
    nccl_retune(rig);
    assert_near(rig->tuning.threshold_bytes[RING][LL], 100, 0);
}

static void check_off(const struct nccl_rig *rig,
                      int function,
                      int algorithm,
                      int protocol,
                      const char *words)
{
    const struct model_nccl_pair *pair =
        &rig->tuning.pairs[function][algorithm][protocol];

    if (words == NULL) {
        assert_null(pair->off);
        assert_true(pair->bytes_per_us > 0);
        return;
    }
    assert_non_null(pair->off);
    assert_string_equal(pair->off, words);
    assert_near(pair->bytes_per_us, 0, 0);
}

static void why_algorithms_are_off(void **state)
{
    struct nccl_rig *rig = nccl_rig_new(*state, "2.18", &nccl_h100);

    check_off(rig, GATHER, TREE, LL, "trees are for all_reduce only");
    check_off(rig, GATHER, NVLS, SIMPLE,
              "this version takes NVLS for all_reduce only");
    check_off(rig, REDUCE, NVLS, LL, "Simple only");
    check_off(rig, REDUCE, NVLS_TREE, SIMPLE,
              "one node needs no tree between nodes");
    check_off(rig, MODEL_NCCL_REDUCE, NVLS, SIMPLE, "only rings have a root");
    check_off(rig, GATHER, PAT, SIMPLE, "this version has no PAT");
    check_off(rig, REDUCE, MODEL_NCCL_COLLNET_DIRECT, SIMPLE,
              "CollNet is off unless NCCL_COLLNET_ENABLE=1");
    rig->settings.collnet_enable = 1;
    nccl_retune(rig);
    check_off(rig, REDUCE, MODEL_NCCL_COLLNET_CHAIN, SIMPLE,
              "no network here reduces on its way (SHARP)");
    rig = nccl_rig_new(*state, "2.18", &nccl_h100_nodes);
    check_off(rig, REDUCE, NVLS, SIMPLE, "across nodes NVLS needs CollNet");
    rig = nccl_rig_new(*state, "2.18", &nccl_a100);
    check_off(rig, REDUCE, NVLS, SIMPLE, "NVLS is not to be had here");
    rig->comm.rank_count = 1;
    nccl_retune(rig);
    check_off(rig, REDUCE, RING, SIMPLE, "one rank has nobody to talk to");
}

static void why_pat_is_off(void **state)
{
    struct nccl_rig *rig = lone_ranks(state, "2.30");

    check_off(rig, GATHER, PAT, SIMPLE, NULL);
    check_off(rig, GATHER, PAT, LL, "Simple only");
    check_off(rig, REDUCE, PAT, SIMPLE, "PAT gathers and scatters only");
    rig->settings.pat_enable = 0;
    nccl_retune(rig);
    check_off(rig, GATHER, PAT, SIMPLE, "NCCL_PAT_ENABLE=0");
    rig = nccl_rig_new(*state, "2.30", &nccl_a100);
    check_off(rig, GATHER, PAT, SIMPLE, "PAT is for one rank a node");
    rig->settings.pat_enable = 1;
    nccl_retune(rig);
    check_off(rig, GATHER, PAT, SIMPLE, NULL);
}

/*
 * LL128 in 2.18: capabilities 70, 80, 90, no farther than NVB within a node and
 * PXB to a NIC, PXN with Hopper. In 2.30: all from 70 on. NCCL_PROTO overrules.
 */
static void why_ll128_is_off(void **state)
{
    static const struct {
        const char *version;
        int capability, intra, inter;
        const char *words;
    } rows[] = {{"2.18", 80, MODEL_NCCL_PATH_NVB, MODEL_NCCL_PATH_PXB, NULL},
                {"2.18", 86, MODEL_NCCL_PATH_NVL, MODEL_NCCL_PATH_PIX,
                 "LL128 is not trusted on this GPU"},
                {"2.30", 86, MODEL_NCCL_PATH_NVL, MODEL_NCCL_PATH_PIX, NULL},
                {"2.30", 60, MODEL_NCCL_PATH_NVL, MODEL_NCCL_PATH_PIX,
                 "LL128 is not trusted on this GPU"},
                {"2.18", 80, MODEL_NCCL_PATH_PIX, MODEL_NCCL_PATH_PIX,
                 "LL128 needs NVLink between all GPUs of a node"},
                {"2.18", 80, MODEL_NCCL_PATH_NVL, MODEL_NCCL_PATH_PXN,
                 "LL128 is not trusted on the way to the NICs"},
                {"2.18", 90, MODEL_NCCL_PATH_NVL, MODEL_NCCL_PATH_PXN, NULL},
                {"2.30", 100, MODEL_NCCL_PATH_NVL, MODEL_NCCL_PATH_P2C, NULL},
                {"2.18", 90, MODEL_NCCL_PATH_NVL, MODEL_NCCL_PATH_PHB,
                 "LL128 is not trusted on the way to the NICs"}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct nccl_machine machine = nccl_dgx_a100;
        struct nccl_rig *rig;

        machine.capability = rows[i].capability;
        machine.intra_type = rows[i].intra;
        machine.inter_type = rows[i].inter;
        rig = nccl_rig_new(*state, rows[i].version, &machine);
        check_off(rig, GATHER, RING, LL128, rows[i].words);
        check_off(rig, REDUCE, TREE, LL128, rows[i].words);
        nccl_force(rig, -1, LL128);
        nccl_retune(rig);
        check_off(rig, GATHER, RING, LL128, NULL);
        check_off(rig, GATHER, RING, LL, "NCCL_PROTO leaves it out");
    }
}

/*
 * NCCL_ALGO=tree: rings are off to all_reduce, but in 2.18 not to gather. What
 * leaves nothing on this machine, as NVLSTree on one node, is taken back there;
 * NVLS on GPUs without it is not.
 */
static void what_algo_leaves(void **state)
{
    struct nccl_rig *rig = nccl_rig_new(*state, "2.18", &nccl_a100);
    struct nccl_rig *late = nccl_rig_new(*state, "2.30", &nccl_a100);

    nccl_force(rig, TREE, -1);
    nccl_force(late, TREE, -1);
    nccl_retune(rig);
    nccl_retune(late);
    check_off(rig, REDUCE, RING, LL, "NCCL_ALGO leaves it out");
    check_off(rig, REDUCE, TREE, LL, NULL);
    check_off(rig, GATHER, RING, LL, NULL);
    check_off(late, GATHER, RING, LL, "NCCL_ALGO leaves it out");
    nccl_force(rig, NVLS_TREE, -1);
    nccl_force(late, NVLS_TREE, -1);
    nccl_retune(rig);
    nccl_retune(late);
    check_off(rig, REDUCE, RING, SIMPLE, NULL);
    check_off(rig, REDUCE, TREE, SIMPLE, NULL);
    check_off(late, REDUCE, RING, SIMPLE, "NCCL_ALGO leaves it out");
    nccl_force(rig, NVLS, -1);
    nccl_retune(rig);
    check_off(rig, REDUCE, RING, SIMPLE, "NCCL_ALGO leaves it out");
    check_off(rig, REDUCE, NVLS, SIMPLE, "NVLS is not to be had here");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_node),
        cmocka_unit_test(protocols_of_one_node),
        cmocka_unit_test(two_nodes),
        cmocka_unit_test(later_version),
        cmocka_unit_test(one_rank_a_node),
        cmocka_unit_test(roots),
        cmocka_unit_test(tables),
        cmocka_unit_test(what_changes_them),
        cmocka_unit_test(threads_as_they_are),
        cmocka_unit_test(threads_as_told),
        cmocka_unit_test(least_work),
        cmocka_unit_test(why_algorithms_are_off),
        cmocka_unit_test(why_pat_is_off),
        cmocka_unit_test(why_ll128_is_off),
        cmocka_unit_test(what_algo_leaves),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
