/*
 * transformer.h - the kernels of a decoder layer, forward and backward.
 *
 * Shapes, with T tokens of one micro-batch, h hidden, q = heads * head width,
 * kv = kv_heads * head width, f the FFN width and g = 1 for a gated FFN:
 *
 *     norm         norm         T rows of h
 *     qkv          gemm         T x (q + 2 kv) x h
 *     attention    attention    causal, s queries and keys a sequence
 *     out          gemm         T x h x q
 *     norm         norm         the same, of a sum that is written too
 *     up           gemm         T x (1 + g) f x h
 *     activation   elementwise  read T (1 + g) f, write T f
 *     down         gemm         T x h x f
 *     residual     elementwise  2 reads, 1 write of T h
 *
 * With latent attention (MLA of DeepSeek-V2 and -V3, arXiv 2405.04434) of ranks
 * r and c and a part of e of each query and key for positions, keys and values
 * of each head of width d, these come in the place of qkv:
 *
 *     latent       gemm         T x (r + c + e) x h
 *     q.norm       norm         T rows of r
 *     q.up         gemm         T x heads (d + e) x r
 *     kv.norm      norm         T rows of c
 *     kv.up        gemm         T x heads 2 d x c
 *
 * Attention is then as of heads of width d + e / 2: queries and keys have d +
 * e, values d, so forward its flops and bytes are exact, and backward, with
 * three of the one and two of the other product, up to 4 % too few (d = 128, e
 * = 64).
 *
 * Backward runs them in reverse: two GEMMs for each GEMM (input gradient,
 * weight gradient); attention and norm as attention.h and streaming.h say; the
 * activation reads its input and the output's gradient and writes the input's;
 * in the place of the residual the two gradients that meet there are added.
 */
#ifndef MODEL_TRANSFORMER_H
#define MODEL_TRANSFORMER_H

#include "model/workload_build.h"

/* The mappings `model`, `parallel` and `batch` of a workload file. */
struct model_transformer {
    int hidden, layers, heads, kv_heads, head_width, ffn, vocabulary;
    int q_rank, kv_rank, position_width; /* MLA; 0: none */
    bool gated_ffn;
    bool tied_embedding;
    int experts, top_k, expert_ffn, shared_experts, dense_layers; /* moe.h */
    int type;            /* enum model_type */
    int parallel;        /* enum model_parallel */
    int expert_ranks;    /* ep: of a group that shares the experts */
    int shards;          /* tp, pp: ranks that share a layer */
    bool domino;         /* tp, pp: a micro-batch in two halves */
    double bucket_bytes; /* tp, pp, dp: gradients reduced together */
    int stages;          /* pp: parts of the layers; 1 for others */
    bool overlap_sends;  /* pp */
    bool forward_prefetch;
    bool backward_prefetch;
    int micro_batch; /* sequences per rank and step */
    int steps;       /* micro-batches per rank and iteration */
    int global;      /* sequences per iteration, of all ranks; 0: not given */
    int sequence;    /* tokens */
    int simulate;    /* enum model_simulate */
};

/* Which steps of an iteration are listed. */
enum model_simulate { MODEL_SIMULATE_STEADY, MODEL_SIMULATE_ALL };

enum model_parallel {
    MODEL_FSDP,
    MODEL_EP,
    MODEL_TP,
    MODEL_DP,
    MODEL_PP,
    MODEL_PARALLELS
};

extern const char *const model_parallel_names[MODEL_PARALLELS + 1];

/* Keys of the mappings model, parallel and batch. */
extern const struct model_field model_architecture_fields[];
extern const struct model_field model_parallel_fields[];
extern const struct model_field model_batch_fields[];

enum model_part_kind {
    MODEL_PART_GEMM,
    MODEL_PART_GROUPED, /* a GEMM for each of several groups of equal rows */
    MODEL_PART_ATTENTION,
    MODEL_PART_NORM,
    MODEL_PART_ELEMENTWISE
};

/* One kernel of a layer. */
struct model_part {
    const char *name;
    enum model_part_kind kind;
    bool residual;      /* norm */
    double columns;     /* gemms, norm; elementwise: elements per token */
    double inner;       /* gemms */
    const double *rows; /* grouped: of each group, all alike. Borrowed */
    int groups;         /* grouped */
    /* elementwise: what an element reads and writes, forward and backward */
    double reads, writes, grad_reads, grad_writes;
};

