/*
 * test_lagom_plus.c - lagom+ where the best plan can be worked out by hand, and
 * where it is what trying all numbers of channels finds.
 *
 * On the tiny machine a GEMM tile takes 10 us on one of 10 SMs, and an
 * AllGather of M bytes over NC channels M / 2 / NC / 1000 us on NC of them,
 * nothing else being shared: SMs times time are the same whatever NC. A launch
 * takes 5 us.
 */
#include "search/bound.h"

#include "tests/unit/searching.h"

/* 250 tiles: 25 waves. */
#define GEMM_250 "kind: gemm, m: 5000, n: 250, k: 1000, tile: [100, 50]"

static const struct model_workload *beside_gemm(struct model_arena *arena,
                                                const struct model_topology *t,
                                                const char *size)
{
    return fixture_workload(
        arena, t,
        model_arena_format(arena,
                           "name: w\n"
                           "ops:\n"
                           "  - {id: a, kind: all_gather, size: %s, stream: "
                           "comm, algorithm: ring, protocol: simple}\n"
                           "  - {id: g, " GEMM_250 "}\n",
                           size));
}

/* The least of all numbers of channels, with the threads and chunk of a plan.
 */
static double least_of_all_us(struct model_arena *arena,
                              const struct tuned *tuned)
{
    struct search_simulator simulator = {.problem = tuned->problem,
                                         .scratch = model_arena_new()};
    struct search_evaluator evaluator = search_simulate(&simulator);
    struct model_errors errors = {.arena = arena};
    struct search_task task = {.arena = arena,
                               .problem = tuned->problem,
                               .evaluator = &evaluator,
                               .errors = &errors};
    struct model_config config = tuned->outcome.configs[0];
    double least_us = HUGE_VAL;

    for (config.channels = 1; config.channels <= 10; config.channels++) {
        double us;

        assert_int_equal(search_iteration_us(&task, &config, &us), MODEL_OK);
        least_us = fmin(least_us, us);
    }
    model_arena_free(simulator.scratch);
    return least_us;
}

/*
 * 1.2 MB: 600 us of one SM, and 2500 of the GEMM: 3100 on 10 SMs are 310, and
 * the launch. With one or two channels the gather alone takes 605 or 305 and
 * the GEMM 260 or, 8 tiles at a time, 325; with three it is out of the way
 * after 200, when 20 waves of 7 are done and 11 of 10 are left: 315, to which
 * nothing is to be added.
 */
static void it_finds_the_balance(void **state)
{
    const struct model_topology *t = fixture_tiny(*state, NULL, 0);
    struct tuned tuned =
        tune(*state, t, beside_gemm(*state, t, "1.2 MB"), "lagom+", 1);

    assert_near(tuned.outcome.iteration_us, 315, 1e-3);
    assert_in_range(tuned.outcome.configs[0].channels, 3, 10);
    assert_in_range(tuned.outcome.evaluations, 1, 12 + 4);
}

/* 12 MB: the gather is longer than the GEMM unless it has all SMs: 6000 / 10.
 * It then goes first, or the GEMM does, and neither costs the other more. */
static void it_hurries_what_cannot_hide(void **state)
{
    const struct model_topology *t = fixture_tiny(*state, NULL, 0);
    struct tuned tuned =
        tune(*state, t, beside_gemm(*state, t, "12 MB"), "lagom+", 1);

    assert_near(tuned.outcome.iteration_us, least_of_all_us(*state, &tuned),
                1e-3);
    assert_true(tuned.outcome.configs[0].channels >= 8);
}

/*
 * 40 kB: 20 us of one SM hide beside 25 waves with any number of channels, but
 * what they take from the GEMM, a wave of 10 us, does not; with all ten the
 * GEMM waits for 2 us instead: 5 + 2 + 250.
 */
