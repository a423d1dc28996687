/*
 * test_log.c - lines of nccl-tests' logs: prefixes, layouts, and which
 * collective a table is of.
 */
#include "validate/log_parts.h"

#include "tests/unit/fixture.h"

static struct validate_log_line split(struct model_arena *arena,
                                      const char *text)
{
    return validate_log_split(arena, (struct model_place){"l", 1, 1}, text,
                              text + strlen(text));
}

static void test_prefixes(void **state)
{
    static const char *const lines[] = {
        "# Rank 0",         "  # Rank 0",    "[1,0]<stdout>:# Rank 0",
        "0: # Rank 0",      "12:  # Rank 0", "[1,12]<stdout>: 0: # Rank 0",
        "pod-0-a: # Rank 0"};
    static const char *const kept[] = {"host:1:1 [0] NCCL INFO x",
                                       "[0] NCCL INFO x", "error: no GPU"};

    for (int i = 0; i < FIXTURE_COUNT(lines); i++) {
        assert_string_equal(split(*state, lines[i]).text, "# Rank 0");
        assert_int_equal(split(*state, lines[i]).count, 3);
    }
    for (int i = 0; i < FIXTURE_COUNT(kept); i++) {
        assert_string_equal(split(*state, kept[i]).text, kept[i]);
    }
}

/* Colours, tabs, returns, and bytes that are no UTF-8. */
static void test_clean(void **state)
{
    static const char dirty[] = "\x1b[1;32ma\x1b[0m\tb\r\nc\rd\xFF\x01\n";
    struct model_text text = validate_log_clean(
        *state, (struct model_text){"l", dirty, sizeof(dirty) - 1});

    assert_string_equal(model_arena_text_n(*state, text.text, text.length),
                        "a b\nc\nd\?\?\n");
}

struct layout {
    const char *head, *row;
    bool reduces, rooted, wrong;
};

/* The time is 10.5, algbw 2.5, busbw 4.5 in all. */
static const struct layout layouts[] = {
    {"#  size count type redop time algbw busbw error time algbw busbw error",
     "1024 256 float sum 10.5 2.5 4.5 1e-07 9 1 1 0e+00", true, false, false},
    {"#  size count type root time algbw busbw error time algbw busbw error",
     "1024 256 float 0 10.5 2.5 4.5 0e+00 9 1 1 0e+00", false, true, false},
    {"#  size count type time algbw busbw error time algbw busbw error",
     "1024 256 float 10.5 2.5 4.5 N/A 9 1 1 N/A", false, false, false},
    {"#  size count type redop root time algbw busbw #wrong time algbw busbw "
     "#wrong",
     "1024 256 float sum -1 10.5 2.5 4.5 2 9 1 1 0", true, false, true},
    {"#  size count type redop root time algbw busbw #wrong time algbw busbw "
     "#wrong",
     "1024 256 float none 0 10.5 2.5 4.5 0 9 1 1 0 ring", false, true, false},
    {"#  size count type redop root time algbw busbw #wrong time algbw busbw "
     "#wrong",
     "1024 256 float -1 10.5 2.5 4.5 0 N/A N/A N/A N/A", false, false, false},
    {"", "1024 256 float sum -1 10.5 2.5 4.5 0 9 1 1 0", true, false, false}};

static void test_layouts(void **state)
{
    for (int i = 0; i < FIXTURE_COUNT(layouts); i++) {
        struct validate_log_line head = split(*state, layouts[i].head);
        struct validate_log_line line = split(*state, layouts[i].row);
        struct validate_log_columns columns = validate_log_head(&head);
        struct validate_log_row row;
        const char *message;

        assert_int_equal(validate_log_row_read(&columns, &line, &row, &message),
                         VALIDATE_LOG_ROW);
        assert_near(row.size_bytes, 1024.0, 0.0);
        assert_near(row.time_us, 10.5, 0.0);
        assert_near(row.algbw_GBps, 2.5, 0.0);
        assert_near(row.busbw_GBps, 4.5, 0.0);
        assert_true(row.reduces == layouts[i].reduces);
        assert_true(row.rooted == layouts[i].rooted);
        assert_true(row.wrong == layouts[i].wrong);
    }
}

static void test_no_rows(void **state)
{
    static const char *const lines[] = {"", "# Avg bus bandwidth : 1",
                                        "3 blind mice ran up the clock twice",
                                        "1024 256 12 1 2 3 4 5 6 7 8 9"};
    struct validate_log_columns columns = {.known = false};

    for (int i = 0; i < FIXTURE_COUNT(lines); i++) {
        struct validate_log_line line = split(*state, lines[i]);
        struct validate_log_row row;
        const char *message;

        assert_int_equal(validate_log_row_read(&columns, &line, &row, &message),
                         VALIDATE_LOG_NO_ROW);
    }
}

/* On 8 GPUs: 2 x 7 / 8 and 7 / 8. */
static void test_kinds_by_rates(void **state)
{
    static const struct {
        struct validate_log_row row;
        int kind;
    } rows[] = {
        {{.reduces = true, .algbw_GBps = 100, .busbw_GBps = 175},
         MODEL_OP_ALL_REDUCE},
        {{.reduces = true, .algbw_GBps = 100, .busbw_GBps = 87.5},
         MODEL_OP_REDUCE_SCATTER},
        {{.reduces = true, .algbw_GBps = 100, .busbw_GBps = 100}, MODEL_UNSET},
        {{.reduces = true, .algbw_GBps = 0.01, .busbw_GBps = 0.02},
         MODEL_UNSET},
        {{.algbw_GBps = 100, .busbw_GBps = 87.5}, MODEL_UNSET},
        {{.rooted = true, .reduces = true, .algbw_GBps = 0}, MODEL_OP_REDUCE},
        {{.rooted = true, .algbw_GBps = 0}, MODEL_OP_BROADCAST}};

    (void)state;
    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        assert_int_equal(validate_log_kind_by_rates(&rows[i].row, 8),
                         rows[i].kind);
    }
}

static void test_kinds_by_name(void **state)
{
    (void)state;
    assert_int_equal(validate_log_kind_by_file("my_AllReduce-2.log"),
                     MODEL_OP_ALL_REDUCE);
    assert_int_equal(validate_log_kind_by_file("reduce_scatter.txt"),
                     MODEL_OP_REDUCE_SCATTER);
    assert_int_equal(validate_log_kind_by_file("reduce.txt"), MODEL_OP_REDUCE);
    assert_int_equal(validate_log_kind_by_file("bcast"), MODEL_OP_BROADCAST);
    assert_int_equal(validate_log_kind_by_file("run.log"), MODEL_UNSET);
    assert_int_equal(validate_log_kind("alltoall"), MODEL_OP_ALL_TO_ALL);
    assert_int_equal(validate_log_kind("io"), MODEL_UNSET);
    assert_true(validate_log_is_other("scatter"));
    assert_false(validate_log_is_other("io"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_prefixes),
                                       cmocka_unit_test(test_clean),
                                       cmocka_unit_test(test_layouts),
                                       cmocka_unit_test(test_no_rows),
                                       cmocka_unit_test(test_kinds_by_rates),
                                       cmocka_unit_test(test_kinds_by_name)};

    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
