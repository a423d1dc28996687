/*
 * test_measured.c - measured times of an iteration's ops: what they add up to,
 * and what is wrong with a file of them.
 */
#include "search/measured.h"

#include "tests/unit/fixture.h"

static const char ops[] =
    "name: w\nops:\n"
    "  - {id: g, kind: gemm, m: 512, n: 512, k: 512}\n"
    "  - {id: a, kind: all_gather, size: 1 MB}\n"
    "  - {id: 'h,i', kind: gemm, m: 512, n: 512, k: 512}\n";

static enum model_status read_text(struct model_arena *arena,
                                   const struct model_workload *workload,
                                   const char *text,
                                   struct search_measured *measured,
                                   struct model_errors *errors)
{
    struct fixture_file file = fixture_file_open(text);
    enum model_status status = search_measured_read(arena, file.path, "COMMAND",
                                                    workload, measured, errors);

    fixture_file_close(&file);
    return status;
}

static struct model_workload *three_ops(struct model_arena *arena)
{
    return fixture_workload(
        arena, fixture_topology(arena, "1x2 gpu:h100 nvswitch", NULL, 0), ops);
}

/*
 * g from 0 to 10, a from 5 to 25, h,i from 20 to 30: kernels run for 10 + 10
 * us, a for 20, of which 10 to 20 beside none.
 */
static void rows_in_any_order(void **state)
{
    struct model_workload *workload = three_ops(*state);
    struct model_errors errors = {.arena = *state};
    struct search_measured measured;

    assert_int_equal(read_text(*state, workload,
                               "spread_us,op,end_us,start_us,stream\r\n"
                               "0.1,\"h,i\",30,2e1,compute\r\n"
                               "0.7,iteration,31.5,0,\r\n"
                               ",g,10,0,compute\r\n"
                               "0.2,a,25.0,5.0,comm\r\n",
                               &measured, &errors),
                     MODEL_OK);
    fixture_no_errors(&errors);
    assert_int_equal(measured.result.op_count, 3);
    assert_near(measured.result.ops[0].end_us, 10, 0);
    assert_near(measured.result.ops[1].start_us, 5, 0);
    assert_near(measured.result.ops[2].start_us, 20, 0);
    assert_near(measured.result.iteration_us, 31.5, 0);
    assert_near(measured.spread_us, 0.7, 0);
    assert_near(measured.result.compute_us, 20, 1e-12);
    assert_near(measured.result.comm_us, 20, 1e-12);
    assert_near(measured.result.exposed_comm_us, 10, 1e-12);
}

/* Steps of one kernel and one collective, of which the second stands for 4. */
static struct model_workload *two_steps(struct model_arena *arena)
{
    struct model_workload *workload = fixture_workload(
        arena, fixture_topology(arena, "1x2 gpu:h100 nvswitch", NULL, 0),
        "name: w\nops:\n"
        "  - {id: g0, kind: gemm, m: 512, n: 512, k: 512}\n"
        "  - {id: a0, kind: all_gather, size: 1 MB}\n"
        "  - {id: g1, kind: gemm, m: 512, n: 512, k: 512}\n"
        "  - {id: a1, kind: all_gather, size: 1 MB}\n");

    workload->cycle =
        (struct model_cycle){.first = 2, .end = 4, .repeats = 4, .steps = 5};
    return workload;
}

/*
 * The second step takes 100 us, from the end of the first at 90 to its own at
 * 190, 40 of them beside no kernel. Three more of these: 210 + 300, 60 + 60 + 3
 * x 60, 50 + 70 + 3 x 70, 30 + 40 + 3 x 40.
 */
static void steps_that_are_not_listed(void **state)
{
    struct model_workload *workload = two_steps(*state);
    struct model_errors errors = {.arena = *state};
    struct search_measured measured;

    assert_int_equal(read_text(*state, workload,
                               "op,stream,start_us,end_us,spread_us\n"
                               "g0,compute,0,60,\n"
                               "a0,comm,40,90,\n"
                               "g1,compute,90,150,\n"
                               "a1,comm,120,190,\n"
                               "iteration,,0,210,\n",
                               &measured, &errors),
                     MODEL_OK);
    assert_near(measured.result.iteration_us, 510, 1e-9);
    assert_near(measured.result.compute_us, 300, 1e-9);
    assert_near(measured.result.comm_us, 330, 1e-9);
    assert_near(measured.result.exposed_comm_us, 190, 1e-9);
}

