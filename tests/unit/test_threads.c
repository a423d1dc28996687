/*
 * test_threads.c - simulations side by side, each in its own thread, give what
 * one alone gives. `make BUILD=tsan check` watches them for races.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/fixture.h"

#include "sim/sim.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_do_not_meet),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
