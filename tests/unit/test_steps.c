/*
 * test_steps.c - iterations of many equal steps: which of them are listed, and
 * that sums and times which weigh the listed ones by what they stand for are
 * those of all steps simulated.
 *
 * Each step begins when nothing of the one before runs any more. So the weighed
 * result is not only near: times are sums of the same whole picoseconds, and
 * what differs is the rounding of doubles.
 */
#include "model/transformer.h"
#include "search/bound.h"
#include "search/evaluator.h"
#include "search/explain.h"

#include "tests/unit/lowered.h"

static const double SAME = 1e-12;

/* A workload twice: with the steps it lists, and with all. */
struct pair {
    const struct model_topology *topology;
    const struct model_workload *few, *all;
};

static struct pair pair_of(struct model_arena *arena,
                           const struct model_topology *topology,
                           const char *name,
                           const char *sets[4])
{
    int count = 0;
    struct pair pair = {.topology = topology};

    while (count < 3 && sets[count] != NULL) {
        count++;
    }
    pair.few = lowered_read(arena, topology, name, sets, count);
    sets[count] = "batch.simulate=all";
    pair.all = lowered_read(arena, topology, name, sets, count + 1);
    assert_int_equal(pair.all->cycle.steps, 0);
    return pair;
}

static struct sim_result simulate(struct model_arena *arena,
                                  const struct pair *pair,
                                  const struct model_workload *w,
                                  bool all_ranks)
{
    struct sim_request request = {.topology = pair->topology,
                                  .workload = w,
                                  .nccl =
                                      fixture_nccl(arena, pair->topology, w),
                                  .all_ranks = all_ranks};

    return fixture_simulate(arena, &request);
}

/* -- what is listed -- */

/*
 * Phi-2 on one node: 512 sequences in 64 steps of 8. Listed are steps 0 to 2
 * and 63; step 2 stands for 2 to 62, which is 61. Four steps or fewer are all
 * there.
 */
static void a_step_stands_for_equal_ones(void **state)
{
    const struct model_topology *topology =
        fixture_topology(*state, "lagom-a-1node", NULL, 0);
    const struct model_workload *w =
        lowered_read(*state, topology, "phi-2-tp", NULL, 0);
    const struct model_cycle *cycle = &w->cycle;
    int last = fixture_op(w, "step63.embed.embed");

    assert_int_equal(cycle->steps, 64);
    assert_int_equal(cycle->repeats, 61);
    assert_int_equal(cycle->first, fixture_op(w, "step2.embed.embed"));
    assert_int_equal(cycle->end, last);
    assert_int_equal(cycle->end - cycle->first,
                     cycle->first - fixture_op(w, "step1.embed.embed"));
    assert_near(model_workload_repeats(w, cycle->first - 1), 1, 0);
    assert_near(model_workload_repeats(w, cycle->first), 61, 0);
    assert_near(model_workload_repeats(w, cycle->end - 1), 61, 0);
    assert_near(model_workload_repeats(w, last), 1, 0);
    for (int i = cycle->first; i < cycle->end; i++) {
        const struct model_op *op = &w->ops[i];
        const struct model_op *before = op - (cycle->end - cycle->first);

        assert_int_equal(op->kind, before->kind);
        assert_int_equal(op->stream, before->stream);
        assert_int_equal(op->after_count, before->after_count);
        for (int j = 0; j < op->after_count; j++) {
            assert_int_equal(op->after[j] - i,
                             before->after[j] - (int)(before - w->ops));
        }
    }
}

