/*
 * work.c - from an op of a workload to one launch, and back to text.
 *
 * The text is that of the work, not of the op: a record says what ran.
 */
#include "validate/replay/work.h"

#include <math.h>

static bool same_rows(const struct replay_work *a, const struct replay_work *b)
{
    if (a->row_count != b->row_count) {
        return false;
    }
    for (int i = 0; i < a->row_count; i++) {
        if (!model_same(a->rows[i], b->rows[i])) {
            return false;
        }
    }
    return true;
}

static bool same_gemm(const struct replay_work *a, const struct replay_work *b)
{
    return a->type == b->type && model_same(a->m, b->m) &&
           model_same(a->n, b->n) && model_same(a->k, b->k) &&
           model_same(a->batch, b->batch) && a->sm_limit == b->sm_limit &&
           same_rows(a, b);
}

static bool same_grid(const struct replay_work *a, const struct replay_work *b)
{
    return a->ctas == b->ctas && a->ctas_per_sm == b->ctas_per_sm &&
           model_same(a->shared_bytes, b->shared_bytes) &&
           model_same(a->flops, b->flops) && model_same(a->bytes, b->bytes) &&
           a->tensor == b->tensor &&
           model_same(a->working_set_bytes, b->working_set_bytes);
}

static bool same_collective(const struct replay_work *a,
                            const struct replay_work *b)
{
    return a->collective == b->collective &&
           model_same(a->size_bytes, b->size_bytes) &&
           a->channels == b->channels &&
           model_same(a->chunk_bytes, b->chunk_bytes) && a->group == b->group &&
           a->shift == b->shift;
}

bool replay_work_same(const struct replay_work *a, const struct replay_work *b)
{
    return a->kind == b->kind && a->threads == b->threads && same_gemm(a, b) &&
           same_grid(a, b) && same_collective(a, b);
}

static struct replay_work gemm(const struct model_op *op)
{
    return (struct replay_work){.kind = REPLAY_GEMM,
                                .type = op->type,
                                .m = op->m,
                                .n = op->n,
                                .k = op->k,
                                .batch = fmax(op->batch, 1.0),
                                .rows = op->rows,
                                .row_count = op->row_count,
                                .sm_limit = op->sm_limit};
}

/* The kernel that the model has for it: loads of so many CTAs. */
static struct replay_work attention(const struct model_op *op,
                                    const struct model_gpu *gpu)
{
    struct model_kernel kernel = model_op_kernel(op, gpu);
    int per_load = kernel.ctas_per_sm > 0 ? kernel.ctas_per_sm : 1;

    return (struct replay_work){.kind = REPLAY_GRID,
                                .type = op->type,
                                .ctas = kernel.loads * per_load,
                                .threads = kernel.cta_threads,
                                .shared_bytes = kernel.cta_shared_bytes,
                                .flops = op->flops,
                                .bytes = op->bytes,
                                .tensor = true};
}

struct replay_work replay_work_compute(const struct model_op *op,
                                       const struct model_gpu *gpu,
                                       const char **replaced)
{
    *replaced = NULL;
    switch ((enum model_op_kind)op->kind) {
    case MODEL_OP_GEMM:
    case MODEL_OP_GROUPED_GEMM:
        return gemm(op);
    case MODEL_OP_ATTENTION:
        *replaced = "attention";
        return attention(op, gpu);
    case MODEL_OP_KERNEL:
        return (struct replay_work){.kind = REPLAY_GRID,
                                    .type = op->type,
                                    .ctas = op->ctas,
                                    .threads = op->cta_threads,
                                    .ctas_per_sm = op->ctas_per_sm,
                                    .shared_bytes = op->cta_shared_bytes,
                                    .flops = op->flops,
                                    .bytes = op->bytes,
                                    .tensor =
                                        op->kernel_class != MODEL_CLASS_VECTOR};
    default: /* memory, and what only streams: its bytes say all */
        return (struct replay_work){.kind = REPLAY_GRID, .bytes = op->bytes};
    }
}

struct replay_work replay_work_collective(const struct model_op *op,
                                          const struct model_config *config,
                                          bool stand_in,
                                          int ranks)
{
    enum model_collective_kind kind = model_op_collective(op);
    struct replay_work work = {.kind = REPLAY_COLLECTIVE,
                               .type = op->type,
                               .collective = (int)kind,
                               .size_bytes = op->bytes,
                               .channels = config->channels,
                               .threads = config->threads,
                               .chunk_bytes = config->chunk_bytes,
                               .group = op->group,
                               .shift = op->shift};

    if (stand_in || kind == MODEL_RING_STEP) {
        work.kind = REPLAY_RING_STEP;
        work.collective = MODEL_RING_STEP;
        work.group = 0;
        work.shift = 0;
    }
    if (stand_in && kind != MODEL_RING_STEP) {
        work.size_bytes *= model_collective_bus_factor(kind, ranks);
    }
    return work;
}

/* Adds ", key: value" where the value is above 0. */
static const char *with(struct model_arena *arena,
                        const char *text,
                        const char *key,
                        double value,
                        enum model_dimension dimension)
{
    char number[48];

    return value > 0.0
               ? model_arena_format(arena, "%s, %s: %s", text, key,
                                    model_units_print(value, dimension, number,
                                                      sizeof(number)))
               : text;
}

static const char *gemm_text(struct model_arena *arena,
                             const struct replay_work *work)
{
    const char *text = "";

    if (work->row_count > 0) {
        for (int i = 0; i < work->row_count; i++) {
            text = model_arena_format(arena, "%s%s%.0f", text,
                                      i > 0 ? ", " : "", work->rows[i]);
        }
        text =
            model_arena_format(arena, "{kind: grouped_gemm, rows: [%s]", text);
    } else {
        text = with(arena, "{kind: gemm", "m", work->m, MODEL_COUNT);
    }
    text = with(arena, text, "n", work->n, MODEL_COUNT);
    text = with(arena, text, "k", work->k, MODEL_COUNT);
    text = with(arena, text, "batch", work->batch > 1.0 ? work->batch : 0.0,
                MODEL_COUNT);
    text = with(arena, text, "sm_limit", work->sm_limit, MODEL_COUNT);
    return model_arena_format(arena, "%s, type: %s}", text,
                              model_type_names[work->type]);
}

static const char *grid_text(struct model_arena *arena,
                             const struct replay_work *work)
{
    const char *text;

    if (work->ctas == 0) {
        text = with(arena, "{kind: memory", "hbm", work->bytes, MODEL_BYTES);
        return model_arena_format(arena, "%s}", text);
    }
    text = with(arena, "{kind: kernel", "ctas", work->ctas, MODEL_COUNT);
    text = with(arena, text, "ctas_per_sm", work->ctas_per_sm, MODEL_COUNT);
    text = with(arena, text, "cta_threads", work->threads, MODEL_COUNT);
    text = with(arena, text, "cta_shared", work->shared_bytes, MODEL_BYTES);
    text = with(arena, text, "flops", work->flops, MODEL_FLOPS);
    text = with(arena, text, "hbm", work->bytes, MODEL_BYTES);
    if (work->flops > 0.0) {
        text = model_arena_format(
            arena, "%s, class: %s, type: %s", text,
            model_kernel_class_names[work->tensor ? MODEL_CLASS_GEMM
                                                  : MODEL_CLASS_VECTOR],
            model_type_names[work->type]);
    }
    return model_arena_format(arena, "%s}", text);
}

const char *replay_work_text(struct model_arena *arena,
                             const struct replay_work *work)
{
    return work->kind == REPLAY_GEMM ? gemm_text(arena, work)
                                     : grid_text(arena, work);
}
