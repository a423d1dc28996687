/*
 * test_share_property.c - max-min fairness over random systems: the certificate
 * holds, nothing is over its capacity, and rates scale with the system.
 */
#include "sim/share.h"

#include "tests/unit/fixture.h"

#include <gsl/gsl_rng.h>

enum { RESOURCES_MAX = 12, ACTIVITIES_MAX = 30 };

static const double SLACK = 1e-9;

static int pick(gsl_rng *random, int count)
{
    return (int)gsl_rng_uniform_int(random, (unsigned long)count);
}

/* From 2^-10 to 2^10, often a round number, so that ties happen. */
static double size(gsl_rng *random)
{
    if (pick(random, 3) == 0) {
        return 1 + pick(random, 4);
    }
    return exp2(20 * gsl_rng_uniform(random) - 10);
}

/* Activities over one to four resources, one of them perhaps twice. */
static void
add_random(struct sim_share *share, gsl_rng *random, double cap_scale)
{
    int activities = pick(random, ACTIVITIES_MAX) + 1;

    for (int i = 0; i < activities; i++) {
        /* one random number a statement: the order within one is open */
        int terms = pick(random, 5);
        double cap = cap_scale * size(random);

        (void)sim_share_add(share, cap, size(random));
        for (int j = 0; j < terms; j++) {
            int resource = pick(random, share->resource_count);

            sim_share_use(share, resource, size(random));
        }
    }
}

/* A random system, all its capacities and caps times a factor. */
static void make(struct sim_share *share,
                 gsl_rng *random,
                 unsigned long seed,
                 double factor)
{
    gsl_rng_set(random, seed);
    sim_share_clear(share);
    for (int i = 0; i < share->resource_count; i++) {
        share->capacity[i] = pick(random, 20) == 0 ? 0 : factor * size(random);
    }
    add_random(share, random, factor);
    sim_share_solve(share);
}

static double use_of(const struct sim_share *share, int resource)
{
    double use = 0;

    for (int i = 0; i < share->activity_count; i++) {
        for (int j = share->first[i]; j < share->first[i + 1]; j++) {
            use += share->terms[j].resource == resource
                       ? share->terms[j].amount * share->rate[i]
                       : 0;
        }
    }
    return use;
}

/* From the rates alone, not from what the solver kept. */
static void check_capacities(const struct sim_share *share, unsigned long seed)
{
    for (int i = 0; i < share->resource_count; i++) {
        double use = use_of(share, i);

        if (use > share->capacity[i] * (1 + SLACK) ||
            fabs(use - share->used[i]) > 1e-9 * fmax(use, 1e-300)) {
            fail_msg("seed %lu: resource %d: %.17g of %.17g, said %.17g", seed,
                     i, use, share->capacity[i], share->used[i]);
        }
    }
}

/* Who is bound by a resource finds it full; who by the cap, has the cap. */
static void check_bounds(const struct sim_share *share, unsigned long seed)
{
    for (int i = 0; i < share->activity_count; i++) {
        int by = share->bound_by[i];
        bool right = by == SIM_SHARE_CAP
                         ? share->rate[i] >= share->cap[i] * (1 - SLACK)
                         : share->used[by] >= share->capacity[by] * (1 - SLACK);

        if (!right || share->rate[i] > share->cap[i] * (1 + SLACK) ||
            !(share->rate[i] >= 0)) {
            fail_msg("seed %lu: activity %d: rate %.17g, cap %.17g, by %d",
                     seed, i, share->rate[i], share->cap[i], by);
        }
    }
}

static struct sim_share start(struct model_arena *arena, int resources)
{
    struct sim_share share;

    sim_share_start(&share, arena, resources);
    return share;
}

