/*
 * tp.c - tensor parallelism as Megatron-LM does it, a micro-batch in two halves
 * as Domino does (arXiv 2409.15241), and data parallelism over what is left.
 *
 * `shards` ranks share each layer by heads and by the FFN's width, embedding
 * and head by the vocabulary. So each rank has a part of the sums that leave
 * attention and FFN: forward they end in an AllReduce of [tokens, hidden], and
 * backward the input gradients of qkv and up do, as that of the head does. (The
 * loss's own, of a number a token, are left out.)
 *
 * With Domino the halves take turns on the compute stream, so that one's
 * AllReduce runs beside the other's kernels; backward beside the weight
 * gradient of the GEMM that it follows, too. A: attention, F: FFN, of half 0
 * and 1; next layer from the bar on:
 *
 *     compute   A0  A1  F0  F1 | A0  A1        backward the mirror image
 *     comm          a0  a1  f0 | f1  a0
 *
 * A half's next kernel waits for its AllReduce; the kernel that follows the
 * last one of a layer (residual, norm1's gradient) therefore starts the half's
 * turn in the next layer.
 *
 * Data parallel replicas add their gradients in the backward pass of the last
 * micro-batch, on a stream of their own, once bucket_bytes of them are there.
 *
 * Windows: "forward"; "backward"; "gradients", the backward pass beside which
 * gradients are reduced; "root", embedding, head and optimizer.
 */
#include "model/transformer.h"

enum { HALVES = 2 };

struct tp {
    struct model_builder *builder;
    struct model_transformer shard; /* a rank's part of a micro-batch */
    struct model_transformer half;  /* of one half; without Domino the same */
    struct model_part parts[MODEL_LAYER_PARTS]; /* of the shard */
    struct model_part head[MODEL_HEAD_PARTS];
    int halves;
    bool replicated;              /* there is a group dp */
    int compute, comm, gradients; /* streams */
    int tp, dp;                   /* groups; tp MODEL_UNSET: of one rank */
    int step;
    bool reduces;         /* this backward pass reduces gradients */
    const char *backward; /* its window */
    int ready[HALVES];    /* AllReduce that the half waits for */
    double bucket;        /* parameters whose gradients are not reduced yet */
    int bucket_count;
    int reduced; /* last AllReduce of gradients */
};

/* -- ops -- */

static double bytes_of(const struct tp *tp, double elements)
{
    return elements * model_type_bytes((enum model_type)tp->shard.type);
}

static int all_reduce(struct tp *tp,
                      const char *window,
                      const char *id,
                      int group,
                      double elements,
                      int after)
{
    struct model_op op = {.id = id,
                          .window = window,
                          .kind = MODEL_OP_ALL_REDUCE,
                          .stream = group == tp->tp ? tp->comm : tp->gradients,
                          .type = tp->shard.type,
                          .bytes = bytes_of(tp, elements),
                          .group = group,
                          .config = model_config_none()};
    int index = model_builder_add(tp->builder, &op);

    model_builder_after(tp->builder, index, after);
    return index;
}

/* Add up what the ranks of a layer have of an emitter's last result. */
static int
sum_up(struct tp *tp, const struct model_emitter *emitter, const char *name)
{
    const struct model_transformer *t = emitter->transformer;

    if (tp->tp == MODEL_UNSET) {
        return MODEL_UNSET;
    }
    return all_reduce(tp, emitter->window,
                      model_arena_format(tp->builder->arena, "%s.%s.all_reduce",
                                         emitter->prefix, name),
                      tp->tp, (double)t->micro_batch * t->sequence * t->hidden,
                      emitter->last);
}

static struct model_emitter root(struct tp *tp, const char *name)
{
    return (struct model_emitter){
        .builder = tp->builder,
        .transformer = &tp->shard,
        .stream = tp->compute,
        .prefix =
            model_arena_format(tp->builder->arena, "step%d.%s", tp->step, name),
        .window = "root",
        .wait_for = MODEL_UNSET,
        .last = MODEL_UNSET};
}

/* For kernels of a layer; the first waits for the half's AllReduce. */
static struct model_emitter
turn(struct tp *tp, bool forward, int layer, int half)
{
    struct model_arena *arena = tp->builder->arena;
    const char *phase = forward ? "forward" : "backward";
    struct model_emitter emitter = {
        .builder = tp->builder,
        .transformer = &tp->half,
        .stream = tp->compute,
        .prefix = tp->halves > 1
                      ? model_arena_format(arena, "step%d.%s.%d.%d", tp->step,
                                           phase, layer, half)
                      : model_arena_format(arena, "step%d.%s.%d", tp->step,
                                           phase, layer),
        .window = forward ? phase : tp->backward,
        .wait_for = tp->ready[half],
        .last = MODEL_UNSET};

    tp->ready[half] = MODEL_UNSET;
    return emitter;
}

