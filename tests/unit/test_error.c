/*
 * test_error.c - what a fault looks like on the screen, and near names.
 */
#include "model/error.h"
#include "model/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
    struct model_arena *arena;
    struct model_errors errors;
};

static int begin(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    fixture->arena = model_arena_new();
    fixture->errors.arena = fixture->arena;
    *state = fixture;
    return 0;
}

static int end(void **state)
{
    struct fixture *fixture = *state;
    model_arena_free(fixture->arena);
    free(fixture);
    return 0;
}

/* The printed form, in the arena. */
static const char *printed(struct fixture *fixture)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    model_errors_print(&fixture->errors, stream);
    fclose(stream);
    const char *copy = model_arena_text(fixture->arena, text);
    free(text);
    return copy;
}

static void whole_form_with_excerpt(void **state)
{
    struct fixture *f = *state;
    const char text[] = "nics:\n  rate: 400\n";
    struct model_place place = {"dgx.yaml", 2, 9};
    model_errors_excerpt(&f->errors, "dgx.yaml", text, sizeof text - 1);
    enum model_status status =
        model_errors_add(&f->errors, MODEL_BAD_INPUT, place, "nics.rate",
                         "write \"400 Gbit/s\"", "no %s", "unit");
    assert_int_equal(status, MODEL_BAD_INPUT);
    assert_int_equal(model_errors_status(&f->errors), MODEL_BAD_INPUT);
    /* column 9 is the 4 of 400: four blanks of indent, eight before it */
    assert_string_equal(printed(f),
                        "dgx.yaml:2:9: error: nics.rate: no unit (write \"400 "
                        "Gbit/s\")\n      rate: 400\n            ^\n");
}

/* model_errors_excerpt also serves faults reported before it. */
static void excerpt_comes_later(void **state)
{
    struct fixture *f = *state;
    struct model_place place = {"a", 1, 1};
    struct model_place other = {"b", 1, 1};
    model_errors_add(&f->errors, MODEL_USAGE, place, NULL, NULL, "one");
    model_errors_add(&f->errors, MODEL_BAD_INPUT, other, NULL, NULL, "two");
    model_errors_excerpt(&f->errors, "a", "xyz\nq", 5);
    assert_string_equal(f->errors.list[0].excerpt, "xyz");
    assert_null(f->errors.list[1].excerpt);
    /* the first fault decides the exit code */
    assert_int_equal(model_errors_status(&f->errors), MODEL_USAGE);
}

static void places_are_printed_as_far_as_known(void **state)
{
    struct fixture *f = *state;
    struct model_place override = {"--set", 0, 0};
    struct model_place line = {"f", 7, 0};
    struct model_place none = {NULL, 0, 0};
    assert_int_equal(model_errors_status(&f->errors), MODEL_OK);
    model_errors_add(&f->errors, MODEL_BAD_INPUT, override, "a.b", NULL, "x");
    model_errors_add(&f->errors, MODEL_BAD_INPUT, line, NULL, NULL, "y");
    model_errors_add(&f->errors, MODEL_BAD_INPUT, none, "", NULL, "z");
    assert_string_equal(printed(f), "--set: error: a.b: x\n"
                                    "f:7: error: y\n"
                                    "error: z\n");
}

static void only_twenty_are_kept(void **state)
{
    struct fixture *f = *state;
    struct model_place none = {NULL, 0, 0};
    for (int i = 0; i < 23; i++) {
        model_errors_add(&f->errors, MODEL_BAD_INPUT, none, NULL, NULL, "%d",
                         i);
    }
    const char *text = printed(f);
    assert_int_equal(f->errors.count, 23);
    assert_non_null(strstr(text, "error: 19\n"));
    assert_null(strstr(text, "error: 20\n"));
    /* 23 - 20 */
    assert_non_null(strstr(text, "\n3 more errors\n"));
}

static void long_lines_are_cut_around_the_caret(void **state)
{
    struct fixture *f = *state;
    enum { LENGTH = 3000, COLUMN = 1500 };
    char line[LENGTH];
    memset(line, 'a', LENGTH);
    line[COLUMN - 1] = 'X';
    struct model_place place = {"f", 1, COLUMN};
    model_errors_excerpt(&f->errors, "f", line, LENGTH);
    model_errors_add(&f->errors, MODEL_BAD_INPUT, place, NULL, NULL, "m");
    const struct model_error *error = &f->errors.list[0];
    /* three dots, 100 letters, three dots */
    assert_int_equal(strlen(error->excerpt), 106);
    assert_int_equal(error->excerpt[error->caret_column - 1], 'X');
    assert_memory_equal(error->excerpt, "...a", 4);
    assert_string_equal(error->excerpt + 102, "a...");
}

