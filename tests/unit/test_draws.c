/*
 * test_draws.c - points of a normal distribution: Sobol's through the inverse
 * of the normal distribution and a root of the covariance, and quantiles.
 */
#include "search/draws.h"

#include "tests/unit/fixture.h"

/*
 * One dimension: Sobol's points are 1/2, 3/4, 1/4, 3/8, 7/8, ... of which the
 * normal distribution has 0, 0.67449, -0.67449, -0.31864, 1.15035 standard
 * deviations; here one is 0.2.
 */
static void one_dimension(void **state)
{
    static const double deviations[] = {0, 0.67449, -0.67449, -0.31864,
                                        1.15035};
    const double covariance[] = {0.04};
    const double *draws = search_draws_make(*state, covariance, 1, 5, 1);

    for (int i = 0; i < FIXTURE_COUNT(deviations); i++) {
        assert_near(draws[i], 0.2 * deviations[i], 1e-6);
    }
}

/*
 * All along one direction v, whose largest part is positive whichever way the
 * eigenvector points: the second point is 0.67449 v.
 */
static void one_direction(void **state)
{
    static const double directions[][3] = {
        {1, 2, 3}, {-2, -1, 3}, {1, 0, 2}, {-1, 3, 2}};

    for (int n = 0; n < FIXTURE_COUNT(directions); n++) {
        const double *v = directions[n];
        double covariance[9];
        const double *draws;

        for (int i = 0; i < 9; i++) {
            covariance[i] = v[i / 3] * v[i % 3];
        }
        draws = search_draws_make(*state, covariance, 3, 2, 1);
        for (int i = 0; i < 3; i++) {
            assert_near(draws[3 + i], 0.67449 * v[i], 1e-4);
        }
    }
}

static double product(const double *draws, int count, int many, int i, int j)
{
    double sum = 0;

    for (int k = 0; k < many; k++) {
        sum += draws[k * count + i] * draws[k * count + j];
    }
    return sum / many;
}

/*
 * Two that depend on each other, a third that is always both together, and a
 * fourth that is known: the covariance has two directions of four. 1023 points
 * of two dimensions give each variance but for the tails beyond 1 of 1024, 2 %.
 */
static void what_belongs_together_is_drawn_so(void **state)
{
    const double covariance[] = {0.04, 0.02, 0.06, 0, 0.02, 0.09, 0.11, 0,
                                 0.06, 0.11, 0.17, 0, 0,    0,    0,    0};
    const double *draws = search_draws_make(*state, covariance, 4, 1023, 1);

    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            assert_near(product(draws, 4, 1023, i, j), covariance[4 * i + j],
                        0.02 * 0.17);
        }
    }
    for (int k = 0; k < 1023; k++) {
        const double *draw = draws + 4 * (size_t)k;

        assert_near(draw[2], draw[0] + draw[1], 1e-9);
        assert_near(draw[3], 0, 0);
    }
}

/* What is well known is not taken for known: 1 and 0.01 deviations. */
static void little_is_not_nothing(void **state)
{
    const double covariance[] = {1, 0, 0, 1e-4};
    const double *draws = search_draws_make(*state, covariance, 2, 1023, 1);

    assert_near_ratio(product(draws, 2, 1023, 0, 0), 1, 0.02);
    assert_near_ratio(product(draws, 2, 1023, 1, 1), 1e-4, 0.02);
}

static void nothing_is_uncertain(void **state)
{
    const double covariance[] = {0, 0, 0, 0};
    const double *draws = search_draws_make(*state, covariance, 2, 8, 1);

    for (int i = 0; i < 16; i++) {
        assert_near(draws[i], 0, 0);
    }
}

/*
 * 45 dimensions of variances 45, 44, .. 1: the 40 largest are Sobol's and the
 * same for any seed, the others are drawn by it; each has its variance.
 */
static void more_dimensions_than_sobol_has(void **state)
{
    enum { N = 45, MANY = 4000 };
    double *covariance = model_arena_array(*state, (size_t)N * N, 8);
    const double *one;
    const double *other;

    for (int i = 0; i < N; i++) {
        covariance[i * N + i] = N - i;
    }
    one = search_draws_make(*state, covariance, N, MANY, 1);
    other = search_draws_make(*state, covariance, N, MANY, 2);
    for (int i = 0; i < N; i++) {
        bool same = true;

        for (int k = 0; k < MANY; k++) {
            same = same && model_same(one[k * N + i], other[k * N + i]);
        }
        assert_int_equal(same, i < SEARCH_DRAWS_EVEN);
        /* of chance: 3 deviations of a variance, sqrt(2 / 4000), are 7 % */
        assert_near_ratio(product(one, N, MANY, i, i), N - i, 0.07);
    }
}

/*
 * Of 39 values the first is below 1 of 40, the last above: the ends of 95 %. Of
 * 63 the place of 0.025 is 0.025 x 64 = 1.6: between the first two.
 */
static void quantiles(void **state)
{
    double values[63];

    (void)state;
    for (int i = 0; i < 63; i++) {
        values[i] = (i + 1) * (i + 1);
    }
    assert_near(search_draws_quantile(values, 39, 0.025), 1, 1e-9);
    assert_near(search_draws_quantile(values, 39, 0.975), 39 * 39, 1e-9);
    assert_near(search_draws_quantile(values, 39, 0.5), 400, 1e-9);
    assert_near(search_draws_quantile(values, 63, 0.025), 1 + 0.6 * 3, 1e-9);
    assert_near(search_draws_quantile(values, 63, 0.975),
                63 * 63 - 0.6 * (63 * 63 - 62 * 62), 1e-9);
    assert_near(search_draws_quantile(values, 8, 0.025), 1, 1e-9);
    assert_near(search_draws_quantile(values, 8, 0.975), 64, 1e-9);
    assert_near(search_draws_quantile(values + 4, 1, 0.025), 25, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_dimension),
        cmocka_unit_test(one_direction),
        cmocka_unit_test(little_is_not_nothing),
        cmocka_unit_test(what_belongs_together_is_drawn_so),
        cmocka_unit_test(nothing_is_uncertain),
        cmocka_unit_test(more_dimensions_than_sobol_has),
        cmocka_unit_test(quantiles),
    };

    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
