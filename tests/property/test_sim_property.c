/*
 * test_sim_property.c - the simulator over random machines and workloads: its
 * own invariants at every instant, the order that the workload asks for, losses
 * that add up, and changes that must not matter or must not hurt.
 */
#include "sim/alone.h"

#include "tests/property/random_cases.h"

/* -- running
 * -------------------------------------------------------------------- */

static struct sim_request request_of(const struct model_topology *t,
                                     const struct model_workload *w,
                                     bool all_ranks)
{
    return (struct sim_request){
        .topology = t, .workload = w, .all_ranks = all_ranks, .seed = 7};
}

static struct sim_result simulate(struct bench *bench,
                                  const struct model_topology *t,
                                  const struct model_workload *w,
                                  bool all_ranks)
{
    struct sim_request request = request_of(t, w, all_ranks);

    return fixture_simulate(bench->arena, &request);
}

/* -- what holds in every run
 * ---------------------------------------------------- */

/*
 * Starts after what it waits for, unless it spins for it, and after the op
 * before it on its stream; ends after both.
 */
static void check_order(int number,
                        const struct model_workload *w,
                        const struct sim_result *result,
                        const struct sim_op_result *op)
{
    const struct sim_op_result *rank = &result->ops[op->rank * w->op_count];
    const struct model_op *self = &w->ops[op->op];
    double earliest_us = self->start_us;

    for (int i = 0; i < self->after_count; i++) {
        double end_us = rank[self->after[i]].end_us;

        assert_true(op->end_us >= end_us);
        earliest_us = self->spins ? earliest_us : fmax(earliest_us, end_us);
    }
    for (int i = 0; i < op->op; i++) {
        if (w->ops[i].stream == self->stream) {
            earliest_us = fmax(earliest_us, rank[i].end_us);
        }
    }
    if (fabs(op->start_us - earliest_us) > 1e-6) {
        fail_msg("case %d: op %d on rank %d starts at %.9g, not at %.9g",
                 number, op->op, op->rank, op->start_us, earliest_us);
    }
}

static void check_run(int number,
                      const struct model_topology *t,
                      const struct model_workload *w,
                      const struct sim_result *result)
{
    double last_us = 0;

    assert_int_equal(result->op_count, result->rank_count * w->op_count);
    for (int i = 0; i < result->op_count; i++) {
        const struct sim_op_result *op = &result->ops[i];

        assert_int_equal(op->op, i % w->op_count);
        assert_int_equal(op->rank, i / w->op_count);
        check_order(number, w, result, op);
        assert_true(op->end_us >= op->start_us - 1e-6 +
                                      model_ranks_gpu(t, op->rank)->launch_us);
        last_us = fmax(last_us, op->end_us);
    }
    if (fabs(result->iteration_us - last_us) > 1e-6) {
        fail_msg("case %d: the iteration takes %.9g, the last op ends at %.9g",
                 number, result->iteration_us, last_us);
    }
    assert_true(result->compute_us + result->exposed_comm_us <=
                result->iteration_us + 1e-6);
    assert_true(result->exposed_comm_us <= result->comm_us + 1e-6);
    for (int i = 0; i < result->resource_count; i++) {
        assert_true(result->resources[i].busy_ratio <= 1 + 1e-6);
    }
}

static void invariants_hold(void **state)
{
    struct bench bench = bench_start(21);

    (void)state;
    for (int i = 0; i < bench.cases; i++) {
        struct model_topology *t = random_machine(&bench);
        struct model_workload *w =
            random_workload(&bench, t, 1 + pick(&bench, STREAMS_MAX));
        struct sim_result folded = simulate(&bench, t, w, false);
        struct sim_result all = simulate(&bench, t, w, true);

        check_run(i, t, w, &folded);
        check_run(i, t, w, &all);
        random_differences(&bench, t);
        all = simulate(&bench, t, w, true);
        check_run(i, t, w, &all);
        model_arena_reset(bench.arena);
    }
    bench_end(&bench);
}

