/*
 * ep.c - expert parallelism with two batches that overlap.
 *
 * Each rank has its own sequences and the whole model but for the experts,
 * which the ranks of a group share: tokens go to their experts and come back by
 * all_to_all (dispatch, combine). From the first layer with experts on, the
 * micro-batch is two halves in turns, so that each all_to_all of one runs
 * beside kernels of the other. In the order of launches, half 0 and half 1:
 *
 *     compute  A0 A1 E0 E1 | S0 A0 S1 A1 E0 E1 | ... | S0 S1
 *     comm        D0 D1 C0   C1   D0    D1 C0    ...   C1
 *
 * A: attention, router; D: dispatch; E: experts; C: combine; S: shared experts
 * and the sum of all, of the layer before. This is how SGLang runs two batches
 * through DeepSeek's models (python/sglang/srt/operations_strategy.py).
 * Backward is the same with the gradients, E after the all_to_all of the
 * output's and A after that of the experts' inputs.
 *
 * Windows: "fwd.attn" holds {combine, dispatch | S, A} and "fwd.expert"
 * {dispatch, combine | E}, for combines and dispatches are alike; "bwd.attn"
 * and "bwd.expert" the same. "root" is what is not in halves: embedding, dense
 * layers, head, optimizer. "gradients" are added up once an iteration, beside
 * nothing (data parallelism; Megatron-LM without overlap-grad-reduce).
 */
#include "model/moe.h"

enum { HALVES = 2 };

struct ep {
    struct model_builder *builder;
    const struct model_transformer *whole;
    struct model_transformer half;
    struct model_moe moe;
    int compute, comm;     /* streams */
    int group;             /* ranks that share the experts */
    int exchanged[HALVES]; /* last all_to_all of each half */
    int step;
};

/* Kernels of the whole micro-batch. */
static struct model_emitter root(struct ep *ep, const char *phase, int layer)
{
    return (struct model_emitter){
        .builder = ep->builder,
        .transformer = ep->whole,
        .stream = ep->compute,
        .prefix = model_arena_format(ep->builder->arena, "step%d.%s.%d",
                                     ep->step, phase, layer),
        .window = "root",
        .wait_for = MODEL_UNSET,
        .last = MODEL_UNSET};
}

/* Kernels of a half. */
static struct model_emitter half_of(
    struct ep *ep, const char *pass, const char *window, int layer, int half)
{
    struct model_arena *arena = ep->builder->arena;

    return (struct model_emitter){
        .builder = ep->builder,
        .transformer = &ep->half,
        .stream = ep->compute,
        .prefix = model_arena_format(arena, "step%d.%s.%d.half%d", ep->step,
                                     pass, layer, half),
        .window = window,
        .wait_for = MODEL_UNSET,
        .last = MODEL_UNSET};
}

static void forward_stage(struct model_emitter *emit,
                          const struct model_stage *stage)
{
    model_parts_forward(emit, stage->parts, stage->count);
}

static void backward_stage(struct model_emitter *emit,
                           const struct model_stage *stage)
{
    model_parts_backward(emit, stage->parts, stage->count);
}

static int collective(struct ep *ep,
                      int kind,
                      const char *window,
                      const char *id,
                      int group,
                      double bytes)
{
    struct model_op op = {.id = id,
                          .window = window,
                          .kind = kind,
                          .stream = ep->comm,
                          .type = ep->whole->type,
                          .bytes = bytes,
                          .group = group,
                          .config = model_config_none()};

    return model_builder_add(ep->builder, &op);
}

/* Copies of a half's tokens to their experts or back, after its kernels. */
static void exchange(struct ep *ep,
                     const struct model_emitter *emit,
                     const char *name,
                     int half)
{
    int op = collective(
        ep, MODEL_OP_ALL_TO_ALL, emit->window,
        model_arena_format(ep->builder->arena, "%s.%s", emit->prefix, name),
        ep->group, model_moe_copies_bytes(&ep->half));

    model_builder_after(ep->builder, op, emit->last);
    ep->exchanged[half] = op;
}

/* -- forward -- */

/* A half's end of the layer before, and its attention of this one. */
static void forward_attention(struct ep *ep, int layer, int half)
{
    struct model_emitter emit;

    if (layer > ep->whole->dense_layers) {
        emit = half_of(ep, "forward", "fwd.attn", layer - 1, half);
        forward_stage(&emit, &ep->moe.shared);
        emit.wait_for = ep->exchanged[half];
        forward_stage(&emit, &ep->moe.output);
    }
    if (layer < ep->whole->layers) {
        emit = half_of(ep, "forward", "fwd.attn", layer, half);
        forward_stage(&emit, &ep->moe.attention);
        exchange(ep, &emit, "dispatch", half);
    }
}

static void forward_experts(struct ep *ep, int layer, int half)
{
    struct model_emitter emit =
        half_of(ep, "forward", "fwd.expert", layer, half);

    emit.wait_for = ep->exchanged[half];
    forward_stage(&emit, &ep->moe.experts);
    exchange(ep, &emit, "combine", half);
}

