/*
 * test_algorithms_pat.c - parallel aggregated trees, one rank a node.
 */
#include "tests/unit/algorithms.h"

static struct algorithm_case
pat_over(struct model_arena *arena, int nodes, enum model_collective_kind kind)
{
    return (struct algorithm_case){
        .topology = fixture_topology(
            arena,
            model_arena_format(arena, "%dx1 gpu:a100 nic:1x100Gbit/s", nodes),
            NULL, 0),
        .kind = kind,
        .size_bytes = 1e9,
        .config = config_of(MODEL_PAT, MODEL_SIMPLE, 4, 512, 2097152)};
}

/*
 * Every rank sends n - 1 blocks and gets as many, whatever the distances: each
 * NIC carries the flow of all 4 channels both ways, folded or not.
 */
static void bytes_are_those_of_the_ring(void **state)
{
    for (int nodes = 2; nodes <= 9; nodes++) {
        struct algorithm_case it = pat_over(*state, nodes, MODEL_ALL_GATHER);

        for (int folded = 0; folded < 2; folded++) {
            struct model_collective cost;

            it.folded = folded == 1;
            cost = cost_of(*state, &it);
            assert_near_ratio(cost.channel_bytes, (nodes - 1) * 1e9 / nodes / 4,
                              1e-12);
            for (int node = 0; node < (it.folded ? 1 : nodes); node++) {
                assert_near(flows_on(&it, &cost,
                                     model_arena_format(
                                         *state, "node%d.nic0.out", node)),
                            4, 1e-9);
                assert_near(flows_on(&it, &cost,
                                     model_arena_format(
                                         *state, "node%d.nic0.in", node)),
                            4, 1e-9);
            }
            assert_null(cost.fault);
        }
    }
}

/*
 * With NICs on other sockets than the GPU the distances could be told apart,
 * but not with one GPU a node; so they are seen where a group's nodes differ:
 * ranks 0 and 1 on the first, 2 and 3 on the second node, and so on, of a
 * group that PAT refuses. Of 8 ranks each sends 7 blocks: 4 to distance 1, 2 to
 * distance 2, 1 to distance 4. Over NVLink goes distance 1 from even ranks.
 */
static void near_ranks_get_most(void **state)
{
    static const char *const sets[] = {"node.nics.pxn=false"};
    static const struct link_flows rows[] = {{"node0.gpu0.nvlink.out", 4},
                                             {"node0.gpu1.nvlink.out", 0},
                                             {"node0.gpu0.pcie.up", 3},
                                             {"node0.gpu1.pcie.up", 7}};
    struct algorithm_case it = {
        .topology = fixture_topology(
            *state, "4x2 gpu:a100 nvswitch nic:2x100Gbit/s", sets, 1),
        .kind = MODEL_REDUCE_SCATTER,
        .size_bytes = 1e9,
        .config = config_of(MODEL_PAT, MODEL_SIMPLE, 7, 512, 2097152)};
    struct model_collective cost = cost_of(*state, &it);

    CHECK_FLOWS(&it, &cost, rows);
    assert_non_null(cost.fault);
}

/*
 * 1000 bytes a warp, 128 threads, R = 1: f = b = 4000; chunks of 8000: 2 + 2
 * and the CTA's 0.25 us in the stream; a hop 4 + 0.25 + 3 + 10 + 8000 / 1000. A
 * block is everywhere after log2 n hops, of which the pace counts a chunk: n =
 * 2 one, 3 and 4 two, 5 to 8 three, 9 four.
 */
