/*
 * ring.c - neighbours in a ring.
 *
 * Members are taken node by node, as rank numbers ascend, and a walk is stored
 * once for each set of GPUs that a node can have in the group: once for a whole
 * cluster. So the next member is found without building the ring.
 */
#include "model/ring.h"

#include "model/wiring.h"

#include <string.h>

static int node_of(const struct model_ring *ring, int member)
{
    return model_group_rank(ring->group, member) /
           ring->topology->gpus_per_node;
}

/* Ranks 0 .. count - 1. */
static bool is_plain(const struct model_group *group)
{
    return group->ranks == NULL && group->first == 0 && group->stride <= 1;
}

/* The members on one node. */
struct span {
    int first;
    int count;
};

static struct span span_of(const struct model_ring *ring, int member)
{
    int node = node_of(ring, member);
    int gpus = ring->topology->gpus_per_node;
    int low = member;
    int high = member + 1;

    if (is_plain(ring->group)) {
        int left = ring->group->count - node * gpus;

        return (struct span){node * gpus, left < gpus ? left : gpus};
    }
    while (low > 0 && node_of(ring, low - 1) == node) {
        low--;
    }
    while (high < ring->group->count && node_of(ring, high) == node) {
        high++;
    }
    return (struct span){low, high - low};
}

/* -- making -- */

/* Mark the NICs of a member's GPU; returns how many are new. */
static int mark_nics(const struct model_ring *ring, int member, bool *used)
{
    int gpu =
        model_group_rank(ring->group, member) % ring->topology->gpus_per_node;
    struct model_nic_range own = model_wiring_nics_of(ring->topology, gpu);
    int marked = 0;

    for (int nic = own.first; nic < own.first + own.count; nic++) {
        marked += used[nic] ? 0 : 1;
        used[nic] = true;
    }
    return marked;
}

static void set_nics(struct model_ring *ring, struct model_arena *arena)
{
    int most = ring->topology->nics.count;
    bool *used = model_arena_array(arena, (size_t)most, sizeof(*used));
    int *nics = model_arena_array(arena, (size_t)most, sizeof(*nics));
    int count = 0;

    for (int i = 0; i < ring->group->count && count < most; i++) {
        count += mark_nics(ring, i, used);
    }
    count = 0;
    for (int nic = 0; nic < most; nic++) {
        if (used[nic]) {
            nics[count++] = nic;
        }
    }
    ring->nics = nics;
    ring->nic_count = count;
}

/* The GPUs of a span. */
static int *gpus_of(const struct model_ring *ring,
                    struct model_arena *arena,
                    struct span span)
{
    int *gpus = model_arena_array(arena, (size_t)span.count, sizeof(*gpus));

    for (int i = 0; i < span.count; i++) {
        gpus[i] = model_group_rank(ring->group, span.first + i) %
                  ring->topology->gpus_per_node;
    }
    return gpus;
}

static struct model_orders make_orders(const struct model_ring *ring,
                                       struct model_arena *arena,
                                       const int *gpus,
                                       int count)
{
    return model_orders_make(arena, ring->topology, gpus, count, ring->nics,
                             ring->nic_count);
}

/* Ranks 0 .. count - 1: whole nodes, and what is left over. */
static void set_orders(struct model_ring *ring, struct model_arena *arena)
{
    int gpus = ring->topology->gpus_per_node;
    int whole = ring->group->count < gpus ? ring->group->count : gpus;
    int rest = ring->group->count % gpus;
    struct model_orders *orders = model_arena_array(arena, 2, sizeof(*orders));
    int *numbers = gpus_of(ring, arena, (struct span){0, whole});

    orders[0] = make_orders(ring, arena, numbers, whole);
    orders[1] = rest > 0 && rest < whole
                    ? make_orders(ring, arena, numbers, rest)
                    : orders[0];
    ring->orders = orders;
}

/* Other ranks: nodes with the same GPUs share their orders. */
static void set_listed_orders(struct model_ring *ring,
                              struct model_arena *arena)
{
    size_t members = (size_t)ring->group->count;
    struct model_orders *orders =
        model_arena_array(arena, members, sizeof(*orders));
    const int **sets = model_arena_array(arena, members, sizeof(*sets));
    int *order_of = model_arena_array(arena, members, sizeof(*order_of));
    int count = 0;
    struct span span;

    for (int first = 0; first < ring->group->count; first += span.count) {
        int *gpus;
        int found = 0;

        span = span_of(ring, first);
        gpus = gpus_of(ring, arena, span);
        while (found < count &&
               (orders[found].length != span.count ||
                memcmp(sets[found], gpus, (size_t)span.count * sizeof(*gpus)) !=
                    0)) {
            found++;
        }
        if (found == count) {
            sets[count] = gpus;
            orders[count++] = make_orders(ring, arena, gpus, span.count);
        }
        for (int i = 0; i < span.count; i++) {
            order_of[first + i] = found;
        }
    }
    ring->orders = orders;
    ring->order_of = order_of;
}

struct model_ring model_ring_make(struct model_arena *arena,
                                  const struct model_topology *topology,
                                  const struct model_group *group)
{
    struct model_ring ring = {.topology = topology, .group = group};

    if (group->count == 0) {
        return ring;
    }
    if (node_of(&ring, 0) != node_of(&ring, group->count - 1)) {
        set_nics(&ring, arena);
    }
    if (!is_plain(group)) {
        set_listed_orders(&ring, arena);
    } else {
        set_orders(&ring, arena);
    }
    ring.variants = ring.orders[0].count;
    return ring;
}

/* -- walking -- */

int model_ring_nic(const struct model_ring *ring, int variant)
{
    return ring->nic_count > 0 ? ring->nics[variant % ring->nic_count] : 0;
}

int model_ring_channels(const struct model_ring *ring,
                        int variant,
                        int channels)
{
    return channels / ring->variants +
           (variant < channels % ring->variants ? 1 : 0);
}

static const int *
walk_of(const struct model_ring *ring, struct span span, int variant)
{
    const struct model_orders *orders = ring->orders;

    if (ring->order_of != NULL) {
        orders += ring->order_of[span.first];
    } else if (span.count < orders->length) {
        orders++;
    }
    return orders->walks + (size_t)variant * (size_t)orders->length;
}

int model_ring_entry(const struct model_ring *ring, int member, int variant)
{
    struct span span = span_of(ring, member);

    return model_group_rank(ring->group,
                            span.first + walk_of(ring, span, variant)[0]);
}

/* The second half of the variants are the mirrors. */
static bool runs_backwards(const struct model_ring *ring, int variant)
{
    return variant >= ring->variants / 2;
}

int model_ring_next(const struct model_ring *ring, int member, int variant)
{
    int members = ring->group->count;
    struct span span = span_of(ring, member);
    const int *walk = walk_of(ring, span, variant);
    int at = 0;
    int entry;

    while (walk[at] != member - span.first) {
        at++;
    }
    if (at + 1 < span.count) {
        return model_group_rank(ring->group, span.first + walk[at + 1]);
    }
    /* Over to the neighbouring node, at the first GPU of its walk. */
    entry = runs_backwards(ring, variant) ? (span.first + members - 1) % members
                                          : (span.first + span.count) % members;
    return model_ring_entry(ring, entry, variant);
}
