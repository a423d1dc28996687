/*
 * test_search.c - classes and windows, the space of configurations, and the
 * strategies: on the simulator, and on closed forms whose outcome is known.
 */
#include "search/bound.h"
#include "search/space.h"
#include "search/strategy.h"

#include "tests/unit/fixture.h"

/* -- classes and windows -- */

static struct search_problem *problem_of(struct model_arena *arena,
                                         const struct model_topology *topology,
                                         const struct model_workload *workload)
{
    struct search_problem *problem = model_arena_alloc(arena, sizeof *problem);
    struct model_errors errors = {.arena = arena};

    assert_int_equal(
        search_problem_make(arena, topology, workload, problem, &errors),
        MODEL_OK);
    fixture_no_errors(&errors);
    return problem;
}

static struct model_workload *shipped(struct model_arena *arena,
                                      const struct model_topology *topology,
                                      const char *name)
{
    struct model_workload *w = model_arena_alloc(arena, sizeof *w);
    struct model_errors errors = {.arena = arena};

    assert_int_equal(
        model_workload_read(arena, name, NULL, 0, topology, w, &errors),
        MODEL_OK);
    return w;
}

/*
 * Phi-2: the root's AllGather and ReduceScatter, 500 MiB, once; a layer's, 150
 * MiB, 32 times: gathered forward and backward, reduced backward.
 */
static void classes_of_phi_2(void **state)
{
    static const struct {
        const char *window;
        int kind;
        double bytes;
        int count;
    } rows[] = {
        {"root", MODEL_OP_ALL_GATHER, 524288000, 1},
        {"forward", MODEL_OP_ALL_GATHER, 157286400, 32},
        {"backward", MODEL_OP_ALL_GATHER, 157286400, 32},
        {"backward", MODEL_OP_REDUCE_SCATTER, 157286400, 32},
        {"root", MODEL_OP_REDUCE_SCATTER, 524288000, 1},
    };
    const struct model_topology *topology =
        fixture_topology(*state, "lagom-a-1node", NULL, 0);
    const struct model_workload *w = shipped(*state, topology, "phi-2-fsdp");
    const struct search_problem *problem = problem_of(*state, topology, w);

    assert_int_equal(problem->class_count, 5);
    assert_int_equal(problem->window_count, 3);
    for (int i = 0; i < 5; i++) {
        const struct search_class *part = &problem->classes[i];

        assert_string_equal(part->window, rows[i].window);
        assert_int_equal(part->kind, rows[i].kind);
        assert_near(part->bytes, rows[i].bytes, 0);
        assert_int_equal(part->op_count, rows[i].count);
        assert_string_equal(problem->windows[part->window_index],
                            rows[i].window);
    }
    for (int i = 0; i < w->op_count; i++) {
        int class_index = problem->class_of[i];

        assert_string_equal(problem->windows[problem->window_of[i]],
                            w->ops[i].window);
        assert_int_equal(class_index >= 0, model_op_is_collective(&w->ops[i]));
        if (class_index >= 0) {
            assert_int_equal(problem->classes[class_index].kind,
                             w->ops[i].kind);
            assert_string_equal(problem->classes[class_index].window,
                                w->ops[i].window);
        }
    }
    assert_true(
        model_config_equal(&problem->baseline, &topology->observed.config));
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
        configs[i] = problem->baseline;
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
    struct model_config configs[2] = {problem->baseline, problem->baseline};
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
 * x: AllGathers of 10 and 30 us (class 0, mean 20), a ReduceScatter of 7. y: a
 * GEMM of 100 us. Window x: X = 47, Y = 100; window y: X = 5, Y = 0.
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
        "  - {id: f, kind: all_gather, size: 1 MB, window: y, " FIXED "}\n");
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
        assert_near(measure.comm_us[1], 5, 1e-12);
        assert_near(measure.kernel_us[1], 0, 1e-12);
    }
}

/* -- the space -- */

