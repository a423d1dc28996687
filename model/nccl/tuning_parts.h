/*
 * tuning_parts.h - what the files of NCCL's tuning model share; not for
 * its users.
 */
#ifndef MODEL_NCCL_TUNING_PARTS_H
#define MODEL_NCCL_TUNING_PARTS_H

#include "model/nccl/tuning.h"

/* Edges of a binary tree over n >= 1: the whole part of its logarithm. */
int model_nccl_log2(int n);

/* The graph that an algorithm runs on. */
const struct model_nccl_graph *
model_nccl_graph_of(const struct model_nccl_comm *comm, int algorithm);

/* Why a pair is not to be used for a function, in words; NULL: it may be. */
const char *model_nccl_off(const struct model_nccl_comm *comm,
                           int function,
                           int algorithm,
                           int protocol);

/* A FIFO of a protocol with its flags: NCCL_*BUFFSIZE or what it is unset. */
double model_nccl_buffer_bytes(const struct model_nccl_comm *comm,
                               int protocol);

/* Note down what choice has now, as another step of its way. */
void model_nccl_choice_note(struct model_nccl_choice *choice,
                            enum model_nccl_cause cause);

/*
 * Channels and threads of what was chosen, from its function, bytes, algorithm
 * and protocol; needs chunk_bytes only for the steps.
 */
void model_nccl_shrink(const struct model_nccl_tuning *tuning,
                       struct model_nccl_choice *choice);

/* The longest chunk of a pair, payload, and what NCCL makes of it for M. */
double model_nccl_chunk_most_bytes(const struct model_nccl_comm *comm,
                                   const struct model_nccl_choice *choice);
void model_nccl_cut(const struct model_nccl_comm *comm,
                    struct model_nccl_choice *choice);

#endif
