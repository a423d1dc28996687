/*
 * group.h - who talks to whom: the ranks of a communicator.
 *
 * A group is a list of ranks, or a pattern: member i is first + i * stride. A
 * family stands for all groups of one pattern, which together hold every rank
 * once, as the communicators of 3-D parallelism do:
 *
 *     world   count = all ranks,     stride 1   one group
 *     node    count = GPUs a node,   stride 1   one in each node
 *     rails   count = nodes,         stride = GPUs a node   one rank a node
 *     {size: 4, stride: 2}           0 2 4 6 | 1 3 5 7 | 8 10 12 14 | ...
 */
#ifndef MODEL_GROUP_H
#define MODEL_GROUP_H

#include <stdbool.h>

struct model_group {
    const char *name;
    const int *ranks; /* ascending, different; NULL: a pattern */
    int count;        /* members, >= 1 */
    int first;        /* pattern: rank of member 0 */
    int stride;       /* pattern: 0 counts as 1 */
    bool family;      /* stands for all groups of the pattern */
};

/* The rank of a member, 0 <= member < count. */
int model_group_rank(const struct model_group *group, int member);

/* The member that a rank is, or -1. Of a family: in the rank's own group. */
int model_group_member(const struct model_group *group, int rank);

/* How many groups a family of so many ranks has; 1 for a single group. */
int model_group_instances(const struct model_group *group, int rank_count);

/* Which group of the family holds a rank, counted from 0. */
int model_group_instance_of(const struct model_group *group, int rank);

/* A group of the family by its number; a single group is itself. */
struct model_group model_group_instance(const struct model_group *group,
                                        int instance);

/* True when its ranks, or those of some group of the family, are on more than
 * one node. */
bool model_group_spans_nodes(const struct model_group *group,
                             int gpus_per_node);

/* True when each node holds a like part of it, so that one stands for all. */
bool model_group_folds(const struct model_group *group, int gpus_per_node);

#endif
