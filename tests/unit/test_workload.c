/*
 * test_workload.c - the op form of a workload: each key, defaults, groups,
 * streams, repeats, dependencies, and each fault with its place.
 */
#include "model/workload.h"

#include "tests/unit/fixture.h"

static const struct model_topology *machine(struct model_arena *arena)
{
    return fixture_topology(arena, "2x4 gpu:a40 nvswitch nic:1x100Gbit/s", NULL,
                            0);
}

static struct model_workload *read_ops(struct model_arena *arena,
                                       const char *text)
{
    return fixture_workload(arena, machine(arena),
                            model_arena_format(arena, "name: w\n%s", text));
}

static void every_key_arrives(void **state)
{
    const struct model_workload *w = read_ops(
        *state,
        "streams: {copies: 7}\n"
        "ops:\n"
        "  - {id: g, kind: gemm, m: 10, n: 20, k: 30, batch: 4, type: fp16, "
        "tile: [64, 128], schedule: stream_k, sm_limit: 9, window: one, "
        "start: 3 us}\n"
        "  - {id: k, kind: kernel, ctas: 132, ctas_per_sm: 2, class: vector, "
        "schedule: persistent, flops: 2.2 TFLOP, hbm: 400 MB, after: [g]}\n"
        "  - {id: m, kind: memory, hbm: 1 MiB, stream: copies}\n"
        "  - {id: a, kind: all_reduce, size: 256 MiB, group: node, "
        "algorithm: ring, protocol: simple, transport: shm, channels: 24, "
        "threads: 256, chunk: 64 KiB, after: [k, m]}\n");
    const struct model_op *g = &w->ops[0];
    const struct model_op *k = &w->ops[1];
    const struct model_op *m = &w->ops[2];
    const struct model_op *a = &w->ops[3];

    assert_string_equal(w->name, "w");
    assert_int_equal(w->op_count, 4);
    assert_int_equal(g->kind, MODEL_OP_GEMM);
    assert_near(g->m, 10, 0);
    assert_near(g->n, 20, 0);
    assert_near(g->k, 30, 0);
    assert_near(g->batch, 4, 0);
    assert_int_equal(g->type, MODEL_FP16);
    assert_int_equal(g->tile_m, 64);
    assert_int_equal(g->tile_n, 128);
    assert_int_equal(g->schedule, MODEL_STREAM_K);
    assert_int_equal(g->sm_limit, 9);
    assert_string_equal(g->window, "one");
    assert_near(g->start_us, 3, 0);
    assert_int_equal(k->ctas, 132);
    assert_int_equal(k->ctas_per_sm, 2);
    assert_int_equal(k->kernel_class, MODEL_CLASS_VECTOR);
    assert_int_equal(k->schedule, MODEL_PERSISTENT);
    assert_near(k->flops, 2.2e12, 1);
    assert_near(k->bytes, 400e6, 0);
    assert_int_equal(k->after_count, 1);
    assert_int_equal(k->after[0], 0);
    assert_near(m->bytes, 1048576, 0);
    assert_string_equal(w->streams[m->stream].name, "copies");
    assert_int_equal(w->streams[m->stream].priority, 7);
    assert_near(a->bytes, 268435456, 0);
    assert_int_equal(model_op_collective(a), MODEL_ALL_REDUCE);
    assert_string_equal(w->groups[a->group].name, "node");
    assert_int_equal(a->config.algorithm, MODEL_RING);
    assert_int_equal(a->config.protocol, MODEL_SIMPLE);
    assert_int_equal(a->config.transport, MODEL_SHM);
    assert_int_equal(a->config.channels, 24);
    assert_int_equal(a->config.threads, 256);
    assert_near(a->config.chunk_bytes, 65536, 0);
    assert_int_equal(a->after_count, 2);
    assert_int_equal(a->after[0], 1);
    assert_int_equal(a->after[1], 2);
}

