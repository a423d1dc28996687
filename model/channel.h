/*
 * channel.h - how fast one NCCL channel moves bytes over one hop.
 *
 * A CTA of NT worker threads keeps f = NT/32 x warp_bytes in flight. With round
 * trip R, of which loads are L, and issue rate b a chunk of C bytes takes
 *
 *     C / b + max(L, R C / f)
 *
 * for long chunks that is the rate r = f / (R + f / b) (AutoCCL, NSDI'25, eq.
 * 5, per channel: in flight over start-up plus transfer). It is capped by what
 * one channel moves and, on the network, by what one connection does, and by
 * its FIFO over the time until a slot is free again. A step then adds a
 * synchronisation (AutoCCL eq. 2).
 *
 * Simple: R is the latency of the memory that holds the FIFO plus twice the
 * hop's latency; with SHM plus the latency of host memory; on the network only
 * as far as the FIFO, which is in GPU memory (GPUDirect) or in host memory over
 * PCIe. A FIFO in device memory is loaded from near by and the stores to the
 * peer are posted: L is the memory's latency, and a chunk shorter than f waits
 * for no more. (AutoCCL's figure 3 has such chunks, 6 KB with 96 threads and 12
 * KB with 192.) Elsewhere loads cross the bus and L is R. LL and LL128 post
 * their stores, so R is only the polling of the own FIFO, where a line is in L2
 * when the peer has just written it; b and the caps count wire bytes. The
 * synchronisation is the GPU's, plus the hop's latency, plus that of host
 * memory (SHM) or the proxy's work (network).
 *
 * A slot of the FIFO is used again when all its slots have been, and by then
 * reuse_bytes have passed through L2: over and over the same addresses, so that
 * a cache that drops what was used longest ago keeps either all or nothing.
 * While they fit, the FIFO is as near as L2. NCCL's maintainers size the FIFO
 * by it (github.com/NVIDIA/nccl issues 285, 387). In AutoCCL's figure 3, on
 * GPUs with 6 MiB, two channels lose a tenth of their bandwidth between 4.9
 * and 6.2 MiB, one channel nothing up to 3.8, and four are slow from 7.5 on.
 *
 * f, b and the cap hold for a copy that is passed on (recvCopySend: one load,
 * two stores a byte). A primitive with other loads and stores takes work_ratio
 * times as long (gpu.h: reduce_ratio, exchange_ratio).
 *
 * A NIC sends a slice when it is complete: the last slice of a chunk arrives
 * its length over the NIC's rate later than its bytes were written.
 *
 * That is a CTA in a ring: all of it on one transfer, a step waiting for the
 * one before it on the neighbour. A CTA may also work on several transfers at
 * once, up and down a tree, or out to one peer and in from another; each then
 * has its share of f, b and the cap (a role). And where no step waits for
 * another, the FIFO's slots hide the way of the data: a stream takes for each
 * chunk what the CTA does itself, unless all slots are on their way.
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
    double load_us; /* part of it that a short chunk waits for */
    double issue_bytes_per_us;
    double most_bytes_per_us;       /* cap of the CTA */
    double connection_bytes_per_us; /* cap of the network's connection */
    double work_ratio;              /* of the role */
    double first_speedup;           /* issue and cap while others wait */
    double bytes_per_us;            /* of a long chunk at work_ratio 1 */
    double sync_us;                 /* per step */
    double own_sync_us;             /* of it, what the CTA does itself */
    double forward_us_per_byte;     /* of chunk: waiting for the NIC's slice */
    bool by_line;                   /* passed on as it comes, not by chunks */
};

/* How a CTA works on a transfer. */
struct model_channel_role {
    int threads;        /* of the CTA, >= 32 */
    double share;       /* of the CTA on this transfer, above 0, at most 1 */
    double first_share; /* of what its SM moves, while a first chunk is on its
                           way and other transfers wait for it; 0: share */
    double work_ratio;  /* time per byte of what it does, recvCopySend: 1 */
    int slices;         /* of a chunk, each with its own flag */
    double reuse_bytes; /* above 0; HUGE_VAL: the FIFO is not in L2 */
};

/* In a ring that gathers: the whole CTA, recvCopySend, NCCL's slices. Pure. */
struct model_channel model_channel_make(const struct model_topology *topology,
                                        const struct model_hop *hop,
                                        enum model_protocol protocol,
                                        int threads,
                                        double reuse_bytes);

/* The same in another role. */
struct model_channel
model_channel_in_role(const struct model_topology *topology,
                      const struct model_hop *hop,
                      enum model_protocol protocol,
                      const struct model_channel_role *role);

/* What a NCCL kernel takes before its first step and after its last, us. */
double model_channel_start_us(const struct model_gpu *gpu,
                              enum model_protocol protocol);

/* How long the CTA works on a chunk, without synchronisation. */
double model_channel_transfer_us(const struct model_channel *channel,
                                 double chunk_bytes);

/* Synchronisation and the NIC's slice. */
double model_channel_wait_us(const struct model_channel *channel,
                             double chunk_bytes);

/* A chunk of a long stream, one slot each. */
double model_channel_stream_us(const struct model_channel *channel,
                               double chunk_bytes);

/*
 * From the first byte of a first chunk until the next hop can begin: with
 * Simple when all of it has come and its flag; LL and LL128 flag every line, so
 * with the first; but a NIC sends whole steps. links_us: what links take for it
 * beside others, while the CTA works.
 */
double model_channel_hop_us(const struct model_channel *channel,
                            double chunk_bytes,
                            double links_us);

#endif
