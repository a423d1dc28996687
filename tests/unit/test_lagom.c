/*
 * test_lagom.c - the strategy of the paper: where it stops, in each of its
 * cases, and which class it raises next. First on closed forms, where every
 * step can be worked out by hand; then on the simulator, where a pair of
 * operations is made to fall under one case or another.
 */
#include "search/lagom_climb.h"

#include "tests/unit/searching.h"

#include <string.h>

/* -- on closed forms -- */

static double y_of_100(const struct model_config *configs)
{
    (void)configs;
    return 100;
}

/*
 * Case 1: communication hides at the least configuration; one look is enough.
 * In all cases NCCL's own configuration comes first, and at last, unless that
 * is it, the result as a whole.
 */
static void lagom_stays_at_the_least(void **state)
{
    struct form *form = make_form(*state, 1, x_of_10, y_of_100);
    struct search_outcome outcome = search_form(*state, form, "lagom", 1);

    is_least(&outcome.configs[0]);
    assert_int_equal(outcome.evaluations, 1 + 2);
    assert_near(outcome.iteration_us, 100, 0);
}

static double y_of_10(const struct model_config *configs)
{
    (void)configs;
    return 10;
}

static double y_of_10_5(const struct model_config *configs)
{
    (void)configs;
    return 10.5;
}

/*
 * X of 10 us is hidden by anything above, if only by a twentieth: one look. As
 * long as that is not hidden: a second look, which is no better, ends it.
 */
static void lagom_hides_below_the_computation(void **state)
{
    struct search_outcome below = search_form(
        *state, make_form(*state, 1, x_of_10, y_of_10_5), "lagom", 1);
    struct search_outcome equal =
        search_form(*state, make_form(*state, 1, x_of_10, y_of_10), "lagom", 1);

    assert_int_equal(below.evaluations, 1 + 1 + 1);
    assert_int_equal(equal.evaluations, 1 + 2 + 1);
}

/* Two classes: each is looked at once. */
static void lagom_looks_at_each_class(void **state)
{
    struct form *form = make_form(*state, 2, x_of_10, y_of_100);
    struct search_outcome outcome = search_form(*state, form, "lagom", 1);

    is_least(&outcome.configs[0]);
    is_least(&outcome.configs[1]);
    assert_int_equal(outcome.evaluations, 2 + 2);
}

/*
 * Case 2: nothing to hide under, each raise helps: up to the largest
 * configuration: 84 SMs, 608 threads, 431 x 608 x 8 bytes.
 */
static void lagom_climbs_to_the_top(void **state)
{
    struct form *form = make_form(*state, 1, x_by_chunk, y_of_0);
    struct search_outcome outcome;

    form->reading.native = SEARCH_NATIVE_OUT; /* 2 MiB, a bit above the top */
    outcome = search_form(*state, form, "lagom", 1);
    assert_int_equal(outcome.configs[0].channels, 84);
    assert_int_equal(outcome.configs[0].threads, 608);
    assert_near(outcome.configs[0].chunk_bytes, 2096384, 0);
    is_least(&form->log[1][0]);
    for (int i = 2; i < outcome.evaluations; i++) {
        assert_true(form->log[i][0].chunk_bytes >
                    form->log[i - 1][0].chunk_bytes);
        assert_true(form->log[i][0].channels >= form->log[i - 1][0].channels);
        assert_true(form->log[i][0].threads >= form->log[i - 1][0].threads);
    }
}

/* Case 2 with a valley: the first that is worse ends it, the one before is
 * kept.
 */
static void lagom_keeps_what_was_before_it_got_worse(void **state)
{
    struct form *form = make_form(*state, 1, x_with_a_valley, y_of_0);
    struct search_outcome outcome = search_form(*state, form, "lagom", 1);
    int last = outcome.evaluations - 2; /* the one that was worse */

    assert_true(outcome.evaluations >= 3);
    assert_true(
        model_config_equal(&outcome.configs[0], &form->log[last - 1][0]));
    assert_true(x_with_a_valley(0, &form->log[last][0]) >
                0.999 * x_with_a_valley(0, &form->log[last - 1][0]));
    for (int i = 2; i < last; i++) {
        assert_true(x_with_a_valley(0, &form->log[i][0]) <
                    x_with_a_valley(0, &form->log[i - 1][0]));
    }
}

