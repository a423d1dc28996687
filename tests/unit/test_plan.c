/*
 * test_plan.c - plans: what a row matches, that the first one counts, where a
 * setting comes from, and that writing and reading give the same plan.
 */
#include "model/plan.h"

#include "tests/unit/fixture.h"

static const char *const ops_text =
    "name: w\n"
    "groups: {pair: [0, 1]}\n"
    "ops:\n"
    "  - {id: a, kind: all_gather, size: 1 MiB, window: forward}\n"
    "  - {id: b, kind: all_gather, size: 8 MiB, window: backward}\n"
    "  - {id: c, kind: reduce_scatter, size: 8 MiB, window: backward}\n"
    "  - {id: d, kind: all_gather, size: 8 MiB, group: pair, channels: 3}\n";

static const struct model_topology *topology(struct model_arena *arena)
{
    static const char *const seen[] = {
        "nccl.observed.algorithm=ring", "nccl.observed.protocol=simple",
        "nccl.observed.channels=8", "nccl.observed.source=a test"};

    return fixture_topology(arena, "1x8 gpu:a40 nvswitch", seen, 4);
}

static struct model_workload *workload(struct model_arena *arena)
{
    return fixture_workload(arena, topology(arena), ops_text);
}

/* A row that matches all and sets nothing. */
static struct model_plan_row any_row(void)
{
    return (struct model_plan_row){.kind = MODEL_UNSET,
                                   .config = model_config_none()};
}

static struct model_plan read_plan(struct model_arena *arena, const char *text)
{
    struct fixture_file file = fixture_file_open(text);
    struct model_errors errors = {.arena = arena};
    struct model_plan plan = {.rows = NULL};
    enum model_status status = model_plan_read(
        arena, model_arena_text(arena, file.path), &plan, &errors);

    fixture_file_close(&file);
    fixture_no_errors(&errors);
    assert_int_equal(status, MODEL_OK);
    return plan;
}

static void a_file_is_read(void **state)
{
    struct model_plan plan = read_plan(
        *state,
        "strategy: lagom\n"
        "topology: lagom-a\n"
        "workload: phi-2-fsdp\n"
        "collectives:\n"
        "  - {op: a, window: forward, kind: all_reduce, min_size: 1 MiB, "
        "max_size: 2 MiB, group: world, algorithm: ring, protocol: simple, "
        "transport: shm, channels: 2, threads: 256, chunk: 684 KiB}\n"
        "  - {channels: 4}\n");
    const struct model_plan_row *row = &plan.rows[0];

    assert_string_equal(plan.strategy, "lagom");
    assert_int_equal(plan.row_count, 2);
    assert_string_equal(row->op, "a");
    assert_string_equal(row->window, "forward");
    assert_int_equal(row->kind, MODEL_OP_ALL_REDUCE);
    assert_near(row->min_bytes, 1048576, 0);
    assert_near(row->max_bytes, 2097152, 0);
    assert_string_equal(row->group, "world");
    assert_int_equal(row->config.algorithm, MODEL_RING);
    assert_int_equal(row->config.protocol, MODEL_SIMPLE);
    assert_int_equal(row->config.transport, MODEL_SHM);
    assert_int_equal(row->config.channels, 2);
    assert_int_equal(row->config.threads, 256);
    assert_near(row->config.chunk_bytes, 700416, 0); /* 684 x 1024 */
    row = &plan.rows[1];
    assert_null(row->op);
    assert_null(row->window);
    assert_int_equal(row->kind, MODEL_UNSET);
    assert_null(row->group);
    assert_int_equal(row->config.algorithm, MODEL_UNSET);
    assert_int_equal(row->config.transport, MODEL_UNSET);
    assert_int_equal(row->config.channels, 4);
    assert_int_equal(row->config.threads, 0);
}

