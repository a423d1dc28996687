/*
 * test_problem.c - what is searched: the classes and windows of a workload, the
 * plan that gives each class its configuration, the measure that sums by class
 * and window, the space of configurations, and the bound that none can beat.
 */
#include "search/bound.h"

#include "tests/unit/searching.h"

#include <string.h>

/* -- classes and windows -- */

/*
 * Phi-2: the root's AllGather and ReduceScatter, 500 MiB, once, each beside
 * nothing; a layer's, 150 MiB, 32 times: gathered forward and backward, reduced
 * backward. Forward the first AllGather is beside the embedding alone, the
 * other 31 are beside layers 0 .. 30. Backward {AllGather l-1, ReduceScatter
 * l+1 | l} holds for layers 30 .. 1; the last layer's AllGather is beside the
 * head, the one before beside the last layer without a ReduceScatter, the
 * ReduceScatter of layer 1 beside layer 0 without an AllGather, and that of
 * layer 0 beside nothing. All of these join the classes of their kind and
 * label.
 */
static void classes_of_phi_2(void **state)
{
    static const struct {
        const char *window, *label;
        int kind;
        double bytes;
        int count, instances;
    } rows[] = {
        {"root 1", "root", MODEL_OP_ALL_GATHER, 524288000, 1, 1},
        {"forward", "forward", MODEL_OP_ALL_GATHER, 157286400, 32, 31},
        {"backward", "backward", MODEL_OP_ALL_GATHER, 157286400, 32, 30},
        {"backward", "backward", MODEL_OP_REDUCE_SCATTER, 157286400, 32, 30},
        {"root 2", "root", MODEL_OP_REDUCE_SCATTER, 524288000, 1, 1},
    };
    const struct model_topology *topology =
        fixture_topology(*state, "lagom-a-1node", NULL, 0);
    const struct model_workload *w = shipped(*state, topology, "phi-2-fsdp");
    const struct search_problem *problem = problem_of(*state, topology, w);

    assert_int_equal(problem->class_count, 5);
    assert_int_equal(problem->window_count, 4);
    assert_int_equal(problem->row_count, 5);
    for (int i = 0; i < 5; i++) {
        const struct search_class *part = &problem->classes[i];

        assert_string_equal(part->window, rows[i].window);
        assert_int_equal(part->kind, rows[i].kind);
        assert_near(part->bytes, rows[i].bytes, 0);
        assert_int_equal(part->op_count, rows[i].count);
        assert_string_equal(problem->windows[part->window_index],
                            rows[i].window);
        assert_int_equal(problem->instances[part->window_index],
                         rows[i].instances);
        assert_null(problem->rows[i].row.op);
        assert_string_equal(problem->rows[i].row.window, rows[i].label);
    }
    for (int i = 0; i < w->op_count; i++) {
        int class_index = problem->class_of[i];

        assert_int_equal(class_index >= 0, model_op_is_collective(&w->ops[i]));
        if (class_index >= 0) {
            assert_int_equal(problem->classes[class_index].kind,
                             w->ops[i].kind);
            assert_string_equal(rows[class_index].label, w->ops[i].window);
        }
        if (strncmp(w->ops[i].id, "optimizer", 9) == 0 ||
            strstr(w->ops[i].id, "head") != NULL) {
            int beside = problem->beside_of[i];

            assert_true(beside < 0 || problem->beside[beside].window < 0);
        }
    }
    /* what NCCL does on A (test_nccl.c) */
    assert_int_equal(problem->classes[0].baseline.channels, 8);
    assert_int_equal(problem->classes[0].baseline.threads, 512);
}

/* Labels as windows, for reports: root, forward, backward; all ops in one. */
static void windows_may_be_the_labels(void **state)
{
    const struct model_topology *topology =
        fixture_topology(*state, "lagom-a-1node", NULL, 0);
    const struct model_workload *w = shipped(*state, topology, "phi-2-fsdp");
    struct search_problem *problem = problem_of(*state, topology, w);

    search_problem_label(*state, problem);
    assert_int_equal(problem->window_count, 3);
    for (int i = 0; i < w->op_count; i++) {
        assert_string_equal(problem->windows[problem->window_of[i]],
                            w->ops[i].window);
    }
}

#define FIXED                                                                  \
    "algorithm: ring, protocol: simple, transport: p2p, channels: 2, "         \
    "threads: 96, chunk: 64 KiB"

