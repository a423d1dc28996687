/*
 * attention.c - fused attention as a grid.
 *
 * A CTA keeps a block of one operand (forward: queries, backward: keys) and
 * goes over what it sees of the other.
 */
#include "model/attention.h"

#include <limits.h>
#include <math.h>

enum { FP32_BYTES = 4 };

/* The grid and what its CTAs go over, in tokens. */
struct grid {
    double heads;         /* of all sequences */
    double blocks;        /* CTAs of a head */
    double visited;       /* mean of a CTA */
    double longest;       /* most of a CTA */
    double visited_bytes; /* of one visited token */
    double sharers;       /* heads that visit the same tokens */
};

static double pairs(const struct model_attention *a)
{
    return a->causal ? a->sequence * (a->keys - a->sequence / 2.0)
                     : a->sequence * a->keys;
}

double model_attention_flops(const struct model_attention *attention)
{
    double forward = 4.0 * attention->batch * attention->heads *
                     pairs(attention) * attention->head_width;

    return attention->backward ? 2.5 * forward : forward;
}

/* Elements of Q, or of O, or of a gradient of them. */
static double query_elements(const struct model_attention *a)
{
    return a->batch * a->heads * a->sequence * a->head_width;
}

double model_attention_bytes(const struct model_attention *attention,
                             enum model_type type)
{
    double bytes = model_type_bytes(type);
    double queries = query_elements(attention);
    double keys = attention->batch * attention->kv_heads * attention->keys *
                  attention->head_width;
    double rows = attention->batch * attention->heads * attention->sequence;

    if (!attention->backward) {
        return (2.0 * queries + 2.0 * keys) * bytes + FP32_BYTES * rows;
    }
    return (5.0 * queries + 4.0 * keys) * bytes + 4.0 * FP32_BYTES * queries +
           3.0 * FP32_BYTES * rows;
}

/*
 * Keys that a causal mask hides from the mean query, in whole blocks: what is
 * above the diagonal within one is not cut out.
 */
static double hidden_keys(const struct model_gpu *gpu,
                          const struct model_attention *a)
{
    double blocks = ceil(a->sequence / gpu->attention_rows);

    return a->causal ? a->sequence / 2.0 * (1.0 - 1.0 / blocks) : 0.0;
}

static struct grid make_grid(const struct model_gpu *gpu,
                             enum model_type type,
                             const struct model_attention *a)
{
    double bytes = model_type_bytes(type);
    double hidden = hidden_keys(gpu, a);

    if (a->backward) {
        return (struct grid){.heads = a->batch * a->heads,
                             .blocks = ceil(a->keys / gpu->attention_rows),
                             .visited = a->sequence * (1.0 - hidden / a->keys),
                             .longest = a->sequence,
                             .visited_bytes =
                                 a->head_width * 2.0 * (bytes + FP32_BYTES),
                             .sharers = 1.0};
    }
    return (struct grid){.heads = a->batch * a->heads,
                         .blocks = ceil(a->sequence / gpu->attention_rows),
                         .visited = a->keys - hidden,
                         .longest = a->keys,
                         .visited_bytes = a->head_width * 2.0 * bytes,
                         .sharers = a->heads / a->kv_heads};
}

/*
 * HBM bytes of what the CTAs visit: once a head, or once a wave where L2 does
 * not keep it from one wave to the next.
 */
static double visited_bytes(const struct model_gpu *gpu,
                            const struct grid *grid,
                            double slots,
                            double working_set_bytes)
{
    double ctas = grid->blocks * grid->sharers;
    double loads =
        working_set_bytes > gpu->l2_bytes ? fmax(ctas / slots, 1.0) : 1.0;

    return grid->heads / grid->sharers * grid->longest * grid->visited_bytes *
           loads;
}

/* What the heads of a wave have in common. */
static double working_set_bytes(const struct grid *grid, double slots)
{
    double heads = fmin(fmax(slots / grid->blocks, 1.0), grid->heads);

    return fmax(heads / grid->sharers, 1.0) * grid->longest *
           grid->visited_bytes;
}

struct model_kernel
model_attention_kernel(const struct model_gpu *gpu,
                       enum model_type type,
                       const struct model_attention *attention,
                       enum model_schedule schedule,
                       int sm_limit)
{
    struct grid grid = make_grid(gpu, type, attention);
    double slots = model_gpu_slots(gpu, sm_limit);
    double ctas = grid.heads * grid.blocks;
    double working_set = working_set_bytes(&grid, slots);
    double own = model_attention_bytes(attention, type) -
                 visited_bytes(gpu, &grid, slots, 0.0);
    double no_reuse = own / ctas + grid.visited * grid.visited_bytes;
    double reused =
        (own + visited_bytes(gpu, &grid, slots, working_set)) / ctas;
    double mean_us =
        model_attention_flops(attention) / ctas /
        model_gpu_sm_flops_per_us(gpu, type, MODEL_CLASS_ATTENTION);
    double longest_us = mean_us * grid.longest / grid.visited;
    struct model_kernel kernel = {
        .schedule = MODEL_WAVES,
        .loads = (int)fmin(ctas, INT_MAX),
        .overflows = ctas > INT_MAX,
        .load_us = fmax(mean_us, longest_us / ceil(ctas / slots)),
        .load_bytes = fmin(reused, no_reuse),
        .load_no_reuse_bytes = no_reuse,
        .working_set_bytes = working_set,
        .sm_limit = sm_limit};

    model_kernel_set_cta(&kernel, &gpu->attention_cta, 1);
    model_kernel_schedule(&kernel, schedule, (int)slots);
    return kernel;
}
