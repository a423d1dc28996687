/*
 * channel.c - the channel law for each kind of hop.
 */
#include "model/channel.h"

#include <math.h>

static double warp_bytes(const struct model_gpu *gpu,
                         enum model_protocol protocol)
{
    switch (protocol) {
    case MODEL_LL:
        return gpu->ll_warp_bytes;
    case MODEL_LL128:
        return gpu->ll128_warp_bytes;
    case MODEL_SIMPLE:
    case MODEL_PROTOCOLS:
        break;
    }
    return gpu->warp_bytes;
}

static double gpu_sync_us(const struct model_gpu *gpu,
                          enum model_protocol protocol)
{
    switch (protocol) {
    case MODEL_LL:
        return gpu->ll_sync_us;
    case MODEL_LL128:
        return gpu->ll128_sync_us;
    case MODEL_SIMPLE:
    case MODEL_PROTOCOLS:
        break;
    }
    return gpu->sync_us;
}

double model_channel_start_us(const struct model_gpu *gpu,
                              enum model_protocol protocol)
{
    switch (protocol) {
    case MODEL_LL:
        return gpu->ll_start_us;
    case MODEL_LL128:
        return gpu->ll128_start_us;
    case MODEL_SIMPLE:
    case MODEL_PROTOCOLS:
        break;
    }
    return gpu->start_us;
}

/* Latency of a FIFO in device memory. */
static double fifo_us(const struct model_gpu *gpu, double reuse_bytes)
{
    if (reuse_bytes > gpu->l2_bytes || !(gpu->l2_latency_us > 0.0)) {
        return gpu->hbm_latency_us;
    }
    return fmin(gpu->l2_latency_us, gpu->hbm_latency_us);
}

/* From a load or store leaving the SM to its completion; and the loads' part.
 */
static void set_trip(struct model_channel *channel,
                     const struct model_topology *topology,
                     const struct model_gpu *gpu,
                     const struct model_hop *hop,
                     enum model_protocol protocol,
                     double reuse_bytes)
{
    bool near = hop->kind == MODEL_HOP_NVLINK || hop->kind == MODEL_HOP_P2P;
    double memory_us = gpu->hbm_latency_us;

    if (near && protocol != MODEL_SIMPLE) {
        memory_us = fifo_us(gpu, 0.0);
    } else if (hop->kind == MODEL_HOP_SHM) {
        memory_us += topology->host.memory_latency_us;
    }
    channel->round_trip_us = memory_us;
    if (protocol == MODEL_SIMPLE) {
        switch (hop->kind) {
        case MODEL_HOP_NVLINK:
        case MODEL_HOP_P2P:
            channel->load_us = fifo_us(gpu, reuse_bytes);
            channel->round_trip_us = channel->load_us + 2.0 * hop->latency_us;
            return;
        case MODEL_HOP_SHM:
            channel->round_trip_us += 2.0 * hop->latency_us;
            break;
        case MODEL_HOP_NET:
            /* The CTA fills a FIFO near it; the NIC and its proxy do the
             * rest. */
            if (hop->direct_send) {
                channel->round_trip_us += 2.0 * hop->relay_latency_us;
            } else {
                channel->round_trip_us += 2.0 * topology->pcie.latency_us +
                                          topology->host.memory_latency_us;
            }
            break;
        }
    }
    channel->load_us = channel->round_trip_us;
}

/* The network's part of a channel: proxy, connection, FIFO, slices. */
static void add_network(struct model_channel *channel,
                        const struct model_topology *topology,
                        const struct model_hop *hop,
                        enum model_protocol protocol,
                        int slices)
{
    const struct model_nics *nics = &topology->nics;
    const struct model_protocol_facts *facts = model_protocol_facts(protocol);
    double fifo_bytes = MODEL_FIFO_SLOTS * facts->slot_bytes;
    double credit_us;

    channel->sync_us +=
        protocol == MODEL_SIMPLE ? nics->sync_us : nics->flag_sync_us;
    credit_us = channel->sync_us + 2.0 * hop->latency_us;
    channel->connection_bytes_per_us = fmin(
        nics->channel_bytes_per_us / facts->wire_ratio, fifo_bytes / credit_us);
    if (topology->pcie.bytes_per_us > 0.0 &&
        (!hop->direct_send || !hop->direct_receive)) {
        /* A CTA reads or writes the FIFO over its own port. */
        channel->connection_bytes_per_us =
            fmin(channel->connection_bytes_per_us,
                 topology->pcie.bytes_per_us / facts->wire_ratio);
    }
    channel->forward_us_per_byte =
        facts->wire_ratio / slices / (nics->bytes_per_us * nics->ratio);
}

/* Rate of a long chunk. */
static double long_rate(const struct model_channel *channel)
{
    return fmin(
        channel->in_flight_bytes /
            (channel->round_trip_us +
             channel->in_flight_bytes / channel->issue_bytes_per_us),
        fmin(channel->most_bytes_per_us, channel->connection_bytes_per_us));
}