/* 512 sequences over 2 replicas that take 8 a step each: 32 steps. */
static void steps_follow_from_a_global_batch(void **state)
{
    static const struct {
        const char *machine, *name, *set;
        int steps;
    } rows[] = {
        {"lagom-a-1node", "phi-2-tp", NULL, 64},
        {"lagom-a", "phi-2-tp", NULL, 32},
        {"lagom-a-1node", "llama-3-8b-tp", NULL, 64},
        {"lagom-b", "llama-3-8b-tp", NULL, 32},
        {"lagom-b-1node", "mpt-7b-tp", NULL, 128},
        {"lagom-b", "mpt-7b-tp", NULL, 64},
        /* Of the command line's and the file's the former counts. */
        {"lagom-a", "phi-2-tp", "batch.steps=5", 5},
        {"lagom-a", "phi-2-fsdp", "batch.global=192", 6},
    };

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        const char *sets[] = {"model.layers=1", rows[i].set};
        const struct model_workload *w = lowered_read(
            *state, fixture_topology(*state, rows[i].machine, NULL, 0),
            rows[i].name, sets, rows[i].set == NULL ? 1 : 2);

        assert_int_equal(w->cycle.steps, rows[i].steps);
        assert_int_equal(w->cycle.repeats, rows[i].steps - 3);
    }
}

static void few_steps_are_all_listed(void **state)
{
    static const char *const jitter[] = {"variation.jitter=2%"};
    const char *sets[] = {"model.layers=1", "batch.steps=4"};
    const struct model_topology *topology =
        fixture_topology(*state, "lagom-a", NULL, 0);
    const struct model_workload *w =
        lowered_read(*state, topology, "phi-2-tp", sets, 2);

    assert_int_equal(w->cycle.end, 0);
    (void)fixture_op(w, "step3.embed.embed");
    /* With jitter no two steps are alike. */
    sets[1] = "batch.steps=9";
    w = lowered_read(*state, fixture_topology(*state, "lagom-a", jitter, 1),
                     "phi-2-tp", sets, 2);
    assert_int_equal(w->cycle.end, 0);
    (void)fixture_op(w, "step7.embed.embed");
}

static void bad_batches_are_refused(void **state)
{
    static const struct {
        const char *set, *key, *message;
    } rows[] = {
        {"batch={micro: 8, sequence: 128}", "batch.steps", "is missing"},
        {"batch={micro: 8, steps: 2, global: 256, sequence: 128}",
         "batch.global", "there are steps, too"},
        {"batch.global=24", "batch.global",
         "24 sequences do not divide over 2 replicas with 8 a step"},
        {"batch.global=8", "batch.global", "do not divide"},
        {"batch.steps=0", "batch.steps", "out of range"},
        {"batch.simulate=some", "batch.simulate", "some"},
    };

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct model_errors errors = {.arena = *state};
        struct model_workload w;

        assert_int_equal(
            model_workload_read(*state, "phi-2-tp", &rows[i].set, 1,
                                fixture_topology(*state, "lagom-a", NULL, 0),
                                &w, &errors),
            MODEL_BAD_INPUT);
        fixture_expect_error(&errors, rows[i].key, rows[i].message);
    }
}

/* -- times -- */

static void same_result(const struct sim_result *few,
                        const struct sim_result *all)
{
    assert_near_ratio(few->iteration_us, all->iteration_us, SAME);
    assert_near_ratio(few->compute_us, all->compute_us, SAME);
    assert_near_ratio(few->comm_us, all->comm_us, SAME);
    assert_near_ratio(few->exposed_comm_us, all->exposed_comm_us, SAME);
    assert_true(few->events < all->events);
    assert_int_equal(few->resource_count, all->resource_count);
    for (int i = 0; i < few->resource_count; i++) {
        assert_int_equal(few->resources[i].resource,
                         all->resources[i].resource);
        assert_near_ratio(few->resources[i].busy_ratio,
                          all->resources[i].busy_ratio, 1e-9);
    }
}

