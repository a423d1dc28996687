/*
 * test_replay.c - lagom-replay from its arguments to its output, on a GPU of
 * known times: 1 us for 1e9 flops of a GEMM, or for 1e6 bytes of others.
 */
#include "tests/unit/replay_fake.h"

#include "validate/record.h"
#include "validate/replay/replay.h"

/* What a run printed, and how it ended. */
struct ran {
    char *out, *log;
    enum model_status status;
    struct model_errors errors;
};

enum { WORDS = 24 };

static struct ran run(struct model_arena *arena,
                      const struct replay_driver *driver,
                      int count,
                      char **words)
{
    struct ran ran = {.errors = {.arena = arena}};
    size_t out_bytes, log_bytes;
    char *out = NULL;
    char *log = NULL;
    struct replay_job job = {.driver = driver,
                             .program = "/bin/false",
                             .words = words,
                             .word_count = count,
                             .out = open_memstream(&out, &out_bytes),
                             .log = open_memstream(&log, &log_bytes)};

    fake = (struct replay_device){.ranks = 1};
    ran.status = replay_run(arena, &job, &ran.errors);
    assert_int_equal(fclose(job.out), 0);
    assert_int_equal(fclose(job.log), 0);
    ran.out = model_arena_text(arena, out);
    ran.log = model_arena_text(arena, log);
    free(out);
    free(log);
    assert_false(fake.open);
    return ran;
}

/* With the workload's or sweep's text in the place of "FILE". */
static struct ran run_text(struct model_arena *arena,
                           const struct replay_driver *driver,
                           const char *text,
                           const char *const *words)
{
    struct fixture_file file = fixture_file_open(text);
    char *list[WORDS];
    struct ran ran;
    int count = 0;

    for (; words[count] != NULL; count++) {
        list[count] = model_arena_text(arena, strcmp(words[count], "FILE") == 0
                                                  ? file.path
                                                  : words[count]);
    }
    ran = run(arena, driver, count, list);
    fixture_file_close(&file);
    return ran;
}

/* The records of a run. */
static struct validate_records records_of(struct model_arena *arena,
                                          const char *text)
{
    struct fixture_file file = fixture_file_open(text);
    struct validate_records records = {.count = 0};
    struct model_errors errors = {.arena = arena};

    (void)validate_records_read(arena, file.path, &records, &errors);
    fixture_no_errors(&errors);
    fixture_file_close(&file);
    return records;
}

static const char *record_header(struct model_arena *arena)
{
    char *text = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&text, &bytes);
    const char *header;

    validate_records_header(stream);
    assert_int_equal(fclose(stream), 0);
    header = model_arena_text(arena, text);
    free(text);
    return header;
}

#define ONE "1x1 gpu:h200"

static const char pair[] =
    "name: w\nops:\n"
    "  - {id: g, kind: gemm, m: 1000, n: 1000, k: 500, stream: x}\n"
    "  - {id: s, kind: ring_step, size: 300 MB, channels: 8, threads: 256,"
    " chunk: 128 KiB, stream: y}\n"
    "  - {id: h, kind: gemm, m: 1000, n: 1000, k: 500, stream: x}\n";

/* 2 x 1000 x 1000 x 500 = 1e9 flops: 1 us. 300 MB: 300 us. */
static void test_alone(void **state)
{
    const char *const words[] = {"-t", ONE,  "-w",    "FILE", "-r",
                                 "3",  "-m", "alone", NULL};
    struct ran ran = run_text(*state, &fake_driver, pair, words);
    struct validate_records records;
    const struct validate_record *row;

    fixture_no_errors(&ran.errors);
    assert_int_equal(ran.status, MODEL_OK);
    records = records_of(*state, ran.out);
    assert_int_equal(records.count, 2); /* both GEMMs are one */
    row = &records.rows[0];
    assert_string_equal(row->source, "lagom-replay");
    assert_string_equal(row->hardware, "Fake H200");
    assert_string_equal(row->computation,
                        "{kind: gemm, m: 1000, n: 1000, k: 500, type: bf16}");
    assert_int_equal(row->kind, MODEL_UNSET);
    assert_near(row->computation_us, 1.0, 1e-9);
    assert_string_equal(row->topology, ONE);
    row = &records.rows[1];
    assert_int_equal(row->kind, MODEL_OP_RING_STEP);
    assert_near(row->time_us, 300.0, 1e-9);
    assert_near(row->size_bytes, 300e6, 1e-9);
    assert_int_equal(row->config.channels, 8);
    assert_int_equal(row->config.threads, 256);
    assert_near(row->config.chunk_bytes, 131072.0, 1e-9);
    assert_int_equal(row->gpus, 1);
    assert_int_equal(row->repeats, 3);
    assert_near(row->sm_clock_mhz, 1980.0, 1e-9);
    assert_non_null(strstr(row->notes, "driver=580.1"));
}

