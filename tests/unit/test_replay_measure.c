/*
 * test_replay_measure.c - times alone and together from a GPU of known times,
 * and what repeated times come to.
 */
#include "tests/unit/replay.h"

#include "validate/replay/measure.h"

static struct replay_run
run_of(struct model_arena *arena, struct model_errors *errors, int repeats)
{
    fake = (struct replay_device){.ranks = 1};
    return (struct replay_run){.driver = &fake_driver,
                               .device = &fake,
                               .arena = arena,
                               .errors = errors,
                               .repeats = repeats,
                               .warmup = 2};
}

/*
 * 1 2 3 4 10: the median is 3. Quartiles at (5 - 1) / 4 = 1 and 3 from 0: 2 and
 * 4. Of 1 2 3 10: median 2.5, quartiles at 0.75 and 2.25: 1.75 and 3 + 0.25
 * x 7.
 */
static void test_summary(void **state)
{
    double odd[] = {4, 10, 1, 3, 2};
    double even[] = {10, 3, 2, 1};
    double one[] = {7};
    struct replay_summary summary = replay_summarise(odd, 5);

    (void)state;
    assert_near(summary.median_us, 3.0, 1e-12);
    assert_near(summary.spread_us, 2.0, 1e-12);
    assert_int_equal(summary.repeats, 5);
    summary = replay_summarise(even, 4);
    assert_near(summary.median_us, 2.5, 1e-12);
    assert_near(summary.spread_us, 4.75 - 1.75, 1e-12);
    summary = replay_summarise(one, 1);
    assert_near(summary.median_us, 7.0, 1e-12);
    assert_near(summary.spread_us, 0.0, 1e-12);
}

/*
 * 30 MB at 1e6 bytes/us: 30 us, so 34 launches make a millisecond. The repeats
 * are late by 0, 3, 1 us a launch: median 31, quartiles 30.5 and 32.
 */
static void test_alone(void **state)
{
    static const double late_us[] = {0, 3, 1};
    struct model_errors errors = {.arena = *state};
    struct replay_run run = run_of(*state, &errors, 3);
    struct replay_item item = {.work = {.kind = REPLAY_GRID, .bytes = 30e6}};
    struct replay_fault fault;
    struct replay_summary summary;

    fake.late_us = late_us;
    fake.late_count = 3;
    item.handle = fake_driver.make(&fake, &item.work, &fault);
    assert_int_equal(replay_measure_alone(&run, &item, &summary), MODEL_OK);
    assert_near(summary.median_us, 31.0, 1e-9);
    assert_near(summary.spread_us, 1.5, 1e-9);
    assert_int_equal(fake.launches, 2 + 3 * 34);
}

/* 150 products are as many commands or more: two launches, not a hundred, fit
   into the queue of a held stream. */
static void test_alone_of_many_products(void **state)
{
    static const double rows[150] = {1};
    struct model_errors errors = {.arena = *state};
    struct replay_run run = run_of(*state, &errors, 3);
    struct replay_item item = {.work = {.kind = REPLAY_GRID,
                                        .bytes = 30e3,
                                        .rows = rows,
                                        .row_count = 150}};
    struct replay_fault fault;
    struct replay_summary summary;

    item.handle = fake_driver.make(&fake, &item.work, &fault);
    assert_int_equal(replay_measure_alone(&run, &item, &summary), MODEL_OK);
    assert_int_equal(fake.launches, 2 + 3 * 2);
}

/* More commands than the queue of a held stream takes: nothing is held. */
static void test_alone_without_hold(void **state)
{
    static const double rows[600] = {1};
    struct model_errors errors = {.arena = *state};
    struct replay_run run = run_of(*state, &errors, 3);
    struct replay_item item = {.work = {.kind = REPLAY_GRID,
                                        .bytes = 30e6,
                                        .rows = rows,
                                        .row_count = 600}};
    struct replay_fault fault;
    struct replay_summary summary;

    item.handle = fake_driver.make(&fake, &item.work, &fault);
    assert_int_equal(replay_measure_alone(&run, &item, &summary), MODEL_OK);
    assert_int_equal(fake.runs, 0);
    assert_int_equal(fake.launches, 2 + 3);
    assert_near(summary.median_us, 30.0, 1e-9);
}

/* Four equal ranks: sums over the number of ranks. */
static void test_alone_on_ranks(void **state)
{
    struct model_errors errors = {.arena = *state};
    struct replay_run run = run_of(*state, &errors, 2);
    struct replay_item item = {.work = {.kind = REPLAY_GRID, .bytes = 30e6}};
    struct replay_fault fault;
    struct replay_summary summary;

    fake.ranks = 4;
    item.handle = fake_driver.make(&fake, &item.work, &fault);
    assert_int_equal(replay_measure_alone(&run, &item, &summary), MODEL_OK);
    assert_near(summary.median_us, 30.0, 1e-9);
}

static const char overlap[] =
    "name: w\nops:\n"
    "  - {id: a, kind: memory, hbm: 10 MB, stream: x}\n"
    "  - {id: b, kind: memory, hbm: 20 MB, stream: x}\n"
    "  - {id: c, kind: memory, hbm: 5 MB, stream: y, after: [a]}\n";

static void schedule_of(struct model_arena *arena,
                        const char *text,
                        struct replay_schedule *schedule)
{
    struct model_errors errors = {.arena = arena};

