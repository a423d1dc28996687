/*
 * test_windows.c - overlap windows found from a simulated iteration: what cuts
 * it, which kernels count, what is one window and what joins another, and that
 * a plan's rows give every class its own.
 *
 * GEMMs of 8192 cubed take some 2 ms on an H100, an AllGather of 64 MiB well
 * under 1 ms, of 2 GB near 5 ms.
 */
#include "tests/unit/searching.h"

#include <string.h>

#define GEMM(id, rest)                                                         \
    "  - {id: " id ", kind: gemm, m: 8192, n: 8192, k: 8192" rest "}\n"
#define GATHER(id, rest)                                                       \
    "  - {id: " id ", kind: all_gather, size: 64 MiB" rest "}\n"

static const struct search_problem *find(struct model_arena *arena,
                                         const char *ops)
{
    const struct model_topology *topology =
        fixture_topology(arena, "1x8 gpu:h100 nvswitch", NULL, 0);

    return problem_of(
        arena, topology,
        fixture_workload(arena, topology,
                         model_arena_format(arena, "name: w\nops:\n%s", ops)));
}

static int op_of(const struct search_problem *problem, const char *id)
{
    for (int i = 0; i < problem->workload->op_count; i++) {
        if (strcmp(problem->workload->ops[i].id, id) == 0) {
            return i;
        }
    }
    fail_msg("no op %s", id);
    return -1;
}

/* Of a collective, or of a kernel that is in one at most; -1: none. */
static int window_of(const struct search_problem *problem, const char *id)
{
    int op = op_of(problem, id);
    int beside = problem->beside_of[op];

    if (model_op_is_collective(&problem->workload->ops[op])) {
        return problem->window_of[op];
    }
    if (beside >= 0) {
        assert_int_equal(problem->beside[beside].next, -1);
        return problem->beside[beside].window;
    }
    return -1;
}

static int class_of(const struct search_problem *problem, const char *id)
{
    return problem->class_of[op_of(problem, id)];
}

/*
 * a | k, m: no one waits until n, which needs a. k hides a whole, m could if a
 * were slower: both count. n is beside nothing.
 */
static void kernels_count_that_could_hide(void **state)
{
    const struct search_problem *problem =
        find(*state, GATHER("a", "") GEMM("k", "") GEMM("m", "")
                         GEMM("n", ", after: [a]"));

    assert_int_equal(problem->window_count, 1);
    assert_null(problem->windows[0]);
    assert_int_equal(window_of(problem, "a"), 0);
    assert_int_equal(window_of(problem, "k"), 0);
    assert_int_equal(window_of(problem, "m"), 0);
    assert_int_equal(window_of(problem, "n"), -1);
}

/* Not before 100 ms: k had ended long before, no setting of a can reach it. */
static void kernels_do_not_count_that_had_ended(void **state)
{
    const struct search_problem *problem =
        find(*state, GEMM("k", "") GATHER("a", ", start: 100 ms")
                         GEMM("m", ", start: 100 ms"));

    assert_int_equal(problem->window_count, 1);
    assert_int_equal(window_of(problem, "a"), 0);
    assert_int_equal(window_of(problem, "k"), -1);
    assert_int_equal(window_of(problem, "m"), 0);
}

/*
 * The first AllGather is waited for by all: beside nothing. The head waits for
 * the second. Both have one label, but what a setting does to them differs.
 */
static void exposed_collectives_are_apart(void **state)
{
    const struct search_problem *problem = find(
        *state,
        "  - {id: a, kind: all_gather, size: 128 MiB, window: root}\n" GATHER(
            "b", ", window: root") GEMM("k", ", after: [a], window: root")
            GEMM("head", ", after: [b], window: root"));

    assert_int_equal(problem->window_count, 2);
    assert_int_equal(problem->class_count, 2);
    assert_string_equal(problem->windows[0], "root 1");
    assert_string_equal(problem->windows[1], "root 2");
    assert_int_equal(window_of(problem, "a"), 0);
    assert_int_equal(window_of(problem, "b"), 1);
    assert_int_equal(window_of(problem, "k"), 1);
    assert_int_equal(window_of(problem, "head"), -1);
}

/* Back to back and beside nothing: each by itself, equal ones together. */
static void collectives_beside_nothing_are_windows_each(void **state)
{
    const struct search_problem *problem = find(
        *state, GATHER("a", "") GATHER(
                    "b", "") "  - {id: c, kind: all_gather, size: 1 MiB}\n");

    assert_int_equal(problem->window_count, 2);
    assert_int_equal(window_of(problem, "a"), window_of(problem, "b"));
    assert_int_equal(problem->instances[window_of(problem, "a")], 2);
    assert_int_equal(problem->instances[window_of(problem, "c")], 1);
}

/*
 * One collective over three layers; the next one waits for the last of them and
 * has the kernel after it. A ReduceScatter that nothing waits for is beside all
 * that follows.
 */