/*
 * The same where a step ends with its kernel: it takes 100 us, 90 to 190, in
 * which the kernel runs for 100 and a collective for 30, beside it.
 */
static void steps_that_end_with_a_kernel(void **state)
{
    struct model_workload *workload = two_steps(*state);
    struct model_errors errors = {.arena = *state};
    struct search_measured measured;

    assert_int_equal(read_text(*state, workload,
                               "op,stream,start_us,end_us,spread_us\n"
                               "g0,compute,0,90,\n"
                               "a0,comm,40,60,\n"
                               "g1,compute,90,190,\n"
                               "a1,comm,120,150,\n"
                               "iteration,,0,210,\n",
                               &measured, &errors),
                     MODEL_OK);
    assert_near(measured.result.iteration_us, 210 + 3 * 100, 1e-9);
    assert_near(measured.result.compute_us, 190 + 3 * 100, 1e-9);
    assert_near(measured.result.comm_us, 50 + 3 * 30, 1e-9);
    assert_near(measured.result.exposed_comm_us, 0, 1e-9);
}

#define HEAD  "op,stream,start_us,end_us,spread_us\n"
#define WHOLE "iteration,,0,31.5,0.7\n"
#define G     "g,compute,0,10,\n"
#define A     "a,comm,5,25,\n"
#define H     "\"h,i\",compute,20,30,\n"

static void faults_say_where(void **state)
{
    static const struct {
        const char *text, *key, *part;
        int line;
    } rows[] = {
        {"op,start_us\ng,0\n", "end_us", "no such column", 1},
        {"garbage\n", "op", "no such column", 1},
        {HEAD G A H, "iteration", "no line for the whole", 0},
        {HEAD G H WHOLE, "op", "no line for a", 0},
        {HEAD WHOLE, "op", "no line for g and 2 other ops", 0},
        {HEAD G A H G WHOLE, "op", "twice: g", 5},
        {HEAD "x,compute,0,1,\n", "op", "no such op: x", 2},
        {HEAD "g,compute,0,1 ms,\n", "end_us", "is no time", 2},
        {HEAD "g,compute,-1,1,\n", "start_us", "is no time", 2},
        {HEAD "g,compute,nan,1,\n", "start_us", "is no time", 2},
        {HEAD "g,compute,5%,1,\n", "start_us", "is no time", 2},
        {HEAD "g,compute,0\n", "end_us", "is no time", 2},
        {HEAD "g,compute,0,1,few\n", "spread_us", "is no time", 2},
        {HEAD G "a,comm,5,4,\n", "end_us", "ends before it starts", 3},
        {HEAD G A H "iteration,,0,0,\n", "iteration", "takes no time", 0},
    };
    struct model_workload *workload = three_ops(*state);

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct model_errors errors = {.arena = *state};
        struct search_measured measured;

        assert_int_equal(
            read_text(*state, workload, rows[i].text, &measured, &errors),
            MODEL_BAD_INPUT);
        fixture_expect_error(&errors, rows[i].key, rows[i].part);
        assert_int_equal(errors.list[0].place.line, rows[i].line);
        assert_string_equal(errors.list[0].place.file, "COMMAND");
    }
}

/* Only the row without a stream is the whole. */
static void an_op_may_be_called_iteration(void **state)
{
    struct model_workload *workload = fixture_workload(
        *state, fixture_topology(*state, "1x1 gpu:h100", NULL, 0),
        "name: w\nops: [{id: iteration, kind: memory, hbm: 1 MB}]\n");
    struct model_errors errors = {.arena = *state};
    struct search_measured measured;

    assert_int_equal(read_text(*state, workload,
                               HEAD "iteration,compute,1,2,\n" WHOLE, &measured,
                               &errors),
                     MODEL_OK);
    assert_near(measured.result.ops[0].end_us, 2, 0);
    assert_near(measured.result.iteration_us, 31.5, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_in_any_order),
        cmocka_unit_test(steps_that_are_not_listed),
        cmocka_unit_test(steps_that_end_with_a_kernel),
        cmocka_unit_test(faults_say_where),
        cmocka_unit_test(an_op_may_be_called_iteration),
    };

    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