static int subspaces(struct model_arena *arena,
                     const char *notation,
                     struct search_space spaces[MODEL_TRANSPORTS])
{
    const struct model_topology *topology =
        fixture_topology(arena, notation, NULL, 0);
    const struct model_workload *w =
        fixture_workload(arena, topology,
                         "name: w\n"
                         "ops: [{id: a, kind: all_gather, size: 8 MiB}]\n");
    const struct search_problem *problem = problem_of(arena, topology, w);

    return search_subspaces(problem, 8388608, 0, spaces);
}

/* Over PCIe P2P and SHM; where NVLink joins all, P2P alone. */
static void subspaces_are_transports(void **state)
{
    struct search_space spaces[MODEL_TRANSPORTS];

    assert_int_equal(subspaces(*state, "1x8 gpu:a40", spaces), 2);
    assert_int_equal(spaces[0].subspace.transport, MODEL_P2P);
    assert_int_equal(spaces[1].subspace.transport, MODEL_SHM);
    assert_int_equal(spaces[0].subspace.algorithm, MODEL_RING);
    assert_int_equal(spaces[0].subspace.protocol, MODEL_SIMPLE);
    assert_near(spaces[0].count_bytes, 1048576, 0); /* 8 MiB over 8 ranks */
    assert_int_equal(spaces[0].channels_max, 84);   /* SMs of an A40 */
    assert_int_equal(subspaces(*state, "1x8 gpu:a40 nvlink:pairs", spaces), 2);
    assert_int_equal(subspaces(*state, "1x8 gpu:h100 nvswitch", spaces), 1);
    assert_int_equal(spaces[0].subspace.transport, MODEL_P2P);
    assert_int_equal(spaces[0].channels_max, 128); /* of 132 SMs */
    assert_int_equal(subspaces(*state, "1x4 gpu:v100 nvlink:mesh", spaces), 1);
}

/* min(floor(2 MiB / (8 NT)), floor(count / (NC 8 NT))), at least 1 */
static void chunks_are_counted(void **state)
{
    static const struct {
        double count_bytes;
        int channels, threads, chunks;
    } rows[] = {
        {1e12, 1, 96, 2730}, /* 2097152 / 768 = 2730.67 */
        {1e12, 1, 608, 431}, /* 2097152 / 4864 = 431.16 */
        {1e12, 128, 256, 1024},
        {1048576, 8, 256, 64},  /* 1048576 / (8 x 2048) */
        {1048575, 8, 256, 63},  /* just not */
        {1048576, 64, 512, 4},  /* 1048576 / (64 x 4096) */
        {1048576, 128, 608, 1}, /* 1.68 */
        {1000, 128, 608, 1},    /* i = 1 always */
    };

    (void)state;
    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct search_space space = {.count_bytes = rows[i].count_bytes,
                                     .channels_max = 128};

        assert_int_equal(
            search_space_chunks(&space, rows[i].channels, rows[i].threads),
            rows[i].chunks);
    }
}

/*
 * Every (channels, threads): 84 x 17 of them, threads 96, 128 .. 608; of each
 * min(chunks, 24), multiples of 8 NT up to 2 MiB, ascending, with the largest.
 */
static void a_list_keeps_the_rules(void **state)
{
    enum { KEPT = 24 };
    struct search_space spaces[MODEL_TRANSPORTS];
    struct model_config *list;
    int count;
    int at = 0;

    (void)subspaces(*state, "1x8 gpu:a40", spaces);
    count = search_space_list(*state, &spaces[1], KEPT, &list);
    for (int channels = 1; channels <= 84; channels++) {
        for (int threads = 96; threads <= 608; threads += 32) {
            int chunks = search_space_chunks(&spaces[1], channels, threads);
            int kept = chunks < KEPT ? chunks : KEPT;
            double before = 0;

            for (int i = 0; i < kept; i++, at++) {
                double unit = list[at].chunk_bytes / (8.0 * threads);

                assert_true(at < count);
                assert_int_equal(list[at].channels, channels);
                assert_int_equal(list[at].threads, threads);
                assert_int_equal(list[at].transport, MODEL_SHM);
                assert_true(model_config_is_complete(&list[at]));
                assert_near(unit, floor(unit), 0);
                assert_true(unit > before && unit <= chunks);
                before = unit;
            }
            assert_near(before, chunks, 0);
        }
    }
    assert_int_equal(at, count);
}

