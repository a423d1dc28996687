/*
 * test_table.c - CSV to cells with their places.
 */
#include "model/table.h"

#include "tests/unit/fixture.h"

static bool read_text(struct model_arena *arena,
                      const char *text,
                      struct model_table *table,
                      struct model_errors *errors)
{
    return model_table_read(
        arena, (struct model_text){"t.csv", text, strlen(text)}, table, errors);
}

static struct model_table read_fine(struct model_arena *arena, const char *text)
{
    struct model_errors errors = {.arena = arena};
    struct model_table table;

    assert_true(read_text(arena, text, &table, &errors));
    fixture_no_errors(&errors);
    return table;
}

static void check_place(
    const struct model_table *table, int row, int cell, int line, int column)
{
    struct model_place place =
        model_table_place(table, &table->rows[row], cell);

    assert_int_equal(place.line, line);
    assert_int_equal(place.column, column);
}

/* Quotes, doubled quotes, a comma and a line end within them, CR LF, a byte
 * order mark, empty lines, no newline at the end. */
static void test_reads_csv(void **state)
{
    struct model_table table = read_fine(
        *state, "\xEF\xBB\xBF"
                "a,b\r\n\r\n\"x, \"\"y\"\"\",\"1\n2\"\r\n\n  z  , \"q\" ");

    assert_int_equal(table.head.count, 2);
    assert_string_equal(table.head.cells[1].text, "b");
    assert_int_equal(table.count, 2);
    assert_string_equal(table.rows[0].cells[0].text, "x, \"y\"");
    assert_string_equal(table.rows[0].cells[1].text, "1\n2");
    assert_string_equal(table.rows[1].cells[0].text, "z");
    assert_string_equal(table.rows[1].cells[1].text, "q");
    /* a,b is line 1, the empty one 2; a cell holds the end of line 3. */
    check_place(&table, 0, 0, 3, 1);
    check_place(&table, 0, 1, 3, 12);
    check_place(&table, 1, 0, 6, 3);
    check_place(&table, 1, 1, 6, 8);
}

static void test_columns_count_letters(void **state)
{
    struct model_table table = read_fine(*state, "a,b\n\xC3\xA4\xC3\xB6,1\n");

    check_place(&table, 0, 1, 2, 4);
}

static void test_empty_cells_stay(void **state)
{
    struct model_table table = read_fine(*state, "a,b,c\n,,\n");

    assert_int_equal(table.rows[0].count, 3);
    assert_string_equal(table.rows[0].cells[2].text, "");
    check_place(&table, 0, 2, 2, 3);
}

static void check_fault(struct model_arena *arena,
                        const char *text,
                        const char *part,
                        int line,
                        int column)
{
    struct model_errors errors = {.arena = arena};
    struct model_table table;

    assert_false(read_text(arena, text, &table, &errors));
    assert_int_equal(errors.count, 1);
    fixture_expect_error(&errors, NULL, part);
    assert_int_equal(errors.list[0].place.line, line);
    assert_int_equal(errors.list[0].place.column, column);
}

static void test_faults_have_places(void **state)
{
    check_fault(*state, "a,b\n1,2\"3\n", "a quote out of place", 2, 4);
    check_fault(*state, "a,b\n1,\"2\" 3\n", "a quote out of place", 2, 7);
    check_fault(*state, "a,b\n1,\"2\n3,4\n", "a quote that is never closed", 2,
                3);
    check_fault(*state, "a\n\xFF\n", "not UTF-8", 2, 1);
    check_fault(*state, "\n\n", "is empty", 0, 0);
}

/* Out of memory at any point leaves through the guard, without a leak. */
static void test_out_of_memory(void **state)
{
    (void)state;
    for (volatile long left = 0; left < 3; left++) {
        struct model_arena *arena = model_arena_new();
        struct model_errors errors = {.arena = arena};
        struct model_table table;
        volatile bool gone = false;
        jmp_buf guard;

        assert_non_null(arena);
        (void)model_arena_guard(arena, &guard);
        if (setjmp(guard) == 0) {
            char *text = model_arena_alloc(arena, 1 << 20);

            memset(text, ',', (1 << 20) - 1);
            model_arena_fail_after(left);
            (void)read_text(arena, text, &table, &errors);
        } else {
            gone = true;
        }
        model_arena_fail_after(-1);
        assert_true(gone);
        model_arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_csv),
        cmocka_unit_test(test_columns_count_letters),
        cmocka_unit_test(test_empty_cells_stay),
        cmocka_unit_test(test_faults_have_places),
        cmocka_unit_test(test_out_of_memory)};

    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
