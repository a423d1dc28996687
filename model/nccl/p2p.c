/*
 * p2p.c - how NCCL sends and receives (2.18.3: src/enqueue.cc,
 * scheduleP2pTasksToPlan, addP2pToPlan, src/include/channel.h; 2.30.7 the
 * same).
 *
 * A message to one peer is dealt to some of the channels that a peer may use:
 * to few at first, when many peers are served at once, to twice as many as long
 * as a part is longer than NCCL likes. Parts are multiples of an eighth of a
 * step in 2.18 ("aligned"), even later ("even").
 *
 * Reversed bits spread parts over channels, the second half of them away, the
 * third a quarter; in the even way they spread peers instead. On one node each
 * peer has channels of its own as long as there are some; to another node all
 * of its GPUs share them, eight to a CTA.
 */
#include "model/nccl/tuning_parts.h"

#include "model/protocol.h"

#include <math.h>

enum {
    CHANNELS_MAX = 64, /* of any version */
    LOAD_BYTES = 16    /* NCCL itself breaks with shorter chunks */
};

static double step_bytes(const struct model_nccl_comm *comm)
{
    const struct model_nccl_p2p_data *data = &comm->version->tuning.p2p;
    const struct model_nccl_settings *settings = comm->settings;
    double slot = floor(model_nccl_buffer_bytes(comm, MODEL_NCCL_SIMPLE) /
                        MODEL_FIFO_SLOTS);
    double set = comm->node_count > 1 ? settings->p2p_net_chunk_bytes
                 : comm->all_nvlink   ? settings->p2p_nvl_chunk_bytes
                                      : settings->p2p_pci_chunk_bytes;
    double unset = comm->node_count > 1 ? data->net_chunk_bytes
                   : comm->all_nvlink   ? data->nvl_chunk_bytes
                                        : data->pci_chunk_bytes;

    return fmax(8 * LOAD_BYTES, fmin(slot, set > 0.0 ? set : unset));
}

/* Channels of one peer that a message takes. */
struct parts {
    int count;
    double bytes; /* of the first */
};

static void
channel_range(const struct model_nccl_comm *comm, int *least, int *most)
{
    bool aligned = comm->version->tuning.p2p.parts == MODEL_NCCL_P2P_ALIGNED;

    *most = comm->p2p_channels_per_peer;
    *least = *most;
    if (aligned && comm->node_count > 1) {
        return;
    }
    while (*least * comm->rank_count > comm->p2p_channels && *least > 1) {
        *least /= 2;
    }
    while (aligned && *most * comm->rank_count > comm->p2p_channels * 4 &&
           *most > 1) {
        *most /= 2;
    }
}

static struct parts
parts_of(const struct model_nccl_comm *comm, double step, double bytes)
{
    bool aligned = comm->version->tuning.p2p.parts == MODEL_NCCL_P2P_ALIGNED;
    bool across = comm->node_count > 1;
    double shortest = floor(across && !aligned ? step / 2.0 : step / 8.0);
    double longest = across ? step : step * 32.0;
    struct parts parts;
    int most;

    channel_range(comm, &parts.count, &most);
    if (!aligned) {
        parts.count = (int)fmin(parts.count, ceil(bytes / shortest));
    }
    parts.bytes = fmax(shortest, ceil(bytes / parts.count));
    while (parts.bytes > longest && parts.count <= most / 2) {
        parts.count *= 2;
        parts.bytes = ceil(bytes / parts.count);
    }
    if (aligned) {
        parts.bytes = fmin(bytes, ceil(parts.bytes / shortest) * shortest);
        parts.count = (int)ceil(bytes / parts.bytes);
    } else {
        parts.bytes = ceil(bytes / parts.count);
    }
    return parts;
}

/* FIFOs of LL are not allocated towards NICs. */
static int protocol_of(const struct model_nccl_comm *comm,
                       const struct parts *parts,
                       double bytes)
{
    double set = comm->settings->p2p_ll_threshold_bytes;
    double most =
        set >= 0.0 ? set : comm->version->tuning.p2p.ll_threshold_bytes;
    bool fits = comm->version->tuning.p2p.parts == MODEL_NCCL_P2P_ALIGNED
                    ? parts->bytes <= most
                    : bytes <= parts->count * most;

    return fits && comm->node_count == 1 ? MODEL_NCCL_LL : MODEL_NCCL_SIMPLE;
}