/* The least part, but for SMs: on fewer, waves may fall better into HBM. */
static double least_part(const struct sim_lost *lost)
{
    return fmin(fmin(fmin(lost->l2, lost->hbm), fmin(lost->link, lost->peer)),
                lost->launch);
}

/*
 * Time in company less time alone is the sum of what it was lost to, on every
 * rank, also where ranks differ. Each part is measured by itself, but for a
 * kernel's SMs, which are the rest; so none of the others may be a gain.
 */
static void losses_add_up(void **state)
{
    struct bench bench = bench_start(22);

    (void)state;
    for (int i = 0; i < bench.cases; i++) {
        struct model_topology *t = random_machine(&bench);
        struct model_workload *w =
            random_workload(&bench, t, 1 + pick(&bench, STREAMS_MAX));
        bool all_ranks = pick(&bench, 2) == 0;
        struct sim_request request = request_of(t, w, all_ranks);
        struct sim_result result;
        struct sim_alone *alone;

        if (all_ranks) {
            random_differences(&bench, t);
        }
        result = fixture_simulate(bench.arena, &request);
        alone = sim_alone_new(bench.arena, &request);
        for (int j = 0; j < result.op_count; j++) {
            struct sim_op_result op = result.ops[j];
            double alone_us = 0;
            double lost_us;
            double parts_us;

            sim_alone_explain(alone, &op, &alone_us);
            lost_us = op.end_us - op.start_us - alone_us;
            parts_us = op.lost.sm + op.lost.l2 + op.lost.hbm + op.lost.link +
                       op.lost.peer + op.lost.launch;
            if (!(fabs(parts_us - lost_us) <= 1e-5)) {
                fail_msg("case %d, op %d (%s): parts %.9g, lost %.9g", i, op.op,
                         model_op_names[w->ops[op.op].kind], parts_us, lost_us);
            }
            if (!(least_part(&op.lost) >= -1e-5)) {
                fail_msg("case %d, op %d: gains %.9g", i, op.op,
                         -least_part(&op.lost));
            }
        }
        model_arena_reset(bench.arena);
    }
    bench_end(&bench);
}

/* -- what must not matter
 * --------------------------------------------------------- */

static void
same_result(int number, const struct sim_result *a, const struct sim_result *b)
{
    if (a->fingerprint != b->fingerprint) {
        fail_msg("case %d: another fingerprint", number);
    }
    assert_near(a->iteration_us, b->iteration_us, 0);
    assert_true(a->events == b->events);
    assert_int_equal(a->op_count, b->op_count);
    for (int i = 0; i < a->op_count; i++) {
        assert_near(a->ops[i].start_us, b->ops[i].start_us, 0);
        assert_near(a->ops[i].end_us, b->ops[i].end_us, 0);
    }
}

/* Twice the same run, in used memory and in new. */
static void same_inputs_same_fingerprint(void **state)
{
    struct bench bench = bench_start(23);
    struct model_arena *other = model_arena_new();

    (void)state;
    assert_non_null(other);
    for (int i = 0; i < bench.cases; i++) {
        struct model_topology *t = random_machine(&bench);
        struct model_workload *w =
            random_workload(&bench, t, 1 + pick(&bench, STREAMS_MAX));
        struct sim_request request = request_of(t, w, i % 2 == 0);
        struct sim_result one = fixture_simulate(bench.arena, &request);
        struct sim_result two = fixture_simulate(other, &request);

        same_result(i, &one, &two);
        assert_true(one.fingerprint != 0);
        model_arena_reset(other);
        model_arena_reset(bench.arena);
    }
    model_arena_free(other);
    bench_end(&bench);
}

