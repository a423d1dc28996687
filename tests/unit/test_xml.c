/*
 * test_xml.c - trees with places, each refusal, and read(write(tree)) = tree.
 */
#include "model/xml.h"

#include "tests/unit/fixture.h"

static struct model_xml_element *read_bytes(struct model_arena *arena,
                                            const char *text,
                                            size_t length,
                                            struct model_errors *errors)
{
    *errors = (struct model_errors){.arena = arena};
    return model_xml_read(arena, (struct model_text){"t.xml", text, length},
                          errors);
}

static struct model_xml_element *read_text(struct model_arena *arena,
                                           const char *text)
{
    struct model_errors errors;
    struct model_xml_element *root =
        read_bytes(arena, text, strlen(text), &errors);

    fixture_no_errors(&errors);
    return root;
}

static void elements_know_their_place(void **state)
{
    const struct model_xml_element *root =
        read_text(*state, "<?xml version='1.0' encoding='UTF-8'?>\n<!-- a -->\n"
                          "<system version=\"1\">\n"
                          "  <cpu a=\"&lt;&amp;&#x41;\" b='\xC3\xA4'/> <cpu/>\n"
                          "</system>\n");
    const struct model_xml_element *cpu = root->first;

    assert_string_equal(root->name, "system");
    assert_int_equal(root->place.line, 3);
    assert_int_equal(root->place.column, 1);
    assert_string_equal(model_xml_value(root, "version"), "1");
    assert_null(model_xml_value(root, "versio"));
    assert_int_equal(cpu->place.line, 4);
    assert_int_equal(cpu->place.column, 3);
    assert_string_equal(model_xml_value(cpu, "a"), "<&A");
    assert_string_equal(model_xml_value(cpu, "b"), "\xC3\xA4");
    assert_ptr_equal(cpu->parent, root);
    assert_ptr_equal(cpu->next, root->last);
    /* behind 35 letters, of which one has two bytes */
    assert_int_equal(cpu->next->place.column, 36);
    assert_null(root->last->next);
}

/* A byte order mark takes no column and blanks may come first. */
static void begins_with_an_angle(void **state)
{
    static const struct {
        const char *text;
        bool is;
    } rows[] = {{"<a/>", true},
                {"\xEF\xBB\xBF \t\r\n<a/>", true},
                {"name: <a/>", false},
                {"", false},
                {" ", false}};

    (void)state;
    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct model_text text = {"t", rows[i].text, strlen(rows[i].text)};

        assert_int_equal(model_xml_is(&text), rows[i].is);
    }
}

struct refusal {
    const char *text;
    int line, column;
    const char *message; /* part of it */
};

static void expect_refusal(struct model_arena *arena,
                           const char *text,
                           size_t length,
                           struct refusal refusal)
{
    struct model_errors errors;
    struct model_xml_element *root = read_bytes(arena, text, length, &errors);

    assert_null(root);
    assert_int_equal(errors.count, 1);
    if (strstr(errors.list[0].message, refusal.message) == NULL) {
        print_error("\"%s\": %s\n", refusal.text, errors.list[0].message);
        fail();
    }
    assert_int_equal(errors.list[0].place.line, refusal.line);
    assert_int_equal(errors.list[0].place.column, refusal.column);
}

static void refuses_what_is_no_plain_xml(void **state)
{
    static const struct refusal rows[] = {
        {"", 1, 1, "no element found"},
        {" \n ", 1, 1, "no element found"},
        {"<a", 1, 2, "unclosed token"},
        {"<a>\n<b>\n", 2, 3, "no element found"},
        {"<a>\n</b>", 2, 3, "mismatched tag"},
        {"<a/><b/>", 1, 5, "junk after document element"},
        {"<a b='1' b='2'/>", 1, 10, "duplicate attribute"},
        {"<a b=1/>", 1, 6, "not well-formed"},
        {"<a>&b;</a>", 1, 4, "undefined entity"},
        {"<a>word</a>", 1, 4, "text between elements"},
        {"<!DOCTYPE a SYSTEM 'http://x/y'><a/>", 1, 32, "document type"},
        {"<!DOCTYPE a [<!ENTITY b 'x'>]><a>&b;</a>", 1, 13, "document type"},
        {"<a b='\xE4'/>", 1, 7, "not UTF-8"},
        {"<a b='\x01'/>", 1, 7, "control character"},
        {"name: topology", 1, 1, "syntax error"}};

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        expect_refusal(*state, rows[i].text, strlen(rows[i].text), rows[i]);
    }
    expect_refusal(*state, "<a>\0</a>", 8,
                   (struct refusal){"<a>NUL</a>", 1, 4, "NUL"});
    expect_refusal(*state, "\xFF\xFE<\0a\0", 6,
                   (struct refusal){"UTF-16", 1, 1, "not UTF-8"});
}