static void keys_of_computation_arrive(void **state)
{
    const struct model_workload *w = read_ops(
        *state,
        "ops:\n"
        "  - {id: g, kind: gemm, m: 10, n: 20, k: 30, split_k: 2}\n"
        "  - {id: e, kind: grouped_gemm, rows: [10, 0, 30], n: 20, k: 40, "
        "tile: [64, 128], split_k: 4, repeat: 2}\n"
        "  - {id: f, kind: attention, batch: 2, heads: 8, kv_heads: 2, "
        "sequence: 100, keys: 300, head_width: 64, causal: false, "
        "backward: true, sm_limit: 9}\n"
        "  - {id: d, kind: attention, heads: 8, sequence: 100, "
        "head_width: 64}\n"
        "  - {id: x, kind: elementwise, elements: 3000000000, reads: 3, "
        "writes: 2, type: fp32}\n"
        "  - {id: n, kind: norm, rows: 10, columns: 100, residual: true, "
        "backward: true}\n");
    const struct model_op *e = &w->ops[2]; /* the second of two */
    const struct model_op *f = &w->ops[3];
    const struct model_op *d = &w->ops[4];

    assert_int_equal(w->ops[0].split_k, 2);
    assert_string_equal(e->id, "e.1");
    assert_int_equal(e->row_count, 3);
    assert_near(e->rows[2], 30, 0);
    assert_near(e->n, 20, 0);
    assert_near(e->k, 40, 0);
    assert_int_equal(e->tile_n, 128);
    assert_int_equal(e->split_k, 4);
    assert_near(e->flops, 2 * 40 * 20 * 40, 0);
    assert_near(f->attention.batch, 2, 0);
    assert_near(f->attention.heads, 8, 0);
    assert_near(f->attention.kv_heads, 2, 0);
    assert_near(f->attention.sequence, 100, 0);
    assert_near(f->attention.keys, 300, 0);
    assert_near(f->attention.head_width, 64, 0);
    assert_false(f->attention.causal);
    assert_true(f->attention.backward);
    assert_int_equal(f->sm_limit, 9);
    assert_near(f->flops, 2.5 * 4 * 2 * 8 * 100 * 300 * 64, 0);
    /* what is left out: heads, sequence, causal, forward */
    assert_near(d->attention.kv_heads, 8, 0);
    assert_near(d->attention.keys, 100, 0);
    assert_true(d->attention.causal && !d->attention.backward);
    /* 3e9 x 5 x 4; 10 x 100 x 4 x 2 + 10 x 8 + 100 x 3 x 2 */
    assert_near(w->ops[5].bytes, 60e9, 0);
    assert_near(w->ops[6].bytes, 8680, 0);
}

static void what_is_left_out_has_its_default(void **state)
{
    const struct model_workload *w =
        read_ops(*state, "ops:\n"
                         "  - {id: g, kind: gemm, m: 1, n: 1, k: 1}\n"
                         "  - {id: a, kind: all_gather, size: 1 MB}\n");
    const struct model_op *g = &w->ops[0];
    const struct model_op *a = &w->ops[1];

    assert_int_equal(g->type, MODEL_BF16);
    assert_int_equal(g->schedule, MODEL_WAVES);
    assert_near(g->batch, 1, 0);
    assert_int_equal(g->tile_m, 0);
    assert_int_equal(g->sm_limit, 0);
    assert_null(g->window);
    assert_int_equal(g->after_count, 0);
    assert_string_equal(w->streams[g->stream].name, "compute");
    assert_int_equal(w->streams[g->stream].priority, 0);
    /* collectives go before kernels */
    assert_string_equal(w->streams[a->stream].name, "comm");
    assert_int_equal(w->streams[a->stream].priority, 1);
    assert_string_equal(w->groups[a->group].name, "world");
    assert_int_equal(w->groups[a->group].count, 8);
    assert_int_equal(a->config.algorithm, MODEL_UNSET);
    assert_int_equal(a->config.protocol, MODEL_UNSET);
    assert_int_equal(a->config.transport, MODEL_UNSET);
    assert_int_equal(a->config.channels, 0);
    assert_int_equal(a->config.threads, 0);
    assert_near(a->config.chunk_bytes, 0, 0);
}

static void groups_have_their_ranks(void **state)
{
    const struct model_workload *w = read_ops(
        *state, "groups: {odd: [1, 3, 5, 7]}\n"
                "ops: [{id: a, kind: all_gather, size: 1 MB, group: odd}]\n");
    const struct model_group *odd = &w->groups[w->ops[0].group];

    assert_int_equal(w->group_count, 3);
    assert_string_equal(w->groups[0].name, "world");
    assert_int_equal(w->groups[0].count, 8);
    assert_string_equal(w->groups[1].name, "node");
    assert_int_equal(w->groups[1].count, 4);
    assert_string_equal(odd->name, "odd");
    assert_int_equal(odd->count, 4);
    assert_int_equal(odd->ranks[3], 7);
}

/*
 * Three copies in their stream's order. The first waits for what the row names;
 * who waits for the row waits for the last.
 */
