/*
 * test_yaml.c - reading with places, each refusal, overrides, and
 * parse(write(tree)) = tree over seeded random trees.
 */
#include "model/yaml.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    struct model_arena *arena;
    struct model_errors errors;
    char path[32];
};

static int begin(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    fixture->arena = model_arena_new();
    fixture->errors.arena = fixture->arena;
    strcpy(fixture->path, "/tmp/test_yaml_XXXXXX");
    close(mkstemp(fixture->path));
    *state = fixture;
    return 0;
}

static int end(void **state)
{
    struct fixture *fixture = *state;
    unlink(fixture->path);
    model_arena_free(fixture->arena);
    free(fixture);
    return 0;
}

static void file_fill(const struct fixture *f, const char *text, size_t length)
{
    FILE *stream = fopen(f->path, "w");
    assert_int_equal(fwrite(text, 1, length, stream), length);
    fclose(stream);
}

static struct model_node *read_text(struct fixture *f, const char *text)
{
    return model_yaml_read_text(f->arena, "t.yaml", text, strlen(text),
                                &f->errors);
}

/* A fresh start for the next text of a table. */
static void forget(struct fixture *f)
{
    model_arena_reset(f->arena);
    f->errors = (struct model_errors){.arena = f->arena};
}

static void tree_keeps_order_and_places(void **state)
{
    struct fixture *f = *state;
    struct model_node *root = read_text(f, "b: 1\n"
                                           "a:\n"
                                           "  - {x: 'q', y: [1, 2]}\n"
                                           "  - \xC3\xA9: z\n"
                                           "c:\n");
    assert_int_equal(f->errors.count, 0);
    assert_int_equal(root->kind, MODEL_MAPPING);
    assert_int_equal(root->count, 3);
    assert_string_equal(root->first->key, "b");
    assert_string_equal(root->last->key, "c");
    /* "c:" has no text, plain */
    assert_string_equal(root->last->text, "");
    assert_false(root->last->quoted);
    struct model_node *a = model_node_find(root, "a");
    assert_int_equal(a->kind, MODEL_SEQUENCE);
    assert_int_equal(a->key_place.line, 2);
    assert_int_equal(a->key_place.column, 1);
    struct model_node *x = model_node_find(a->first, "x");
    assert_string_equal(x->text, "q");
    assert_true(x->quoted);
    assert_int_equal(x->place.line, 3);
    assert_int_equal(x->place.column, 9);
    assert_string_equal(x->place.file, "t.yaml");
    assert_int_equal(model_node_find(a->first, "y")->count, 2);
    /* the value behind "  - e: ", counted in letters, not bytes */
    assert_int_equal(a->last->first->place.column, 8);
    assert_null(model_node_find(root, "d"));
    assert_null(model_node_find(a, "x"));
    assert_null(model_node_find(NULL, "x"));
}

struct refusal {
    const char *text;
    int line, column;
    const char *message;
    bool whole; /* the tree is whole nevertheless */
};