/*
 * Both GEMMs run beside the step, and are one point. In the pair the GEMM
 * starts 5 us behind; no time changes in company on this GPU.
 */
static void test_overlap(void **state)
{
    const char *const words[] = {"-t", ONE,  "-w",      "FILE", "-r",
                                 "3",  "-m", "overlap", NULL};
    struct ran ran = run_text(*state, &fake_driver, pair, words);
    struct validate_records records;
    const struct validate_record *row;

    fixture_no_errors(&ran.errors);
    assert_string_equal(ran.log,
                        "lagom-replay: iteration 300.0 us, spread 0.0 us\n");
    records = records_of(*state, ran.out);
    assert_int_equal(records.count, 1);
    row = &records.rows[0];
    assert_int_equal(row->kind, MODEL_OP_RING_STEP);
    assert_near(row->time_us, 300.0, 1e-9);
    assert_near(row->alone_us, 300.0, 1e-9);
    assert_near(row->computation_us, 1.0, 1e-6);
    assert_near(row->computation_alone_us, 1.0, 1e-9);
}

/* Each op by its id. */
static void test_ops(void **state)
{
    const char *const words[] = {"-t", ONE,  "-w",      "FILE",  "-r",
                                 "3",  "-m", "overlap", "--ops", NULL};
    struct ran ran = run_text(*state, &fake_driver, pair, words);

    fixture_no_errors(&ran.errors);
    assert_string_equal(ran.out, "op,stream,start_us,end_us,spread_us\n"
                                 "g,x,0.000,1.000,0.000\n"
                                 "s,y,0.000,300.000,0.000\n"
                                 "h,x,1.000,2.000,0.000\n"
                                 "iteration,,0,300.000,0.000\n");
}

/* One GPU for eight: 7/8 of 80 MB pass. */
static void test_stands_in(void **state)
{
    const char *const words[] = {"-t", "hgx-h200", "-w", "FILE", NULL};
    struct ran ran =
        run_text(*state, &fake_driver,
                 "name: w\nops:\n"
                 "  - {id: a, kind: all_gather, size: 80 MB, channels: 4,"
                 " stream: y}\n",
                 words);
    struct validate_records records;

    fixture_no_errors(&ran.errors);
    assert_non_null(strstr(ran.log, "ring steps stand in for collectives"));
    records = records_of(*state, ran.out);
    assert_int_equal(records.count, 1);
    assert_int_equal(records.rows[0].kind, MODEL_OP_RING_STEP);
    assert_near(records.rows[0].size_bytes, 70e6, 1e-9);
    assert_non_null(strstr(records.rows[0].notes, "stands_for=all_gather"));
}

/*
 * 2 GEMMs x (2 channels x 2 chunks) pairs. The step is to last as long as the
 * GEMM: 1e12 flops are 1000 us, so 1e9 bytes, in whole MiB: 954.
 */
static void test_sweep(void **state)
{
    const char *const words[] = {"-t", ONE, "-w", "FILE", "-m", "sweep", NULL};
    struct ran ran =
        run_text(*state, &fake_driver,
                 "name: w\nsets:\n"
                 "  - ops:\n"
                 "      - {kind: ring_step, size: 64 MiB, threads: 512,"
                 " channels: [1, 4], chunk: [64 KiB, 512 KiB]}\n"
                 "      - - {kind: gemm, m: 10000, n: 10000, k: 5000}\n"
                 "        - {kind: gemm, m: 5000, n: 10000, k: 5000}\n"
                 "    match: true\n"
                 "  - ops: [{kind: kernel, ctas: [1, 2, 4], hbm: 10 MB}]\n",
                 words);
    struct validate_records records;

    fixture_no_errors(&ran.errors);
    records = records_of(*state, ran.out);
    assert_int_equal(records.count, 2 * 4 + 3);
    assert_near(records.rows[0].size_bytes, 954.0 * 1048576.0, 1e-6);
    assert_near(records.rows[0].computation_alone_us, 1000.0, 1e-6);
    assert_int_equal(records.rows[1].config.channels, 1);
    assert_near(records.rows[1].config.chunk_bytes, 524288.0, 1e-9);
    assert_int_equal(records.rows[2].config.channels, 4);
    assert_near(records.rows[4].computation_alone_us, 500.0, 1e-6);
    assert_string_equal(records.rows[9].computation,
                        "{kind: kernel, ctas: 2, hbm: 10 MB}");
    /* Buffers are those of one point at a time. */
    assert_int_equal(fake.work_count, 0);
}