static void a_collective_may_span_layers(void **state)
{
    const struct search_problem *problem = find(
        *state,
        "  - {id: a, kind: all_gather, size: 2 GB}\n" GEMM("k0", "")
            GEMM("k1", "")
                GEMM("k2", "") "  - {id: r, kind: reduce_scatter, size: 1 GB, "
                               "after: [k2]}\n" GEMM("k3", "") GEMM("k4", ""));

    assert_int_equal(problem->window_count, 2);
    for (int i = 0; i < 5; i++) {
        char id[] = {'k', (char)('0' + i), '\0'};

        assert_int_equal(window_of(problem, id),
                         window_of(problem, i < 3 ? "a" : "r"));
    }
}

/*
 * Gradients on a stream of their own beside two layers, which their AllGathers
 * cut: three windows. k0 and k1 can hide the gradients and one AllGather each.
 */
static void streams_have_windows_of_their_own(void **state)
{
    const struct search_problem *problem = find(
        *state,
        "  - {id: r, kind: all_reduce, size: 1 GB, stream: gradients}\n" GATHER(
            "a0", "")
            GEMM("k0", "") "  - {id: a1, kind: all_gather, size: 32 MiB, "
                           "after: [k0]}\n" GEMM("k1", ", after: [a0]"));
    int windows[2][3] = {{0}};

    assert_int_equal(problem->window_count, 3);
    for (int k = 0; k < 2; k++) {
        int op = op_of(problem, k == 0 ? "k0" : "k1");

        for (int i = problem->beside_of[op]; i >= 0;
             i = problem->beside[i].next) {
            windows[k][problem->beside[i].window]++;
        }
        assert_int_equal(windows[k][window_of(problem, "r")], 1);
        assert_int_equal(windows[k][window_of(problem, "a0")], k == 0);
        assert_int_equal(windows[k][window_of(problem, "a1")], k == 1);
    }
}

/*
 * Layers {AllGather | GEMM}, each after the one before: of 8192 rows, 8704 and
 * 9216. The first two are within a tenth, 17/16, and one window; the third,
 * 18/16 of the first, is another. With labels the second is another too.
 */
static void instances_within_a_tenth_are_one_window(void **state)
{
    static const char *const labels[2][3] = {
        {"", "", ""}, {", window: x", ", window: y", ", window: x"}};

    for (int i = 0; i < 2; i++) {
        const char *ops = model_arena_format(
            *state,
            "  - {id: a0, kind: all_gather, size: 64 MiB%s}\n"
            "  - {id: k0, kind: gemm, m: 8192, n: 8192, k: 8192%s}\n"
            "  - {id: a1, kind: all_gather, size: 64 MiB, after: [k0]%s}\n"
            "  - {id: k1, kind: gemm, m: 8704, n: 8192, k: 8192%s}\n"
            "  - {id: a2, kind: all_gather, size: 64 MiB, after: [k1]%s}\n"
            "  - {id: k2, kind: gemm, m: 9216, n: 8192, k: 8192%s}\n",
            labels[i][0], labels[i][0], labels[i][1], labels[i][1],
            labels[i][2], labels[i][2]);
        const struct search_problem *problem = find(*state, ops);

        assert_int_equal(problem->window_count, 2 + i);
        assert_int_equal(problem->class_count, 2 + i);
        assert_int_equal(window_of(problem, "a0") == window_of(problem, "a1"),
                         i == 0);
        assert_int_not_equal(window_of(problem, "a0"),
                             window_of(problem, "a2"));
        assert_int_equal(window_of(problem, "k1"), window_of(problem, "a1"));
    }
}

/*
 * 12 layers {AllGather | GEMM}, and one more AllGather that all wait for before
 * the last GEMM: 1 of 13, less than a tenth. It joins the class of the others,
 * its window is dropped. After 6 layers it would be 1 of 7, and stay.
 */
static void few_join_many(void **state)
{
    for (int layers = 6; layers <= 12; layers += 6) {
        const char *ops = "";
        const struct search_problem *problem;

        for (int i = 0; i < layers; i++) {
            ops = model_arena_format(
                *state,
                "%s  - {id: a%d, kind: all_gather, size: 64 MiB%s}\n"
                "  - {id: k%d, kind: gemm, m: 8192, n: 8192, k: 8192}\n",
                ops, i,
                i > 0 ? model_arena_format(*state, ", after: [k%d]", i - 1)
                      : "",
                i);
        }
        problem = find(
            *state,
            model_arena_format(
                *state,
                "%s  - {id: b, kind: all_gather, size: 64 MiB, after: [k%d]}\n"
                "  - {id: head, kind: gemm, m: 8192, n: 8192, k: 8192, "
                "after: [b]}\n",
                ops, layers - 1));
        assert_int_equal(problem->class_count, layers == 12 ? 1 : 2);
        assert_int_equal(class_of(problem, "a0") == class_of(problem, "b"),
                         layers == 12);
        assert_int_equal(window_of(problem, "b"), layers == 12 ? -1 : 1);
        assert_int_equal(problem->instances[0], layers);
    }
}

/* What cannot be simulated is cut as it is listed. */
static void what_cannot_run_is_cut_as_listed(void **state)
{
    const struct search_problem *problem =
        find(*state, GATHER("a", ", algorithm: tree") GEMM("k", "") GATHER(
                         "b", ", after: [k], algorithm: tree") GEMM("m", ""));

    assert_int_equal(problem->window_count, 1);
    assert_int_equal(problem->instances[0], 2);
    assert_int_equal(window_of(problem, "m"), 0);
}