static void times_are_those_of_all_steps(void **state)
{
    static const struct {
        const char *machine, *name, *steps, *layers;
        bool all_ranks;
    } rows[] = {
        {"lagom-a", "phi-2-tp", "batch.steps=12", "model.layers=2", false},
        {"lagom-a", "phi-2-tp", "batch.steps=12", "model.layers=2", true},
        {"lagom-b", "llama-3-8b-tp", "batch.steps=16", "model.layers=32",
         false},
        {"lagom-a-1node", "mpt-7b-tp", "batch.steps=5", "model.layers=4", true},
        {"lagom-b", "phi-2-fsdp", "batch.steps=12", "model.layers=8", false},
        {"lagom-a", "olmoe-1b-7b-ep", "batch.steps=7", "model.layers=4", false},
    };

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        const char *sets[4] = {rows[i].steps, rows[i].layers};
        struct pair pair =
            pair_of(*state, fixture_topology(*state, rows[i].machine, NULL, 0),
                    rows[i].name, sets);
        struct sim_result few =
            simulate(*state, &pair, pair.few, rows[i].all_ranks);
        struct sim_result all =
            simulate(*state, &pair, pair.all, rows[i].all_ranks);

        same_result(&few, &all);
    }
}

/*
 * Where the CPU sets the pace, each step takes its launches: with 1 ms for
 * each, the kernels of 12 steps do not matter.
 */
static void launches_may_set_the_pace(void **state)
{
    static const char *const slow[] = {"gpu.launch.interval=1 ms"};
    const char *sets[4] = {"batch.steps=12", "model.layers=2",
                           "batch.sequence=128"};
    struct pair pair = pair_of(
        *state, fixture_topology(*state, "lagom-a", slow, 1), "phi-2-tp", sets);
    struct sim_result few = simulate(*state, &pair, pair.few, false);
    struct sim_result all = simulate(*state, &pair, pair.all, false);
    double step_us = 1000.0 * (pair.few->cycle.end - pair.few->cycle.first);
    struct search_problem problem;

    assert_near(few.steady.to_us - few.steady.from_us, step_us, 1e-6);
    same_result(&few, &all);
    /* the bound knows it: no plan is faster than all launches but the last */
    search_problem_make(*state, fixture_nccl(*state, pair.topology, pair.few),
                        &problem);
    assert_true(search_bound_us(*state, &problem) >=
                1000.0 * (pair.all->op_count - 1) * (1 - 1e-6));
}

/* -- sums -- */

static void windows_are_those_of_all_steps(void **state)
{
    const char *sets[4] = {"batch.steps=9", "model.layers=3"};
    struct pair pair = pair_of(
        *state, fixture_topology(*state, "lagom-a", NULL, 0), "phi-2-tp", sets);
    struct sim_windows windows[2];

    for (int i = 0; i < 2; i++) {
        const struct model_workload *w = i == 0 ? pair.few : pair.all;
        struct sim_request request = {
            .topology = pair.topology,
            .workload = w,
            .nccl = fixture_nccl(*state, pair.topology, w)};
        struct sim_result result = fixture_simulate(*state, &request);

        windows[i] = sim_windows_make(*state, &request, &result);
    }
    assert_int_equal(windows[0].count, windows[1].count);
    for (int i = 0; i < windows[0].count; i++) {
        const struct sim_window *few = &windows[0].list[i];
        const struct sim_window *all = &windows[1].list[i];

        assert_int_equal(few->count, all->count);
        assert_int_equal(few->kernels.op_count, all->kernels.op_count);
        assert_near_ratio(few->total_us, all->total_us, 1e-9);
        assert_near_ratio(few->both_us, all->both_us, 1e-9);
        assert_near_ratio(few->kernels.covered_us, all->kernels.covered_us,
                          1e-9);
        assert_near_ratio(few->collectives.covered_us,
                          all->collectives.covered_us, 1e-9);
        assert_near(few->exposed_us, all->exposed_us, 1e-3);
        assert_near_ratio(few->kernels.time_us, all->kernels.time_us, 1e-9);
        assert_near_ratio(few->collectives.alone_us, all->collectives.alone_us,
                          1e-9);
        assert_near(sim_lost_sum_us(&few->kernels.lost),
                    sim_lost_sum_us(&all->kernels.lost), 1e-3);
    }
    assert_int_equal(windows[0].part_count, windows[1].part_count);
    for (int i = 0; i < windows[0].part_count; i++) {
        const struct sim_part *few = &windows[0].parts[i];
        const struct sim_part *all = &windows[1].parts[i];

        assert_int_equal(few->count, all->count);
        assert_near_ratio(few->hbm_bytes, all->hbm_bytes, 1e-9);
        assert_near(few->beside_us, all->beside_us, 1e-3);
        assert_near_ratio(few->wire_bytes, all->wire_bytes, 1e-9);
        assert_near(few->limited_us, all->limited_us, 1e-3);
    }
}

