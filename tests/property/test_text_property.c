/*
 * test_text_property.c - what is printed reads back: topologies as notation,
 * plans as YAML, over random values.
 */
#include "model/notation.h"
#include "model/plan.h"
#include "model/units.h"

#include "tests/unit/fixture.h"

#include <gsl/gsl_rng.h>

static int pick(gsl_rng *random, int count)
{
    return (int)gsl_rng_uniform_int(random, (unsigned long)count);
}

/* A rate as people write it, in any unit, of at least 1 MB/s; no blank. */
static const char *random_rate(struct model_arena *arena, gsl_rng *random)
{
    static const char *const units[] = {"GB/s", "Gbit/s", "MB/s", "GiB/s"};
    double value = 8 + pick(random, 992);

    if (pick(random, 2) == 0) {
        value /= 8;
    }
    return model_arena_format(arena, "%g%s", value, units[pick(random, 4)]);
}

/* Pairs that some links join, each with some chance. */
static const char *
random_links(struct model_arena *arena, gsl_rng *random, int gpus)
{
    const char *text =
        model_arena_format(arena, " nvlink:links:0-%d", gpus - 1);

    for (int from = 0; from < gpus; from++) {
        for (int to = from + 1; to < gpus && to < 12; to++) {
            int links = 1 + pick(random, 9);

            if (pick(random, 8) == 0 && to < gpus - 1) {
                text = model_arena_format(arena, "%s,%d-%dx%d", text, from, to,
                                          links);
            }
        }
    }
    return model_arena_format(arena, "%s:%s", text, random_rate(arena, random));
}

static const char *
random_nvlink(struct model_arena *arena, gsl_rng *random, int gpus)
{
    static const char *const words[] = {"", " nvswitch", " nvlink:mesh",
                                        " nvlink:pairs"};
    int kind = pick(random, gpus % 2 == 0 ? 4 : 3);

    if (gpus > 1 && pick(random, 4) == 0) {
        return random_links(arena, random, gpus);
    }
    kind = kind == 2 && gpus == 1 ? 0 : kind; /* a mesh of one has no link */
    return kind == 0 || pick(random, 2) == 0
               ? words[kind]
               : model_arena_format(arena, "%s:%s", words[kind],
                                    random_rate(arena, random));
}

static const char *random_net(struct model_arena *arena, gsl_rng *random)
{
    static const char *const words[] = {"", " net:flat", " net:rails"};
    int leaf = 1 + pick(random, 40);
    int ratio = 1 + pick(random, 8);

    switch (pick(random, 5)) {
    case 0:
        return model_arena_format(arena, " net:tree:%d/leaf:%d", leaf, ratio);
    case 1:
        return model_arena_format(arena, " net:rails:%d", ratio);
    default:
        return words[pick(random, 3)];
    }
}

/*
 * A valid notation: GPUs = sockets x switches x GPUs below one. (One random
 * number a statement, here and below: the order within one is the compiler's.)
 */
static const char *random_notation(struct model_arena *arena, gsl_rng *random)
{
    static const char *const names[] = {"a40", "a100", "h100", "v100"};
    int sockets = 1 << pick(random, 3);
    int per_switch = 1 << pick(random, 3);
    int gpus = sockets * per_switch * (1 + pick(random, 3));
    int nodes = pick(random, 3) == 0 ? 1 : 1 + pick(random, 100);
    int nics = 1 + pick(random, 8);
    int generation = 3 + pick(random, 4);
    const char *name = names[pick(random, 4)];
    const char *text =
        model_arena_format(arena, "%dx%d gpu:%s%s", nodes, gpus, name,
                           random_nvlink(arena, random, gpus));

    /* defaults: one GPU below a root port, one socket */
    if (per_switch > 1 || pick(random, 2) == 0) {
        text = model_arena_format(arena, "%s pcie:%d:%d/switch", text,
                                  generation, per_switch);
    } else if (pick(random, 2) == 0) {
        text = model_arena_format(arena, "%s pcie:%d", text, generation);
    }
    if (sockets > 1) {
        text = model_arena_format(arena, "%s sockets:%d", text, sockets);
    }
    if (nodes > 1 || pick(random, 2) == 0) {
        text = model_arena_format(arena, "%s nic:%dx%s", text, nics,
                                  random_rate(arena, random));
    }
    return model_arena_format(arena, "%s%s", text, random_net(arena, random));
}