/* What is fixed in all settings is not searched; what is fixed in some is. */
static void fixed_collectives_have_no_class(void **state)
{
    const struct model_topology *topology =
        fixture_topology(*state, "1x8 gpu:h100 nvswitch", NULL, 0);
    const struct model_workload *w = fixture_workload(
        *state, topology,
        "name: w\n"
        "ops:\n"
        "  - {id: a, kind: all_gather, size: 1 MB, " FIXED "}\n"
        "  - {id: b, kind: all_gather, size: 1 MB, channels: 2}\n"
        "  - {id: c, kind: all_gather, size: 2 MB}\n"
        "  - {id: d, kind: all_gather, size: 1 MB}\n"
        "  - {id: e, kind: all_gather, size: 1 MB, group: node}\n");
    const struct search_problem *problem = problem_of(*state, topology, w);

    assert_int_equal(problem->class_of[0], -1);
    assert_int_equal(problem->class_of[1], 0);
    assert_int_equal(problem->class_of[2], 1); /* another size */
    assert_int_equal(problem->class_of[3], 2); /* not fixed as b is */
    assert_int_equal(problem->class_of[4], 3); /* another group */
    assert_int_equal(problem->class_count, 4);
}

/* -- plans and measures -- */

/* Each op gets the configuration of its class, no other's. */
static void a_plan_gives_each_class_its_own(void **state)
{
    const struct model_topology *topology =
        fixture_topology(*state, "1x8 gpu:h100 nvswitch", NULL, 0);
    const struct model_workload *w = fixture_workload(
        *state, topology,
        "name: w\n"
        "ops:\n"
        "  - {id: a, kind: all_gather, size: 1 MB, window: x}\n"
        "  - {id: b, kind: all_gather, size: 1 MB, window: y}\n"
        "  - {id: c, kind: reduce_scatter, size: 1 MB, window: y}\n"
        "  - {id: d, kind: all_gather, size: 1.5 MB, window: y}\n"
        "  - {id: e, kind: all_gather, size: 1 MB, window: y, group: node}\n"
        "  - {id: f, kind: all_gather, size: 1 MB, window: x}\n");
    const struct search_problem *problem = problem_of(*state, topology, w);
    struct model_config configs[5];
    struct model_plan plan;

    assert_int_equal(problem->class_count, 5);
    for (int i = 0; i < 5; i++) {
        configs[i] = problem->classes[0].baseline;
        configs[i].channels = i + 1;
    }
    plan = search_plan(*state, problem, configs, "test");
    assert_string_equal(plan.strategy, "test");
    for (int i = 0; i < w->op_count; i++) {
        const struct model_plan_row *row =
            model_plan_find(&plan, w, &w->ops[i]);

        assert_non_null(row);
        assert_int_equal(row->config.channels, problem->class_of[i] + 1);
    }
}

/*
 * The same where the first class has no window: a row without a window matches
 * every window, and the first match counts.
 */
static void a_plan_knows_ops_without_a_window(void **state)
{
    const struct model_topology *topology =
        fixture_topology(*state, "1x8 gpu:h100 nvswitch", NULL, 0);
    const struct model_workload *w = fixture_workload(
        *state, topology,
        "name: w\n"
        "ops:\n"
        "  - {id: a, kind: all_gather, size: 1 MB}\n"
        "  - {id: b, kind: all_gather, size: 1 MB, window: y}\n");
    const struct search_problem *problem = problem_of(*state, topology, w);
    struct model_config configs[2] = {problem->classes[0].baseline,
                                      problem->classes[0].baseline};
    struct model_plan plan;

    configs[0].channels = 1;
    configs[1].channels = 2;
    plan = search_plan(*state, problem, configs, NULL);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(model_plan_find(&plan, w, &w->ops[i])->config.channels,
                         problem->class_of[i] + 1);
    }
}

/*
 * x: AllGathers of 10 and 30 us (class 0, mean 20), a ReduceScatter of 7,
 * beside a GEMM of 100 us: X = 47, Y = 100. The last AllGather waits for the
 * GEMM and has nothing to tune: it is in no window.
 */
static void a_measure_sums_by_class_and_window(void **state)
{
    const struct model_topology *topology =
        fixture_topology(*state, "1x8 gpu:h100 nvswitch", NULL, 0);
    const struct model_workload *w = fixture_workload(
        *state, topology,
        "name: w\n"
        "ops:\n"
        "  - {id: a, kind: all_gather, size: 1 MB, window: x}\n"
        "  - {id: g, kind: gemm, m: 1, n: 1, k: 1, window: x}\n"
        "  - {id: b, kind: all_gather, size: 1 MB, window: x}\n"
        "  - {id: r, kind: reduce_scatter, size: 1 MB, window: x}\n"
        "  - {id: f, kind: all_gather, size: 1 MB, after: [g], " FIXED "}\n");
    const struct sim_op_result ops[] = {
        {.op = 0, .start_us = 0, .end_us = 10},
        {.op = 1, .start_us = 50, .end_us = 150},
        {.op = 2, .start_us = 100, .end_us = 130},
        {.op = 3, .start_us = 130, .end_us = 137},
        {.op = 4, .start_us = 200, .end_us = 205}};
    const struct sim_result result = {
        .iteration_us = 205, .rank_count = 1, .ops = ops, .op_count = 5};
    const struct search_problem *problem = problem_of(*state, topology, w);
    struct search_measure measure;

    search_measure_make(*state, problem, &measure);
    for (int again = 0; again < 2; again++) { /* filling starts anew */
        search_measure_fill(problem, &result, &measure);
        assert_near(measure.iteration_us, 205, 0);
        assert_int_equal(problem->class_count, 2);
        assert_near(measure.x_us[0], 20, 1e-12);
        assert_near(measure.x_us[1], 7, 1e-12);
        assert_near(measure.comm_us[0], 47, 1e-12);
        assert_near(measure.kernel_us[0], 100, 1e-12);
        assert_int_equal(problem->window_count, 1);
    }
}