static void repeat_makes_copies(void **state)
{
    const struct model_workload *w = read_ops(
        *state, "ops:\n"
                "  - {id: a, kind: all_gather, size: 1 MB}\n"
                "  - {id: g, kind: gemm, m: 1, n: 1, k: 1, repeat: 3, "
                "after: [a]}\n"
                "  - {id: b, kind: all_gather, size: 1 MB, after: [g]}\n");

    assert_int_equal(w->op_count, 5);
    assert_string_equal(w->ops[1].id, "g.0");
    assert_string_equal(w->ops[3].id, "g.2");
    assert_int_equal(w->ops[1].after_count, 1);
    assert_int_equal(w->ops[1].after[0], 0);
    assert_int_equal(w->ops[2].after_count, 0);
    assert_int_equal(w->ops[3].after_count, 0);
    assert_int_equal(w->ops[4].after_count, 1);
    assert_int_equal(w->ops[4].after[0], 3);
}

/* After a later one of another stream is no circle. */
static void after_may_point_ahead(void **state)
{
    const struct model_workload *w = read_ops(
        *state, "ops:\n"
                "  - {id: a, kind: all_gather, size: 1 MB, after: [g]}\n"
                "  - {id: g, kind: gemm, m: 1, n: 1, k: 1}\n");

    assert_int_equal(w->ops[0].after_count, 1);
    assert_int_equal(w->ops[0].after[0], 1);
}

/* A whole number may be written 1e1 wherever one is read (test_units.c). */
static void priorities_are_read_as_numbers(void **state)
{
    const struct model_workload *w =
        read_ops(*state, "streams: {comm: 1e1, slow: 0}\n"
                         "ops:\n"
                         "  - {id: a, kind: all_gather, size: 1 MB}\n"
                         "  - {id: b, kind: all_gather, size: 1 MB, "
                         "stream: slow}\n");

    assert_int_equal(w->streams[w->ops[0].stream].priority, 10);
    assert_int_equal(w->streams[w->ops[1].stream].priority, 0);
}

static void overrides_reach_the_ops(void **state)
{
    static const char *const sets[] = {"ops[0].channels=32", "ops[1].m=4096",
                                       "ops[0].size=1 GB"};
    struct model_workload w;
    struct model_errors errors = {.arena = *state};

    assert_int_equal(model_workload_read(*state, "case-c6-channels", sets, 3,
                                         machine(*state), &w, &errors),
                     MODEL_OK);
    assert_int_equal(w.ops[0].config.channels, 32);
    assert_near(w.ops[0].bytes, 1e9, 0);
    assert_near(w.ops[1].m, 4096, 0);
    assert_near(w.ops[1].n, 10240, 0);
}

/* -- faults -- */

#define GEMM(id) "{id: " id ", kind: gemm, m: 1, n: 1, k: 1}"

