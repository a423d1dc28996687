/*
 * random_cases.h - random machines and workloads, each made from the number of
 * its case alone.
 *
 * Collectives take at most 24 channels on at most 3 streams, less than any of
 * the GPUs has SMs: more could hold each other's SMs for ever
 * (test_sim_stuck.c).
 */
#ifndef TESTS_RANDOM_CASES_H
#define TESTS_RANDOM_CASES_H

#include "model/workload_build.h"
#include "sim/sim.h"

#include "tests/unit/fixture.h"

#include <gsl/gsl_rng.h>

/* Times add up from a few roundings to 1 ps an op. */
#define CLOSE_US 1e-4

enum { CHANNELS_MAX = 24, STREAMS_MAX = 3, OPS_MAX = 12 };

struct bench {
    struct model_arena *arena; /* of one case */
    gsl_rng *random;
    int cases;
};

static inline struct bench bench_start(unsigned long seed)
{
    struct bench bench = {.arena = model_arena_new(),
                          .random = gsl_rng_alloc(gsl_rng_mt19937),
                          .cases = fixture_cases() / 10 + 1};

    assert_non_null(bench.arena);
    gsl_rng_set(bench.random, seed);
    return bench;
}

static inline void bench_end(struct bench *bench)
{
    model_arena_free(bench->arena);
    gsl_rng_free(bench->random);
}

static inline int pick(struct bench *bench, int count)
{
    return (int)gsl_rng_uniform_int(bench->random, (unsigned long)count);
}

/* Between low and high, evenly in the logarithm. */
static inline double spread(struct bench *bench, double low, double high)
{
    return low * exp(gsl_rng_uniform(bench->random) * log(high / low));
}

/* -- random machines -- */

static inline struct model_topology *random_machine(struct bench *bench)
{
    static const char *const gpu_names[] = {"a40", "a100", "h100", "v100"};
    static const char *const nics[] = {" nic:1x100Gbit/s",
                                       " nic:2x200Gbit/s",
                                       " nic:4x100Gbit/s",
                                       " nic:2x200Gbit/s net:rails:2",
                                       " nic:2x100Gbit/s net:tree:1/leaf:2",
                                       " nic:1x200Gbit/s net:tree:2/leaf:3"};
    static const char *const wirings[] = {
        " nvswitch",
        " nvswitch pcie:4:2/switch sockets:2",
        "",
        " nvlink:pairs",
        " nvlink:mesh",
        " nvlink:links:0-1x2,1-2,2-3x2,3-0,0-2:20GB/s",
        " pcie:4:2/switch sockets:2"};
    /* one random number a statement: the order within one is open */
    int nodes = 1 + pick(bench, 4);
    int gpus = 4 + 4 * pick(bench, 2);
    const char *gpu = gpu_names[pick(bench, FIXTURE_COUNT(gpu_names))];
    const char *wiring = wirings[pick(bench, FIXTURE_COUNT(wirings))];
    const char *nic = nics[pick(bench, FIXTURE_COUNT(nics))];
    const char *text =
        model_arena_format(bench->arena, "%dx%d gpu:%s%s%s", nodes, gpus, gpu,
                           wiring, nodes > 1 ? nic : "");
    struct model_topology *t = fixture_topology(bench->arena, text, NULL, 0);

    t->nics.gpudirect = pick(bench, 2) == 0;
    t->nics.pxn = pick(bench, 2) == 0;
    t->pcie.p2p = pick(bench, MODEL_PATHS);
    t->gpu.issue_us = pick(bench, 2) == 0 ? 0 : spread(bench, 0.1, 10);
    t->gpu.hbm_bytes_per_us *= spread(bench, 0.1, 2);
    t->gpu.l2_bytes *= spread(bench, 0.01, 2);
    return t;
}

/* Another GPU, of another size, on some ranks or on a node. */
static inline void random_mixture(struct bench *bench, struct model_topology *t)
{
    struct model_mixed *row = model_arena_alloc(bench->arena, sizeof *row);
    double *numbers = model_arena_array(bench->arena, 2, sizeof *numbers);
    int ranks = model_topology_rank_count(t);

    row->gpu = t->gpu;
    row->gpu.sm_count = CHANNELS_MAX * STREAMS_MAX + pick(bench, 100);
    row->gpu.hbm_bytes_per_us *= spread(bench, 0.2, 2);
    row->gpu.l2_bytes *= spread(bench, 0.1, 2);
    row->gpu.launch_us = spread(bench, 1, 30);
    row->gpu.issue_us = spread(bench, 1, 30);
    row->gpu.sync_us *= spread(bench, 0.5, 2);
    row->gpu.channel_bytes_per_us *= spread(bench, 0.5, 2);
    if (pick(bench, 2) == 0) {
        numbers[0] = pick(bench, t->node_count);
        row->nodes = (struct model_list){numbers, 1};
    } else {
        numbers[0] = pick(bench, ranks);
        numbers[1] = pick(bench, ranks);
        row->ranks = (struct model_list){numbers, 2};
    }
    t->mixed = (struct model_list){row, 1};
}