/* -- the bound -- */

/*
 * Two streams on the tiny machine: a, b of 30 and 10 us (25 and 10 CTAs), c
 * of 10. With 5 us launch each: 35 + 15 = 50, and 15. The larger bounds.
 */
static void the_bound_sums_kernels_alone(void **state)
{
    const struct model_topology *topology = fixture_tiny(*state, NULL, 0);
    const struct model_workload *w = fixture_workload(
        *state, topology,
        "name: w\n"
        "ops:\n"
        "  - {id: a, kind: kernel, ctas: 25, flops: 250 MFLOP}\n"
        "  - {id: b, kind: kernel, ctas: 10, flops: 100 MFLOP}\n"
        "  - {id: c, kind: kernel, ctas: 10, flops: 100 MFLOP, stream: two}\n"
        "  - {id: r, kind: all_gather, size: 1 GB, " FIXED "}\n");

    assert_near(search_bound_us(*state, problem_of(*state, topology, w)), 50,
                1e-5);
}

static void expect_bound_holds(struct model_arena *arena,
                               const struct model_topology *topology,
                               const struct model_workload *w)
{
    double bound_us = search_bound_us(arena, problem_of(arena, topology, w));
    struct sim_request request = {.topology = topology,
                                  .workload = w,
                                  .nccl = fixture_nccl(arena, topology, w)};
    struct sim_result result = fixture_simulate(arena, &request);

    if (result.iteration_us < bound_us) {
        fail_msg("the iteration takes %.9g us, its bound is %.9g us",
                 result.iteration_us, bound_us);
    }
}

static void no_iteration_beats_the_bound(void **state)
{
    static const char *const names[] = {"phi-2-fsdp", "case-c1-one-wave"};

    for (int i = 0; i < 2; i++) {
        const struct model_topology *topology = fixture_topology(
            *state, i == 0 ? "lagom-a-1node" : "1x8 gpu:h100 nvswitch", NULL,
            0);

        expect_bound_holds(*state, topology,
                           shipped(*state, topology, names[i]));
    }
}

/*
 * A kernel can be faster in company. 25 CTAs of 10 us arithmetic and 15,000
 * bytes each, at 10,000 bytes/us of HBM for all. Alone: two waves of 10, each
 * max(10, 15) us, and one of 5, max(10, 7.5): 40 us, and 5 for the launch.
 * Beside a collective of one channel that moves next to nothing (1 byte/us, 5
 * of HBM, for 100 us) it has 9 SMs: waves of 9, 9 and 7: 13.5, 13.5
 * and 10.5: 37.5 us, so that three of them take less than 3 x 45.
 */
static void the_bound_knows_kernels_that_gain_in_company(void **state)
{
    static const char *const sets[] = {"gpu.hbm.rate=10 GB/s",
                                       "gpu.channel.rate=1 MB/s"};
    const struct model_topology *topology = fixture_tiny(*state, sets, 2);
    const struct model_workload *w = fixture_workload(
        *state, topology,
        "name: w\n"
        "ops:\n"
        "  - {id: a, kind: all_gather, size: 200 B, algorithm: ring, "
        "protocol: simple, transport: p2p, channels: 1, threads: 96, "
        "chunk: 1 KiB}\n"
        "  - {id: k, kind: kernel, ctas: 25, flops: 250 MFLOP, hbm: 375 kB, "
        "repeat: 3}\n");

    expect_bound_holds(*state, topology, w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_of_phi_2),
        cmocka_unit_test(windows_may_be_the_labels),
        cmocka_unit_test(fixed_collectives_have_no_class),
        cmocka_unit_test(a_plan_gives_each_class_its_own),
        cmocka_unit_test(a_plan_knows_ops_without_a_window),
        cmocka_unit_test(a_measure_sums_by_class_and_window),
        cmocka_unit_test(the_bound_sums_kernels_alone),
        cmocka_unit_test(no_iteration_beats_the_bound),
        cmocka_unit_test(the_bound_knows_kernels_that_gain_in_company),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
