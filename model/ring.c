/*
 * ring.c - neighbours in a ring.
 *
 * Members are taken node by node, as rank numbers ascend. In a node the walk
 * starts at an offset that depends on the variant's NIC and wraps, so the
 * next member is found without building the ring.
 */
#include "model/ring.h"

static int node_of(const struct model_ring *ring, int member)
{
    return model_group_rank(ring->group, member) /
           ring->topology->gpus_per_node;
}

struct model_ring model_ring_make(const struct model_topology *topology,
                                  const struct model_group *group)
{
    struct model_ring ring = {topology, group, 2};

    if (group->count > 0 &&
        node_of(&ring, 0) != node_of(&ring, group->count - 1)) {
        ring.variants = 2 * topology->nics.count;
    }
    return ring;
}

int model_ring_nic(const struct model_ring *ring, int variant)
{
    return ring->topology->nics.count > 0 ? variant % ring->topology->nics.count
                                          : 0;
}

int model_ring_channels(const struct model_ring *ring,
                        int variant,
                        int channels)
{
    return channels / ring->variants +
           (variant < channels % ring->variants ? 1 : 0);
}

/* First member and number of members on a member's node. */
static void
node_span(const struct model_ring *ring, int member, int *first, int *count)
{
    int node = node_of(ring, member);
    int low = member;
    int high = member + 1;

    while (low > 0 && node_of(ring, low - 1) == node) {
        low--;
    }
    while (high < ring->group->count && node_of(ring, high) == node) {
        high++;
    }
    *first = low;
    *count = high - low;
}

/* The member at a position of the walk over a node. */
static int member_at(const struct model_ring *ring,
                     int first,
                     int count,
                     int position,
                     int variant)
{
    int nics = ring->topology->nics.count;
    int start = nics > 0 ? model_ring_nic(ring, variant) * count / nics : 0;

    return first + (start + position) % count;
}

/* The second half of the variants mirrors the first. */
static bool runs_backwards(const struct model_ring *ring, int variant)
{
    return variant >= ring->variants / 2;
}

int model_ring_next(const struct model_ring *ring, int member, int variant)
{
    int step = runs_backwards(ring, variant) ? -1 : 1;
    int first;
    int count;
    int position = 0;
    int entry;

    node_span(ring, member, &first, &count);
    while (member_at(ring, first, count, position, variant) != member) {
        position++;
    }
    position += step;
    if (position >= 0 && position < count) {
        return model_group_rank(
            ring->group, member_at(ring, first, count, position, variant));
    }
    /* Over to the neighbouring node, at the near end of its walk. */
    entry = step > 0 ? (first + count) % ring->group->count
                     : (first + ring->group->count - 1) % ring->group->count;
    node_span(ring, entry, &first, &count);
    return model_group_rank(
        ring->group,
        member_at(ring, first, count, step > 0 ? 0 : count - 1, variant));
}