/* -- forward -- */

static void residual(struct tp *tp, int layer, int half)
{
    struct model_emitter emitter = turn(tp, true, layer, half);

    model_parts_forward(&emitter, &tp->parts[MODEL_ROW_RESIDUAL], 1);
}

static void forward_turn(
    struct tp *tp, int layer, int half, int first, int last, const char *name)
{
    struct model_emitter emitter = turn(tp, true, layer, half);

    model_parts_forward(&emitter, &tp->parts[first], last - first + 1);
    tp->ready[half] = sum_up(tp, &emitter, name);
}

static void forward(struct tp *tp)
{
    struct model_emitter emitter = root(tp, "embed");
    int layers = tp->shard.layers;

    model_transformer_embed(&emitter);
    tp->ready[0] = tp->ready[1] = sum_up(tp, &emitter, "embed");
    for (int layer = 0; layer < layers; layer++) {
        for (int half = 0; half < tp->halves; half++) {
            if (layer > 0) {
                residual(tp, layer - 1, half);
            }
            forward_turn(tp, layer, half, MODEL_ROW_NORM1, MODEL_ROW_OUT,
                         "attention");
        }
        for (int half = 0; half < tp->halves; half++) {
            forward_turn(tp, layer, half, MODEL_ROW_NORM2, MODEL_ROW_DOWN,
                         "ffn");
        }
    }
    for (int half = 0; half < tp->halves; half++) {
        residual(tp, layers - 1, half);
    }
    emitter = root(tp, "head");
    model_transformer_head_forward(&emitter);
}

/* -- gradients of replicas -- */

/* More gradients are complete; the kernel `after` made the last of them. */
static void complete(struct tp *tp, double parameters, int after, bool last)
{
    tp->bucket += parameters;
    if (!tp->reduces ||
        (!last && bytes_of(tp, tp->bucket) < tp->shard.bucket_bytes)) {
        return;
    }
    tp->reduced = all_reduce(tp, tp->backward,
                             model_arena_format(tp->builder->arena,
                                                "gradients.%d.all_reduce",
                                                tp->bucket_count++),
                             tp->dp, tp->bucket, after);
    tp->bucket = 0.0;
}

/* Parameters of embedding or head alone, as each is stored once. */
static double vocabulary_parameters(const struct tp *tp)
{
    return (double)tp->shard.vocabulary * tp->shard.hidden;
}

/* -- backward -- */

static void head_gradient(struct tp *tp)
{
    const struct model_part *logits = &tp->head[MODEL_HEAD_LOGITS];
    struct model_emitter emitter = root(tp, "head");
    bool tied = tp->shard.tied_embedding;
    int summed;

    model_part_input_gradient(&emitter, logits);
    summed = sum_up(tp, &emitter, "logits");
    model_part_weight_gradient(&emitter, logits);
    complete(tp, tied ? 0.0 : vocabulary_parameters(tp), emitter.last, false);
    emitter.wait_for = summed;
    model_parts_backward(&emitter, &tp->head[MODEL_HEAD_NORM], 1);
}

static void norm1_gradient(struct tp *tp, int layer, int half)
{
    struct model_emitter emitter = turn(tp, false, layer, half);

    model_parts_backward(&emitter, &tp->parts[MODEL_ROW_NORM1], 1);
}

/* Parts from the last to the first; returns the last kernel. */
static int backward_turn(
    struct tp *tp, int layer, int half, int first, int last, const char *name)
{
    struct model_emitter emitter = turn(tp, false, layer, half);

    model_parts_backward(&emitter, &tp->parts[first + 1], last - first);
    model_part_input_gradient(&emitter, &tp->parts[first]);
    tp->ready[half] = sum_up(tp, &emitter, name);
    model_part_weight_gradient(&emitter, &tp->parts[first]);
    return emitter.last;
}

static void backward(struct tp *tp)
{
    int last = MODEL_UNSET;

    head_gradient(tp);
    for (int layer = tp->shard.layers - 1; layer >= 0; layer--) {
        for (int half = tp->halves - 1; half >= 0; half--) {
            if (layer + 1 < tp->shard.layers) {
                norm1_gradient(tp, layer + 1, half);
            }
            (void)backward_turn(tp, layer, half, MODEL_ROW_UP,
                                MODEL_ROW_RESIDUAL, "ffn");
        }
        for (int half = tp->halves - 1; half >= 0; half--) {
            last = backward_turn(tp, layer, half, MODEL_ROW_QKV,
                                 MODEL_ROW_NORM2, "attention");
        }
        complete(tp, model_transformer_layer_parameters(&tp->shard), last,
                 false);
    }
    for (int half = tp->halves - 1; half >= 0; half--) {
        norm1_gradient(tp, 0, half);
    }
    /* The embedding's follow the last kernel. */
    complete(tp, vocabulary_parameters(tp), tp->builder->workload->op_count - 1,
             true);
}

