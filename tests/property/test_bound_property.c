/*
 * test_bound_property.c - no simulated plan beats the bound: random machines
 * and workloads, whose collectives have random algorithms, protocols,
 * transports, channels, threads and chunks.
 */
#include "search/bound.h"
#include "search/least.h"
#include "search/strategy.h"
#include "search/surrogate.h"

#include "tests/property/random_cases.h"

static struct search_problem problem_of(struct bench *bench,
                                        const struct model_topology *t,
                                        const struct model_workload *w)
{
    struct search_problem problem;

    search_problem_make(bench->arena, fixture_nccl(bench->arena, t, w),
                        &problem);
    return problem;
}

/* HUGE_VAL where the wiring rules the algorithm out. */
static double simulated_us(struct bench *bench,
                           const struct model_topology *t,
                           const struct model_workload *w)
{
    struct sim_request request = {.topology = t, .workload = w};
    struct model_errors errors = {.arena = bench->arena};
    struct sim_result result;
    struct sim *sim = sim_new(bench->arena, &request, &errors);

    if (sim == NULL) {
        return HUGE_VAL;
    }
    assert_int_equal(sim_run(sim, &result, &errors), MODEL_OK);
    return result.iteration_us;
}

static void no_plan_beats_the_bound(void **state)
{
    struct bench bench = bench_start(41);
    double closest = 0.0;

    (void)state;
    for (int i = 0; i < 4 * bench.cases; i++) {
        struct model_topology *t = random_machine(&bench);
        struct model_workload *w =
            random_workload(&bench, t, 1 + pick(&bench, STREAMS_MAX));
        struct search_problem problem = problem_of(&bench, t, w);
        double bound_us = search_bound_us(bench.arena, &problem);
        double us = simulated_us(&bench, t, w);

        if (bound_us > us) {
            fail_msg("case %d: bound %.6f, simulated %.6f", i, bound_us, us);
        }
        closest = fmax(closest, bound_us / us);
        model_arena_reset(bench.arena);
    }
    /* that of a lone kernel is exact: it could not be larger */
    assert_true(closest > 0.999);
    bench_end(&bench);
}

/* Another algorithm that runs on this machine, where one is drawn. */
static void draw_algorithm(struct bench *bench,
                           const struct model_topology *t,
                           struct model_op *op)
{
    struct model_config config = op->config;
    int algorithm = pick(bench, MODEL_ALGORITHMS);

    config.algorithm = algorithm;
    if (algorithm == MODEL_NVLS || algorithm == MODEL_PAT ||
        algorithm == MODEL_COPY_ENGINE) {
        config.protocol = MODEL_SIMPLE;
    }
    if (op->group == 1 &&
        model_collective_runs(model_op_collective(op),
                              (enum model_algorithm)algorithm) &&
        model_collective_fault(t, model_op_collective(op), &config) == NULL) {
        op->config = config;
    }
}

/* Collectives alone: each with its own least time, in any algorithm. */
static void no_collective_beats_its_own(void **state)
{
    struct bench bench = bench_start(42);

    (void)state;
    for (int i = 0; i < 8 * bench.cases; i++) {
        struct model_topology *t = random_machine(&bench);
        struct model_builder builder;
        struct model_workload *w = empty_workload(&bench, t, 1, &builder);
        struct model_op op = {.id = "op", .config = model_config_none()};
        struct search_problem problem;
        double bound_us;
        double us;

        random_collective(&bench, t, &op);
        draw_algorithm(&bench, t, &op);
        (void)model_builder_add(&builder, &op);
        problem = problem_of(&bench, t, w);
        bound_us = search_bound_collective_us(&problem, &w->ops[0]);
        us = simulated_us(&bench, t, w);
        if (bound_us > us) {
            fail_msg("case %d: bound %.6f, simulated %.6f, kind %s, %s", i,
                     bound_us, us, model_op_names[op.kind],
                     model_algorithm_names[op.config.algorithm]);
        }
        model_arena_reset(bench.arena);
    }
    bench_end(&bench);
}

/* What a plan whose classes have those options takes. */
static double plan_us(struct bench *bench,
                      const struct search_problem *problem,
                      const struct model_config *configs)
{
    struct model_errors errors = {.arena = bench->arena};
    struct search_simulator simulator = {.problem = problem,
                                         .scratch = model_arena_new()};
    struct search_evaluator evaluator = search_simulate(&simulator);
    struct search_task task = {.arena = bench->arena,
                               .problem = problem,
                               .evaluator = &evaluator,
                               .errors = &errors};
    double us;

    assert_int_equal(search_iteration_us(&task, configs, &us), MODEL_OK);
    model_arena_free(simulator.scratch);
    return us;
}

/*
 * Kernels on one stream, collectives on another, any options of theirs: the way
 * through the ops with what each collective takes alone is never longer than
 * what is simulated, and none is faster than the least of its space.
 */
static void no_collective_is_faster_in_company(void **state)
{
    struct bench bench = bench_start(44);
    struct model_arena *scratch = model_arena_new();
    struct model_arena *other = model_arena_new();

    (void)state;
    for (int i = 0; i < bench.cases / 2; i++) {
        struct model_topology *t = random_machine(&bench);
        struct model_workload *w = random_overlaps(&bench, t);
        struct search_problem problem = problem_of(&bench, t, w);
        struct search_surrogate *surrogate =
            search_surrogate_new(bench.arena, scratch, &problem);
        struct search_bound *bound = search_bound_new(bench.arena, &problem);
        const double *least_us = search_least_us(bench.arena, other, &problem);
        struct model_config configs[OPS_MAX];
        double alone_us[OPS_MAX];

        for (int plan = 0; plan < 4; plan++) {
            double bound_us;
            double us;

            for (int k = 0; k < problem.class_count; k++) {
                int option =
                    pick(&bench, search_surrogate_options(surrogate, k));

                configs[k] = *search_surrogate_config(surrogate, k, option);
                alone_us[k] = search_surrogate_alone_us(surrogate, k, option);
                assert_true(least_us[k] <= alone_us[k] * (1 + 1e-12));
            }
            bound_us = search_bound_given_us(bound, alone_us);
            us = plan_us(&bench, &problem, configs);
            if (bound_us > us) {
                fail_msg("case %d: bound %.6f, simulated %.6f", i, bound_us,
                         us);
            }
        }
        model_arena_reset(bench.arena);
    }
    model_arena_free(scratch);
    model_arena_free(other);
    bench_end(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_plan_beats_the_bound),
        cmocka_unit_test(no_collective_beats_its_own),
        cmocka_unit_test(no_collective_is_faster_in_company),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
