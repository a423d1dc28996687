/*
 * test_lagom.c - the strategy of the paper: where it stops, in each of its
 * cases, and which class it raises next. First on closed forms, where every
 * step can be worked out by hand; then on the simulator, where a pair of
 * operations is made to fall under one case or another.
 */
#include "tests/unit/searching.h"

/* -- on closed forms -- */

static double y_of_100(const struct model_config *configs)
{
    (void)configs;
    return 100;
}

/*
 * Case 1: communication hides at the least configuration; one look is enough.
 * In all cases NCCL's own configuration comes first, and at last, unless that
 * is it, the result as a whole.
 */
static void lagom_stays_at_the_least(void **state)
{
    struct form *form = make_form(*state, 1, x_of_10, y_of_100);
    struct search_outcome outcome = search_form(*state, form, "lagom", 1);

    is_least(&outcome.configs[0]);
    assert_int_equal(outcome.evaluations, 1 + 2);
    assert_near(outcome.iteration_us, 100, 0);
}

/* Two classes: each is looked at once. */
static void lagom_looks_at_each_class(void **state)
{
    struct form *form = make_form(*state, 2, x_of_10, y_of_100);
    struct search_outcome outcome = search_form(*state, form, "lagom", 1);

    is_least(&outcome.configs[0]);
    is_least(&outcome.configs[1]);
    assert_int_equal(outcome.evaluations, 2 + 2);
}

/*
 * Case 2: nothing to hide under, each raise helps: up to the largest
 * configuration: 84 SMs, 608 threads, 431 x 608 x 8 bytes.
 */
static void lagom_climbs_to_the_top(void **state)
{
    struct form *form = make_form(*state, 1, x_by_chunk, y_of_0);
    struct search_outcome outcome = search_form(*state, form, "lagom", 1);

    assert_int_equal(outcome.configs[0].channels, 84);
    assert_int_equal(outcome.configs[0].threads, 608);
    assert_near(outcome.configs[0].chunk_bytes, 2096384, 0);
    is_least(&form->log[1][0]);
    for (int i = 2; i < outcome.evaluations - 1; i++) {
        assert_true(form->log[i][0].chunk_bytes >
                    form->log[i - 1][0].chunk_bytes);
        assert_true(form->log[i][0].channels >= form->log[i - 1][0].channels);
        assert_true(form->log[i][0].threads >= form->log[i - 1][0].threads);
    }
}

/* Case 2 with a valley: the first that is worse ends it, the one before is
 * kept.
 */
static void lagom_keeps_what_was_before_it_got_worse(void **state)
{
    struct form *form = make_form(*state, 1, x_with_a_valley, y_of_0);
    struct search_outcome outcome = search_form(*state, form, "lagom", 1);
    int last = outcome.evaluations - 2; /* the one that was worse */

    assert_true(outcome.evaluations >= 3);
    assert_true(
        model_config_equal(&outcome.configs[0], &form->log[last - 1][0]));
    assert_true(x_with_a_valley(0, &form->log[last][0]) >
                0.999 * x_with_a_valley(0, &form->log[last - 1][0]));
    for (int i = 2; i < last; i++) {
        assert_true(x_with_a_valley(0, &form->log[i][0]) <
                    x_with_a_valley(0, &form->log[i - 1][0]));
    }
}

/*
 * Case 3, balance: the first configuration whose communication, 1e9 / chunk, is
 * below the computation's 5000 us, that is with a chunk above 200,000 bytes.
 */
static void lagom_stops_at_the_balance(void **state)
{
    struct form *form = make_form(*state, 1, x_by_chunk, y_of_5000);
    struct search_outcome outcome = search_form(*state, form, "lagom", 1);
    int last = outcome.evaluations - 2;

    assert_true(outcome.configs[0].chunk_bytes > 200000);
    assert_true(model_config_equal(&outcome.configs[0], &form->log[last][0]));
    for (int i = 1; i < last; i++) {
        assert_true(form->log[i][0].chunk_bytes <= 200000);
    }
    assert_near(outcome.iteration_us, 5000, 0);
}

/*
 * Two classes, of which only the first costs computation. Both begin with H =
 * 0.01; the first is looked at, then raised by 0.01 (27 x 768 bytes): x falls
 * from 1e9/768 to 1e9/20736, y rises from 1000 to 27,000: H = 26,000 /
 * 1,253,858 = 0.0207. Now the second one's 0.01 is less: it is looked at and
 * raised, H = 0, until it is at its top. Only then comes the first again,
 * raised by 0.1 (its last gain was large): 160 threads, 0.11 x 1638 = 180
 * chunks of 1280 bytes. Now X = 4340
 * + 477 is below Y = 300,000.
 */
static void lagom_raises_what_costs_least(void **state)
{
    struct form *form = make_form(*state, 2, x_by_chunk, y_by_first_chunk);
    struct search_outcome outcome = search_form(*state, form, "lagom", 1);
    int step = 3;

    assert_near(form->log[1][0].chunk_bytes, 768, 0);
    assert_near(form->log[2][0].chunk_bytes, 27 * 768, 0);
    /* not looked at yet: NCCL's own */
    assert_near(form->log[2][1].chunk_bytes, 2097152, 0);
    while (step < outcome.evaluations &&
           form->log[step][0].chunk_bytes == 27 * 768) {
        step++;
    }
    assert_true(step > 5);
    assert_near(form->log[step - 1][1].chunk_bytes, 2096384, 0);
    assert_near(outcome.configs[1].chunk_bytes, 2096384, 0);
    assert_near(outcome.configs[0].chunk_bytes, 230400, 0);
    assert_int_equal(step, outcome.evaluations - 2);
}