static void harmful_letters_are_replaced(void **state)
{
    struct fixture *f = *state;
    /* escape, NUL, a broken byte, a C1 control, a right-to-left override, and
     * a tab, which takes one column as in the count of columns */
    const char text[] = "a\x1B[2J\0\xFF\xC2\x9B\xE2\x80\xAE\t\xC3\xA9z";
    struct model_place place = {"f\n\x1B", 1, 11};
    model_errors_excerpt(&f->errors, place.file, text, sizeof text - 1);
    model_errors_add(&f->errors, MODEL_BAD_INPUT, place, "k\x07", "h\x07",
                     "m\n\x07");
    /* a ESC [ 2 J NUL FF CSI RLO TAB e-acute: the acute is letter 11 */
    assert_string_equal(printed(f),
                        "f ?:1:11: error: k?: m ? (h?)\n"
                        "    a?[2J???? \xC3\xA9z\n              ^\n");
}

static void long_texts_are_cut(void **state)
{
    struct fixture *f = *state;
    enum { LENGTH = 100000 };
    char *text = malloc(LENGTH + 1);
    memset(text, 'k', LENGTH);
    text[LENGTH] = '\0';
    struct model_place place = {"f", 0, 0};
    model_errors_add(&f->errors, MODEL_BAD_INPUT, place, text, text, "%s",
                     text);
    free(text);
    /* 200 + 500 + 1500 and the words between */
    assert_in_range(strlen(printed(f)), 2200, 2300);
}

/* Lines end as libyaml counts them. */
static void places_follow_all_line_breaks(void **state)
{
    (void)state;
    const char text[] = "a\nb\r\nc\rd\xC2\x85"
                        "e\xE2\x80\xA8\xC3\xA9!";
    struct model_place place = model_place_at("f", text, strlen(text) - 1);
    /* breaks: LF, CRLF, CR, NEL, LS; then the acute and the mark */
    assert_int_equal(place.line, 6);
    assert_int_equal(place.column, 2);
    place = model_place_at("f", text, 0);
    assert_int_equal(place.line, 1);
    assert_int_equal(place.column, 1);
}

static void utf8_is_judged_strictly(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t bytes;
        unsigned letter;
    } rows[] = {
        {"A", 1, 0x41},
        {"\xC3\xA9", 2, 0xE9},
        {"\xE2\x82\xAC", 3, 0x20AC},
        {"\xF0\x9F\x98\x80", 4, 0x1F600},
        {"\xF4\x8F\xBF\xBF", 4, 0x10FFFF},
        {"\xF4\x90\x80\x80", 0, 0}, /* beyond Unicode */
        {"\xC0\x80", 0, 0},         /* overlong NUL */
        {"\xE0\x80\x80", 0, 0},     /* overlong NUL */
        {"\xED\xA0\x80", 0, 0},     /* surrogate */
        {"\x80", 0, 0},             /* only a continuation */
        {"\xC3", 0, 0},             /* cut off */
        {"\xC3(", 0, 0},            /* no continuation */
        {"\xFF", 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        unsigned letter = 0;
        size_t length = strlen(rows[i].text);
        assert_int_equal(model_utf8_decode(rows[i].text, length, &letter),
                         rows[i].bytes);
        assert_int_equal(letter, rows[i].letter);
    }
}

static void near_names_are_found(void **state)
{
    (void)state;
    const char *const names[] = {"rate", "latency", "sm_count", NULL};
    const char *const none[] = {NULL};
    /* one letter too many: 1 of 5 */
    assert_string_equal(model_nearest_name("ratte", names), "rate");
    /* two swapped letters: 1 of 4 */
    assert_string_equal(model_nearest_name("rtae", names), "rate");
    assert_string_equal(model_nearest_name("Rate", names), "rate");
    /* 2 of 7 */
    assert_string_equal(model_nearest_name("latenc", names), "latency");
    assert_string_equal(model_nearest_name("latnecy", names), "latency");
    assert_string_equal(model_nearest_name("sm-count", names), "sm_count");
    /* 2 of 4 are more than a third */
    assert_null(model_nearest_name("rase_", names));
    assert_null(model_nearest_name("", names));
    assert_null(model_nearest_name("bandwidth", names));
    assert_null(model_nearest_name("rate", none));
    char longest[300];
    memset(longest, 'r', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_null(model_nearest_name(longest, names));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(whole_form_with_excerpt, begin, end),
        cmocka_unit_test_setup_teardown(excerpt_comes_later, begin, end),
        cmocka_unit_test_setup_teardown(places_are_printed_as_far_as_known,
                                        begin, end),
        cmocka_unit_test_setup_teardown(only_twenty_are_kept, begin, end),
        cmocka_unit_test_setup_teardown(long_lines_are_cut_around_the_caret,
                                        begin, end),
        cmocka_unit_test_setup_teardown(harmful_letters_are_replaced, begin,
                                        end),
        cmocka_unit_test_setup_teardown(long_texts_are_cut, begin, end),
        cmocka_unit_test(places_follow_all_line_breaks),
        cmocka_unit_test(utf8_is_judged_strictly),
        cmocka_unit_test(near_names_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
