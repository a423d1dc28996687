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
                      const struct model_channel_role *role,
                      double chunk_bytes)
{
    walk->protocol = (enum model_protocol)config->protocol;
    walk->transport = (enum model_transport)config->transport;
    walk->role = *role;
    walk->chunk_bytes = chunk_bytes;
    walk->count_ratio = 1.0;
    walk->weight = 0.0;
    walk->wait_us = 0.0;
    walk->stream_us = 0.0;
    walk->whole_us = 0.0;
    walk->device_fifos = 0.0;
    walk->network_sends = 0.0;
    walk->slowest_us = 0.0;
    walk->crowded_us = 0.0;
    walk->slowest_stream_us = 0.0;
    walk->forward_us = 0.0;
    walk->trip_us = 0.0;
    walk->in_flight_bytes = 0.0;
    walk->by_line = true;
    walk->flow_ratio = 0.0;
    walk->first_weight = 0.0;
    walk->first_us = 0.0;
    walk->near_weight = 0.0;
    walk->near_us = 0.0;
    walk->queue_us = 0.0;
    walk->fault = NULL;
}

void model_walk_time_first(struct model_walk *walk, double flow_ratio)
{
    walk->flow_ratio = flow_ratio;
    walk->first_weight = 0.0;
    walk->first_us = 0.0;
    walk->near_weight = 0.0;
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

/* Beside kernels that read memory. */
static void add_crowded(struct model_walk *walk, const struct model_hop *hop)
{
    struct model_channel_role role = walk->role;
    struct model_channel channel;

    role.reuse_bytes = HUGE_VAL;
    channel = model_channel_in_role(walk->fabric->topology, hop, walk->protocol,
                                    &role);
    walk->crowded_us =
        fmax(walk->crowded_us,
             model_channel_transfer_us(&channel, walk->chunk_bytes));
}

/* Times of one chunk. */
static void add_times(struct model_walk *walk,
                      const struct model_channel *channel,
                      double flows)
{
    double chunk_bytes = walk->chunk_bytes;
    double transfer_us = model_channel_transfer_us(channel, chunk_bytes);
    double stream_us = model_channel_stream_us(channel, chunk_bytes);

    if (transfer_us > walk->slowest_us) {
        walk->slowest_us = transfer_us;
        walk->in_flight_bytes =
            channel->in_flight_bytes *
            model_protocol_facts(walk->protocol)->wire_ratio;
    }
    walk->slowest_stream_us = fmax(walk->slowest_stream_us, stream_us);
    walk->forward_us =
        fmax(walk->forward_us, channel->forward_us_per_byte * chunk_bytes);
    walk->by_line = walk->by_line && channel->by_line;
    walk->weight += flows;
    walk->wait_us += model_channel_wait_us(channel, chunk_bytes) * flows;
    walk->stream_us += stream_us * flows;
    walk->whole_us += channel->by_line ? 0.0 : stream_us * flows;
    walk->trip_us += channel->round_trip_us * flows;
}

/* What the links of a hop take for the first chunks that come at one time, less
 * own_flows of them. */
static double links_us(const struct model_walk *walk,
                       const struct model_hop *hop,
                       double own_flows)
{
    double us = 0.0;

    for (int i = 0; i < hop->link_count; i++) {
        double flows =
            walk->flow_ratio * walk->flows[hop->links[i]] - own_flows;

        us = fmax(us, flows * walk->chunk_bytes /
                          model_fabric_link_bytes_per_us(walk->fabric,
                                                         hop->links[i]));
    }
    return us;
}

/* How soon a first chunk can be passed on. */
static double time_first(struct model_walk *walk,
                         const struct model_channel *channel,
                         const struct model_hop *hop,
                         double flows)
{
    double wire_ratio = model_protocol_facts(walk->protocol)->wire_ratio;
    double us = model_channel_hop_us(channel, walk->chunk_bytes, 0.0);
    double beside_us = us;

    walk->first_weight += flows;
    walk->first_us += us * flows;
    if (hop->kind == MODEL_HOP_NET) {
        walk->queue_us = fmax(walk->queue_us, links_us(walk, hop, wire_ratio));
    } else {
        beside_us = model_channel_hop_us(channel, walk->chunk_bytes,
                                         links_us(walk, hop, 0.0));
        walk->near_weight += flows;
        walk->near_us = fmax(walk->near_us, beside_us - us);
    }
    return beside_us;
}

/* What passes the links for each byte of payload: LL128's lines, stored one by
 * one, leave part of an NVLink idle. */
static double link_ratio(const struct model_walk *walk,
                         const struct model_hop *hop)
{
    double lines = walk->fabric->topology->gpu.ll128_link_ratio;
    double wire_ratio = model_protocol_facts(walk->protocol)->wire_ratio;

    return walk->protocol == MODEL_LL128 && hop->kind == MODEL_HOP_NVLINK &&
                   lines > 0.0
               ? wire_ratio / lines
               : wire_ratio;
}

double model_walk_send(
    struct model_walk *walk, int from_rank, int to_rank, int nic, double flows)
{
    struct model_channel channel;
    struct model_hop hop;

    model_fabric_route(walk->fabric, from_rank, to_rank, walk->transport, nic,
                       &hop);
    channel = model_channel_in_role(walk->fabric->topology, &hop,
                                    walk->protocol, &walk->role);
    if (walk->flow_ratio > 0.0) {
        return time_first(walk, &channel, &hop, flows * walk->count_ratio);
    }
    add_crowded(walk, &hop);
    add_fifo(walk, &hop, flows * walk->count_ratio);
    check_path(walk, &hop);
    for (int i = 0; i < hop.link_count; i++) {
        model_walk_link(walk, hop.links[i],
                        flows * link_ratio(walk, &hop) * hop.weights[i]);
    }
    add_times(walk, &channel, flows * walk->count_ratio);
    return time_first(walk, &channel, &hop, flows * walk->count_ratio);
}

double model_walk_pair(struct model_walk *walk,
                       int from_rank,
                       int to_rank,
                       double flows)
{
    int choices =
        model_fabric_pair_choices(walk->fabric->topology, from_rank, to_rank);
    double hop_us = 0.0;

    for (int i = 0; i < choices; i++) {
        hop_us = fmax(hop_us,
                      model_walk_send(walk, from_rank, to_rank,
                                      MODEL_NIC_OF_PAIR - i, flows / choices));
    }
    return hop_us;
}

static double mean(const struct model_walk *walk, double sum)
{
    return walk->weight > 0.0 ? sum / walk->weight : 0.0;
}

double model_walk_wait_us(const struct model_walk *walk)
{
    return mean(walk, walk->wait_us);
}

double model_walk_stream_us(const struct model_walk *walk)
{
    return mean(walk, walk->stream_us);
}

double model_walk_whole_us(const struct model_walk *walk)
{
    return mean(walk, walk->whole_us);
}

double model_walk_hop_us(const struct model_walk *walk)
{
    double sum_us = walk->first_us + walk->near_weight * walk->near_us;

    return walk->first_weight > 0.0 ? sum_us / walk->first_weight : 0.0;
}

double model_walk_first_bytes(const struct model_walk *walk)
{
    return walk->by_line ? 0.0 : walk->chunk_bytes;
}

double model_walk_latency_us(const struct model_walk *walk)
{
    return mean(walk, walk->trip_us + walk->wait_us);
}

double model_walk_network_ratio(const struct model_walk *walk)
{
    return walk->first_weight > 0.0
               ? fmax(1.0 - walk->near_weight / walk->first_weight, 0.0)
               : 0.0;
}

static bool is_of_network(enum model_link_kind kind)
{
    return kind == MODEL_LINK_NIC_OUT || kind == MODEL_LINK_NIC_IN ||
           kind == MODEL_LINK_LEAF_UP || kind == MODEL_LINK_LEAF_DOWN;
}

double model_walk_near_bytes_per_us(const struct model_walk *walk)
{
    double rate = HUGE_VAL;

    for (int i = 0; i < walk->touched_count; i++) {
        int link = walk->touched[i];

        if (!is_of_network(model_fabric_link_kind(walk->fabric, link))) {
            rate =
                fmin(rate, model_fabric_link_bytes_per_us(walk->fabric, link) /
                               walk->flows[link]);
        }
    }
    return rate;
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
