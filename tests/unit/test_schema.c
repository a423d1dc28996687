/*
 * test_schema.c - binding by tables: each kind, each fault with its words and
 * place, defaults, sources and provenance, help.
 */
#include "model/schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct memory {
    double rate, size, share;
};

struct op {
    const char *id;
    int m;
};

struct machine {
    const char *name;
    int sm_count;
    bool shared;
    int wiring;
    struct memory hbm;
    struct memory l2;
    bool l2_given;
    struct model_list ops, tile, sizes, tags, rates;
    const struct model_node *extra;
    double lag;
    double odd;
};

static const char *const wirings[] = {"pairs", "mesh", "switch", NULL};

static const struct model_field memory_fields[] = {
    {.key = "rate",
     .kind = MODEL_FIELD_QUANTITY,
     .dimension = MODEL_RATE,
     .offset = offsetof(struct memory, rate),
     .min = 1000,
     .max = 1e7,
     .required = true,
     .sourced = true,
     .help = "peak bandwidth"},
    {.key = "size",
     .kind = MODEL_FIELD_QUANTITY,
     .dimension = MODEL_BYTES,
     .offset = offsetof(struct memory, size),
     .help = "capacity"},
    {.key = "share",
     .kind = MODEL_FIELD_QUANTITY,
     .dimension = MODEL_RATIO,
     .offset = offsetof(struct memory, share),
     .max = 1,
     .default_text = "88 %",
     .help = "what is achieved"},
    {.key = NULL}};

static const struct model_field op_fields[] = {
    {.key = "id",
     .kind = MODEL_FIELD_TEXT,
     .offset = offsetof(struct op, id),
     .required = true,
     .help = "name"},
    {.key = "m",
     .kind = MODEL_FIELD_COUNT,
     .offset = offsetof(struct op, m),
     .min = 1,
     .default_text = "7",
     .help = "rows"},
    {.key = NULL}};

static const struct model_field machine_fields[] = {
    {.key = "name",
     .kind = MODEL_FIELD_TEXT,
     .offset = offsetof(struct machine, name),
     .required = true,
     .help = "what it is called"},
    {.key = "sm_count",
     .kind = MODEL_FIELD_COUNT,
     .offset = offsetof(struct machine, sm_count),
     .required = true,
     .sourced = true,
     .help = "streaming multiprocessors"},
    {.key = "shared",
     .kind = MODEL_FIELD_BOOL,
     .offset = offsetof(struct machine, shared),
     .help = "is it shared"},
    {.key = "wiring",
     .kind = MODEL_FIELD_CHOICE,
     .offset = offsetof(struct machine, wiring),
     .choices = wirings,
     .default_text = "mesh",
     .help = "how it is wired"},
    {.key = "hbm",
     .kind = MODEL_FIELD_STRUCT,
     .offset = offsetof(struct machine, hbm),
     .fields = memory_fields,
     .required = true,
     .help = "main memory"},
    {.key = "l2",
     .kind = MODEL_FIELD_STRUCT,
     .offset = offsetof(struct machine, l2),
     .fields = memory_fields,
     .present_offset = offsetof(struct machine, l2_given) + 1,
     .help = "cache"},
    {.key = "ops",
     .kind = MODEL_FIELD_LIST,
     .offset = offsetof(struct machine, ops),
     .fields = op_fields,
     .item_bytes = sizeof(struct op),
     .help = "what runs"},
    {.key = "tile",
     .kind = MODEL_FIELD_QUANTITIES,
     .dimension = MODEL_COUNT,
     .offset = offsetof(struct machine, tile),
     .default_text = "[128, 256]",
     .help = "rows and columns"},
    {.key = "sizes",
     .kind = MODEL_FIELD_QUANTITIES,
     .dimension = MODEL_COUNT,
     .one_or_more = true,
     .offset = offsetof(struct machine, sizes),
     .help = "one, or a list"},
    {.key = "tags",
     .kind = MODEL_FIELD_TEXTS,
     .offset = offsetof(struct machine, tags),
     .help = "words"},
    {.key = "rates",
     .kind = MODEL_FIELD_QUANTITIES,
     .dimension = MODEL_RATE,
     .offset = offsetof(struct machine, rates),
     .sourced = true,
     .help = "measured rates"},
    {.key = "extra",
     .kind = MODEL_FIELD_NODE,
     .offset = offsetof(struct machine, extra),
     .help = "left to others"},
    {.key = "lag",
     .kind = MODEL_FIELD_QUANTITY,
     .dimension = MODEL_TIME,
     .offset = offsetof(struct machine, lag),
     .sourced = true,
     .default_text = "3 us",
     .help = "delay"},
    {.key = NULL}};