static void refusals_have_a_place(void **state)
{
    struct fixture *f = *state;
    static const struct refusal rows[] = {
        {"", 0, 0, "is empty", false},
        {"# only\n", 0, 0, "is empty", false},
        {"---\n...\n", 0, 0, "is empty", false},
        /* at the end of the text the place is where the thing began */
        {"a: 1\nb: [1, 2\n", 2, 4, "did not find expected ',' or ']'", false},
        {"a: {b: 1\n", 1, 4, "did not find expected ',' or '}'", false},
        {"a: 'x\n", 1, 4, "found unexpected end of stream", false},
        {"a:\n\t- b\n", 2, 1, "found character that cannot start any token",
         false},
        {"a: ]\n", 1, 4, "did not find expected node content", false},
        {"a: 1\n b: 2\n", 2, 3,
         "mapping values are not allowed in this context", false},
        {"a: &x 1\n", 1, 4, "anchor \"&x\" is not allowed", true},
        {"a: *x\n", 1, 4, "aliases are not allowed", false},
        {"a: !!int 1\n", 1, 4, "tag \"tag:yaml.org,2002:int\" is not allowed",
         true},
        {"a: ! 1\n", 1, 4, "tag \"!\" is not allowed", true},
        {"a: 1\n---\nb: 2\n", 2, 1, "a second document begins", false},
        {"a: 1\nb:\n  [1]: 2\n", 3, 3, "a key must be a plain text", false},
        {"? {a: 1}\n: 2\n", 1, 3, "a key must be a plain text", false},
        {"a: 1\nb: 2\na: 3\n", 3, 1,
         "duplicate key \"a\", the first is in line 1", true},
        {"a: \"x\\0y\"\n", 1, 4, "a text may not hold NUL", false},
        {"a: \x01\n", 1, 4, "a control character, this is not text", false},
        {"a: \xFF\n", 1, 4, "this is not UTF-8 text", false},
        {"\xFF\xFE"
         "a",
         1, 1, "this is not UTF-8 text", false},
        {"%YAML 3.0\n---\na: 1\n", 1, 1, "found incompatible YAML document",
         false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct model_node *root = read_text(f, rows[i].text);
        const struct model_error *error = &f->errors.list[0];
        if (f->errors.count != 1 || (root != NULL) != rows[i].whole ||
            strcmp(error->message, rows[i].message) != 0 ||
            error->place.line != rows[i].line ||
            error->place.column != rows[i].column) {
            fail_msg("%s: %d faults, %d:%d %s", rows[i].text, f->errors.count,
                     error->place.line, error->place.column,
                     f->errors.count > 0 ? error->message : "");
        }
        assert_int_equal(error->status, MODEL_BAD_INPUT);
        forget(f);
    }
}

static void hints_and_excerpts_come_along(void **state)
{
    struct fixture *f = *state;
    read_text(f, "a:\n\t- b\n");
    assert_string_equal(f->errors.list[0].hint, "indent with blanks, not tabs");
    assert_string_equal(f->errors.list[0].excerpt, " - b");
    assert_int_equal(f->errors.list[0].caret_column, 1);
    forget(f);
    read_text(f, "a: 1\nb: [1, 2\n");
    assert_string_equal(f->errors.list[0].hint,
                        "while parsing a flow sequence from line 2");
}

static void nul_bytes_are_refused(void **state)
{
    struct fixture *f = *state;
    const char text[] = "a: 1\nb\0: 2\n";
    assert_null(
        model_yaml_read_text(f->arena, "t", text, sizeof text - 1, &f->errors));
    assert_string_equal(f->errors.list[0].message,
                        "a NUL byte, this is not text");
    assert_int_equal(f->errors.list[0].place.line, 2);
    assert_int_equal(f->errors.list[0].place.column, 2);
}

/* Faults that leave the tree whole come out together, in order of the file. */
static void several_faults_come_in_one_go(void **state)
{
    struct fixture *f = *state;
    struct model_node *root = read_text(f, "l: &q 1\n"
                                           "ops:\n"
                                           "  - {m: 1}\n"
                                           "  - {m: 1, k: !t 1, m: 2}\n"
                                           "l: 2\n");
    assert_non_null(root);
    assert_int_equal(f->errors.count, 4);
    const struct model_error *list = f->errors.list;
    assert_int_equal(list[0].place.line, 1);
    assert_string_equal(list[1].message, "tag \"!t\" is not allowed");
    assert_string_equal(list[2].key, "ops[1].m");
    assert_string_equal(list[3].key, "l");
    assert_int_equal(list[3].place.line, 5);
}

static const char *nested(struct fixture *f, int depth)
{
    char *text = model_arena_alloc(f->arena, (size_t)depth * 2 + 1);
    memset(text, '[', (size_t)depth);
    memset(text + depth, ']', (size_t)depth);
    return text;
}

static void depth_is_limited(void **state)
{
    struct fixture *f = *state;
    assert_non_null(read_text(f, nested(f, MODEL_YAML_DEPTH_MAX)));
    assert_null(read_text(f, nested(f, MODEL_YAML_DEPTH_MAX + 1)));
    assert_string_equal(f->errors.list[0].message,
                        "nested more than 64 levels deep");
    assert_int_equal(f->errors.list[0].place.column, 65);
    forget(f);
    assert_null(read_text(f, nested(f, 1000000)));
    assert_int_equal(f->errors.count, 1);
}

static void byte_order_mark_takes_no_column(void **state)
{
    struct fixture *f = *state;
    struct model_node *root = read_text(f, "\xEF\xBB\xBF"
                                           "a: 1\n");
    assert_int_equal(root->first->key_place.column, 1);
    assert_string_equal(root->first->key, "a");
}

static void files_that_cannot_be_read(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *file;
        const char *message;
    } rows[] = {
        {"/nonexistent/x.yaml", "cannot be read: no such file"},
        {"/tmp", "cannot be read: a directory, not a file"},
        {"/dev/zero", "is larger than 64 MiB"},
        {"/dev/null", "is empty"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_null(model_yaml_read_file(f->arena, rows[i].file, &f->errors));
        assert_int_equal(f->errors.count, 1);
        assert_string_equal(f->errors.list[0].message, rows[i].message);
        assert_string_equal(f->errors.list[0].place.file, rows[i].file);
        assert_int_equal(f->errors.list[0].place.line, 0);
        forget(f);
    }
}

static void permission_is_needed(void **state)
{
    struct fixture *f = *state;
    if (geteuid() == 0) {
        skip(); /* root may read everything */
    }
    chmod(f->path, 0);
    assert_null(model_yaml_read_file(f->arena, f->path, &f->errors));
    assert_string_equal(f->errors.list[0].message,
                        "cannot be read: permission denied");
}

static void file_is_read(void **state)
{
    struct fixture *f = *state;
    file_fill(f, "a: 1\n", 5);
    struct model_node *root =
        model_yaml_read_file(f->arena, f->path, &f->errors);
    assert_string_equal(model_node_find(root, "a")->text, "1");
    assert_string_equal(root->place.file, f->path);
}

/* "-" is standard input, here a pipe of unknown length. */
static void standard_input_is_read(void **state)
{
    struct fixture *f = *state;
    int ends[2];
    int before = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "a: 1\nb: [", 9), 9);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    assert_null(model_yaml_read_file(f->arena, "-", &f->errors));
    assert_string_equal(f->errors.list[0].place.file, "-");
    assert_int_equal(f->errors.list[0].place.line, 2);
    /* standard input stays open */
    assert_int_not_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
    dup2(before, STDIN_FILENO);
    close(before);
}

