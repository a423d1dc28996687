/*
 * walk.h - sums up what the transfers of a collective ask of links and of a
 * CTA. Algorithms name their transfers; the walk finds routes and adds.
 *
 * For the files that model algorithms; not for users of a collective.
 */
#ifndef MODEL_WALK_H
#define MODEL_WALK_H

#include "model/channel.h"
#include "model/group.h"

/* A link and how many channel flows of the collective pass it. */
struct model_use {
    int link;
    double flows;
};

struct model_walk {
    struct model_arena *arena;
    const struct model_fabric *fabric;
    /* of the collective at hand */
    enum model_protocol protocol;
    enum model_transport transport;
    struct model_channel_role role;
    double chunk_bytes; /* payload of one step */
    double count_ratio; /* of the transfers that follow, how many there are for
                           each flow: 1, or less where not all nodes have one */
    /* sums, weighted by flows */
    double weight;
    double wait_us;
    double stream_us;
    double hop_us;
    double trip_us;       /* round trips */
    double device_fifos;  /* transfers whose FIFO is in device memory */
    double network_sends; /* where the NIC reads the sender's memory */
    /* extremes */
    double slowest_us;        /* transfer of one chunk */
    double crowded_us;        /* the same with no FIFO in L2 */
    double slowest_stream_us; /* of one chunk in a stream, with its own sync */
    double in_flight_bytes;   /* of the slowest, on the wire */
    bool by_line;             /* no hop waits for a whole chunk */
    const char *fault;        /* why the protocol cannot run here, or NULL */
    /* by link, zero between collectives */
    double *flows;
    int *touched;
    int touched_count;
};

/* An empty walk over a fabric, to be used for any number of collectives. */
struct model_walk *model_walk_new(struct model_arena *arena,
                                  const struct model_fabric *fabric);

/*
 * Begin a collective of that configuration with steps of chunk_bytes. The role
 * is that of a CTA in each transfer; its threads need not be the config's.
 */
void model_walk_start(struct model_walk *walk,
                      const struct model_config *config,
                      const struct model_channel_role *role,
                      double chunk_bytes);

/*
 * One transfer: `flows` channels (or a share of one) send what the collective
 * counts as progress of a channel from one rank to another. nic is that used
 * between nodes. Returns how soon the receiver can pass a chunk on.
 */
double model_walk_send(
    struct model_walk *walk, int from_rank, int to_rank, int nic, double flows);

/*
 * The same for a pair on its own, not part of a ring: its channels are dealt
 * out over the NICs beside its GPUs.
 */
double model_walk_pair(struct model_walk *walk,
                       int from_rank,
                       int to_rank,
                       double flows);

/* So many flows on one link, where there is no hop. */
void model_walk_link(struct model_walk *walk, int link, double flows);

/* Means over the transfers: of the waits of a step, of a chunk in a stream, and
 * of the time until a chunk can be passed on. */
double model_walk_wait_us(const struct model_walk *walk);
double model_walk_stream_us(const struct model_walk *walk);
double model_walk_hop_us(const struct model_walk *walk);

/*
 * Until the last rank of a stream is at the pace of the first: the way of a
 * first chunk over its hops. Unless all is passed on by lines, it has then had
 * the whole chunk, which at the pace of stream_us is counted once more.
 */
double model_walk_fill_us(const struct model_walk *walk,
                          double path_us,
                          double stream_us);

/* Bytes that are moved in that time, one chunk after another over the hops. */
double model_walk_fill_bytes(const struct model_walk *walk, double hops);

/* Mean part of a step in which nothing moves: a round trip, and the wait. */
double model_walk_latency_us(const struct model_walk *walk);

/* The links in ascending order, in the arena; empties the walk's table. */
const struct model_use *model_walk_uses(struct model_walk *walk, int *count);

#endif
