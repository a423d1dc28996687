/*
 * test_bound.c - times that no plan can beat, by hand, on the tiny machine: a
 * launch takes 5 us, GEMM_25 takes 3 waves of 10 us, KERNEL_10 one.
 *
 * Into a GPU lead NVLink at 900 and PCIe at 100 bytes/us: an AllGather of
 * 2,000,000 bytes on two GPUs brings each 1,000,000, in 1000 us at least.
 */
#include "search/bound.h"

#include "tests/unit/timeline.h"

#define GATHER "kind: all_gather, size: 2 MB, stream: comm"

static const char *const cut[] = {"node.nvlink.rate=0.9 GB/s",
                                  "node.pcie.rate=0.1 GB/s",
                                  "gpu.launch.interval=0 us"};

static struct search_problem
problem_of(struct model_arena *arena, const char *interval, const char *ops)
{
    const char *sets[3] = {cut[0], cut[1], interval ? interval : cut[2]};
    const struct model_topology *t = fixture_tiny(arena, sets, 3);
    const struct model_workload *w = fixture_workload(
        arena, t, model_arena_format(arena, "name: w\n%s", ops));
    struct search_problem problem;

    search_problem_make(arena, fixture_nccl(arena, t, w), &problem);
    return problem;
}

static double
bound_of(struct model_arena *arena, const char *interval, const char *ops)
{
    struct search_problem problem = problem_of(arena, interval, ops);

    return search_bound_us(arena, &problem);
}

/* 5 + 1000, 5 + 30, 5 + 10; without the dependencies the longest is 1005. */
static void a_path_goes_through_dependencies(void **state)
{
    assert_near(bound_of(*state, NULL,
                         "ops:\n"
                         "  - {id: a, " GATHER "}\n"
                         "  - {id: g, " GEMM_25 ", after: [a]}\n"
                         "  - {id: k, " KERNEL_10 ", after: [g]}\n"),
                1055, 1e-4);
    assert_near(bound_of(*state, NULL,
                         "ops:\n"
                         "  - {id: a, " GATHER "}\n"
                         "  - {id: g, " GEMM_25 "}\n"
                         "  - {id: k, " KERNEL_10 "}\n"),
                1005, 1e-4);
}

/* The same when the op that is waited for is listed later. */
static void the_order_of_the_list_does_not_matter(void **state)
{
    assert_near(bound_of(*state, NULL,
                         "ops:\n"
                         "  - {id: k, " KERNEL_10 ", after: [a]}\n"
                         "  - {id: a, " GATHER ", after: [g]}\n"
                         "  - {id: g, " GEMM_25 ", stream: other}\n"),
                35 + 1005 + 15, 1e-4);
}

/* On the device at 5, moving from 35 on, when g is done. */
static void spinning_takes_no_launch_after_its_data(void **state)
{
    assert_near(bound_of(*state, NULL,
                         "ops:\n"
                         "  - {id: g, " GEMM_25 "}\n"
                         "  - {id: a, " GATHER ", spins: true, after: [g]}\n"),
                1035, 1e-4);
}

/* The third launch comes at 800: 800 + 5 + 10. */
static void the_cpu_launches_one_after_another(void **state)
{
    assert_near(bound_of(*state, "gpu.launch.interval=400 us",
                         "ops:\n"
                         "  - {id: k, " KERNEL_10 ", repeat: 3}\n"),
                815, 1e-4);
}

/* 7 + 5 + 10. */
static void a_start_is_kept(void **state)
{
    assert_near(bound_of(*state, NULL,
                         "ops:\n"
                         "  - {id: k, " KERNEL_10 ", start: 7 us}\n"),
                22, 1e-4);
}

/* Two GEMMs of 25 loads of 10 us on 10 SMs: 50, more than 5 + 30 of either. */
static void streams_share_the_sms(void **state)
{
    assert_near(bound_of(*state, NULL,
                         "ops:\n"
                         "  - {id: g, " GEMM_25 ", stream: one}\n"
                         "  - {id: h, " GEMM_25 ", stream: two}\n"),
                50, 1e-4);
}

