/*
 * test_noise.c - measurements that scatter, and those that are remembered.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/searching.h"

#include "search/memo.h"
#include "search/noise.h"

static double x_of_20_or_30(int class_index, const struct model_config *config)
{
    (void)config;
    return class_index == 0 ? 20 : 30;
}

/* An evaluator under noise, asked for the same plan again and again. */
struct noisy {
    struct form *form;
    struct search_evaluator inner, outer;
    struct search_noise noise;
    struct search_measure measure;
    struct model_plan plan;
};

static struct noisy *make_noisy(struct model_arena *arena,
                                double deviation_ratio,
                                int repeats,
                                uint64_t seed)
{
    struct noisy *noisy = model_arena_alloc(arena, sizeof *noisy);
    struct search_noise_options options = {deviation_ratio, repeats, seed};
    struct model_config configs[2];

    noisy->form = make_form(arena, 2, x_of_20_or_30, y_of_5000);
    noisy->inner = (struct search_evaluator){.evaluate = evaluate_form,
                                             .context = noisy->form};
    search_noise_make(arena, noisy->form->problem, &noisy->inner, &options,
                      &noisy->noise, &noisy->outer);
    search_measure_make(arena, noisy->form->problem, &noisy->measure);
    for (int i = 0; i < 2; i++) {
        configs[i] = noisy->form->problem->classes[i].baseline;
    }
    noisy->plan = search_plan(arena, noisy->form->problem, configs, "test");
    return noisy;
}

static const struct search_measure *ask(struct model_arena *arena,
                                        struct noisy *noisy)
{
    struct model_errors errors = {.arena = arena};

    noisy->form->calls = 0;
    assert_int_equal(
        search_evaluate(&noisy->outer, &noisy->plan, &noisy->measure, &errors),
        MODEL_OK);
    assert_int_equal(noisy->form->calls, 1);
    return &noisy->measure;
}

enum { DRAWS = 20000, VALUES = 5 };

/* Sums over draws of values as multiples of what they are without noise. */
struct moments {
    double mean[VALUES], deviation[VALUES];
    double covariance; /* of the first two */
};

static struct moments draw(struct model_arena *arena, struct noisy *noisy)
{
    struct moments moments = {.covariance = 0};
    double squares[VALUES] = {0};

    for (int i = 0; i < DRAWS; i++) {
        const struct search_measure *m = ask(arena, noisy);
        double factors[VALUES] = {m->iteration_us / 5000, m->x_us[0] / 20,
                                  m->x_us[1] / 30, m->comm_us[0] / 50,
                                  m->kernel_us[0] / 5000};

        for (int j = 0; j < VALUES; j++) {
            assert_true(factors[j] > 0);
            moments.mean[j] += factors[j] / DRAWS;
            squares[j] += (factors[j] - 1) * (factors[j] - 1) / DRAWS;
        }
        moments.covariance += (factors[0] - 1) * (factors[1] - 1) / DRAWS;
    }
    for (int j = 0; j < VALUES; j++) {
        moments.deviation[j] = sqrt(squares[j]);
    }
    return moments;
}

/*
 * With d = 10 %, the mean of 20,000 draws has a deviation of 0.1 / sqrt(20000)
 * = 0.0007, their deviation one of about 0.1 / sqrt(40000) = 0.0005, their
 * covariance one of 0.01 / sqrt(20000) = 0.00007: five of each are allowed.
 */
static void means_converge(void **state)
{
    struct noisy *noisy = make_noisy(*state, 0.1, 1, 7);
    struct moments moments = draw(*state, noisy);

    for (int j = 0; j < VALUES; j++) {
        assert_near(moments.mean[j], 1, 0.0035);
        assert_near(moments.deviation[j], 0.1, 0.0025);
    }
    assert_near(moments.covariance, 0, 0.00035);
    assert_int_equal(noisy->outer.evaluations, DRAWS);
}

/* Half the deviation with four times the measurements: 0.2 / sqrt(4). */
static void repeats_are_averaged(void **state)
{
    struct noisy *noisy = make_noisy(*state, 0.2, 4, 7);
    struct moments moments = draw(*state, noisy);

    for (int j = 0; j < VALUES; j++) {
        assert_near(moments.mean[j], 1, 0.0035);
        assert_near(moments.deviation[j], 0.1, 0.0025);
    }
    /* each measurement counts */
    assert_int_equal(noisy->outer.evaluations, 4 * DRAWS);
}

