/*
 * alone.c - one-op simulations, remembered by content.
 */
#include "sim/alone.h"

struct known {
    struct model_op op;
    struct model_config config;
    struct sim_alone_op alone;
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

bool sim_alone_same(const struct model_op *a, const struct model_op *b)
{
    return a->kind == b->kind && a->type == b->type &&
           a->schedule == b->schedule && a->kernel_class == b->kernel_class &&
           model_same(a->m, b->m) && model_same(a->n, b->n) &&
           model_same(a->k, b->k) && model_same(a->batch, b->batch) &&
           a->tile_m == b->tile_m && a->tile_n == b->tile_n &&
           a->sm_limit == b->sm_limit && a->ctas == b->ctas &&
           a->ctas_per_sm == b->ctas_per_sm &&
           a->cta_threads == b->cta_threads &&
           a->cta_registers == b->cta_registers &&
           model_same(a->cta_shared_bytes, b->cta_shared_bytes) &&
           model_same(a->flops, b->flops) && model_same(a->bytes, b->bytes) &&
           a->group == b->group;
}

static struct sim_alone_op simulate(struct sim_alone *alone,
                                    const struct model_op *op,
                                    const struct model_config *config)
{
    struct model_workload workload = *alone->request->workload;
    struct sim_request request = *alone->request;
    struct model_errors errors = {.arena = alone->arena};
    struct model_op single = *op;
    struct sim_result result = {.iteration_us = 0.0};
    struct sim *sim;

    single.after = NULL;
    single.after_count = 0;
    single.start_us = 0.0;
    single.config = *config;
    workload.ops = &single;
    workload.op_count = 1;
    request.workload = &workload;
    request.plan = NULL;
    sim = sim_new(alone->arena, &request, &errors);
    if (sim == NULL || sim_run(sim, &result, &errors) != MODEL_OK) {
        return (struct sim_alone_op){.us = result.iteration_us};
    }
    return (struct sim_alone_op){.us = result.iteration_us,
                                 .hbm_bytes = result.ops[0].hbm_bytes};
}

static void keep(struct sim_alone *alone, const struct known *known)
{
    alone->known = model_arena_grow(alone->arena, alone->known, alone->count,
                                    &alone->room, sizeof(*alone->known));
    alone->known[alone->count++] = *known;
}

struct sim_alone_op
sim_alone_op(struct sim_alone *alone, int op, const struct model_config *config)
{
    struct known entry = {.op = alone->request->workload->ops[op],
                          .config = *config};

    for (int i = 0; i < alone->count; i++) {
        if (sim_alone_same(&alone->known[i].op, &entry.op) &&
            (!model_op_is_collective(&entry.op) ||
             model_config_equal(&alone->known[i].config, config))) {
            return alone->known[i].alone;
        }
    }
    entry.alone = simulate(alone, &entry.op, config);
    keep(alone, &entry);
    return entry.alone;
}

double
sim_alone_us(struct sim_alone *alone, int op, const struct model_config *config)
{
    return sim_alone_op(alone, op, config).us;
}

void sim_alone_explain(struct sim_alone *alone,
                       struct sim_op_result *result,
                       double *alone_us)
{
    const struct model_op *op = &alone->request->workload->ops[result->op];
    struct sim_lost *lost = &result->lost;
    double difference;

    if (!result->takes_part) {
        *alone_us = 0.0;
        return;
    }
    *alone_us = sim_alone_us(alone, result->op, &result->config);
    difference = result->end_us - result->start_us - *alone_us;
    if (!model_op_is_collective(op)) {
        lost->sm = difference - lost->l2 - lost->hbm - lost->launch;
    }
}
