/*
 * test_surrogate.c - what plans are expected to take, on the tiny machine: an
 * AllGather of M bytes on two GPUs takes M / 2 / NC / 1000 us on NC channels,
 * each on an SM of its own, and a launch takes 5 us.
 */
#include "search/bound.h"
#include "search/least.h"
#include "search/surrogate.h"

#include "tests/unit/searching.h"

struct bench {
    struct search_problem *problem;
    struct search_surrogate *surrogate;
    struct model_arena *scratch;
};

static struct bench make_bench(struct model_arena *arena,
                               const char *const *sets,
                               int set_count,
                               const char *ops)
{
    const struct model_topology *t = fixture_tiny(arena, sets, set_count);
    const struct model_workload *w = fixture_workload(
        arena, t, model_arena_format(arena, "name: w\nops:\n%s", ops));
    struct bench bench = {.problem = problem_of(arena, t, w),
                          .scratch = model_arena_new()};

    assert_non_null(bench.scratch);
    bench.surrogate = search_surrogate_new(arena, bench.scratch, bench.problem);
    return bench;
}

/* The option of the first class with so many channels. */
static int option_of(const struct bench *bench, int channels)
{
    struct model_config config = bench->problem->classes[0].baseline;

    config.channels = channels;
    return search_surrogate_option(bench->surrogate, 0, &config);
}

#define GATHER                                                                 \
    "  - {id: a, kind: all_gather, size: 1.2 MB, stream: comm, algorithm: "    \
    "ring, protocol: simple}\n"

/* 600 us of one channel: alone 300 on two; by itself 5 more. */
static void an_option_has_its_time(void **state)
{
    struct bench bench = make_bench(*state, NULL, 0, GATHER);
    int option = option_of(&bench, 2);

    assert_near(search_surrogate_alone_us(bench.surrogate, 0, option), 300,
                1e-6);
    assert_near(search_surrogate_us(bench.surrogate, &option), 305, 1e-6);
    assert_int_equal(option_of(&bench, 2), option);
    assert_int_equal(option_of(&bench, 11), -1); /* of 10 SMs */
    model_arena_free(bench.scratch);
}

/*
 * Beside 250 tiles of 10 us: one channel leaves 9 SMs, 28 waves, 280, done
 * before the gather is, after 605; measured twice as long it is 1210. Kernels
 * measured three times as long, 855 of 285, are the longer side.
 */
static void it_is_scaled_to_what_was_measured(void **state)
{
    struct bench bench =
        make_bench(*state, NULL, 0,
                   GATHER "  - {id: g, kind: gemm, m: 5000, n: 250, k: 1000, "
                          "tile: [100, 50]}\n");
    int option = option_of(&bench, 1);
    struct search_measure measure;

    assert_near(search_surrogate_us(bench.surrogate, &option), 605, 1e-6);
    search_measure_make(*state, bench.problem, &measure);
    measure.x_us[0] = 1210;
    measure.kernel_us[0] = 285;
    search_surrogate_fit(bench.surrogate, &option, &measure);
    assert_near(search_surrogate_us(bench.surrogate, &option), 1210, 1e-6);
    measure.x_us[0] = 605;
    measure.kernel_us[0] = 3 * 285;
    search_surrogate_fit(bench.surrogate, &option, &measure);
    assert_near(search_surrogate_us(bench.surrogate, &option), 855, 1e-6);
    model_arena_free(bench.scratch);
}

/* From one channel, by itself: of the grid's 1 .. 7 and 9 the most, 600 / 9. */
static void it_descends_to_the_fastest_where_nothing_is_beside(void **state)
{
    struct bench bench = make_bench(*state, NULL, 0, GATHER);
    int chosen = option_of(&bench, 1);

    search_surrogate_descend(bench.surrogate, &chosen);
    assert_near(search_surrogate_us(bench.surrogate, &chosen), 5 + 600.0 / 9,
                1e-6);
    model_arena_free(bench.scratch);
}

/*
 * NVLink of 900 and PCIe of 100 bytes/us into a GPU: no algorithm brings
 * 600,000 bytes in less than 600 us; but a ring takes NVLink alone, 666.67.
 */
static void the_space_has_less_than_a_cut(void **state)
{
    static const char *const sets[] = {"node.nvlink.rate=0.9 GB/s",
                                       "node.pcie.rate=0.1 GB/s"};
    struct bench bench = make_bench(*state, sets, 2, GATHER);
    const double *least_us =
        search_least_us(*state, bench.scratch, bench.problem);

    assert_near(search_bound_collective_us(bench.problem,
                                           &bench.problem->workload->ops[0]),
                600, 1e-6);
    assert_near(least_us[0], 600000.0 / 900, 1e-6);
    assert_near(search_least_bound_us(*state, bench.problem),
                5 + 600000.0 / 900, 1e-4);
    model_arena_free(bench.scratch);
}

/*
 * Each byte of an AllGather of 800 MB over 8 GPUs, but a rank's own, comes in
 * by a port and goes out by it: 1400 MB at 9,000 bytes/us directly, at 10,000
 * through host memory, which is another subspace and has the least.
 */
static void the_least_is_of_all_subspaces(void **state)
{
    static const char *const sets[] = {"node.pcie.rate=32 GB/s",
                                       "node.pcie.p2p_rate=9 GB/s",
                                       "node.pcie.shm_rate=10 GB/s"};
    const struct model_topology *t =
        fixture_topology(*state, "1x8 gpu:a40", sets, 3);
    const struct model_workload *w = fixture_workload(
        *state, t, "name: w\nops: [{id: a, kind: all_gather, size: 800 MB}]\n");
    const struct search_problem *problem = problem_of(*state, t, w);
    struct model_arena *scratch = model_arena_new();

    assert_non_null(scratch);
    assert_int_equal(problem->classes[0].baseline.transport, MODEL_P2P);
    assert_near(search_least_us(*state, scratch, problem)[0], 1.4e9 / 10000,
                1e-6);
    model_arena_free(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_option_has_its_time),
        cmocka_unit_test(it_is_scaled_to_what_was_measured),
        cmocka_unit_test(it_descends_to_the_fastest_where_nothing_is_beside),
        cmocka_unit_test(the_space_has_less_than_a_cut),
        cmocka_unit_test(the_least_is_of_all_subspaces),
    };

    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