struct fixture {
    struct model_arena *arena;
    struct model_errors errors;
    struct model_provenance provenance;
    struct machine machine;
    struct model_node *root;
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

static void forget(struct fixture *f)
{
    struct model_arena *arena = f->arena;
    model_arena_reset(arena);
    *f = (struct fixture){.arena = arena, .errors.arena = arena};
}

/* Bind what is under "gpu", with the sources of the file. */
static enum model_status bind_root(struct fixture *f, const char *path)
{
    struct model_binding binding = {.arena = f->arena,
                                    .errors = &f->errors,
                                    .provenance = &f->provenance,
                                    .sources =
                                        model_node_find(f->root, "sources"),
                                    .path = path};
    struct model_node *gpu = model_node_find(f->root, "gpu");
    return model_schema_bind(&binding, machine_fields, gpu, &f->machine);
}

static enum model_status bind_text(struct fixture *f, const char *text)
{
    f->root = model_yaml_read_text(f->arena, "m.yaml", text, strlen(text),
                                   &f->errors);
    assert_non_null(f->root);
    enum model_status status = bind_root(f, NULL);
    return f->errors.count > 0 ? MODEL_BAD_INPUT : status;
}

#define SOURCES "sources: {sheet: 'NVIDIA A40, page 2', map: {a: 1}}\n"
#define GPU                                                                    \
    SOURCES "gpu:\n"                                                           \
            "  name: a40\n"                                                    \
            "  sm_count: 84\n"                                                 \
            "  hbm: {rate: 696 GB/s}\n"

static const char *help(struct fixture *f, const char *path)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    bool found = model_schema_help(machine_fields, path, stream);
    fclose(stream);
    const char *copy = found ? model_arena_text(f->arena, text) : NULL;
    free(text);
    return copy;
}

static void all_kinds_are_bound(void **state)
{
    struct fixture *f = *state;
    f->machine.odd = 5;
    enum model_status status = bind_text(
        f, SOURCES "gpu:\n"
                   "  name: \"\"\n"
                   "  sm_count: {value: 84, from: datasheet, source: sheet}\n"
                   "  shared: true\n"
                   "  wiring: switch\n"
                   "  hbm:\n"
                   "    rate: {value: 696 GB/s, from: measured, "
                   "source: our own run}\n"
                   "    size: 48 GB\n"
                   "    share: 0.5\n"
                   "  l2: {rate: 2 TB/s}\n"
                   "  ops: [{id: a}, {id: b, m: 3}]\n"
                   "  tile: [1, 2, 3]\n"
                   "  tags: [x, 'y z']\n"
                   "  rates: {value: [1 GB/s, 2 GB/s], from: fitted, "
                   "source: sheet}\n"
                   "  extra: [anything]\n"
                   "  lag: 1 ms\n");
    assert_int_equal(f->errors.count, 0);
    assert_int_equal(status, MODEL_OK);
    const struct machine *m = &f->machine;
    assert_string_equal(m->name, "");
    assert_int_equal(m->sm_count, 84);
    assert_true(m->shared);
    assert_int_equal(m->wiring, 2);
    assert_true(m->hbm.rate == 696000);
    assert_true(m->hbm.size == 48e9);
    assert_true(m->hbm.share == 0.5);
    assert_true(m->l2_given);
    assert_true(m->l2.rate == 2e6);
    assert_true(m->l2.share == 0.88);
    const struct op *ops = m->ops.items;
    assert_int_equal(m->ops.count, 2);
    assert_string_equal(ops[1].id, "b");
    assert_int_equal(ops[0].m, 7);
    assert_int_equal(ops[1].m, 3);
    assert_int_equal(m->tile.count, 3);
    assert_true(((double *)m->tile.items)[2] == 3);
    assert_string_equal(((const char **)m->tags.items)[1], "y z");
    assert_true(((double *)m->rates.items)[1] == 2000);
    assert_int_equal(m->extra->kind, MODEL_SEQUENCE);
    assert_true(m->lag == 1000);
    assert_true(m->odd == 5);
}

