/*
 * fsdp.c - fully sharded data parallelism, as PyTorch schedules it.
 *
 * Each layer is a unit that is gathered before use; embedding and head are the
 * root unit, gathered once per step. All collectives share one communicator,
 * hence one stream. Prefetch decides the order in which the CPU issues: layer
 * l+1's AllGather before layer l's forward kernels or after them, layer l-1's
 * before layer l's gradients or after them; layer l+1's ReduceScatter follows
 * that AllGather. At most two gathered layers live at a time
 * (limit_all_gathers): a layer's AllGather waits until the layer two before it
 * is done.
 *
 * Windows: "forward" holds {AllGather l+1 | layer l}, "backward" holds
 * {AllGather l-1, ReduceScatter l+1 | gradients of l}.
 */
#include "model/transformer.h"

struct fsdp {
    struct model_builder *builder;
    const struct model_transformer *transformer;
    int compute, comm; /* streams */
    int world;         /* group */
    int *gathered;     /* AllGather of each layer */
    int *done;         /* last kernel of each layer */
    int step;
};

static int collective(struct fsdp *fsdp,
                      int kind,
                      const char *window,
                      const char *id,
                      double parameters)
{
    struct model_op op = {
        .id = id,
        .window = window,
        .kind = kind,
        .stream = fsdp->comm,
        .type = fsdp->transformer->type,
        .bytes = parameters *
                 model_type_bytes((enum model_type)fsdp->transformer->type),
        .group = fsdp->world,
        .config = model_config_none()};

    return model_builder_add(fsdp->builder, &op);
}

static const char *name(struct fsdp *fsdp, const char *phase, int layer)
{
    return model_arena_format(fsdp->builder->arena, "step%d.%s.%d", fsdp->step,
                              phase, layer);
}

static int
gather_layer(struct fsdp *fsdp, const char *phase, int layer, int after)
{
    int op =
        collective(fsdp, MODEL_OP_ALL_GATHER, phase,
                   model_arena_format(fsdp->builder->arena, "%s.all_gather",
                                      name(fsdp, phase, layer)),
                   model_transformer_layer_parameters(fsdp->transformer));

    model_builder_after(fsdp->builder, op, after);
    return op;
}

static void scatter_layer(struct fsdp *fsdp, int layer)
{
    int op =
        collective(fsdp, MODEL_OP_REDUCE_SCATTER, "backward",
                   model_arena_format(fsdp->builder->arena, "%s.reduce_scatter",
                                      name(fsdp, "backward", layer)),
                   model_transformer_layer_parameters(fsdp->transformer));

    model_builder_after(fsdp->builder, op, fsdp->done[layer]);
}

static struct model_emitter
emitter(struct fsdp *fsdp, const char *window, const char *prefix, int wait_for)
{
    return (struct model_emitter){.builder = fsdp->builder,
                                  .transformer = fsdp->transformer,
                                  .stream = fsdp->compute,
                                  .prefix = prefix,
                                  .window = window,
                                  .wait_for = wait_for,
                                  .last = MODEL_UNSET};
}

/* Returns the op after which the forward pass is done. */
static int forward(struct fsdp *fsdp, int root_gather)
{
    const struct model_transformer *t = fsdp->transformer;
    struct model_emitter emit =
        emitter(fsdp, "root", name(fsdp, "embed", 0), root_gather);

    int embed;

    model_transformer_embed(&emit);
    embed = emit.last;
    for (int layer = 0; layer < t->layers; layer++) {
        int before = layer > 0 ? fsdp->done[layer - 1] : embed;

        if (layer == 0) {
            fsdp->gathered[0] = gather_layer(fsdp, "forward", 0, MODEL_UNSET);
        }
        if (t->forward_prefetch && layer + 1 < t->layers) {
            fsdp->gathered[layer + 1] =
                gather_layer(fsdp, "forward", layer + 1, before);
        } else if (!t->forward_prefetch && layer > 0) {
            fsdp->gathered[layer] =
                gather_layer(fsdp, "forward", layer,
                             layer > 1 ? fsdp->done[layer - 2] : embed);
        }
        emit = emitter(fsdp, "forward", name(fsdp, "forward", layer),
                       fsdp->gathered[layer]);
        model_transformer_forward(&emit);
        fsdp->done[layer] = emit.last;
    }
    emit = emitter(fsdp, "root", name(fsdp, "head", 0), MODEL_UNSET);
    model_transformer_head_forward(&emit);
    return emit.last;
}

/* Returns the last kernel. */
static int backward(struct fsdp *fsdp, int loss)
{
    const struct model_transformer *t = fsdp->transformer;
    int last = t->layers - 1;
    int before = loss;
    struct model_emitter emit;

    fsdp->gathered[last] = gather_layer(fsdp, "backward", last, loss);
    emit = emitter(fsdp, "root", name(fsdp, "head", 0), MODEL_UNSET);
    model_transformer_head_backward(&emit);
    for (int layer = last; layer >= 0; layer--) {
        if (t->backward_prefetch && layer > 0) {
            fsdp->gathered[layer - 1] =
                gather_layer(fsdp, "backward", layer - 1, before);
        } else if (!t->backward_prefetch && layer < last) {
            fsdp->gathered[layer] =
                gather_layer(fsdp, "backward", layer,
                             layer + 1 < last ? fsdp->done[layer + 2] : loss);
        }
        if (layer < last) {
            scatter_layer(fsdp, layer + 1);
        }
        emit = emitter(fsdp, "backward", name(fsdp, "backward", layer),
                       fsdp->gathered[layer]);
        model_transformer_backward(&emit);
        fsdp->done[layer] = emit.last;
        before = emit.last;
    }
    scatter_layer(fsdp, 0);
    return emit.last;
}

static int root(struct fsdp *fsdp, int kind, const char *id)
{
    return collective(fsdp, kind, "root",
                      model_arena_format(fsdp->builder->arena, "step%d.root.%s",
                                         fsdp->step, id),
                      model_transformer_root_parameters(fsdp->transformer));
}

void model_lower_fsdp(struct model_builder *builder,
                      const struct model_transformer *transformer,
                      int rank_count)
{
    size_t layers = (size_t)transformer->layers;
    struct fsdp fsdp = {
        .builder = builder,
        .transformer = transformer,
        .compute = model_builder_stream(builder, "compute", 0),
        .comm = model_builder_stream(builder, "comm", 1),
        .world = model_builder_find_group(builder, "world"),
        .gathered = model_arena_array(builder->arena, layers, sizeof(int)),
        .done = model_arena_array(builder->arena, layers, sizeof(int))};
    int last = MODEL_UNSET;
    int scattered = MODEL_UNSET;
    struct model_emitter emit;
    double parameters =
        transformer->layers * model_transformer_layer_parameters(transformer) +
        model_transformer_root_parameters(transformer);

    for (int i = 0; i < model_steps_listed(transformer); i++) {
        int gathered;

        fsdp.step = model_steps_begin(builder, transformer, i);
        gathered = root(&fsdp, MODEL_OP_ALL_GATHER, "all_gather");
        model_builder_after(builder, gathered, last);
        last = backward(&fsdp, forward(&fsdp, gathered));
        scattered = root(&fsdp, MODEL_OP_REDUCE_SCATTER, "reduce_scatter");
        model_builder_after(builder, scattered, last);
    }
    emit = emitter(&fsdp, "root", "optimizer", scattered);
    model_transformer_optimizer(&emit, parameters / (double)rank_count);
}
