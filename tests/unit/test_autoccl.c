/*
 * test_autoccl.c - what Lagom is compared with: NCCL's own choice, which is no
 * search at all, and AutoCCL, which speeds up each collective alone. Then what
 * holds for every strategy: a seed decides the way, a failure ends it, and a
 * name that is none is answered with its neighbour.
 */
#include "tests/unit/searching.h"

/* -- NCCL -- */

static void nccl_takes_the_baseline(void **state)
{
    struct form *form = make_form(*state, 2, x_by_chunk, y_of_5000);
    struct search_outcome outcome = search_form(*state, form, "nccl", 1);

    assert_int_equal(outcome.evaluations, 0);
    for (int i = 0; i < 2; i++) {
        assert_true(model_config_equal(&outcome.configs[i],
                                       &form->problem->classes[i].baseline));
    }
}

/* The baseline's time is that of a run without plan on what NCCL chooses. */
static void nccl_is_the_plain_run(void **state)
{
    const struct model_topology *topology =
        fixture_topology(*state, "lagom-a-1node", NULL, 0);
    const struct model_workload *w = shipped(*state, topology, "phi-2-fsdp");
    struct tuned tuned = tune(*state, topology, w, "nccl", 1);
    struct sim_request request = {.topology = topology,
                                  .workload = w,
                                  .nccl = fixture_nccl(*state, topology, w)};
    struct sim_result result = fixture_simulate(*state, &request);

    assert_near(tuned.outcome.iteration_us, result.iteration_us, 0);
    tuned = tune(*state, topology, w, "lagom", 1);
    assert_true(tuned.outcome.iteration_us < result.iteration_us);
}

/* -- AutoCCL -- */

static double x_best_at_native(int class_index,
                               const struct model_config *config)
{
    (void)class_index;
    /* as make_form says that NCCL does */
    return config->channels == 24 && config->threads == 512 ? 1.0 : 2.0;
}

/* The native configuration is measured first and stays a candidate. */
static void autoccl_keeps_the_native_one(void **state)
{
    struct form *form = make_form(*state, 1, x_best_at_native, y_of_0);
    struct search_outcome outcome = search_form(*state, form, "autoccl", 1);

    assert_true(model_config_equal(&form->log[0][0],
                                   &form->problem->classes[0].baseline));
    assert_int_equal(outcome.configs[0].channels, 24);
    assert_int_equal(outcome.configs[0].threads, 512);
    assert_true(x_best_at_native(0, &outcome.configs[0]) <= 1.0);
}

/*
 * It looks at the collective alone: of all it measured it takes the one with
 * the least x, whatever y is. At most native + 20 + 50 calls.
 */
static void autoccl_takes_the_fastest_it_saw(void **state)
{
    struct form *form = make_form(*state, 1, x_with_a_valley, y_by_first_chunk);
    struct search_outcome outcome = search_form(*state, form, "autoccl", 1);
    double least = HUGE_VAL;

    for (int i = 0; i < outcome.evaluations; i++) {
        least = fmin(least, x_with_a_valley(0, &form->log[i][0]));
    }
    assert_near(x_with_a_valley(0, &outcome.configs[0]), least, 0);
    assert_true(least <
                x_with_a_valley(0, &form->problem->classes[0].baseline));
    assert_in_range(outcome.evaluations, 21, 71);
}

/* No candidate twice, all within the space. */
static void autoccl_tries_each_once(void **state)
{
    struct form *form = make_form(*state, 1, x_with_a_valley, y_of_0);
    struct search_outcome outcome = search_form(*state, form, "autoccl", 5);

    for (int i = 1; i < outcome.evaluations; i++) {
        assert_in_range(form->log[i][0].channels, 1, 84);
        assert_in_range(form->log[i][0].threads, 96, 640);
        assert_int_equal(form->log[i][0].threads % 32, 0);
        assert_true(form->log[i][0].chunk_bytes <= 2097152);
        for (int j = 1; j < i; j++) {
            assert_false(
                model_config_equal(&form->log[i][0], &form->log[j][0]));
        }
    }
}

/* LL takes some times as long. */
static double x_of_1_6_times(int class_index, const struct model_config *config)
{
    (void)class_index;
    return config->protocol == MODEL_LL ? 16 : 10;
}

static double x_of_1_4_times(int class_index, const struct model_config *config)
{
    (void)class_index;
    return config->protocol == MODEL_LL ? 14 : 10;
}

static int count_protocol(const struct form *form, int calls, int protocol)
{
    int count = 0;

    for (int i = 0; i < calls; i++) {
        count += form->log[i][0].protocol == protocol ? 1 : 0;
    }
    return count;
}

