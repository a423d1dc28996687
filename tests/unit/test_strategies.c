/*
 * test_strategies.c - what Lagom is judged beside: a fixed number of channels,
 * variables for the whole job, plans at random, annealing. What all of them
 * promise (budget, seed, NCCL's own settings kept, the best they saw) and then
 * what each searches.
 */
#include "search/moves.h"
#include "search/trial.h"

#include "tests/unit/searching.h"

static const char *const names[] = {"static", "afnfa", "random", "anneal",
                                    "oracle"};

enum { NAMES = 5, SMALL_BUDGET = 40 };

/* -- what all promise -- */

static double form_us(const struct form *form, int call)
{
    double sum_us = 0;

    for (int i = 0; i < form->problem->class_count; i++) {
        sum_us += form->x_us(i, &form->log[call][i]);
    }
    return fmax(sum_us, form->y_us(form->log[call]));
}

/* Of all plans that were measured the fastest is the result. */
static void they_take_the_best_they_saw(void **state)
{
    for (int n = 0; n < NAMES; n++) {
        bool all = strcmp(names[n], "afnfa") != 0;
        struct form *form =
            make_form(*state, 2, x_with_a_valley, y_by_first_chunk);
        struct search_outcome outcome =
            search_form_within(*state, form, names[n], 1, SMALL_BUDGET);
        double least_us = HUGE_VAL;

        for (int i = 0; i < outcome.evaluations; i++) {
            least_us = fmin(least_us, form_us(form, i));
        }
        if (all) { /* afnfa: see below */
            assert_near(outcome.iteration_us, least_us, 0);
        }
    }
}

/* 1 for NCCL's own plan (make_form says what that is), 2 for all others. */
static double y_best_at_native(const struct model_config *configs)
{
    return configs[0].channels == 24 && configs[0].threads == 512 &&
                   model_same(configs[0].chunk_bytes, 2097152)
               ? 1
               : 2;
}

static double x_of_0(int class_index, const struct model_config *config)
{
    (void)class_index;
    (void)config;
    return 0;
}

/* NCCL's plan is measured first, and kept where nothing is better. */
static void they_keep_the_native_plan(void **state)
{
    for (int n = 0; n < NAMES; n++) {
        struct form *form = make_form(*state, 1, x_of_0, y_best_at_native);
        struct search_outcome outcome =
            search_form_within(*state, form, names[n], 1, SMALL_BUDGET);
        const struct model_config *native = &form->problem->classes[0].baseline;

        assert_true(model_config_equal(&form->log[0][0], native));
        assert_true(model_config_equal(&outcome.configs[0], native));
        assert_near(outcome.iteration_us, 1, 0);
    }
}

/* The same seed takes the same way; another one another, where one counts: of
 * the oracle only after its descents, for which this budget is too small. */
static void seeds_decide(void **state)
{
    struct model_errors errors = {.arena = *state};

    for (int n = 0; n < NAMES; n++) {
        bool draws = search_strategy_find(names[n], &errors)->draws;
        struct form *forms[3];

        for (int i = 0; i < 3; i++) {
            forms[i] = make_form(*state, 1, x_with_a_valley, y_of_0);
            (void)search_form_within(*state, forms[i], names[n], i == 2 ? 8 : 7,
                                     SMALL_BUDGET);
        }
        assert_true(search_form_same_log(forms[0], forms[1]));
        assert_int_equal(search_form_same_log(forms[0], forms[2]), !draws);
    }
}

/*
 * Their own budget is the most that autoccl spends; --budget is another. Few of
 * the 84 x 17 x many points come twice, so random uses all of it. Static has
 * the 24 channels that NCCL has, with none left out.
 */
