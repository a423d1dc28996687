/*
 * test_oracle.c - the strategy that the others are judged by: the optimum where
 * the space is small, never behind another strategy where it is not.
 */
#include "search/bound.h"

#include "tests/unit/searching.h"

/* -- a small space -- */

static double x_of_1(int class_index, const struct model_config *config)
{
    (void)class_index;
    (void)config;
    return 1;
}

/* Without any slope that a descent could follow: 1000 .. 1996. */
static double rugged_us(int multiple, int threads)
{
    return 1000 +
           (multiple * 613 + threads / 32 * 389 + multiple * threads) % 997;
}

static double y_rugged(const struct model_config *configs)
{
    return rugged_us((int)(configs[0].chunk_bytes / (608 * 8)),
                     configs[1].threads);
}

/*
 * Two AllGathers on 8 GPUs, whose ops leave open: the chunk of the first, i x
 * 608 x 8 bytes, of which 8 MiB / 8 / 43 / 4864 = 5.01; and the threads of the
 * second, 17 counts. One transport.
 */
static struct form *make_small_form(struct model_arena *arena)
{
    const struct model_topology *topology =
        fixture_topology(arena, "1x8 gpu:a40 nvswitch", NULL, 0);
    const struct model_workload *w = fixture_workload(
        arena, topology,
        "name: w\n"
        "ops:\n"
        "  - {id: a, kind: all_gather, size: 8 MiB, algorithm: ring, "
        "protocol: simple, channels: 43, threads: 608}\n"
        "  - {id: b, kind: all_gather, size: 2 GiB, algorithm: ring, "
        "protocol: simple, channels: 8, chunk: 64 KiB}\n"
        "  - {id: g, kind: gemm, m: 1, n: 1, k: 1}\n");
    struct form *form = model_arena_alloc(arena, sizeof *form);

    form->problem = problem_of(arena, topology, w);
    form->x_us = x_of_1;
    form->y_us = y_rugged;
    assert_int_equal(form->problem->class_count, 2);
    return form;
}

/* All 5 x 17 combinations, counted here, too: none is faster. */
static void the_optimum_of_a_small_space_is_found(void **state)
{
    struct form *form = make_small_form(*state);
    struct search_outcome outcome = search_form(*state, form, "oracle", 1);
    struct model_config native[2] = {form->problem->classes[0].baseline,
                                     form->problem->classes[1].baseline};
    double least_us = y_rugged(native);

    for (int multiple = 1; multiple <= 5; multiple++) {
        for (int threads = 96; threads <= 608; threads += 32) {
            least_us = fmin(least_us, rugged_us(multiple, threads));
        }
    }
    assert_near(outcome.iteration_us, least_us, 0);
    /* those, and NCCL's plan unless it is one of them */
    assert_in_range(outcome.evaluations, 5 * 17, 5 * 17 + 1);
}

/* Too small a budget for all of them: it descends, and is no worse for that
 * than what it saw. */
static void a_budget_bounds_its_own_plans(void **state)
{
    struct form *form = make_form(*state, 1, x_with_a_valley, y_of_0);
    int others = 0;

    for (int i = 0; search_strategies[i].find != search_find_oracle; i++) {
        struct form *own = make_form(*state, 1, x_with_a_valley, y_of_0);

        others +=
            search_form(*state, own, search_strategies[i].name, 1).evaluations;
        others += 1; /* what it ends with, where the oracle does not know it */
    }
    assert_in_range(
        search_form_within(*state, form, "oracle", 1, 50).evaluations, 50,
        50 + others);
}

/*
 * A valley in the chunk at 500,000 bytes. The finest steps are a tenth: where
 * none gains the chunk is at most half of that off, 500,000 x 0.1 / 1.9 =
 * 26,316 bytes, and its rounding to threads x 8 bytes, half of 608 x 8 = 2432.
 * There x is at most 1000 + 28,748 / 100. Two collectives: 2 x 1288.
 */
static void descents_find_a_valley(void **state)
{
    struct form *form = make_form(*state, 2, x_with_a_valley, y_of_0);
    struct search_outcome outcome =
        search_form_within(*state, form, "oracle", 1, 300);

    assert_true(outcome.iteration_us <= 2 * 1288);
    assert_true(outcome.iteration_us >= 2 * 1000);
}

/* -- what it says -- */

static void it_says_when_all_was_measured(void **state)
{
    struct search_outcome outcome =
        search_form(*state, make_small_form(*state), "oracle", 1);

    assert_non_null(strstr(outcome.account, "proven: all plans"));
}

/* A bound that something measured is below says nothing. */
static void it_is_silent_where_the_bound_does_not_hold(void **state)
{
    struct search_outcome outcome = search_form_within(
        *state, make_form(*state, 1, x_with_a_valley, y_of_0), "oracle", 1, 50);

    assert_string_equal(outcome.account, "");
}

/* -- on the simulator -- */

/* No strategy of the table is faster, and the bound holds. */
static void nobody_beats_it(void **state)
{
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
    struct tuned best = tune(*state, topology, w, "oracle", 3);

    for (int i = 0; search_strategies[i].name != NULL; i++) {
        struct tuned other =
            tune(*state, topology, w, search_strategies[i].name, 3);

        assert_true(best.outcome.iteration_us <= other.outcome.iteration_us);
    }
    assert_true(best.outcome.iteration_us >=
                search_bound_us(*state, best.problem));
    assert_non_null(strstr(best.outcome.account, "proven: no plan is faster"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_optimum_of_a_small_space_is_found),
        cmocka_unit_test(a_budget_bounds_its_own_plans),
        cmocka_unit_test(descents_find_a_valley),
        cmocka_unit_test(it_says_when_all_was_measured),
        cmocka_unit_test(it_is_silent_where_the_bound_does_not_hold),
        cmocka_unit_test(nobody_beats_it),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
