/*
 * transformer.c - kernels of a layer as rows of a table.
 *
 * A layer is a table of parts with their sizes as functions of the shape, so
 * that forward and backward walk the same rows in opposite directions.
 */
#include "model/transformer.h"

static double query_width(const struct model_transformer *t)
{
    return (double)t->heads * t->head_width;
}

static double key_width(const struct model_transformer *t)
{
    return (double)t->kv_heads * t->head_width;
}

void model_transformer_layer(const struct model_transformer *t,
                             struct model_part parts[MODEL_LAYER_PARTS])
{
    double h = t->hidden;
    double f = t->ffn;
    double g = t->gated_ffn ? 2.0 : 1.0;
    double q = query_width(t);
    double kv = key_width(t);

    parts[MODEL_ROW_NORM1] =
        (struct model_part){"norm1", MODEL_PART_NORM, .columns = h};
    parts[MODEL_ROW_QKV] = (struct model_part){
        "qkv", MODEL_PART_GEMM, .columns = q + 2.0 * kv, .inner = h};
    parts[MODEL_ROW_ATTENTION] =
        (struct model_part){"attention", MODEL_PART_ATTENTION, .columns = q};
    parts[MODEL_ROW_OUT] =
        (struct model_part){"out", MODEL_PART_GEMM, .columns = h, .inner = q};
    parts[MODEL_ROW_NORM2] = (struct model_part){
        "norm2", MODEL_PART_NORM, .columns = h, .residual = true};
    parts[MODEL_ROW_UP] = (struct model_part){"up", MODEL_PART_GEMM,
                                              .columns = g * f, .inner = h};
    parts[MODEL_ROW_ACTIVATION] = (struct model_part){
        "activation",  MODEL_PART_ELEMENTWISE, .columns = f,    .reads = g,
        .writes = 1.0, .grad_reads = g + 1.0,  .grad_writes = g};
    parts[MODEL_ROW_DOWN] =
        (struct model_part){"down", MODEL_PART_GEMM, .columns = h, .inner = f};
    parts[MODEL_ROW_RESIDUAL] = (struct model_part){
        "residual",    MODEL_PART_ELEMENTWISE, .columns = h,      .reads = 2.0,
        .writes = 1.0, .grad_reads = 2.0,      .grad_writes = 1.0};
}

static int add_latent(const struct model_transformer *t,
                      struct model_part *rows)
{
    double heads = t->heads;
    double q = t->q_rank;
    double kv = t->kv_rank;

    rows[0] = (struct model_part){"latent", MODEL_PART_GEMM,
                                  .columns = q + kv + t->position_width,
                                  .inner = t->hidden};
    rows[1] = (struct model_part){"q.norm", MODEL_PART_NORM, .columns = q};
    rows[2] = (struct model_part){
        "q.up", MODEL_PART_GEMM,
        .columns = heads * (t->head_width + t->position_width), .inner = q};
    rows[3] = (struct model_part){"kv.norm", MODEL_PART_NORM, .columns = kv};
    rows[4] = (struct model_part){"kv.up", MODEL_PART_GEMM,
                                  .columns = heads * 2.0 * t->head_width,
                                  .inner = kv};
    return 5;
}

int model_transformer_rows(const struct model_transformer *t,
                           bool all,
                           struct model_part rows[MODEL_ROWS_MAX])
{
    struct model_part plain[MODEL_LAYER_PARTS];
    int last = all ? MODEL_LAYER_PARTS - 1 : MODEL_ROW_NORM2;
    int count = 0;

    model_transformer_layer(t, plain);
    for (int i = 0; i <= last; i++) {
        if (i == MODEL_ROW_QKV && t->kv_rank > 0) {
            count += add_latent(t, &rows[count]);
        } else {
            rows[count++] = plain[i];
        }
    }
    return count;
}

void model_transformer_head(const struct model_transformer *t,
                            struct model_part parts[MODEL_HEAD_PARTS])
{
    parts[MODEL_HEAD_NORM] =
        (struct model_part){"norm", MODEL_PART_NORM, .columns = t->hidden};
    parts[MODEL_HEAD_LOGITS] =
        (struct model_part){"logits", MODEL_PART_GEMM, .columns = t->vocabulary,
                            .inner = t->hidden};
}

double model_parts_parameters(const struct model_part *parts, int count)
{
    double sum = 0.0;

    for (int i = 0; i < count; i++) {
        double groups =
            parts[i].kind == MODEL_PART_GROUPED ? parts[i].groups : 1;

        sum += groups * parts[i].columns * parts[i].inner; /* inner: gemms */
    }
    return sum;
}

