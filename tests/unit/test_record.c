/*
 * test_record.c - measured rows: what is read, what is refused and where, and
 * that what is written reads back.
 */
#include "validate/record.h"

#include "tests/unit/fixture.h"

#define HEAD                                                                   \
    "source,hardware,nodes,gpus,nccl_version,collective,size_bytes,time_us,"   \
    "algbw_GBps,busbw_GBps,nchannels,nthreads,buffsize,algo,proto,notes\n"

static enum model_status read_text(struct model_arena *arena,
                                   const char *text,
                                   struct validate_records *records,
                                   struct model_errors *errors)
{
    struct fixture_file file = fixture_file_open(text);
    enum model_status status = validate_records_read(
        arena, model_arena_text(arena, file.path), records, errors);

    fixture_file_close(&file);
    return status;
}

static struct validate_records read_fine(struct model_arena *arena,
                                         const char *text)
{
    struct model_errors errors = {.arena = arena};
    struct validate_records records = {.count = 0};
    enum model_status status = read_text(arena, text, &records, &errors);

    fixture_no_errors(&errors);
    assert_int_equal(status, MODEL_OK);
    return records;
}

static void test_reads_a_row(void **state)
{
    struct validate_records records = read_fine(
        *state, HEAD "log,A40 PCIe,2,16,2.18.3,AllGather,80000000,5000,16,15,8,"
                     "256,4194304,Ring,simple,topology=lagom-b; transport=shm "
                     "chunk_bytes=131072\n");
    const struct validate_record *row = &records.rows[0];

    assert_int_equal(records.count, 1);
    assert_string_equal(row->source, "log");
    assert_string_equal(row->hardware, "A40 PCIe");
    assert_string_equal(row->version, "2.18.3");
    assert_string_equal(row->topology, "lagom-b");
    assert_string_equal(row->computation, "");
    assert_int_equal(row->kind, MODEL_OP_ALL_GATHER);
    assert_int_equal(row->nodes, 2);
    assert_int_equal(row->gpus, 16);
    assert_near(row->size_bytes, 80000000.0, 0.0);
    assert_near(row->time_us, 5000.0, 0.0);
    assert_near(row->buffer_bytes, 4194304.0, 0.0);
    assert_int_equal(row->config.channels, 8);
    assert_int_equal(row->config.threads, 256);
    assert_int_equal(row->config.algorithm, MODEL_RING);
    assert_int_equal(row->config.protocol, MODEL_SIMPLE);
    assert_int_equal(row->config.transport, MODEL_SHM);
    assert_near(row->config.chunk_bytes, 131072.0, 0.0);
    assert_int_equal(row->place.line, 2);
}

/* Columns in any order, most of them missing, and one that is ours. */
static void test_columns_by_name(void **state)
{
    struct validate_records records =
        read_fine(*state, "computation,computation_us,gpus,nodes\n"
                          "\"{kind: gemm, m: 1, n: 2, k: 3}\",7.5,1,1\n");

    assert_int_equal(records.rows[0].kind, MODEL_UNSET);
    assert_near(records.rows[0].computation_us, 7.5, 0.0);
    assert_near(records.rows[0].time_us, 0.0, 0.0);
    assert_int_equal(records.rows[0].config.channels, 0);
    assert_int_equal(records.rows[0].config.algorithm, MODEL_UNSET);
}

static void test_topology_in_quotes(void **state)
{
    struct validate_records records =
        read_fine(*state, "nodes,gpus,collective,size_bytes,time_us,notes\n"
                          "1,8,alltoall,1024,9,\"my_topology=x "
                          "topology='1x8 gpu:h100 nvswitch', y\"\n");

    assert_string_equal(records.rows[0].topology, "1x8 gpu:h100 nvswitch");
    assert_int_equal(records.rows[0].kind, MODEL_OP_ALL_TO_ALL);
}

/* The bytes of both files, in order: FNV-1a of "a" is af63dc4c8601ec8c. */
static void test_hash(void **state)
{
    struct model_errors errors = {.arena = *state};
    struct validate_records records = {.count = 0};

    (void)read_text(*state, "a", &records, &errors);
    assert_true(records.hash == 0xaf63dc4c8601ec8cu);
    assert_int_equal(records.count, 0);
}

