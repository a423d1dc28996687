/*
 * test_forest.c - a random forest learns what samples show.
 */
#include "search/forest.h"
#include "search/moves.h"

#include "tests/unit/fixture.h"

enum { INPUTS = 3 };

/* 100 more from 4 of the first on, 5 for each of the second; the third does
 * not matter. */
static double truth(const int *inputs)
{
    return (inputs[0] >= 4 ? 100 : 0) + 5 * inputs[1];
}

static struct search_sample *
draw(struct model_arena *arena, gsl_rng *random, int count)
{
    struct search_sample *samples =
        model_arena_array(arena, (size_t)count, sizeof *samples);

    for (int i = 0; i < count; i++) {
        for (int k = 0; k < INPUTS; k++) {
            samples[i].inputs[k] = (int)gsl_rng_uniform_int(random, 8);
        }
        samples[i].value = truth(samples[i].inputs);
    }
    return samples;
}

/* Of 8 x 8 x 8 combinations 60 were seen: on average, all are foretold within a
 * tenth of the range, 135. */
static void a_forest_foretells(void **state)
{
    gsl_rng *random = search_random(*state, 1);
    struct search_sample *samples = draw(*state, random, 60);
    struct search_forest forest;
    double error = 0;

    search_forest_grow(*state, samples, 60, INPUTS, random, &forest);
    for (int i = 0; i < 512; i++) {
        int inputs[INPUTS] = {i % 8, i / 8 % 8, i / 64};

        error += fabs(search_forest_value(&forest, inputs) - truth(inputs));
    }
    assert_true(error / 512 < 13.5);
}

/* A mean of means: never beyond what was seen. */
static void a_forest_stays_within_its_samples(void **state)
{
    gsl_rng *random = search_random(*state, 2);
    struct search_sample *samples = draw(*state, random, 40);
    struct search_forest forest;
    double least = HUGE_VAL;
    double most = 0;

    for (int i = 0; i < 40; i++) {
        least = fmin(least, samples[i].value);
        most = fmax(most, samples[i].value);
    }
    search_forest_grow(*state, samples, 40, INPUTS, random, &forest);
    for (int i = 0; i < 512; i++) {
        int inputs[INPUTS] = {i % 8, i / 8 % 8, i / 64};
        double value = search_forest_value(&forest, inputs);

        assert_true(value >= least - 1e-9 && value <= most + 1e-9);
    }
}

/* One sample, or equal ones: their value, everywhere. */
static void a_forest_of_one_value_is_flat(void **state)
{
    static const struct search_sample same[5] = {{{1, 2, 3}, 7},
                                                 {{4, 2, 0}, 7},
                                                 {{0, 0, 0}, 7},
                                                 {{7, 7, 7}, 7},
                                                 {{1, 1, 1}, 7}};
    gsl_rng *random = search_random(*state, 3);
    int inputs[INPUTS] = {5, 5, 5};
    struct search_forest forest;

    search_forest_grow(*state, same, 1, INPUTS, random, &forest);
    assert_near(search_forest_value(&forest, inputs), 7, 1e-12);
    search_forest_grow(*state, same, 5, INPUTS, random, &forest);
    assert_near(search_forest_value(&forest, inputs), 7, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_forest_foretells),
        cmocka_unit_test(a_forest_stays_within_its_samples),
        cmocka_unit_test(a_forest_of_one_value_is_flat),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
