/*
 * transformer.c - kernels of a layer as rows of a table.
 *
 * A layer is a table of parts with their sizes as functions of the shape, so
 * that forward and backward walk the same rows in opposite directions.
 */
#include "model/transformer.h"

enum part_kind { GEMM, ATTENTION, NORM, ELEMENTWISE };

/* One kernel of a layer. */
struct part {
    const char *name;
    enum part_kind kind;
    bool residual;  /* norm */
    double columns; /* gemm, norm; elementwise: elements per token */
    double inner;   /* gemm */
    /* elementwise: what an element reads and writes, forward and backward */
    double reads, writes, grad_reads, grad_writes;
};

enum { PARTS = 9 };

static double query_width(const struct model_transformer *t)
{
    return (double)t->heads * t->head_width;
}

static double key_width(const struct model_transformer *t)
{
    return (double)t->kv_heads * t->head_width;
}

static void layer_parts(const struct model_transformer *t,
                        struct part parts[PARTS])
{
    double h = t->hidden;
    double f = t->ffn;
    double g = t->gated_ffn ? 2.0 : 1.0;
    double q = query_width(t);
    double kv = key_width(t);

    parts[0] = (struct part){"norm1", NORM, .columns = h};
    parts[1] = (struct part){"qkv", GEMM, .columns = q + 2.0 * kv, .inner = h};
    parts[2] = (struct part){"attention", ATTENTION, .columns = q};
    parts[3] = (struct part){"out", GEMM, .columns = h, .inner = q};
    parts[4] = (struct part){"norm2", NORM, .columns = h, .residual = true};
    parts[5] = (struct part){"up", GEMM, .columns = g * f, .inner = h};
    parts[6] = (struct part){
        "activation",  ELEMENTWISE,           .columns = f,    .reads = g,
        .writes = 1.0, .grad_reads = g + 1.0, .grad_writes = g};
    parts[7] = (struct part){"down", GEMM, .columns = h, .inner = f};
    parts[8] = (struct part){
        "residual",    ELEMENTWISE,       .columns = h,      .reads = 2.0,
        .writes = 1.0, .grad_reads = 2.0, .grad_writes = 1.0};
}

double model_transformer_layer_parameters(const struct model_transformer *t)
{
    struct part parts[PARTS];
    double sum = 0.0;

    layer_parts(t, parts);
    for (int i = 0; i < PARTS; i++) {
        sum += parts[i].columns * parts[i].inner; /* inner: gemm */
    }
    return sum;
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
                      double k)
{
    emit(emitter, name, suffix,
         (struct model_op){
             .kind = MODEL_OP_GEMM, .m = m, .n = n, .k = k, .batch = 1.0});
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
                                        .head_width = t->head_width,
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

static void
emit_norm(struct model_emitter *emitter, const struct part *part, bool backward)
{
    const struct model_transformer *t = emitter->transformer;

    emit_streaming(emitter, part->name, backward ? ".grad" : "", MODEL_OP_NORM,
                   model_streaming_norm(type_of(t), tokens(t), part->columns,
                                        part->residual, backward));
}

static void emit_forward(struct model_emitter *emitter, const struct part *part)
{
    const struct model_transformer *t = emitter->transformer;

    switch (part->kind) {
    case GEMM:
        emit_gemm(emitter, part->name, "", tokens(t), part->columns,
                  part->inner);
        break;
    case ATTENTION:
        emit_attention(emitter, part->name, false);
        break;
    case NORM:
        emit_norm(emitter, part, false);
        break;
    case ELEMENTWISE:
        emit_streaming(emitter, part->name, "", MODEL_OP_ELEMENTWISE,
                       model_streaming_elementwise(type_of(t),
                                                   part->columns * tokens(t),
                                                   part->reads, part->writes));
        break;
    }
}

static void emit_backward(struct model_emitter *emitter,
                          const struct part *part)
{
    const struct model_transformer *t = emitter->transformer;

    switch (part->kind) {
    case GEMM:
        emit_gemm(emitter, part->name, ".dgrad", tokens(t), part->inner,
                  part->columns);
        emit_gemm(emitter, part->name, ".wgrad", part->columns, part->inner,
                  tokens(t));
        break;
    case ATTENTION:
        emit_attention(emitter, part->name, true);
        break;
    case NORM:
        emit_norm(emitter, part, true);
        break;
    case ELEMENTWISE:
        emit_streaming(
            emitter, part->name, ".grad", MODEL_OP_ELEMENTWISE,
            model_streaming_elementwise(type_of(t), part->columns * tokens(t),
                                        part->grad_reads, part->grad_writes));
        break;
    }
}

void model_transformer_forward(struct model_emitter *emitter)
{
    struct part parts[PARTS];

    layer_parts(emitter->transformer, parts);
    for (int i = 0; i < PARTS; i++) {
        emit_forward(emitter, &parts[i]);
    }
}

void model_transformer_backward(struct model_emitter *emitter)
{
    struct part parts[PARTS];

    layer_parts(emitter->transformer, parts);
    for (int i = PARTS - 1; i >= 0; i--) {
        emit_backward(emitter, &parts[i]);
    }
}

/* Rows of the table are copied. */
void model_transformer_embed(struct model_emitter *emitter)
{
    const struct model_transformer *t = emitter->transformer;

    emit_streaming(emitter, "embed", "", MODEL_OP_COPY,
                   model_streaming_copy(tokens(t) * t->hidden *
                                        model_type_bytes(type_of(t))));
}

/* The final norm, the projection to the vocabulary, and the loss. */
void model_transformer_head_forward(struct model_emitter *emitter)
{
    const struct model_transformer *t = emitter->transformer;
    struct part norm = {"norm", NORM, .columns = t->hidden};
    struct part logits = {"logits", GEMM, .columns = t->vocabulary,
                          .inner = t->hidden};
    /* Read the logits; write and read them once as fp32. */
    struct model_streaming loss = {.bytes =
                                       tokens(t) * t->vocabulary *
                                       (model_type_bytes(type_of(t)) + 8.0)};

    emit_forward(emitter, &norm);
    emit_forward(emitter, &logits);
    emit_streaming(emitter, "loss", "", MODEL_OP_MEMORY, loss);
}

void model_transformer_head_backward(struct model_emitter *emitter)
{
    const struct model_transformer *t = emitter->transformer;
    struct part norm = {"norm", NORM, .columns = t->hidden};
    struct part logits = {"logits", GEMM, .columns = t->vocabulary,
                          .inner = t->hidden};

    emit_backward(emitter, &logits);
    emit_backward(emitter, &norm);
}

void model_transformer_optimizer(struct model_emitter *emitter,
                                 double parameters)
{
    emit_streaming(
        emitter, "adamw", "", MODEL_OP_OPTIMIZER,
        model_streaming_optimizer(type_of(emitter->transformer), parameters));
}