/*
 * Two subspaces, Simple and LL, with 20 / 2 and 50 / 2 calls. LL: 10 of
 * pretraining, a batch of 3; when the next one is made those 3 are more than a
 * tenth of 25, and LL is more than 1.5 times NCCL's own: that batch is its
 * last. Simple uses all of its calls, after NCCL's own. At 1.4 times LL does
 * so, too.
 */
static void autoccl_drops_slow_subspaces(void **state)
{
    struct form *form = make_form(*state, 1, x_of_1_6_times, y_of_0);
    struct search_outcome outcome = search_form(*state, form, "autoccl", 1);

    assert_int_equal(count_protocol(form, outcome.evaluations, MODEL_LL),
                     10 + 3 + 3);
    assert_int_equal(count_protocol(form, outcome.evaluations, MODEL_SIMPLE),
                     1 + 10 + 25);
    assert_int_equal(outcome.configs[0].protocol, MODEL_SIMPLE);
    form = make_form(*state, 1, x_of_1_4_times, y_of_0);
    outcome = search_form(*state, form, "autoccl", 1);
    assert_int_equal(count_protocol(form, outcome.evaluations, MODEL_LL),
                     10 + 25);
}

/* 2.9 times NCCL's own is no reason after 5 candidates, 3.1 times is: 700 calls
 * for 100 of pretraining and 250 of training, of which a tenth are 25. */
static double x_of_3_1_times(int class_index, const struct model_config *config)
{
    (void)class_index;
    return config->protocol == MODEL_LL ? 31 : 10;
}

static double x_of_2_9_times(int class_index, const struct model_config *config)
{
    (void)class_index;
    return config->protocol == MODEL_LL ? 29 : 10;
}

static void autoccl_drops_very_slow_ones_sooner(void **state)
{
    struct form *form = make_form(*state, 1, x_of_3_1_times, y_of_0);
    struct search_outcome outcome =
        search_form_within(*state, form, "autoccl", 1, 701);
    int ll = count_protocol(form, outcome.evaluations, MODEL_LL);

    /* batches of 3, or of 1 after 6 of them: 6 are the first over 5 */
    assert_int_equal(ll, 100 + 3 + 3 + 3);
    form = make_form(*state, 1, x_of_2_9_times, y_of_0);
    outcome = search_form_within(*state, form, "autoccl", 1, 701);
    ll = count_protocol(form, outcome.evaluations, MODEL_LL);
    assert_in_range(ll, 100 + 26 + 1, 100 + 26 + 6);
}

/* 20 and 50 parts of what NCCL's own leaves of a budget: of 36, in two
 * subspaces, 10 / 2 and 25 / 2 calls. */
static void autoccl_divides_a_budget(void **state)
{
    struct form *form = make_form(*state, 1, x_with_a_valley, y_of_0);
    struct search_outcome outcome =
        search_form_within(*state, form, "autoccl", 1, 36);

    assert_in_range(outcome.evaluations, 1 + 5 + 5, 1 + 2 * (5 + 12));
    outcome = search_form_within(
        *state, make_form(*state, 1, x_with_a_valley, y_of_0), "autoccl", 1, 2);
    assert_int_equal(outcome.evaluations, 2);
}

/* Each candidate three times in a row, within the same calls: 25 calls of a
 * subspace's training are 8 candidates and one that is measured once. */
static void autoccl_repeats(void **state)
{
    struct form *form = make_form(*state, 1, x_with_a_valley, y_of_0);
    struct search_outcome outcome;
    int runs = 0;

    form->repeats = 3;
    outcome = search_form(*state, form, "autoccl", 1);
    assert_in_range(outcome.evaluations, 3 + 10 + 10, 3 + 2 * (10 + 25));
    for (int i = 0, j; i < outcome.evaluations; i = j) {
        for (j = i + 1; j < outcome.evaluations &&
                        model_config_equal(&form->log[i][0], &form->log[j][0]);
             j++) {
        }
        runs++;
        assert_in_range(j - i, 1, 3);
    }
    /* native, 4 of pretraining each, and at least as many as 3 calls make */
    assert_in_range(runs, outcome.evaluations / 3, outcome.evaluations / 3 + 4);
}

/* AutoCCL's collective is never slower than NCCL's own, which it measured too.
 */
static void autoccl_is_never_slower_than_native(void **state)
{
    static const struct {
        const char *size;
        int m;
    } rows[] = {{"64 kB", 4096}, {"16 MB", 256}, {"1 GB", 4096}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct tuned native =
            tune_pair(*state, rows[i].size, rows[i].m, "nccl");
        struct tuned tuned =
            tune_pair(*state, rows[i].size, rows[i].m, "autoccl");

        assert_true(tuned.measure.x_us[0] <= native.measure.x_us[0]);
    }
}

