/*
 * test_threads.c - simulations side by side, each in its own thread, give what
 * one alone gives; so do searches. `make BUILD=tsan threads` watches them for
 * races.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/fixture.h"

#include "search/tuned.h"

#include <pthread.h>

enum { THREADS = 4, RUNS = 8 };

/* What one thread shares with the others (inputs) and keeps (results). */
struct worker {
    const struct sim_request *request;
    pthread_t thread;
    uint64_t fingerprints[RUNS];
};

static uint64_t simulate(const struct sim_request *request)
{
    struct model_arena *arena = model_arena_new();
    struct model_errors errors = {.arena = arena};
    struct sim_result result = {.fingerprint = 0};
    struct sim *sim = sim_new(arena, request, &errors);

    if (sim != NULL && sim_run(sim, &result, &errors) != MODEL_OK) {
        result.fingerprint = 0;
    }
    model_arena_free(arena);
    return result.fingerprint;
}

static void *work(void *context)
{
    struct worker *worker = context;

    for (int i = 0; i < RUNS; i++) {
        worker->fingerprints[i] = simulate(worker->request);
    }
    return NULL;
}

static void threads_do_not_meet(void **state)
{
    const struct model_topology *topology =
        fixture_topology(*state, "lagom-a-1node", NULL, 0);
    struct model_workload workload;
    struct model_errors errors = {.arena = *state};
    struct sim_request request = {.topology = topology, .workload = &workload};
    struct worker workers[THREADS];
    uint64_t alone;

    assert_int_equal(model_workload_read(*state, "phi-2-fsdp", NULL, 0,
                                         topology, &workload, &errors),
                     MODEL_OK);
    request.nccl = fixture_nccl(*state, topology, &workload);
    alone = simulate(&request);
    assert_true(alone != 0);
    for (int i = 0; i < THREADS; i++) {
        workers[i].request = &request;
        assert_int_equal(
            pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        for (int j = 0; j < RUNS; j++) {
            assert_true(workers[i].fingerprints[j] == alone);
        }
    }
}

/* -- searches -- */

/* Strategies that draw at random and that do not, on the same input. */
struct searcher {
    const struct sim_input *input;
    pthread_t thread;
    double iteration_us[3];
    int evaluations[3];
    enum model_status status;
};

static void *search(void *context)
{
    static const char *const names[] = {"autoccl", "lagom", "anneal"};
    struct searcher *searcher = context;
    struct model_arena *arena = model_arena_new();
    struct model_errors errors = {.arena = arena};
    struct sim_cli cli = {.arena = arena, .errors = &errors, .log = stderr};
    struct search_entry entries[3];
    struct search_tuned tuned[3];
    struct search_tuned *list[] = {&tuned[0], &tuned[1], &tuned[2]};

    cli.options.quiet = true;
    cli.options.seed = 1;
    cli.options.budget = 20;
    for (int i = 0; i < 3; i++) {
        entries[i] = (struct search_entry){
            search_strategy_find(names[i], &errors), 0, 1};
    }
    searcher->status =
        search_tune_all(&cli, searcher->input, "", entries, 3, list);
    for (int i = 0; i < 3; i++) {
        searcher->iteration_us[i] = tuned[i].times.iteration_us;
        searcher->evaluations[i] = tuned[i].outcome.evaluations;
    }
    model_arena_free(arena);
    return NULL;
}

static void searches_do_not_meet(void **state)
{
    const struct model_topology *topology =
        fixture_topology(*state, "lagom-a-1node", NULL, 0);
    struct sim_input input = {
        .topology = *topology,
        .workload = *fixture_workload(
            *state, topology,
            "name: w\n"
            "ops:\n"
            "  - {id: a, kind: all_gather, size: 64 MiB}\n"
            "  - {id: b, kind: all_reduce, size: 32 MiB}\n"
            "  - {id: g, kind: gemm, m: 8192, n: 8192, k: 8192}\n")};
    struct searcher alone = {.input = &input};
    struct searcher together[THREADS];

    input.nccl = *fixture_nccl(*state, &input.topology, &input.workload);
    (void)search(&alone);
    assert_int_equal(alone.status, MODEL_OK);
    for (int i = 0; i < THREADS; i++) {
        together[i] = (struct searcher){.input = &input};
        assert_int_equal(
            pthread_create(&together[i].thread, NULL, search, &together[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(together[i].thread, NULL), 0);
        assert_int_equal(together[i].status, MODEL_OK);
        for (int j = 0; j < 3; j++) {
            assert_near(together[i].iteration_us[j], alone.iteration_us[j], 0);
            assert_int_equal(together[i].evaluations[j], alone.evaluations[j]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(searches_do_not_meet),
        cmocka_unit_test(threads_do_not_meet),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