/* X, Y and mean times of both evaluators, and the bound. */
static void a_search_sees_all_steps(void **state)
{
    const char *sets[4] = {"batch.steps=9", "model.layers=3"};
    struct pair pair = pair_of(
        *state, fixture_topology(*state, "lagom-a", NULL, 0), "phi-2-tp", sets);
    struct model_arena *scratch = model_arena_new();
    struct model_plan none = {.row_count = 0};

    assert_non_null(scratch);
    for (int i = 0; !search_evaluators[i].measures; i++) {
        struct search_measure measures[2];
        struct search_problem problems[2];

        for (int j = 0; j < 2; j++) {
            struct search_evaluator evaluator;
            struct model_errors errors = {.arena = *state};

            search_problem_make(*state,
                                fixture_nccl(*state, pair.topology,
                                             j == 0 ? pair.few : pair.all),
                                &problems[j]);
            search_measure_make(*state, &problems[j], &measures[j]);
            assert_int_equal(search_evaluators[i].open(*state, scratch,
                                                       &problems[j], NULL,
                                                       &evaluator, &errors),
                             MODEL_OK);
            assert_int_equal(
                search_evaluate(&evaluator, &none, &measures[j], &errors),
                MODEL_OK);
        }
        assert_near_ratio(search_bound_us(*state, &problems[0]),
                          search_bound_us(*state, &problems[1]), SAME);
        assert_near_ratio(measures[0].iteration_us, measures[1].iteration_us,
                          SAME);
        assert_int_equal(problems[0].class_count, problems[1].class_count);
        for (int j = 0; j < problems[0].class_count; j++) {
            assert_int_equal(problems[0].classes[j].op_count,
                             problems[1].classes[j].op_count);
            assert_near_ratio(measures[0].x_us[j], measures[1].x_us[j], 1e-9);
        }
        assert_int_equal(problems[0].window_count, problems[1].window_count);
        for (int j = 0; j < problems[0].window_count; j++) {
            assert_int_equal(problems[0].instances[j],
                             problems[1].instances[j]);
            assert_near_ratio(measures[0].comm_us[j], measures[1].comm_us[j],
                              1e-9);
            assert_near_ratio(measures[0].kernel_us[j],
                              measures[1].kernel_us[j], 1e-9);
        }
    }
    model_arena_free(scratch);
}

/* Without its collectives a workload keeps its cycle. */
static void free_collectives_of_all_steps(void **state)
{
    const char *sets[4] = {"batch.steps=9", "model.layers=3"};
    struct pair pair = pair_of(
        *state, fixture_topology(*state, "lagom-a", NULL, 0), "phi-2-tp", sets);
    struct model_workload few = search_without_collectives(*state, pair.few);
    struct model_workload all = search_without_collectives(*state, pair.all);

    assert_near_ratio(simulate(*state, &pair, &few, false).iteration_us,
                      simulate(*state, &pair, &all, false).iteration_us, SAME);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_stands_for_equal_ones),
        cmocka_unit_test(steps_follow_from_a_global_batch),
        cmocka_unit_test(few_steps_are_all_listed),
        cmocka_unit_test(bad_batches_are_refused),
        cmocka_unit_test(times_are_those_of_all_steps),
        cmocka_unit_test(launches_may_set_the_pace),
        cmocka_unit_test(windows_are_those_of_all_steps),
        cmocka_unit_test(a_search_sees_all_steps),
        cmocka_unit_test(free_collectives_of_all_steps),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
