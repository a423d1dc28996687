/*
 * workload_compute.c - from the keys of a computation to its op.
 *
 * What does not depend on the GPU is worked out here: bytes and flops of
 * streaming kernels, and the shapes that gemm.h and attention.h take.
 */
#include "model/workload_row.h"

static struct model_op_fault
fault(const char *key, const char *message, const char *hint)
{
    return (struct model_op_fault){key, message, hint};
}

static const struct model_op_fault none = {.key = NULL};

static struct model_op_fault set_tile(struct model_op_row *row)
{
    const double *sides = row->tile.items;

    if (row->tile.count == 0) {
        return none;
    }
    if (row->tile.count != 2 || sides[0] < 1.0 || sides[1] < 1.0 ||
        sides[0] > 4096.0 || sides[1] > 4096.0) {
        return fault("tile", "not two sides from 1 to 4096",
                     "write [128, 256]");
    }
    row->op.tile_m = (int)sides[0];
    row->op.tile_n = (int)sides[1];
    return none;
}

static struct model_op_fault set_gemm(struct model_op_row *row)
{
    struct model_op *op = &row->op;

    op->m = row->m;
    op->n = row->n;
    op->k = row->k;
    op->batch = row->batch;
    if (op->split_k > row->k) {
        return fault("split_k", "more parts than K has elements",
                     "write at most k");
    }
    return set_tile(row);
}

static struct model_op_fault set_grouped_gemm(struct model_op_row *row)
{
    struct model_op *op = &row->op;
    struct model_gemm gemm = {.type = (enum model_type)op->type,
                              .n = row->n,
                              .k = row->k,
                              .groups = row->rows.items,
                              .group_count = row->rows.count};

    op->rows = gemm.groups;
    op->row_count = gemm.group_count;
    op->bytes = model_gemm_bytes(&gemm);
    op->flops = model_gemm_flops(&gemm);
    if (!(op->flops > 0.0)) {
        return fault("rows", "no group has a row", "write [256, 512]");
    }
    return set_gemm(row);
}

static struct model_op_fault set_attention(struct model_op_row *row)
{
    struct model_op *op = &row->op;
    int kv_heads = row->kv_heads > 0 ? row->kv_heads : row->heads;
    int keys = row->keys > 0 ? row->keys : row->sequence;

    op->kernel_class = MODEL_CLASS_ATTENTION;
    op->attention = (struct model_attention){.batch = row->batch,
                                             .heads = row->heads,
                                             .kv_heads = kv_heads,
                                             .sequence = row->sequence,
                                             .keys = keys,
                                             .head_width = row->head_width,
                                             .causal = row->causal,
                                             .backward = row->backward};
    op->bytes =
        model_attention_bytes(&op->attention, (enum model_type)op->type);
    op->flops = model_attention_flops(&op->attention);
    if (row->heads % kv_heads != 0) {
        return fault("kv_heads", "heads do not divide over them",
                     "write a divisor of heads");
    }
    if (row->causal && keys < row->sequence) {
        return fault("keys", "fewer than queries, and causal",
                     "write at least sequence, or causal: false");
    }
    return none;
}

static struct model_op_fault set_streaming(struct model_op *op,
                                           struct model_streaming streaming)
{
    op->kernel_class = MODEL_CLASS_VECTOR;
    op->bytes = streaming.bytes;
    op->flops = streaming.flops;
    return none;
}

static struct model_op_fault set_norm(struct model_op_row *row)
{
    const double *rows = row->rows.items;

    if (row->rows.count != 1 || !(rows[0] >= 1.0)) {
        return fault("rows", "not one number of rows", "write rows: 4096");
    }
    return set_streaming(&row->op,
                         model_streaming_norm((enum model_type)row->op.type,
                                              rows[0], row->columns,
                                              row->residual, row->backward));
}

struct model_op_fault model_op_row_compute(struct model_op_row *row)
{
    struct model_op *op = &row->op;
    enum model_type type = (enum model_type)op->type;

    op->bytes = row->hbm;
    switch ((enum model_op_kind)op->kind) {
    case MODEL_OP_GEMM:
        return set_gemm(row);
    case MODEL_OP_GROUPED_GEMM:
        return set_grouped_gemm(row);
    case MODEL_OP_ATTENTION:
        return set_attention(row);
    case MODEL_OP_ELEMENTWISE:
        return set_streaming(
            op, model_streaming_elementwise(type, row->elements, row->reads,
                                            row->writes));
    case MODEL_OP_NORM:
        return set_norm(row);
    case MODEL_OP_OPTIMIZER:
        return set_streaming(op,
                             model_streaming_optimizer(type, row->parameters));
    case MODEL_OP_COPY:
        return set_streaming(op, model_streaming_copy(row->size));
    default:
        return none;
    }
}
