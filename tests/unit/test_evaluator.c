/*
 * test_evaluator.c - the evaluators by name, and Lagom's cost model as one: a
 * window by hand, where the simulator must say the same; what cannot run.
 */
#include "tests/unit/searching.h"

/* What an evaluator says of one configuration for all. */
static enum model_status measure(struct model_arena *arena,
                                 const struct search_problem *problem,
                                 const char *name,
                                 const struct model_config *config,
                                 struct search_measure *to,
                                 struct model_errors *errors)
{
    const struct search_evaluator_kind *kind =
        search_evaluator_find(name, errors);
    struct model_arena *scratch = model_arena_new();
    struct model_config configs[CLASSES_MAX] = {*config, *config};
    struct model_plan plan = search_plan(arena, problem, configs, NULL);
    struct search_evaluator evaluator;
    enum model_status status;

    assert_non_null(scratch);
    search_measure_make(arena, problem, to);
    status = kind->open(arena, scratch, problem, NULL, &evaluator, errors);
    assert_int_equal(status, MODEL_OK);
    status = search_evaluate(&evaluator, &plan, to, errors);
    assert_int_equal(evaluator.evaluations, 1);
    model_arena_free(scratch);
    return status;
}

static struct model_config channels(int count)
{
    return (struct model_config){.algorithm = MODEL_RING,
                                 .protocol = MODEL_SIMPLE,
                                 .transport = MODEL_P2P,
                                 .channels = count,
                                 .threads = 512,
                                 .chunk_bytes = 1000};
}

/*
 * The tiny machine, 10 SMs of 1e6 flops/us. 20 tiles of 128 x 256 with k = 1000
 * take 65.536 us each: alone two waves, beside 2 channels three, beside 6 five.
 */
static const struct search_problem *pair(struct model_arena *arena,
                                         const char *size)
{
    const struct model_topology *topology = fixture_tiny(arena, NULL, 0);

    return problem_of(
        arena, topology,
        fixture_workload(
            arena, topology,
            model_arena_format(
                arena,
                "name: w\n"
                "ops:\n"
                "  - {id: a, kind: all_gather, size: %s, stream: comm}\n"
                "  - {id: g, kind: gemm, m: 2560, n: 256, k: 1000,"
                " stream: compute}\n",
                size)));
}

/* M / 2 / NC / 1000 us for M bytes, and launches of 5 us. */
static void a_window_by_hand(void **state)
{
    static const struct {
        const char *size;
        int channels;
        double x_us, y_us;
    } rows[] = {
        {"2 MB", 2, 505, 5 + 3 * 65.536},
        {"12 MB", 6, 1005, 5 + 5 * 65.536},
        /* half a microsecond beside the GEMM, which has the rest alone */
        {"2 kB", 2, 5.5, 5.5 + (1 - 0.5 / (3 * 65.536)) * 2 * 65.536},
    };
    struct model_errors errors = {.arena = *state};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        const struct search_problem *problem = pair(*state, rows[i].size);
        struct model_config config = channels(rows[i].channels);
        struct search_measure model;
        assert_int_equal(
            measure(*state, problem, "model", &config, &model, &errors),
            MODEL_OK);
        assert_near(model.x_us[0], rows[i].x_us, 1e-3);
        assert_near(model.comm_us[0], model.x_us[0], 0);
        assert_near(model.kernel_us[0], rows[i].y_us, 1e-3);
        assert_near(model.iteration_us, fmax(model.x_us[0], model.kernel_us[0]),
                    0);
    }
}

/*
 * Wherever the AllGather outlasts the GEMM, 12 MB over at most 8 channels, the
 * simulator agrees. With 9 it ends in the middle of a wave, of which the model
 * knows no middle: 9 channels are over after 671.67 us, 10 waves of one SM and
 * 0.17 after 5 us; the other 9.83 loads of 20 take 64.4 us on 10 SMs, but in
 * the simulator one load goes on and 9 more take 65.536 us.
 */
static void the_simulator_says_the_same(void **state)
{
    const struct search_problem *problem = pair(*state, "12 MB");
    struct model_errors errors = {.arena = *state};

    for (int count = 1; count <= 9; count++) {
        struct model_config config = channels(count);
        struct search_measure model;
        struct search_measure simulated;

        assert_int_equal(
            measure(*state, problem, "model", &config, &model, &errors),
            MODEL_OK);
        assert_int_equal(
            measure(*state, problem, "simulator", &config, &simulated, &errors),
            MODEL_OK);
        assert_near_ratio(model.x_us[0], simulated.x_us[0], 1e-6);
        if (count < 9) {
            assert_near_ratio(model.iteration_us, simulated.iteration_us, 1e-6);
            assert_near_ratio(model.kernel_us[0], simulated.kernel_us[0], 1e-6);
        } else {
            assert_near(model.iteration_us, 671.67 + 64.4, 0.1);
            assert_near(simulated.iteration_us, 671.67 + 65.536, 0.1);
        }
    }
}

/* 11 channels on 10 SMs: the simulator's own words. */
static void what_cannot_run_is_said(void **state)
{
    const struct search_problem *problem = pair(*state, "2 MB");
    struct model_config config = channels(11);
    struct search_measure model;
    struct model_errors errors = {.arena = *state};

    assert_int_equal(
        measure(*state, problem, "model", &config, &model, &errors),
        MODEL_BAD_INPUT);
    fixture_expect_error(&errors, "a", "more channels than");
}

/* A type that the GPU lacks is found before anything is searched. */
static void a_workload_that_cannot_run(void **state)
{
    const struct model_topology *topology =
        fixture_topology(*state, "1x8 gpu:v100", NULL, 0);
    const struct search_problem *problem = problem_of(
        *state, topology,
        fixture_workload(*state, topology,
                         "name: w\n"
                         "ops:\n"
                         "  - {id: g, kind: gemm, type: bf16, m: 1, n: 1, k: "
                         "1}\n"));
    struct model_arena *scratch = model_arena_new();
    struct model_errors errors = {.arena = *state};
    struct search_evaluator evaluator;

    assert_non_null(scratch);
    assert_int_equal(
        search_evaluator_find("model", &errors)
            ->open(*state, scratch, problem, NULL, &evaluator, &errors),
        MODEL_BAD_INPUT);
    fixture_expect_error(&errors, "g", "no peak rate for bf16");
    model_arena_free(scratch);
}

static void evaluators_have_names(void **state)
{
    struct model_errors errors = {.arena = *state};

    assert_string_equal(search_evaluator_find(NULL, &errors)->name,
                        "simulator");
    assert_string_equal(search_evaluator_find("model", &errors)->name, "model");
    assert_null(search_evaluator_find("modle", &errors));
    assert_int_equal(errors.count, 1);
    fixture_expect_error(&errors, NULL, "no such evaluator: modle");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_by_hand),
        cmocka_unit_test(the_simulator_says_the_same),
        cmocka_unit_test(what_cannot_run_is_said),
        cmocka_unit_test(a_workload_that_cannot_run),
        cmocka_unit_test(evaluators_have_names),
    };

    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