double model_transformer_layer_parameters(const struct model_transformer *t)
{
    struct model_part rows[MODEL_ROWS_MAX];

    return model_parts_parameters(rows, model_transformer_rows(t, true, rows));
}

double model_transformer_root_parameters(const struct model_transformer *t)
{
    return (t->tied_embedding ? 1.0 : 2.0) * t->vocabulary * t->hidden;
}

static double tokens(const struct model_transformer *t)
{
    return (double)t->micro_batch * t->sequence;
}

/* Append an op to the emitter's stream. */
static void emit(struct model_emitter *emitter,
                 const char *name,
                 const char *suffix,
                 struct model_op op)
{
    op.id = model_arena_format(emitter->builder->arena, "%s.%s%s",
                               emitter->prefix, name, suffix);
    op.window = emitter->window;
    op.stream = emitter->stream;
    op.type = emitter->transformer->type;
    op.config = model_config_none();
    emitter->last = model_builder_add(emitter->builder, &op);
    model_builder_after(emitter->builder, emitter->last, emitter->wait_for);
    emitter->wait_for = MODEL_UNSET;
}

static void emit_gemm(struct model_emitter *emitter,
                      const char *name,
                      const char *suffix,
                      double m,
                      double n,
                      double k,
                      double batch)
{
    emit(emitter, name, suffix,
         (struct model_op){
             .kind = MODEL_OP_GEMM, .m = m, .n = n, .k = k, .batch = batch});
}

static void emit_streaming(struct model_emitter *emitter,
                           const char *name,
                           const char *suffix,
                           enum model_op_kind kind,
                           struct model_streaming streaming)
{
    emit(emitter, name, suffix,
         (struct model_op){.kind = (int)kind,
                           .kernel_class = MODEL_CLASS_VECTOR,
                           .bytes = streaming.bytes,
                           .flops = streaming.flops});
}

static enum model_type type_of(const struct model_transformer *t)
{
    return (enum model_type)t->type;
}

static void
emit_attention(struct model_emitter *emitter, const char *name, bool backward)
{
    const struct model_transformer *t = emitter->transformer;
    struct model_attention attention = {.batch = t->micro_batch,
                                        .heads = t->heads,
                                        .kv_heads = t->kv_heads,
                                        .sequence = t->sequence,
                                        .keys = t->sequence,
                                        .head_width = t->head_width +
                                                      t->position_width / 2.0,
                                        .causal = true,
                                        .backward = backward};

    emit(emitter, name, backward ? ".grad" : "",
         (struct model_op){.kind = MODEL_OP_ATTENTION,
                           .kernel_class = MODEL_CLASS_ATTENTION,
                           .attention = attention,
                           .flops = model_attention_flops(&attention),
                           .bytes =
                               model_attention_bytes(&attention, type_of(t))});
}

static void emit_norm(struct model_emitter *emitter,
                      const struct model_part *part,
                      bool backward)
{
    const struct model_transformer *t = emitter->transformer;

    emit_streaming(emitter, part->name, backward ? ".grad" : "", MODEL_OP_NORM,
                   model_streaming_norm(type_of(t), tokens(t), part->columns,
                                        part->residual, backward));
}

static void emit_grouped(struct model_emitter *emitter,
                         const struct model_part *part,
                         const char *suffix,
                         double n,
                         double k)
{
    struct model_gemm gemm = {.type = type_of(emitter->transformer),
                              .n = n,
                              .k = k,
                              .groups = part->rows,
                              .group_count = part->groups};

    emit(emitter, part->name, suffix,
         (struct model_op){.kind = MODEL_OP_GROUPED_GEMM,
                           .n = n,
                           .k = k,
                           .batch = 1.0,
                           .rows = part->rows,
                           .row_count = part->groups,
                           .flops = model_gemm_flops(&gemm),
                           .bytes = model_gemm_bytes(&gemm)});
}

