/*
 * channel.h - how fast one NCCL channel moves bytes over one hop.
 *
 * A CTA of NT worker threads keeps f = NT/32 x warp_bytes in flight. With round
 * trip R and issue rate b a chunk of C bytes takes
 *
 *     C / b + R max(1, C / f)
 *
 * for chunks longer than f that is the rate r = f / (R + f / b) (AutoCCL,
 * NSDI'25, eq. 5, per channel: in flight over start-up plus transfer). It is
 * capped by what one channel moves and, on the network, by what one connection
 * does, and by its FIFO over the time until a slot is free again. A step then
 * adds a synchronisation (AutoCCL eq. 2).
 *
 * Simple: R is the memory latency plus twice the hop's latency; with SHM plus
 * the latency of host memory; on the network only as far as the FIFO, which is
 * in GPU memory (GPUDirect) or in host memory over PCIe. LL and LL128 post
 * their stores, so R is only the polling of the own FIFO; b and the caps count
 * wire bytes. The synchronisation is the GPU's, plus the hop's latency, plus
 * that of host memory (SHM) or the proxy's work (network).
 *
 * b and the cap hold for a copy that is passed on (recvCopySend: one load, two
 * stores a byte). A primitive with other loads and stores takes work_ratio
 * times as long (gpu.h: reduce_ratio, exchange_ratio).
 *
 * A NIC sends a slice when it is complete: the last slice of a chunk arrives
 * its length over the NIC's rate later than its bytes were written.
 *
 * Between two kinds of GPU the slower end sets the rate, and the later one each
 * synchronisation.
 */
#ifndef MODEL_CHANNEL_H
#define MODEL_CHANNEL_H

#include "model/fabric.h"
#include "model/protocol.h"

/* One channel over one kind of hop, in bytes of payload. */
struct model_channel {
    double in_flight_bytes;
    double round_trip_us;
    double issue_bytes_per_us;
    double most_bytes_per_us;       /* cap of the CTA */
    double connection_bytes_per_us; /* cap of the network's connection */
    double work_ratio;   /* CTA time per byte, relative to recvCopySend: 1 */
    double bytes_per_us; /* of a long chunk */
    double sync_us;      /* per step */
    double forward_us_per_byte; /* of chunk: waiting for the NIC's slice */
};

/* threads >= 32. Pure. */
struct model_channel model_channel_make(const struct model_topology *topology,
                                        const struct model_hop *hop,
                                        enum model_protocol protocol,
                                        int threads);

/* What a NCCL kernel takes before its first step and after its last, us. */
double model_channel_start_us(const struct model_gpu *gpu,
                              enum model_protocol protocol);

/* How long the CTA works on a chunk, without synchronisation. */
double model_channel_transfer_us(const struct model_channel *channel,
                                 double chunk_bytes);

/* Synchronisation and the NIC's slice. */
double model_channel_wait_us(const struct model_channel *channel,
                             double chunk_bytes);

#endif
