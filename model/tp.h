/*
 * tp.h - layers cut over ranks, tp_layers.c: for tp.c and pp.c, which say when
 * they run.
 */
#ifndef MODEL_TP_H
#define MODEL_TP_H

#include "model/transformer.h"

enum { MODEL_TP_HALVES = 2 };

struct model_tp {
    struct model_builder *builder;
    struct model_transformer shard; /* a rank's part of a micro-batch */
    struct model_transformer half;  /* of one half; without Domino the same */
    struct model_part parts[MODEL_LAYER_PARTS]; /* of the shard */
    struct model_part head[MODEL_HEAD_PARTS];
    int halves;
    bool replicated;                     /* there is a group dp */
    int compute, comm, gradients, sends; /* streams */
    int tp, dp, pp;                      /* groups; MODEL_UNSET: of one rank */
    /* for what is emitted next */
    const char *slot;               /* of ids, such as "step3" */
    const char *forward, *backward; /* windows of layers */
    bool reduces;                   /* backward passes reduce gradients */
    /* what was emitted last */
    int ready[MODEL_TP_HALVES]; /* op that the half waits for */
    double bucket; /* parameters whose gradients are not reduced yet */
    int bucket_count;
    int reduced; /* last AllReduce of gradients */
};

/* With groups and streams: tp neighbours, then replicas, then stages. */
struct model_tp model_tp_start(struct model_builder *builder,
                               const struct model_transformer *t,
                               int rank_count);

/* Of a micro-batch: the embedding, a rank's layers, the head with the loss. */
void model_tp_embed(struct model_tp *tp);
void model_tp_forward(struct model_tp *tp);
void model_tp_head_forward(struct model_tp *tp);
void model_tp_head_backward(struct model_tp *tp);
void model_tp_backward(struct model_tp *tp);

/* After a backward pass: the embedding's gradients, and all that are left. */
void model_tp_embedding_gradient(struct model_tp *tp);

/* For the rank's layers, and so many matrices of the vocabulary's size. */
void model_tp_optimizer(struct model_tp *tp, double vocabularies);

#endif