static void emit_forward(struct model_emitter *emitter,
                         const struct model_part *part)
{
    const struct model_transformer *t = emitter->transformer;

    switch (part->kind) {
    case MODEL_PART_GEMM:
        emit_gemm(emitter, part->name, "", tokens(t), part->columns,
                  part->inner, 1.0);
        break;
    case MODEL_PART_GROUPED:
        emit_grouped(emitter, part, "", part->columns, part->inner);
        break;
    case MODEL_PART_ATTENTION:
        emit_attention(emitter, part->name, false);
        break;
    case MODEL_PART_NORM:
        emit_norm(emitter, part, false);
        break;
    case MODEL_PART_ELEMENTWISE:
        emit_streaming(emitter, part->name, "", MODEL_OP_ELEMENTWISE,
                       model_streaming_elementwise(type_of(t),
                                                   part->columns * tokens(t),
                                                   part->reads, part->writes));
        break;
    }
}

void model_part_input_gradient(struct model_emitter *emitter,
                               const struct model_part *part)
{
    const struct model_transformer *t = emitter->transformer;

    switch (part->kind) {
    case MODEL_PART_GEMM:
        emit_gemm(emitter, part->name, ".dgrad", tokens(t), part->inner,
                  part->columns, 1.0);
        break;
    case MODEL_PART_GROUPED:
        emit_grouped(emitter, part, ".dgrad", part->inner, part->columns);
        break;
    case MODEL_PART_ATTENTION:
        emit_attention(emitter, part->name, true);
        break;
    case MODEL_PART_NORM:
        emit_norm(emitter, part, true);
        break;
    case MODEL_PART_ELEMENTWISE:
        emit_streaming(
            emitter, part->name, ".grad", MODEL_OP_ELEMENTWISE,
            model_streaming_elementwise(type_of(t), part->columns * tokens(t),
                                        part->grad_reads, part->grad_writes));
        break;
    }
}

void model_part_weight_gradient(struct model_emitter *emitter,
                                const struct model_part *part)
{
    if (part->kind == MODEL_PART_GEMM) {
        emit_gemm(emitter, part->name, ".wgrad", part->columns, part->inner,
                  tokens(emitter->transformer), 1.0);
    } else if (part->kind == MODEL_PART_GROUPED) {
        emit_gemm(emitter, part->name, ".wgrad", part->columns, part->inner,
                  part->rows[0], part->groups);
    }
}

void model_parts_forward(struct model_emitter *emitter,
                         const struct model_part *parts,
                         int count)
{
    for (int i = 0; i < count; i++) {
        emit_forward(emitter, &parts[i]);
    }
}

void model_parts_backward(struct model_emitter *emitter,
                          const struct model_part *parts,
                          int count)
{
    for (int i = count - 1; i >= 0; i--) {
        model_part_input_gradient(emitter, &parts[i]);
        model_part_weight_gradient(emitter, &parts[i]);
    }
}

void model_transformer_forward(struct model_emitter *emitter)
{
    struct model_part rows[MODEL_ROWS_MAX];
    int count = model_transformer_rows(emitter->transformer, true, rows);

    model_parts_forward(emitter, rows, count);
}

void model_transformer_backward(struct model_emitter *emitter)
{
    struct model_part rows[MODEL_ROWS_MAX];
    int count = model_transformer_rows(emitter->transformer, true, rows);

    model_parts_backward(emitter, rows, count);
}

/* Rows of the table are copied. */
void model_transformer_embed(struct model_emitter *emitter)
{
    const struct model_transformer *t = emitter->transformer;

    emit_streaming(emitter, "embed", "", MODEL_OP_COPY,
                   model_streaming_copy(tokens(t) * t->hidden *
                                        model_type_bytes(type_of(t))));
}

/* And the loss. */
void model_transformer_head_forward(struct model_emitter *emitter)
{
    const struct model_transformer *t = emitter->transformer;
    struct model_part parts[MODEL_HEAD_PARTS];
    /* Read the logits; write and read them once as fp32. */
    struct model_streaming loss = {.bytes =
                                       tokens(t) * t->vocabulary *
                                       (model_type_bytes(type_of(t)) + 8.0)};

    model_transformer_head(t, parts);
    model_parts_forward(emitter, parts, MODEL_HEAD_PARTS);
    emit_streaming(emitter, "loss", "", MODEL_OP_MEMORY, loss);
}

void model_transformer_head_backward(struct model_emitter *emitter)
{
    struct model_part parts[MODEL_HEAD_PARTS];

    model_transformer_head(emitter->transformer, parts);
    model_parts_backward(emitter, parts, MODEL_HEAD_PARTS);
}

void model_transformer_optimizer(struct model_emitter *emitter,
                                 double parameters)
{
    emit_streaming(
        emitter, "adamw", "", MODEL_OP_OPTIMIZER,
        model_streaming_optimizer(type_of(emitter->transformer), parameters));
}