/* -- strategies on closed forms -- */

enum { LOG_MAX = 1000, CLASSES_MAX = 2 };

/* An evaluator whose times are functions of the configurations. */
struct form {
    const struct search_problem *problem;
    double (*x_us)(int class_index, const struct model_config *config);
    double (*y_us)(const struct model_config *configs);
    struct model_config log[LOG_MAX][CLASSES_MAX];
    int calls;
};

static enum model_status evaluate_form(void *context,
                                       const struct model_plan *plan,
                                       struct search_measure *measure,
                                       struct model_errors *errors)
{
    struct form *form = context;
    struct model_config configs[CLASSES_MAX];

    (void)errors;
    assert_true(form->calls < LOG_MAX);
    assert_int_equal(plan->row_count, form->problem->class_count);
    measure->comm_us[0] = 0;
    for (int i = 0; i < plan->row_count; i++) {
        configs[i] = plan->rows[i].config;
        form->log[form->calls][i] = configs[i];
        measure->x_us[i] = form->x_us(i, &configs[i]);
        measure->comm_us[0] += measure->x_us[i];
    }
    measure->kernel_us[0] = form->y_us(configs);
    measure->iteration_us = fmax(measure->comm_us[0], measure->kernel_us[0]);
    form->calls++;
    return MODEL_OK;
}

/* One window with a GEMM and one or two AllGathers, NVSwitch: one subspace. */
static struct form *make_form(struct model_arena *arena,
                              int classes,
                              double (*x_us)(int, const struct model_config *),
                              double (*y_us)(const struct model_config *))
{
    const struct model_topology *topology =
        fixture_topology(arena, "1x8 gpu:a40 nvswitch", NULL, 0);
    const struct model_workload *w = fixture_workload(
        arena, topology,
        classes == 1 ? "name: w\n"
                       "ops:\n"
                       "  - {id: a, kind: all_gather, size: 2 GiB}\n"
                       "  - {id: g, kind: gemm, m: 1, n: 1, k: 1}\n"
                     : "name: w\n"
                       "ops:\n"
                       "  - {id: a, kind: all_gather, size: 2 GiB}\n"
                       "  - {id: b, kind: all_gather, size: 4 GiB}\n"
                       "  - {id: g, kind: gemm, m: 1, n: 1, k: 1}\n");
    struct form *form = model_arena_alloc(arena, sizeof *form);

    form->problem = problem_of(arena, topology, w);
    form->x_us = x_us;
    form->y_us = y_us;
    assert_int_equal(form->problem->class_count, classes);
    assert_int_equal(form->problem->window_count, 1);
    return form;
}

static struct search_outcome search_form(struct model_arena *arena,
                                         struct form *form,
                                         const char *name,
                                         uint64_t seed)
{
    struct model_errors errors = {.arena = arena};
    struct search_evaluator evaluator = {.evaluate = evaluate_form,
                                         .context = form};
    struct search_task task = {.arena = arena,
                               .problem = form->problem,
                               .evaluator = &evaluator,
                               .errors = &errors,
                               .seed = seed};
    struct search_outcome outcome;

    assert_int_equal(
        search_run(search_strategy_find(name, &errors), &task, &outcome),
        MODEL_OK);
    /* one more for the outcome itself; each call counts once */
    assert_int_equal(outcome.evaluations, form->calls - 1);
    assert_int_equal(evaluator.evaluations, form->calls);
    assert_int_equal(outcome.curve_count, outcome.evaluations);
    for (int i = 0; i < form->problem->class_count; i++) {
        assert_true(model_config_equal(&outcome.configs[i],
                                       &form->log[form->calls - 1][i]));
    }
    return outcome;
}

static double x_of_10(int class_index, const struct model_config *config)
{
    (void)class_index;
    (void)config;
    return 10;
}

/* Falls with every raise of the chunk, from 1,302,083 us to 477 us. */
static double x_by_chunk(int class_index, const struct model_config *config)
{
    (void)class_index;
    return 1e9 / config->chunk_bytes;
}

