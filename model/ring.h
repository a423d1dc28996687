/*
 * ring.h - the order in which a ring visits the ranks of a group.
 *
 * A ring walks the GPUs of a node in order and leaves to the next node from
 * the last one. Channels are spread over variants of it: with several NICs the
 * walk of NIC i starts i / NICs of the node further, and as many variants more
 * run backwards, so that both directions of each port are used. Channels take
 * the variants in turn, so NICs differ by one channel at most. A ring enters
 * beside its NIC, but leaves from the GPU before: the whole node away.
 */
#ifndef MODEL_RING_H
#define MODEL_RING_H

#include "model/group.h"
#include "model/topology.h"

struct model_ring {
    const struct model_topology *topology;
    const struct model_group *group;
    int variants;
};

struct model_ring model_ring_make(const struct model_topology *topology,
                                  const struct model_group *group);

/* The rank that a member (index in the group) sends to in a variant. */
int model_ring_next(const struct model_ring *ring, int member, int variant);

/* The NIC that a variant uses between nodes. */
int model_ring_nic(const struct model_ring *ring, int variant);

/* How many of `channels` channels run in a variant. */
int model_ring_channels(const struct model_ring *ring,
                        int variant,
                        int channels);

#endif