/*
 * Case 3, balance: the first configuration whose communication, 1e9 / chunk, is
 * below the computation's 5000 us, that is with a chunk above 200,000 bytes.
 */
static void lagom_stops_at_the_balance(void **state)
{
    struct form *form = make_form(*state, 1, x_by_chunk, y_of_5000);
    struct search_outcome outcome = search_form(*state, form, "lagom", 1);
    int last = outcome.evaluations - 2;

    assert_true(outcome.configs[0].chunk_bytes > 200000);
    assert_true(model_config_equal(&outcome.configs[0], &form->log[last][0]));
    for (int i = 1; i < last; i++) {
        assert_true(form->log[i][0].chunk_bytes <= 200000);
    }
    assert_near(outcome.iteration_us, 5000, 0);
}

/*
 * Two classes, of which only the first costs computation. Both begin with H =
 * 0.01; the first is looked at, then raised by 0.01 (27 x 768 bytes): x falls
 * from 1e9/768 to 1e9/20736, y rises from 1000 to 27,000: H = 26,000 /
 * 1,253,858 = 0.0207. Now the second one's 0.01 is less: it is looked at and
 * raised, H = 0, until it is at its top. Only then comes the first again,
 * raised by 0.1 (its last gain was large): 160 threads, 0.11 x 1638 = 180
 * chunks of 1280 bytes. Now X = 4340
 * + 477 is below Y = 300,000.
 */
static void lagom_raises_what_costs_least(void **state)
{
    struct form *form = make_form(*state, 2, x_by_chunk, y_by_first_chunk);
    struct search_outcome outcome = search_form(*state, form, "lagom", 1);
    int step = 3;

    assert_near(form->log[1][0].chunk_bytes, 768, 0);
    assert_near(form->log[2][0].chunk_bytes, 27 * 768, 0);
    /* not looked at yet: NCCL's own */
    assert_near(form->log[2][1].chunk_bytes, 2097152, 0);
    while (step < outcome.evaluations &&
           form->log[step][0].chunk_bytes == 27 * 768) {
        step++;
    }
    assert_true(step > 5);
    assert_near(form->log[step - 1][1].chunk_bytes, 2096384, 0);
    assert_near(outcome.configs[1].chunk_bytes, 2096384, 0);
    assert_near(outcome.configs[0].chunk_bytes, 230400, 0);
    assert_int_equal(step, outcome.evaluations - 2);
}

/*
 * Where no climb comes near NCCL's own configuration, the window keeps it: x is
 * 10 us at its 2 MiB, 1000 us at any multiple of threads x 8 bytes below.
 */
static double x_fast_at_two_mib(int class_index,
                                const struct model_config *config)
{
    (void)class_index;
    return config->chunk_bytes >= 2097152 ? 10 : 1000;
}

static void lagom_keeps_the_native_one_when_it_is_best(void **state)
{
    struct form *form = make_form(*state, 1, x_fast_at_two_mib, y_of_0);
    struct search_outcome outcome = search_form(*state, form, "lagom", 1);

    assert_true(model_config_equal(&outcome.configs[0],
                                   &form->problem->classes[0].baseline));
    assert_near(outcome.iteration_us, 10, 0);
}

/* Over PCIe both transports are climbed: the faster one is found. */
static double x_fast_by_host(int class_index, const struct model_config *config)
{
    return x_by_chunk(class_index, config) *
           (config->transport == MODEL_SHM ? 0.5 : 1.0);
}

static struct form *form_over_pcie(struct model_arena *arena)
{
    const struct model_topology *topology =
        fixture_topology(arena, "1x8 gpu:a40 pcie:4", NULL, 0);
    const struct model_workload *w =
        fixture_workload(arena, topology,
                         "name: w\n"
                         "ops:\n"
                         "  - {id: a, kind: all_gather, size: 2 GiB}\n"
                         "  - {id: g, kind: gemm, m: 1, n: 1, k: 1}\n");
    struct form *form = model_arena_alloc(arena, sizeof *form);

    form->problem = problem_of(arena, topology, w);
    form->x_us = x_fast_by_host;
    form->y_us = y_of_0;
    return form;
}