static bool same_links(const struct model_topology *a,
                       const struct model_topology *b)
{
    size_t pairs = (size_t)a->gpus_per_node * (size_t)a->gpus_per_node;

    return (a->nvlink.links == NULL) == (b->nvlink.links == NULL) &&
           (a->nvlink.links == NULL ||
            memcmp(a->nvlink.links, b->nvlink.links, pairs * sizeof(int)) == 0);
}

static void same_topology(const char *text,
                          const struct model_topology *a,
                          const struct model_topology *b)
{
    if (a->node_count != b->node_count ||
        a->gpus_per_node != b->gpus_per_node ||
        strcmp(a->gpu.name, b->gpu.name) != 0 ||
        a->nvlink.kind != b->nvlink.kind ||
        a->nvlink.bytes_per_us != b->nvlink.bytes_per_us ||
        a->pcie.generation != b->pcie.generation ||
        a->pcie.gpus_per_switch != b->pcie.gpus_per_switch ||
        a->host.sockets != b->host.sockets || a->nics.count != b->nics.count ||
        a->nics.bytes_per_us != b->nics.bytes_per_us ||
        a->network.kind != b->network.kind ||
        a->network.nodes_per_leaf != b->network.nodes_per_leaf ||
        a->network.oversubscription_ratio !=
            b->network.oversubscription_ratio ||
        !same_links(a, b)) {
        fail_msg("%s is another after printing", text);
    }
}

static void notation_round_trips(void **state)
{
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    struct model_arena *arena = model_arena_new();
    int cases = fixture_cases();

    (void)state;
    assert_non_null(arena);
    gsl_rng_set(random, 11);
    for (int i = 0; i < cases; i++) {
        const char *text = random_notation(arena, random);
        const struct model_topology *once =
            fixture_topology(arena, text, NULL, 0);
        const char *printed = model_notation_print(arena, once);
        const struct model_topology *twice =
            fixture_topology(arena, printed, NULL, 0);

        same_topology(text, once, twice);
        assert_string_equal(model_notation_print(arena, twice), printed);
        model_arena_reset(arena);
    }
    model_arena_free(arena);
    gsl_rng_free(random);
}

/* Letters that mean something in YAML, and some that do not; NULL at times. */
static const char *random_text(struct model_arena *arena, gsl_rng *random)
{
    static const char *const parts[] = {"a",
                                        "B",
                                        "7",
                                        "-",
                                        " ",
                                        ":",
                                        ": ",
                                        "#",
                                        " #",
                                        ",",
                                        "{",
                                        "}",
                                        "[",
                                        "]",
                                        "'",
                                        "\"",
                                        "\\",
                                        "!",
                                        "&",
                                        "*",
                                        "?",
                                        "|",
                                        ">",
                                        "%",
                                        "@",
                                        "\xC3\xA9",
                                        "null",
                                        "~",
                                        "true",
                                        "1e5",
                                        "step0.forward.3",
                                        ".",
                                        "_",
                                        "\xE2\x82\xAC",
                                        "=",
                                        "<<",
                                        "---",
                                        "\t"};
    const char *text = "";
    int length = 1 + pick(random, 6);

    if (pick(random, 3) == 0) {
        return NULL;
    }
    for (int i = 0; i < length; i++) {
        text = model_arena_format(arena, "%s%s", text,
                                  parts[pick(random, FIXTURE_COUNT(parts))]);
    }
    return text;
}

