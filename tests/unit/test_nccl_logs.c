/*
 * test_nccl_logs.c - what NCCL wrote in public logs of real machines, against
 * what is found for the same ones from the text of a topology.
 */
#include "tests/unit/nccl_whole.h"

static const struct machine a100 = {.version = "2.18", .topology = "dgx-a100"};
static const struct machine h100_late = {.version = "2.30",
                                         .topology = "dgx-h100-1node"};

/* "1: 16 x 45 NVL same": pattern, channels, GB/s of one, paths; all alike. */
static const char *say(struct model_arena *arena,
                       const struct model_nccl_graph *graph)
{
    return model_arena_format(arena, "%d: %d x %g/%g %s%s", graph->pattern,
                              graph->channels, graph->intra_bytes_per_us / GB,
                              graph->inter_bytes_per_us / GB,
                              model_nccl_path_names[graph->intra_type],
                              graph->same_channels ? " same" : "");
}

struct seen {
    struct machine machine;
    bool p2p_disable, nvls_disable;
    const char *ring, *tree, *nvls; /* NULL: not told */
    /* of rings, NVLS, send and receive, a peer of these; -1: not told */
    int channels, nvls_channels, p2p_channels, per_peer;
};

#define NO_COUNTS -1, -1, -1, -1

static void check_graph(struct model_arena *arena,
                        const struct seen *seen,
                        const struct model_nccl_graph *graph,
                        const char *expected)
{
    const char *said = say(arena, graph);

    if (expected != NULL && strcmp(said, expected) != 0) {
        fail_msg("%s, %s: %s, not %s", seen->machine.topology,
                 seen->machine.version, said, expected);
    }
}

static void check_seen(struct model_arena *arena, const struct seen *seen)
{
    const int expected[] = {seen->channels, seen->nvls_channels,
                            seen->p2p_channels, seen->per_peer};
    struct model_nccl_settings settings = model_nccl_settings_none();
    struct model_nccl_comm comm;

    settings.p2p_disable = seen->p2p_disable ? 1 : settings.p2p_disable;
    settings.nvls_enable = seen->nvls_disable ? 0 : settings.nvls_enable;
    comm = make(arena, &seen->machine, NULL, &settings);
    check_graph(arena, seen, &comm.graphs[MODEL_NCCL_GRAPH_RING], seen->ring);
    check_graph(arena, seen, &comm.graphs[MODEL_NCCL_GRAPH_TREE], seen->tree);
    check_graph(arena, seen, &comm.graphs[MODEL_NCCL_GRAPH_NVLS], seen->nvls);
    for (int i = 0; i < 4; i++) {
        const int found[] = {comm.channels, comm.nvls_channels,
                             comm.p2p_channels, comm.p2p_channels_per_peer};

        if (expected[i] >= 0 && found[i] != expected[i]) {
            fail_msg("%s, %s: count %d is %d, not %d", seen->machine.topology,
                     seen->machine.version, i, found[i], expected[i]);
        }
    }
}

#define SKYLAKE                                                                \
    "node.host.cpu=intel", "node.host.cpu_family=6", "node.host.cpu_model=106"

/*
 * One node each. By row, with the version that wrote it:
 * - 8 H100, 2.19.4, which like later ones raises the rate between nodes:
 *   github.com/NVIDIA/nccl/issues/1197;
 * - 8 H800, 8 links, no NVLS there, 2.18: github.com/NVIDIA/nccl/issues/892;
 * - 4 A100, 4 links to each other, rings not alike: "NCCL Field Guide - read
 *   the log like a pro", notes of a lab on Slingshot;
 * - 2 of 4 A100, 4 links, later: github.com/NVIDIA/nccl-tests/issues/331;
 * - 2 V100, 6 links, 2.27.5: public notes of nccl_stress_small.py, which watch
 *   the counters of nvidia-smi nvlink -e;
 * - 8 RTX 4090, no P2P, so up and down the link of 4 of them, 24 GB/s, go 4
 *   hops that Intel charges 1.2 times: github.com/NVIDIA/nccl-tests/issues/307;
 * - 2 GPUs, a socket each: github.com/NVIDIA/nccl/issues/1358;
 * - 4 and 8 GB300 on NVLink, 2.29.7: github.com/datacrunch-research/nccl-eBPF,
 *   .agents/debug/2026-08-14-mnnvl-channel-collapse/topo/mnnvl_graph_*.xml;
 * - 2 Hopper, 6 links, 2.27.5: kubernetes.recipes/recipes/ai/
 *   runai-vllm-distributed-inference-multimodal.
 */
