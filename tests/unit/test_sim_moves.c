/*
 * test_sim_moves.c - what a simulation tells of an op besides its times: SMs
 * that it held, bytes that it moved, and what set the pace of a collective.
 */
#include "tests/unit/timeline.h"

/*
 * 25 tiles on 10 SMs: 10, 10 and 5 at a time, 10 us each. 250 SM us in 30 us.
 * On the SMs from 5 us, after the launch.
 */
static void sms_are_a_mean_over_waves(void **state)
{
    struct timeline t = run(*state, "ops: [{id: g, " GEMM_25 "}]");
    const struct sim_op_result *op = op_of(&t, "g");

    assert_near(op->run_us, 5, CLOSE_US);
    assert_near(op->end_us, 35, CLOSE_US);
    assert_near(op->mean_sms, 250.0 / 30.0, CLOSE_US);
    assert_null(op->move);
}

/* 16 loads on each SM, each with its share of the bytes. */
static void bytes_of_a_kernel_are_those_of_its_loads(void **state)
{
    struct timeline t = run(*state, "ops: [{id: m, kind: memory, hbm: 1 GB}]");

    assert_near_ratio(op_of(&t, "m")->hbm_bytes, 1e9, 1e-6);
}

/*
 * 2 ranks, 800 kB: each sends 400 kB and moves (3 n - 1) M / n = 2 MB of HBM
 * (collective.c). 4 channels of 1000 bytes/us: 100 us, by their own pace. A
 * chunk of each is in L2: 16 KiB.
 */
static void a_collective_alone_goes_at_its_own_pace(void **state)
{
    struct timeline t = run(*state, "ops: [{id: a, " GATHER_4 "}]");
    const struct sim_op_result *op = op_of(&t, "a");

    assert_near(op->run_us, 5, CLOSE_US);
    assert_near(op->mean_sms, 4, CLOSE_US);
    assert_near(op->hbm_bytes, 2e6, 1);
    assert_near(op->move->hbm_bytes, 2e6, 1);
    assert_near(op->move->wire_bytes, 400e3, 1);
    assert_near(op->move->footprint_bytes, 4 * 16384, 1);
    assert_int_equal(op->move->limited_by, SIM_LIMITED_BY_CHANNELS);
    assert_near(op->move->limited_us, 100, CLOSE_US);
    assert_near(op->move->moving_us, 100, CLOSE_US);
}

/*
 * NVLink of 6000 bytes/us. a goes alone at 4000 for 50 us; then b comes, both
 * get 3000, and a's other 200 kB take 66.7 us: the link set its pace longer.
 */
static void the_longest_limit_is_named(void **state)
{
    static const char *const slow[] = {"node.nvlink.rate=6 GB/s"};
    const struct model_topology *topology = fixture_tiny(*state, slow, 1);
    const struct model_workload *workload = fixture_workload(
        *state, topology,
        "name: test\n"
        "ops:\n"
        "  - {id: a, stream: s1, " GATHER_4 "}\n"
        "  - {id: b, stream: s2, start: 50 us, " GATHER_4 "}\n");
    struct sim_request request = {.topology = topology, .workload = workload};
    struct model_errors errors = {.arena = *state};
    struct sim *sim = sim_new(*state, &request, &errors);
    const struct sim_move *move;
    struct sim_result result;
    char name[96];

    fixture_no_errors(&errors);
    assert_int_equal(sim_run(sim, &result, &errors), MODEL_OK);
    move = result.ops[0].move;
    assert_near(move->moving_us, 50 + 200.0 / 3, CLOSE_US);
    assert_near(move->limited_us, 200.0 / 3, CLOSE_US);
    assert_string_equal(
        sim_resource_name(sim, move->limited_by, name, sizeof name),
        "node0.gpu0.nvlink.out");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sms_are_a_mean_over_waves),
        cmocka_unit_test(bytes_of_a_kernel_are_those_of_its_loads),
        cmocka_unit_test(a_collective_alone_goes_at_its_own_pace),
        cmocka_unit_test(the_longest_limit_is_named),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
