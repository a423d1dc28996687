/*
 * test_predict.c - predictions of measured rows are what a simulation of an
 * equal workload says.
 */
#include "validate/predict.h"

#include "tests/unit/fixture.h"

#define HEAD                                                                   \
    "nodes,gpus,collective,size_bytes,time_us,nccl_version,nchannels,"         \
    "nthreads,algo,proto,notes,computation,computation_us\n"

struct predicted {
    struct validate_records records;
    struct validate_predictor *predictor;
    struct validate_prediction *rows;
    struct model_arena *scratch;
};

static struct validate_records *read_text(struct model_arena *arena,
                                          const char *text)
{
    struct fixture_file file = fixture_file_open(text);
    struct validate_records *records =
        model_arena_alloc(arena, sizeof(*records));
    struct model_errors errors = {.arena = arena};

    (void)validate_records_read(arena, model_arena_text(arena, file.path),
                                records, &errors);
    fixture_file_close(&file);
    fixture_no_errors(&errors);
    return records;
}

/* The predictions of all rows. The scratch arena is the test's own. */
static struct validate_prediction *predict(struct model_arena *arena,
                                           const char *text,
                                           const char *const *sets,
                                           int set_count)
{
    struct validate_records *records = read_text(arena, text);
    struct model_errors errors = {.arena = arena};
    struct model_arena *scratch = model_arena_new();
    struct validate_prediction *rows =
        model_arena_array(arena, (size_t)records->count, sizeof(*rows));
    struct validate_predictor *predictor;

    assert_non_null(scratch);
    (void)validate_predictor_make(arena, records, NULL, &predictor, &errors);
    fixture_no_errors(&errors);
    (void)validate_predict(predictor, sets, set_count, NULL, scratch, rows,
                           &errors);
    fixture_no_errors(&errors);
    for (int i = 0; i < records->count; i++) {
        if (rows[i].left_out) {
            rows[i].reason = model_arena_text(arena, rows[i].reason);
        }
    }
    model_arena_free(scratch);
    return rows;
}

static struct sim_result simulate(struct model_arena *arena,
                                  const char *topology,
                                  const char *const *sets,
                                  int set_count,
                                  const char *workload,
                                  bool all_ranks)
{
    struct model_topology *machine =
        fixture_topology(arena, topology, sets, set_count);
    struct model_workload *ops = fixture_workload(arena, machine, workload);
    struct sim_request request = {.topology = machine,
                                  .workload = ops,
                                  .nccl = fixture_nccl(arena, machine, ops),
                                  .all_ranks = all_ranks,
                                  .seed = 1};

    return fixture_simulate(arena, &request);
}

static double time_of(const struct sim_result *result, int op)
{
    return result->ops[op].end_us - result->ops[op].start_us;
}

/* Each row has the op before it in the workload, too: none is the first. */
static void test_rows_back_to_back(void **state)
{
    static const char *const sets[] = {"nodes=2", "nccl.version=2.30"};
    struct validate_prediction *rows = predict(
        *state,
        HEAD "2,16,all_reduce,1048576,9,2.27.3,,,,,topology=dgx-h100,,\n"
             "2,16,all_gather,67108864,9,2.27.3,4,256,ring,simple,"
             "topology=dgx-h100 chunk_bytes=131072,,\n",
        NULL, 0);
    struct sim_result result =
        simulate(*state, "dgx-h100", sets, 2,
                 "name: x\nops:\n"
                 "  - {id: w, kind: all_reduce, size: 1 MiB}\n"
                 "  - {id: a, kind: all_reduce, size: 1 MiB}\n"
                 "  - {id: b, kind: all_gather, size: 64 MiB, channels: 4,\n"
                 "     threads: 256, algorithm: ring, protocol: simple,\n"
                 "     chunk: 128 KiB}\n",
                 false);

    assert_false(rows[0].left_out);
    assert_near(rows[0].time_us, time_of(&result, 1), 1e-6);
    assert_near(rows[1].time_us, time_of(&result, 2), 1e-6);
    assert_true(model_config_equal(&rows[0].config, &result.ops[1].config));
    assert_int_equal(rows[1].config.channels, 4);
    assert_near(rows[1].moving_us, result.ops[2].move->moving_us, 1e-6);
    assert_near(rows[1].computation_us, 0.0, 0.0);
}