static void one_node(void **state)
{
    static const struct seen rows[] = {
        {{"2.30", "dgx-h100-1node", NULL, {0}},
         false,
         false,
         "4: 12 x 30/30 NVL same",
         "1: 12 x 30/30 NVL same",
         "5: 8 x 40/60 NVL",
         NO_COUNTS},
        {{"2.18", "dgx-h100-1node", NULL, {"node.nvlink.count=8"}},
         false,
         true,
         NULL,
         NULL,
         NULL,
         16,
         0,
         16,
         16},
        {{"2.18", "1x4 gpu:a100 nvlink:mesh", NULL, {0}},
         false,
         false,
         "4: 12 x 20/20 NVL",
         NULL,
         NULL,
         24,
         0,
         32,
         8},
        {{"2.30", "1x2 gpu:a100 nvlink:pairs", NULL, {"node.nvlink.count=4"}},
         false,
         false,
         NULL,
         NULL,
         NULL,
         8,
         0,
         8,
         8},
        {{"2.30", "1x2 gpu:v100 nvlink:pairs", NULL, {"node.nvlink.count=6"}},
         false,
         false,
         NULL,
         NULL,
         NULL,
         12,
         0,
         16,
         16},
        {{"2.30", "1x8 gpu:a40 pcie:4:4/switch sockets:2", NULL, {SKYLAKE}},
         true,
         false,
         "4: 1 x 5/5 SYS same",
         "1: 1 x 5/5 SYS same",
         NULL,
         NO_COUNTS},
        {{"2.18", "1x2 gpu:a40 pcie:4 sockets:2", NULL, {SKYLAKE}},
         false,
         false,
         "4: 1 x 10/10 SYS same",
         "1: 1 x 10/10 SYS same",
         NULL,
         NO_COUNTS},
        {{"2.30", "1x4 gpu:b300 nvswitch", NULL, {0}},
         false,
         false,
         "4: 16 x 45/45 NVL same",
         "3: 16 x 50/50 NVL",
         "5: 4 x 90/90 NVL",
         NO_COUNTS},
        {{"2.30", "1x8 gpu:b300 nvswitch", NULL, {0}},
         false,
         false,
         "4: 16 x 45/45 NVL same",
         "1: 16 x 45/45 NVL same",
         "5: 8 x 80/90 NVL",
         32,
         24,
         32,
         32},
        {{"2.30", "1x2 gpu:h100 nvlink:pairs", NULL, {"node.nvlink.count=6"}},
         false,
         false,
         NULL,
         NULL,
         NULL,
         8,
         0,
         8,
         8}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        check_seen(*state, &rows[i]);
    }
}

/*
 * Two nodes of 2 H20, a NIC at each GPU's switch, NCCL_CROSS_NIC=1 and
 * NCCL_PXN_DISABLE=1: rings come from one GPU's NIC and leave by the other's
 * (github.com/NVIDIA/nccl/issues/1189).
 */
static void rings_across_nics(void **state)
{
    static const struct machine h20 = {
        .version = "2.18",
        .topology = "2x2 gpu:h100 nvswitch pcie:5:1/switch nic:2x400Gbit/s"};
    struct model_nccl_settings settings = model_nccl_settings_none();
    struct model_nccl_comm comm;
    const struct model_nccl_graph *ring = &comm.graphs[MODEL_NCCL_GRAPH_RING];

    settings.cross_nic = 1;
    settings.pxn_disable = 1;
    comm = make(*state, &h20, NULL, &settings);
    assert_string_equal(say(*state, ring), "4: 4 x 24/24 NVL");
    assert_int_equal(ring->inter_type, MODEL_NCCL_PATH_PIX);
    assert_int_equal(ring->cross_nic, 1);
    for (int i = 0; i < 2 * ring->channels; i++) {
        int at = (i + i / 2) % 2;

        assert_int_equal(ring->order[i], at);
        assert_int_equal(ring->nics[i], at);
    }
    assert_int_equal(comm.channels, 8);
    assert_int_equal(comm.p2p_channels, 8);
    assert_int_equal(comm.p2p_channels_per_peer, 2);
}