static void lagom_climbs_in_each_subspace(void **state)
{
    struct form *form = form_over_pcie(*state);
    struct search_outcome outcome = search_form(*state, form, "lagom", 1);

    assert_int_equal(form->problem->classes[0].baseline.transport, MODEL_P2P);
    assert_int_equal(outcome.configs[0].transport, MODEL_SHM);
    assert_near(outcome.configs[0].chunk_bytes, 2096384, 0);
}

/* -- readings -- */

/* A strategy on a form under a reading; the account of how it ended has text.
 */
static struct search_outcome read_as(struct model_arena *arena,
                                     struct form *form,
                                     const char *reading,
                                     const char *text)
{
    struct model_errors errors = {.arena = arena};
    struct search_outcome outcome;

    assert_int_equal(search_reading_set(reading, &form->reading, &errors),
                     MODEL_OK);
    outcome = search_form(arena, form, "lagom", 1);
    if (strstr(outcome.account, text) == NULL) {
        fail_msg("no \"%s\" in:\n%s", text, outcome.account);
    }
    return outcome;
}

/* Each of the paper's three cases is named where it ends a window. */
static void the_account_names_the_case(void **state)
{
    (void)read_as(*state, make_form(*state, 1, x_of_10, y_of_100), "lr=gain",
                  "X 0.010 ms, Y 0.100 ms, 1 steps: case 1, all least");
    (void)read_as(*state, make_form(*state, 1, x_with_a_valley, y_of_0),
                  "lr=gain", "case 2, each at its best and still X > Y");
    (void)read_as(*state, make_form(*state, 1, x_by_chunk, y_of_0), "lr=gain",
                  "at the largest settings");
    (void)read_as(*state, make_form(*state, 1, x_by_chunk, y_of_5000),
                  "lr=gain", "case 3, balance");
    (void)read_as(*state, make_form(*state, 1, x_fast_at_two_mib, y_of_0),
                  "lr=gain", "no climb is shorter than NCCL's own");
}

/*
 * From 768 to 27 x 768 bytes x falls to a 27th: by 26 times what it is then, by
 * 26/27 of what it was, by -26 as printed. All are cut to the bounds of a step:
 * 0.1, 0.01, and with no bound above 1.
 */
static void lr_is_read_in_three_ways(void **state)
{
    struct search_reading reading = {.most = SEARCH_MOST_TENTH};

    (void)state;
    assert_near(lagom_rate(&reading, 27, 1), 0.1, 1e-12);
    assert_near(lagom_rate(&reading, 1.05, 1), 0.05, 1e-12);
    assert_near(lagom_rate(&reading, 1.001, 1), 0.01, 1e-12);
    reading.most = SEARCH_MOST_ALL;
    assert_near(lagom_rate(&reading, 27, 1), 1, 1e-12);
    reading.lr = SEARCH_LR_SHARE;
    assert_near(lagom_rate(&reading, 27, 1), 26.0 / 27.0, 1e-12);
    reading.most = SEARCH_MOST_THIRD;
    assert_near(lagom_rate(&reading, 27, 1), 1.0 / 3.0, 1e-12);
    reading.lr = SEARCH_LR_PRINTED;
    assert_near(lagom_rate(&reading, 27, 1), 0.01, 1e-12);
}

/*
 * Half way up: of 1 .. 64 channels 8 by the logarithm, 32.5 evenly; of 96 ..
 * 608 threads 352 (2816 bytes a chunk); of 744 chunks 372. A value raised by
 * half: 4 channels become 6, 128 threads 192, 20 KiB 30, of 1536 bytes
 * each: 20. By a hundredth: a step of the grid each.
 */
