/*
 * transformer.h - the kernels of a decoder layer, forward and backward.
 *
 * Shapes, with T tokens of one micro-batch, h hidden, q = heads * head width,
 * kv = kv_heads * head width, f the FFN width and g = 1 for a gated FFN:
 *
 *     norm         memory     read and write T h
 *     qkv          gemm       T x (q + 2 kv) x h
 *     attention    kernel     4 T s q / 2 flops (causal), one CTA per head
 *                             and 128 rows of the sequence s
 *     out          gemm       T x h x q
 *     norm         memory     residual and norm, 2 reads and 2 writes of T h
 *     up           gemm       T x (1 + g) f x h
 *     activation   memory     read T (1 + g) f, write T f
 *     down         gemm       T x h x f
 *     residual     memory     2 reads, 1 write of T h
 *
 * Backward runs them in reverse: two GEMMs for each GEMM (input gradient,
 * weight gradient), 2.5 times the flops for attention (fused, recomputing the
 * scores), twice the bytes for memory kernels.
 */
#ifndef MODEL_TRANSFORMER_H
#define MODEL_TRANSFORMER_H

#include "model/workload_build.h"

/* The mappings `model`, `parallel` and `batch` of a workload file. */
struct model_transformer {
    int hidden, layers, heads, kv_heads, head_width, ffn, vocabulary;
    bool gated_ffn;
    bool tied_embedding;
    int type;     /* enum model_type */
    int parallel; /* enum model_parallel */
    bool forward_prefetch;
    bool backward_prefetch;
    int micro_batch; /* sequences per rank and step */
    int steps;       /* micro-batches per rank and iteration */
    int sequence;    /* tokens */
};

enum model_parallel { MODEL_FSDP, MODEL_PARALLELS };

extern const char *const model_parallel_names[MODEL_PARALLELS + 1];

/* Keys of the mappings model, parallel and batch. */
extern const struct model_field model_architecture_fields[];
extern const struct model_field model_parallel_fields[];
extern const struct model_field model_batch_fields[];

/* Parameters of one layer; of embedding and head together. */
double model_transformer_layer_parameters(const struct model_transformer *t);
double model_transformer_root_parameters(const struct model_transformer *t);

/* Where the kernels of a lowering go. */
struct model_emitter {
    struct model_builder *builder;
    const struct model_transformer *transformer;
    int stream;
    const char *prefix; /* of op ids, such as "step0.forward.3" */
    const char *window;
    int wait_for; /* op that the first kernel waits for, or MODEL_UNSET */
    int last;     /* index of the last kernel emitted */
};

/* Emit the kernels; each sets emitter->last. */
void model_transformer_forward(struct model_emitter *emitter);
void model_transformer_backward(struct model_emitter *emitter);
void model_transformer_embed(struct model_emitter *emitter);
void model_transformer_head_forward(struct model_emitter *emitter);
void model_transformer_head_backward(struct model_emitter *emitter);

/* AdamW over parameters: bf16 weight and gradient, fp32 master and moments. */
void model_transformer_optimizer(struct model_emitter *emitter,
                                 double parameters);

/* Fully sharded data parallelism, fsdp.c. */
void model_lower_fsdp(struct model_builder *builder,
                      const struct model_transformer *transformer,
                      int rank_count);

#endif