static void check_pair(const struct whole *whole,
                       int function,
                       int algorithm,
                       int protocol,
                       double us,
                       double gbytes)
{
    const struct model_nccl_pair *pair =
        &whole->tuning.pairs[function][algorithm][protocol];

    assert_near(pair->latency_us, us, 0.05 + 1e-9);
    assert_near(pair->bytes_per_us / GB, gbytes, 0.05 + 1e-9);
}

/*
 * Tables as NCCL prints them, to a decimal. The pair of Hopper above; the 4
 * A100 above, bandwidths in whole GB/s there; two nodes of one RTX 5090, two
 * channels of 1.2 GB/s over sockets, 2.29.7: in
 * github.com/eunomia-bpf/nccl-eBPF docs/tmp/default-suboptimal-search.md.
 */
static void tables(void **state)
{
    static const struct machine hoppers = {.version = "2.30",
                                           .topology =
                                               "1x2 gpu:h100 nvlink:pairs",
                                           .sets = {"node.nvlink.count=6"}};
    static const struct machine lone = {
        .version = "2.30", .topology = "2x1 gpu:b300 nic:2x10Gbit/s"};
    static const struct machine mesh = {.version = "2.18",
                                        .topology = "1x4 gpu:a100 nvlink:mesh"};
    static const struct {
        int algorithm, protocol;
        double us, gbytes;
    } reduced[] = {{TREE, LL, 10.4, 29},     {TREE, LL128, 21.5, 86},
                   {TREE, SIMPLE, 24, 110},  {RING, LL, 10.2, 40},
                   {RING, LL128, 25.4, 147}, {RING, SIMPLE, 28.8, 160}};
    const struct whole *whole = whole_of(*state, &hoppers);

    assert_near(whole->tuning.pairs[REDUCE][RING][SIMPLE].bytes_per_us,
                120 * GB, 50);
    assert_near(whole->tuning.pairs[REDUCE][TREE][SIMPLE].bytes_per_us,
                77.4 * GB, 50);
    assert_near(whole->tuning.pairs[GATHER][RING][SIMPLE].bytes_per_us,
                240 * GB, 50);
    whole = whole_of(*state, &mesh);
    for (int i = 0; i < FIXTURE_COUNT(reduced); i++) {
        const struct model_nccl_pair *pair =
            &whole->tuning
                 .pairs[REDUCE][reduced[i].algorithm][reduced[i].protocol];

        assert_near(pair->latency_us, reduced[i].us, 0.05 + 1e-9);
        assert_near(pair->bytes_per_us / GB, reduced[i].gbytes, 0.5);
    }
    whole = whole_of(*state, &lone);
    check_pair(whole, MODEL_NCCL_REDUCE, RING, LL, 9.3, 1.2);
    check_pair(whole, MODEL_NCCL_REDUCE, RING, SIMPLE, 22.4, 2.4);
    check_pair(whole, GATHER, RING, LL, 11.6, 2.4);
    check_pair(whole, GATHER, RING, SIMPLE, 22.4, 4.8);
    check_pair(whole, GATHER, PAT, SIMPLE, 17.6, 3.6);
    check_pair(whole, SCATTER, PAT, SIMPLE, 17.6, 3.6);
    check_pair(whole, REDUCE, TREE, LL, 16.8, 0.5);
    check_pair(whole, REDUCE, TREE, SIMPLE, 36.4, 1.9);
    check_pair(whole, REDUCE, RING, LL, 16.6, 1.2);
    check_pair(whole, REDUCE, RING, SIMPLE, 36.4, 2.4);
    assert_int_equal(whole->tuning.threads[RING][SIMPLE], 256);
}

/*
 * Choices as NCCL names them, with their channels. The two RTX 5090 gather, of
 * bytes that each rank has: p3-allgather-reducescatter-sweep.md beside the
 * above. 8 H100, 2.30.7, from 256 bytes to 4 GiB, and two p5 and two p5en of
 * AWS: "Inside NCCL's all-reduce", a post of 2026-08-02 with the logs of its
 * runs; 8 H200 the same, there and in github.com/stas00/ml-engineering.
 */
