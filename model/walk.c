/*
 * walk.c - flows per link in one table as long as the fabric.
 */
#include "model/walk.h"

#include <math.h>
#include <stdlib.h>

struct model_walk *model_walk_new(struct model_arena *arena,
                                  const struct model_fabric *fabric)
{
    struct model_walk *walk = model_arena_alloc(arena, sizeof(*walk));
    size_t links = (size_t)fabric->link_count + 1;

    walk->arena = arena;
    walk->fabric = fabric;
    walk->flows = model_arena_array(arena, links, sizeof(*walk->flows));
    walk->touched = model_arena_array(arena, links, sizeof(*walk->touched));
    return walk;
}

void model_walk_start(struct model_walk *walk,
                      const struct model_config *config,
                      int threads,
                      double work_ratio,
                      double chunk_bytes)
{
    walk->protocol = (enum model_protocol)config->protocol;
    walk->transport = (enum model_transport)config->transport;
    walk->threads = threads;
    walk->work_ratio = work_ratio;
    walk->chunk_bytes = chunk_bytes;
    walk->reuse_bytes = HUGE_VAL;
    walk->weight = 0.0;
    walk->transfer_us = 0.0;
    walk->wait_us = 0.0;
    walk->device_fifos = 0.0;
    walk->network_sends = 0.0;
    walk->slowest_us = 0.0;
    walk->crowded_us = 0.0;
    walk->trip_us = 0.0;
    walk->in_flight_bytes = 0.0;
    walk->fault = NULL;
}

void model_walk_link(struct model_walk *walk, int link, double flows)
{
    if (!(walk->flows[link] > 0.0)) {
        walk->touched[walk->touched_count++] = link;
    }
    walk->flows[link] += flows;
}

/* Whose memory holds the FIFO, and who reads it. */
static void
add_fifo(struct model_walk *walk, const struct model_hop *hop, double flows)
{
    if (hop->kind == MODEL_HOP_NVLINK || hop->kind == MODEL_HOP_P2P ||
        (hop->kind == MODEL_HOP_NET && hop->direct_receive)) {
        walk->device_fifos += flows;
    }
    /* LL sends from host memory even so, where the proxy can see the flags. */
    if (hop->kind == MODEL_HOP_NET && hop->direct_send &&
        walk->protocol != MODEL_LL) {
        walk->network_sends += flows;
    }
}

/*
 * LL128 counts on 128 bytes arriving at once. From host memory the proxy sends
 * them when it has seen the flag of each.
 */
static void check_path(struct model_walk *walk, const struct model_hop *hop)
{
    if (walk->protocol == MODEL_LL128 &&
        (hop->kind == MODEL_HOP_P2P || hop->kind == MODEL_HOP_SHM)) {
        walk->fault = "ll128 needs NVLink between the GPUs of a node";
    }
}

static struct model_channel channel_of(const struct model_walk *walk,
                                       const struct model_hop *hop,
                                       double reuse_bytes)
{
    struct model_channel channel =
        model_channel_make(walk->fabric->topology, hop, walk->protocol,
                           walk->threads, reuse_bytes);

    channel.work_ratio = walk->work_ratio;
    return channel;
}

double model_walk_send(
    struct model_walk *walk, int from_rank, int to_rank, int nic, double flows)
{
    double wire_ratio = model_protocol_facts(walk->protocol)->wire_ratio;
    struct model_channel channel;
    struct model_channel crowded;
    struct model_hop hop;
    double transfer_us;
    double wait_us;

    model_fabric_route(walk->fabric, from_rank, to_rank, walk->transport, nic,
                       &hop);
    channel = channel_of(walk, &hop, walk->reuse_bytes);
    crowded = channel_of(walk, &hop, HUGE_VAL);
    walk->crowded_us =
        fmax(walk->crowded_us,
             model_channel_transfer_us(&crowded, walk->chunk_bytes));
    transfer_us = model_channel_transfer_us(&channel, walk->chunk_bytes);
    wait_us = model_channel_wait_us(&channel, walk->chunk_bytes);
    if (transfer_us > walk->slowest_us) {
        walk->slowest_us = transfer_us;
        walk->in_flight_bytes = channel.in_flight_bytes * wire_ratio;
    }
    walk->weight += flows;
    walk->transfer_us += transfer_us * flows;
    walk->wait_us += wait_us * flows;
    walk->trip_us += channel.round_trip_us * flows;
    add_fifo(walk, &hop, flows);
    check_path(walk, &hop);
    for (int i = 0; i < hop.link_count; i++) {
        model_walk_link(walk, hop.links[i],
                        flows * wire_ratio * hop.weights[i]);
    }
    return transfer_us + wait_us;
}

double model_walk_pair(struct model_walk *walk,
                       int from_rank,
                       int to_rank,
                       double flows)
{
    int choices =
        model_fabric_pair_choices(walk->fabric->topology, from_rank, to_rank);
    double step_us = 0.0;

    for (int i = 0; i < choices; i++) {
        step_us = fmax(step_us,
                       model_walk_send(walk, from_rank, to_rank,
                                       MODEL_NIC_OF_PAIR - i, flows / choices));
    }
    return step_us;
}

double model_walk_wait_us(const struct model_walk *walk)
{
    return walk->weight > 0.0 ? walk->wait_us / walk->weight : 0.0;
}

double model_walk_latency_us(const struct model_walk *walk)
{
    return walk->weight > 0.0 ? (walk->trip_us + walk->wait_us) / walk->weight
                              : 0.0;
}

static int compare_ints(const void *left, const void *right)
{
    const int *a = left;
    const int *b = right;

    return (*a > *b) - (*a < *b);
}

const struct model_use *model_walk_uses(struct model_walk *walk, int *count)
{
    int links = walk->touched_count;
    struct model_use *uses =
        model_arena_array(walk->arena, (size_t)links + 1, sizeof(*uses));

    qsort(walk->touched, (size_t)links, sizeof(*walk->touched), compare_ints);
    for (int i = 0; i < links; i++) {
        uses[i] =
            (struct model_use){walk->touched[i], walk->flows[walk->touched[i]]};
        walk->flows[walk->touched[i]] = 0.0;
    }
    walk->touched_count = 0;
    *count = links;
    return uses;
}
