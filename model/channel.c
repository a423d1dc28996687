/*
 * channel.c - the channel law for each kind of hop.
 */
#include "model/channel.h"

#include <math.h>

/* From a load or store leaving the SM to its completion. */
static double round_trip_us(const struct model_topology *topology,
                            const struct model_hop *hop)
{
    double memory_us = topology->gpu.hbm_latency_us;

    switch (hop->kind) {
    case MODEL_HOP_NVLINK:
    case MODEL_HOP_P2P:
        return 2.0 * hop->latency_us + memory_us;
    case MODEL_HOP_SHM:
        return 2.0 * hop->latency_us + memory_us +
               topology->host.memory_latency_us;
    case MODEL_HOP_NET:
        /* The CTA fills a FIFO near it; the NIC and its proxy do the rest. */
        return topology->nics.gpudirect
                   ? memory_us
                   : 2.0 * topology->pcie.latency_us + memory_us +
                         topology->host.memory_latency_us;
    }
    return memory_us;
}

struct model_channel model_channel_make(const struct model_topology *topology,
                                        const struct model_hop *hop,
                                        int threads)
{
    const struct model_gpu *gpu = &topology->gpu;
    double in_flight = (double)threads / 32.0 * gpu->warp_bytes;
    double rate = in_flight / (round_trip_us(topology, hop) +
                               in_flight / gpu->channel_issue_bytes_per_us);
    struct model_channel channel = {.in_flight_bytes = in_flight,
                                    .bytes_per_us =
                                        fmin(rate, gpu->channel_bytes_per_us),
                                    .sync_us = gpu->sync_us + hop->latency_us};

    if (hop->kind == MODEL_HOP_SHM) {
        channel.sync_us += topology->host.memory_latency_us;
    }
    if (hop->kind == MODEL_HOP_NET) {
        channel.sync_us += topology->nics.sync_us;
        channel.bytes_per_us =
            fmin(channel.bytes_per_us, topology->nics.channel_bytes_per_us);
    }
    return channel;
}
