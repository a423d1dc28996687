/*
 * test_threads.c - simulations side by side, each in its own thread, give what
 * one alone gives; so do searches and predictions of records. `make BUILD=tsan
 * threads` watches them for races.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/fixture.h"

#include "search/tuned.h"
#include "validate/predict.h"

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

/* -- predictions of records -- */

enum { ROWS = 4 };

struct predictor {
    const struct validate_predictor *predictor;
    const char *const *sets;
    pthread_t thread;
    struct validate_prediction rows[ROWS];
};

static void *predict(void *context)
{
    struct predictor *it = context;
    struct model_arena *scratch = model_arena_new();
    struct model_errors errors = {.arena = scratch};

    for (int i = 0; scratch != NULL && i < RUNS; i++) {
        errors = (struct model_errors){.arena = scratch};
        (void)validate_predict(it->predictor, it->sets, 1, NULL, scratch,
                               it->rows, &errors);
    }
    model_arena_free(scratch);
    return NULL;
}

static void predictions_do_not_meet(void **state)
{
    struct fixture_file file = fixture_file_open(
        "nodes,gpus,collective,size_bytes,time_us,notes,computation,"
        "computation_us\n"
        "1,8,all_reduce,1048576,9,topology=dgx-a100,,\n"
        "1,4,all_gather,1048576,9,topology=dgx-a100,,\n"
        "4,32,all_reduce,67108864,9,topology=dgx-h100,,\n"
        "1,8,all_gather,67108864,9,topology=dgx-h100,"
        "\"{kind: gemm, m: 4096, n: 4096, k: 4096}\",9\n");
    static const char *const sets[][1] = {{"gpu.channel.sync=0.2 us"},
                                          {"gpu.channel.sync=0.4 us"},
                                          {"gpu.channel.sync=0.6 us"},
                                          {"gpu.channel.sync=0.8 us"}};
    struct validate_records records = {.count = 0};
    struct model_errors errors = {.arena = *state};
    struct validate_predictor *predictor;
    struct predictor alone[THREADS];
    struct predictor together[THREADS];

    (void)validate_records_read(*state, file.path, &records, &errors);
    fixture_file_close(&file);
    (void)validate_predictor_make(*state, &records, NULL, &predictor, &errors);
    fixture_no_errors(&errors);
    for (int i = 0; i < THREADS; i++) {
        alone[i] = (struct predictor){.predictor = predictor, .sets = sets[i]};
        together[i] = alone[i];
        (void)predict(&alone[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(
            pthread_create(&together[i].thread, NULL, predict, &together[i]),
            0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(together[i].thread, NULL), 0);
        for (int j = 0; j < ROWS; j++) {
            assert_true(alone[i].rows[j].time_us > 0.0);
            assert_near(together[i].rows[j].time_us, alone[i].rows[j].time_us,
                        0);
            assert_near(together[i].rows[j].computation_us,
                        alone[i].rows[j].computation_us, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(searches_do_not_meet),
        cmocka_unit_test(threads_do_not_meet),
        cmocka_unit_test(predictions_do_not_meet),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
