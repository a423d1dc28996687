/*
 * collective_parts.h - what the files of single algorithms share; not for
 * users of a collective.
 */
#ifndef MODEL_COLLECTIVE_PARTS_H
#define MODEL_COLLECTIVE_PARTS_H

#include "model/collective.h"

/* Fills all of *result but rank_count, channels, sms and bus_factor. */
typedef void model_collective_maker(struct model_walk *walk,
                                    const struct model_collective_task *task,
                                    struct model_collective *result);

model_collective_maker model_collective_ring;
model_collective_maker model_collective_chain;
model_collective_maker model_collective_tree;
model_collective_maker model_collective_nvls;
model_collective_maker model_collective_nvls_tree;
model_collective_maker model_collective_pat;
model_collective_maker model_collective_pairwise;
model_collective_maker model_collective_copy;
model_collective_maker model_collective_step;

/*
 * The groups whose transfers are to be walked: the task's own, or, folded, all
 * of its family with members in the node that stands for all. groups has room
 * for as many as a node has GPUs. Returns how many.
 */
int model_parts_groups(const struct model_walk *walk,
                       const struct model_group *group,
                       int node,
                       struct model_group *groups);

/* Members *first .. *end - 1 of a group are on shown nodes; folded: on node. */
void model_parts_span(const struct model_walk *walk,
                      const struct model_group *group,
                      int node,
                      int *first,
                      int *end);

/* Edges from the deepest leaf to the root of a tree over nodes. */
int model_parts_tree_depth(int nodes);

/*
 * Walks double binary trees for all groups of the task, with `share` of each
 * channel's flow on edges between nodes; chains within nodes only when share is
 * 1. Returns how soon a chunk is up the deepest path; *nodes: those of a group.
 */
double model_parts_walk_trees(struct model_walk *walk,
                              const struct model_collective_task *task,
                              double share,
                              int *nodes);

/* Number of ranks walked: of the group, or, folded, of one node. */
double model_parts_ranks(const struct model_walk *walk,
                         const struct model_group *group);

/* Nodes that a group (not a family) has members on, each with as many. */
int model_parts_nodes(const struct model_walk *walk,
                      const struct model_group *group);

/* CTA time per byte of one load and one store: half of an exchange. */
double model_parts_copy_ratio(const struct model_gpu *gpu);

/*
 * A whole CTA on each transfer, a chunk in one slice, FIFOs in memory, and the
 * primitives that the task's kind is made of: recvCopySend to gather,
 * recvReduceSend to reduce, as much of both in an all_reduce; between pairs a
 * send or a recv, which make up an exchange together.
 */
struct model_channel_role
model_parts_role(const struct model_walk *walk,
                 const struct model_collective_task *task);

/* HBM bytes a rank per byte of progress for the FIFOs that were walked. */
double model_parts_fifo_ratio(const struct model_walk *walk,
                              const struct model_collective_task *task);

/* Payload of a FIFO's slot on this machine. */
double model_parts_slot_bytes(const struct model_topology *topology,
                              enum model_protocol protocol);

/*
 * The chunk, before it is cut to what a channel has, that NCCL takes for a tree
 * over so many nodes, for NVLS with so many heads a node (one head's), for PAT:
 * the configured one, or, where that is as long as any, by size.
 */
double model_parts_tree_chunk_bytes(const struct model_topology *topology,
                                    const struct model_collective_task *task,
                                    int nodes);
double model_parts_nvls_chunk_bytes(const struct model_collective_task *task,
                                    double heads);
double model_parts_pat_chunk_bytes(const struct model_collective_task *task);

/* One chunk of each channel; uses; what all algorithms end with. */
void model_parts_finish(struct model_walk *walk,
                        const struct model_collective_task *task,
                        double chunk_bytes,
                        struct model_collective *result);

#endif
