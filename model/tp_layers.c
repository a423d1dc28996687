/*
 * tp_layers.c - layers cut over ranks, in halves of a micro-batch; embedding,
 * head and what replicas add up. When and how often is tp.c's and pp.c's.
 */
#include "model/tp.h"

/* -- ops -- */

static double bytes_of(const struct model_tp *tp, double elements)
{
    return elements * model_type_bytes((enum model_type)tp->shard.type);
}

static int all_reduce(struct model_tp *tp,
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
static int sum_up(struct model_tp *tp,
                  const struct model_emitter *emitter,
                  const char *name)
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

static struct model_emitter root(struct model_tp *tp, const char *name)
{
    return (struct model_emitter){
        .builder = tp->builder,
        .transformer = &tp->shard,
        .stream = tp->compute,
        .prefix =
            model_arena_format(tp->builder->arena, "%s.%s", tp->slot, name),
        .window = "root",
        .wait_for = MODEL_UNSET,
        .last = MODEL_UNSET};
}

/* For kernels of a layer; the first waits for the half's AllReduce. */
static struct model_emitter
turn(struct model_tp *tp, bool forward, int layer, int half)
{
    struct model_arena *arena = tp->builder->arena;
    const char *phase = forward ? "forward" : "backward";
    struct model_emitter emitter = {
        .builder = tp->builder,
        .transformer = &tp->half,
        .stream = tp->compute,
        .prefix =
            tp->halves > 1
                ? model_arena_format(arena, "%s.%s.%d.%d", tp->slot, phase,
                                     layer, half)
                : model_arena_format(arena, "%s.%s.%d", tp->slot, phase, layer),
        .window = forward ? tp->forward : tp->backward,
        .wait_for = tp->ready[half],
        .last = MODEL_UNSET};

    tp->ready[half] = MODEL_UNSET;
    return emitter;
}

/* -- forward -- */

static void residual(struct model_tp *tp, int layer, int half)
{
    struct model_emitter emitter = turn(tp, true, layer, half);

    model_parts_forward(&emitter, &tp->parts[MODEL_ROW_RESIDUAL], 1);
}

static void forward_turn(struct model_tp *tp,
                         int layer,
                         int half,
                         int first,
                         int last,
                         const char *name)
{
    struct model_emitter emitter = turn(tp, true, layer, half);

    model_parts_forward(&emitter, &tp->parts[first], last - first + 1);
    tp->ready[half] = sum_up(tp, &emitter, name);
}

void model_tp_embed(struct model_tp *tp)
{
    struct model_emitter emitter = root(tp, "embed");

    model_transformer_embed(&emitter);
    tp->ready[0] = tp->ready[1] = sum_up(tp, &emitter, "embed");
}

void model_tp_head_forward(struct model_tp *tp)
{
    struct model_emitter emitter = root(tp, "head");

    model_transformer_head_forward(&emitter);
}

void model_tp_forward(struct model_tp *tp)
{
    int layers = tp->shard.layers;

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
}

/* -- gradients of replicas -- */

/* More gradients are complete; the kernel `after` made the last of them. */
static void
complete(struct model_tp *tp, double parameters, int after, bool last)
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
static double vocabulary_parameters(const struct model_tp *tp)
{
    return (double)tp->shard.vocabulary * tp->shard.hidden;
}

/* -- backward -- */

void model_tp_head_backward(struct model_tp *tp)
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

static void norm1_gradient(struct model_tp *tp, int layer, int half)
{
    struct model_emitter emitter = turn(tp, false, layer, half);

    model_parts_backward(&emitter, &tp->parts[MODEL_ROW_NORM1], 1);
}

/* Parts from the last to the first; returns the last kernel. */
static int backward_turn(struct model_tp *tp,
                         int layer,
                         int half,
                         int first,
                         int last,
                         const char *name)
{
    struct model_emitter emitter = turn(tp, false, layer, half);

    model_parts_backward(&emitter, &tp->parts[first + 1], last - first);
    model_part_input_gradient(&emitter, &tp->parts[first]);
    tp->ready[half] = sum_up(tp, &emitter, name);
    model_part_weight_gradient(&emitter, &tp->parts[first]);
    return emitter.last;
}

void model_tp_backward(struct model_tp *tp)
{
    int last = MODEL_UNSET;

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
}

void model_tp_embedding_gradient(struct model_tp *tp)
{
    /* They follow the last kernel. */
    complete(tp, vocabulary_parameters(tp), tp->builder->workload->op_count - 1,
             true);
}

/* -- begin and end -- */

/* A rank's part of the model. */
static struct model_transformer shard_of(const struct model_transformer *t)
{
    struct model_transformer shard = *t;

    shard.heads /= t->shards;
    shard.kv_heads /= t->shards;
    shard.ffn /= t->shards;
    shard.layers /= t->stages;
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

static void add_groups(struct model_tp *tp, int rank_count)
{
    struct model_builder *builder = tp->builder;
    int shards = tp->shard.shards;
    int stages = tp->shard.stages;

    tp->compute = model_builder_stream(builder, "compute", 0);
    if (shards > 1) {
        tp->comm = model_builder_stream(builder, "comm", 1);
        tp->tp = family(builder, "tp", shards, 1);
    }
    if (tp->replicated) {
        tp->gradients = model_builder_stream(builder, "gradients", 1);
        tp->dp = family(builder, "dp", rank_count / shards / stages, shards);
    }
    if (stages > 1) {
        tp->sends = model_builder_stream(builder, "sends", 1);
        tp->pp = family(builder, "pp", stages, rank_count / stages);
    }
}

struct model_tp model_tp_start(struct model_builder *builder,
                               const struct model_transformer *t,
                               int rank_count)
{
    struct model_tp tp = {.builder = builder,
                          .shard = shard_of(t),
                          .half = shard_of(t),
                          .halves = t->domino ? MODEL_TP_HALVES : 1,
                          .replicated = rank_count > t->shards * t->stages,
                          .tp = MODEL_UNSET,
                          .dp = MODEL_UNSET,
                          .pp = MODEL_UNSET,
                          .ready = {MODEL_UNSET, MODEL_UNSET},
                          .forward = "forward",
                          .backward = "backward",
                          .reduced = MODEL_UNSET};

    tp.half.micro_batch /= tp.halves;
    model_transformer_layer(&tp.shard, tp.parts);
    model_transformer_head(&tp.shard, tp.head);
    add_groups(&tp, rank_count);
    return tp;
}

void model_tp_optimizer(struct model_tp *tp, double vocabularies)
{
    struct model_emitter emitter = root(tp, "");

    emitter.prefix = "optimizer";
    emitter.wait_for = tp->reduced;
    model_transformer_optimizer(
        &emitter,
        tp->shard.layers * model_transformer_layer_parameters(&tp->shard) +
            vocabularies * vocabulary_parameters(tp));
}
