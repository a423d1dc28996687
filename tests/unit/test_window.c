/*
 * test_window.c - a result by windows: which ops are alike, how long each side
 * takes, what bounds a window, and what collectives hold beside kernels.
 */
#include "sim/window.h"
#include "sim/window_beside.h"
#include "sim/window_span.h"

#include "tests/unit/timeline.h"

/* -- spans -- */

/* [0 2] [1 3] [3 4] [6 7] cover 4 + 1; [2 6.5] shares [2 4] and [6 6.5]. */
static void spans_cover_each_moment_once(void **state)
{
    struct sim_span list[] = {{6, 7}, {0, 2}, {3, 4}, {1, 3}};
    struct sim_span other[] = {{2, 6.5}};
    struct sim_spans a = {list, 4};
    struct sim_spans b = {other, 1};
    struct sim_spans none = {NULL, 0};
    struct sim_steady once = {.extra = 0};

    (void)state;
    sim_spans_merge(&a);
    sim_spans_merge(&b);
    sim_spans_merge(&none);
    assert_int_equal(a.count, 2);
    assert_near(sim_spans_us(&a, &once), 5, 0);
    assert_near(sim_spans_common_us(&a, &b, &once), 2.5, 0);
    assert_near(sim_spans_common_us(&b, &a, &once), 2.5, 0);
    assert_near(sim_spans_us(&none, &once), 0, 0);
    assert_near(sim_spans_common_us(&a, &none, &once), 0, 0);
}

/* -- what bounds a window -- */

static struct sim_window
window_of(double total_us, double x_us, double y_us, double both_us)
{
    return (struct sim_window){.total_us = total_us,
                               .both_us = both_us,
                               .kernels = {.covered_us = y_us},
                               .collectives = {.covered_us = x_us}};
}

static void the_longer_side_binds(void **state)
{
    static const struct {
        double total_us, x_us, y_us, both_us;
        enum sim_window_bound bound;
        double idle_us;
    } rows[] = {
        {100, 60, 99, 59, SIM_BOUND_KERNELS, 0},
        {100, 99, 60, 59, SIM_BOUND_COLLECTIVES, 0},
        /* one side only */
        {100, 0, 99, 0, SIM_BOUND_KERNELS, 1},
        {100, 99, 0, 0, SIM_BOUND_COLLECTIVES, 1},
        /* 3.9 of 40 beside each other are less than a tenth, 4 are not */
        {96.1, 60, 40, 3.9, SIM_BOUND_TURNS, 0},
        {96, 60, 40, 4, SIM_BOUND_COLLECTIVES, 0},
        {96, 40, 60, 4, SIM_BOUND_KERNELS, 0},
        /* 50 of 100 idle are half of it, 49 are not */
        {100, 30, 30, 10, SIM_BOUND_IDLE, 50},
        {100, 30, 31, 10, SIM_BOUND_KERNELS, 49},
    };

    (void)state;
    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct sim_window window = window_of(rows[i].total_us, rows[i].x_us,
                                             rows[i].y_us, rows[i].both_us);

        assert_int_equal(sim_window_bound(&window), rows[i].bound);
        assert_near(sim_window_idle_us(&window), rows[i].idle_us, 1e-9);
    }
}

/* -- waves -- */

/* 25 loads: 3 rounds on 10 SMs, 5 on 6; at most 4 SMs: 7 on either. */
static void rounds_follow_from_loads_and_sms(void **state)
{
    struct model_kernel waves = {.schedule = MODEL_WAVES, .loads = 25};
    struct model_kernel limited = {.loads = 25, .sm_limit = 4};
    struct model_kernel persistent = {.schedule = MODEL_PERSISTENT,
                                      .loads = 10};
    struct model_kernel even = {.schedule = MODEL_STREAM_K, .loads = 10};

    (void)state;
    assert_int_equal(sim_kernel_rounds(&waves, 10), 3);
    assert_int_equal(sim_kernel_rounds(&waves, 6), 5);
    assert_int_equal(sim_kernel_rounds(&limited, 10), 7);
    assert_int_equal(sim_kernel_rounds(&limited, 6), 7);
    assert_int_equal(sim_kernel_rounds(&persistent, 10), 1);
    assert_int_equal(sim_kernel_rounds(&persistent, 6), 2);
    assert_int_equal(sim_kernel_rounds(&even, 6), 1);
}

/* -- what collectives hold -- */

/*
 * a holds 4 SMs from 10 (its kernel came at 5 and waited 5 us) to 50 and moves
 * from 30 on; b holds 2 from 40 to 60 and moves all the time.
 */