/* Another name for everything that has one. */
static void rename_all(struct bench *bench,
                       struct model_topology *t,
                       struct model_workload *w)
{
    t->name = "another name";
    t->label = "zzz";
    t->gpu.name = "gpu?";
    w->name = "yyy";
    w->label = "xxx";
    for (int i = 0; i < w->op_count; i++) {
        w->ops[i].id =
            model_arena_format(bench->arena, "%d-renamed", w->op_count - i);
        w->ops[i].window = i % 2 == 0 ? "odd" : NULL;
    }
    for (int i = 0; i < w->stream_count; i++) {
        w->streams[i].name =
            model_arena_format(bench->arena, "s%d", w->stream_count - i);
    }
    for (int i = 0; i < w->group_count; i++) {
        w->groups[i].name = model_arena_format(bench->arena, "group %d", i);
    }
}

static void names_do_not_matter(void **state)
{
    struct bench bench = bench_start(24);

    (void)state;
    for (int i = 0; i < bench.cases; i++) {
        struct model_topology *t = random_machine(&bench);
        struct model_workload *w =
            random_workload(&bench, t, 1 + pick(&bench, STREAMS_MAX));
        struct sim_result before = simulate(&bench, t, w, i % 2 == 0);
        struct sim_result after;

        rename_all(&bench, t, w);
        after = simulate(&bench, t, w, i % 2 == 0);
        same_result(i, &before, &after);
        model_arena_reset(bench.arena);
    }
    bench_end(&bench);
}

/* Streams in another order, with the same ops on them: the same times. */
static void numbers_of_streams_do_not_matter(void **state)
{
    struct bench bench = bench_start(25);

    (void)state;
    for (int i = 0; i < bench.cases; i++) {
        struct model_topology *t = random_machine(&bench);
        struct model_workload *w = random_workload(&bench, t, STREAMS_MAX);
        struct sim_result before = simulate(&bench, t, w, false);
        struct sim_result after;
        struct model_stream first = w->streams[0];

        for (int j = 0; j + 1 < STREAMS_MAX; j++) {
            w->streams[j] = w->streams[j + 1];
        }
        w->streams[STREAMS_MAX - 1] = first;
        for (int j = 0; j < w->op_count; j++) {
            w->ops[j].stream =
                (w->ops[j].stream + STREAMS_MAX - 1) % STREAMS_MAX;
        }
        after = simulate(&bench, t, w, false);
        same_result(i, &before, &after);
        model_arena_reset(bench.arena);
    }
    bench_end(&bench);
}

/* A kernel on the empty GPU takes what the model says, and its launch. */
static void a_kernel_alone_takes_what_the_model_says(void **state)
{
    struct bench bench = bench_start(28);

    (void)state;
    for (int i = 0; i < bench.cases; i++) {
        struct model_topology *t = random_machine(&bench);
        struct model_builder builder;
        struct model_workload *w = empty_workload(&bench, t, 1, &builder);
        struct model_op op = {.id = "k", .config = model_config_none()};
        struct model_kernel kernel;
        double expected_us;
        double us;

        random_kernel(&bench, &op);
        (void)model_builder_add(&builder, &op);
        us = simulate(&bench, t, w, false).iteration_us;
        kernel = model_op_kernel(&op, &t->gpu);
        expected_us =
            t->gpu.launch_us + model_kernel_alone_us(&kernel, &t->gpu);
        if (!(fabs(us - expected_us) <= CLOSE_US + 1e-6 * expected_us)) {
            fail_msg("case %d: kind %d takes %.9g, not %.9g", i, op.kind, us,
                     expected_us);
        }
        model_arena_reset(bench.arena);
    }
    bench_end(&bench);
}

/*
 * Every rank has the same program, and by symmetry an equivalent place, however
 * a node is wired (HBM traffic is the mean over the ring in both): one rank
 * stands for all, to the nanosecond.
 */