static size_t printed_length(struct fixture *f)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    model_errors_print(&f->errors, stream);
    fclose(stream);
    for (size_t i = 0; i < length; i++) {
        assert_true(text[i] == '\n' || (unsigned char)text[i] >= 0x20);
        assert_true(text[i] != 0x7F);
    }
    free(text);
    return length;
}

static uint64_t random_bits(uint64_t *seed)
{
    uint64_t z = *seed += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* Nonsense of 10 MB: bytes, then printable letters, then one long key. */
static void nonsense_gets_a_short_answer(void **state)
{
    struct fixture *f = *state;
    size_t length = 10000000;
    char *text = malloc(length + 1);
    uint64_t seed = 5;
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < length; i++) {
            uint64_t bits = random_bits(&seed);
            unsigned char letter = (unsigned char)bits;
            letter = round == 1 ? 0x20 + letter % 95 : letter;
            ((unsigned char *)text)[i] = round == 2 ? 'k' : letter;
        }
        text[length] = '\0';
        model_yaml_read_text(f->arena, "t", text, length, &f->errors);
        /* letters may by chance be one long scalar */
        assert_true(round > 0 || f->errors.count > 0);
        assert_in_range(printed_length(f), 0, 2000);
        forget(f);
    }
    free(text);
}

/* 500,000 keys, half of them twice: the time must not be quadratic. */
static void huge_mappings_are_read_in_time(void **state)
{
    struct fixture *f = *state;
    enum { KEYS = 500000 };
    char *text = malloc((size_t)KEYS * 20);
    size_t length = 0;
    for (int i = 0; i < KEYS; i++) {
        length += (size_t)sprintf(text + length, "key_%d: v\n", i % 400000);
    }
    clock_t start = clock();
    struct model_node *root =
        model_yaml_read_text(f->arena, "t", text, length, &f->errors);
    free(text);
    assert_int_equal(root->count, KEYS);
    assert_int_equal(f->errors.count, 100000);
    /* generous: it takes about a second, quadratic would take an hour */
    assert_true((clock() - start) / CLOCKS_PER_SEC < 60);
}

