/*
 * searching.h - what the tests of search/ share: problems from topologies and
 * workloads, strategies run on closed forms whose outcome is known, and the
 * same strategies on the simulator.
 *
 * A form is an evaluator whose times are functions of the configurations; it
 * keeps a log of all it was asked, so that a test can follow the way that a
 * strategy took and not only where it ended.
 */
#ifndef TESTS_SEARCHING_H
#define TESTS_SEARCHING_H

#include "search/space.h"
#include "search/strategy.h"

#include "tests/unit/fixture.h"

/* -- problems -- */

static inline struct search_problem *
problem_of(struct model_arena *arena,
           const struct model_topology *topology,
           const struct model_workload *workload)
{
    struct search_problem *problem = model_arena_alloc(arena, sizeof *problem);

    search_problem_make(arena, fixture_nccl(arena, topology, workload),
                        problem);
    return problem;
}

static inline struct model_workload *
shipped(struct model_arena *arena,
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

/* -- strategies on closed forms -- */

enum { LOG_MAX = 1000, CLASSES_MAX = 2 };

/* An evaluator whose times are functions of the configurations. */
struct form {
    const struct search_problem *problem;
    double (*x_us)(int class_index, const struct model_config *config);
    double (*y_us)(const struct model_config *configs);
    struct model_config log[LOG_MAX][CLASSES_MAX];
    int calls;
    int repeats;                   /* of a candidate; 0: one */
    struct search_reading reading; /* of lagom */
};

static inline enum model_status evaluate_form(void *context,
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
static inline struct form *
make_form(struct model_arena *arena,
          int classes,
          double (*x_us)(int, const struct model_config *),
          double (*y_us)(const struct model_config *))
{
    static const char *const seen[] = {"nccl.observed.channels=24",
                                       "nccl.observed.source=a test"};
    const struct model_topology *topology =
        fixture_topology(arena, "1x8 gpu:a40 nvswitch", seen, 2);
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

/* Run a strategy on a form; budget 0: its own. */
static inline struct search_outcome
search_form_within(struct model_arena *arena,
                   struct form *form,
                   const char *name,
                   uint64_t seed,
                   int budget)
{
    struct model_errors errors = {.arena = arena};
    struct search_evaluator evaluator = {.evaluate = evaluate_form,
                                         .context = form};
    struct search_task task = {.arena = arena,
                               .problem = form->problem,
                               .evaluator = &evaluator,
                               .errors = &errors,
                               .seed = seed,
                               .repeats = form->repeats,
                               .budget = budget,
                               .reading = &form->reading};
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

static inline struct search_outcome search_form(struct model_arena *arena,
                                                struct form *form,
                                                const char *name,
                                                uint64_t seed)
{
    return search_form_within(arena, form, name, seed, 0);
}

static inline double x_of_10(int class_index, const struct model_config *config)
{
    (void)class_index;
    (void)config;
    return 10;
}

/* Falls with every raise of the chunk, from 1,302,083 us to 477 us. */
static inline double x_by_chunk(int class_index,
                                const struct model_config *config)
{
    (void)class_index;
    return 1e9 / config->chunk_bytes;
}

/* Least at chunks of 500,000 bytes. */
static inline double x_with_a_valley(int class_index,
                                     const struct model_config *config)
{
    (void)class_index;
    return 1000 + fabs(config->chunk_bytes - 500000) / 100;
}

static inline double y_of_5000(const struct model_config *configs)
{
    (void)configs;
    return 5000;
}

static inline double y_of_0(const struct model_config *configs)
{
    (void)configs;
    return 0;
}

/* Only the first class costs computation: 1000 us per 768 bytes of chunk. */
static inline double y_by_first_chunk(const struct model_config *configs)
{
    return configs[0].chunk_bytes / 768 * 1000;
}

/* 1 channel, 96 threads, 96 x 8 bytes. */
static inline void is_least(const struct model_config *config)
{
    assert_int_equal(config->channels, 1);
    assert_int_equal(config->threads, 96);
    assert_near(config->chunk_bytes, 768, 0);
    assert_true(model_config_is_complete(config));
}

/* -- strategies on the simulator -- */

struct tuned {
    const struct search_problem *problem;
    struct search_outcome outcome;
    struct search_measure measure; /* of the outcome */
};

/* Run a strategy on the simulator and measure its outcome; reading: of lagom.
 */
static inline struct tuned tune_as(struct model_arena *arena,
                                   const struct model_topology *topology,
                                   const struct model_workload *w,
                                   const char *name,
                                   uint64_t seed,
                                   const struct search_reading *reading)
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
                               .seed = seed,
                               .reading = reading};
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

static inline struct tuned tune(struct model_arena *arena,
                                const struct model_topology *topology,
                                const struct model_workload *w,
                                const char *name,
                                uint64_t seed)
{
    return tune_as(arena, topology, w, name, seed, NULL);
}

/* An AllGather beside one GEMM, on 8 H100. */
static inline struct tuned tune_pair(struct model_arena *arena,
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

/* Both were asked for the same settings of class 0 in the same order. */
static inline bool search_form_same_log(const struct form *a,
                                        const struct form *b)
{
    for (int i = 0; i < a->calls && i < b->calls; i++) {
        if (!model_config_equal(&a->log[i][0], &b->log[i][0])) {
            return false;
        }
    }
    return a->calls == b->calls;
}

#endif