static void one_rank_stands_for_all(void **state)
{
    struct bench bench = bench_start(26);

    (void)state;
    for (int i = 0; i < bench.cases; i++) {
        struct model_topology *t = random_machine(&bench);
        struct model_workload *w =
            random_workload(&bench, t, 1 + pick(&bench, STREAMS_MAX));
        struct sim_result folded = simulate(&bench, t, w, false);
        struct sim_result all = simulate(&bench, t, w, true);

        for (int j = 0; j < all.op_count; j++) {
            const struct sim_op_result *one = &all.ops[j];
            const struct sim_op_result *same = &folded.ops[one->op];

            if (!(fabs(one->start_us - same->start_us) <= 1e-3) ||
                !(fabs(one->end_us - same->end_us) <= 1e-3)) {
                fail_msg("case %d: op %d from %.9g to %.9g on rank %d of all, "
                         "from %.9g to %.9g folded",
                         i, one->op, one->start_us, one->end_us, one->rank,
                         same->start_us, same->end_us);
            }
        }
        model_arena_reset(bench.arena);
    }
    bench_end(&bench);
}

/*
 * A kernel of arithmetic only, beside a collective: where its CTAs say what
 * they ask for, it has at any time the SMs that it would have otherwise, and
 * maybe some of the channels' too. It ends no later, and the collective
 * neither.
 */
static void sharing_hurts_nobody(void **state)
{
    struct bench bench = bench_start(29);
    int shared = 0;

    (void)state;
    for (int i = 0; i < bench.cases; i++) {
        struct model_topology *t = random_machine(&bench);
        struct model_builder builder;
        struct model_workload *w = empty_workload(&bench, t, 2, &builder);
        struct model_op kernel = {
            .id = "k", .kind = MODEL_OP_KERNEL, .type = MODEL_FP16};
        struct model_op collective = {.id = "a", .stream = 1};
        struct sim_result with;
        struct sim_result without;

        kernel.ctas = 1 + pick(&bench, 2000);
        kernel.flops = spread(&bench, 1e8, 1e12);
        random_cta(&bench, &kernel);
        random_collective(&bench, t, &collective);
        collective.start_us = spread(&bench, 1, 1000);
        (void)model_builder_add(&builder, &kernel);
        (void)model_builder_add(&builder, &collective);
        with = simulate(&bench, t, w, false);
        w->ops[0].ctas_per_sm = model_op_kernel(&kernel, &t->gpu).ctas_per_sm;
        w->ops[0].cta_threads = 0;
        without = simulate(&bench, t, w, false);
        for (int j = 0; j < 2; j++) {
            if (with.ops[j].end_us > without.ops[j].end_us + CLOSE_US) {
                fail_msg("case %d: op %d ends at %.9g on shared SMs, at %.9g "
                         "on its own",
                         i, j, with.ops[j].end_us, without.ops[j].end_us);
            }
        }
        shared += with.ops[0].end_us < without.ops[0].end_us - CLOSE_US ||
                          with.ops[1].end_us < without.ops[1].end_us - CLOSE_US
                      ? 1
                      : 0;
        model_arena_reset(bench.arena);
    }
    assert_true(shared > bench.cases / 20);
    bench_end(&bench);
}

/* -- what must not hurt
 * ------------------------------------------------------------ */

/* The rates of a machine that more of cannot hurt. */
static double *rate_of(struct model_topology *t, int index)
{
    switch (index) {
    case 0:
        return &t->nvlink.bytes_per_us;
    case 1:
        return &t->pcie.bytes_per_us;
    case 2:
        return &t->pcie.p2p_bytes_per_us;
    case 3:
        return &t->pcie.shm_bytes_per_us;
    case 4:
        return &t->host.cross_bytes_per_us;
    case 5:
        return &t->host.memory_bytes_per_us;
    case 6:
        return &t->nics.bytes_per_us;
    case 7:
        return &t->nics.channel_bytes_per_us;
    case 8:
        return &t->gpu.channel_bytes_per_us;
    case 9:
        return &t->gpu.sm_bytes_per_us;
    default:
        return &t->gpu.hbm_bytes_per_us;
    }
}