static void seeds_decide(void **state)
{
    double first_us = ask(*state, make_noisy(*state, 0.1, 1, 7))->iteration_us;
    double again_us = ask(*state, make_noisy(*state, 0.1, 1, 7))->iteration_us;
    double other_us = ask(*state, make_noisy(*state, 0.1, 1, 8))->iteration_us;

    assert_near(again_us, first_us, 0);
    assert_true(fabs(other_us - first_us) > 1e-6);
    assert_true(search_noise_seed(1, "a", 1) != search_noise_seed(1, "a", 2));
    assert_true(search_noise_seed(1, "a", 1) != search_noise_seed(1, "b", 1));
    assert_true(search_noise_seed(1, "a", 1) != search_noise_seed(2, "a", 1));
}

/* Nothing scatters without noise, whatever the repeats. */
static void none_is_exact(void **state)
{
    struct noisy *noisy = make_noisy(*state, 0, 4, 7);

    assert_near(ask(*state, noisy)->iteration_us, 5000, 1e-9);
    assert_near(ask(*state, noisy)->x_us[1], 30, 1e-9);
}

/* -- memory -- */

/* 900 plans, each twice: more than there are slots at first. */
static void plans_are_remembered(void **state)
{
    struct form *form = make_form(*state, 2, x_by_chunk, y_by_first_chunk);
    struct search_evaluator inner = {.evaluate = evaluate_form,
                                     .context = form};
    struct search_memo memo;
    struct search_evaluator first, second;
    struct search_measure measure, again;
    struct model_errors errors = {.arena = *state};

    search_memo_make(*state, form->problem, &inner, &memo);
    first = search_memo_evaluator(&memo);
    second = search_memo_evaluator(&memo);
    search_measure_make(*state, form->problem, &measure);
    search_measure_make(*state, form->problem, &again);
    for (int i = 0; i < 900; i++) {
        struct model_config configs[2] = {form->problem->classes[0].baseline,
                                          form->problem->classes[1].baseline};
        struct model_plan plan;

        configs[0].chunk_bytes = 768.0 * (1 + i % 30);
        configs[1].channels = 1 + i / 30;
        plan = search_plan(*state, form->problem, configs, NULL);
        assert_int_equal(search_evaluate(&first, &plan, &measure, &errors),
                         MODEL_OK);
        assert_int_equal(form->calls, i + 1);
        assert_int_equal(search_evaluate(&second, &plan, &again, &errors),
                         MODEL_OK);
        assert_int_equal(form->calls, i + 1);
        assert_near(again.iteration_us, measure.iteration_us, 0);
        assert_near(again.x_us[0], 1e9 / configs[0].chunk_bytes, 0);
        assert_near(again.comm_us[0], measure.comm_us[0], 0);
        assert_near(again.kernel_us[0], 1000 * (1 + i % 30), 1e-6);
    }
    assert_int_equal(first.evaluations, 900);
    assert_int_equal(second.evaluations, 900);
    assert_int_equal(inner.evaluations, 900);
}

static enum model_status get_stuck(void *context,
                                   const struct model_plan *plan,
                                   struct search_measure *measure,
                                   struct model_errors *errors)
{
    (void)plan;
    (void)measure;
    (void)errors;
    *(int *)context += 1;
    return MODEL_STUCK;
}

static void failures_are_not(void **state)
{
    struct noisy *noisy = make_noisy(*state, 0.1, 1, 7);
    int calls = 0;
    struct search_evaluator failing = {.evaluate = get_stuck,
                                       .context = &calls};
    struct search_memo memo;
    struct search_evaluator evaluator;
    struct model_errors errors = {.arena = *state};

    search_memo_make(*state, noisy->form->problem, &failing, &memo);
    evaluator = search_memo_evaluator(&memo);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            search_evaluate(&evaluator, &noisy->plan, &noisy->measure, &errors),
            MODEL_STUCK);
    }
    assert_int_equal(calls, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_converge),
        cmocka_unit_test(repeats_are_averaged),
        cmocka_unit_test(seeds_decide),
        cmocka_unit_test(none_is_exact),
        cmocka_unit_test(plans_are_remembered),
        cmocka_unit_test(failures_are_not),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