static void lr_is_a_part_of_three_things(void **state)
{
    struct search_space space = {.subspace = model_config_none(),
                                 .channels_max = 64,
                                 .threads_min = 96,
                                 .threads_max = 608,
                                 .last_threads = 608,
                                 .grain_bytes = 8,
                                 .chunk_max_bytes = 2097152,
                                 .count_bytes = 1e12};
    struct search_reading reading = {.scale = SEARCH_SCALE_RANGE};
    struct model_config least = lagom_least(&space);
    struct model_config at = {
        .channels = 4, .threads = 128, .chunk_bytes = 20480};
    struct model_config up;
    double height = 0.25;

    (void)state;
    up = lagom_raise(&reading, &space, &least, 0.25, &height);
    assert_near(height, 0.5, 0);
    assert_int_equal(up.channels, 8);
    assert_int_equal(up.threads, 352);
    assert_near(up.chunk_bytes, 372 * 2816, 0);
    reading.scale = SEARCH_SCALE_LINEAR;
    up = lagom_raise(&reading, &space, &least, 0.0, &height);
    assert_int_equal(up.channels, 33);
    assert_int_equal(up.threads, 352);
    reading.scale = SEARCH_SCALE_VALUE;
    up = lagom_raise(&reading, &space, &at, 0.5, &height);
    assert_int_equal(up.channels, 6);
    assert_int_equal(up.threads, 192);
    assert_near(up.chunk_bytes, 30720, 0);
    up = lagom_raise(&reading, &space, &at, 0.01, &height);
    assert_int_equal(up.channels, 5);
    assert_int_equal(up.threads, 160);
    assert_near(up.chunk_bytes, 17 * 1280, 0); /* above 20480 = 16 x 1280 */
    for (int i = 0; i < 100; i++) {
        up = lagom_raise(&reading, &space, &up, 1.0, &height);
    }
    assert_true(lagom_is_top(&space, &up));
}

/* Compared with NCCL's own 2 MiB, 477 us, the least settings are slower. */
static void the_first_may_be_compared_with_nccl(void **state)
{
    struct form *form = make_form(*state, 1, x_by_chunk, y_of_5000);
    struct search_outcome outcome =
        read_as(*state, form, "first=nccl", "no faster");

    assert_int_equal(outcome.evaluations, 1 + 1 + 1);
    assert_near(outcome.configs[0].chunk_bytes, 2097152, 0);
}

/* 10 us whatever the settings: the second look is no gain, but never longer. */
static void no_gain_may_go_on(void **state)
{
    struct search_outcome little = read_as(
        *state, make_form(*state, 1, x_of_10, y_of_0), "worse=little", "no fa");
    struct search_outcome longer =
        read_as(*state, make_form(*state, 1, x_of_10, y_of_0), "worse=longer",
                "H inf, at the largest settings");

    is_least(&little.configs[0]);
    assert_int_equal(little.evaluations, 1 + 2 + 1);
    assert_int_equal(longer.configs[0].channels, 84);
    assert_true(longer.evaluations > 100); /* each raise is the least, 0.01 */
}

/* The one before the balance: its 1e9 / chunk is still above 5000 us. */
static void the_old_may_be_kept(void **state)
{
    struct form *form = make_form(*state, 1, x_by_chunk, y_of_5000);
    struct search_outcome outcome;

    form->reading.native = SEARCH_NATIVE_OUT;
    outcome = read_as(*state, form, "keep=old", "X' < Y'");
    assert_true(outcome.configs[0].chunk_bytes <= 200000);
    assert_true(model_config_equal(&outcome.configs[0],
                                   &form->log[outcome.evaluations - 2][0]));
}

/* NCCL's own is the shortest, 10 us, but may not be chosen. */
static void nccl_may_be_left_out(void **state)
{
    struct form *form = make_form(*state, 1, x_fast_at_two_mib, y_of_0);
    struct search_outcome outcome =
        read_as(*state, form, "native=out", "no faster");

    is_least(&outcome.configs[0]);
    assert_near(outcome.iteration_us, 1000, 0);
}

/* NCCL's own transport alone: half the evaluations, and the slower climb. */
static void transports_may_be_left_out(void **state)
{
    struct search_outcome both =
        search_form(*state, form_over_pcie(*state), "lagom", 1);
    struct search_outcome own = read_as(*state, form_over_pcie(*state),
                                        "spaces=own", "largest settings");

    assert_int_equal(own.configs[0].transport, MODEL_P2P);
    assert_int_equal(both.evaluations - 2, 2 * (own.evaluations - 2));
}

/*
 * Two windows, one after the other: an AllGather of 256 MiB beside a GEMM of 3
 * ms, which it can hide behind, and one of 4 GB beside a GEMM of some us, which
 * it cannot. All in all X > Y by far.
 */
