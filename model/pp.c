/*
 * pp.c - pipeline parallelism: stages of layers, micro-batches through them in
 * Megatron-LM's order of one forward and one backward (1F1B, arXiv 2104.04473),
 * combined with tensor parallelism (tp.h) and replicas.
 *
 * Every rank runs one list, so the list is the critical path of an iteration.
 * With p stages, m micro-batches, F and B of a stage's layers, H of the head
 * with its gradients, c of a send to a neighbour:
 *
 *     fill    (p - 1) (F + c)          the first micro-batch on its way to the
 *                                      last stage
 *     steady  m (F + H + B) + (m-1) c  the last stage, which has the head and
 *                                      so sets the pace: it sends a gradient
 *                                      back while the next activation comes in
 *     drain   (p - 1) (c + B)          the last gradient on its way to the
 *                                      first stage, which then, beside its last
 *                                      backward pass, adds up its replicas'
 *
 * Without head and sends this is (m + p - 1) (F + B), the known time of 1F1B.
 * Stages before the last exchange twice in a slot, F + c + B + c, and would set
 * the pace where H < c: then this is too short by (m - 1) (c - H). With
 * overlap_sends the steady exchanges run beside the next slot, which waits for
 * the one before; those of fill and drain nothing can hide.
 *
 * So kernels of windows "fill" and "drain" are those of other stages: they are
 * in the iteration's time and in sums over it, but a rank idles meanwhile. All
 * ranks send at once here, in a ring from the last to the first stage, too;
 * each link carries what it carries in a pipeline, but the last ring's.
 *
 * Ranks are numbered as Megatron-LM does: tp fastest, then replicas, then
 * stages. Sends are of whole activations, [tokens, hidden], from each rank (no
 * sequence parallelism). Left out: interleaved stages, recomputation, and the
 * exchange of a tied embedding's gradients between first and last stage.
 */
#include "model/tp.h"

/* -- the form -- */

enum model_status model_pp_check(const struct model_node *root,
                                 const struct model_transformer *t,
                                 int rank_count,
                                 struct model_errors *errors)
{
    const struct model_node *parallel = model_node_find(root, "parallel");
    const struct {
        bool bad;
        const char *message, *remedy;
    } rows[] = {
        {model_node_find(parallel, "stages") == NULL, "pp has no stages",
         "write stages: 4, which have a part of the layers each"},
        {t->layers % t->stages != 0, "layers do not divide over the stages",
         "write a divisor of model.layers"},
        {rank_count % (t->shards * t->stages) != 0,
         "ranks do not divide over stages of parallel.size ranks",
         "write a divisor of the ranks over size"}};

    for (size_t i = 0; t->parallel == MODEL_PP && i < 3; i++) {
        const struct model_node *stages = model_node_find(parallel, "stages");

        if (rows[i].bad) {
            return model_errors_add(
                errors, MODEL_BAD_INPUT,
                stages != NULL ? stages->place : parallel->place,
                "parallel.stages", rows[i].remedy, "%s", rows[i].message);
        }
    }
    return MODEL_OK;
}

/* -- the iteration -- */

/* Activations to the next stage (shift 1) or gradients back (-1). */
static int send(struct model_tp *tp, const char *window, int shift)
{
    const struct model_transformer *t = &tp->shard;
    struct model_op op = {
        .id = model_arena_format(tp->builder->arena, "%s.send", tp->slot),
        .window = window,
        .kind = MODEL_OP_SEND_RECV,
        .stream = tp->sends,
        .type = t->type,
        .bytes = (double)t->micro_batch * t->sequence * t->hidden *
                 model_type_bytes((enum model_type)t->type),
        .group = tp->pp,
        .shift = shift,
        .config = model_config_none()};
    int last = tp->builder->workload->op_count - 1;
    int index = model_builder_add(tp->builder, &op);

    model_builder_after(tp->builder, index, last);
    return index;
}

/* The next kernels of both halves wait for an op. */
static void wait_for(struct model_tp *tp, int op)
{
    tp->ready[0] = tp->ready[1] = op;
}

static void name_slot(struct model_tp *tp, const char *kind, int number)
{
    tp->slot = model_arena_format(tp->builder->arena, "%s%d", kind, number);
}

/* Returns the send that brings the last stage its first activations. */
static int fill(struct model_tp *tp)
{
    int sent = MODEL_UNSET;

    tp->forward = "fill";
    for (int i = 0; i + 1 < tp->shard.stages; i++) {
        name_slot(tp, "fill", i);
        if (i == 0) {
            model_tp_embed(tp);
        } else {
            wait_for(tp, sent);
        }
        model_tp_forward(tp);
        sent = send(tp, "fill", 1);
    }
    return sent;
}

/* Returns the send of the last gradients. */
static int steady(struct model_tp *tp, int filled)
{
    const struct model_transformer *t = &tp->shard;
    int sent[2] = {filled, filled}; /* the last, and the one before */

    tp->forward = "forward";
    tp->backward = "backward";
    for (int i = 0; i < model_steps_listed(t); i++) {
        name_slot(tp, "step", model_steps_begin(tp->builder, t, i));
        wait_for(tp, sent[t->overlap_sends ? 1 : 0]);
        model_tp_forward(tp);
        model_tp_head_forward(tp);
        model_tp_head_backward(tp);
        model_tp_backward(tp);
        sent[1] = sent[0];
        sent[0] = send(tp, "backward", -1);
    }
    return sent[0];
}

static void drain(struct model_tp *tp, int sent)
{
    int stages = tp->shard.stages;

    for (int i = 0; i + 1 < stages; i++) {
        bool first_stage = i + 2 == stages;

        name_slot(tp, "drain", i);
        tp->reduces = tp->replicated && first_stage;
        tp->backward = tp->reduces ? "gradients" : "drain";
        tp->bucket = 0.0;
        wait_for(tp, sent);
        model_tp_backward(tp);
        if (!first_stage) {
            sent = send(tp, "drain", -1);
        }
    }
    model_tp_embedding_gradient(tp);
}

void model_lower_pp(struct model_builder *builder,
                    const struct model_transformer *transformer,
                    int rank_count)
{
    struct model_tp tp;

    if (transformer->stages == 1) {
        model_lower_tp(builder, transformer, rank_count);
        return;
    }
    tp = model_tp_start(builder, transformer, rank_count);
    drain(&tp, steady(&tp, fill(&tp)));
    /* The embedding with the first stage, the head with the last. */
    model_tp_optimizer(&tp, 1.0);
}