/* A curve has a header of its own: 100 MB at 1e6 bytes/us are 100 us. */
static void test_curve(void **state)
{
    const char *const words[] = {"-t", ONE, "-w", "FILE", "-m", "sweep", NULL};
    struct ran ran = run_text(*state, &fake_driver,
                              "name: w\nsets:\n"
                              "  - ops: [{kind: memory, hbm: 100 MB}]\n"
                              "    working_set: [1 MiB, 4 MiB]\n",
                              words);

    fixture_no_errors(&ran.errors);
    assert_string_equal(
        ran.out,
        "hardware,ctas,working_set_bytes,bytes,time_us,spread_us,GBps,repeats,"
        "sm_clock_mhz\n"
        "Fake H200,0,1048576,100000000,100.000,0.000,1000.0,20,1980\n"
        "Fake H200,0,4194304,100000000,100.000,0.000,1000.0,20,1980\n");
}

static void test_bad_sweeps(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"sets: [{ops: [{kind: gemm, m: 4, n: 4, k: []}]}]", "empty list"},
        {"sets: [{ops: []}]", "not a list of one op or two"},
        {"sets: [{ops: [{kind: gemm, m: 4, n: 4}]}]", "k"},
        {"sets: [{ops: [{kind: gemm, m: 4, n: 4, k: 4},"
         " {kind: memory, hbm: 1 MB}]}]",
         "a pair is a collective and a computation"},
        {"sets: [{ops: [{kind: gemm, m: 4, n: 4, k: 4}],"
         " working_set: 1 MiB}]",
         "only memory and kernels"},
        {"sets: [{ops: [{kind: memory, hbm: 1 MB}], macth: true}]", "macth"}};
    const char *const words[] = {"-t", ONE, "-w", "FILE", "-m", "sweep", NULL};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        char text[256];
        struct ran ran;
        const struct model_error *first;

        (void)snprintf(text, sizeof(text), "name: w\n%s\n", rows[i].text);
        ran = run_text(*state, &fake_driver, text, words);
        assert_int_equal(ran.status, MODEL_BAD_INPUT);
        first = &ran.errors.list[0];
        assert_true(strstr(first->message, rows[i].message) != NULL ||
                    strstr(first->key, rows[i].message) != NULL);
        assert_true(first->place.line > 0);
    }
}

/* --- the command line ---------------------------------------------------- */

static void test_usage(void **state)
{
    static const struct {
        const char *words[8];
        const char *message;
    } rows[] = {{{NULL}, "no topology given"},
                {{"-t", ONE, NULL}, "no workload given"},
                {{"--mod", "alone", NULL}, "no such option: --mod"},
                {{"word", NULL}, "not an option: word"},
                {{"-t", NULL}, "a value is missing behind -t"},
                {{"--mode", "along", NULL}, "--mode cannot be along"},
                {{"--repeats", "0", NULL}, "--repeats cannot be 0"},
                {{"--repeats=3x", NULL}, "--repeats cannot be 3x"},
                {{"--quiet=1", NULL}, "takes no value: --quiet=1"},
                {{"-t", ONE, "-w", "w", "--ops", NULL}, "--ops needs a mode"},
                {{"-t", ONE, "-w", "w", "--nodes", "2", NULL},
                 "nodes must find each other"}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct ran ran = run_text(*state, &fake_driver, "", rows[i].words);

        assert_int_equal(ran.status, MODEL_USAGE);
        assert_int_equal(ran.errors.count, 1);
        assert_string_equal(ran.errors.list[0].message, rows[i].message);
    }
}

static void test_help_and_version(void **state)
{
    const char *const help[] = {"-h", NULL};
    const char *const version[] = {"--version", NULL};
    struct ran ran = run_text(*state, &fake_driver, "", help);

    assert_int_equal(ran.status, MODEL_OK);
    assert_non_null(strstr(ran.out, "--self-test"));
    assert_null(strstr(ran.out, "--environment")); /* for itself only */
    ran = run_text(*state, &fake_driver, "", version);
    assert_non_null(strstr(ran.out, "lagom-replay 0."));
}

static int count_none(struct replay_fault *fault)
{
    (void)snprintf(fault->text, sizeof(fault->text), "fake: no driver");
    return 0;
}

static int count_four(struct replay_fault *fault)
{
    (void)fault;
    return 4;
}

/* Exit 5, but faults of the input come first. */
static void test_no_gpu(void **state)
{
    const char *const words[] = {"-t", ONE, "-w", "FILE", NULL};
    struct replay_driver none = fake_driver;
    struct ran ran;

    none.count = count_none;
    ran = run_text(*state, &none, pair, words);
    assert_int_equal(ran.status, MODEL_NO_DEVICE);
    assert_string_equal(ran.errors.list[0].message, "no CUDA device");
    assert_string_equal(ran.errors.list[0].hint, "fake: no driver");
    ran = run_text(*state, &none, "name: w\nops: 3\n", words);
    assert_int_equal(ran.status, MODEL_BAD_INPUT);
}