static const struct {
    const char *text; /* below "name: w" */
    const char *key;
    const char *message;
    int line; /* of the first fault; 0: not judged */
} faults[] = {
    /* wrong key for a kind */
    {"ops: [{id: g, kind: gemm, m: 1, n: 1, k: 1, channels: 2}]",
     "ops[0].channels", "no meaning for kind gemm", 2},
    {"ops: [{id: g, kind: gemm, m: 1, n: 1, k: 1, flops: 1 TFLOP}]",
     "ops[0].flops", "no meaning for kind gemm", 2},
    {"ops: [{id: k, kind: kernel, ctas: 1, m: 4}]", "ops[0].m",
     "no meaning for kind kernel", 2},
    {"ops: [{id: m, kind: memory, hbm: 1 MB, type: bf16}]", "ops[0].type",
     "no meaning for kind memory", 2},
    {"ops: [{id: a, kind: all_gather, size: 1 MB, sm_limit: 3}]",
     "ops[0].sm_limit", "no meaning for kind all_gather", 2},
    {"ops: [{id: a, kind: all_gather, size: 1 MB, hbm: 1 MB}]", "ops[0].hbm",
     "no meaning for kind all_gather", 2},
    {"ops: [{id: s, kind: ring_step, size: 1 MB, group: node}]", "ops[0].group",
     "no meaning for kind ring_step", 2},
    {"ops: [{id: s, kind: ring_step, size: 1 MB, protocol: ll}]",
     "ops[0].protocol", "no meaning for kind ring_step", 2},
    /* missing keys */
    {"ops: [{id: s, kind: ring_step, channels: 4}]", "ops[0].size",
     "required for kind ring_step", 2},
    {"ops: [{id: g, kind: gemm, m: 1, n: 1}]", "ops[0].k",
     "required for kind gemm", 2},
    {"ops: [{id: k, kind: kernel}]", "ops[0].ctas", "required for kind kernel",
     2},
    {"ops: [{id: m, kind: memory}]", "ops[0].hbm", "required for kind memory",
     2},
    {"ops: [{id: a, kind: reduce_scatter}]", "ops[0].size",
     "required for kind reduce_scatter", 2},
    {"ops: [{kind: memory, hbm: 1 MB}]", "ops[0].id", "required", 2},
    {"ops: [{id: x}]", "ops[0].kind", "required", 2},
    /* values */
    {"ops: [{id: x, kind: all_together, size: 1 MB}]", "ops[0].kind", "", 2},
    {"ops: [{id: a, kind: all_gather, size: 0 B}]", "ops[0].size",
     "more than nothing", 2},
    {"ops: [{id: a, kind: all_gather, size: 100}]", "ops[0].size", "no unit",
     2},
    {"ops: [{id: g, kind: gemm, m: 0, n: 1, k: 1}]", "ops[0].m", "", 2},
    {"ops: [{id: g, kind: gemm, m: 1, n: 1, k: 1, tile: [128]}]", "ops[0].tile",
     "not two sides", 2},
    {"ops: [{id: g, kind: gemm, m: 1, n: 1, k: 1, tile: [128, 0]}]",
     "ops[0].tile", "not two sides", 2},
    {"ops: [{id: g, kind: gemm, m: 1, n: 1, k: 1, repeat: 0}]", "ops[0].repeat",
     "", 2},
    {"ops: [{id: g, kind: gemm, m: 1, n: 1, k: 1, colour: red}]",
     "ops[0].colour", "unknown key", 2},
    /* references */
    {"ops:\n  - " GEMM(
         "g") "\n"
              "  - {id: a, kind: all_gather, size: 1 MB, group: wrold}",
     "ops[1].group", "no such group: wrold", 4},
    {"ops:\n  - " GEMM(
         "g") "\n"
              "  - {id: a, kind: all_gather, size: 1 MB, after: [h]}",
     "ops[1].after", "no such op: h", 4},
    {"ops:\n  - " GEMM("g") "\n  - " GEMM("h") "\n  - " GEMM("g"), "ops[2].id",
     "used twice: g", 5},
    /* circles: itself; two streams; against the order of a stream */
    {"ops: [{id: g, kind: gemm, m: 1, n: 1, k: 1, after: [g]}]", NULL, "circle",
     2},
    {"ops:\n"
     "  - {id: a, kind: all_gather, size: 1 MB, after: [g]}\n"
     "  - {id: g, kind: gemm, m: 1, n: 1, k: 1, after: [a]}",
     NULL, "circle", 0},
    {"ops:\n"
     "  - {id: g, kind: gemm, m: 1, n: 1, k: 1, after: [h]}\n"
     "  - " GEMM("h"),
     NULL, "circle", 3},
    {"ops:\n"
     "  - {id: a, kind: all_gather, size: 1 MB}\n"
     "  - {id: g, kind: gemm, m: 1, n: 1, k: 1, after: [b]}\n"
     "  - {id: h, kind: gemm, m: 1, n: 1, k: 1}\n"
     "  - {id: b, kind: all_gather, size: 1 MB, after: [h]}",
     NULL, "circle", 0},
    /* groups and streams */
    {"groups: {g: [0, 8]}\nops: [" GEMM("g") "]", "groups.g", "bad rank \"8\"",
     2},
    {"groups: {g: [3, 1]}\nops: [" GEMM("g") "]", "groups.g", "bad rank \"1\"",
     2},
    {"groups: {g: [1, 1]}\nops: [" GEMM("g") "]", "groups.g", "bad rank \"1\"",
     2},
    {"groups: {g: []}\nops: [" GEMM("g") "]", "groups.g", "not a list of ranks",
     2},
    {"groups: {world: [0]}\nops: [" GEMM("g") "]", "groups", "always there", 2},
    {"groups: [0]\nops: [" GEMM("g") "]", "groups", "not a mapping", 2},
    {"streams: {comm: first}\nops: [" GEMM("g") "]", "streams", "bad priority",
     2},
    {"streams: {comm: 101}\nops: [" GEMM("g") "]", "streams", "bad priority",
     2},
    /* forms */
    {"streams: {}\n", NULL, "neither ops nor model", 1},
    {"ops: []", "ops", "not a list of operations", 2},
    {"ops: {id: g}", "ops", "not a list of operations", 2},
    {"ops: [" GEMM("g") "]\nmodel: {}", NULL, "both ops and model", 1},
};