/* 2 of 8 GPUs. */
static void test_part_of_a_node(void **state)
{
    static const char *const sets[] = {"nccl.version=2.30"};
    struct validate_prediction *rows = predict(
        *state,
        HEAD "1,2,all_reduce,1048576,9,2.29.7,,,,,topology=hgx-b300,,\n", NULL,
        0);
    struct sim_result result =
        simulate(*state, "hgx-b300", sets, 1,
                 "name: x\ngroups: {part: [0, 1]}\nops:\n"
                 "  - {id: w, kind: all_reduce, size: 1 MiB, group: part}\n"
                 "  - {id: a, kind: all_reduce, size: 1 MiB, group: part}\n",
                 true);

    assert_near(rows[0].time_us, time_of(&result, 1), 1e-6);
}

/* Both begin at once; the collective's stream goes first. */
static void test_with_computation(void **state)
{
    struct validate_prediction *rows =
        predict(*state,
                HEAD "1,8,all_gather,268435456,9,,,,,,topology=dgx-h100-1node,"
                     "\"{kind: gemm, m: 8192, n: 8192, k: 8192}\",9\n"
                     "1,8,,,,,,,,,topology=dgx-h100-1node,"
                     "\"{kind: gemm, m: 8192, n: 8192, k: 8192}\",9\n",
                NULL, 0);
    struct sim_result both =
        simulate(*state, "dgx-h100-1node", NULL, 0,
                 "name: x\nops:\n"
                 "  - {id: g, kind: gemm, m: 8192, n: 8192, k: 8192}\n"
                 "  - {id: a, kind: all_gather, size: 256 MiB}\n",
                 false);
    struct sim_result alone = simulate(
        *state, "dgx-h100-1node", NULL, 0,
        "name: x\nops: [{id: g, kind: gemm, m: 8192, n: 8192, k: 8192}]\n",
        false);

    assert_near(rows[0].computation_us, time_of(&both, 0), 1e-6);
    assert_near(rows[0].time_us, time_of(&both, 1), 1e-6);
    assert_near(rows[1].computation_us, time_of(&alone, 0), 1e-6);
    assert_near(rows[1].time_us, 0.0, 0.0);
    assert_true(rows[0].computation_us > rows[1].computation_us);
}

static void test_overrides(void **state)
{
    static const char *const sets[] = {"gpu.channel.sync=9 us"};
    const char *text =
        HEAD "1,8,all_reduce,1048576,9,,,,ring,simple,topology=dgx-a100,,\n";

    assert_true(predict(*state, text, sets, 1)->time_us >
                predict(*state, text, NULL, 0)->time_us + 9.0);
}

static void
check_reason(struct model_arena *arena, const char *row, const char *part)
{
    struct validate_prediction *rows =
        predict(arena, model_arena_format(arena, HEAD "%s\n", row), NULL, 0);

    if (!rows[0].left_out) {
        fail_msg("%s: not left out", row);
    }
    if (strstr(rows[0].reason, part) == NULL) {
        fail_msg("%s: %s", row, rows[0].reason);
    }
}