static void they_stay_within_the_budget(void **state)
{
    static const struct {
        const char *name;
        int budget;
        int least, most;
    } rows[] = {{"autoccl", 0, 40, SEARCH_TRIAL_BUDGET},
                {"random", 0, SEARCH_TRIAL_BUDGET, SEARCH_TRIAL_BUDGET},
                {"random", 9, 9, 9},
                {"anneal", 0, 60, SEARCH_TRIAL_BUDGET},
                {"anneal", 9, 5, 9},
                {"anneal", 1, 1, 1},
                {"afnfa", 0, 20, SEARCH_TRIAL_BUDGET},
                {"afnfa", 9, 9, 9},
                {"static", 0, 24, 24},
                {"static", 9, 9, 9}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct form *form = make_form(*state, 1, x_with_a_valley, y_of_0);
        struct search_outcome outcome =
            search_form_within(*state, form, rows[i].name, 1, rows[i].budget);

        assert_in_range(outcome.evaluations, rows[i].least, rows[i].most);
    }
}

/* Time repeats exactly: measuring a plan twice would waste an evaluation. */
static void they_try_each_once(void **state)
{
    for (int n = 0; n < NAMES - 1; n++) {
        struct form *form = make_form(*state, 1, x_with_a_valley, y_of_0);
        struct search_outcome outcome = search_form(*state, form, names[n], 3);

        for (int i = 1; i < outcome.evaluations; i++) {
            for (int j = 0; j < i; j++) {
                assert_false(
                    model_config_equal(&form->log[i][0], &form->log[j][0]));
            }
        }
    }
}

static enum model_status fail_after(void *context,
                                    const struct model_plan *plan,
                                    struct search_measure *measure,
                                    struct model_errors *errors)
{
    int *left = context;

    (void)plan;
    (void)errors;
    measure->x_us[0] = 1000;
    measure->comm_us[0] = 1000;
    measure->kernel_us[0] = 1;
    measure->iteration_us = 1000;
    return --*left > 0 ? MODEL_OK : MODEL_STUCK;
}

/* An evaluation that fails ends the search at once, the first or a later. */
static void failures_end_them(void **state)
{
    static const int calls[] = {1, 5};
    struct form *form = make_form(*state, 1, x_of_10, y_of_0);

    for (int i = 0; i < NAMES * 2; i++) {
        int left = calls[i % 2];
        struct model_errors errors = {.arena = *state};
        struct search_evaluator evaluator = {.evaluate = fail_after,
                                             .context = &left};
        struct search_task task = {.arena = *state,
                                   .problem = form->problem,
                                   .evaluator = &evaluator,
                                   .errors = &errors};
        struct search_outcome outcome;

        assert_int_equal(search_run(search_strategy_find(names[i / 2], &errors),
                                    &task, &outcome),
                         MODEL_STUCK);
        assert_int_equal(evaluator.evaluations, calls[i % 2]);
    }
}

/* Nothing to decide: NCCL's plan, which has no rows, measured once. */
static void they_do_without_collectives(void **state)
{
    const struct model_topology *topology =
        fixture_topology(*state, "1x8 gpu:h100 nvswitch", NULL, 0);
    const struct model_workload *w = fixture_workload(
        *state, topology,
        "name: w\n"
        "ops:\n"
        "  - {id: g, kind: gemm, m: 4096, n: 4096, k: 4096}\n");

    for (int n = 0; n < NAMES; n++) {
        struct tuned tuned = tune(*state, topology, w, names[n], 1);

        assert_int_equal(tuned.problem->class_count, 0);
        assert_int_equal(tuned.outcome.evaluations, 1);
    }
}

/* What an op gives itself stays, and is not searched. */
static void they_leave_what_ops_give(void **state)
{
    const struct model_topology *topology =
        fixture_topology(*state, "lagom-a-1node", NULL, 0);
    const struct model_workload *w = fixture_workload(
        *state, topology,
        "name: w\n"
        "ops:\n"
        "  - {id: a, kind: all_gather, size: 64 MiB, "
        "channels: 5, transport: shm}\n"
        "  - {id: g, kind: gemm, m: 8192, n: 8192, k: 8192}\n");

    for (int n = 0; n < NAMES; n++) {
        struct tuned tuned = tune(*state, topology, w, names[n], 1);

        assert_int_equal(tuned.outcome.configs[0].channels, 5);
        assert_int_equal(tuned.outcome.configs[0].transport, MODEL_SHM);
        if (strcmp(names[n], "static") == 0) {
            /* the one count that there is */
            assert_int_equal(tuned.outcome.evaluations, 1);
        }
    }
}