static void faults_say_what_and_where(void **state)
{
    for (int i = 0; i < FIXTURE_COUNT(faults); i++) {
        struct model_errors errors = {.arena = *state};
        struct model_workload w;
        const char *text =
            model_arena_format(*state, "name: w\n%s", faults[i].text);

        if (fixture_workload_read(*state, machine(*state), text, &w, &errors) !=
            MODEL_BAD_INPUT) {
            fail_msg("read without a fault: %s", faults[i].text);
        }
        if (!fixture_has_error(&errors, faults[i].key, faults[i].message) ||
            errors.count != 1 ||
            (faults[i].line > 0 &&
             errors.list[0].place.line != faults[i].line)) {
            model_errors_print(&errors, stderr);
            fail_msg("%s\n%s in line %d is wanted", faults[i].text,
                     faults[i].message, faults[i].line);
        }
    }
}

/* All of a file in one go. */
static void faults_are_collected(void **state)
{
    struct model_errors errors = {.arena = *state};
    struct model_workload w;

    assert_int_equal(
        fixture_workload_read(
            *state, machine(*state),
            "name: w\n"
            "ops:\n"
            "  - {id: g, kind: gemm, m: 1, n: 1, channels: 2}\n"
            "  - {id: a, kind: all_gather, size: 1 MB, group: nowhere}\n"
            "  - {id: k, kind: kernel, ctas: -1}\n",
            &w, &errors),
        MODEL_BAD_INPUT);
    fixture_expect_error(&errors, "ops[0].k", "required");
    fixture_expect_error(&errors, "ops[0].channels", "no meaning");
    fixture_expect_error(&errors, "ops[1].group", "no such group");
    fixture_expect_error(&errors, "ops[2].ctas", "negative");
    assert_int_equal(errors.count, 4);
}

static void a_near_group_is_proposed(void **state)
{
    struct model_errors errors = {.arena = *state};
    struct model_workload w;

    assert_int_equal(
        fixture_workload_read(*state, machine(*state),
                              "name: w\nops: [{id: a, kind: all_gather, "
                              "size: 1 MB, group: wrold}]\n",
                              &w, &errors),
        MODEL_BAD_INPUT);
    assert_string_equal(errors.list[0].hint, "did you mean \"world\"?");
}

static void an_unknown_file_has_a_neighbour(void **state)
{
    struct model_errors errors = {.arena = *state};
    struct model_workload w;

    assert_int_equal(model_workload_read(*state, "phi-2-fspd", NULL, 0,
                                         machine(*state), &w, &errors),
                     MODEL_BAD_INPUT);
    assert_string_equal(errors.list[0].hint, "did you mean \"phi-2-fsdp\"?");
}

/* The copies' ids must not meet one that stands in the file. */
static void repeated_ids_stay_unique(void **state)
{
    struct model_errors errors = {.arena = *state};
    struct model_workload w;
    enum model_status status = fixture_workload_read(
        *state, machine(*state),
        "name: w\n"
        "ops:\n"
        "  - {id: g.0, kind: gemm, m: 1, n: 1, k: 1}\n"
        "  - {id: g, kind: gemm, m: 1, n: 1, k: 1, repeat: 2}\n",
        &w, &errors);

    for (int i = 0; status == MODEL_OK && i < w.op_count; i++) {
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(w.ops[i].id, w.ops[j].id);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_arrives),
        cmocka_unit_test(keys_of_computation_arrive),
        cmocka_unit_test(what_is_left_out_has_its_default),
        cmocka_unit_test(groups_have_their_ranks),
        cmocka_unit_test(repeat_makes_copies),
        cmocka_unit_test(after_may_point_ahead),
        cmocka_unit_test(priorities_are_read_as_numbers),
        cmocka_unit_test(overrides_reach_the_ops),
        cmocka_unit_test(faults_say_what_and_where),
        cmocka_unit_test(faults_are_collected),
        cmocka_unit_test(a_near_group_is_proposed),
        cmocka_unit_test(an_unknown_file_has_a_neighbour),
        cmocka_unit_test(repeated_ids_stay_unique),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