static void one_may_stand_for_a_list(void **state)
{
    struct fixture *f = *state;
    const double *sizes;

    assert_int_equal(bind_text(f, GPU "  sizes: 7\n"), MODEL_OK);
    sizes = f->machine.sizes.items;
    assert_int_equal(f->machine.sizes.count, 1);
    assert_true(sizes[0] == 7);
    forget(f);
    assert_int_equal(bind_text(f, GPU "  sizes: [8, 9]\n"), MODEL_OK);
    sizes = f->machine.sizes.items;
    assert_int_equal(f->machine.sizes.count, 2);
    assert_true(sizes[1] == 9);
    assert_string_equal(help(f, "sizes"),
                        "sizes                    one or a list: count, such "
                        "as 84, optional\n    one, or a list\n");
}

static void absent_keys_keep_or_get_defaults(void **state)
{
    struct fixture *f = *state;
    f->machine.shared = true;
    f->machine.l2.rate = 11;
    assert_int_equal(bind_text(f, GPU), MODEL_OK);
    const struct machine *m = &f->machine;
    assert_true(m->shared);         /* kept */
    assert_int_equal(m->wiring, 1); /* "mesh" */
    assert_false(m->l2_given);
    assert_true(m->l2.rate == 11);    /* kept: absent and optional */
    assert_true(m->l2.share == 0.88); /* default of an absent mapping */
    assert_int_equal(m->tile.count, 2);
    assert_true(((double *)m->tile.items)[1] == 256);
    assert_int_equal(m->ops.count, 0);
    assert_true(m->lag == 3);
}

static const struct model_provenance_entry *entry_find(const struct fixture *f,
                                                       const char *path)
{
    const struct model_provenance_entry *entry = f->provenance.first;
    while (entry != NULL && strcmp(entry->path, path) != 0) {
        entry = entry->next;
    }
    assert_non_null(entry);
    return entry;
}

static void provenance_is_recorded(void **state)
{
    struct fixture *f = *state;
    const char text[] =
        SOURCES "gpu:\n"
                "  name: a\n"
                "  sm_count: 84\n"
                "  hbm: {rate: {value: 2 GB/s, from: datasheet, source: "
                "sheet}}\n"
                "  l2: {rate: {value: 1 TB/s, from: guess}}\n"
                "  rates: {value: [1 GB/s, 2 GB/s], from: fitted, source: a "
                "run}\n"
                "  lag: {value: 1 us, from: override}\n";
    f->root = model_yaml_read_text(f->arena, "m.yaml", text, strlen(text),
                                   &f->errors);
    assert_int_equal(bind_root(f, "nodes.gpu"), MODEL_OK);
    const struct model_provenance_entry *rate =
        entry_find(f, "nodes.gpu.hbm.rate");
    assert_string_equal(rate->file, "m.yaml");
    assert_int_equal(rate->origin, MODEL_FROM_DATASHEET);
    assert_string_equal(rate->source, "NVIDIA A40, page 2");
    assert_true(rate->value == 2000);
    assert_int_equal(rate->dimension, MODEL_RATE);
    const struct model_provenance_entry *sms =
        entry_find(f, "nodes.gpu.sm_count");
    assert_int_equal(sms->origin, MODEL_FROM_GUESS);
    assert_null(sms->source);
    assert_int_equal(sms->dimension, MODEL_COUNT);
    assert_string_equal(entry_find(f, "nodes.gpu.rates[1]")->source, "a run");
    assert_int_equal(entry_find(f, "nodes.gpu.lag")->origin,
                     MODEL_FROM_OVERRIDE);
    /* hbm.rate; none; two rates; sm_count and l2.rate; lag */
    const int counts[MODEL_ORIGINS] = {1, 0, 2, 2, 1};
    assert_memory_equal(f->provenance.count, counts, sizeof counts);
    assert_null(f->provenance.last->next);
}