static void choices(void **state)
{
    static const struct machine lone = {
        .version = "2.30", .topology = "2x1 gpu:a40 nic:2x10Gbit/s"};
    static const struct machine h200 = {.version = "2.30",
                                        .topology = "hgx-h200"};
    static const struct machine p5 = {.version = "2.30", .topology = "p5"};
    static const struct machine p5en = {
        .version = "2.30",
        .topology = "2x8 gpu:h200 nvswitch pcie:5:1/switch sockets:2 "
                    "nic:8x400Gbit/s",
        .sets = {"node.host.cpu=intel", "node.nics.reported_latency=35us"}};
    static const struct {
        const struct machine *machine;
        int function;
        double kib;
        int algorithm, protocol, channels;
    } rows[] = {{&lone, GATHER, 2 * 4, RING, LL, 1},
                {&lone, GATHER, 2 * 8, RING, LL, 2},
                {&lone, GATHER, 2 * 16, RING, LL, 4},
                {&lone, GATHER, 2 * 32, PAT, SIMPLE, 2},
                {&lone, GATHER, 2 * 64, RING, SIMPLE, 4},
                {&lone, GATHER, 2 * 65536, RING, SIMPLE, 4},
                {&lone, SCATTER, 2 * 16, RING, LL, 4},
                {&lone, SCATTER, 2 * 32, PAT, SIMPLE, 2},
                {&lone, SCATTER, 2 * 64, RING, SIMPLE, 4},
                {&h100_late, REDUCE, 4, RING, LL, 1},
                {&h100_late, REDUCE, 1024, RING, LL, 24},
                {&h100_late, REDUCE, 2048, NVLS, SIMPLE, 16}};
    static const struct band bands[] = {
        {&h100_late, 1, 1024, RING, LL},
        {&h100_late, 2048, 4194304, NVLS, SIMPLE},
        {&h200, 1, 1024, RING, LL},
        {&h200, 2048, 4194304, NVLS, SIMPLE},
        {&p5, 32, 64, TREE, LL},
        {&p5, 128, 8192, TREE, LL128},
        {&p5, 16384, 32768, RING, LL128},
        {&p5, 65536, 1048576, NVLS_TREE, SIMPLE},
        {&p5en, 32, 128, TREE, LL},
        {&p5en, 256, 8192, TREE, LL128},
        {&p5en, 16384, 16384, RING, LL128},
        {&p5en, 32768, 1048576, NVLS_TREE, SIMPLE}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct model_nccl_choice choice =
            choose(whole_of(*state, rows[i].machine), rows[i].function,
                   rows[i].kib * KIB);

        assert_int_equal(choice.algorithm, rows[i].algorithm);
        assert_int_equal(choice.protocol, rows[i].protocol);
        assert_int_equal(choice.channels, rows[i].channels);
    }
    check_bands(*state, REDUCE, bands, FIXTURE_COUNT(bands));
}

/*
 * All 24 rings of 8 A100 on an NVSwitch are 0 1 ... 7 in logs
 * (github.com/NVIDIA/nccl-tests/issues/100), so a chain counts one hop of
 * Simple, 8.4 + 3.4 us; LL128's 14 + 1.9 us and 0.92 of the rate never win.
 */
static void chains_of_like_rings(void **state)
{
    const struct whole *whole = whole_of(*state, &a100);
    const struct model_nccl_graph *ring =
        &whole->comm.graphs[MODEL_NCCL_GRAPH_RING];

    for (int i = 0; i < ring->channels * 8; i++) {
        assert_int_equal(ring->order[i], ring->order[i % 8]);
    }
    check_pair(whole, BROADCAST, RING, SIMPLE, 11.8, 240);
    check_pair(whole, BROADCAST, RING, LL128, 15.9, 220.8);
    for (double bytes = MIB; bytes <= 8192.0 * MIB; bytes *= 2) {
        assert_int_equal(choose(whole, BROADCAST, bytes).protocol, SIMPLE);
        assert_int_equal(choose(whole, MODEL_NCCL_REDUCE, bytes).protocol,
                         SIMPLE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_node),
        cmocka_unit_test(rings_across_nics),
        cmocka_unit_test(tables),
        cmocka_unit_test(choices),
        cmocka_unit_test(chains_of_like_rings),
    };

    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