static void random_systems_are_fair(void **state)
{
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    int cases = fixture_cases();

    for (int resources = 1; resources <= RESOURCES_MAX; resources++) {
        struct sim_share share = start(*state, resources);

        for (int i = resources; i <= cases; i += RESOURCES_MAX) {
            unsigned long seed = (unsigned long)i;

            make(&share, random, seed, 1);
            check_capacities(&share, seed);
            check_bounds(&share, seed);
            if (!sim_share_check(&share, SLACK)) {
                fail_msg("seed %lu: not max-min fair", seed);
            }
        }
    }
    gsl_rng_free(random);
}

/* Twice the capacities and caps, twice the rates; by 3 and by 0.001 as well. */
static void rates_scale_with_the_system(void **state)
{
    static const double factors[] = {2, 3, 0.001};
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    struct sim_share plain = start(*state, 7);
    struct sim_share scaled = start(*state, 7);
    int cases = fixture_cases();

    for (int i = 0; i < cases; i++) {
        double factor = factors[i % 3];
        unsigned long seed = 1000000 + (unsigned long)i;

        make(&plain, random, seed, 1);
        make(&scaled, random, seed, factor);
        assert_int_equal(plain.activity_count, scaled.activity_count);
        for (int j = 0; j < plain.activity_count; j++) {
            double expected = factor * plain.rate[j];

            if (fabs(scaled.rate[j] - expected) > 1e-9 * expected) {
                fail_msg("seed %lu: rate %d is %.17g, not %.17g", seed, j,
                         scaled.rate[j], expected);
            }
        }
    }
    gsl_rng_free(random);
}

/* One activity less never slows down the slowest of the others. */
static void the_slowest_gains_when_one_leaves(void **state)
{
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    struct sim_share all = start(*state, 5);
    struct sim_share fewer = start(*state, 5);
    int cases = fixture_cases();

    for (int i = 0; i < cases; i++) {
        unsigned long seed = 2000000 + (unsigned long)i;
        double least = HUGE_VAL;
        double least_of_fewer = HUGE_VAL;

        make(&all, random, seed, 1);
        sim_share_clear(&fewer);
        for (int r = 0; r < 5; r++) {
            fewer.capacity[r] = all.capacity[r];
        }
        /* all but the last; levels, x / w, are what max-min compares */
        for (int j = 0; j + 1 < all.activity_count; j++) {
            (void)sim_share_add(&fewer, all.cap[j], all.weight[j]);
            for (int k = all.first[j]; k < all.first[j + 1]; k++) {
                sim_share_use(&fewer, all.terms[k].resource,
                              all.terms[k].amount);
            }
            least = fmin(least, all.rate[j] / all.weight[j]);
        }
        sim_share_solve(&fewer);
        for (int j = 0; j < fewer.activity_count; j++) {
            least_of_fewer =
                fmin(least_of_fewer, fewer.rate[j] / fewer.weight[j]);
        }
        if (least_of_fewer < least * (1 - SLACK)) {
            fail_msg("seed %lu: least level %.17g, with one less %.17g", seed,
                     least, least_of_fewer);
        }
    }
    gsl_rng_free(random);
}

/* A new system solved in used memory gives what it gives in fresh memory. */
static void solving_again_changes_nothing(void **state)
{
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    struct sim_share used = start(*state, 6);
    int cases = fixture_cases() / 10 + 1;

    for (int i = 0; i < cases; i++) {
        unsigned long seed = 3000000 + (unsigned long)i;
        struct sim_share fresh = start(*state, 6);

        make(&used, random, seed + 500000, 1);
        make(&used, random, seed, 1);
        make(&fresh, random, seed, 1);
        for (int j = 0; j < fresh.activity_count; j++) {
            assert_near(used.rate[j], fresh.rate[j], 0);
            assert_int_equal(used.bound_by[j], fresh.bound_by[j]);
        }
    }
    gsl_rng_free(random);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_systems_are_fair),
        cmocka_unit_test(rates_scale_with_the_system),
        cmocka_unit_test(the_slowest_gains_when_one_leaves),
        cmocka_unit_test(solving_again_changes_nothing),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
