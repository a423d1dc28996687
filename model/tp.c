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
#include "model/tp.h"

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

    if (t->parallel != MODEL_TP && t->parallel != MODEL_PP) {
        t->shards = 1;
        t->domino = false;
        return MODEL_OK;
    }
    if (t->parallel == MODEL_PP && t->shards <= 1) {
        t->shards = 1;
        t->domino = false;
    }
    if (t->shards < 1) {
        return model_errors_add(
            errors, MODEL_BAD_INPUT, parallel->place, "parallel.size",
            "write size: 8, ranks that share each layer", "tp has no size");
    }
    if (t->domino && t->micro_batch % MODEL_TP_HALVES != 0) {
        return model_errors_add(
            errors, MODEL_BAD_INPUT, model_node_find(batch, "micro")->place,
            "batch.micro", "write an even number, or domino: false",
            "%d sequences have no two halves", t->micro_batch);
    }
    return check_division(root, t, rank_count, errors);
}

/* -- the iteration -- */

static void step(struct model_tp *tp)
{
    model_tp_embed(tp);
    model_tp_forward(tp);
    model_tp_head_forward(tp);
    model_tp_head_backward(tp);
    model_tp_backward(tp);
    model_tp_embedding_gradient(tp);
}

void model_lower_tp(struct model_builder *builder,
                    const struct model_transformer *transformer,
                    int rank_count)
{
    struct model_tp tp = model_tp_start(builder, transformer, rank_count);

    for (int i = 0; i < model_steps_listed(transformer); i++) {
        int number = model_steps_begin(builder, transformer, i);

        tp.slot = model_arena_format(builder->arena, "step%d", number);
        tp.reduces = tp.replicated && number + 1 == transformer->steps;
        tp.backward = tp.reduces ? "gradients" : "backward";
        tp.bucket = 0.0; /* what earlier steps add stays on the rank */
        step(&tp);
    }
    model_tp_optimizer(&tp, transformer->tied_embedding ? 1.0 : 2.0);
}