static void nodes_are_built_by_hand(void **state)
{
    struct fixture *f = *state;
    struct model_node *root =
        model_node_new(f->arena, MODEL_MAPPING, NULL, NULL, NULL);
    char text[] = "1 us";
    struct model_node *a =
        model_node_new(f->arena, MODEL_SCALAR, root, "a", text);
    text[0] = '2';
    model_node_new(f->arena, MODEL_SEQUENCE, root, "b", NULL);
    assert_string_equal(a->text, "1 us");
    assert_ptr_equal(model_node_find(root, "a"), a);
    assert_int_equal(root->count, 2);
    assert_ptr_equal(root->first->next, root->last);
}

static char *written(struct fixture *f, const struct model_node *root)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_int_equal(model_yaml_write(root, stream), MODEL_OK);
    fclose(stream);
    char *copy = model_arena_text_n(f->arena, text, length);
    free(text);
    return copy;
}

static void written_form_as_by_hand(void **state)
{
    struct fixture *f = *state;
    const char text[] = "name: a40\n"
                        "hbm:\n"
                        "  rate: {value: 696 GB/s, from: datasheet}\n"
                        "  size: 48 GB\n"
                        "l2: {size: 6 MB}\n"
                        "tile: [128, 256]\n"
                        "ops:\n"
                        "- {id: g, m: 1}\n"
                        "- {id: \"h\", m: 2}\n"
                        "none: {}\n";
    assert_string_equal(written(f, read_text(f, text)), text);
    forget(f);
    /* all scalars, but the first level stays in block style */
    assert_string_equal(written(f, read_text(f, "{a: 1, b: 2}")),
                        "a: 1\nb: 2\n");
}

static void writing_fails_with_the_stream(void **state)
{
    struct fixture *f = *state;
    struct model_node *root = read_text(f, "a: 1\n");
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    assert_int_equal(model_yaml_write(root, full), MODEL_FAULT);
    fclose(full);
}

static void trees_equal(const struct model_node *a, const struct model_node *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->count, b->count);
    assert_true((a->key == NULL) == (b->key == NULL));
    if (a->key != NULL) {
        assert_string_equal(a->key, b->key);
    }
    if (a->kind == MODEL_SCALAR) {
        assert_string_equal(a->text, b->text);
    }
    const struct model_node *y = b->first;
    for (const struct model_node *x = a->first; x != NULL; x = x->next) {
        trees_equal(x, y);
        y = y->next;
    }
}