    (void)replay_read(arena, "1x1 gpu:h100", text, 0, true, schedule, &errors);
    fixture_no_errors(&errors);
}

static void make_all(const struct replay_run *run,
                     struct replay_schedule *schedule)
{
    for (int i = 0; i < schedule->item_count; i++) {
        assert_int_equal(replay_measure_make(run, &schedule->items[i]),
                         MODEL_OK);
    }
}

/* a 0..10, b 10..30 on x; c 10..15 on y; the iteration ends at 30. */
static void test_together(void **state)
{
    struct model_errors errors = {.arena = *state};
    struct replay_run run = run_of(*state, &errors, 3);
    struct replay_schedule schedule;
    struct replay_together together;
    static const double start_us[] = {0, 10, 10};
    static const double end_us[] = {10, 30, 15};

    schedule_of(*state, overlap, &schedule);
    make_all(&run, &schedule);
    assert_int_equal(replay_measure_together(&run, &schedule, &together),
                     MODEL_OK);
    for (int i = 0; i < 3; i++) {
        assert_near(together.launches[i].start_us, start_us[i], 1e-9);
        assert_near(together.launches[i].end_us, end_us[i], 1e-9);
        assert_near(together.launches[i].lasts.spread_us, 0.0, 1e-9);
    }
    assert_near(together.iteration.median_us, 30.0, 1e-9);
    assert_near(together.iteration.sm_clock_mhz, 1980.0, 1e-9);
    assert_int_equal(fake.runs, 3);
}

/* b 0..2 and then c on y, which waits for a, 0..10 on x: c 10..15, not 2..15.
 */
static void test_waiting_is_not_working(void **state)
{
    struct model_errors errors = {.arena = *state};
    struct replay_run run = run_of(*state, &errors, 1);
    struct replay_schedule schedule;
    struct replay_together together;

    schedule_of(*state,
                "name: w\nops:\n"
                "  - {id: a, kind: memory, hbm: 10 MB, stream: x}\n"
                "  - {id: b, kind: memory, hbm: 2 MB, stream: y}\n"
                "  - {id: c, kind: memory, hbm: 5 MB, stream: y, after: [a]}\n",
                &schedule);
    make_all(&run, &schedule);
    assert_int_equal(replay_measure_together(&run, &schedule, &together),
                     MODEL_OK);
    assert_near(together.launches[2].start_us, 10.0, 1e-9);
    assert_near(together.launches[2].lasts.median_us, 5.0, 1e-9);
}

/* What one run asks of the device: event 0 begins, 1 ends, launch i is between
   2 + 2 i and 3 + 2 i. b follows a on its stream and needs no mark. */
static void test_together_launches(void **state)
{
    struct model_errors errors = {.arena = *state};
    struct replay_run run = run_of(*state, &errors, 1);
    struct replay_schedule schedule;
    struct replay_together together;

    schedule_of(*state, overlap, &schedule);
    run.warmup = 0;
    make_all(&run, &schedule);
    fake.logging = true;
    (void)replay_measure_together(&run, &schedule, &together);
    assert_string_equal(
        fake.log,
        "mark 0 on 0; "
        "await 0 on 1; mark 2 on 1; 0 on 1; mark 3 on 1; "
        "1 on 1; mark 5 on 1; "
        "await 0 on 2; await 3 on 2; mark 6 on 2; 2 on 2; mark 7 on 2; "
        "await 5 on 0; await 7 on 0; mark 1 on 0; ");
}

/* A held stream lets go before its queue is full. */
static void test_long_iterations_are_let_go(void **state)
{
    struct model_errors errors = {.arena = *state};
    struct replay_run run = run_of(*state, &errors, 1);
    struct replay_schedule schedule;
    struct replay_together together;

    schedule_of(
        *state,
        "name: w\nops:\n"
        "  - {id: a, kind: memory, hbm: 1 MB, stream: x, repeat: 500}\n",
        &schedule);
    assert_int_equal(schedule.launch_count, 500);
    make_all(&run, &schedule);
    assert_int_equal(replay_measure_together(&run, &schedule, &together),
                     MODEL_OK);
    assert_int_equal(fake.at_release, REPLAY_HELD_MAX);
    assert_near(together.iteration.median_us, 500.0, 1e-9);
}

static void test_failures_are_reported(void **state)
{
    struct model_errors errors = {.arena = *state};
    struct replay_run run = run_of(*state, &errors, 3);
    struct replay_schedule schedule;
    struct replay_together together;

    schedule_of(*state, overlap, &schedule);
    make_all(&run, &schedule);
    fake.fail_launch = 2;
    assert_int_equal(replay_measure_together(&run, &schedule, &together),
                     MODEL_NO_DEVICE);
    assert_string_equal(errors.list[0].message, "fake: launch failed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_summary),
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_alone_of_many_products),
        cmocka_unit_test(test_alone_without_hold),
        cmocka_unit_test(test_waiting_is_not_working),
        cmocka_unit_test(test_alone_on_ranks),
        cmocka_unit_test(test_together),
        cmocka_unit_test(test_together_launches),
        cmocka_unit_test(test_long_iterations_are_let_go),
        cmocka_unit_test(test_failures_are_reported),
    };

    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