/* Two gathers on two streams: 2,000,000 bytes into a GPU, all the same. */
static void streams_share_the_links(void **state)
{
    assert_near(bound_of(*state, NULL,
                         "ops:\n"
                         "  - {id: a, kind: all_gather, size: 2 MB, "
                         "stream: one}\n"
                         "  - {id: b, kind: all_gather, size: 2 MB, "
                         "stream: two}\n"),
                2000, 1e-4);
}

/* A least time that the caller knows counts where it is more. */
static void what_is_known_of_a_class_counts(void **state)
{
    struct search_problem problem = problem_of(*state, NULL,
                                               "ops:\n"
                                               "  - {id: a, " GATHER "}\n");
    struct search_bound *bound = search_bound_new(*state, &problem);
    double more_us = 3000;
    double less_us = 3;

    assert_int_equal(problem.class_count, 1);
    assert_near(search_bound_given_us(bound, &more_us), 3005, 1e-4);
    assert_near(search_bound_given_us(bound, &less_us), 1005, 1e-4);
}

/* -- what a collective must move -- */

static double collective_us(struct model_arena *arena,
                            const char *notation,
                            const char *set,
                            const char *ops)
{
    const char *sets[] = {"node.pcie.rate=32 GB/s",
                          "node.pcie.p2p_rate=18 GB/s",
                          "node.pcie.shm_rate=20 GB/s", set};
    const struct model_topology *t =
        fixture_topology(arena, notation, sets, set != NULL ? 4 : 3);
    const struct model_workload *w = fixture_workload(
        arena, t, model_arena_format(arena, "name: w\n%s", ops));
    struct search_problem problem;

    search_problem_make(arena, fixture_nccl(arena, t, w), &problem);
    return search_bound_collective_us(&problem, &w->ops[0]);
}

/*
 * Into a node lead 8 NICs of 50,000 bytes/us. An AllGather of 1.6 GB brings
 * 15/16 of it; 8 AllReduces of 100 MB, one for each pair of GPUs of equal
 * number, bring half of it twice each.
 */
static void nodes_share_their_nics(void **state)
{
    static const char *const two = "2x8 gpu:h100 nvswitch nic:8x400Gbit/s";
    static const char *const all = "node.nics.achieved=1";

    assert_near(collective_us(*state, two, all,
                              "ops: [{id: a, kind: all_gather, "
                              "size: 1.6 GB}]\n"),
                1.5e9 / 400000, 1e-6);
    assert_near(collective_us(*state, two, all,
                              "groups: {dp: {size: 2, stride: 8}}\n"
                              "ops: [{id: a, kind: all_reduce, size: 100 MB, "
                              "group: dp}]\n"),
                8 * 1e8 / 400000, 1e-6);
}

/*
 * Over PCIe a port's 20,000 bytes/us are for both directions together. Of an
 * AllGather of 800 MB 700 come in, with as many going out on average; of a
 * broadcast of 800 MB they may all come into a GPU that sends none.
 */
static void a_port_is_for_both_directions(void **state)
{
    assert_near(collective_us(*state, "1x8 gpu:a40", NULL,
                              "ops: [{id: a, kind: all_gather, "
                              "size: 800 MB}]\n"),
                7e8 / 10000, 1e-6);
    assert_near(collective_us(*state, "1x8 gpu:a40", NULL,
                              "ops: [{id: a, kind: broadcast, "
                              "size: 800 MB}]\n"),
                8e8 / 20000, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_goes_through_dependencies),
        cmocka_unit_test(the_order_of_the_list_does_not_matter),
        cmocka_unit_test(spinning_takes_no_launch_after_its_data),
        cmocka_unit_test(the_cpu_launches_one_after_another),
        cmocka_unit_test(a_start_is_kept),
        cmocka_unit_test(streams_share_the_sms),
        cmocka_unit_test(streams_share_the_links),
        cmocka_unit_test(what_is_known_of_a_class_counts),
        cmocka_unit_test(nodes_share_their_nics),
        cmocka_unit_test(a_port_is_for_both_directions),
    };

    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