/* At least 16 bytes: whole ones, or a fraction. */
static double random_bytes(gsl_rng *random, double most)
{
    bool whole = pick(random, 2) == 0;
    double part = gsl_rng_uniform_pos(random);

    return whole ? floor(part * most) + 16 : 16 + exp2(part * log2(most - 16));
}

static struct model_plan_row random_row(struct model_arena *arena,
                                        gsl_rng *random)
{
    struct model_plan_row row = {.kind = MODEL_UNSET,
                                 .config = model_config_none()};

    row.op = random_text(arena, random);
    row.window = random_text(arena, random);
    row.group = random_text(arena, random);
    if (pick(random, 2) == 0) {
        row.kind = MODEL_OP_ALL_GATHER +
                   pick(random, MODEL_OP_KINDS - MODEL_OP_ALL_GATHER);
    }
    if (pick(random, 2) == 0) {
        row.min_bytes = random_bytes(random, 1e15);
        row.max_bytes = row.min_bytes * (1 + pick(random, 2));
    }
    if (pick(random, 2) == 0) {
        row.config.algorithm = pick(random, MODEL_ALGORITHMS);
    }
    if (pick(random, 2) == 0) {
        row.config.protocol = pick(random, MODEL_PROTOCOLS);
    }
    if (pick(random, 2) == 0) {
        row.config.transport = pick(random, MODEL_TRANSPORTS);
    }
    row.config.channels = pick(random, 2) == 0 ? 0 : 1 + pick(random, 1024);
    row.config.threads = pick(random, 2) == 0 ? 0 : 32 + pick(random, 993);
    row.config.chunk_bytes =
        pick(random, 2) == 0 ? 0 : random_bytes(random, 1e9);
    return row;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool same_row(const struct model_plan_row *a,
                     const struct model_plan_row *b)
{
    return same_text(a->op, b->op) && same_text(a->window, b->window) &&
           same_text(a->group, b->group) && a->kind == b->kind &&
           !(a->min_bytes != b->min_bytes) && !(a->max_bytes != b->max_bytes) &&
           model_config_equal(&a->config, &b->config);
}

static void plan_round_trip(struct model_arena *arena,
                            const struct model_plan *plan)
{
    struct model_errors errors = {.arena = arena};
    struct model_plan back = {.rows = NULL};
    struct fixture_file file = fixture_file_open("");
    FILE *stream = fopen(file.path, "w");
    enum model_status status;

    assert_non_null(stream);
    assert_int_equal(model_plan_write(arena, plan, "t", NULL, stream),
                     MODEL_OK);
    assert_int_equal(fclose(stream), 0);
    status = model_plan_read(arena, file.path, &back, &errors);
    fixture_file_close(&file);
    fixture_no_errors(&errors);
    assert_int_equal(status, MODEL_OK);
    assert_true(same_text(back.strategy, plan->strategy));
    assert_int_equal(back.row_count, plan->row_count);
    for (int i = 0; i < plan->row_count; i++) {
        if (!same_row(&plan->rows[i], &back.rows[i])) {
            fail_msg("row %d of %d: op \"%s\", now \"%s\"", i, plan->row_count,
                     plan->rows[i].op != NULL ? plan->rows[i].op : "(none)",
                     back.rows[i].op != NULL ? back.rows[i].op : "(none)");
        }
    }
}

static void plans_round_trip(void **state)
{
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    struct model_arena *arena = model_arena_new();
    int cases = fixture_cases();

    (void)state;
    assert_non_null(arena);
    gsl_rng_set(random, 12);
    for (int i = 0; i < cases; i++) {
        struct model_plan_row rows[6];
        struct model_plan plan = {.rows = rows};

        plan.row_count = pick(random, 7);
        plan.strategy = random_text(arena, random);
        for (int j = 0; j < plan.row_count; j++) {
            rows[j] = random_row(arena, random);
        }
        plan_round_trip(arena, &plan);
        model_arena_reset(arena);
    }
    model_arena_free(arena);
    gsl_rng_free(random);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(notation_round_trips),
        cmocka_unit_test(plans_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
