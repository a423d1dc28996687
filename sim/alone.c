/*
 * alone.c - one-op simulations, remembered by content.
 */
#include "sim/alone.h"

/* An op that was simulated alone, on every rank of the request at once. */
struct known {
    struct model_op op;
    struct model_config config;
    const struct sim_alone_op *by_rank;
};

struct sim_alone {
    struct model_arena *arena;
    const struct sim_request *request;
    struct known *known;
    int count;
    int room;
};

struct sim_alone *sim_alone_new(struct model_arena *arena,
                                const struct sim_request *request)
{
    struct sim_alone *alone = model_arena_alloc(arena, sizeof(*alone));

    alone->arena = arena;
    alone->request = request;
    return alone;
}

static bool same_rows(const struct model_op *a, const struct model_op *b)
{
    for (int i = 0; i < a->row_count && i < b->row_count; i++) {
        if (!model_same(a->rows[i], b->rows[i])) {
            return false;
        }
    }
    return a->row_count == b->row_count;
}

static bool same_attention(const struct model_attention *a,
                           const struct model_attention *b)
{
    return model_same(a->batch, b->batch) && model_same(a->heads, b->heads) &&
           model_same(a->kv_heads, b->kv_heads) &&
           model_same(a->sequence, b->sequence) &&
           model_same(a->keys, b->keys) &&
           model_same(a->head_width, b->head_width) && a->causal == b->causal &&
           a->backward == b->backward;
}

bool sim_alone_same(const struct model_op *a, const struct model_op *b)
{
    return a->kind == b->kind && a->type == b->type &&
           a->schedule == b->schedule && a->kernel_class == b->kernel_class &&
           model_same(a->m, b->m) && model_same(a->n, b->n) &&
           model_same(a->k, b->k) && model_same(a->batch, b->batch) &&
           a->tile_m == b->tile_m && a->tile_n == b->tile_n &&
           a->split_k == b->split_k && a->sm_limit == b->sm_limit &&
           a->ctas == b->ctas && a->ctas_per_sm == b->ctas_per_sm &&
           a->cta_threads == b->cta_threads &&
           a->cta_registers == b->cta_registers &&
           model_same(a->cta_shared_bytes, b->cta_shared_bytes) &&
           model_same(a->flops, b->flops) && model_same(a->bytes, b->bytes) &&
           a->group == b->group && a->shift == b->shift && same_rows(a, b) &&
           same_attention(&a->attention, &b->attention);
}

/*
 * A single op on all ranks, at their usual speed. A collective's ranks may
 * have different launch latencies: the wait for the last one is not its own.
 */
static const struct sim_alone_op *simulate(struct sim_alone *alone,
                                           const struct model_op *op,
                                           const struct model_config *config)
{
    struct model_topology topology = *alone->request->topology;
    struct model_workload workload = *alone->request->workload;
    struct sim_request request = *alone->request;
    struct model_errors errors = {.arena = alone->arena};
    struct model_op single = *op;
    struct sim_result result = {.op_count = 0};
    struct sim_alone_op *by_rank;
    struct sim *sim;
    int ranks = request.all_ranks ? model_topology_rank_count(&topology) : 1;

    topology.variation = (struct model_variation){.jitter_ratio = 0.0};
    single.after = NULL;
    single.after_count = 0;
    single.start_us = 0.0;
    single.config = *config;
    workload.ops = &single;
    workload.op_count = 1;
    workload.cycle = (struct model_cycle){.repeats = 0};
    request.topology = &topology;
    request.workload = &workload;
    request.plan = NULL;
    by_rank = model_arena_array(alone->arena, (size_t)ranks, sizeof(*by_rank));
    sim = sim_new(alone->arena, &request, &errors);
    if (sim == NULL || sim_run(sim, &result, &errors) != MODEL_OK) {
        return by_rank;
    }
    for (int rank = 0; rank < ranks; rank++) {
        const struct sim_op_result *run = &result.ops[rank];

        by_rank[rank] = (struct sim_alone_op){
            .us = run->end_us - run->start_us - run->lost.peer,
            .lost = run->lost,
            .hbm_bytes = run->hbm_bytes};
    }
    return by_rank;
}

static void keep(struct sim_alone *alone, const struct known *known)
{
    alone->known = model_arena_grow(alone->arena, alone->known, alone->count,
                                    &alone->room, sizeof(*alone->known));
    alone->known[alone->count++] = *known;
}

/* The op at the usual speed of a rank. */
static struct sim_alone_op usual(struct sim_alone *alone,
                                 int op,
                                 int rank,
                                 const struct model_config *config)
{
    struct known entry = {.op = alone->request->workload->ops[op],
                          .config = *config};

    for (int i = 0; i < alone->count; i++) {
        if (sim_alone_same(&alone->known[i].op, &entry.op) &&
            (!model_op_is_collective(&entry.op) ||
             model_config_equal(&alone->known[i].config, config))) {
            return alone->known[i].by_rank[rank];
        }
    }
    entry.by_rank = simulate(alone, &entry.op, config);
    keep(alone, &entry);
    return entry.by_rank[rank];
}

struct sim_alone_op
sim_alone_op(struct sim_alone *alone, int op, const struct model_config *config)
{
    return usual(alone, op, 0, config);
}

double
sim_alone_us(struct sim_alone *alone, int op, const struct model_config *config)
{
    return usual(alone, op, 0, config).us;
}

/* All but the launch grows with the work. */
static double on_rank(const struct sim_alone *alone,
                      const struct sim_op_result *result,
                      double us)
{
    double launch_us =
        model_ranks_gpu(alone->request->topology, result->rank)->launch_us;

    return us + (us - launch_us) * (result->work_ratio - 1.0);
}

void sim_alone_explain(struct sim_alone *alone,
                       struct sim_op_result *result,
                       double *alone_us)
{
    const struct model_op *op = &alone->request->workload->ops[result->op];
    struct sim_lost *lost = &result->lost;
    struct sim_alone_op known;
    double difference;

    if (!result->takes_part) {
        *alone_us = 0.0;
        return;
    }
    known = usual(alone, result->op, result->rank, &result->config);
    *alone_us = on_rank(alone, result, known.us);
    difference = result->end_us - result->start_us - *alone_us;
    if (model_op_is_collective(op)) {
        lost->l2 -= known.lost.l2;
        lost->hbm -= known.lost.hbm;
        lost->link -= known.lost.link;
    } else {
        lost->sm = difference - lost->l2 - lost->hbm - lost->launch;
    }
}
