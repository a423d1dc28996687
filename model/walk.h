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
    double whole_us;      /* the same, 0 where lines are passed on */
    double trip_us;       /* round trips */
    double device_fifos;  /* transfers whose FIFO is in device memory */
    double network_sends; /* where the NIC reads the sender's memory */
    /* extremes */
    double slowest_us;        /* transfer of one chunk */
    double crowded_us;        /* the same with no FIFO in L2 */
    double slowest_stream_us; /* of one chunk in a stream, with its own sync */
    double forward_us;        /* a NIC's of one chunk */
    /* of the way of first chunks, once model_walk_time_first was called */
    double flow_ratio;
    double first_weight;
    double first_us;    /* with links of their own */
    double near_weight; /* of transfers within a node */
    double near_us;     /* most that sharing the links adds to one */
    double queue_us;
    double in_flight_bytes; /* of the slowest, on the wire */
    bool by_line;           /* no hop waits for a whole chunk */
    const char *fault;      /* why the protocol cannot run here, or NULL */
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
 * From here on transfers, all of which have been walked, are not counted again:
 * their first chunks are timed. Within a node the CTAs share the links with
 * flow_ratio, above 0, of all flows. NICs send one chunk after another: those
 * that leave together come apart, and queue only once on the way, queue_us.
 */
void model_walk_time_first(struct model_walk *walk, double flow_ratio);

/*
 * One transfer: `flows` channels (or a share of one) send what the collective
 * counts as progress of a channel from one rank to another. nic is that used
 * between nodes. Returns how soon the receiver can pass a first chunk on: with
 * links of its own unless first chunks are timed.
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
 * of that where a hop waits for a whole chunk, 0 where it passes lines on. */
double model_walk_wait_us(const struct model_walk *walk);
double model_walk_stream_us(const struct model_walk *walk);
double model_walk_whole_us(const struct model_walk *walk);

/*
 * Mean time until a first chunk can be passed on, within a node as on its
 * busiest link.
 */
double model_walk_hop_us(const struct model_walk *walk);

/*
 * What the last rank of a stream has had when a first chunk has come all the
 * way: the chunk, unless all is passed on by lines.
 */
double model_walk_first_bytes(const struct model_walk *walk);

/* Part of the transfers that pass the network; and what links let one flow do
 * in the others, HUGE_VAL: no limit. */
double model_walk_network_ratio(const struct model_walk *walk);
double model_walk_near_bytes_per_us(const struct model_walk *walk);

/* Mean part of a step in which nothing moves: a round trip, and the wait. */
double model_walk_latency_us(const struct model_walk *walk);

/* The links in ascending order, in the arena; empties the walk's table. */
const struct model_use *model_walk_uses(struct model_walk *walk, int *count);

#endif