static struct tuned tune_two_windows(struct model_arena *arena,
                                     const char *reading)
{
    const struct model_topology *topology =
        fixture_topology(arena, "1x8 gpu:h100 nvswitch", NULL, 0);
    const struct model_workload *w = fixture_workload(
        arena, topology,
        "name: w\n"
        "ops:\n"
        "  - {id: a, kind: all_gather, size: 256 MiB}\n"
        "  - {id: g, kind: gemm, m: 16384, n: 8192, k: 8192}\n"
        "  - {id: b, kind: all_gather, size: 4 GB, after: [g]}\n"
        "  - {id: h, kind: gemm, m: 128, n: 8192, k: 8192, after: [a]}\n");
    struct search_reading read = {.lr = SEARCH_LR_GAIN};
    struct model_errors errors = {.arena = arena};

    assert_int_equal(search_reading_set(reading, &read, &errors), MODEL_OK);
    return tune_as(arena, topology, w, "lagom", 1, &read);
}

/* A step of each window in one evaluation, or in one each: the same result. */
static void windows_may_take_turns(void **state)
{
    struct tuned together = tune_two_windows(*state, "turns=together");
    struct tuned apart = tune_two_windows(*state, "turns=window");

    assert_int_equal(together.problem->window_count, 2);
    for (int i = 0; i < 2; i++) {
        assert_true(model_config_equal(&together.outcome.configs[i],
                                       &apart.outcome.configs[i]));
    }
    assert_true(apart.outcome.evaluations >= together.outcome.evaluations + 2);
}

/* By the whole iteration the first never hides: it climbs on, too. */
static void the_balance_may_be_the_iteration_s(void **state)
{
    struct tuned window = tune_two_windows(*state, "balance=window");
    struct tuned whole = tune_two_windows(*state, "balance=iteration");

    assert_true(window.measure.comm_us[0] < window.measure.kernel_us[0]);
    assert_non_null(strstr(window.outcome.account, "case 3"));
    assert_null(strstr(whole.outcome.account, "X' < Y'"));
}

static void readings_are_looked_up(void **state)
{
    struct search_reading reading = {.lr = SEARCH_LR_GAIN};
    struct model_errors errors = {.arena = *state};

    assert_int_equal(search_reading_set("turns=window", &reading, &errors),
                     MODEL_OK);
    assert_int_equal(reading.turns, SEARCH_TURNS_WINDOW);
    assert_int_equal(search_reading_set("lr=printed", &reading, &errors),
                     MODEL_OK);
    assert_int_equal(reading.lr, SEARCH_LR_PRINTED);
    fixture_no_errors(&errors);
    assert_int_equal(search_reading_set("lr=print", &reading, &errors),
                     MODEL_USAGE);
    assert_int_equal(search_reading_set("l=printed", &reading, &errors),
                     MODEL_USAGE);
    assert_int_equal(search_reading_set("lr", &reading, &errors), MODEL_USAGE);
    assert_int_equal(errors.count, 3);
    assert_string_equal(errors.list[0].hint,
                        "write lr=gain, lr=share or lr=printed");
    assert_string_equal(errors.list[1].hint, "lagom help readings lists them");
}

/* -- on the simulator -- */

/* Tiny beside huge: X < Y at the least configuration, one look at it. */
static void a_tiny_collective_stays_least(void **state)
{
    struct tuned tuned = tune_pair(*state, "64 kB", 65536, "lagom");

    is_least(&tuned.outcome.configs[0]);
    assert_int_equal(tuned.outcome.evaluations, 1 + 2);
    assert_true(tuned.measure.comm_us[0] < tuned.measure.kernel_us[0]);
}

/*
 * On NVLink pairs a pair's collective has no way through host memory, that of
 * all ranks has: the climb through host memory leaves the pair's on NVLink.
 */
static void classes_have_ways_of_their_own(void **state)
{
    const struct model_topology *topology =
        fixture_topology(*state, "lagom-a-1node", NULL, 0);
    const struct model_workload *w = fixture_workload(
        *state, topology,
        "name: w\n"
        "groups: {pairs: {size: 2}}\n"
        "ops:\n"
        "  - {id: a, kind: all_gather, size: 256 MiB}\n"
        "  - {id: b, kind: all_gather, size: 256 MiB, group: pairs}\n"
        "  - {id: g, kind: gemm, m: 8192, n: 8192, k: 8192}\n");
    struct tuned tuned = tune(*state, topology, w, "lagom", 1);
    struct tuned native = tune(*state, topology, w, "nccl", 1);

    assert_int_equal(tuned.problem->class_count, 2);
    assert_int_equal(tuned.outcome.configs[1].transport, MODEL_P2P);
    assert_true(tuned.outcome.iteration_us <=
                1.001 * native.outcome.iteration_us);
}