/* Ranks that are not alike, in one way or several. */
static inline void random_differences(struct bench *bench,
                                      struct model_topology *t)
{
    struct model_slow *slow = model_arena_alloc(bench->arena, sizeof *slow);

    if (pick(bench, 2) == 0) {
        random_mixture(bench, t);
    }
    if (pick(bench, 2) == 0) {
        *slow = (struct model_slow){pick(bench, model_topology_rank_count(t)),
                                    spread(bench, 0.5, 3)};
        t->variation.ranks = (struct model_list){slow, 1};
    }
    if (pick(bench, 2) == 0) {
        t->variation.jitter_ratio = spread(bench, 0.001, 0.3);
    }
}

/* -- random workloads -- */

/*
 * An algorithm for the kind that needs no special machine, or NVLS. The nodes
 * of a tree are not alike when they are more than two.
 */
static inline int random_algorithm(struct bench *bench,
                                   const struct model_topology *t,
                                   const struct model_op *op)
{
    enum model_collective_kind kind = model_op_collective(op);

    if (kind == MODEL_ALL_REDUCE && pick(bench, 2) == 0 &&
        (t->node_count <= 2 || op->group == 1)) {
        bool switched = t->nvlink.kind == MODEL_NVLINK_SWITCH &&
                        t->gpu.compute_capability >= 90;
        bool one_node = t->node_count == 1 || op->group == 1;

        return switched && pick(bench, 2) == 0
                   ? (one_node ? MODEL_NVLS : MODEL_NVLS_TREE)
                   : MODEL_TREE;
    }
    return (int)model_collective_algorithm(kind);
}

/* A ring_step of the group that is each rank by itself. */
static inline void become_step(struct model_op *op)
{
    op->kind = MODEL_OP_RING_STEP;
    op->group = 2;
    op->config.algorithm = MODEL_RING;
    op->config.protocol = MODEL_SIMPLE;
    op->config.transport = MODEL_P2P;
}

/*
 * Not a send: its group is a list, which cannot be folded. Nor over nodes what
 * has a root, since they are not alike then.
 */
static inline void random_collective(struct bench *bench,
                                     const struct model_topology *t,
                                     struct model_op *op)
{
    bool lines = t->nvlink.kind == MODEL_NVLINK_SWITCH && t->node_count == 1;

    op->kind = MODEL_OP_ALL_GATHER + pick(bench, MODEL_SEND);
    op->bytes = spread(bench, 1e4, 1e8);
    op->group = op->kind == MODEL_OP_BROADCAST || op->kind == MODEL_OP_REDUCE
                    ? 1
                    : pick(bench, 2); /* node, or world or node */
    op->shift = 1 + pick(bench, 3);
    op->config.algorithm = random_algorithm(bench, t, op);
    op->config.protocol = op->config.algorithm == MODEL_NVLS ||
                                  op->config.algorithm == MODEL_NVLS_TREE
                              ? MODEL_SIMPLE
                              : pick(bench, lines ? MODEL_PROTOCOLS : 2);
    op->config.transport = pick(bench, MODEL_TRANSPORTS);
    op->config.channels = 1 + pick(bench, CHANNELS_MAX);
    op->config.threads = 96 + 32 * pick(bench, 17);
    op->config.chunk_bytes = floor(spread(bench, 768, 2097152));
    if (op->config.threads % 256 == 0) {
        become_step(op);
    }
}

/* What a CTA asks for; one always fits. Some share SMs with channels. */
static inline void random_cta(struct bench *bench, struct model_op *op)
{
    op->cta_threads = 32 * (1 + pick(bench, 12));
    op->cta_registers = 16 + pick(bench, 150);
    op->cta_shared_bytes = pick(bench, 2) == 0 ? 0 : spread(bench, 128, 50000);
    op->ctas_per_sm = pick(bench, 3);
}

static inline void random_groups(struct bench *bench, struct model_op *op)
{
    double *rows = model_arena_array(bench->arena, 4, sizeof *rows);

    op->rows = rows;
    op->row_count = 4;
    for (int i = 0; i < 4; i++) {
        rows[i] = pick(bench, 2) == 0 ? i : pick(bench, 2000);
    }
}