/* -- the form -- */

/* What is cut must divide. */
static enum model_status check_division(const struct model_node *root,
                                        const struct model_transformer *t,
                                        int rank_count,
                                        struct model_errors *errors)
{
    const struct {
        const char *part, *key, *what;
        int count;
    } rows[] = {{"parallel", "size", "ranks", rank_count},
                {"model", "heads", "heads", t->heads},
                {"model", "kv_heads", "kv_heads", t->kv_heads},
                {"model", "ffn", "columns of ffn", t->ffn}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct model_node *part = model_node_find(root, rows[i].part);

        if (rows[i].count % t->shards != 0) {
            return model_errors_add(errors, MODEL_BAD_INPUT,
                                    model_node_find(part, rows[i].key)->place,
                                    model_arena_format(errors->arena, "%s.%s",
                                                       rows[i].part,
                                                       rows[i].key),
                                    "write a parallel.size that divides them",
                                    "%d %s do not divide over %d ranks",
                                    rows[i].count, rows[i].what, t->shards);
        }
    }
    return MODEL_OK;
}

enum model_status model_tp_check(const struct model_node *root,
                                 struct model_transformer *t,
                                 int rank_count,
                                 struct model_errors *errors)
{
    const struct model_node *parallel = model_node_find(root, "parallel");
    const struct model_node *batch = model_node_find(root, "batch");

    if (t->parallel != MODEL_TP) {
        t->shards = 1;
        t->domino = false;
        return MODEL_OK;
    }
    if (t->shards < 1) {
        return model_errors_add(
            errors, MODEL_BAD_INPUT, parallel->place, "parallel.size",
            "write size: 8, ranks that share each layer", "tp has no size");
    }
    if (t->domino && t->micro_batch % HALVES != 0) {
        return model_errors_add(
            errors, MODEL_BAD_INPUT, model_node_find(batch, "micro")->place,
            "batch.micro", "write an even number, or domino: false",
            "%d sequences have no two halves", t->micro_batch);
    }
    return check_division(root, t, rank_count, errors);
}

/* -- the iteration -- */

static struct model_transformer shard_of(const struct model_transformer *t)
{
    struct model_transformer shard = *t;

    shard.heads /= t->shards;
    shard.kv_heads /= t->shards;
    shard.ffn /= t->shards;
    /* Padded to a multiple. */
    shard.vocabulary = (t->vocabulary + t->shards - 1) / t->shards;
    return shard;
}

static int
family(struct model_builder *builder, const char *name, int size, int stride)
{
    int index = model_builder_group(builder, name, NULL, size);
    struct model_group *group = &builder->workload->groups[index];

    group->stride = stride;
    group->family = true;
    return index;
}

static void start(struct tp *tp, int rank_count)
{
    struct model_builder *builder = tp->builder;
    int shards = tp->shard.shards;

    tp->compute = model_builder_stream(builder, "compute", 0);
    tp->half.micro_batch /= tp->halves;
    if (shards > 1) {
        tp->comm = model_builder_stream(builder, "comm", 1);
        tp->tp = family(builder, "tp", shards, 1);
    }
    if (tp->replicated) {
        tp->gradients = model_builder_stream(builder, "gradients", 1);
        tp->dp = family(builder, "dp", rank_count / shards, shards);
    }
}

void model_lower_tp(struct model_builder *builder,
                    const struct model_transformer *transformer,
                    int rank_count)
{
    struct tp tp = {.builder = builder,
                    .shard = shard_of(transformer),
                    .half = shard_of(transformer),
                    .halves = transformer->domino ? HALVES : 1,
                    .replicated = rank_count > transformer->shards,
                    .tp = MODEL_UNSET,
                    .dp = MODEL_UNSET,
                    .reduced = MODEL_UNSET};
    struct model_emitter emitter;

    model_transformer_layer(&tp.shard, tp.parts);
    model_transformer_head(&tp.shard, tp.head);
    start(&tp, rank_count);
    for (int i = 0; i < model_steps_listed(transformer); i++) {
        tp.step = model_steps_begin(builder, transformer, i);
        tp.reduces = tp.replicated && tp.step + 1 == transformer->steps;
        tp.backward = tp.reduces ? "gradients" : "backward";
        tp.bucket = 0.0; /* what earlier steps add stays on the rank */
        forward(&tp);
        backward(&tp);
    }
    emitter = root(&tp, "");
    emitter.prefix = "optimizer";
    emitter.wait_for = tp.reduced;
    model_transformer_optimizer(
        &emitter,
        transformer->layers * model_transformer_layer_parameters(&tp.shard) +
            model_transformer_root_parameters(&tp.shard));
}