static void a_row_matches_by_each_key(void **state)
{
    const struct model_workload *w = workload(*state);
    struct model_plan_row rows[9];
    /* which of the ops a, b, c, d each row matches */
    static const bool expected[9][4] = {
        {true, true, true, true},     /* nothing */
        {false, true, false, false},  /* op b */
        {false, true, true, false},   /* window backward */
        {true, true, false, true},    /* kind */
        {false, true, true, true},    /* least 8 MiB, inclusive */
        {true, false, false, false},  /* at most 1 MiB, inclusive */
        {false, false, false, true},  /* group pair */
        {false, false, true, false},  /* window and kind */
        {false, false, false, false}, /* op a in window backward */
    };

    for (int i = 0; i < 9; i++) {
        rows[i] = any_row();
    }
    rows[1].op = "b";
    rows[2].window = "backward";
    rows[3].kind = MODEL_OP_ALL_GATHER;
    rows[4].min_bytes = 8388608;
    rows[5].max_bytes = 1048576;
    rows[6].group = "pair";
    rows[7].window = "backward";
    rows[7].kind = MODEL_OP_REDUCE_SCATTER;
    rows[8].op = "a";
    rows[8].window = "backward";
    for (int i = 0; i < 9; i++) {
        struct model_plan plan = {.rows = &rows[i], .row_count = 1};

        for (int op = 0; op < 4; op++) {
            bool found = model_plan_find(&plan, w, &w->ops[op]) != NULL;

            if (found != expected[i][op]) {
                fail_msg("row %d, op %s: %d", i, w->ops[op].id, found);
            }
        }
    }
}

/* The first row that matches, not the closest and not the last. */
static void the_first_match_counts(void **state)
{
    const struct model_workload *w = workload(*state);
    struct model_plan_row rows[3] = {any_row(), any_row(), any_row()};
    struct model_plan plan = {.rows = rows, .row_count = 3};

    rows[0].window = "forward";
    rows[1].kind = MODEL_OP_ALL_GATHER;
    rows[2].op = "b";
    assert_ptr_equal(model_plan_find(&plan, w, &w->ops[0]), &rows[0]);
    assert_ptr_equal(model_plan_find(&plan, w, &w->ops[1]), &rows[1]);
    assert_null(model_plan_find(&plan, w, &w->ops[2]));
    assert_null(model_plan_find(NULL, w, &w->ops[0]));
}

/*
 * The op's own keys, then the row, then NCCL. A row that leaves a
 * setting out does not open the next row.
 */
static void settings_come_from_the_nearest(void **state)
{
    const struct model_workload *w = workload(*state);
    struct model_plan_row rows[2] = {any_row(), any_row()};
    struct model_plan plan = {.rows = rows, .row_count = 2};
    const struct model_nccl *nccl = fixture_nccl(*state, topology(*state), w);
    struct model_config config;

    rows[0].config.channels = 4;
    rows[0].config.transport = MODEL_SHM;
    rows[1].config.threads = 96;
    config = model_plan_config(&plan, w, &w->ops[3], nccl);
    assert_int_equal(config.channels, 3);          /* the op's */
    assert_int_equal(config.transport, MODEL_SHM); /* the row's */
    assert_int_equal(config.threads, 512);         /* NCCL's */
    assert_near(config.chunk_bytes, 2097152, 0);   /* NCCL's */
    assert_true(model_config_is_complete(&config));
    config = model_plan_config(&plan, w, &w->ops[0], nccl);
    assert_int_equal(config.channels, 4);
    config = model_plan_config(NULL, w, &w->ops[0], nccl);
    /* 1 MiB: 64 B for each of 512 threads of each channel, so all 8 */
    assert_int_equal(config.algorithm, MODEL_RING);
    assert_int_equal(config.channels, 8);
    assert_int_equal(config.threads, 512);
    config = model_plan_config(NULL, w, &w->ops[0], NULL);
    assert_false(model_config_is_complete(&config));
}

/* The transport p2p is 0 and must not read as "not set" or the other way. */
static void transport_p2p_is_a_setting(void **state)
{
    struct model_plan plan = read_plan(*state, "collectives:\n"
                                               "  - {transport: p2p}\n"
                                               "  - {algorithm: ring}\n");

    assert_int_equal(plan.rows[0].config.transport, MODEL_P2P);
    assert_int_equal(plan.rows[0].config.algorithm, MODEL_UNSET);
    assert_int_equal(plan.rows[1].config.transport, MODEL_UNSET);
    assert_int_equal(plan.rows[1].config.algorithm, MODEL_RING);
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static void same_row(const struct model_plan_row *a,
                     const struct model_plan_row *b)
{
    assert_true(same_text(a->op, b->op));
    assert_true(same_text(a->window, b->window));
    assert_true(same_text(a->group, b->group));
    assert_int_equal(a->kind, b->kind);
    assert_near(a->min_bytes, b->min_bytes, 0);
    assert_near(a->max_bytes, b->max_bytes, 0);
    assert_true(model_config_equal(&a->config, &b->config));
}

static void check_round_trip(struct model_arena *arena,
                             const struct model_plan *plan)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    struct model_plan back;

    assert_non_null(stream);
    assert_int_equal(model_plan_write(arena, plan, "t", "w", stream), MODEL_OK);
    assert_int_equal(fclose(stream), 0);
    back = read_plan(arena, text);
    free(text);
    assert_true(same_text(back.strategy, plan->strategy));
    assert_int_equal(back.row_count, plan->row_count);
    for (int i = 0; i < plan->row_count; i++) {
        same_row(&plan->rows[i], &back.rows[i]);
    }
}

