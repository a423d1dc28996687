/*
 * test_sim_stuck.c - what cannot run: ops that wait for each other, or hold
 * each other's SMs, for ever; runs that reach their limit of events; and what
 * is refused before it starts. The messages say who waits for what.
 */
#include "tests/unit/timeline.h"

/* -- what cannot run -- */

static enum model_status run_stuck(struct model_arena *arena,
                                   const struct sim_request *request,
                                   struct model_errors *errors)
{
    struct sim_result result;
    struct sim *sim = sim_new(arena, request, errors);

    *errors = (struct model_errors){.arena = arena};
    assert_non_null(sim);
    return sim_run(sim, &result, errors);
}

/* a on one stream waits for b on another, and b for a. */
static void a_circle_is_stuck(void **state)
{
    static const int on_b[] = {1};
    static const int on_a[] = {0};
    const struct model_topology *topology = fixture_tiny(*state, NULL, 0);
    struct model_workload *workload =
        fixture_workload(*state, topology,
                         "name: test\n"
                         "ops:\n"
                         "  - {id: a, " KERNEL_10 ", stream: s1}\n"
                         "  - {id: b, " KERNEL_10 ", stream: s2}\n"
                         "  - {id: c, " KERNEL_10 ", stream: s2}\n"
                         "  - {id: fine, " KERNEL_10 ", stream: s3}\n");
    struct sim_request request = {.topology = topology, .workload = workload};
    struct model_errors errors = {.arena = *state};

    workload->ops[0].after = on_b;
    workload->ops[0].after_count = 1;
    workload->ops[1].after = on_a;
    workload->ops[1].after_count = 1;
    assert_int_equal(run_stuck(*state, &request, &errors), MODEL_STUCK);
    assert_int_equal(errors.count, 3);
    fixture_expect_error(&errors, "a", "waits for b");
    fixture_expect_error(&errors, "b", "waits for a");
    fixture_expect_error(&errors, "c", "waits for b");
    assert_int_equal(model_errors_status(&errors), MODEL_STUCK);
}

/* a waits for b, which comes later on the same stream. */
static void a_wait_against_the_stream_is_stuck(void **state)
{
    static const int on_b[] = {1};
    const struct model_topology *topology = fixture_tiny(*state, NULL, 0);
    struct model_workload *workload =
        fixture_workload(*state, topology,
                         "name: test\n"
                         "ops:\n"
                         "  - {id: a, " KERNEL_10 "}\n"
                         "  - {id: b, " KERNEL_10 "}\n");
    struct sim_request request = {
        .topology = topology, .workload = workload, .all_ranks = true};
    struct model_errors errors = {.arena = *state};

    workload->ops[0].after = on_b;
    workload->ops[0].after_count = 1;
    assert_int_equal(run_stuck(*state, &request, &errors), MODEL_STUCK);
    assert_int_equal(errors.count, 4); /* two ops on two ranks */
    fixture_expect_error(&errors, "a", "rank 0 waits for b");
    fixture_expect_error(&errors, "b", "rank 1 waits for a");
}

/*
 * Two collectives of 8 channels on 10 SMs. At 15 the first (asking since 7)
 * takes the 5 SMs that k5 leaves; the second, of higher priority, asks at 20
 * and gets the 5 of k30 at 35. Both wait for 3 more for ever, and the message
 * says so.
 */
static void collectives_that_hold_each_others_sms_are_stuck(void **state)
{
    const struct model_topology *topology = fixture_tiny(*state, NULL, 0);
    struct model_workload *workload = fixture_workload(
        *state, topology,
        "name: test\n"
        "streams: {c1: 1, c2: 2}\n"
        "ops:\n"
        "  - {id: k10, kind: kernel, ctas: 5, flops: 50 MFLOP, stream: s1}\n"
        "  - {id: k30, kind: kernel, ctas: 5, flops: 150 MFLOP, stream: s2}\n"
        "  - {id: a, kind: all_gather, size: 1600 kB, channels: 8, "
        "stream: c1, start: 2 us, " RING "}\n"
        "  - {id: b, kind: all_gather, size: 1600 kB, channels: 8, "
        "stream: c2, start: 15 us, " RING "}\n");
    struct sim_request request = {.topology = topology, .workload = workload};
    struct model_errors errors = {.arena = *state};

    assert_int_equal(run_stuck(*state, &request, &errors), MODEL_STUCK);
    assert_int_equal(errors.count, 2);
    fixture_expect_error(&errors, "a", "waits for SMs");
    fixture_expect_error(&errors, "b", "waits for SMs");
    fixture_expect_error(&errors, "a", "0 free, 5 held");
}

/* Two begins make two events; the limit is reached with work left. */
static void the_event_limit_ends_a_run(void **state)
{
    const struct model_topology *topology = fixture_tiny(*state, NULL, 0);
    struct model_workload *workload =
        fixture_workload(*state, topology,
                         "name: test\n"
                         "ops:\n"
                         "  - {id: a, " KERNEL_10 "}\n"
                         "  - {id: b, " KERNEL_10 "}\n");
    struct sim_request request = {
        .topology = topology, .workload = workload, .event_limit = 1};
    struct model_errors errors = {.arena = *state};
    struct sim_result result;

    assert_int_equal(run_stuck(*state, &request, &errors), MODEL_STUCK);
    assert_true(errors.count >= 2);
    fixture_expect_error(&errors, "b", "waits for a");
    request.event_limit = 0;
    result = fixture_simulate(*state, &request);
    request.event_limit = result.events;
    (void)fixture_simulate(*state, &request);
}

static void expect_refusal(struct model_arena *arena,
                           const char *ops,
                           bool all_ranks,
                           const char *message)
{
    const struct model_topology *topology = fixture_tiny(arena, NULL, 0);
    struct model_workload *workload = fixture_workload(
        arena, topology, model_arena_format(arena, "name: test\n%s", ops));
    struct sim_request request = {
        .topology = topology, .workload = workload, .all_ranks = all_ranks};
    struct model_errors errors = {.arena = arena};

    assert_null(sim_new(arena, &request, &errors));
    assert_int_equal(model_errors_status(&errors), MODEL_BAD_INPUT);
    fixture_expect_error(&errors, "a", message);
    /* with the place of the op in its file */
    assert_true(errors.list[0].place.line > 0);
}

static void what_cannot_run_is_refused(void **state)
{
    expect_refusal(*state, "ops: [{id: a, kind: all_gather, size: 1 MB}]",
                   false, "configuration is not complete");
    expect_refusal(*state,
                   "ops: [{id: a, kind: all_gather, size: 1 MB, "
                   "channels: 11, " RING "}]",
                   false, "more channels than the GPU has SMs");
    expect_refusal(*state,
                   "ops: [{id: a, kind: gemm, m: 8, n: 8, k: 8, "
                   "type: fp8}]",
                   false, "no peak rate for fp8");
    expect_refusal(*state,
                   "groups: {g: [0, 1]}\n"
                   "ops: [{id: a, " GATHER_4 ", group: g}]",
                   false, "cannot be folded");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_circle_is_stuck),
        cmocka_unit_test(a_wait_against_the_stream_is_stuck),
        cmocka_unit_test(collectives_that_hold_each_others_sms_are_stuck),
        cmocka_unit_test(the_event_limit_ends_a_run),
        cmocka_unit_test(what_cannot_run_is_refused),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