/* Four GPUs are no eight, and not one either unless that is asked for. */
static void test_too_few_gpus(void **state)
{
    const char *const words[] = {"-t", "hgx-h200", "-w", "FILE", NULL};
    const char *const one[] = {"-t",   "hgx-h200",   "-w",
                               "FILE", "--stand-in", NULL};
    struct replay_driver four = fake_driver;
    struct ran ran;

    four.count = count_four;
    ran = run_text(*state, &four, pair, words);
    assert_int_equal(ran.status, MODEL_NO_DEVICE);
    assert_string_equal(ran.errors.list[0].message,
                        "the topology has 8 GPUs, here are 4");
    ran = run_text(*state, &four, pair, one);
    assert_int_equal(ran.status, MODEL_OK);
}

/*
 * A process that the program runs for rank 1 of 8 and the second set of
 * variables: it measures what is for that set (b), and leaves rows to rank 0.
 */
static void test_one_rank_of_several(void **state)
{
    static const char text[] =
        "name: w\nops:\n"
        "  - {id: a, kind: all_gather, size: 8 MB, stream: x}\n"
        "  - {id: b, kind: all_gather, size: 8 MB, threads: 256, stream: x}\n";
    const char *words[] = {
        "-t",        "hgx-h200",        "-w",       "FILE", "-r", "3",
        "--ranks=8", "--environment=1", "--rank=0", NULL};
    struct ran ran = run_text(*state, &fake_driver, text, words);
    char header[512] = "source,hardware,nodes";
    char whole[2048];

    /* Rank 0 adds rows to what has its header already. */
    fixture_no_errors(&ran.errors);
    assert_null(strstr(ran.out, header));
    (void)snprintf(whole, sizeof(whole), "%s%s", record_header(*state),
                   ran.out);
    assert_int_equal(records_of(*state, whole).count, 1);
    assert_int_equal(records_of(*state, whole).rows[0].config.threads, 256);
    assert_int_equal(records_of(*state, whole).rows[0].gpus, 8);
    assert_string_equal(records_of(*state, whole).rows[0].version, "2.28.9");
    words[8] = "--rank=1";
    ran = run_text(*state, &fake_driver, text, words);
    fixture_no_errors(&ran.errors);
    assert_string_equal(ran.out, "");
}

/* Shipped workloads: each op has its line, and all streams are awaited. */
static void test_shipped_workloads(void **state)
{
    static const struct {
        const char *name, *machine;
    } rows[] = {{"phi-2-fsdp", "hgx-h200"},
                {"llama-3-8b-tp", "hgx-h200"},
                {"olmoe-1b-7b-ep", "dgx-h100"},
                {"gpt-3-175b", "8x8 gpu:h100 nvswitch nic:8x400Gbit/s"}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        const char *const words[] = {
            "-t", rows[i].machine, "-w", rows[i].name, "-m", "overlap", "-r",
            "1",  "--warmup",      "1",  "--ops",      NULL};
        struct ran ran = run_text(*state, &fake_driver, "", words);
        const char *last = strstr(ran.out, "\niteration,,0,");
        int lines = 0;

        fixture_no_errors(&ran.errors);
        assert_non_null(last);
        for (const char *at = ran.out; *at != '\0'; at++) {
            lines += *at == '\n' ? 1 : 0;
        }
        assert_int_equal(lines - 2, fake.launches / 2);
    }
}

static void test_describe(void **state)
{
    const char *const words[] = {"--describe", NULL};
    struct ran ran = run_text(*state, &fake_driver, "", words);

    assert_int_equal(ran.status, MODEL_OK);
    assert_non_null(strstr(ran.out, "name: Fake H200\n"));
    assert_non_null(strstr(ran.out, "\ngpu: h200\n")); /* by 10de:2335 */
}

static void test_bad_output(void **state)
{
    const char *const words[] = {
        "-t", ONE, "-w", "FILE", "-o", "/nonexistent/x.csv", NULL};
    struct ran ran = run_text(*state, &fake_driver, pair, words);

    assert_int_equal(ran.status, MODEL_BAD_INPUT);
    assert_string_equal(ran.errors.list[0].place.file, "/nonexistent/x.csv");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_ops),
        cmocka_unit_test(test_stands_in),
        cmocka_unit_test(test_sweep),
        cmocka_unit_test(test_curve),
        cmocka_unit_test(test_bad_sweeps),
        cmocka_unit_test(test_usage),
        cmocka_unit_test(test_help_and_version),
        cmocka_unit_test(test_no_gpu),
        cmocka_unit_test(test_too_few_gpus),
        cmocka_unit_test(test_one_rank_of_several),
        cmocka_unit_test(test_shipped_workloads),
        cmocka_unit_test(test_describe),
        cmocka_unit_test(test_bad_output),
    };

    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