/* -- plans -- */

/* A plan that gives class i i + 1 channels, written to a file and read. */
static struct model_plan round_trip(struct model_arena *arena,
                                    const struct search_problem *problem)
{
    struct model_config *configs = model_arena_array(
        arena, (size_t)problem->class_count + 1, sizeof(*configs));
    struct fixture_file file = fixture_file_open("");
    struct model_errors errors = {.arena = arena};
    struct model_plan written;
    struct model_plan read = {.rows = NULL};
    FILE *stream = fopen(file.path, "w");

    for (int i = 0; i < problem->class_count; i++) {
        configs[i] = problem->classes[i].baseline;
        configs[i].channels = i + 1;
    }
    written = search_plan(arena, problem, configs, "test");
    assert_non_null(stream);
    assert_int_equal(model_plan_write(arena, &written, "t", "w", stream),
                     MODEL_OK);
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(model_plan_read(arena, model_arena_text(arena, file.path),
                                     &read, &errors),
                     MODEL_OK);
    fixture_file_close(&file);
    return read;
}

/*
 * Of every shipped kind of workload, each op gets its class's configuration,
 * and rows stay few: what an id has in numbers becomes stars.
 */
static void a_plan_read_back_gives_each_class_its_own(void **state)
{
    static const struct {
        const char *topology, *workload;
        int rows_max;
    } cases[] = {{"lagom-a-1node", "phi-2-fsdp", 5},
                 {"lagom-b", "llama-3-8b-fsdp", 5},
                 {"lagom-a-1node", "phi-2-tp", 16},
                 {"lagom-b-1node", "olmoe-1b-7b-ep", 16}};

    for (int c = 0; c < FIXTURE_COUNT(cases); c++) {
        const struct model_topology *topology =
            fixture_topology(*state, cases[c].topology, NULL, 0);
        const struct model_workload *w =
            shipped(*state, topology, cases[c].workload);
        const struct search_problem *problem = problem_of(*state, topology, w);
        struct model_plan plan = round_trip(*state, problem);

        assert_true(plan.row_count <= cases[c].rows_max);
        for (int i = 0; i < w->op_count; i++) {
            const struct model_plan_row *row;

            if (problem->class_of[i] < 0) {
                continue;
            }
            row = model_plan_find(&plan, w, &w->ops[i]);
            assert_non_null(row);
            assert_int_equal(row->config.channels, problem->class_of[i] + 1);
        }
    }
}

/*
 * Equal AllGathers of layers beside a small or a large GEMM in turn; the last
 * large one is beside a small GEMM. The small ones have a row by id with a
 * star, behind one for the op that does not fit it, before that of all others.
 */
static void what_a_pattern_takes_of_others_comes_before(void **state)
{
    const char *ops = "";
    const struct search_problem *problem;

    for (int i = 0; i < 12; i++) {
        const char *after =
            i > 0 ? model_arena_format(*state, ", after: [m%d]", i - 1) : "";

        ops = model_arena_format(
            *state,
            "%s  - {id: s%d, kind: all_gather, size: 64 MiB%s}\n"
            "  - {id: k%d, kind: gemm, m: 8192, n: 8192, k: 8192}\n"
            "  - {id: l%d, kind: all_gather, size: 64 MiB, after: [k%d]}\n"
            "  - {id: m%d, kind: gemm, m: %d, n: 8192, k: 8192}\n",
            ops, i, after, i, i, i, i, i == 11 ? 8192 : 16384);
    }
    problem = find(*state, ops);
    assert_int_equal(problem->class_count, 2);
    assert_int_equal(class_of(problem, "l11"), class_of(problem, "s11"));
    assert_int_equal(class_of(problem, "l10"), class_of(problem, "l0"));
    assert_int_equal(problem->row_count, 3);
    assert_string_equal(problem->rows[0].row.op, "l11");
    assert_string_equal(problem->rows[1].row.op, "l*");
    assert_null(problem->rows[2].row.op);
    assert_int_equal(problem->rows[0].class_index, class_of(problem, "l11"));
    assert_int_equal(problem->rows[1].class_index, class_of(problem, "l0"));
    assert_int_equal(problem->rows[2].class_index, class_of(problem, "s0"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_count_that_could_hide),
        cmocka_unit_test(kernels_do_not_count_that_had_ended),
        cmocka_unit_test(exposed_collectives_are_apart),
        cmocka_unit_test(collectives_beside_nothing_are_windows_each),
        cmocka_unit_test(a_collective_may_span_layers),
        cmocka_unit_test(streams_have_windows_of_their_own),
        cmocka_unit_test(instances_within_a_tenth_are_one_window),
        cmocka_unit_test(few_join_many),
        cmocka_unit_test(what_cannot_run_is_cut_as_listed),
        cmocka_unit_test(a_plan_read_back_gives_each_class_its_own),
        cmocka_unit_test(what_a_pattern_takes_of_others_comes_before),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