/* As far as the GPU at one end decides. */
static struct model_channel at_end(const struct model_topology *topology,
                                   const struct model_gpu *gpu,
                                   const struct model_hop *hop,
                                   enum model_protocol protocol,
                                   const struct model_channel_role *role)
{
    double warps = role->share * (double)role->threads / 32.0;
    double moves = role->share / model_protocol_facts(protocol)->wire_ratio;
    double own_us = role->slices * gpu_sync_us(gpu, protocol);
    struct model_channel channel = {
        .in_flight_bytes = warps * warp_bytes(gpu, protocol),
        .issue_bytes_per_us = gpu->channel_issue_bytes_per_us * moves,
        .most_bytes_per_us = gpu->channel_bytes_per_us * moves,
        .connection_bytes_per_us = HUGE_VAL,
        .work_ratio = role->work_ratio,
        .first_speedup = fmax(role->first_share / role->share, 1.0),
        .sync_us = own_us + hop->latency_us,
        .own_sync_us = own_us,
        .by_line = protocol != MODEL_SIMPLE && hop->kind != MODEL_HOP_NET};

    set_trip(&channel, topology, gpu, hop, protocol, role->reuse_bytes);
    channel.bytes_per_us = long_rate(&channel);
    return channel;
}

struct model_channel model_channel_make(const struct model_topology *topology,
                                        const struct model_hop *hop,
                                        enum model_protocol protocol,
                                        int threads,
                                        double reuse_bytes)
{
    return model_channel_in_role(
        topology, hop, protocol,
        &(struct model_channel_role){.threads = threads,
                                     .share = 1.0,
                                     .work_ratio = 1.0,
                                     .slices =
                                         model_protocol_facts(protocol)->slices,
                                     .reuse_bytes = reuse_bytes});
}

struct model_channel
model_channel_in_role(const struct model_topology *topology,
                      const struct model_hop *hop,
                      enum model_protocol protocol,
                      const struct model_channel_role *role)
{
    const struct model_gpu *from = model_ranks_gpu(topology, hop->ranks[0]);
    const struct model_gpu *to = model_ranks_gpu(topology, hop->ranks[1]);
    struct model_channel channel = at_end(topology, from, hop, protocol, role);

    if (to != from) {
        struct model_channel other = at_end(topology, to, hop, protocol, role);

        other.sync_us = fmax(other.sync_us, channel.sync_us);
        other.own_sync_us = fmax(other.own_sync_us, channel.own_sync_us);
        channel.sync_us = other.sync_us;
        channel.own_sync_us = other.own_sync_us;
        channel = other.bytes_per_us < channel.bytes_per_us ? other : channel;
    }
    if (hop->kind == MODEL_HOP_SHM) {
        channel.sync_us += topology->host.memory_latency_us;
    } else if (hop->kind == MODEL_HOP_NET) {
        add_network(&channel, topology, hop, protocol, role->slices);
        channel.bytes_per_us = long_rate(&channel);
    }
    return channel;
}

double model_channel_transfer_us(const struct model_channel *channel,
                                 double chunk_bytes)
{
    double work_bytes = channel->work_ratio * chunk_bytes;
    double trips = work_bytes / channel->in_flight_bytes;
    double issue_us = work_bytes / channel->issue_bytes_per_us +
                      fmax(channel->load_us, channel->round_trip_us * trips);

    return fmax(fmax(issue_us, work_bytes / channel->most_bytes_per_us),
                chunk_bytes / channel->connection_bytes_per_us);
}

double model_channel_wait_us(const struct model_channel *channel,
                             double chunk_bytes)
{
    return channel->sync_us + channel->forward_us_per_byte * chunk_bytes;
}

double model_channel_stream_us(const struct model_channel *channel,
                               double chunk_bytes)
{
    double transfer_us = model_channel_transfer_us(channel, chunk_bytes);
    double away_us = transfer_us + model_channel_wait_us(channel, chunk_bytes);

    /* A slot is away until its chunk has arrived. */
    return fmax(transfer_us + channel->own_sync_us, away_us / MODEL_FIFO_SLOTS);
}

/* The CTA's time for a first chunk. */
static double first_us(const struct model_channel *channel, double chunk_bytes)
{
    struct model_channel alone = *channel;

    alone.issue_bytes_per_us *= channel->first_speedup;
    alone.most_bytes_per_us *= channel->first_speedup;
    return model_channel_transfer_us(&alone, chunk_bytes);
}

double model_channel_hop_us(const struct model_channel *channel,
                            double chunk_bytes,
                            double links_us)
{
    double work_us = channel->by_line
                         ? channel->load_us
                         : fmax(first_us(channel, chunk_bytes), links_us);

    return work_us + model_channel_wait_us(channel, chunk_bytes);
}
