/*
 * protocol.c - the table of protocols.
 */
#include "model/protocol.h"

#include <math.h>

static const struct model_protocol_facts table[MODEL_PROTOCOLS] = {
    [MODEL_SIMPLE] = {.wire_ratio = 1.0, .slot_bytes = 524288.0, .slices = 2},
    [MODEL_LL] = {.wire_ratio = 2.0, .slot_bytes = 32768.0, .slices = 1},
    [MODEL_LL128] = {
        .wire_ratio = 128.0 / 120.0, .slot_bytes = 576000.0, .slices = 1}};

const struct model_protocol_facts *
model_protocol_facts(enum model_protocol protocol)
{
    return &table[protocol];
}

double model_protocol_chunk_bytes(enum model_protocol protocol,
                                  double chunk_bytes)
{
    return protocol == MODEL_SIMPLE
               ? chunk_bytes
               : fmin(chunk_bytes, table[protocol].slot_bytes);
}

double model_protocol_fifo_chunks(double chunk_bytes)
{
    double slots = chunk_bytes / table[MODEL_SIMPLE].slot_bytes;

    return MODEL_FIFO_SLOTS / (slots <= 1.0 ? 1.0 : slots <= 2.0 ? 2.0 : 4.0);
}