/* Words that are hard to write: each must come back as the same text. */
static const char *const hard_words[] = {
    "",
    " ",
    "a b",
    " a",
    "a ",
    "- a",
    "a: b",
    "a #b",
    "#",
    "{",
    "[a]",
    "]",
    "'",
    "\"",
    "a\nb",
    "\n",
    "a\n\n b",
    "\t",
    "a\tb",
    "---",
    "...",
    "--- a",
    "null",
    "~",
    "true",
    "1e3",
    "&a",
    "*a",
    "!a",
    "%a",
    "@a",
    "`a",
    "?",
    "? a",
    ":",
    "::",
    "a:",
    ":a",
    "-",
    "--",
    ",",
    "a,b",
    "a, b",
    "|",
    ">",
    "=",
    "<<",
    "\\",
    "\\n",
    "\x7F",
    "\x1B[2J",
    "\xC2\x85",
    "\xC2\xA0",
    "\xE2\x80\xA8",
    "\xC3\xA9",
    "400 Gbit/s",
    "a'b",
    "a\"b",
    "\r",
    "a\r\nb",
    "\xF0\x9F\x98\x80",
    "\xEF\xBB\xBF",
    "a  b   c",
    "key with many words in it",
};

static const char *random_word(struct fixture *f, uint64_t *seed)
{
    enum { COUNT = sizeof hard_words / sizeof hard_words[0] };
    const char *a = hard_words[random_bits(seed) % COUNT];
    const char *b = hard_words[random_bits(seed) % COUNT];
    return random_bits(seed) % 2 == 0
               ? a
               : model_arena_format(f->arena, "%s%s", a, b);
}

static void random_tree(struct fixture *f,
                        uint64_t *seed,
                        struct model_node *parent,
                        int depth)
{
    int count = (int)(random_bits(seed) % 5);
    for (int i = 0; i < count; i++) {
        const char *key =
            parent->kind == MODEL_SEQUENCE
                ? NULL
                : model_arena_format(f->arena, "%s%d", random_word(f, seed), i);
        if (depth < 4 && random_bits(seed) % 2 == 0) {
            struct model_node *node = model_node_new(
                f->arena,
                random_bits(seed) % 2 == 0 ? MODEL_SEQUENCE : MODEL_MAPPING,
                parent, key, NULL);
            random_tree(f, seed, node, depth + 1);
        } else {
            model_node_new(f->arena, MODEL_SCALAR, parent, key,
                           random_word(f, seed))
                ->quoted = random_bits(seed) % 2 == 0;
        }
    }
}

static void writing_and_reading_is_the_identity(void **state)
{
    struct fixture *f = *state;
    uint64_t seed = 77;
    for (int i = 0; i < 3000; i++) {
        struct model_node *root = model_node_new(
            f->arena, i % 2 == 0 ? MODEL_SEQUENCE : MODEL_MAPPING, NULL, NULL,
            NULL);
        random_tree(f, &seed, root, 0);
        const char *text = written(f, root);
        struct model_node *back = read_text(f, text);
        if (f->errors.count > 0) {
            fail_msg("%s: %s", f->errors.list[0].message, text);
        }
        trees_equal(root, back);
        /* what was read is written alike */
        assert_string_equal(written(f, back), written(f, read_text(f, text)));
        forget(f);
    }
}

static void single_words_come_back(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof hard_words / sizeof hard_words[0]; i++) {
        struct model_node *root =
            model_node_new(f->arena, MODEL_SCALAR, NULL, NULL, hard_words[i]);
        trees_equal(root, read_text(f, written(f, root)));
        forget(f);
    }
    /* longer than a simple key may be */
    struct model_node *root =
        model_node_new(f->arena, MODEL_MAPPING, NULL, NULL, NULL);
    model_node_new(f->arena, MODEL_SCALAR, root,
                   model_arena_format(f->arena, "%2000d", 1), "x");
    trees_equal(root, read_text(f, written(f, root)));
}

static const char set_text[] = "nics:\n"
                               "  rate: {value: 1 GB/s, from: datasheet, "
                               "source: s}\n"
                               "  lag: 1 us\n"
                               "ops:\n"
                               "  - {m: 1}\n"
                               "  - {m: 2}\n"
                               "empty:\n"
                               "tile: [[1, 2], 3]\n";