static inline void random_attention(struct bench *bench, struct model_op *op)
{
    int kv_heads = 1 + pick(bench, 4);
    int sequence = 1 + pick(bench, 3000);

    op->attention.batch = 1 + pick(bench, 2);
    op->attention.kv_heads = kv_heads;
    op->attention.heads = kv_heads * (1 + pick(bench, 4));
    op->attention.sequence = sequence;
    op->attention.keys = sequence + pick(bench, 3000);
    op->attention.head_width = 64;
    op->attention.causal = pick(bench, 2) == 0;
    op->attention.backward = pick(bench, 2) == 0;
}

static inline void random_kernel(struct bench *bench, struct model_op *op)
{
    op->kind = pick(bench, MODEL_OP_ALL_GATHER);
    op->type = MODEL_FP16; /* all have it */
    op->schedule = pick(bench, MODEL_SCHEDULES);
    op->kernel_class = pick(bench, MODEL_KERNEL_CLASSES);
    op->m = 1 + pick(bench, 8000);
    op->n = 1 + pick(bench, 8000);
    op->k = 1 + pick(bench, 4000);
    op->batch = 1 + pick(bench, 2);
    op->ctas = 1 + pick(bench, 600);
    op->ctas_per_sm = 1 + pick(bench, 3);
    op->flops = spread(bench, 1e7, 1e11);
    op->bytes = pick(bench, 3) == 0 && op->kind == MODEL_OP_KERNEL
                    ? 0
                    : spread(bench, 1e4, 1e8);
    op->sm_limit = pick(bench, 4) == 0 ? 1 + pick(bench, 80) : 0;
    if (op->kind == MODEL_OP_KERNEL && pick(bench, 2) == 0) {
        random_cta(bench, op);
    }
    if (op->kind == MODEL_OP_GROUPED_GEMM) {
        random_groups(bench, op);
    } else if (op->kind == MODEL_OP_ATTENTION) {
        random_attention(bench, op);
    }
}

static inline struct model_op
random_op(struct bench *bench, const struct model_topology *t, int streams)
{
    struct model_op op = {.config = model_config_none()};

    if (pick(bench, 2) == 0) {
        random_collective(bench, t, &op);
    } else {
        random_kernel(bench, &op);
    }
    op.stream = pick(bench, streams);
    op.start_us = pick(bench, 4) == 0 ? spread(bench, 1, 1000) : 0;
    return op;
}

static inline struct model_workload *
empty_workload(struct bench *bench,
               const struct model_topology *t,
               int streams,
               struct model_builder *builder)
{
    struct model_workload *w = model_arena_alloc(bench->arena, sizeof *w);

    w->name = "random";
    w->label = "random";
    model_builder_start(builder, bench->arena, w);
    (void)model_builder_group(builder, "world", NULL,
                              model_topology_rank_count(t));
    w->groups[model_builder_group(builder, "node", NULL, t->gpus_per_node)]
        .family = true;
    w->groups[model_builder_group(builder, "each rank", NULL, 1)].family = true;
    for (int i = 0; i < streams; i++) {
        (void)model_builder_stream(
            builder, model_arena_format(bench->arena, "stream%d", i),
            pick(bench, 3));
    }
    return w;
}

/* Ops on some streams; each may wait for earlier ones. */
static inline struct model_workload *random_workload(
    struct bench *bench, const struct model_topology *t, int streams)
{
    struct model_builder builder;
    struct model_workload *w = empty_workload(bench, t, streams, &builder);
    int count = 1 + pick(bench, OPS_MAX);

    for (int i = 0; i < count; i++) {
        struct model_op op = random_op(bench, t, streams);

        op.id = model_arena_format(bench->arena, "op%d", i);
        (void)model_builder_add(&builder, &op);
        if (i > 0 && pick(bench, 3) == 0) {
            model_builder_after(&builder, i, pick(bench, i));
            w->ops[i].spins =
                model_op_is_collective(&w->ops[i]) && pick(bench, 2) == 0;
        }
    }
    return w;
}

/* Kernels on one stream, collectives that say nothing on another. */
static inline struct model_workload *
random_overlaps(struct bench *bench, const struct model_topology *t)
{
    struct model_workload *w = random_workload(bench, t, 2);

    for (int i = 0; i < w->op_count; i++) {
        struct model_op *op = &w->ops[i];

        op->config = model_config_none();
        op->stream = model_op_is_collective(op) ? 0 : 1;
        op->spins = false;
    }
    return w;
}

#endif