static void holdings_add_up(void **state)
{
    static const struct sim_move move_a = {
        .hbm_bytes = 2000, .footprint_bytes = 100, .moving_us = 20};
    static const struct sim_move move_b = {
        .hbm_bytes = 200, .footprint_bytes = 10, .moving_us = 20};
    static const struct sim_op_result ops[] = {
        {.run_us = 5,
         .end_us = 50,
         .mean_sms = 4,
         .lost = {.sm = 5},
         .move = &move_a},
        {.run_us = 0, .end_us = 90},
        {.run_us = 40, .end_us = 60, .mean_sms = 2, .move = &move_b}};
    static const struct sim_result result = {.ops = ops};
    static const struct {
        double from_us, to_us, moving_us, hbm_bytes, sms, footprint_bytes;
    } rows[] = {
        {0, 10, 0, 0, 0, 0},       {0, 30, 0, 0, 4, 0},
        {0, 40, 10, 1000, 4, 100}, {35, 45, 10, 1050, 6, 110},
        {55, 90, 5, 50, 2, 10},    {60, 90, 0, 0, 0, 0},
    };
    const struct sim_beside *beside = sim_beside_make(*state, &result, 3);

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct sim_beside_view view =
            sim_beside_look(beside, rows[i].from_us, rows[i].to_us);

        assert_near(view.moving_us, rows[i].moving_us, 1e-9);
        assert_near(view.hbm_bytes, rows[i].hbm_bytes, 1e-9);
        assert_near(view.most_sms, rows[i].sms, 1e-9);
        assert_near(view.most_footprint_bytes, rows[i].footprint_bytes, 1e-9);
    }
}

/* -- windows -- */

static const struct sim_part *part_of(const struct sim_windows *windows,
                                      const char *label)
{
    for (int i = 0; i < windows->part_count; i++) {
        if (strcmp(windows->parts[i].label, label) == 0) {
            return &windows->parts[i];
        }
    }
    fail_msg("no part %s", label);
    return NULL;
}

static struct sim_windows windows_of(const struct timeline *timeline)
{
    return sim_windows_make(timeline->arena, &timeline->request,
                            &timeline->result);
}

/*
 * All is ready at 0, on the device at 5. a takes 4 SMs until 105; g has 25
 * tiles for 6 SMs: 5 waves, until 55, where alone 3 waves end at 35.
 */
static void a_window_of_two_ops(void **state)
{
    struct timeline t = run(*state, "ops:\n"
                                    "  - {id: a, stream: s1, " GATHER_4 "}\n"
                                    "  - {id: g, stream: s2, " GEMM_25 "}\n");
    struct sim_windows windows = windows_of(&t);
    const struct sim_window *window = &windows.list[0];
    const struct sim_part *g = part_of(&windows, "g");
    const struct sim_part *a = part_of(&windows, "a");

    assert_int_equal(windows.count, 1);
    assert_null(window->name);
    assert_int_equal(window->count, 1);
    assert_near(window->total_us, 105, CLOSE_US);
    assert_near(window->collectives.covered_us, 100, CLOSE_US);
    assert_near(window->kernels.covered_us, 50, CLOSE_US);
    assert_near(window->both_us, 50, CLOSE_US);
    assert_near(window->exposed_us, 50, CLOSE_US);
    assert_near(sim_window_idle_us(window), 5, CLOSE_US);
    assert_near(window->kernels.time_us, 55, CLOSE_US);
    assert_near(window->kernels.alone_us, 35, CLOSE_US);
    assert_near(window->kernels.lost.sm, 20, CLOSE_US);
    assert_near(window->collectives.alone_us, 105, CLOSE_US);
    assert_int_equal(sim_window_bound(window), SIM_BOUND_COLLECTIVES);
    assert_near(g->held_sms, 4, CLOSE_US);
    assert_near(g->footprint_bytes, 4 * 16384, 1);
    assert_near(g->beside_us, 50, CLOSE_US);
    assert_near(g->beside_hbm_bytes, 1e6, 1); /* half of a's 2 MB */
    assert_near(g->waiting_us, 0, CLOSE_US);
    assert_near(a->moving_us, 100, CLOSE_US);
    assert_int_equal(a->limited_by, SIM_LIMITED_BY_CHANNELS);
}

/* k2 finds all SMs taken by k1 until 15 and waits 5 us on the device. */
static void waiting_for_the_first_sm_is_told(void **state)
{
    struct timeline t =
        run(*state, "ops:\n"
                    "  - {id: k1, stream: s1, " KERNEL_10 "}\n"
                    "  - {id: k2, stream: s2, start: 5 us, " KERNEL_10 "}\n");
    struct sim_windows windows = windows_of(&t);

    assert_near(part_of(&windows, "k*")->waiting_us, 5, CLOSE_US);
    assert_int_equal(part_of(&windows, "k*")->count, 2);
}