/* Huge beside tiny: X > Y to the end, and a gain over the least one. */
static void a_huge_collective_is_sped_up(void **state)
{
    struct tuned tuned = tune_pair(*state, "4 GB", 128, "lagom");
    struct tuned native = tune_pair(*state, "4 GB", 128, "nccl");

    assert_true(tuned.measure.comm_us[0] > tuned.measure.kernel_us[0]);
    assert_true(tuned.outcome.configs[0].channels > 1);
    assert_true(tuned.outcome.evaluations > 5);
    /* within 10 % of what NCCL does at its best: communication-bound */
    assert_true(tuned.measure.x_us[0] < 1.1 * native.measure.x_us[0]);
}

/* In between: just hidden, with less than the whole machine. */
static void a_balanced_pair_is_just_hidden(void **state)
{
    struct tuned tuned = tune_pair(*state, "256 MiB", 16384, "lagom");

    assert_true(tuned.measure.comm_us[0] < tuned.measure.kernel_us[0]);
    assert_true(tuned.outcome.configs[0].chunk_bytes > 768);
    assert_true(tuned.outcome.configs[0].channels < 64);
    assert_true(tuned.outcome.evaluations > 1);
}

/*
 * A class is looked at once in a subspace, then raised by 0.01 of its range at
 * least: 101 steps at most, and two evaluations besides. So evaluations are
 * bounded by 2 + 101 n; with classes that are nearly alike they are in
 * proportion to n. n AllGathers beside n GEMMs, all one window.
 */
static void evaluations_grow_by_the_class(void **state)
{
    const struct model_topology *topology =
        fixture_topology(*state, "1x8 gpu:h100 nvswitch", NULL, 0);
    int steps_of_one = 0;

    for (int n = 1; n <= 8; n *= 2) {
        const char *ops = "name: w\nops:\n";
        struct tuned tuned;
        int steps;

        for (int i = 0; i < n; i++) {
            ops = model_arena_format(
                *state,
                "%s  - {id: a%d, kind: all_gather, size: %d MiB}\n"
                "  - {id: g%d, kind: gemm, m: 8192, n: 8192, k: 8192}\n",
                ops, i, 256 + i, i);
        }
        tuned = tune(*state, topology, fixture_workload(*state, topology, ops),
                     "lagom", 1);
        steps = tuned.outcome.evaluations - 2;
        steps_of_one = n == 1 ? steps : steps_of_one;
        assert_int_equal(tuned.problem->window_count, 1);
        assert_int_equal(tuned.problem->class_count, n);
        assert_true(steps <= 101 * n);
        assert_true(steps > 0.75 * steps_of_one * n);
        assert_true(steps < 1.25 * steps_of_one * n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lagom_stays_at_the_least),
        cmocka_unit_test(lagom_hides_below_the_computation),
        cmocka_unit_test(lagom_looks_at_each_class),
        cmocka_unit_test(lagom_climbs_to_the_top),
        cmocka_unit_test(lagom_keeps_what_was_before_it_got_worse),
        cmocka_unit_test(lagom_stops_at_the_balance),
        cmocka_unit_test(lagom_raises_what_costs_least),
        cmocka_unit_test(lagom_keeps_the_native_one_when_it_is_best),
        cmocka_unit_test(the_account_names_the_case),
        cmocka_unit_test(lr_is_read_in_three_ways),
        cmocka_unit_test(lr_is_a_part_of_three_things),
        cmocka_unit_test(the_first_may_be_compared_with_nccl),
        cmocka_unit_test(no_gain_may_go_on),
        cmocka_unit_test(the_old_may_be_kept),
        cmocka_unit_test(nccl_may_be_left_out),
        cmocka_unit_test(transports_may_be_left_out),
        cmocka_unit_test(windows_may_take_turns),
        cmocka_unit_test(the_balance_may_be_the_iteration_s),
        cmocka_unit_test(readings_are_looked_up),
        cmocka_unit_test(a_tiny_collective_stays_least),
        cmocka_unit_test(lagom_climbs_in_each_subspace),
        cmocka_unit_test(classes_have_ways_of_their_own),
        cmocka_unit_test(a_huge_collective_is_sped_up),
        cmocka_unit_test(evaluations_grow_by_the_class),
        cmocka_unit_test(a_balanced_pair_is_just_hidden),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