static void overrides_are_seen(void **state)
{
    struct fixture *f = *state;
    const char *const sets[] = {"gpu.sm_count=10", "gpu.hbm.rate=3 GB/s",
                                "gpu.l2.rate.value=4 GB/s"};
    const char text[] =
        SOURCES "gpu:\n"
                "  name: a\n"
                "  sm_count: 84\n"
                "  hbm: {rate: {value: 2 GB/s, from: datasheet, source: "
                "sheet}}\n"
                "  l2: {rate: {value: 1 GB/s, from: datasheet, source: "
                "sheet}}\n";
    f->root = model_yaml_read_text(f->arena, "m.yaml", text, strlen(text),
                                   &f->errors);
    for (size_t i = 0; i < 3; i++) {
        model_node_set(f->arena, f->root, sets[i], &f->errors);
    }
    assert_int_equal(bind_root(f, NULL), MODEL_OK);
    assert_true(f->machine.sm_count == 10);
    assert_true(f->machine.hbm.rate == 3000);
    assert_true(f->machine.l2.rate == 4000);
    /* the three; the default of lag is a guess */
    assert_int_equal(f->provenance.count[MODEL_FROM_OVERRIDE], 3);
    assert_int_equal(f->provenance.count[MODEL_FROM_GUESS], 1);
    assert_null(entry_find(f, "l2.rate")->source);
    assert_string_equal(entry_find(f, "hbm.rate")->file, "--set");
    assert_string_equal(entry_find(f, "lag")->file, "default");
}

/* All that is printed for one text under GPU. */
static const char *printed(struct fixture *f)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    model_errors_print(&f->errors, stream);
    fclose(stream);
    const char *copy = model_arena_text(f->arena, text);
    free(text);
    return copy;
}

static void a_fault_is_printed_whole(void **state)
{
    struct fixture *f = *state;
    bind_text(f, GPU "  lag: 400\n");
    assert_string_equal(printed(f),
                        "m.yaml:6:8: error: lag: no unit (write \"1.5 us\")\n"
                        "      lag: 400\n"
                        "           ^\n");
}

struct fault {
    const char *line; /* appended to GPU, as line 6 */
    int column;
    const char *words; /* key, message and hint as printed */
};