/* Least at chunks of 500,000 bytes. */
static double x_with_a_valley(int class_index,
                              const struct model_config *config)
{
    (void)class_index;
    return 1000 + fabs(config->chunk_bytes - 500000) / 100;
}

static double y_of_100(const struct model_config *configs)
{
    (void)configs;
    return 100;
}

static double y_of_5000(const struct model_config *configs)
{
    (void)configs;
    return 5000;
}

static double y_of_0(const struct model_config *configs)
{
    (void)configs;
    return 0;
}

/* Only the first class costs computation: 1000 us per 768 bytes of chunk. */
static double y_by_first_chunk(const struct model_config *configs)
{
    return configs[0].chunk_bytes / 768 * 1000;
}

/* 1 channel, 96 threads, 96 x 8 bytes. */
static void is_least(const struct model_config *config)
{
    assert_int_equal(config->channels, 1);
    assert_int_equal(config->threads, 96);
    assert_near(config->chunk_bytes, 768, 0);
    assert_true(model_config_is_complete(config));
}

/*
 * Case 1: communication hides at the least configuration; one look is enough.
 * In all cases the last evaluation is that of NCCL's own configuration.
 */
static void lagom_stays_at_the_least(void **state)
{
    struct form *form = make_form(*state, 1, x_of_10, y_of_100);
    struct search_outcome outcome = search_form(*state, form, "lagom", 1);

    is_least(&outcome.configs[0]);
    assert_int_equal(outcome.evaluations, 1 + 1);
    assert_near(outcome.iteration_us, 100, 0);
}

/* Two classes: each is looked at once. */
static void lagom_looks_at_each_class(void **state)
{
    struct form *form = make_form(*state, 2, x_of_10, y_of_100);
    struct search_outcome outcome = search_form(*state, form, "lagom", 1);

    is_least(&outcome.configs[0]);
    is_least(&outcome.configs[1]);
    assert_int_equal(outcome.evaluations, 2 + 1);
}

/*
 * Case 2: nothing to hide under, each raise helps: up to the largest
 * configuration: 84 SMs, 608 threads, 431 x 608 x 8 bytes.
 */