/* -- static -- */

/* 1 + the distance of all channels from 5. */
static double y_best_at_5_channels(const struct model_config *configs)
{
    return 1 + abs(configs[0].channels - 5) + abs(configs[1].channels - 5);
}

static void static_finds_the_one_count(void **state)
{
    struct form *form = make_form(*state, 2, x_of_0, y_best_at_5_channels);
    struct search_outcome outcome = search_form(*state, form, "static", 1);

    assert_near(outcome.iteration_us, 1, 0);
    for (int i = 0; i < 2; i++) {
        struct model_config expected = form->problem->classes[i].baseline;

        expected.channels = 5;
        assert_true(model_config_equal(&outcome.configs[i], &expected));
    }
    for (int i = 1; i < outcome.evaluations; i++) {
        assert_int_equal(form->log[i][0].channels, form->log[i][1].channels);
    }
}

/* -- afnfa -- */

/* Least at 4 channels and the smallest chunk. */
static double x_by_channels_and_chunk(int class_index,
                                      const struct model_config *config)
{
    (void)class_index;
    return 10 * abs(config->channels - 4) + config->chunk_bytes / 131072;
}

/* The other way round, and longer. */
static double y_against_it(const struct model_config *configs)
{
    return 1e6 - x_by_channels_and_chunk(0, &configs[0]);
}

/*
 * NCCL's own takes 10 x 20 + 16. NCCL_MIN_NCHANNELS and NCCL_MAX_NCHANNELS of 4
 * and the least NCCL_BUFFSIZE, 256 KiB, of which a chunk is half, take 0 + 1:
 * one combination in 1,300. The forest comes near it, whatever the iteration,
 * which is then the longest. Threads stay NCCL's, and all classes run alike.
 * GPUs that NVLink joins all have no other transport.
 */
static void afnfa_sets_variables(void **state)
{
    struct form *form =
        make_form(*state, 2, x_by_channels_and_chunk, y_against_it);
    struct search_outcome outcome = search_form(*state, form, "afnfa", 1);
    double found = x_by_channels_and_chunk(0, &outcome.configs[0]);

    assert_near(x_by_channels_and_chunk(0, &form->log[0][0]), 216, 0);
    assert_true(found <= 10);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(outcome.configs[i].threads, 512);
        assert_int_equal(outcome.configs[i].transport, MODEL_P2P);
    }
    for (int i = 0; i < outcome.evaluations; i++) {
        assert_true(model_config_equal(&form->log[i][0], &form->log[i][1]));
        assert_true(x_by_channels_and_chunk(0, &form->log[i][0]) >= found);
    }
}

/* The variables reach host memory, too, where that is a way. */
static void afnfa_tries_host_memory(void **state)
{
    const struct model_topology *topology =
        fixture_topology(*state, "lagom-a-1node", NULL, 0);
    const struct model_workload *w =
        fixture_workload(*state, topology,
                         "name: w\n"
                         "ops:\n"
                         "  - {id: a, kind: all_gather, size: 2 GiB}\n"
                         "  - {id: g, kind: gemm, m: 1, n: 1, k: 1}\n");
    struct form form = {.problem = problem_of(*state, topology, w),
                        .x_us = x_of_10,
                        .y_us = y_of_0};
    struct search_outcome outcome = search_form(*state, &form, "afnfa", 1);
    int shm = 0;

    for (int i = 0; i < outcome.evaluations; i++) {
        shm += form.log[i][0].transport == MODEL_SHM ? 1 : 0;
    }
    assert_true(shm > 0);
    assert_true(shm < outcome.evaluations);
}

/* -- moves -- */

static bool is_point(const struct search_range *range,
                     const struct model_config *config)
{
    int at = search_subspace_of(range->spaces, range->count, config);
    const struct search_space *space = &range->spaces[at < 0 ? 0 : at];
    struct search_candidate near = search_space_nearest(space, config);
    struct model_config same = search_space_config(space, &near);

    return at >= 0 && model_config_equal(&same, config);
}