static void test_sets(void **state)
{
    struct validate_records records = {.count = 0};
    struct model_errors errors = {.arena = *state};

    (void)read_text(*state,
                    "source,nodes,gpus,collective,size_bytes,time_us\n"
                    "one,1,2,broadcast,8,9\ntwo,1,2,broadcast,8,9\n",
                    &records, &errors);
    (void)read_text(*state,
                    "nodes,gpus,collective,size_bytes,time_us\n"
                    "1,2,broadcast,8,9\n",
                    &records, &errors);
    fixture_no_errors(&errors);
    assert_int_equal(records.count, 3);
    assert_string_equal(records.rows[0].set, "one");
    assert_string_equal(records.rows[1].set, "two");
    /* The file is a descriptor's number. */
    assert_true(records.rows[2].set[0] >= '0' && records.rows[2].set[0] <= '9');
}

/* -- faults -- */

struct refused {
    const char *head, *row;
    const char *key, *message;
    int line, column;
};

#define SHORT "nodes,gpus,collective,size_bytes,time_us"

static const struct refused refused[] = {
    {SHORT ",nchanels", "1,8,all_reduce,8,9,1", NULL, "no such column", 1, 42},
    {"nodes,gpus,nodes,collective,size_bytes,time_us", "", "nodes",
     "there twice", 1, 12},
    {"nodes,collective,size_bytes,time_us", "", "gpus", "is missing", 1, 1},
    {"nodes,gpus", "", "collective", "is missing", 1, 1},
    {"nodes,gpus,collective,size_bytes", "", "time_us", "is missing", 1, 1},
    {"nodes,gpus,computation", "", "computation_us", "is missing", 1, 1},
    {SHORT, "1,8,all_reduce,8,9us", "time_us", "behind the number", 2, 18},
    {SHORT, "1,8,all_reduce,8,nan", "time_us", "not a number", 2, 18},
    {SHORT, "1,8,all_reduce,8,inf", "time_us", "not a number", 2, 18},
    {SHORT, "1,8,all_reduce,8,0x9", "time_us", "behind the number", 2, 18},
    {SHORT, "1,8,all_reduce,8,-9", "time_us", "negative", 2, 18},
    {SHORT, "1,8,all_reduce,8,0", "time_us", "cannot be 0", 2, 18},
    {SHORT, "1,8,all_reduce,8,1e400", "time_us", "not a number", 2, 18},
    {SHORT, "1,8,all_reduce,\"8,192\",9", "size_bytes", "comma", 2, 16},
    {SHORT, "1,8,all_reduce,8 %,9", "size_bytes", "behind the number", 2, 16},
    {SHORT, "1,8.5,all_reduce,8,9", "gpus", "cannot be 8.5", 2, 3},
    {SHORT, "3,8,all_reduce,8,9", "gpus", "do not divide", 2, 3},
    {SHORT, ",8,all_reduce,8,9", "nodes", "is not said", 2, 1},
    {SHORT, "1,8,all_reduc,8,9", "collective", "cannot be", 2, 5},
    {SHORT, "1,8,send,8,9", "collective", "no row of nccl-tests", 2, 5},
    {SHORT, "1,8,,8,", "collective", "neither", 2, 5},
    {SHORT, "1,8,all_reduce,,9", "size_bytes", "is not said", 2, 16},
    {SHORT, "1,8,all_reduce,8", NULL, "4 cells below 5 columns", 2, 16},
    {SHORT, "1,8,all_reduce,8,9,1", NULL, "6 cells below 5", 2, 20},
    {SHORT ",algbw_GBps", "1,8,all_reduce,1000000,1,1000.5", NULL, NULL, 0, 0},
    {SHORT ",algbw_GBps", "1,8,all_reduce,1000000,1,1", "algbw_GBps",
     "1000 GB/s", 2, 26},
    {SHORT ",notes", "1,8,all_reduce,8,9,transport=net", "notes",
     "transport cannot be net", 2, 20},
    {SHORT ",notes", "1,8,all_reduce,8,9,chunk_bytes=1MiB", "notes",
     "chunk_bytes cannot be 1MiB", 2, 20},
    {SHORT ",computation_us", "1,8,all_reduce,8,9,9", "computation",
     "is not said", 2, 1},
    {SHORT ",computation", "1,8,,,,gemm", "computation_us", "is missing", 1, 1},
    {SHORT ",computation,computation_us", "1,8,,,,gemm,9", "computation",
     "no op", 2, 8},
    {SHORT ",computation,computation_us", "1,8,,,9,{kind: gemm},9", "time_us",
     "there is none", 2, 7},
    {SHORT ",computation,computation_us", "1,8,,,,{kind: [,9", "computation",
     "", 2, 8}};

static void check_refused(struct model_arena *arena, const struct refused *it)
{
    struct model_errors errors = {.arena = arena};
    struct validate_records records = {.count = 0};

    (void)read_text(arena,
                    model_arena_format(arena, "%s\n%s\n", it->head, it->row),
                    &records, &errors);
    if (it->message == NULL) {
        fixture_no_errors(&errors);
        return;
    }
    fixture_expect_error(&errors, it->key, it->message);
    if (errors.list[0].place.line != it->line ||
        errors.list[0].place.column != it->column) {
        fail_msg("%s: %s: at %d:%d", it->head, it->row,
                 errors.list[0].place.line, errors.list[0].place.column);
    }
}

