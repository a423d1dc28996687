/* The speedup table's choice among runs with several seeds. */
#include "search/compare.h"

#include "tests/unit/fixture.h"

static void median_of_an_odd_number(void **state)
{
    /* In order 1 2 3 4 5: the third is 3, at index 4. */
    const double times_us[] = {5.0, 1.0, 4.0, 2.0, 3.0};

    (void)state;
    assert_int_equal(search_median_index(times_us, 5), 4);
    assert_int_equal(search_median_index(times_us, 1), 0);
}

static void median_of_an_even_number_is_the_lower(void **state)
{
    /* In order 1 2 4 5: of 2 and 4 it is 2, at index 3. */
    const double times_us[] = {5.0, 1.0, 4.0, 2.0};

    (void)state;
    assert_int_equal(search_median_index(times_us, 4), 3);
    assert_int_equal(search_median_index(times_us, 2), 1);
}

static void of_equal_times_the_first_comes_first(void **state)
{
    /* In order 1 (at 2), 2 (0), 2 (1), 2 (3), 3 (4): the third is at 1. */
    const double times_us[] = {2.0, 2.0, 1.0, 2.0, 3.0};

    (void)state;
    assert_int_equal(search_median_index(times_us, 5), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(median_of_an_odd_number),
        cmocka_unit_test(median_of_an_even_number_is_the_lower),
        cmocka_unit_test(of_equal_times_the_first_comes_first)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
