/*
 * protocol.h - NCCL's three protocols: how data and the news of its arrival
 * travel together.
 *
 *     Simple   data, then a fence and a flag for each slice
 *     LL       each 8 bytes with a flag of 8 bytes: no fence, twice the bytes
 *     LL128    120 bytes and a flag of 8 in each 128-byte store, which the
 *              path must keep whole: NVLink only
 *
 * The numbers are NCCL's own (2.18.3: src/include/devcomm.h, src/init.cc,
 * docs of NCCL_BUFFSIZE, NCCL_LL_BUFFSIZE, NCCL_LL128_BUFFSIZE).
 */
#ifndef MODEL_PROTOCOL_H
#define MODEL_PROTOCOL_H

#include "model/config.h"

/* Slots of the FIFO between two neighbours on one channel. */
enum { MODEL_FIFO_SLOTS = 8 };

struct model_protocol_facts {
    double wire_ratio; /* bytes on the wire per byte of payload */
    double slot_bytes; /* payload of one FIFO slot; Simple: by default */
    int slices;        /* of a ring's chunk, each with its own flag */
};

const struct model_protocol_facts *
model_protocol_facts(enum model_protocol protocol);

/*
 * Payload of one step at most: with LL and LL128 one slot. A Simple ring's
 * chunk is half of NCCL_BUFFSIZE, which the configuration implies.
 */
double model_protocol_chunk_bytes(enum model_protocol protocol,
                                  double chunk_bytes);

/*
 * How many chunks of a Simple ring are in a FIFO at most: a chunk takes 1, 2 or
 * 4 of its slots (AutoCCL: github.com/gbxu/autoccl, src/tune_plans.h), NCCL's
 * own 4.
 */
double model_protocol_fifo_chunks(double chunk_bytes);

#endif
