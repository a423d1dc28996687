/*
 * attention.h - fused attention (FlashAttention-2 and its kind), forward and
 * backward: scores never leave the SM.
 *
 * With b sequences, h query heads and g kv heads of width d, s queries and t
 * keys a sequence. Pairs of query and key: p = s t; causal p = s (t - s / 2),
 * the last query sees all keys.
 *
 *     CTAs       forward one per head and `attention.rows` queries, backward
 *                one per head and as many keys: b h ceil(s / rows)
 *     flops      forward 4 b h p d (two products); backward 2.5 times that
 *                (scores again, then four gradients)
 *     HBM bytes  of type: forward Q, O 2 b h s d and K, V 2 b g t d, each once
 *                a head; fp32 log-sum of each row, 4 b h s.
 *                backward: O, dO for the row sums, Q, dO, dQ, 5 b h s d; K, V,
 *                dK, dV 4 b g t d; dQ is summed in fp32: cleared, added to,
 *                converted, 16 b h s d; log-sums and row sums, 12 b h s
 *     no reuse   a CTA loads what it visits by itself: forward K and V,
 *                backward Q, dO and the sums of dQ (read and written)
 *     L2         K and V of the heads that a wave works on (backward Q, dO and
 *                sums); more than L2 holds is loaded once by each wave
 *
 * Causal CTAs differ: the one of the last queries does twice the mean. Longest
 * go first, as FlashAttention launches them, so many loads even out and each
 * counts as the mean; a grid of few waves takes at least as long as the longest
 * CTA: load_us = max(mean, longest / waves).
 */
#ifndef MODEL_ATTENTION_H
#define MODEL_ATTENTION_H

#include "model/kernel.h"

/* All sizes are positive; heads is a multiple of kv_heads; causal needs keys
   of at least the sequence. */
struct model_attention {
    double batch, heads, kv_heads;
    double sequence, keys; /* tokens */
    double head_width;
    bool causal;
    bool backward;
};

double model_attention_flops(const struct model_attention *attention);

/* HBM bytes with all of its reuse, K and V of a head fitting into L2. */
double model_attention_bytes(const struct model_attention *attention,
                             enum model_type type);

/* The type must have a peak on this GPU; sm_limit 0: none. */
struct model_kernel
model_attention_kernel(const struct model_gpu *gpu,
                       enum model_type type,
                       const struct model_attention *attention,
                       enum model_schedule schedule,
                       int sm_limit);

#endif
