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
 * A step is full when a block has gone the log2 n distances, the pace itself
 * counts one step: n = 2 nothing, n = 4 one step, 5 to 8 two, 9 three.
 */
static void the_pipeline_fills_in_steps(void **state)
{
    static const int steps[] = {0, 1, 1, 2, 2, 2, 2, 3};

    for (int nodes = 2; nodes <= 9; nodes++) {
        struct algorithm_case it = pat_over(*state, nodes, MODEL_ALL_GATHER);
        struct model_collective cost = cost_of(*state, &it);
        double step_us = cost.chunk_bytes / cost.channel_bytes_per_us;
        double start_us = it.topology->gpu.start_us;

        assert_near_ratio(cost.chunk_bytes, 524288, 1e-12); /* a slot */
        assert_near(cost.fill_us, start_us + steps[nodes - 2] * step_us, 1e-9);
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
        cmocka_unit_test(the_pipeline_fills_in_steps),
        cmocka_unit_test(hbm_bytes),
        cmocka_unit_test(one_rank_a_node),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