/*
 * Where no climb comes near NCCL's own configuration, the window keeps it: x is
 * 10 us at its 2 MiB, 1000 us at any multiple of threads x 8 bytes below.
 */
static double x_fast_at_two_mib(int class_index,
                                const struct model_config *config)
{
    (void)class_index;
    return config->chunk_bytes >= 2097152 ? 10 : 1000;
}

static void lagom_keeps_the_native_one_when_it_is_best(void **state)
{
    struct form *form = make_form(*state, 1, x_fast_at_two_mib, y_of_0);
    struct search_outcome outcome = search_form(*state, form, "lagom", 1);

    assert_true(model_config_equal(&outcome.configs[0],
                                   &form->problem->classes[0].baseline));
    assert_near(outcome.iteration_us, 10, 0);
}

/* Over PCIe both transports are climbed: the faster one is found. */
static double x_fast_by_host(int class_index, const struct model_config *config)
{
    return x_by_chunk(class_index, config) *
           (config->transport == MODEL_SHM ? 0.5 : 1.0);
}

static void lagom_climbs_in_each_subspace(void **state)
{
    const struct model_topology *topology =
        fixture_topology(*state, "1x8 gpu:a40 pcie:4", NULL, 0);
    const struct model_workload *w =
        fixture_workload(*state, topology,
                         "name: w\n"
                         "ops:\n"
                         "  - {id: a, kind: all_gather, size: 2 GiB}\n"
                         "  - {id: g, kind: gemm, m: 1, n: 1, k: 1}\n");
    struct form *form = model_arena_alloc(*state, sizeof *form);
    struct search_outcome outcome;

    form->problem = problem_of(*state, topology, w);
    form->x_us = x_fast_by_host;
    form->y_us = y_of_0;
    outcome = search_form(*state, form, "lagom", 1);
    assert_int_equal(form->problem->classes[0].baseline.transport, MODEL_P2P);
    assert_int_equal(outcome.configs[0].transport, MODEL_SHM);
    assert_near(outcome.configs[0].chunk_bytes, 2096384, 0);
}

/* -- on the simulator -- */

/* Tiny beside huge: X < Y at the least configuration, one look at it. */
static void a_tiny_collective_stays_least(void **state)
{
    struct tuned tuned = tune_pair(*state, "64 kB", 65536, "lagom");

    is_least(&tuned.outcome.configs[0]);
    assert_int_equal(tuned.outcome.evaluations, 1 + 2);
    assert_true(tuned.measure.comm_us[0] < tuned.measure.kernel_us[0]);
}

/*
 * On NVLink pairs a pair's collective has no way through host memory, that of
 * all ranks has: the climb through host memory leaves the pair's on NVLink.
 */
static void classes_have_ways_of_their_own(void **state)
{
    const struct model_topology *topology =
        fixture_topology(*state, "lagom-a-1node", NULL, 0);
    const struct model_workload *w = fixture_workload(
        *state, topology,
        "name: w\n"
        "groups: {pairs: {size: 2}}\n"
        "ops:\n"
        "  - {id: a, kind: all_gather, size: 256 MiB}\n"
        "  - {id: b, kind: all_gather, size: 256 MiB, group: pairs}\n"
        "  - {id: g, kind: gemm, m: 8192, n: 8192, k: 8192}\n");
    struct tuned tuned = tune(*state, topology, w, "lagom", 1);
    struct tuned native = tune(*state, topology, w, "nccl", 1);

    assert_int_equal(tuned.problem->class_count, 2);
    assert_int_equal(tuned.outcome.configs[1].transport, MODEL_P2P);
    assert_true(tuned.outcome.iteration_us <=
                1.001 * native.outcome.iteration_us);
}

/* Huge beside tiny: X > Y to the end, and a gain over the least one. */
static void a_huge_collective_is_sped_up(void **state)
{
    struct tuned tuned = tune_pair(*state, "4 GB", 128, "lagom");
    struct tuned native = tune_pair(*state, "4 GB", 128, "nccl");

    assert_true(tuned.measure.comm_us[0] > tuned.measure.kernel_us[0]);
    assert_true(tuned.outcome.configs[0].channels > 1);
    assert_true(tuned.outcome.evaluations > 5);
    /* within 10 % of what NCCL does at its best: communication-bound */
    assert_true(tuned.measure.x_us[0] < 1.1 * native.measure.x_us[0]);
}

/* In between: just hidden, with less than the whole machine. */
static void a_balanced_pair_is_just_hidden(void **state)
{
    struct tuned tuned = tune_pair(*state, "256 MiB", 16384, "lagom");

    assert_true(tuned.measure.comm_us[0] < tuned.measure.kernel_us[0]);
    assert_true(tuned.outcome.configs[0].chunk_bytes > 768);
    assert_true(tuned.outcome.configs[0].channels < 64);
    assert_true(tuned.outcome.evaluations > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lagom_stays_at_the_least),
        cmocka_unit_test(lagom_looks_at_each_class),
        cmocka_unit_test(lagom_climbs_to_the_top),
        cmocka_unit_test(lagom_keeps_what_was_before_it_got_worse),
        cmocka_unit_test(lagom_stops_at_the_balance),
        cmocka_unit_test(lagom_raises_what_costs_least),
        cmocka_unit_test(lagom_keeps_the_native_one_when_it_is_best),
        cmocka_unit_test(a_tiny_collective_stays_least),
        cmocka_unit_test(lagom_climbs_in_each_subspace),
        cmocka_unit_test(classes_have_ways_of_their_own),
        cmocka_unit_test(a_huge_collective_is_sped_up),
        cmocka_unit_test(a_balanced_pair_is_just_hidden),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