static const char *set_and_write(struct fixture *f,
                                 struct model_node *root,
                                 const char *assignment)
{
    assert_int_equal(model_node_set(f->arena, root, assignment, &f->errors),
                     MODEL_OK);
    return written(f, root);
}

static void overrides_change_the_tree(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *assignment;
        const char *expected; /* a line of the tree written */
    } rows[] = {
        {"nics.lag=2 us", "\n  lag: 2 us\n"},
        {"nics.rate=200 Gbit/s",
         "\n  rate: {value: 200 Gbit/s, from: override}\n"},
        {"nics.rate={value: 2 GB/s, from: guess}",
         "\n  rate: {value: 2 GB/s, from: guess}\n"},
        {"ops[1].m=512", "\n- {m: 512}\n"},
        {"ops[0]={a: b=c}", "\n- {a: b=c}\n"},
        {"tile[0][1]=7", "\n- [1, 7]\n"},
        {"tile=[128, 256]", "\ntile: [128, 256]\n"},
        {"new.deep.key=1", "\nnew:\n  deep: {key: 1}\n"},
        {"empty.key=1", "\nempty: {key: 1}\n"},
        {"nics='x'", "\nops:"},
        {"nics.lag=\"\"", "\n  lag: \"\"\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct model_node *root = read_text(f, set_text);
        const char *text = set_and_write(f, root, rows[i].assignment);
        if (strstr(text, rows[i].expected) == NULL) {
            fail_msg("%s: %s", rows[i].assignment, text);
        }
        assert_int_equal(f->errors.count, 0);
        forget(f);
    }
}

static void overrides_are_placed(void **state)
{
    struct fixture *f = *state;
    struct model_node *root = read_text(f, set_text);
    model_node_set(f->arena, root, "nics.lag={a: [1]}", &f->errors);
    model_node_set(f->arena, root, "nics.new=1", &f->errors);
    struct model_node *lag =
        model_node_find(model_node_find(root, "nics"), "lag");
    struct model_node *a = model_node_find(lag, "a");
    assert_string_equal(lag->place.file, "--set");
    assert_int_equal(lag->place.line, 0);
    assert_string_equal(a->key_place.file, "--set");
    assert_int_equal(a->first->place.line, 0);
    assert_string_equal(lag->next->key_place.file, "--set");
}

static void faulty_overrides_name_the_assignment(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *assignment;
        enum model_status status;
        const char *message;
    } rows[] = {
        {"nics", MODEL_USAGE, "\"nics\": no \"=\""},
        {"=1", MODEL_USAGE, "\"=1\": a key is missing in the path"},
        {"a..b=1", MODEL_USAGE, "\"a..b=1\": a key is missing in the path"},
        {"a.=1", MODEL_USAGE, "\"a.=1\": a key is missing in the path"},
        {".a=1", MODEL_USAGE, "\".a=1\": a key is missing in the path"},
        {"nics.lag=", MODEL_USAGE, "\"nics.lag=\": no value"},
        {"ops[2].m=1", MODEL_BAD_INPUT,
         "\"ops[2].m=1\": no entry [2], there are 2"},
        {"ops[99999999999999999999]=1", MODEL_BAD_INPUT,
         "\"ops[99999999999999999999]=1\": no entry [18446744073709551615], "
         "there are 2"},
        {"ops[x]=1", MODEL_USAGE, "\"ops[x]=1\": no whole number in brackets"},
        {"ops[-1]=1", MODEL_USAGE,
         "\"ops[-1]=1\": no whole number in brackets"},
        {"ops[0=1", MODEL_USAGE, "\"ops[0=1\": no whole number in brackets"},
        {"ops[0]m=1", MODEL_USAGE,
         "\"ops[0]m=1\": a dot is missing behind \"]\""},
        {"ops.[0]=1", MODEL_USAGE,
         "\"ops.[0]=1\": a key is missing in the path"},
        {"nics[0]=1", MODEL_BAD_INPUT,
         "\"nics[0]=1\": no entry [0], there are 0"},
        {"ops.m=1", MODEL_BAD_INPUT,
         "\"ops.m=1\": no mapping to look for \"m\" in"},
        {"nics.lag.x=1", MODEL_BAD_INPUT,
         "\"nics.lag.x=1\": no mapping to look for \"x\" in"},
        {"nics.lag=[1", MODEL_BAD_INPUT,
         "\"nics.lag=[1\": did not find expected ',' or ']'"},
        {"nics.lag={a: 1, a: 2}", MODEL_BAD_INPUT,
         "\"nics.lag={a: 1, a: 2}\": duplicate key \"a\", the first is in "
         "line 1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct model_node *root = read_text(f, set_text);
        enum model_status status =
            model_node_set(f->arena, root, rows[i].assignment, &f->errors);
        if (f->errors.count != 1 ||
            strcmp(f->errors.list[0].message, rows[i].message) != 0) {
            fail_msg("%s: %s", rows[i].assignment, f->errors.list[0].message);
        }
        assert_int_equal(status, rows[i].status);
        assert_string_equal(f->errors.list[0].place.file, "--set");
        forget(f);
    }
}