static void it_looks_beyond_what_is_hidden(void **state)
{
    const struct model_topology *t = fixture_tiny(*state, NULL, 0);
    struct tuned tuned =
        tune(*state, t, beside_gemm(*state, t, "40 kB"), "lagom+", 1);

    assert_true(tuned.outcome.iteration_us >= 257 - 1e-3);
    assert_true(tuned.outcome.iteration_us <= 257 * 1.01);
}

/* A plan that nothing can beat needs no second one: NCCL's, of which the launch
 * and the GEMM's 255 us are all. */
static void it_stops_at_the_bound(void **state)
{
    const struct model_topology *t = fixture_tiny(*state, NULL, 0);
    const struct model_workload *w =
        fixture_workload(*state, t,
                         "name: w\n"
                         "ops:\n"
                         "  - {id: g, " GEMM_250 "}\n"
                         "  - {id: a, kind: all_gather, size: 1 B, after: [g], "
                         "stream: comm, algorithm: ring, protocol: simple}\n");
    struct tuned tuned = tune(*state, t, w, "lagom+", 1);

    assert_int_equal(tuned.outcome.evaluations, 1);
}

static void without_collectives_there_is_nothing_to_do(void **state)
{
    const struct model_topology *t = fixture_tiny(*state, NULL, 0);
    const struct model_workload *w = fixture_workload(
        *state, t, "name: w\nops:\n  - {id: g, " GEMM_250 "}\n");

    assert_int_equal(tune(*state, t, w, "lagom+", 1).outcome.evaluations, 1);
}

/* Keys that an op gives itself stay. */
static void fixed_keys_stay(void **state)
{
    const struct model_topology *t = fixture_tiny(*state, NULL, 0);
    const struct model_workload *w =
        fixture_workload(*state, t,
                         "name: w\n"
                         "ops:\n"
                         "  - {id: a, kind: all_gather, size: 12 MB, stream: "
                         "comm, channels: 3, protocol: simple}\n"
                         "  - {id: g, " GEMM_250 "}\n");
    struct tuned tuned = tune(*state, t, w, "lagom+", 1);

    assert_int_equal(tuned.outcome.configs[0].channels, 3);
    assert_int_equal(tuned.outcome.configs[0].protocol, MODEL_SIMPLE);
}

static double x_of_short_chunks(int class_index,
                                const struct model_config *config)
{
    (void)class_index;
    return 1000 + config->chunk_bytes / 100;
}

/* An evaluator of which the cost model knows nothing, and where only shorter
 * chunks help: by a factor of 2 at least. */
static void any_evaluator_will_do(void **state)
{
    struct form *form = make_form(*state, 2, x_of_short_chunks, y_of_0);
    struct model_config native[2] = {form->problem->classes[0].baseline,
                                     form->problem->classes[1].baseline};
    struct search_outcome outcome = search_form(*state, form, "lagom+", 1);

    assert_true(outcome.iteration_us <=
                x_of_short_chunks(0, &native[0]) / 2 +
                    x_of_short_chunks(1, &native[1]) / 2);
    assert_in_range(outcome.evaluations, 2, 12 + 4 * 2);
}

/* Two windows, one after the other; the first wants long chunks, the second
 * short ones: 1000 us at 1 MiB, and in proportion. */
struct windows {
    const struct search_problem *problem;
    struct model_config log[LOG_MAX][2];
    int calls;
};

static enum model_status evaluate_windows(void *context,
                                          const struct model_plan *plan,
                                          struct search_measure *measure,
                                          struct model_errors *errors)
{
    struct windows *windows = context;

    (void)errors;
    assert_true(windows->calls < LOG_MAX);
    assert_int_equal(plan->row_count, 2);
    measure->iteration_us = 0;
    for (int i = 0; i < 2; i++) {
        const struct model_config *config = &plan->rows[i].config;
        double part = config->chunk_bytes / 1048576;

        windows->log[windows->calls][i] = *config;
        measure->x_us[i] = i == 0 ? 1000 / part : 1000 * part;
        measure->comm_us[i] = measure->x_us[i];
        measure->kernel_us[i] = 0;
        measure->iteration_us += measure->x_us[i];
    }
    windows->calls++;
    return MODEL_OK;
}