/*
 * 10,000 random points of an all_reduce over NVLink pairs, 8 subspaces, each
 * with a random turn: none leaves the space, and all subspaces are reached.
 */
static void moves_stay_in_the_space(void **state)
{
    const struct model_topology *topology =
        fixture_topology(*state, "lagom-a-1node", NULL, 0);
    const struct model_workload *w =
        fixture_workload(*state, topology,
                         "name: w\n"
                         "ops: [{id: a, kind: all_reduce, size: 64 MiB}]\n");
    struct search_range *ranges =
        search_ranges(*state, problem_of(*state, topology, w));
    gsl_rng *random = search_random(*state, 1);
    int seen[SEARCH_SUBSPACES_MAX] = {0};

    assert_int_equal(ranges[0].count, 8);
    for (int i = 0; i < 10000; i++) {
        struct model_config point = search_any(&ranges[0], random);
        enum search_knob knob =
            (enum search_knob)gsl_rng_uniform_int(random, SEARCH_KNOBS);
        int values = (int)gsl_rng_uniform_int(random, 2001) - 1000;

        assert_true(is_point(&ranges[0], &point));
        point = search_turn(&ranges[0], &point, knob, values);
        assert_true(is_point(&ranges[0], &point));
        seen[search_subspace_of(ranges[0].spaces, ranges[0].count, &point)]++;
    }
    for (int i = 0; i < ranges[0].count; i++) {
        assert_true(seen[i] > 0);
    }
}

/*
 * 2 channels of 96 threads and 7 x 768 bytes. One more of each: 3 channels; 128
 * threads, of whose multiples of 1024 bytes 5 x 1024 is nearest to 5376; 8 x
 * 768 bytes. Beyond an end: the end.
 */
static void knobs_turn(void **state)
{
    struct form *form = make_form(*state, 1, x_of_0, y_of_0);
    struct search_range *range = search_ranges(*state, form->problem);
    struct model_config at = range->spaces[0].subspace;
    struct model_config to;

    at.channels = 2;
    at.threads = 96;
    at.chunk_bytes = 5376;
    to = search_turn(range, &at, SEARCH_CHANNELS, 1);
    assert_int_equal(to.channels, 3);
    assert_near(to.chunk_bytes, 5376, 0);
    to = search_turn(range, &at, SEARCH_THREADS, 1);
    assert_int_equal(to.threads, 128);
    assert_near(to.chunk_bytes, 5120, 0);
    to = search_turn(range, &at, SEARCH_CHUNK, 1);
    assert_near(to.chunk_bytes, 6144, 0);
    to = search_turn(range, &at, SEARCH_CHANNELS, -9);
    assert_int_equal(to.channels, 1);
    to = search_turn(range, &at, SEARCH_THREADS, 99);
    assert_int_equal(to.threads, 608);
    assert_int_equal(search_reach(range, &at, SEARCH_CHANNELS), 83);
    assert_int_equal(search_reach(range, &at, SEARCH_THREADS), 16);
    assert_int_equal(search_reach(range, &at, SEARCH_CHUNK), 2730 - 1);
    /* ring, Simple and LL (NCCL trusts no A40 with LL128), P2P */
    assert_int_equal(search_reach(range, &at, SEARCH_SUBSPACE), 1);
    to = search_turn(range, &at, SEARCH_SUBSPACE, 1);
    assert_int_equal(to.protocol, MODEL_LL);
    assert_int_equal(to.channels, 2);
    assert_near(to.chunk_bytes, 5376, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_take_the_best_they_saw),
        cmocka_unit_test(they_keep_the_native_plan),
        cmocka_unit_test(seeds_decide),
        cmocka_unit_test(they_stay_within_the_budget),
        cmocka_unit_test(they_try_each_once),
        cmocka_unit_test(failures_end_them),
        cmocka_unit_test(they_do_without_collectives),
        cmocka_unit_test(they_leave_what_ops_give),
        cmocka_unit_test(static_finds_the_one_count),
        cmocka_unit_test(afnfa_sets_variables),
        cmocka_unit_test(afnfa_tries_host_memory),
        cmocka_unit_test(moves_stay_in_the_space),
        cmocka_unit_test(knobs_turn),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
