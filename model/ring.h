/*
 * ring.h - the order in which a ring visits the ranks of a group.
 *
 * A ring walks the group's GPUs of a node and leaves to the next node from the
 * last of them. Channels are spread over variants of it. Within a node each
 * variant is a walk of order.h or its mirror. Over several nodes there is a
 * walk and a mirror for each NIC that is an own one of some member's GPU: the
 * ring leaves every node and enters the next one by the NIC of that number.
 * Mirrors go from node to node the other way round. Channels take the variants
 * in turn, so NICs differ by one channel at most.
 */
#ifndef MODEL_RING_H
#define MODEL_RING_H

#include "model/group.h"
#include "model/order.h"

struct model_ring {
    const struct model_topology *topology; /* borrowed */
    const struct model_group *group;       /* borrowed */
    int variants;
    const int *nics; /* used between nodes */
    int nic_count;   /* 0: the group is on one node */
    /*
     * Walks by the set of GPUs that a node has in the group. Ranks 0 .. n - 1:
     * orders[0] for whole nodes, orders[1] for the last if it is not. Other
     * ranks: orders[order_of[member]].
     */
    const struct model_orders *orders;
    const int *order_of;
};

/* The rings of a group; lives in the arena, the topology and the group. */
struct model_ring model_ring_make(struct model_arena *arena,
                                  const struct model_topology *topology,
                                  const struct model_group *group);

/* The rank that a member (index in the group) sends to in a variant. */
int model_ring_next(const struct model_ring *ring, int member, int variant);

/* The rank by which a variant enters the node of a member: beside its NIC. */
int model_ring_entry(const struct model_ring *ring, int member, int variant);

/* The NIC that a variant uses between nodes. */
int model_ring_nic(const struct model_ring *ring, int variant);

/* How many of `channels` channels run in a variant. */
int model_ring_channels(const struct model_ring *ring,
                        int variant,
                        int channels);

#endif
