/*
 * transformer.c - kernels of a layer as rows of a table.
 *
 * A layer is a table of parts with their sizes as functions of the shape, so
 * that forward and backward walk the same rows in opposite directions.
 */
#include "model/transformer.h"

#include <math.h>

enum { ATTENTION_ROWS = 128 }; /* rows of a fused attention CTA's tile */

enum part_kind { GEMM, ATTENTION, MEMORY };

/* One kernel of a layer. */
struct part {
    const char *name;
    enum part_kind kind;
    double columns, inner; /* gemm */
    double elements;       /* memory: read plus written, per token */
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
    double up = t->gated_ffn ? 2.0 * f : f;
    double q = query_width(t);
    double kv = key_width(t);

    parts[0] = (struct part){"norm1", MEMORY, 0, 0, 2.0 * h};
    parts[1] = (struct part){"qkv", GEMM, q + 2.0 * kv, h, 0};
    parts[2] = (struct part){"attention", ATTENTION, 0, 0, 2.0 * (q + kv)};
    parts[3] = (struct part){"out", GEMM, h, q, 0};
    parts[4] = (struct part){"norm2", MEMORY, 0, 0, 4.0 * h};
    parts[5] = (struct part){"up", GEMM, up, h, 0};
    parts[6] = (struct part){"activation", MEMORY, 0, 0, up + f};
    parts[7] = (struct part){"down", GEMM, h, f, 0};
    parts[8] = (struct part){"residual", MEMORY, 0, 0, 3.0 * h};
}

double model_transformer_layer_parameters(const struct model_transformer *t)
{
    struct part parts[PARTS];
    double sum = 0.0;

    layer_parts(t, parts);
    for (int i = 0; i < PARTS; i++) {
        sum += parts[i].columns * parts[i].inner;
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

static void emit_memory(struct model_emitter *emitter,
                        const char *name,
                        const char *suffix,
                        double bytes)
{
    emit(emitter, name, suffix,
         (struct model_op){.kind = MODEL_OP_MEMORY, .bytes = bytes});
}

static void emit_attention(struct model_emitter *emitter,
                           const struct part *part,
                           const char *suffix,
                           double flop_factor,
                           double byte_factor)
{
    const struct model_transformer *t = emitter->transformer;
    double blocks = ceil((double)t->sequence / ATTENTION_ROWS);
    double flops = 4.0 * tokens(t) * t->sequence * query_width(t) / 2.0;

    emit(emitter, part->name, suffix,
         (struct model_op){
             .kind = MODEL_OP_KERNEL,
             .kernel_class = MODEL_CLASS_ATTENTION,
             .ctas = (int)((double)t->micro_batch * t->heads * blocks),
             .ctas_per_sm = 1,
             .flops = flop_factor * flops,
             .bytes = byte_factor * part->elements * tokens(t) *
                      model_type_bytes((enum model_type)t->type)});
}

static void emit_forward(struct model_emitter *emitter, const struct part *part)
{
    const struct model_transformer *t = emitter->transformer;

    if (part->kind == GEMM) {
        emit_gemm(emitter, part->name, "", tokens(t), part->columns,
                  part->inner);
    } else if (part->kind == ATTENTION) {
        emit_attention(emitter, part, "", 1.0, 1.0);
    } else {
        emit_memory(emitter, part->name, "",
                    part->elements * tokens(t) *
                        model_type_bytes((enum model_type)t->type));
    }
}

static void emit_backward(struct model_emitter *emitter,
                          const struct part *part)
{
    const struct model_transformer *t = emitter->transformer;

    if (part->kind == GEMM) {
        emit_gemm(emitter, part->name, ".dgrad", tokens(t), part->inner,
                  part->columns);
        emit_gemm(emitter, part->name, ".wgrad", part->columns, part->inner,
                  tokens(t));
    } else if (part->kind == ATTENTION) {
        emit_attention(emitter, part, ".grad", 2.5, 2.0);
    } else {
        emit_memory(emitter, part->name, ".grad",
                    2.0 * part->elements * tokens(t) *
                        model_type_bytes((enum model_type)t->type));
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

void model_transformer_embed(struct model_emitter *emitter)
{
    const struct model_transformer *t = emitter->transformer;

    emit_memory(emitter, "embed", "",
                2.0 * tokens(t) * t->hidden *
                    model_type_bytes((enum model_type)t->type));
}

/* The final norm, the projection to the vocabulary, and the loss. */
void model_transformer_head_forward(struct model_emitter *emitter)
{
    const struct model_transformer *t = emitter->transformer;
    struct part norm = {"norm", MEMORY, 0, 0, 2.0 * t->hidden};
    struct part logits = {"logits", GEMM, t->vocabulary, t->hidden, 0};

    emit_forward(emitter, &norm);
    emit_forward(emitter, &logits);
    /* Read the logits; write and read them once as fp32. */
    emit_memory(emitter, "loss", "",
                tokens(t) * t->vocabulary *
                    (model_type_bytes((enum model_type)t->type) + 8.0));
}

void model_transformer_head_backward(struct model_emitter *emitter)
{
    const struct model_transformer *t = emitter->transformer;
    struct part norm = {"norm", MEMORY, 0, 0, 2.0 * t->hidden};
    struct part logits = {"logits", GEMM, t->vocabulary, t->hidden, 0};

    emit_backward(emitter, &logits);
    emit_backward(emitter, &norm);
}

void model_transformer_optimizer(struct model_emitter *emitter,
                                 double parameters)
{
    double type_bytes =
        model_type_bytes((enum model_type)emitter->transformer->type);

    /* Gradient read, weight written; master and two moments read, written. */
    emit_memory(emitter, "adamw", "",
                parameters * (2.0 * type_bytes + 3.0 * 8.0));
}