/* A message that does not fill some steps goes in shorter ones to a NIC. */
static double chunk_of(const struct model_nccl_comm *comm,
                       double step,
                       const struct parts *parts,
                       double bytes)
{
    double counted = comm->version->tuning.p2p.parts == MODEL_NCCL_P2P_ALIGNED
                         ? parts->bytes
                         : bytes;

    return comm->node_count == 1  ? step
           : counted < step       ? step / 4.0
           : counted < 8.0 * step ? step / 2.0
                                  : step;
}

static int reversed(int value, int count)
{
    int result = 0;

    for (int bit = 1; bit < count; bit *= 2) {
        result = result * 2 + (value & bit ? 1 : 0);
    }
    return result;
}

/* The channel of a part, for the peer so many steps away. */
static int channel_of(const struct model_nccl_comm *comm, int peer, int part)
{
    const struct model_nccl_p2p_data *data = &comm->version->tuning.p2p;
    int ranks = comm->ranks_per_node, channels = comm->p2p_channels;
    bool aligned = data->parts == MODEL_NCCL_P2P_ALIGNED;
    int ctas =
        aligned ? 1 : (ranks + data->peers_per_cta - 1) / data->peers_per_cta;
    int base = comm->node_count == 1
                   ? peer
                   : peer / ranks * ctas + peer % ranks / data->peers_per_cta;

    return (aligned ? base + reversed(part, channels)
                    : reversed(base, channels) + part) %
           channels;
}

/* Different channels that the parts of all peers are on. */
static int channels_of(const struct model_nccl_comm *comm, int peers, int parts)
{
    bool used[CHANNELS_MAX] = {false};
    int count = 0;

    for (int peer = 0; peer < peers; peer++) {
        for (int part = 0; part < parts; part++) {
            int channel = channel_of(comm, peer, part);

            count += used[channel] ? 0 : 1;
            used[channel] = true;
        }
    }
    return count;
}

static void
note_smaller(struct model_nccl_choice *choice, int channels, double chunk_bytes)
{
    if (channels < choice->channels) {
        choice->channels = channels;
        model_nccl_choice_note(choice, MODEL_NCCL_CHANNELS_OF_PEERS);
    }
    if (chunk_bytes < choice->chunk_bytes) {
        choice->chunk_bytes = chunk_bytes;
        model_nccl_choice_note(choice, MODEL_NCCL_SMALLER_CHUNK);
    }
}

void model_nccl_choose_p2p(const struct model_nccl_comm *comm,
                           double peer_bytes,
                           int peers,
                           struct model_nccl_choice *choice)
{
    double step = step_bytes(comm);
    struct parts parts = parts_of(comm, step, peer_bytes);
    int protocol = protocol_of(comm, &parts, peer_bytes);

    *choice = (struct model_nccl_choice){
        .function = MODEL_UNSET,
        .bytes = peer_bytes,
        .algorithm = MODEL_NCCL_RING,
        .protocol = protocol,
        .transport = comm->transport,
        .channels = comm->p2p_channels,
        .threads = comm->version->tuning.threads.cta,
        .channel_bytes = parts.bytes,
        .chunk_bytes =
            protocol == MODEL_NCCL_LL
                ? fmax(LOAD_BYTES,
                       floor(model_nccl_buffer_bytes(comm, protocol) /
                             MODEL_FIFO_SLOTS / 2.0))
                : step};
    for (int a = 0; a < MODEL_NCCL_ALGORITHMS; a++) {
        for (int p = 0; p < MODEL_NCCL_PROTOCOLS; p++) {
            choice->time_us[a][p] = -1.0;
        }
    }
    model_nccl_choice_note(choice, MODEL_NCCL_AS_SEARCHED);
    note_smaller(choice, channels_of(comm, peers, parts.count),
                 protocol == MODEL_NCCL_LL
                     ? choice->chunk_bytes
                     : chunk_of(comm, step, &parts, peer_bytes));
}