/* -- seeds -- */

/* The same seed takes the same way, another seed another. */
static void seeds_decide(void **state)
{
    struct form *one = make_form(*state, 1, x_with_a_valley, y_of_0);
    struct form *same = make_form(*state, 1, x_with_a_valley, y_of_0);
    struct form *other = make_form(*state, 1, x_with_a_valley, y_of_0);

    (void)search_form(*state, one, "autoccl", 7);
    (void)search_form(*state, same, "autoccl", 7);
    (void)search_form(*state, other, "autoccl", 8);
    assert_true(search_form_same_log(one, same));
    assert_false(search_form_same_log(one, other));
}

static void same_seed_same_result(void **state)
{
    static const char *const names[] = {"nccl", "autoccl", "lagom"};
    const struct model_topology *topology =
        fixture_topology(*state, "lagom-b-1node", NULL, 0);
    const struct model_workload *w =
        fixture_workload(*state, topology,
                         "name: w\n"
                         "ops:\n"
                         "  - {id: a, kind: all_gather, size: 80 MB}\n"
                         "  - {id: r, kind: reduce_scatter, size: 80 MB}\n"
                         "  - {id: g, kind: gemm, m: 4096, n: 8192, k: 2560, "
                         "repeat: 4}\n");

    for (int i = 0; i < 3; i++) {
        struct tuned one = tune(*state, topology, w, names[i], 3);
        struct tuned two = tune(*state, topology, w, names[i], 3);

        assert_near(one.outcome.iteration_us, two.outcome.iteration_us, 0);
        assert_int_equal(one.outcome.evaluations, two.outcome.evaluations);
        for (int c = 0; c < one.problem->class_count; c++) {
            assert_true(model_config_equal(&one.outcome.configs[c],
                                           &two.outcome.configs[c]));
        }
    }
}

/* -- failures -- */

static enum model_status fail_evaluation(void *context,
                                         const struct model_plan *plan,
                                         struct search_measure *measure,
                                         struct model_errors *errors)
{
    int *left = context;

    (void)plan;
    (void)errors;
    for (int i = 0; i < 1; i++) {
        measure->x_us[i] = 1000;
        measure->comm_us[i] = 1000;
        measure->kernel_us[i] = 1;
    }
    return --*left > 0 ? MODEL_OK : MODEL_STUCK;
}

/* A strategy hands on what its evaluator says, and stops there. */
static void failures_are_handed_on(void **state)
{
    const char *const names[] = {"nccl", "autoccl", "lagom"};
    struct form *form = make_form(*state, 1, x_of_10, y_of_0);

    for (int i = 0; i < 3; i++) {
        int left = 1;
        struct model_errors errors = {.arena = *state};
        struct search_evaluator evaluator = {.evaluate = fail_evaluation,
                                             .context = &left};
        struct search_task task = {.arena = *state,
                                   .problem = form->problem,
                                   .evaluator = &evaluator,
                                   .errors = &errors};
        struct search_outcome outcome;

        assert_int_equal(search_run(search_strategy_find(names[i], &errors),
                                    &task, &outcome),
                         MODEL_STUCK);
        assert_int_equal(evaluator.evaluations, 1);
    }
}

static void unknown_strategies_have_a_neighbour(void **state)
{
    struct model_errors errors = {.arena = *state};

    assert_null(search_strategy_find("lagon", &errors));
    assert_int_equal(model_errors_status(&errors), MODEL_USAGE);
    assert_string_equal(errors.list[0].hint, "did you mean \"lagom\"?");
    assert_string_equal(search_strategy_find("nccl", &errors)->name, "nccl");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nccl_takes_the_baseline),
        cmocka_unit_test(nccl_is_the_plain_run),
        cmocka_unit_test(autoccl_keeps_the_native_one),
        cmocka_unit_test(autoccl_takes_the_fastest_it_saw),
        cmocka_unit_test(autoccl_tries_each_once),
        cmocka_unit_test(autoccl_drops_slow_subspaces),
        cmocka_unit_test(autoccl_drops_very_slow_ones_sooner),
        cmocka_unit_test(autoccl_divides_a_budget),
        cmocka_unit_test(autoccl_repeats),
        cmocka_unit_test(autoccl_is_never_slower_than_native),
        cmocka_unit_test(seeds_decide),
        cmocka_unit_test(same_seed_same_result),
        cmocka_unit_test(failures_are_handed_on),
        cmocka_unit_test(unknown_strategies_have_a_neighbour),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