static void hops_are_logarithmic(void **state)
{
    static const char *const sets[] = {
        "gpu.channel.warp_in_flight=1 kB", "gpu.channel.issue_rate=4 GB/s",
        "gpu.channel.rate=1 TB/s",         "gpu.channel.sync=0.25 us",
        "gpu.channel.start=0 us",          "gpu.channel.reduce=1",
        "gpu.channel.exchange=1",          "gpu.hbm.latency=1 us",
        "node.nics.rate=8 Gbit/s",         "node.nics.achieved=1",
        "node.nics.latency=3 us",          "node.nics.sync=10 us",
        "node.nics.channel_rate=1 TB/s"};
    static const int hops[] = {1, 2, 2, 3, 3, 3, 3, 4};

    for (int nodes = 2; nodes <= 9; nodes++) {
        struct algorithm_case it = pat_over(*state, nodes, MODEL_ALL_GATHER);
        struct model_collective cost;

        it.topology = fixture_topology(
            *state,
            model_arena_format(*state, "%dx1 gpu:a100 nic:1x100Gbit/s", nodes),
            sets, FIXTURE_COUNT(sets));
        it.config.threads = 128;
        it.config.chunk_bytes = 8000;
        cost = cost_of(*state, &it);
        assert_near_ratio(cost.channel_bytes_per_us, 8000 / 4.25, 1e-12);
        assert_near(cost.fill_us, hops[nodes - 2] * 25.25, 1e-9);
        assert_near(cost.first_bytes, 8000, 1e-9);
    }
}

/*
 * 4 channels, NCCL 2.23: an AllGather takes 512 KiB from 32 x 4 x 512 KiB = 64
 * MiB on, 256 KiB from 32 MiB, at least 64 KiB; a ReduceScatter from half of
 * that. A block of 4 MiB on 2 nodes leaves 512 KiB a channel.
 */
static void chunks_by_size(void **state)
{
    static const struct {
        enum model_collective_kind kind;
        double size_mib, chunk_kib;
    } rows[] = {
        {MODEL_ALL_GATHER, 64, 512},     {MODEL_ALL_GATHER, 63, 256},
        {MODEL_ALL_GATHER, 32, 256},     {MODEL_ALL_GATHER, 16, 128},
        {MODEL_ALL_GATHER, 4, 64},       {MODEL_REDUCE_SCATTER, 32, 512},
        {MODEL_REDUCE_SCATTER, 31, 256}, {MODEL_REDUCE_SCATTER, 4, 64}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct algorithm_case it = pat_over(*state, 2, rows[i].kind);

        it.size_bytes = rows[i].size_mib * 1048576;
        assert_near_ratio(cost_of(*state, &it).chunk_bytes,
                          rows[i].chunk_kib * 1024, 1e-12);
    }
}

/*
 * GPUDirect, as a ring: 5 HBM bytes a wire byte and 2 S of the first and last
 * step; 4 ranks: 5 + 2 / 3.
 */
static void hbm_bytes(void **state)
{
    struct algorithm_case it = pat_over(*state, 4, MODEL_REDUCE_SCATTER);

    assert_near_ratio(cost_of(*state, &it).hbm_ratio, 5 + 2.0 / 3.0, 1e-12);
}

/* PAT needs one rank a node: a rail does, the world of 8 GPUs does not. */
static void one_rank_a_node(void **state)
{
    struct algorithm_case it = {
        .topology = fixture_topology(*state, "dgx-h100", NULL, 0),
        .folded = true,
        .kind = MODEL_ALL_GATHER,
        .size_bytes = 1e9,
        .group = {.name = "rails", .count = 4, .stride = 8, .family = true},
        .config = config_of(MODEL_PAT, MODEL_SIMPLE, 4, 512, 2097152)};
    struct model_collective cost = cost_of(*state, &it);

    assert_null(cost.fault);
    /* all 8 rails, each over its own NIC */
    for (int gpu = 0; gpu < 8; gpu++) {
        assert_near(
            flows_on(&it, &cost,
                     model_arena_format(*state, "node0.nic%d.out", gpu)),
            4, 1e-9);
    }
    it.group = (struct model_group){.count = 0};
    cost = cost_of(*state, &it);
    assert_non_null(cost.fault);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_those_of_the_ring),
        cmocka_unit_test(near_ranks_get_most),
        cmocka_unit_test(hops_are_logarithmic),
        cmocka_unit_test(chunks_by_size),
        cmocka_unit_test(hbm_bytes),
        cmocka_unit_test(one_rank_a_node),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
