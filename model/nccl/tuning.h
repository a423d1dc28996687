/*
 * tuning.h - NCCL's own model of its algorithms, and what it chooses.
 *
 * NCCL 2.18.3: graph/tuning.cc, enqueue.cc. For a communicator each pair of
 * algorithm and protocol has a latency and a bandwidth; a collective of M bytes
 * takes
 *
 *     t = latency * latency_count + M / bandwidth
 *
 * by that model, and the least time wins. latency_count is 1 for a collective
 * that is not grouped with others, as all are here. Small messages then get
 * fewer channels, then fewer threads; the chunk follows from what is left.
 */
#ifndef MODEL_NCCL_TUNING_H
#define MODEL_NCCL_TUNING_H

#include "model/nccl/comm.h"

struct model_nccl_pair {
    double bytes_per_us; /* algorithm bandwidth; 0: not to be used */
    double latency_us;
    const char *off; /* why not to be used, in words; NULL: it may be */
};

struct model_nccl_tuning {
    const struct model_nccl_comm *comm;
    int threads[MODEL_NCCL_ALGORITHMS][MODEL_NCCL_PROTOCOLS]; /* workers */
    double threshold_bytes[MODEL_NCCL_ALGORITHMS][MODEL_NCCL_PROTOCOLS];
    struct model_nccl_pair pairs[MODEL_NCCL_FUNCTIONS][MODEL_NCCL_ALGORITHMS]
                                [MODEL_NCCL_PROTOCOLS];
};

/* The table of a communicator, which is borrowed. */
void model_nccl_tuning_make(const struct model_nccl_comm *comm,
                            struct model_nccl_tuning *tuning);

/* What is less than the communicator has, for a message of that size. */
enum model_nccl_cause {
    MODEL_NCCL_AS_SEARCHED, /* what the communicator has */
    MODEL_NCCL_FEWER_CHANNELS,
    MODEL_NCCL_CHANNELS_OF_PEERS, /* those that its peers are dealt */
    MODEL_NCCL_FEWER_THREADS,
    MODEL_NCCL_SMALLER_CHUNK,
    MODEL_NCCL_CAUSES
};

struct model_nccl_step {
    int cause; /* enum model_nccl_cause */
    int channels, threads;
    double chunk_bytes;
};

enum { MODEL_NCCL_STEPS_MAX = 16 };

struct model_nccl_choice {
    int function; /* enum model_nccl_function; MODEL_UNSET: send and receive */
    double bytes; /* M, as NCCL counts it: the larger of both buffers */
    double time_us[MODEL_NCCL_ALGORITHMS][MODEL_NCCL_PROTOCOLS]; /* < 0: off */
    /* NCCL's enumerations: what won. MODEL_UNSET, and nothing chosen below,
     * when NCCL_ALGO and NCCL_PROTO leave nothing: NCCL fails then. */
    int algorithm, protocol;
    int transport; /* enum model_transport */
    int channels;
    int threads;          /* workers */
    int extra_warps;      /* that synchronise, beside the workers */
    double channel_bytes; /* of M: what the first channel has of it */
    double chunk_bytes;   /* payload of one step of one channel */
    /* The way there: one step per cause that changed something, in order. */
    struct model_nccl_step steps[MODEL_NCCL_STEPS_MAX];
    int step_count;
};

/* The time of a pair by NCCL's model, M > 0; negative where it is off. */
double model_nccl_time_us(const struct model_nccl_tuning *tuning,
                          enum model_nccl_function function,
                          int algorithm,
                          int protocol,
                          double bytes);

/*
 * LL128 wants 128 bytes to arrive as they were sent. Why NCCL does not trust
 * the communicator to do that with an algorithm, or NULL where it does.
 */
const char *model_nccl_ll128_off(const struct model_nccl_comm *comm,
                                 int algorithm);

/*
 * What NCCL does with M bytes (> 0). Of equal times the first in the order of
 * the enumerations wins. A step of a ring may move less than chunk_bytes, where
 * a rank has less of a channel; the simulator sees to that. size_bytes is
 * counted as nccl-tests count it (collective.h), which for these is NCCL's
 * count too.
 */
void model_nccl_choose(const struct model_nccl_tuning *tuning,
                       enum model_nccl_function function,
                       double size_bytes,
                       struct model_nccl_choice *choice);

/*
 * How a pair runs that NCCL does not choose here, or not at all: channels,
 * threads, chunk and steps of a choice that was made.
 */
void model_nccl_settle(const struct model_nccl_tuning *tuning,
                       int algorithm,
                       int protocol,
                       struct model_nccl_choice *choice);

/*
 * The same for send and receive: bytes (> 0) to each of `peers` (>= 1) peers
 * at once, as an all_to_all does, nearest first. Protocol of a channel's first
 * part, channels of the whole kernel, threads of a full CTA, chunk by the
 * farthest path that the communicator has.
 */
void model_nccl_choose_p2p(const struct model_nccl_comm *comm,
                           double peer_bytes,
                           int peers,
                           struct model_nccl_choice *choice);

/*
 * What the simulator is to run. Send and receive are pairwise. Nothing is set
 * when nothing was chosen.
 */
struct model_config model_nccl_config(const struct model_nccl_choice *choice);

#endif