enum { RATES = 11 };

/*
 * One stream: at each moment one op runs, with the machine to itself, at a rate
 * that is the least of limits which all rise with the machine's rates. So
 * nothing may take longer on a faster machine. With several streams that need
 * not be so: SMs are given out without preemption, and an op that ends earlier
 * can let the wrong one in (Graham's anomalies); those workloads are left out
 * here.
 */
static void more_bandwidth_never_hurts_one_stream(void **state)
{
    struct bench bench = bench_start(27);

    (void)state;
    for (int i = 0; i < bench.cases; i++) {
        struct model_topology *t = random_machine(&bench);
        struct model_workload *w = random_workload(&bench, t, 1);
        struct sim_result before;
        int rate = pick(&bench, RATES);

        /* slow enough to matter at times */
        *rate_of(t, rate) *= spread(&bench, 0.01, 1);
        before = simulate(&bench, t, w, false);
        for (int step = 0; step < 3; step++) {
            struct sim_result after;

            *rate_of(t, rate) *= spread(&bench, 1, 4);
            after = simulate(&bench, t, w, false);
            for (int j = 0; j < w->op_count; j++) {
                if (after.ops[j].end_us > before.ops[j].end_us + CLOSE_US) {
                    fail_msg("case %d: op %d ends at %.9g, with more of rate "
                             "%d at %.9g",
                             i, j, before.ops[j].end_us, rate,
                             after.ops[j].end_us);
                }
            }
            before = after;
        }
        model_arena_reset(bench.arena);
    }
    bench_end(&bench);
}

/*
 * A single collective, alone: never slower with more of any rate, nor with
 * fewer bytes; nor is its rate on the busiest link above what the link carries.
 */
static void a_single_collective_is_monotonic(void **state)
{
    struct bench bench = bench_start(28);

    (void)state;
    for (int i = 0; i < bench.cases; i++) {
        struct model_topology *t = random_machine(&bench);
        struct model_builder builder;
        struct model_workload *w = empty_workload(&bench, t, 1, &builder);
        struct model_op op = {.id = "a"};
        struct sim_result before;
        struct sim_result after;
        int rate = pick(&bench, RATES);

        random_collective(&bench, t, &op);
        (void)model_builder_add(&builder, &op);
        *rate_of(t, rate) *= spread(&bench, 0.01, 1);
        before = simulate(&bench, t, w, false);
        *rate_of(t, rate) *= spread(&bench, 1, 10);
        after = simulate(&bench, t, w, false);
        if (after.iteration_us > before.iteration_us + CLOSE_US) {
            fail_msg("case %d: %.9g us, with more of rate %d %.9g us", i,
                     before.iteration_us, rate, after.iteration_us);
        }
        /*
         * Fewer bytes at the same chunk: the pace is the same. (Where the block
         * cuts the chunk, smaller chunks pay more synchronisations each, but
         * there are no more of them.)
         */
        w->ops[0].bytes *= spread(&bench, 0.1, 1);
        before = after;
        after = simulate(&bench, t, w, false);
        if (after.iteration_us > before.iteration_us + CLOSE_US) {
            fail_msg("case %d: %.9g us, with fewer bytes %.9g us", i,
                     before.iteration_us, after.iteration_us);
        }
        model_arena_reset(bench.arena);
    }
    bench_end(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(invariants_hold),
        cmocka_unit_test(losses_add_up),
        cmocka_unit_test(same_inputs_same_fingerprint),
        cmocka_unit_test(names_do_not_matter),
        cmocka_unit_test(numbers_of_streams_do_not_matter),
        cmocka_unit_test(a_kernel_alone_takes_what_the_model_says),
        cmocka_unit_test(one_rank_stands_for_all),
        cmocka_unit_test(sharing_hurts_nobody),
        cmocka_unit_test(more_bandwidth_never_hurts_one_stream),
        cmocka_unit_test(a_single_collective_is_monotonic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