/*
 * Half the chunk in both helps the second window and harms the first, more than
 * it helps. The next plan has it where it helped alone.
 */
static void windows_keep_what_is_good_for_them(void **state)
{
    const struct model_topology *t =
        fixture_topology(*state, "1x8 gpu:a40 nvswitch", NULL, 0);
    const struct model_workload *w = fixture_workload(
        *state, t,
        "name: w\n"
        "ops:\n"
        "  - {id: a, kind: all_gather, size: 2 GiB}\n"
        "  - {id: g, kind: gemm, m: 8192, n: 8192, k: 8192}\n"
        "  - {id: b, kind: all_gather, size: 4 GiB, after: [g]}\n"
        "  - {id: h, kind: gemm, m: 8192, n: 8192, k: 8192, after: [a]}\n");
    struct windows *windows = model_arena_alloc(*state, sizeof *windows);
    struct search_evaluator evaluator = {.evaluate = evaluate_windows,
                                         .context = windows};
    struct model_errors errors = {.arena = *state};
    struct search_task task = {
        .arena = *state, .evaluator = &evaluator, .errors = &errors};
    struct search_outcome outcome;
    int found = 0;

    windows->problem = problem_of(*state, t, w);
    task.problem = windows->problem;
    assert_int_equal(windows->problem->window_count, 2);
    assert_int_equal(
        search_run(search_strategy_find("lagom+", &errors), &task, &outcome),
        MODEL_OK);
    for (int i = 1; i + 1 < windows->calls; i++) {
        double long_bytes[3], short_bytes[3]; /* before, at and after i */

        for (int k = 0; k < 3; k++) {
            long_bytes[k] = windows->log[i - 1 + k][0].chunk_bytes;
            short_bytes[k] = windows->log[i - 1 + k][1].chunk_bytes;
        }
        found += long_bytes[1] < long_bytes[0] &&
                         short_bytes[1] < short_bytes[0] &&
                         long_bytes[2] >= long_bytes[0] &&
                         short_bytes[2] <= short_bytes[1]
                     ? 1
                     : 0;
    }
    assert_true(found > 0);
}

/* Where all takes the same, ten measurements after NCCL's own are enough. */
static void it_is_patient_for_ten(void **state)
{
    struct form *form = make_form(*state, 2, x_of_10, y_of_0);
    struct search_outcome outcome = search_form(*state, form, "lagom+", 1);

    assert_int_equal(outcome.evaluations, 1 + 10);
}

/* Measurements grow by four a class: 16 gathers of different sizes. */
static void measurements_grow_linearly(void **state)
{
    const struct model_topology *t =
        fixture_topology(*state, "lagom-a-1node", NULL, 0);

    for (int count = 1; count <= 16; count *= 4) {
        const char *ops = "name: w\nops:\n";

        for (int i = 0; i < count; i++) {
            ops = model_arena_format(
                *state,
                "%s  - {id: a%d, kind: all_gather, size: %d MB, stream: comm}\n"
                "  - {id: g%d, kind: gemm, m: 4096, n: 4096, k: 4096}\n",
                ops, i, 40 + i, i);
        }
        assert_in_range(
            tune(*state, t, fixture_workload(*state, t, ops), "lagom+", 1)
                .outcome.evaluations,
            2, 12 + 4 * count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_finds_the_balance),
        cmocka_unit_test(it_hurries_what_cannot_hide),
        cmocka_unit_test(it_looks_beyond_what_is_hidden),
        cmocka_unit_test(it_stops_at_the_bound),
        cmocka_unit_test(without_collectives_there_is_nothing_to_do),
        cmocka_unit_test(fixed_keys_stay),
        cmocka_unit_test(any_evaluator_will_do),
        cmocka_unit_test(windows_keep_what_is_good_for_them),
        cmocka_unit_test(it_is_patient_for_ten),
        cmocka_unit_test(measurements_grow_linearly),
    };

    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
