/*
 * test_share.c - max-min fairness with caps, each example filled by hand, and
 * the certificate that tells a fair result from others.
 */
#include "sim/share.h"

#include "tests/unit/fixture.h"

static const double SLACK = 1e-9;

static struct sim_share
start(struct model_arena *arena, int count, const double *capacities)
{
    struct sim_share share;

    sim_share_start(&share, arena, count);
    for (int i = 0; i < count; i++) {
        share.capacity[i] = capacities[i];
    }
    return share;
}

/* An activity over one or two resources, one unit of each per rate. */
static void add(struct sim_share *share, double cap, int first, int second)
{
    (void)sim_share_add(share, cap, 1.0);
    if (first >= 0) {
        sim_share_use(share, first, 1.0);
    }
    if (second >= 0) {
        sim_share_use(share, second, 1.0);
    }
}

static void solve(struct sim_share *share)
{
    sim_share_solve(share);
    assert_true(sim_share_check(share, SLACK));
}

/* Two alike on a link of 10: 5 each. */
static void two_flows_share_a_link(void **state)
{
    struct sim_share share = start(*state, 1, (const double[]){10});

    add(&share, 100, 0, -1);
    add(&share, 100, 0, -1);
    solve(&share);
    assert_near(share.rate[0], 5, 1e-12);
    assert_near(share.rate[1], 5, 1e-12);
    assert_near(share.used[0], 10, 1e-12);
    assert_int_equal(share.bound_by[0], 0);
    assert_int_equal(share.bound_by[1], 0);
}

/* A link of 10, caps 2, 3 and 100: 2 and 3 as they like, 10 - 5 = 5 is left. */
static void caps_leave_the_rest_to_others(void **state)
{
    struct sim_share share = start(*state, 1, (const double[]){10});

    add(&share, 100, 0, -1);
    add(&share, 2, 0, -1);
    add(&share, 3, 0, -1);
    solve(&share);
    assert_near(share.rate[0], 5, 1e-12);
    assert_near(share.rate[1], 2, 0);
    assert_near(share.rate[2], 3, 0);
    assert_int_equal(share.bound_by[0], 0);
    assert_int_equal(share.bound_by[1], SIM_SHARE_CAP);
    assert_int_equal(share.bound_by[2], SIM_SHARE_CAP);
}

/* Caps of 2 and 3 on a link of 10: nothing is full, both stop at their cap. */
static void a_wide_link_binds_nobody(void **state)
{
    struct sim_share share = start(*state, 1, (const double[]){10});

    add(&share, 2, 0, -1);
    add(&share, 3, 0, -1);
    solve(&share);
    assert_near(share.rate[0] + share.rate[1], 5, 0);
    assert_near(share.used[0], 5, 1e-12);
    assert_int_equal(share.bound_by[0], SIM_SHARE_CAP);
}

/*
 * Three links of 4, 10 and 20. Flow 0 passes all of them, one flow more is on
 * each. Level 2: link 0 is full, flows 0 and 1 stop at 2. Link 1 has 10 - 2
 * for flow 2: 8. Link 2 has 20 - 2 for flow 3: 18.
 */
static void three_links_in_a_row(void **state)
{
    struct sim_share share = start(*state, 3, (const double[]){4, 10, 20});

    add(&share, 1000, 0, 1);
    sim_share_use(&share, 2, 1.0);
    add(&share, 1000, 0, -1);
    add(&share, 1000, 1, -1);
    add(&share, 1000, 2, -1);
    solve(&share);
    assert_near(share.rate[0], 2, 1e-12);
    assert_near(share.rate[1], 2, 1e-12);
    assert_near(share.rate[2], 8, 1e-12);
    assert_near(share.rate[3], 18, 1e-12);
    assert_int_equal(share.bound_by[0], 0);
    assert_int_equal(share.bound_by[2], 1);
    assert_int_equal(share.bound_by[3], 2);
}

/*
 * Links of 10 and 6. Flows: a on 0, b on both, c and d on 1. Level 2: link 1
 * is full (b, c, d at 2). Then a takes 10 - 2 = 8 of link 0.
 */
static void the_narrow_link_fixes_first(void **state)
{
    struct sim_share share = start(*state, 2, (const double[]){10, 6});

    add(&share, 1000, 0, -1);
    add(&share, 1000, 0, 1);
    add(&share, 1000, 1, -1);
    add(&share, 1000, 1, -1);
    solve(&share);
    assert_near(share.rate[0], 8, 1e-12);
    assert_near(share.rate[1], 2, 1e-12);
    assert_near(share.rate[2], 2, 1e-12);
    assert_near(share.rate[3], 2, 1e-12);
}

/* Weights 1 and 3 on a link of 8: levels equal at 2, so rates 2 and 6. */
static void weights_divide_in_proportion(void **state)
{
    struct sim_share share = start(*state, 1, (const double[]){8});

    (void)sim_share_add(&share, 100, 1.0);
    sim_share_use(&share, 0, 1.0);
    (void)sim_share_add(&share, 100, 3.0);
    sim_share_use(&share, 0, 1.0);
    solve(&share);
    assert_near(share.rate[0], 2, 1e-12);
    assert_near(share.rate[1], 6, 1e-12);
}

/* A cap counts in rate, not in level: weight 3 is capped at 4.5, 3.5 are left.
 */
static void a_weighted_flow_stops_at_its_cap(void **state)
{
    struct sim_share share = start(*state, 1, (const double[]){8});

    (void)sim_share_add(&share, 100, 1.0);
    sim_share_use(&share, 0, 1.0);
    (void)sim_share_add(&share, 4.5, 3.0);
    sim_share_use(&share, 0, 1.0);
    solve(&share);
    assert_near(share.rate[0], 3.5, 1e-12);
    assert_near(share.rate[1], 4.5, 0);
    assert_int_equal(share.bound_by[1], SIM_SHARE_CAP);
}