static void forward(struct ep *ep)
{
    const struct model_transformer *t = ep->whole;
    struct model_emitter emit = root(ep, "embed", 0);

    model_transformer_embed(&emit);
    for (int layer = 0; layer < t->dense_layers; layer++) {
        emit = root(ep, "forward", layer);
        model_transformer_forward(&emit);
    }
    for (int layer = t->dense_layers; layer <= t->layers; layer++) {
        for (int half = 0; half < HALVES; half++) {
            forward_attention(ep, layer, half);
        }
        for (int half = 0; half < HALVES && layer < t->layers; half++) {
            forward_experts(ep, layer, half);
        }
    }
    emit = root(ep, "head", 0);
    model_transformer_head_forward(&emit);
}

/* -- backward -- */

/* A half's attention of the layer after, and the output of this one. */
static void backward_attention(struct ep *ep, int layer, int half)
{
    struct model_emitter emit;

    if (layer + 1 < ep->whole->layers) {
        emit = half_of(ep, "backward", "bwd.attn", layer + 1, half);
        backward_stage(&emit, &ep->moe.shared);
        emit.wait_for = ep->exchanged[half];
        backward_stage(&emit, &ep->moe.attention);
    }
    if (layer >= ep->whole->dense_layers) {
        emit = half_of(ep, "backward", "bwd.attn", layer, half);
        backward_stage(&emit, &ep->moe.output);
        exchange(ep, &emit, "combine.grad", half);
    }
}

static void backward_experts(struct ep *ep, int layer, int half)
{
    struct model_emitter emit =
        half_of(ep, "backward", "bwd.expert", layer, half);

    emit.wait_for = ep->exchanged[half];
    backward_stage(&emit, &ep->moe.experts);
    exchange(ep, &emit, "dispatch.grad", half);
}

/* Returns the last kernel. */
static int backward(struct ep *ep)
{
    const struct model_transformer *t = ep->whole;
    struct model_emitter emit = root(ep, "head", 0);

    model_transformer_head_backward(&emit);
    for (int layer = t->layers - 1; layer >= t->dense_layers - 1; layer--) {
        for (int half = 0; half < HALVES; half++) {
            backward_attention(ep, layer, half);
        }
        for (int half = 0; half < HALVES && layer >= t->dense_layers; half++) {
            backward_experts(ep, layer, half);
        }
    }
    for (int layer = t->dense_layers - 1; layer >= 0; layer--) {
        emit = root(ep, "backward", layer);
        model_transformer_backward(&emit);
    }
    return ep->builder->workload->op_count - 1;
}

/* -- what the ranks share -- */

/* A family of groups of so many ranks. */
static int family(struct ep *ep, const char *name, int size, int stride)
{
    int index = model_builder_group(ep->builder, name, NULL, size);
    struct model_group *group = &ep->builder->workload->groups[index];

    group->stride = stride;
    group->family = true;
    return index;
}

/* Parameters of a rank: what all have alike, and its experts. */
static double common_parameters(const struct ep *ep)
{
    const struct model_transformer *t = ep->whole;

    return model_transformer_root_parameters(t) +
           t->dense_layers * model_transformer_layer_parameters(t) +
           (t->layers - t->dense_layers) *
               model_moe_common_parameters(&ep->moe);
}

static double expert_parameters(const struct ep *ep)
{
    return (ep->whole->layers - ep->whole->dense_layers) *
           model_moe_expert_parameters(&ep->moe);
}

/* Returns the last op. */
static int add_up_gradients(struct ep *ep, int rank_count, int after)
{
    int sharing = ep->whole->expert_ranks;
    double bytes = model_type_bytes((enum model_type)ep->whole->type);
    int op =
        collective(ep, MODEL_OP_ALL_REDUCE, "gradients", "gradients.common",
                   model_builder_find_group(ep->builder, "world"),
                   common_parameters(ep) * bytes);

    model_builder_after(ep->builder, op, after);
    if (sharing < rank_count) {
        op = collective(
            ep, MODEL_OP_ALL_REDUCE, "gradients", "gradients.experts",
            family(ep, "ep-replicas", rank_count / sharing, sharing),
            expert_parameters(ep) * bytes);
        model_builder_after(ep->builder, op, after);
    }
    return op;
}

void model_lower_ep(struct model_builder *builder,
                    const struct model_transformer *transformer,
                    int rank_count)
{
    int sharing = transformer->expert_ranks;
    struct ep ep = {.builder = builder,
                    .whole = transformer,
                    .half = *transformer,
                    .compute = model_builder_stream(builder, "compute", 0),
                    .comm = model_builder_stream(builder, "comm", 1)};
    int last = MODEL_UNSET;
    struct model_emitter emit;

    ep.half.micro_batch = transformer->micro_batch / HALVES;
    ep.moe = model_moe_layer(builder->arena, &ep.half,
                             transformer->experts / sharing);
    ep.group = sharing < rank_count
                   ? family(&ep, "ep", sharing, 1)
                   : model_builder_find_group(builder, "world");
    for (int i = 0; i < model_steps_listed(transformer); i++) {
        ep.step = model_steps_begin(builder, transformer, i);
        forward(&ep);
        last = backward(&ep);
    }
    emit = root(&ep, "root", 0);
    emit.prefix = "optimizer";
    emit.wait_for = add_up_gradients(&ep, rank_count, last);
    model_transformer_optimizer(&emit, common_parameters(&ep) +
                                           expert_parameters(&ep));
}