/*
 * Two layers: two kernels alike in all but the number, one with other work,
 * and an AllGather for each. The windows of a name are one, and each is counted
 * by what comes in it once.
 */
static void equal_ops_and_instances_are_found(void **state)
{
    struct timeline t =
        run(*state, "ops:\n"
                    "  - {id: l.0.a, window: w, stream: c, " GATHER_4 "}\n"
                    "  - {id: l.0.up1, window: w, " KERNEL_10 "}\n"
                    "  - {id: l.0.up2, window: w, " KERNEL_10 "}\n"
                    "  - {id: l.0.big, window: w, " GEMM_25 "}\n"
                    "  - {id: l.1.a, window: w, stream: c, " GATHER_4 "}\n"
                    "  - {id: l.1.up1, window: w, " KERNEL_10 "}\n"
                    "  - {id: l.1.up2, window: w, " KERNEL_10 "}\n"
                    "  - {id: l.1.big, window: w, " GEMM_25 "}\n"
                    "  - {id: last, window: v, " KERNEL_10 "}\n"
                    "  - {id: free, " KERNEL_10 "}\n");
    struct sim_windows windows = windows_of(&t);

    assert_int_equal(windows.count, 3);
    assert_string_equal(windows.list[0].name, "w");
    assert_int_equal(windows.list[0].count, 2);
    assert_int_equal(windows.list[0].kernels.op_count, 6);
    assert_int_equal(windows.list[0].collectives.op_count, 2);
    assert_string_equal(windows.list[1].name, "v");
    assert_int_equal(windows.list[1].count, 1);
    assert_null(windows.list[2].name);
    assert_int_equal(windows.part_count, 5);
    assert_int_equal(part_of(&windows, "l.*.a")->count, 2);
    assert_int_equal(part_of(&windows, "l.*.up*")->count, 4);
    assert_int_equal(part_of(&windows, "l.*.big")->count, 2);
    assert_int_equal(windows.part_of[fixture_op(t.workload, "l.1.big")],
                     (int)(part_of(&windows, "l.*.big") - windows.parts));
}

/* Five kinds twice and one once, as a first layer without its AllGather. */
static void one_odd_part_does_not_hide_the_instances(void **state)
{
    const char *text = "ops:\n"
                       "  - {id: first, window: w, " KERNEL_10 "}\n";
    struct timeline t;

    for (int layer = 0; layer < 2; layer++) {
        for (int part = 0; part < 5; part++) {
            text = model_arena_format(
                *state, "%s  - {id: %c.%d, window: w, " KERNEL_10 "}\n", text,
                'a' + part, layer);
        }
    }
    t = run(*state, text);
    assert_int_equal(windows_of(&t).list[0].count, 2);
}

/*
 * A result made by hand, as of two ranks; only rank 0 counts. x (0 to 40) and
 * y (50 to 100) are kernels of two windows, c (30 to 80) is a collective of the
 * first: beside no kernel from 40 to 50.
 */
static void what_kernels_of_other_windows_hide_is_not_exposed(void **state)
{
    const struct model_topology *topology = fixture_tiny(*state, NULL, 0);
    const struct model_workload *workload =
        fixture_workload(*state, topology,
                         "name: test\n"
                         "ops:\n"
                         "  - {id: x, window: v, " KERNEL_10 "}\n"
                         "  - {id: y, window: w, " KERNEL_10 "}\n"
                         "  - {id: c, window: v, stream: s, " GATHER_4 "}\n");
    struct sim_request request = {.topology = topology, .workload = workload};
    const struct sim_move move = {.moving_us = 50, .limited_us = 50};
    struct sim_op_result ops[] = {
        {.op = 0, .end_us = 40, .takes_part = true},
        {.op = 1,
         .start_us = 45,
         .run_us = 50,
         .end_us = 100,
         .takes_part = true},
        {.op = 2,
         .start_us = 30,
         .run_us = 30,
         .end_us = 80,
         .config = workload->ops[2].config,
         .move = &move,
         .takes_part = true},
        {.op = 0, .rank = 1, .end_us = 1000, .takes_part = true},
        {.op = 1, .rank = 1, .end_us = 1000, .takes_part = true},
        {.op = 2,
         .rank = 1,
         .end_us = 1000,
         .move = &move,
         .takes_part = true}};
    struct sim_result result = {
        .iteration_us = 100, .rank_count = 2, .ops = ops, .op_count = 6};
    struct sim_windows windows = sim_windows_make(*state, &request, &result);

    assert_int_equal(windows.count, 2);
    assert_near(windows.list[0].total_us, 80, 1e-9);
    assert_near(windows.list[0].kernels.covered_us, 40, 1e-9);
    assert_near(windows.list[0].collectives.covered_us, 50, 1e-9);
    assert_near(windows.list[0].both_us, 10, 1e-9);
    assert_near(windows.list[0].exposed_us, 10, 1e-9);
    assert_near(windows.list[1].total_us, 55, 1e-9);
    assert_near(windows.list[1].kernels.covered_us, 50, 1e-9);
    assert_near(sim_window_idle_us(&windows.list[1]), 5, 1e-9);
    /* an op that rank 0 has no part in is in no part */
    ops[2].takes_part = false;
    ops[2].move = NULL;
    windows = sim_windows_make(*state, &request, &result);
    assert_int_equal(windows.part_count, 2);
    assert_int_equal(windows.part_of[2], -1);
    assert_near(windows.list[0].exposed_us, 0, 0);
}