static void test_refuses(void **state)
{
    for (int i = 0; i < FIXTURE_COUNT(refused); i++) {
        check_refused(*state, &refused[i]);
    }
}

static void test_names_the_nearest(void **state)
{
    struct model_errors errors = {.arena = *state};
    struct validate_records records = {.count = 0};

    (void)read_text(*state, SHORT ",nchanels\n1,8,all_reduce,8,9,1\n", &records,
                    &errors);
    assert_string_equal(errors.list[0].hint, "did you mean \"nchannels\"?");
}

/* All faulty rows are named, others kept; the 21st is only counted. */
static void test_goes_on(void **state)
{
    struct model_errors errors = {.arena = *state};
    struct validate_records records = {.count = 0};
    const char *text = SHORT "\n1,8,all_reduce,8,9\n";

    for (int i = 0; i < 21; i++) {
        text = model_arena_format(*state, "%s1,8,all_reduce,8,x\n", text);
    }
    assert_int_equal(read_text(*state, text, &records, &errors),
                     MODEL_BAD_INPUT);
    assert_int_equal(records.count, 1);
    assert_int_equal(errors.count, 21);
    assert_int_equal(errors.list[19].place.line, 22);
}

/* -- writing -- */

static const char *write_rows(struct model_arena *arena,
                              const struct validate_records *records)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    const char *copy;

    assert_non_null(stream);
    validate_records_header(stream);
    for (int i = 0; i < records->count; i++) {
        validate_records_row(&records->rows[i], stream);
    }
    (void)fclose(stream);
    copy = model_arena_text(arena, text);
    free(text);
    return copy;
}

static void test_writes_what_it_reads(void **state)
{
    struct validate_records first = read_fine(
        *state,
        "source,hardware,nodes,gpus,nccl_version,collective,size_bytes,time_us,"
        "nchannels,algo,notes,computation,computation_us,repeats,spread_us,"
        "alone_us,sm_clock_mhz,computation_alone_us\n"
        "\"a, b\",h,2,16,2.30.7,sendrecv,1048576,12.25,4,ring,\"topology="
        "dgx-a100 said \"\"x\"\"\",\"{kind: gemm, m: 8, n: 8, k: 8}\",99.5,20,"
        "0.5,11,1410,90\n"
        ",,1,8,,all_reduce,8,9,,,,,,,,,,\n");
    const char *once = write_rows(*state, &first);
    struct validate_records second = read_fine(*state, once);

    assert_string_equal(write_rows(*state, &second), once);
    assert_int_equal(second.count, 2);
    assert_string_equal(second.rows[0].topology, "dgx-a100");
    assert_string_equal(second.rows[0].notes, first.rows[0].notes);
    assert_near(second.rows[0].sm_clock_mhz, 1410.0, 0.0);
    assert_near(second.rows[0].computation_alone_us, 90.0, 0.0);
}

/* 8 ranks: busbw of an all_reduce is 2 x 7 / 8 of algbw, 1e6 B / 10 us / 1000
 * = 100 GB/s. Words that the notes lack go before them. */
static void test_writes_by_hand(void **state)
{
    struct validate_record row = {.source = "s",
                                  .hardware = "",
                                  .version = "",
                                  .notes = "said",
                                  .topology = "1x8 gpu:h100 nvswitch",
                                  .computation = "",
                                  .kind = MODEL_OP_ALL_REDUCE,
                                  .nodes = 1,
                                  .gpus = 8,
                                  .size_bytes = 1e6,
                                  .time_us = 10.0,
                                  .config = model_config_none()};
    struct validate_records records = {.rows = &row, .count = 1};
    const char *text;

    row.config.transport = MODEL_P2P;
    row.config.chunk_bytes = 524288.0;
    text = strchr(write_rows(*state, &records), '\n') + 1;
    assert_string_equal(text,
                        "s,,1,8,,all_reduce,1000000,10,100,175,,,,,,,,,,,,,"
                        "topology='1x8 gpu:h100 nvswitch' transport=p2p "
                        "chunk_bytes=524288 said\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_a_row),
        cmocka_unit_test(test_columns_by_name),
        cmocka_unit_test(test_topology_in_quotes),
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_names_the_nearest),
        cmocka_unit_test(test_goes_on),
        cmocka_unit_test(test_writes_what_it_reads),
        cmocka_unit_test(test_writes_by_hand)};

    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
