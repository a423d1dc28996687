/*
 * test_queue.c - the order of events, the heap that keeps it, and the one
 * conversion between us and ps.
 */
#include "sim/queue.h"

#include "tests/unit/fixture.h"

#include <gsl/gsl_rng.h>

static struct sim_event event_at(int64_t time_ps, int phase, int target)
{
    return (struct sim_event){
        .time_ps = time_ps, .phase = phase, .target = target};
}

/* Time first, then phase, then the order of scheduling. */
static void order_is_time_phase_sequence(void **state)
{
    struct sim_queue queue;
    static const struct {
        int64_t time_ps;
        int phase;
        int target; /* its place in the order */
    } rows[] = {
        {7, SIM_FINISH, 6}, {5, SIM_SAMPLE, 5}, {5, SIM_START, 3},
        {0, SIM_SAMPLE, 0}, {5, SIM_START, 4},  {5, SIM_FINISH, 1},
        {5, SIM_FAIL, 2},   {7, SIM_FINISH, 7}, {INT64_MAX, SIM_FINISH, 8},
    };

    sim_queue_start(&queue, *state);
    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        sim_queue_push(
            &queue, event_at(rows[i].time_ps, rows[i].phase, rows[i].target));
    }
    assert_true(sim_queue_first(&queue)->time_ps == 0);
    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct sim_event event;

        assert_true(sim_queue_pop(&queue, &event));
        assert_int_equal(event.target, i);
    }
}

static void an_empty_queue_gives_nothing(void **state)
{
    struct sim_queue queue;
    struct sim_event event = event_at(1, SIM_FINISH, 42);

    sim_queue_start(&queue, *state);
    assert_false(sim_queue_pop(&queue, &event));
    assert_int_equal(event.target, 42);
    sim_queue_push(&queue, event_at(1, SIM_FINISH, 1));
    assert_true(sim_queue_pop(&queue, &event));
    assert_false(sim_queue_pop(&queue, &event));
}

/* Equal in all but the sequence: first in, first out, over many growths. */
static void ties_leave_as_they_came(void **state)
{
    struct sim_queue queue;
    struct sim_event event;

    sim_queue_start(&queue, *state);
    for (int i = 0; i < 1000; i++) {
        sim_queue_push(&queue, event_at(3, SIM_START, i));
    }
    for (int i = 0; i < 1000; i++) {
        assert_true(sim_queue_pop(&queue, &event));
        assert_int_equal(event.target, i);
        assert_true(event.sequence == (uint64_t)i);
    }
}

/* Few different values, so that each level of the order has its ties. */
static struct sim_event random_event(gsl_rng *random)
{
    struct sim_event event = {.time_ps = 0};

    event.time_ps = (int64_t)gsl_rng_uniform_int(random, 3);
    event.phase = (int)gsl_rng_uniform_int(random, 4);
    event.sequence = gsl_rng_uniform_int(random, 3);
    event.kind = (int)gsl_rng_uniform_int(random, 3);
    event.target = (int)gsl_rng_uniform_int(random, 3);
    event.generation = (uint32_t)gsl_rng_uniform_int(random, 3);
    return event;
}

static int sign(int value)
{
    return (value > 0) - (value < 0);
}

static void check_order(const struct sim_event *a,
                        const struct sim_event *b,
                        const struct sim_event *c)
{
    bool same = a->time_ps == b->time_ps && a->phase == b->phase &&
                a->sequence == b->sequence;
    int ab = sim_event_compare(a, b);

    assert_int_equal(sim_event_compare(a, a), 0);
    assert_int_equal(sign(ab), -sign(sim_event_compare(b, a)));
    assert_int_equal(ab == 0, same);
    if (ab <= 0 && sim_event_compare(b, c) <= 0) {
        assert_true(sim_event_compare(a, c) <= 0);
    }
    if (ab < 0 && sim_event_compare(b, c) <= 0) {
        assert_true(sim_event_compare(a, c) < 0);
    }
}

static void comparison_is_a_total_order(void **state)
{
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    int cases = 20 * fixture_cases();

    (void)state;
    gsl_rng_set(random, 1);
    for (int i = 0; i < cases; i++) {
        struct sim_event a = random_event(random);
        struct sim_event b = random_event(random);
        struct sim_event c = random_event(random);

        check_order(&a, &b, &c);
    }
    gsl_rng_free(random);
}