/* head, then count times each, then tail */
static char *repeated(struct model_arena *arena,
                      const char *head,
                      const char *each,
                      int count,
                      const char *tail)
{
    size_t length = strlen(each);
    char *text = model_arena_alloc(arena, strlen(head) + strlen(tail) + 1 +
                                              length * (size_t)count);
    char *end = stpcpy(text, head);

    for (int i = 0; i < count; i++) {
        memcpy(end, each, length);
        end += length;
    }
    (void)strcpy(end, tail);
    return text;
}

static void keeps_its_limits(void **state)
{
    struct model_arena *arena = *state;
    const char *text;

    text = repeated(arena, "", "<a>", 100000, "");
    expect_refusal(arena, text, strlen(text),
                   (struct refusal){"depth", 1, 1 + 3 * 64, "too deep"});
    text = repeated(arena, "<a>", "<b/>", 100000, "</a>");
    expect_refusal(
        arena, text, strlen(text),
        (struct refusal){"elements", 1, 4 + 4 * 65535, "too many elements"});
    text = repeated(arena, "<a b='", "x", 5000, "'/>");
    expect_refusal(arena, text, strlen(text),
                   (struct refusal){"value", 1, 1, "too long"});
    text = repeated(arena, "<a>", " ", MODEL_XML_BYTES_MAX, "</a>");
    expect_refusal(arena, text, strlen(text),
                   (struct refusal){"bytes", 0, 0, "larger than 16 MiB"});
    /* as deep and as many as may be */
    text = repeated(arena, repeated(arena, "", "<a>", 64, ""), "</a>", 64, "");
    assert_non_null(read_text(arena, text));
    text = repeated(arena, "<a>", "<b/>", 65535, "</a>");
    assert_non_null(read_text(arena, text));
}

static void refuses_many_attributes(void **state)
{
    char text[2048] = "<a";
    size_t length = 2;

    for (int i = 0; i < 65; i++) {
        length += (size_t)sprintf(text + length, " a%d='1'", i);
    }
    length += (size_t)sprintf(text + length, "/>");
    expect_refusal(*state, text, length,
                   (struct refusal){"attributes", 1, 1, "too many attributes"});
}

static void writes_what_it_reads(void **state)
{
    struct model_arena *arena = *state;
    struct model_xml_element *root = model_xml_new(arena, NULL, "system");
    struct model_xml_element *cpu = model_xml_new(arena, root, "cpu");
    const struct model_xml_element *back;
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);

    model_xml_put(arena, root, "version", "%d", 1);
    model_xml_put(arena, cpu, "a", "%s", "<\"&'>\t\n\xC3\xA4");
    (void)model_xml_new(arena, root, "cpu");
    assert_int_equal(model_xml_write(root, stream), MODEL_OK);
    (void)fclose(stream);
    assert_string_equal(text, "<system version=\"1\">\n"
                              "  <cpu a=\"&lt;&quot;&amp;'&gt;&#9;&#10;"
                              "\xC3\xA4\"/>\n"
                              "  <cpu/>\n"
                              "</system>\n");
    back = read_text(arena, text);
    assert_string_equal(model_xml_value(back->first, "a"),
                        "<\"&'>\t\n\xC3\xA4");
    free(text);
}

/* Wherever memory runs out, the guard is reached and the parser is let go. */
static void survives_no_memory(void **state)
{
    static const char text[] = "<a b='1'><c d='2'/></a>";
    volatile bool done = false;
    volatile long count = 0;

    (void)state;
    while (!done && count < 50) {
        jmp_buf guard;
        struct model_errors errors;
        struct model_arena *volatile arena = model_arena_new();

        if (setjmp(guard) == 0) {
            (void)model_arena_guard(arena, &guard);
            model_arena_fail_after(count);
            done = read_bytes(arena, text, sizeof text - 1, &errors) != NULL;
        }
        model_arena_fail_after(-1);
        model_arena_free(arena);
        count = count + 1;
    }
    assert_true(done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_know_their_place),
        cmocka_unit_test(begins_with_an_angle),
        cmocka_unit_test(refuses_what_is_no_plain_xml),
        cmocka_unit_test(keeps_its_limits),
        cmocka_unit_test(refuses_many_attributes),
        cmocka_unit_test(writes_what_it_reads),
        cmocka_unit_test(survives_no_memory)};

    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
