/*
 * nccl_tuning.h - NCCL's own model of its algorithms, and what it chooses.
 *
 * NCCL 2.18.3: graph/tuning.cc, enqueue.cc. For a communicator each pair of
 * algorithm and protocol has a latency and a bandwidth; a collective of M bytes
 * takes
 *
 *     t = latency * latency_count + M / bandwidth
 *
 * by that model, and the least time wins. Small messages then get fewer
 * channels, then fewer threads; the chunk follows from what is left.
 */
#ifndef MODEL_NCCL_TUNING_H
#define MODEL_NCCL_TUNING_H

#include "model/nccl_comm.h"

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

/* What shrank when a message was too small for the whole grid. */
enum model_nccl_cause {
    MODEL_NCCL_AS_SEARCHED, /* what the communicator has */
    MODEL_NCCL_FEWER_CHANNELS,
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
    int algorithm, protocol; /* NCCL's enumerations; what won */
    int channels;
    int threads;        /* workers */
    int extra_warps;    /* that synchronise, beside the workers */
    double chunk_bytes; /* payload of one step of one channel */
    /* The way there: one step per cause that changed something, in order. */
    struct model_nccl_step steps[MODEL_NCCL_STEPS_MAX];
    int step_count;
};

/*
 * What NCCL does with M bytes (> 0). size_bytes is counted as nccl-tests count
 * it (collective.h), which for these is NCCL's count too.
 */
void model_nccl_choose(const struct model_nccl_tuning *tuning,
                       enum model_nccl_function function,
                       double size_bytes,
                       struct model_nccl_choice *choice);

/*
 * The same for send and receive: bytes to one peer, of `peers` peers at once.
 * Protocol, channels (the whole kernel's), 640 threads, chunk by the farthest
 * path.
 */
void model_nccl_choose_p2p(const struct model_nccl_comm *comm,
                           double peer_bytes,
                           int peers,
                           struct model_nccl_choice *choice);

#endif