static void test_leaves_out(void **state)
{
    check_reason(*state, "1,8,all_reduce,8,9,,,,,,,,", "no topology is named");
    check_reason(*state, "1,8,all_reduce,8,9,,,,,,topology=nowhere,,",
                 "no topology nowhere");
    check_reason(*state, "1,16,all_reduce,8,9,,,,,,topology=dgx-a100,,",
                 "16 GPUs a node, dgx-a100 has 8");
    check_reason(*state, "2,16,all_reduce,8,9,,,,,,topology=hgx-b300,,",
                 "hgx-b300 with 2 nodes: several nodes but no NIC");
    check_reason(*state, "1,8,all_gather,8,9,,,,tree,,topology=dgx-a100,,",
                 "does not do this kind");
    check_reason(*state, "1,8,,,,,,,,,topology=dgx-a100,{kind: gem},9", "gem");
}

/* The one that cannot run does not take the others with it. */
static void test_leaves_out_one(void **state)
{
    struct validate_prediction *rows =
        predict(*state,
                HEAD "1,8,all_gather,1048576,9,,,,tree,,topology=dgx-a100,,\n"
                     "1,8,all_gather,1048576,9,,,,ring,,topology=dgx-a100,,\n",
                NULL, 0);

    assert_true(rows[0].left_out);
    assert_false(rows[1].left_out);
    assert_true(rows[1].time_us > 0.0);
}

/* A row's time does not depend on which others are asked for; others stay. */
static void test_wanted(void **state)
{
    struct validate_records *records = read_text(
        *state, HEAD "1,8,all_reduce,65536,9,,,,,,topology=dgx-a100,,\n"
                     "1,8,all_reduce,1048576,9,,,,,,topology=dgx-a100,,\n"
                     "1,8,all_reduce,67108864,9,,,,,,topology=dgx-a100,,\n");
    static const bool wanted[] = {false, true, false};
    struct model_errors errors = {.arena = *state};
    struct model_arena *scratch = model_arena_new();
    struct validate_predictor *predictor;
    struct validate_prediction all[3];
    struct validate_prediction some[3] = {{.time_us = 7.0}, {.time_us = 0.0}};

    assert_non_null(scratch);
    (void)validate_predictor_make(*state, records, NULL, &predictor, &errors);
    (void)validate_predict(predictor, NULL, 0, NULL, scratch, all, &errors);
    (void)validate_predict(predictor, NULL, 0, wanted, scratch, some, &errors);
    fixture_no_errors(&errors);
    assert_near(some[1].time_us, all[1].time_us, 1e-6);
    assert_near(some[0].time_us, 7.0, 0.0);
    model_arena_free(scratch);
}

static void test_faults(void **state)
{
    struct fixture_file file =
        fixture_file_open("name: x\ngpu: a100\nnodez: 1\n");
    struct validate_records *records =
        read_text(*state, HEAD "1,8,all_reduce,8,9,,,,,,topology=dgx-a100,,\n");
    static const char *const sets[] = {"gpu.channel.sinc=1 us"};
    struct model_errors errors = {.arena = *state};
    struct model_errors faults = {.arena = *state};
    struct validate_prediction row;
    struct model_arena *scratch = model_arena_new();
    struct validate_predictor *predictor;

    assert_non_null(scratch);
    assert_int_equal(validate_predictor_make(*state, records, file.path,
                                             &predictor, &errors),
                     MODEL_BAD_INPUT);
    fixture_expect_error(&errors, "nodez", "unknown key");
    fixture_file_close(&file);
    (void)validate_predictor_make(*state, records, NULL, &predictor, &faults);
    fixture_no_errors(&faults);
    assert_int_equal(
        validate_predict(predictor, sets, 1, NULL, scratch, &row, &faults),
        MODEL_BAD_INPUT);
    fixture_expect_error(&faults, "gpu.channel.sinc", "unknown key");
    model_arena_free(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows_back_to_back),
                                       cmocka_unit_test(test_part_of_a_node),
                                       cmocka_unit_test(test_with_computation),
                                       cmocka_unit_test(test_overrides),
                                       cmocka_unit_test(test_leaves_out),
                                       cmocka_unit_test(test_leaves_out_one),
                                       cmocka_unit_test(test_wanted),
                                       cmocka_unit_test(test_faults)};

    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
