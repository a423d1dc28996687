/*
 * group.c - arithmetic of rank patterns.
 *
 * A family of groups of n members at stride s tiles the ranks in blocks of
 * n s: within a block, group j (0 <= j < s) holds j, j + s, j + 2 s, ...
 */
#include "model/group.h"

#include <stddef.h>

static int stride_of(const struct model_group *group)
{
    return group->stride > 0 ? group->stride : 1;
}

int model_group_rank(const struct model_group *group, int member)
{
    return group->ranks != NULL ? group->ranks[member]
                                : group->first + member * stride_of(group);
}

static int member_in_list(const struct model_group *group, int rank)
{
    int low = 0;
    int high = group->count;

    while (low < high) {
        int middle = low + (high - low) / 2;

        if (group->ranks[middle] < rank) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < group->count && group->ranks[low] == rank ? low : -1;
}

int model_group_member(const struct model_group *group, int rank)
{
    int stride = stride_of(group);
    int offset = rank - group->first;

    if (group->ranks != NULL) {
        return member_in_list(group, rank);
    }
    if (group->family) {
        return rank / stride % group->count;
    }
    return offset >= 0 && offset % stride == 0 && offset / stride < group->count
               ? offset / stride
               : -1;
}

int model_group_instances(const struct model_group *group, int rank_count)
{
    return group->family ? rank_count / group->count : 1;
}

int model_group_instance_of(const struct model_group *group, int rank)
{
    int stride = stride_of(group);

    return group->family
               ? rank / (stride * group->count) * stride + rank % stride
               : 0;
}

struct model_group model_group_instance(const struct model_group *group,
                                        int instance)
{
    struct model_group one = *group;
    int stride = stride_of(group);

    if (group->family) {
        one.family = false;
        one.first =
            instance / stride * stride * group->count + instance % stride;
    }
    return one;
}

bool model_group_folds(const struct model_group *group, int gpus_per_node)
{
    int block = stride_of(group) * group->count;

    /* One node further, blocks must be the same blocks, or cover the nodes. */
    return group->ranks == NULL &&
           (block % gpus_per_node == 0 || gpus_per_node % block == 0);
}

bool model_group_spans_nodes(const struct model_group *group, int gpus_per_node)
{
    struct model_group one = model_group_instance(group, 0);

    /* Some group of a family does, unless whole blocks fit into a node: of the
     * block that two nodes divide, one of the first and the last group has
     * members on both. */
    if (group->family && group->count > 1 &&
        gpus_per_node % (stride_of(group) * group->count) != 0) {
        return true;
    }
    return model_group_rank(&one, 0) / gpus_per_node !=
           model_group_rank(&one, one.count - 1) / gpus_per_node;
}
