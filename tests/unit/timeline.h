/*
 * timeline.h - timelines worked out by hand on the tiny machine of fixture.h:
 * 10 SMs, 5 us from ready to running, a tile of the GEMM below in 10 us, and
 * channels of 1000 bytes/us, so that `size: 2 kB x NC x T` lasts T us.
 *
 * Each timeline is run folded and with all ranks, with every invariant of the
 * simulator on; both must give the same times. Then the losses of every op are
 * added up: they must be its time in company less its time alone.
 */
#ifndef TESTS_TIMELINE_H
#define TESTS_TIMELINE_H

#include "sim/alone.h"
#include "sim/sim.h"

#include "tests/unit/fixture.h"

/* Times are sums of a few values that were each rounded to 1 ps. */
static const double CLOSE_US = 1e-5;

/* Per tile 2 x 100 x 50 x 1000 flops at 1e6 flops/us: 10 us. 25 tiles. */
#define GEMM_25 "kind: gemm, m: 500, n: 250, k: 1000, tile: [100, 50]"
/* 10 CTAs of 10 us. */
#define KERNEL_10 "kind: kernel, ctas: 10, flops: 100 MFLOP"
#define RING                                                                   \
    "algorithm: ring, protocol: simple, transport: p2p, threads: 512, "        \
    "chunk: 16 KiB"
/* NC 4 for 100 us: 2 x 4 x 1000 x 100. */
#define GATHER_4 "kind: all_gather, size: 800 kB, channels: 4, " RING

struct timeline {
    struct model_arena *arena;
    const struct model_topology *topology;
    const struct model_workload *workload;
    struct sim_request request;
    struct sim_result result;
    struct sim_op_result *ops; /* with their losses explained */
};

/* Parts of a loss, added up. */
static inline double sum_of(const struct sim_lost *lost)
{
    return lost->sm + lost->l2 + lost->hbm + lost->link + lost->peer +
           lost->launch;
}

/* Complete the losses of all ops; their parts are the difference. */
static inline void explain(struct timeline *timeline)
{
    int count = timeline->result.op_count;
    struct sim_alone *alone =
        sim_alone_new(timeline->arena, &timeline->request);

    timeline->ops = model_arena_array(timeline->arena, (size_t)count,
                                      sizeof *timeline->ops);
    for (int i = 0; i < count; i++) {
        struct sim_op_result *op = &timeline->ops[i];
        double alone_us = 0;
        double difference;

        *op = timeline->result.ops[i];
        sim_alone_explain(alone, op, &alone_us);
        difference = op->end_us - op->start_us - alone_us;
        if (!(fabs(sum_of(&op->lost) - difference) <= 2e-6)) {
            fail_msg("%s rank %d: parts %.9g, difference %.9g",
                     timeline->workload->ops[op->op].id, op->rank,
                     sum_of(&op->lost), difference);
        }
    }
}

/* The iteration is over when the last op is, and is no longer. */
static inline void check_end(const struct sim_result *result)
{
    double last_us = 0;

    for (int i = 0; i < result->op_count; i++) {
        last_us = fmax(last_us, result->ops[i].end_us);
    }
    assert_near(result->iteration_us, last_us, 0);
}

static inline struct timeline run_one(struct model_arena *arena,
                                      const struct model_topology *topology,
                                      const struct model_workload *workload,
                                      bool all_ranks)
{
    struct timeline timeline = {.arena = arena,
                                .topology = topology,
                                .workload = workload,
                                .request = {.topology = topology,
                                            .workload = workload,
                                            .all_ranks = all_ranks}};

    timeline.result = fixture_simulate(arena, &timeline.request);
    check_end(&timeline.result);
    explain(&timeline);
    return timeline;
}

/* Run folded and with all ranks; both agree. Returns the folded timeline. */
static inline struct timeline run_on(struct model_arena *arena,
                                     const struct model_topology *topology,
                                     const char *ops)
{
    const struct model_workload *workload = fixture_workload(
        arena, topology, model_arena_format(arena, "name: test\n%s", ops));
    struct timeline folded = run_one(arena, topology, workload, false);
    struct timeline all = run_one(arena, topology, workload, true);

    assert_int_equal(folded.result.rank_count, 1);
    assert_int_equal(all.result.rank_count,
                     model_topology_rank_count(topology));
    for (int i = 0; i < all.result.op_count; i++) {
        const struct sim_op_result *one = &all.result.ops[i];
        const struct sim_op_result *same = &folded.result.ops[one->op];

        assert_near(one->start_us, same->start_us, CLOSE_US);
        assert_near(one->end_us, same->end_us, CLOSE_US);
    }
    return folded;
}

static inline struct timeline run(struct model_arena *arena, const char *ops)
{
    return run_on(arena, fixture_tiny(arena, NULL, 0), ops);
}

static inline const struct sim_op_result *op_of(const struct timeline *timeline,
                                                const char *id)
{
    return &timeline->ops[fixture_op(timeline->workload, id)];
}

static inline double end_of(const struct timeline *timeline, const char *id)
{
    return op_of(timeline, id)->end_us;
}

#endif
