/*
 * moe.h - the kernels of a mixture-of-experts layer, between its collectives.
 *
 * With T tokens of one rank, h hidden, E experts of width f (g = 1: gated) over
 * n ranks, each token going to k of them, and s shared experts, which see every
 * token. Routing is balanced: each expert gets T k n / E tokens, so that the
 * E / n experts of a rank work on T k rows.
 *
 *     attention  the rows of transformer.h up to the second norm, then
 *       router      gemm         T x E x h
 *       route       elementwise  T E scores: softmax and choice
 *       permute     elementwise  read T h, write a copy for each expert, T k h
 *     dispatch   all_to_all   of T k h: each rank sends a part to each
 *     experts
 *       sort        elementwise  T k h from the order of ranks to that of
 *                                experts; none with one expert a rank
 *       expert.up   grouped_gemm E / n times T k n / E x (1 + g) f x h
 *       expert.activation        read T k (1 + g) f, write T k f
 *       expert.down grouped_gemm E / n times T k n / E x h x f
 *       unsort      elementwise  back
 *     combine    all_to_all   of T k h
 *     shared     with s > 0: up, activation, down with an FFN of width s f
 *     output     elementwise  weighted sum of the k copies, the shared experts
 *                             and the residual: k + 2 reads, 1 write of T h
 *
 * Backward runs them in reverse, as transformer.h says. A grouped GEMM has its
 * weight gradients as one batch of GEMMs over the experts. output reads the
 * two gradients that meet there, and the k copies for the gradient of their
 * weights; it writes the sum and k gradients. permute adds up k gradients, and
 * that of the shared experts.
 */
#ifndef MODEL_MOE_H
#define MODEL_MOE_H

#include "model/transformer.h"

enum { MODEL_STAGE_PARTS = MODEL_ROWS_MAX };

/* Parts that run in a row. */
struct model_stage {
    int count;
    struct model_part parts[MODEL_STAGE_PARTS];
};

struct model_moe {
    struct model_stage attention, experts, shared, output;
};

/*
 * Of a model form: keys of experts, and whether they fit the ranks and the
 * batch. Fills in expert_ffn and expert_ranks where they are left out.
 */
enum model_status model_moe_check(const struct model_node *root,
                                  struct model_transformer *t,
                                  int rank_count,
                                  struct model_errors *errors);

/*
 * The layer for the tokens of one micro-batch of t. local_experts: of a rank,
 * >= 1. Rows of the experts come from the arena.
 */
struct model_moe model_moe_layer(struct model_arena *arena,
                                 const struct model_transformer *t,
                                 int local_experts);

/* Of a layer: what every rank has of it, and its local experts. */
double model_moe_common_parameters(const struct model_moe *moe);
double model_moe_expert_parameters(const struct model_moe *moe);

/* Bytes of all copies of a rank's tokens of one micro-batch: T k h. */
double model_moe_copies_bytes(const struct model_transformer *t);

#endif
