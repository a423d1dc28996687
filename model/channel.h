/*
 * channel.h - how fast one NCCL channel moves bytes over one hop.
 *
 * A CTA of NT worker threads keeps NT/32 warps x warp_bytes in flight. With
 * round trip R and issue rate b its rate is
 *
 *     r = f / (R + f / b),  f = NT/32 * warp_bytes
 *
 * (AutoCCL, NSDI'25, eq. 5, per channel: in flight over start-up plus
 * transfer), capped by what one channel moves and, on the network, by what one
 * connection does. One chunk step costs a synchronisation and its transfer:
 *
 *     t = sync + chunk / r
 *
 * (AutoCCL eq. 2). R is the memory latency plus twice the hop's latency; with
 * SHM plus the latency of host memory; on the network only as far as the FIFO,
 * which is in GPU memory (GPUDirect) or in host memory over PCIe. The
 * synchronisation is the GPU's, plus the hop's latency, plus that of host
 * memory (SHM) or the proxy's work (network).
 */
#ifndef MODEL_CHANNEL_H
#define MODEL_CHANNEL_H

#include "model/fabric.h"

/* One channel over one kind of hop. */
struct model_channel {
    double in_flight_bytes;
    double bytes_per_us; /* while a chunk is being moved */
    double sync_us;      /* per chunk step */
};

/* threads >= 32. Pure. */
struct model_channel model_channel_make(const struct model_topology *topology,
                                        const struct model_hop *hop,
                                        int threads);

#endif
