/*
 * test_budget.c - what a verdict of one line, made by hand, says of budgets.
 */
#include "validate/budget.h"

#include "tests/unit/fixture.h"

#include <math.h>

static struct validate_spent spend(struct model_arena *arena,
                                   double spearman,
                                   const struct validate_budget *budget)
{
    struct validate_line line = {.set = "a",
                                 .operation = "",
                                 .gpu = "",
                                 .accuracy = {.count = 9,
                                              .median_ratio = 0.10,
                                              .p95_ratio = 0.20,
                                              .worst_ratio = 0.30,
                                              .spearman = spearman,
                                              .kendall = (double)NAN}};
    struct validate_verdict verdict = {.sets = {&line, 1}};
    struct validate_budget one = *budget;
    struct validate_budgets budgets = {&one, 1};

    one.set = "a";
    one.place = (struct model_place){"b.yaml", 4, 1};
    return validate_spend(arena, &budgets, &verdict);
}

static void what_is_reached_is_kept(void **state)
{
    static const struct validate_budget budget = {.median_ratio = 0.10,
                                                  .p95_ratio = 0.20,
                                                  .worst_ratio = 0.30,
                                                  .spearman = 0.9};
    struct validate_spent spent = spend(*state, 0.9, &budget);

    assert_int_equal(spent.exceeded_count, 0);
    assert_int_equal(spent.loose_count, 0);
}

static void what_is_exceeded(void **state)
{
    static const struct validate_budget budget = {.median_ratio = 0.09,
                                                  .p95_ratio = 0.19,
                                                  .worst_ratio = 0.29,
                                                  .spearman = 0.95,
                                                  .kendall = 0.1};
    static const char *const texts[] = {
        "b.yaml:4: a: median 10.0% exceeds 9.0%",
        "b.yaml:4: a: p95 20.0% exceeds 19.0%",
        "b.yaml:4: a: worst 30.0% exceeds 29.0%",
        "b.yaml:4: a: spearman 0.900 is below 0.950",
        "b.yaml:4: a: kendall: nothing is ranked"};
    struct validate_spent spent = spend(*state, 0.9, &budget);

    assert_int_equal(spent.exceeded_count, 5);
    for (int i = 0; i < 5; i++) {
        assert_string_equal(spent.exceeded[i], texts[i]);
    }
}

static void what_is_loose(void **state)
{
    static const struct validate_budget budget = {.median_ratio = 0.9,
                                                  .spearman = 0.1};
    struct validate_spent spent = spend(*state, 0.9, &budget);

    assert_int_equal(spent.exceeded_count, 0);
    assert_int_equal(spent.loose_count, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_reached_is_kept),
        cmocka_unit_test(what_is_exceeded),
        cmocka_unit_test(what_is_loose),
    };

    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