/* Far times may not wrap round in a subtraction. */
static void far_times_compare(void **state)
{
    struct sim_event first = event_at(INT64_MIN, SIM_START, 0);
    struct sim_event last = event_at(INT64_MAX, SIM_FINISH, 0);

    (void)state;
    assert_true(sim_event_compare(&first, &last) < 0);
    assert_true(sim_event_compare(&last, &first) > 0);
    first.time_ps = last.time_ps;
    first.phase = last.phase;
    first.sequence = 0;
    last.sequence = UINT64_MAX;
    assert_true(sim_event_compare(&first, &last) < 0);
}

/* Pushes and pops in any mixture give ascending runs: a heap against a scan. */
static void heap_agrees_with_a_scan(void **state)
{
    enum { MOST = 300 };
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    struct sim_event kept[MOST];
    struct sim_queue queue;
    uint64_t sequence = 0;
    int count = 0;

    gsl_rng_set(random, 2);
    sim_queue_start(&queue, *state);
    for (int i = 0; i < 20000; i++) {
        struct sim_event event = random_event(random);

        if (count < MOST && gsl_rng_uniform(random) < 0.52) {
            sim_queue_push(&queue, event);
            event.sequence = sequence++;
            kept[count++] = event;
        } else if (count > 0) {
            int least = 0;

            for (int j = 1; j < count; j++) {
                if (sim_event_compare(&kept[j], &kept[least]) < 0) {
                    least = j;
                }
            }
            assert_true(sim_queue_first(&queue)->time_ps ==
                        kept[least].time_ps);
            assert_true(sim_queue_pop(&queue, &event));
            assert_int_equal(sim_event_compare(&event, &kept[least]), 0);
            assert_int_equal(event.target, kept[least].target);
            assert_true(event.generation == kept[least].generation);
            kept[least] = kept[--count];
        }
    }
    gsl_rng_free(random);
}

/* 1 us is 1,000,000 ps; halves go up. */
static void time_rounds_half_up(void **state)
{
    static const struct {
        double time_us;
        int64_t time_ps;
    } rows[] = {
        {0.0, 0},
        {1.0, 1000000},
        {0.25, 250000},
        /* 2^-21 us = 0.476837158203125 ps, below a half */
        {0x1p-21, 0},
        /* 2^-20 us = 0.95367431640625 ps, above a half */
        {0x1p-20, 1},
        /* 3 * 2^-21 us = 1.430511474609375 ps */
        {3 * 0x1p-21, 1},
        /* 2^-7 us = 7812.5 ps exactly, a half: up to 7813 */
        {0x1p-7, 7813},
        /* 3 * 2^-7 us = 23437.5 ps: up to 23438 */
        {3 * 0x1p-7, 23438},
        /* 5 * 2^-7 us = 39062.5 ps: up to 39063, where to-even gives 39062 */
        {5 * 0x1p-7, 39063},
        /* an hour */
        {3.6e9, INT64_C(3600000000000000)},
    };

    (void)state;
    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        int64_t time_ps = sim_time_ps(rows[i].time_us);

        if (time_ps != rows[i].time_ps) {
            fail_msg("%.17g us: %lld ps", rows[i].time_us, (long long)time_ps);
        }
    }
}

/* Up to 2^52 ps (75 minutes) a double holds every half ps. */
static void time_survives_the_way_back(void **state)
{
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);

    (void)state;
    gsl_rng_set(random, 3);
    assert_near(sim_time_us(1), 1e-6, 1e-21);
    assert_near(sim_time_us(2500000), 2.5, 0);
    for (int i = 0; i < 10000; i++) {
        int64_t time_ps = (int64_t)(gsl_rng_uniform(random) * 0x1p48);

        assert_true(sim_time_ps(sim_time_us(time_ps)) == time_ps);
    }
    gsl_rng_free(random);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_time_phase_sequence),
        cmocka_unit_test(an_empty_queue_gives_nothing),
        cmocka_unit_test(ties_leave_as_they_came),
        cmocka_unit_test(comparison_is_a_total_order),
        cmocka_unit_test(far_times_compare),
        cmocka_unit_test(heap_agrees_with_a_scan),
        cmocka_unit_test(time_rounds_half_up),
        cmocka_unit_test(time_survives_the_way_back),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