/*
 * Three collectives alike: channels set the pace of the first for 10 us, HBM
 * that of the second for 12, channels that of the third for 9.
 */
static void the_pace_is_taken_over_all_ops(void **state)
{
    const struct model_topology *topology = fixture_tiny(*state, NULL, 0);
    const struct model_workload *workload =
        fixture_workload(*state, topology,
                         "name: test\n"
                         "ops:\n"
                         "  - {id: a0, " GATHER_4 "}\n"
                         "  - {id: a1, " GATHER_4 "}\n"
                         "  - {id: a2, " GATHER_4 "}\n");
    struct sim_request request = {.topology = topology, .workload = workload};
    const struct sim_move moves[] = {
        {.moving_us = 15, .limited_us = 10, .limited_by = -1},
        {.moving_us = 15, .limited_us = 12, .limited_by = 0},
        {.moving_us = 15, .limited_us = 9, .limited_by = -1}};
    struct sim_op_result ops[3];
    struct sim_result result = {.iteration_us = 45, .ops = ops, .op_count = 3};
    struct sim_windows windows;

    for (int i = 0; i < 3; i++) {
        ops[i] = (struct sim_op_result){.op = i,
                                        .start_us = 15 * i,
                                        .run_us = 15 * i,
                                        .end_us = 15 * i + 15,
                                        .config = workload->ops[i].config,
                                        .move = &moves[i],
                                        .takes_part = true};
    }
    windows = sim_windows_make(*state, &request, &result);
    assert_int_equal(windows.part_count, 1);
    assert_int_equal(windows.parts[0].count, 3);
    assert_int_equal(windows.parts[0].limited_by, SIM_LIMITED_BY_CHANNELS);
    assert_near(windows.parts[0].limited_us, 19, 1e-9);
    assert_near(windows.parts[0].moving_us, 45, 1e-9);
}

/* What windows expose adds up to what the simulation counts. */
static void exposure_adds_up_on_phi_2(void **state)
{
    const struct model_topology *topology =
        fixture_topology(*state, "lagom-a-1node", NULL, 0);
    struct model_workload workload;
    struct model_errors errors = {.arena = *state};
    struct sim_request request = {.topology = topology, .workload = &workload};
    struct sim_windows windows;
    struct sim_result result;
    double exposed_us = 0;

    assert_int_equal(model_workload_read(*state, "phi-2-fsdp", NULL, 0,
                                         topology, &workload, &errors),
                     MODEL_OK);
    request.nccl = fixture_nccl(*state, topology, &workload);
    result = fixture_simulate(*state, &request);
    windows = sim_windows_make(*state, &request, &result);
    assert_int_equal(windows.count, 3);
    for (int i = 0; i < 3; i++) {
        exposed_us += windows.list[i].exposed_us;
        assert_int_equal(windows.list[i].count, i == 0 ? 1 : 32);
    }
    assert_near(exposed_us, result.exposed_comm_us, 1e-3);
    for (int i = 0; i < windows.part_count; i++) {
        const struct sim_part *part = &windows.parts[i];

        assert_near(sim_lost_sum_us(&part->lost),
                    part->time_us - part->alone_us, 1e-2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_cover_each_moment_once),
        cmocka_unit_test(the_longer_side_binds),
        cmocka_unit_test(rounds_follow_from_loads_and_sms),
        cmocka_unit_test(holdings_add_up),
        cmocka_unit_test(a_window_of_two_ops),
        cmocka_unit_test(waiting_for_the_first_sm_is_told),
        cmocka_unit_test(equal_ops_and_instances_are_found),
        cmocka_unit_test(one_odd_part_does_not_hide_the_instances),
        cmocka_unit_test(what_kernels_of_other_windows_hide_is_not_exposed),
        cmocka_unit_test(the_pace_is_taken_over_all_ops),
        cmocka_unit_test(exposure_adds_up_on_phi_2),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