static void writing_and_reading_is_the_identity(void **state)
{
    struct model_plan_row rows[4] = {any_row(), any_row(), any_row(),
                                     any_row()};
    struct model_plan plan = {
        .rows = rows, .row_count = 4, .strategy = "lagom"};

    rows[1].op = "step0.forward.1.all_gather";
    rows[1].window = "forward";
    rows[1].kind = MODEL_OP_ALL_GATHER;
    rows[1].min_bytes = 157286400;
    rows[1].max_bytes = 157286401;
    rows[1].group = "world";
    rows[1].config = (struct model_config){.algorithm = MODEL_RING,
                                           .protocol = MODEL_SIMPLE,
                                           .transport = MODEL_SHM,
                                           .channels = 61,
                                           .threads = 608,
                                           .chunk_bytes = 20736};
    rows[2].kind = MODEL_OP_ALL_REDUCE;
    rows[2].config.transport = MODEL_P2P;
    /* texts that YAML could take for something else */
    rows[3].op = "a: b, {c} # d";
    rows[3].window = "null";
    rows[3].group = "- \"x\" 'y'";
    check_round_trip(*state, &plan);
    plan.strategy = NULL;
    plan.row_count = 1;
    check_round_trip(*state, &plan);
}

/* No row at all: a workload without collectives has such a plan. */
static void an_empty_plan_round_trips(void **state)
{
    struct model_plan plan = {.row_count = 0, .strategy = "nccl"};

    check_round_trip(*state, &plan);
}

static void faults_are_reported(void **state)
{
    static const struct {
        const char *text, *key, *message;
    } rows[] = {
        {"strategy: x\n", "collectives", "required"},
        {"collectives: [{channels: 0}]\n", "collectives[0].channels", ""},
        {"collectives: [{threads: 16}]\n", "collectives[0].threads", ""},
        {"collectives: [{chunk: 5}]\n", "collectives[0].chunk", "no unit"},
        {"collectives: [{kind: gemm}]\n", "collectives[0].kind", ""},
        {"collectives: [{chanels: 3}]\n", "collectives[0].chanels",
         "unknown key"},
        {"collectives: [{transport: net}]\n", "collectives[0].transport", ""},
    };

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct fixture_file file = fixture_file_open(rows[i].text);
        struct model_errors errors = {.arena = *state};
        struct model_plan plan;

        assert_int_equal(model_plan_read(*state,
                                         model_arena_text(*state, file.path),
                                         &plan, &errors),
                         MODEL_BAD_INPUT);
        fixture_file_close(&file);
        fixture_expect_error(&errors, rows[i].key, rows[i].message);
    }
}

/* A star stands for any text, also none; several may stand in an id. */
static void an_op_may_be_a_pattern(void **state)
{
    static const struct {
        const char *pattern, *id;
        bool matches;
    } rows[] = {
        {"a", "a", true},
        {"a", "ab", false},
        {"*", "anything", true},
        {"a*", "a", true},
        {"a*c", "abbc", true},
        {"a*c", "abcd", false},
        {"*.gather", "x.gather.gather", true},
        {"step*.f.*.ag", "step0.f.12.ag", true},
        {"step*.f.*.ag", "step0.b.12.ag", false},
        {"step*.f.*.ag", "step0.f.12.ags", false},
        {"a**b*", "ab", true},
        {"ab", "a", false},
    };
    const struct model_workload *w = workload(*state);

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct model_plan_row row = any_row();
        struct model_op op = w->ops[0];

        row.op = rows[i].pattern;
        op.id = rows[i].id;
        assert_int_equal(model_plan_row_takes(&row, w, &op), rows[i].matches);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read),
        cmocka_unit_test(a_row_matches_by_each_key),
        cmocka_unit_test(an_op_may_be_a_pattern),
        cmocka_unit_test(the_first_match_counts),
        cmocka_unit_test(settings_come_from_the_nearest),
        cmocka_unit_test(transport_p2p_is_a_setting),
        cmocka_unit_test(writing_and_reading_is_the_identity),
        cmocka_unit_test(an_empty_plan_round_trips),
        cmocka_unit_test(faults_are_reported),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