static void lagom_climbs_to_the_top(void **state)
{
    struct form *form = make_form(*state, 1, x_by_chunk, y_of_0);
    struct search_outcome outcome = search_form(*state, form, "lagom", 1);

    assert_int_equal(outcome.configs[0].channels, 84);
    assert_int_equal(outcome.configs[0].threads, 608);
    assert_near(outcome.configs[0].chunk_bytes, 2096384, 0);
    is_least(&form->log[0][0]);
    for (int i = 1; i < outcome.evaluations - 1; i++) {
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
    for (int i = 1; i < last; i++) {
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
    for (int i = 0; i < last; i++) {
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
    int step = 2;

    assert_near(form->log[0][0].chunk_bytes, 768, 0);
    assert_near(form->log[1][0].chunk_bytes, 27 * 768, 0);
    /* not looked at yet: NCCL's own */
    assert_near(form->log[1][1].chunk_bytes, 2097152, 0);
    while (step < outcome.evaluations &&
           form->log[step][0].chunk_bytes == 27 * 768) {
        step++;
    }
    assert_true(step > 4);
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

    assert_true(
        model_config_equal(&outcome.configs[0], &form->problem->baseline));
    assert_near(outcome.iteration_us, 10, 0);
}

static void nccl_takes_the_baseline(void **state)
{
    struct form *form = make_form(*state, 2, x_by_chunk, y_of_5000);
    struct search_outcome outcome = search_form(*state, form, "nccl", 1);

    assert_int_equal(outcome.evaluations, 0);
    for (int i = 0; i < 2; i++) {
        assert_true(
            model_config_equal(&outcome.configs[i], &form->problem->baseline));
    }
}

static double x_best_at_native(int class_index,
                               const struct model_config *config)
{
    (void)class_index;
    /* NVSwitch: 24 channels of 512 threads, 2 MiB */
    return config->channels == 24 && config->threads == 512 ? 1.0 : 2.0;
}

/* The native configuration is measured first and stays a candidate. */
static void autoccl_keeps_the_native_one(void **state)
{
    struct form *form = make_form(*state, 1, x_best_at_native, y_of_0);
    struct search_outcome outcome = search_form(*state, form, "autoccl", 1);

    assert_true(model_config_equal(&form->log[0][0], &form->problem->baseline));
    assert_int_equal(outcome.configs[0].channels, 24);
    assert_int_equal(outcome.configs[0].threads, 512);
    assert_true(x_best_at_native(0, &outcome.configs[0]) <= 1.0);
}

/*
 * It looks at the collective alone: of all it measured it takes the one with
 * the least x, whatever y is. At most native + 20 + 50 calls.
 */
static void autoccl_takes_the_fastest_it_saw(void **state)
{
    struct form *form = make_form(*state, 1, x_with_a_valley, y_by_first_chunk);
    struct search_outcome outcome = search_form(*state, form, "autoccl", 1);
    double least = HUGE_VAL;

    for (int i = 0; i < outcome.evaluations; i++) {
        least = fmin(least, x_with_a_valley(0, &form->log[i][0]));
    }
    assert_near(x_with_a_valley(0, &outcome.configs[0]), least, 0);
    assert_true(least < x_with_a_valley(0, &form->problem->baseline));
    assert_in_range(outcome.evaluations, 21, 71);
}

/* No candidate twice, all within the space. */
static void autoccl_tries_each_once(void **state)
{
    struct form *form = make_form(*state, 1, x_with_a_valley, y_of_0);
    struct search_outcome outcome = search_form(*state, form, "autoccl", 5);

    for (int i = 1; i < outcome.evaluations; i++) {
        assert_in_range(form->log[i][0].channels, 1, 84);
        assert_in_range(form->log[i][0].threads, 96, 608);
        assert_int_equal(form->log[i][0].threads % 32, 0);
        assert_true(form->log[i][0].chunk_bytes <= 2097152);
        for (int j = 1; j < i; j++) {
            assert_false(
                model_config_equal(&form->log[i][0], &form->log[j][0]));
        }
    }
}

static bool same_log(const struct form *a, const struct form *b)
{
    for (int i = 0; i < a->calls && i < b->calls; i++) {
        if (!model_config_equal(&a->log[i][0], &b->log[i][0])) {
            return false;
        }
    }
    return a->calls == b->calls;
}

/* The same seed takes the same way, another seed another. */
static void seeds_decide(void **state)
{
    struct form *one = make_form(*state, 1, x_with_a_valley, y_of_0);
    struct form *same = make_form(*state, 1, x_with_a_valley, y_of_0);
    struct form *other = make_form(*state, 1, x_with_a_valley, y_of_0);

    (void)search_form(*state, one, "autoccl", 7);
    (void)search_form(*state, same, "autoccl", 7);
    (void)search_form(*state, other, "autoccl", 8);
    assert_true(same_log(one, same));
    assert_false(same_log(one, other));
}

static enum model_status fail_evaluation(void *context,
                                         const struct model_plan *plan,
                                         struct search_measure *measure,
                                         struct model_errors *errors)
{
    int *left = context;

    (void)plan;
    (void)errors;
    for (int i = 0; i < 1; i++) {
        measure->x_us[i] = 1000;
        measure->comm_us[i] = 1000;
        measure->kernel_us[i] = 1;
    }
    return --*left > 0 ? MODEL_OK : MODEL_STUCK;
}

/* A strategy hands on what its evaluator says, and stops there. */
static void failures_are_handed_on(void **state)
{
    const char *const names[] = {"nccl", "autoccl", "lagom"};
    struct form *form = make_form(*state, 1, x_of_10, y_of_0);

    for (int i = 0; i < 3; i++) {
        int left = 1;
        struct model_errors errors = {.arena = *state};
        struct search_evaluator evaluator = {.evaluate = fail_evaluation,
                                             .context = &left};
        struct search_task task = {.arena = *state,
                                   .problem = form->problem,
                                   .evaluator = &evaluator,
                                   .errors = &errors};
        struct search_outcome outcome;

        assert_int_equal(search_run(search_strategy_find(names[i], &errors),
                                    &task, &outcome),
                         MODEL_STUCK);
        assert_int_equal(evaluator.evaluations, 1);
    }
}

static void unknown_strategies_have_a_neighbour(void **state)
{
    struct model_errors errors = {.arena = *state};

    assert_null(search_strategy_find("lagon", &errors));
    assert_int_equal(model_errors_status(&errors), MODEL_USAGE);
    assert_string_equal(errors.list[0].hint, "did you mean \"lagom\"?");
    assert_string_equal(search_strategy_find("nccl", &errors)->name, "nccl");
}

/* -- strategies on the simulator -- */

struct tuned {
    const struct search_problem *problem;
    struct search_outcome outcome;
    struct search_measure measure; /* of the outcome */
};

/* Run a strategy on the simulator and measure its outcome. */
static struct tuned tune(struct model_arena *arena,
                         const struct model_topology *topology,
                         const struct model_workload *w,
                         const char *name,
                         uint64_t seed)
{
    struct model_errors errors = {.arena = arena};
    struct tuned tuned = {.problem = problem_of(arena, topology, w)};
    struct search_simulator simulator = {.problem = tuned.problem,
                                         .scratch = model_arena_new()};
    struct search_evaluator evaluator = search_simulate(&simulator);
    struct search_task task = {.arena = arena,
                               .problem = tuned.problem,
                               .evaluator = &evaluator,
                               .errors = &errors,
                               .seed = seed};
    struct model_plan plan;

    assert_non_null(simulator.scratch);
    assert_int_equal(
        search_run(search_strategy_find(name, &errors), &task, &tuned.outcome),
        MODEL_OK);
    assert_int_equal(evaluator.evaluations, tuned.outcome.evaluations + 1);
    search_measure_make(arena, tuned.problem, &tuned.measure);
    plan = search_plan(arena, tuned.problem, tuned.outcome.configs, name);
    assert_int_equal(
        search_evaluate(&evaluator, &plan, &tuned.measure, &errors), MODEL_OK);
    assert_near(tuned.measure.iteration_us, tuned.outcome.iteration_us, 0);
    model_arena_free(simulator.scratch);
    return tuned;
}

/* An AllGather beside one GEMM, on 8 H100. */
static struct tuned tune_pair(struct model_arena *arena,
                              const char *size,
                              int m,
                              const char *strategy)
{
    const struct model_topology *topology =
        fixture_topology(arena, "1x8 gpu:h100 nvswitch", NULL, 0);
    const struct model_workload *w = fixture_workload(
        arena, topology,
        model_arena_format(arena,
                           "name: w\n"
                           "ops:\n"
                           "  - {id: a, kind: all_gather, size: %s}\n"
                           "  - {id: g, kind: gemm, m: %d, n: 8192, k: 8192}\n",
                           size, m));

    return tune(arena, topology, w, strategy, 1);
}

/* The baseline's time is that of a run without plan on what NCCL chooses. */
static void nccl_is_the_plain_run(void **state)
{
    const struct model_topology *topology =
        fixture_topology(*state, "lagom-a-1node", NULL, 0);
    const struct model_workload *w = shipped(*state, topology, "phi-2-fsdp");
    struct tuned tuned = tune(*state, topology, w, "nccl", 1);
    struct sim_request request = {.topology = topology,
                                  .workload = w,
                                  .fallback = &topology->observed.config};
    struct sim_result result = fixture_simulate(*state, &request);

    assert_near(tuned.outcome.iteration_us, result.iteration_us, 0);
    tuned = tune(*state, topology, w, "lagom", 1);
    assert_true(tuned.outcome.iteration_us < result.iteration_us);
}

/* Tiny beside huge: X < Y at the least configuration, one look at it. */
static void a_tiny_collective_stays_least(void **state)
{
    struct tuned tuned = tune_pair(*state, "64 kB", 65536, "lagom");

    is_least(&tuned.outcome.configs[0]);
    assert_int_equal(tuned.outcome.evaluations, 1 + 1);
    assert_true(tuned.measure.comm_us[0] < tuned.measure.kernel_us[0]);
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

/* AutoCCL's collective is never slower than NCCL's own, which it measured too.
 */
static void autoccl_is_never_slower_than_native(void **state)
{
    static const struct {
        const char *size;
        int m;
    } rows[] = {{"64 kB", 4096}, {"16 MB", 256}, {"1 GB", 4096}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct tuned native =
            tune_pair(*state, rows[i].size, rows[i].m, "nccl");
        struct tuned tuned =
            tune_pair(*state, rows[i].size, rows[i].m, "autoccl");

        assert_true(tuned.measure.x_us[0] <= native.measure.x_us[0]);
    }
}

static void same_seed_same_result(void **state)
{
    static const char *const names[] = {"nccl", "autoccl", "lagom"};
    const struct model_topology *topology =
        fixture_topology(*state, "lagom-b-1node", NULL, 0);
    const struct model_workload *w =
        fixture_workload(*state, topology,
                         "name: w\n"
                         "ops:\n"
                         "  - {id: a, kind: all_gather, size: 80 MB}\n"
                         "  - {id: r, kind: reduce_scatter, size: 80 MB}\n"
                         "  - {id: g, kind: gemm, m: 4096, n: 8192, k: 2560, "
                         "repeat: 4}\n");

    for (int i = 0; i < 3; i++) {
        struct tuned one = tune(*state, topology, w, names[i], 3);
        struct tuned two = tune(*state, topology, w, names[i], 3);

        assert_near(one.outcome.iteration_us, two.outcome.iteration_us, 0);
        assert_int_equal(one.outcome.evaluations, two.outcome.evaluations);
        for (int c = 0; c < one.problem->class_count; c++) {
            assert_true(model_config_equal(&one.outcome.configs[c],
                                           &two.outcome.configs[c]));
        }
    }
}

/* -- the bound
 * ------------------------------------------------------------------ */

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
                                  .fallback = &topology->observed.config};
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
        cmocka_unit_test(fixed_collectives_have_no_class),
        cmocka_unit_test(a_plan_gives_each_class_its_own),
        cmocka_unit_test(a_plan_knows_ops_without_a_window),
        cmocka_unit_test(a_measure_sums_by_class_and_window),
        cmocka_unit_test(subspaces_are_transports),
        cmocka_unit_test(chunks_are_counted),
        cmocka_unit_test(a_list_keeps_the_rules),
        cmocka_unit_test(lagom_stays_at_the_least),
        cmocka_unit_test(lagom_looks_at_each_class),
        cmocka_unit_test(lagom_climbs_to_the_top),
        cmocka_unit_test(lagom_keeps_what_was_before_it_got_worse),
        cmocka_unit_test(lagom_stops_at_the_balance),
        cmocka_unit_test(lagom_raises_what_costs_least),
        cmocka_unit_test(lagom_keeps_the_native_one_when_it_is_best),
        cmocka_unit_test(nccl_takes_the_baseline),
        cmocka_unit_test(autoccl_keeps_the_native_one),
        cmocka_unit_test(autoccl_takes_the_fastest_it_saw),
        cmocka_unit_test(autoccl_tries_each_once),
        cmocka_unit_test(seeds_decide),
        cmocka_unit_test(failures_are_handed_on),
        cmocka_unit_test(unknown_strategies_have_a_neighbour),
        cmocka_unit_test(nccl_is_the_plain_run),
        cmocka_unit_test(a_tiny_collective_stays_least),
        cmocka_unit_test(a_huge_collective_is_sped_up),
        cmocka_unit_test(a_balanced_pair_is_just_hidden),
        cmocka_unit_test(autoccl_is_never_slower_than_native),
        cmocka_unit_test(same_seed_same_result),
        cmocka_unit_test(the_bound_sums_kernels_alone),
        cmocka_unit_test(no_iteration_beats_the_bound),
        cmocka_unit_test(the_bound_knows_kernels_that_gain_in_company),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