static void faults_have_words_and_places(void **state)
{
    struct fixture *f = *state;
    static const struct fault rows[] = {
        {"  l2: {rate: 5 GB}\n", 14,
         "l2.rate: \"5 GB\" is bytes, a rate is wanted (write \"400 "
         "Gbit/s\")"},
        {"  lag: -1 us\n", 8, "lag: \"-1 us\" is negative (write \"1.5 us\")"},
        {"  lag: .nan\n", 8,
         "lag: \".nan\" is NaN, not a number (write \"1.5 us\")"},
        {"  lag: .inf\n", 8, "lag: \".inf\" is infinite (write \"1.5 us\")"},
        {"  lag: 1e999 s\n", 8,
         "lag: \"1e999 s\" is too large (write \"1.5 us\")"},
        {"  lag: slow\n", 8,
         "lag: \"slow\" is not a number (write \"1.5 us\")"},
        {"  lag:\n", 7, "lag: no value (delay)"},
        {"  lag: [1 us]\n", 8, "lag: a single value is wanted, this is a list"},
        {"  lagg: 1 us\n", 3,
         "lagg: unknown key \"lagg\" (did you mean \"lag\"?)"},
        {"  l2: {rate: 1 TB/s, zzz: 1}\n", 22,
         "l2.zzz: unknown key \"zzz\" (known keys: rate, size, share)"},
        {"  name: b\n", 3,
         "gpu.name: duplicate key \"name\", the first is in line 3"},
        {"  l2: {size: 1 B}\n", 7,
         "l2.rate: required key is missing (write \"rate: 400 Gbit/s\")"},
        {"  l2: 5\n", 7,
         "l2: a mapping is wanted, this is a single value (write \"{key: "
         "value, ...}\")"},
        {"  ops: {id: a}\n", 8,
         "ops: a list is wanted, this is a mapping (write \"[..., ...]\")"},
        {"  ops: [{id: a}, 5]\n", 18,
         "ops[1]: a mapping is wanted, this is a single value (write \"{key: "
         "value, ...}\")"},
        {"  ops: [{id: a}, {id: b, m: 0}]\n", 29,
         "ops[1].m: \"0\" is out of range (write a value of at least 1)"},
        {"  ops: [{id: a, m: 3000000000}]\n", 20,
         "ops[0].m: \"3000000000\" is too large"},
        {"  ops: [{m: 1}]\n", 9, "ops[0].id: required key is missing (name)"},
        {"  tile: [1, 2 us]\n", 13,
         "tile[1]: \"2 us\" is a time, a whole number is wanted (write "
         "\"84\")"},
        {"  tile: 1\n", 9,
         "tile: a list is wanted, this is a single value (write \"[..., "
         "...]\")"},
        {"  sizes: []\n", 10, "sizes: an empty list (one, or a list)"},
        {"  sizes: 1.5\n", 10,
         "sizes: \"1.5\" is not a whole number (write \"84\")"},
        {"  tags: [a, [b]]\n", 13,
         "tags[1]: a single value is wanted, this is a list"},
        {"  l2: {rate: 1 MB/s}\n", 14,
         "l2.rate: \"1 MB/s\" is out of range (write a value from 1 GB/s to "
         "10 TB/s)"},
        {"  l2: {rate: 1 TB/s, share: 101 %}\n", 29,
         "l2.share: \"101 %\" is out of range (write a value of at most 1)"},
        {"  shared: yes\n", 11,
         "shared: \"yes\" is neither true nor false (write \"true\" or "
         "\"false\")"},
        {"  wiring: ring\n", 11,
         "wiring: unknown word \"ring\" (write one of: pairs, mesh, switch)"},
        /* sources */
        {"  lag: {value: 1 us, from: measured}\n", 8,
         "lag.source: from: measured needs a source (write a name from "
         "\"sources\", or from: guess)"},
        {"  lag: {value: 1 us, from: fitted, source: shet}\n", 44,
         "lag.source: no source \"shet\" (did you mean \"sheet\"?)"},
        {"  lag: {value: 1 us, from: guess, source: nowhere}\n", 43,
         "lag.source: no source \"nowhere\" (write it under \"sources\", or "
         "the full text here)"},
        {"  lag: {value: 1 us, from: hearsay, source: sheet}\n", 28,
         "lag.from: unknown word \"hearsay\" (write one of: datasheet, "
         "measured, fitted, guess, override)"},
        {"  lag: {value: 1 us, source: sheet}\n", 8,
         "lag.from: required key is missing (write one of: datasheet, "
         "measured, fitted, guess, override)"},
        {"  lag: {from: guess}\n", 8,
         "lag.value: required key is missing (write \"{value: .., from: .., "
         "source: ..}\")"},
        {"  lag: {value: 1 us, from: guess, sauce: x}\n", 35,
         "lag.sauce: unknown key \"sauce\" (did you mean \"source\"?)"},
        {"  lag: {value: 1 us, from: [guess]}\n", 28,
         "lag.from: a text is wanted"},
        {"  ops: [{id: a, m: {value: 1, from: guess}}]\n", 20,
         "ops[0].m: a single value is wanted, this is a mapping"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[500];
        char expected[500];
        snprintf(text, sizeof text, GPU "%s", rows[i].line);
        snprintf(expected, sizeof expected, "m.yaml:6:%d: error: %s\n",
                 rows[i].column, rows[i].words);
        enum model_status status = bind_text(f, text);
        if (f->errors.count != 1 ||
            strncmp(printed(f), expected, strlen(expected)) != 0) {
            fail_msg("%d faults, wanted\n%sbut got\n%s", f->errors.count,
                     expected, printed(f));
        }
        assert_int_equal(status, MODEL_BAD_INPUT);
        forget(f);
    }
}

static void a_source_that_is_no_text(void **state)
{
    struct fixture *f = *state;
    bind_text(f, GPU "  lag: {value: 1 us, from: fitted, source: map}\n");
    assert_int_equal(f->errors.count, 1);
    assert_string_equal(f->errors.list[0].message,
                        "source \"map\" is not a text");
    assert_int_equal(f->errors.list[0].place.line, 1);
}

/* Every fault of the file, the reader's first, then in order of the file. */
static void all_faults_come_in_one_go(void **state)
{
    struct fixture *f = *state;
    enum model_status status = bind_text(f, "gpu:\n"
                                            "  name: a\n"
                                            "  wiring: ring\n"
                                            "  hbm: {ratte: 1, size: 5}\n"
                                            "  lag: 1 GB\n"
                                            "  name: b\n");
    static const char *const keys[] = {"gpu.name", "wiring",   "hbm.ratte",
                                       "hbm.size", "hbm.rate", "lag",
                                       "sm_count"};
    assert_int_equal(status, MODEL_BAD_INPUT);
    assert_int_equal(f->errors.count, 7);
    for (size_t i = 0; i < 7; i++) {
        assert_string_equal(f->errors.list[i].key, keys[i]);
    }
    /* missing keys are placed at their mapping */
    assert_int_equal(f->errors.list[4].place.line, 4);
    assert_int_equal(f->errors.list[6].place.line, 2);
}

static void faulty_fields_keep_their_value(void **state)
{
    struct fixture *f = *state;
    f->machine.lag = 42;
    bind_text(f, GPU "  lag: 1 GB\n");
    assert_true(f->machine.lag == 42);
    assert_int_equal(f->machine.sm_count, 84);
}

static void an_override_fault_names_its_path(void **state)
{
    struct fixture *f = *state;
    f->root =
        model_yaml_read_text(f->arena, "m.yaml", GPU, strlen(GPU), &f->errors);
    model_node_set(f->arena, f->root, "gpu.hbm.rate=5 GB", &f->errors);
    model_node_set(f->arena, f->root, "gpu.hbm.ratte=5 GB/s", &f->errors);
    bind_root(f, "gpu");
    assert_string_equal(
        printed(f),
        "--set: error: gpu.hbm.rate: \"5 GB\" is bytes, a rate is wanted "
        "(write \"400 Gbit/s\")\n"
        "--set: error: gpu.hbm.ratte: unknown key \"ratte\" (did you mean "
        "\"rate\"?)\n");
}

/* 200,000 unknown keys are counted, not worded. */
static void many_faults_take_little(void **state)
{
    struct fixture *f = *state;
    enum { KEYS = 200000 };
    char *text = malloc((size_t)KEYS * 16 + 200);
    size_t length = (size_t)sprintf(text, "%s", GPU);
    for (int i = 0; i < KEYS; i++) {
        length += (size_t)sprintf(text + length, "  k%d: 1\n", i);
    }
    f->root =
        model_yaml_read_text(f->arena, "m.yaml", text, length, &f->errors);
    free(text);
    size_t before = model_arena_used_bytes(f->arena);
    assert_int_equal(bind_root(f, NULL), MODEL_BAD_INPUT);
    assert_int_equal(f->errors.count, KEYS);
    assert_true(model_arena_used_bytes(f->arena) - before < 100000);
}

static void help_prints_the_table(void **state)
{
    struct fixture *f = *state;
    assert_string_equal(
        help(f, "hbm"),
        "hbm                      mapping, required\n"
        "    main memory\n"
        "  rate                   rate, such as 400 Gbit/s, from 1 GB/s to 10 "
        "TB/s, required, with source\n"
        "      peak bandwidth\n"
        "  size                   bytes, such as 64 MiB, optional\n"
        "      capacity\n"
        "  share                  ratio, such as 0.88, of at most 1, default "
        "88 %\n"
        "      what is achieved\n");
    assert_string_equal(
        help(f, "wiring"),
        "wiring                   one of pairs, mesh, switch, default mesh\n"
        "    how it is wired\n");
    const char *m = "m                        whole number, of at least 1, "
                    "default 7\n    rows\n";
    assert_string_equal(help(f, "ops[3].m"), m);
    assert_string_equal(help(f, "ops.m"), m);
    assert_null(help(f, "hbm.ratte"));
    assert_null(help(f, "hbm.rate.x"));
    assert_null(help(f, "name.x"));
    const char *all = help(f, NULL);
    for (const struct model_field *row = machine_fields; row->key != NULL;
         row++) {
        assert_non_null(strstr(all, row->key));
        assert_non_null(strstr(all, row->help));
    }
}

static void origins_have_names(void **state)
{
    (void)state;
    assert_string_equal(model_origin_names[MODEL_FROM_DATASHEET], "datasheet");
    assert_string_equal(model_origin_names[MODEL_FROM_OVERRIDE], "override");
    assert_null(model_origin_names[MODEL_ORIGINS]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
        TEST(all_kinds_are_bound),
        TEST(one_may_stand_for_a_list),
        TEST(absent_keys_keep_or_get_defaults),
        TEST(provenance_is_recorded),
        TEST(overrides_are_seen),
        TEST(a_fault_is_printed_whole),
        TEST(faults_have_words_and_places),
        TEST(a_source_that_is_no_text),
        TEST(all_faults_come_in_one_go),
        TEST(faulty_fields_keep_their_value),
        TEST(an_override_fault_names_its_path),
        TEST(many_faults_take_little),
        TEST(help_prints_the_table),
        TEST(origins_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