/* 3 and 1 units per rate on a link of 12: 3 x + x = 12, both at 3. */
static void amounts_weigh_on_the_link(void **state)
{
    struct sim_share share = start(*state, 1, (const double[]){12});

    (void)sim_share_add(&share, 100, 1.0);
    sim_share_use(&share, 0, 3.0);
    (void)sim_share_add(&share, 100, 1.0);
    sim_share_use(&share, 0, 1.0);
    solve(&share);
    assert_near(share.rate[0], 3, 1e-12);
    assert_near(share.rate[1], 3, 1e-12);
    assert_near(share.used[0], 12, 1e-12);
}

/* Host memory is passed twice, written and read: 2 x = 12. */
static void a_resource_passed_twice_counts_twice(void **state)
{
    struct sim_share share = start(*state, 1, (const double[]){12});

    add(&share, 100, 0, 0);
    solve(&share);
    assert_near(share.rate[0], 6, 1e-12);
    assert_near(share.used[0], 12, 1e-12);
}

static void without_resources_the_cap_decides(void **state)
{
    struct sim_share share = start(*state, 1, (const double[]){1});

    add(&share, 7, -1, -1);
    solve(&share);
    assert_near(share.rate[0], 7, 0);
    assert_int_equal(share.bound_by[0], SIM_SHARE_CAP);
    assert_near(share.used[0], 0, 0);
}

/* Nothing fits through a link of 0; who does not pass it is not held up. */
static void a_dead_link_stops_only_its_own(void **state)
{
    struct sim_share share = start(*state, 2, (const double[]){0, 10});

    add(&share, 100, 0, 1);
    add(&share, 100, 1, -1);
    solve(&share);
    assert_near(share.rate[0], 0, 0);
    assert_near(share.rate[1], 10, 1e-12);
}

static void no_activity_is_solved_too(void **state)
{
    struct sim_share share = start(*state, 1, (const double[]){5});

    solve(&share);
    assert_int_equal(share.activity_count, 0);
}

/* 100 alike on a link of 1; arrays must grow and stay right. */
static void many_flows_divide_evenly(void **state)
{
    struct sim_share share = start(*state, 1, (const double[]){1});

    for (int i = 0; i < 100; i++) {
        assert_int_equal(sim_share_add(&share, 1000, 1.0), i);
        sim_share_use(&share, 0, 1.0);
    }
    solve(&share);
    for (int i = 0; i < 100; i++) {
        assert_near(share.rate[i], 0.01, 1e-14);
    }
}

/* What was there before clear leaves no trace, capacities stay. */
static void clear_forgets_activities_only(void **state)
{
    struct sim_share share = start(*state, 2, (const double[]){10, 6});

    add(&share, 1000, 0, 1);
    add(&share, 1000, 1, -1);
    solve(&share);
    sim_share_clear(&share);
    assert_near(share.used[0], 0, 0);
    assert_near(share.used[1], 0, 0);
    add(&share, 1000, 0, -1);
    solve(&share);
    assert_int_equal(share.activity_count, 1);
    assert_near(share.rate[0], 10, 0);
    assert_near(share.used[1], 0, 0);
}

/* Feasible but unfair, unfilled, over capacity, over a cap: all are refused. */
static void the_certificate_refuses(void **state)
{
    struct sim_share share = start(*state, 1, (const double[]){10});
    static const struct {
        double rates[2];
        bool fair;
    } rows[] = {
        {{5, 5}, true},      {{4, 6}, false},   {{6, 4}, false},
        {{4, 4}, false},     {{5, 5.1}, false}, {{10, 0}, false},
        {{5.1, 5.1}, false},
    };

    add(&share, 8, 0, -1);
    add(&share, 100, 0, -1);
    sim_share_solve(&share);
    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        share.rate[0] = rows[i].rates[0];
        share.rate[1] = rows[i].rates[1];
        share.used[0] = share.rate[0] + share.rate[1];
        if (sim_share_check(&share, SLACK) != rows[i].fair) {
            fail_msg("rates %g and %g", share.rate[0], share.rate[1]);
        }
    }
}

/* 9 under a cap of 8 is refused though the link has room. */
static void the_certificate_knows_caps(void **state)
{
    struct sim_share share = start(*state, 1, (const double[]){10});

    add(&share, 8, 0, -1);
    solve(&share);
    share.rate[0] = 9;
    share.used[0] = 9;
    assert_false(sim_share_check(&share, SLACK));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_flows_share_a_link),
        cmocka_unit_test(caps_leave_the_rest_to_others),
        cmocka_unit_test(a_wide_link_binds_nobody),
        cmocka_unit_test(three_links_in_a_row),
        cmocka_unit_test(the_narrow_link_fixes_first),
        cmocka_unit_test(weights_divide_in_proportion),
        cmocka_unit_test(a_weighted_flow_stops_at_its_cap),
        cmocka_unit_test(amounts_weigh_on_the_link),
        cmocka_unit_test(a_resource_passed_twice_counts_twice),
        cmocka_unit_test(without_resources_the_cap_decides),
        cmocka_unit_test(a_dead_link_stops_only_its_own),
        cmocka_unit_test(no_activity_is_solved_too),
        cmocka_unit_test(many_flows_divide_evenly),
        cmocka_unit_test(clear_forgets_activities_only),
        cmocka_unit_test(the_certificate_refuses),
        cmocka_unit_test(the_certificate_knows_caps),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