/* The first table above. */
enum {
    MODEL_ROW_NORM1,
    MODEL_ROW_QKV,
    MODEL_ROW_ATTENTION,
    MODEL_ROW_OUT,
    MODEL_ROW_NORM2,
    MODEL_ROW_UP,
    MODEL_ROW_ACTIVATION,
    MODEL_ROW_DOWN,
    MODEL_ROW_RESIDUAL,
    MODEL_LAYER_PARTS,
    MODEL_ROWS_MAX = MODEL_LAYER_PARTS + 4 /* with latent attention */
};

void model_transformer_layer(const struct model_transformer *t,
                             struct model_part parts[MODEL_LAYER_PARTS]);

/* The rows of a layer, latent attention's among them: all, or those of
   attention, up to the second norm. Returns how many. */
int model_transformer_rows(const struct model_transformer *t,
                           bool all,
                           struct model_part rows[MODEL_ROWS_MAX]);

/* The final norm, and the projection to the vocabulary. */
enum { MODEL_HEAD_NORM, MODEL_HEAD_LOGITS, MODEL_HEAD_PARTS };

void model_transformer_head(const struct model_transformer *t,
                            struct model_part parts[MODEL_HEAD_PARTS]);

/* Parameters of the GEMMs among them. */
double model_parts_parameters(const struct model_part *parts, int count);

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

/* Emit the kernels; each sets emitter->last. Backward from the last part on. */
void model_parts_forward(struct model_emitter *emitter,
                         const struct model_part *parts,
                         int count);
void model_parts_backward(struct model_emitter *emitter,
                          const struct model_part *parts,
                          int count);

/* Backward of a part is these two, for lowerings that put a collective between
   them: all but the weight gradient of a GEMM, then that, if it is a GEMM. */
void model_part_input_gradient(struct model_emitter *emitter,
                               const struct model_part *part);
void model_part_weight_gradient(struct model_emitter *emitter,
                                const struct model_part *part);

void model_transformer_forward(struct model_emitter *emitter);
void model_transformer_backward(struct model_emitter *emitter);
void model_transformer_embed(struct model_emitter *emitter);
void model_transformer_head_forward(struct model_emitter *emitter);
void model_transformer_head_backward(struct model_emitter *emitter);

/* AdamW over parameters: bf16 weight and gradient, fp32 master and moments. */
void model_transformer_optimizer(struct model_emitter *emitter,
                                 double parameters);

/*
 * Steps, steps.c. The check is whether batch.steps or batch.global is there,
 * and sets the number of steps by it; for replicas that have sequences of their
 * own.
 */
enum model_status model_steps_check(const struct model_node *root,
                                    struct model_transformer *t,
                                    int replicas,
                                    struct model_errors *errors);

/* Of an iteration with so many steps, how many a lowering lists. */
int model_steps_listed(const struct model_transformer *t);

/* Begin the listed step of that index; returns its number among all. */
int model_steps_begin(struct model_builder *builder,
                      const struct model_transformer *t,
                      int index);

/* Fully sharded data parallelism, fsdp.c. */
void model_lower_fsdp(struct model_builder *builder,
                      const struct model_transformer *transformer,
                      int rank_count);

/* Expert parallelism, ep.c. */
void model_lower_ep(struct model_builder *builder,
                    const struct model_transformer *transformer,
                    int rank_count);

/*
 * Tensor parallelism in families of `shards` ranks, and data parallelism over
 * the rest, tp.c. The check is whether the shape divides; for any kind. For
 * dp it sets what tp would have: one rank a layer, no halves.
 */
enum model_status model_tp_check(const struct model_node *root,
                                 struct model_transformer *t,
                                 int rank_count,
                                 struct model_errors *errors);
void model_lower_tp(struct model_builder *builder,
                    const struct model_transformer *transformer,
                    int rank_count);

/*
 * Pipeline parallelism in `stages` parts of the layers, each cut like tp, and
 * replicas of it all, pp.c. The check is whether they divide; for any kind.
 */
enum model_status model_pp_check(const struct model_node *root,
                                 const struct model_transformer *t,
                                 int rank_count,
                                 struct model_errors *errors);
void model_lower_pp(struct model_builder *builder,
                    const struct model_transformer *transformer,
                    int rank_count);

#endif
