/*
 * test_sim_spin.c - collectives that are launched before their data are there
 * and wait on the device, on the machine of timeline.h: their SMs are lost to
 * the very kernel that they wait for.
 */
#include "tests/unit/timeline.h"

/*
 * The AllGather holds 4 SMs from 5 on. The GEMM takes 5 waves on the others, 5
 * to 55; then 100 us. Launched after it, in the usual way: GEMM 5 to 35,
 * AllGather 40 to 140.
 */
static void a_spinning_collective_holds_its_sms(void **state)
{
    struct timeline timeline =
        run(*state, "ops:\n"
                    "  - {id: a, " GATHER_4 ", spins: true, after: [g]}\n"
                    "  - {id: g, " GEMM_25 "}\n");

    assert_near(end_of(&timeline, "g"), 55, CLOSE_US);
    assert_near(op_of(&timeline, "g")->lost.sm, 20, CLOSE_US);
    assert_near(op_of(&timeline, "a")->start_us, 0, 0);
    assert_near(end_of(&timeline, "a"), 155, CLOSE_US);
    assert_near(op_of(&timeline, "a")->lost.peer, 50, CLOSE_US);
    timeline = run(*state, "ops:\n"
                           "  - {id: a, " GATHER_4 ", after: [g]}\n"
                           "  - {id: g, " GEMM_25 "}\n");
    assert_near(end_of(&timeline, "g"), 35, CLOSE_US);
    assert_near(end_of(&timeline, "a"), 140, CLOSE_US);
}

/*
 * It takes SMs when it comes, not before: the GEMM's first wave ends at 15.
 * 15 tiles on 6 SMs, until 45; 45 to 145. If the GEMM is done before (k, 5 to
 * 15; on the device at 20) there is nothing to wait for.
 */
static void it_waits_for_sms_first(void **state)
{
    struct timeline timeline =
        run(*state, "ops:\n"
                    "  - {id: g, " GEMM_25 "}\n"
                    "  - {id: a, " GATHER_4 ", start: 7 us, spins: true, "
                    "after: [g]}\n");

    assert_near(op_of(&timeline, "a")->lost.sm, 3, CLOSE_US);
    assert_near(op_of(&timeline, "a")->lost.peer, 30, CLOSE_US);
    assert_near(end_of(&timeline, "a"), 145, CLOSE_US);
    timeline = run(*state, "ops:\n"
                           "  - {id: k, " KERNEL_10 "}\n"
                           "  - {id: a, " GATHER_4 ", start: 15 us, "
                           "spins: true, after: [k]}\n");
    assert_near(op_of(&timeline, "a")->lost.peer, 0, CLOSE_US);
    assert_near(end_of(&timeline, "a"), 120, CLOSE_US);
}

/*
 * All data, of all ranks. Beside 4 channels g takes 5 waves and k2 2 rounds: on
 * rank 0 g 5 to 55, k2 60 to 80; on rank 1, slower by half, g 5 to 80, k2 85 to
 * 115. Both have their SMs at 5 and wait for 110 us.
 */
static void all_ranks_and_all_ops_are_awaited(void **state)
{
    static const char *const sets[] = {
        "variation.ranks=[{rank: 1, slow: 1.5}]"};
    const struct model_topology *t = fixture_tiny(*state, sets, 1);
    const char *ops = "name: test\n"
                      "ops:\n"
                      "  - {id: a, " GATHER_4 ", spins: true, after: [g, k2]}\n"
                      "  - {id: g, " GEMM_25 "}\n"
                      "  - {id: k2, " KERNEL_10 "}\n";
    struct timeline timeline =
        run_one(*state, t, fixture_workload(*state, t, ops), true);

    for (int rank = 0; rank < 2; rank++) {
        const struct sim_op_result *op = &timeline.ops[rank * 3];

        assert_near(op->end_us, 215, CLOSE_US);
        assert_near(op->lost.peer, 110, CLOSE_US);
    }
}

/* Ranks outside the group are not waited for, however late they are. */
static void only_the_group_is_awaited(void **state)
{
    static const char *const more[] = {
        "variation.ranks=[{rank: 3, slow: 100}]"};
    const char *sets[FIXTURE_COUNT(fixture_tiny_sets) + 1];
    const struct model_topology *t;
    struct timeline timeline;

    memcpy(sets, fixture_tiny_sets, sizeof fixture_tiny_sets);
    sets[FIXTURE_COUNT(fixture_tiny_sets)] = more[0];
    t = fixture_topology(*state, "1x4 gpu:a40 nvswitch", sets,
                         FIXTURE_COUNT(sets));
    timeline = run_one(*state, t,
                       fixture_workload(*state, t,
                                        "name: test\n"
                                        "groups: {g: [0, 1]}\n"
                                        "ops:\n"
                                        "  - {id: a, " GATHER_4
                                        ", group: g, spins: true, "
                                        "after: [k]}\n"
                                        "  - {id: k, " KERNEL_10 "}\n"),
                       true);
    /* k: two rounds beside the 4 channels, until 25 */
    assert_near(timeline.ops[0].end_us, 125, CLOSE_US);
    assert_true(timeline.result.ops[3 * 2 + 1].end_us > 1000);
}

/* With all SMs held by who waits, nobody ever makes the data. */
static void spinning_on_all_sms_is_stuck(void **state)
{
    const struct model_topology *topology = fixture_tiny(*state, NULL, 0);
    const struct model_workload *workload = fixture_workload(
        *state, topology,
        "name: test\n"
        "ops:\n"
        "  - {id: a, kind: all_gather, size: 2 MB, channels: 10, " RING
        ", spins: true, after: [g]}\n"
        "  - {id: g, " GEMM_25 "}\n");
    struct sim_request request = {.topology = topology, .workload = workload};
    struct model_errors errors = {.arena = *state};
    struct sim_result result;
    struct sim *sim = sim_new(*state, &request, &errors);

    assert_non_null(sim);
    assert_int_equal(sim_run(sim, &result, &errors), MODEL_STUCK);
    fixture_expect_error(&errors, "a", "spins for g (holds 10 SMs)");
    fixture_expect_error(&errors, "g", "waits for SMs");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spinning_collective_holds_its_sms),
        cmocka_unit_test(it_waits_for_sms_first),
        cmocka_unit_test(all_ranks_and_all_ops_are_awaited),
        cmocka_unit_test(only_the_group_is_awaited),
        cmocka_unit_test(spinning_on_all_sms_is_stuck),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