/* Read a file while allocation number `fail` of the system fails. */
static bool reading_succeeds(const char *path, long fail)
{
    jmp_buf guard;
    struct model_errors errors = {0};
    model_arena_fail_after(fail);
    struct model_arena *arena = model_arena_new();
    if (arena == NULL || setjmp(guard) != 0) {
        model_arena_fail_after(-1);
        model_arena_free(arena);
        return false;
    }
    model_arena_guard(arena, &guard);
    errors.arena = arena;
    model_yaml_read_file(arena, path, &errors);
    model_arena_fail_after(-1);
    /* our guard is back in its place */
    assert_ptr_equal(model_arena_guard(arena, NULL), &guard);
    model_arena_free(arena);
    return true;
}

static int open_descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 256; fd++) {
        count += fcntl(fd, F_GETFD) != -1;
    }
    return count;
}

static void no_memory_ends_in_the_guard(void **state)
{
    struct fixture *f = *state;
    /* a mapping with more keys than are compared on the stack, and faults */
    const char text[] = "{a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8, "
                        "i: 9, j: 10, k: 11, l: 12, m: 13, n: 14, o: 15, "
                        "p: &x 16, q: [{z: 1, z: 2}], a: 3, r: [}\n";
    file_fill(f, text, sizeof text - 1);
    int descriptors = open_descriptors();
    long fail = 0;
    while (!reading_succeeds(f->path, fail)) {
        assert_int_equal(open_descriptors(), descriptors);
        fail++;
    }
    /* several blocks of 1, 2, 4 KiB .. at least */
    assert_true(fail >= 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
        TEST(tree_keeps_order_and_places),
        TEST(refusals_have_a_place),
        TEST(hints_and_excerpts_come_along),
        TEST(nul_bytes_are_refused),
        TEST(several_faults_come_in_one_go),
        TEST(depth_is_limited),
        TEST(byte_order_mark_takes_no_column),
        TEST(files_that_cannot_be_read),
        TEST(permission_is_needed),
        TEST(file_is_read),
        TEST(standard_input_is_read),
        TEST(nonsense_gets_a_short_answer),
        TEST(huge_mappings_are_read_in_time),
        TEST(nodes_are_built_by_hand),
        TEST(written_form_as_by_hand),
        TEST(writing_fails_with_the_stream),
        TEST(writing_and_reading_is_the_identity),
        TEST(single_words_come_back),
        TEST(overrides_change_the_tree),
        TEST(overrides_are_placed),
        TEST(faulty_overrides_name_the_assignment),
        TEST(no_memory_ends_in_the_guard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
