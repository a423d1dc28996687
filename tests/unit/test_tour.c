/*
 * test_tour.c - cheapest tours: by hand, against all orders, and their ties.
 */
#include "model/tour.h"

#include "tests/unit/fixture.h"

#include <gsl/gsl_rng.h>

/* All costs alike: the points as they are numbered. */
static void equal_costs_keep_the_numbers(void **state)
{
    int64_t cost[25];
    int64_t ends[5] = {0};
    int tour[5];
    struct model_tour_problem closed = {.count = 5, .cost = cost};
    struct model_tour_problem open = {
        .count = 5, .cost = cost, .start = ends, .end = ends};

    for (int i = 0; i < 25; i++) {
        cost[i] = 7;
    }
    assert_int_equal(model_tour_find(*state, &closed, tour), 35);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(tour[i], i);
    }
    assert_int_equal(model_tour_find(*state, &open, tour), 28);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(tour[i], i);
    }
}

/*
 * Four points on a line at 0, 3, 1, 2. Closed: out and back, 6. From the end at
 * 3 to that at 0: 3. The nearest next alone, from 0, finds the same.
 */
static void points_on_a_line(void **state)
{
    static const int at[] = {0, 3, 1, 2};
    static const int64_t start[] = {9, 0, 9, 9};
    static const int64_t end[] = {0, 9, 9, 9};
    int64_t cost[16];
    int tour[4];
    struct model_tour_problem problem = {.count = 4, .cost = cost};

    for (int i = 0; i < 16; i++) {
        cost[i] = abs(at[i / 4] - at[i % 4]);
    }
    assert_int_equal(model_tour_find(*state, &problem, tour), 6);
    assert_int_equal(model_tour_cost(&problem, tour), 6);
    problem.start = start;
    problem.end = end;
    assert_int_equal(model_tour_find(*state, &problem, tour), 3);
    assert_int_equal(tour[0], 1);
    assert_int_equal(tour[1], 3);
    assert_int_equal(tour[2], 2);
    assert_int_equal(tour[3], 0);
}

/* One point: nothing closed, start and end otherwise. */
static void one_point(void **state)
{
    static const int64_t cost[] = {0};
    static const int64_t start[] = {3};
    static const int64_t end[] = {4};
    int tour[1] = {-1};
    struct model_tour_problem problem = {.count = 1, .cost = cost};

    assert_int_equal(model_tour_find(*state, &problem, tour), 0);
    assert_int_equal(tour[0], 0);
    problem.start = start;
    problem.end = end;
    assert_int_equal(model_tour_find(*state, &problem, tour), 7);
}

/* The cheapest of all orders, by trying them. */
static int64_t
least_of_all(const struct model_tour_problem *problem, int *tour, int depth)
{
    int64_t least = INT64_MAX;

    if (depth == problem->count) {
        return model_tour_cost(problem, tour);
    }
    for (int i = depth; i < problem->count; i++) {
        int point = tour[i];
        int64_t cost;

        tour[i] = tour[depth];
        tour[depth] = point;
        if (problem->start != NULL || depth > 0 || point == 0) {
            cost = least_of_all(problem, tour, depth + 1);
            least = cost < least ? cost : least;
        }
        tour[depth] = tour[i];
        tour[i] = point;
    }
    return least;
}

/* 200 random problems of up to 6 points, costs in both directions differ. */
static void no_order_is_cheaper(void **state)
{
    enum { MOST = 6 };
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);

    gsl_rng_set(random, 5);
    for (int i = 0; i < 200; i++) {
        int64_t cost[MOST * MOST];
        int64_t start[MOST];
        int64_t end[MOST];
        int tour[MOST];
        int all[MOST] = {0, 1, 2, 3, 4, 5};
        int count = 1 + (int)gsl_rng_uniform_int(random, MOST);
        struct model_tour_problem problem = {.count = count, .cost = cost};
        int64_t found;

        for (int j = 0; j < count * count; j++) {
            cost[j] = (int64_t)gsl_rng_uniform_int(random, 10);
        }
        for (int j = 0; j < count; j++) {
            start[j] = (int64_t)gsl_rng_uniform_int(random, 10);
            end[j] = (int64_t)gsl_rng_uniform_int(random, 10);
        }
        if (i % 2 == 0) {
            problem.start = start;
            problem.end = end;
        }
        found = model_tour_find(*state, &problem, tour);
        assert_int_equal(found, model_tour_cost(&problem, tour));
        assert_int_equal(found, least_of_all(&problem, all, 0));
    }
    gsl_rng_free(random);
}

/* 40 points round a circle: too many for a search, the nearest next does. */
static void many_points_take_the_nearest(void **state)
{
    enum { N = 40 };
    static int64_t cost[N * N];
    int tour[N];
    struct model_tour_problem problem = {.count = N, .cost = cost};

    for (int i = 0; i < N * N; i++) {
        int apart = abs(i / N * 7 % N - i % N * 7 % N);

        cost[i] = apart < N - apart ? apart : N - apart;
    }
    assert_int_equal(model_tour_find(*state, &problem, tour), N);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_costs_keep_the_numbers),
        cmocka_unit_test(points_on_a_line),
        cmocka_unit_test(one_point),
        cmocka_unit_test(no_order_is_cheaper),
        cmocka_unit_test(many_points_take_the_nearest),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
