/*
 * device.h - what lagom-replay asks of a GPU.
 *
 * The host's half (schedules, statistics, records) is plain C and knows a GPU
 * only by this table of functions; cuda.cu fills it, and tests have a GPU of
 * their own. Both compilers read this header, so it holds nothing but structs.
 *
 * Functions return true, or false with the reason in *fault. Works, streams and
 * events are small numbers that the caller picks (events, streams) or gets
 * (works); stream 0 is the one that may be held. One process has one device.
 */
#ifndef VALIDATE_REPLAY_DEVICE_H
#define VALIDATE_REPLAY_DEVICE_H

#include <stdbool.h>

enum replay_kind {
    REPLAY_GEMM,      /* cuBLAS; with `rows`, a product for each group */
    REPLAY_GRID,      /* CTAs that calculate and stream */
    REPLAY_RING_STEP, /* what a ring's steps do on one GPU */
    REPLAY_COLLECTIVE /* NCCL */
};

/* One launch. What its kind does not need is 0. */
struct replay_work {
    enum replay_kind kind;
    int type; /* enum model_type */

    /* REPLAY_GEMM: C[m x n] = A[m x k] B[k x n], row by row, batch times */
    double m, n, k, batch;
    const double *rows; /* m of each group; borrowed */
    int row_count;
    int sm_limit; /* 0: none */

    /* REPLAY_GRID */
    int ctas;    /* 0: enough to fill the GPU */
    int threads; /* of a CTA; 0: the device's usual number. REPLAY_RING_STEP:
                    that work, a warp more waits and posts */
    int ctas_per_sm;     /* at most; 0: as many as fit */
    double shared_bytes; /* of a CTA, also of REPLAY_RING_STEP */
    double flops, bytes; /* of all CTAs; half the bytes are read, half written
                          */
    bool tensor;         /* flops are matrix products, else fp32 FMAs */
    double working_set_bytes; /* > 0: `bytes` are only read, again and again
                                 from so many */

    /* REPLAY_RING_STEP, REPLAY_COLLECTIVE */
    int collective;    /* enum model_collective_kind */
    double size_bytes; /* as nccl-tests count it */
    int channels;      /* 0: NCCL's choice */
    double chunk_bytes;
    int group; /* index into the seat's groups */
    int shift; /* send_recv, send */
};

/* The ranks that a rank shares a communicator with, itself among them. */
struct replay_group {
    const int *ranks; /* in the communicator's order */
    int count;        /* 0: this rank is in none */
};

/* Where a process sits: its GPU, its rank, its groups. */
struct replay_seat {
    int gpu; /* index among those that CUDA shows */
    int rank, rank_count;
    const char *id_file; /* where rank 0 leaves NCCL's id; NULL: one rank */
    const struct replay_group *groups;
    int group_count;
    const int *priorities; /* of streams, larger first; NULL: all alike */
    int stream_count;      /* that have one */
};

struct replay_fault {
    char text[512]; /* "cuda.cu:120: cudaMalloc: out of memory" */
};

struct replay_description {
    char name[96];                                 /* "NVIDIA H200" */
    char device_id[16];                            /* "10de:2335", or "" */
    char cuda[32], driver[32], blas[32], nccl[32]; /* versions, or "" */
    int compute_capability;                        /* 90 */
    int sm_count;
    double l2_bytes, memory_bytes;
    double sm_clock_mhz, memory_clock_mhz; /* highest; 0: not known */
};

enum replay_combine { REPLAY_SUM, REPLAY_MAX };

struct replay_device; /* one that is open */

struct replay_driver {
    /* GPUs here, at least 1; 0 with the reason in *fault. */
    int (*count)(struct replay_fault *fault);

    /* Of NCCL, as 22809; 0: there is none. Needs no GPU. */
    int (*nccl_version)(void);

    /* NULL on failure. The seat is borrowed until close. */
    struct replay_device *(*open)(const struct replay_seat *seat,
                                  struct replay_fault *fault);
    void (*close)(struct replay_device *device); /* NULL is allowed */
    void (*describe)(struct replay_device *device,
                     struct replay_description *description);

    /* Buffers and kernel of a work: its number, or -1. */
    int (*make)(struct replay_device *device,
                const struct replay_work *work,
                struct replay_fault *fault);
    /* Forget all works and give their memory back. */
    bool (*drop)(struct replay_device *device, struct replay_fault *fault);

    bool (*launch)(struct replay_device *device,
                   int work,
                   int stream,
                   struct replay_fault *fault);
    /* Note the time when the stream comes here. */
    bool (*mark)(struct replay_device *device,
                 int event,
                 int stream,
                 struct replay_fault *fault);
    /* The stream goes on when the event, marked before, has come. */
    bool (*await)(struct replay_device *device,
                  int event,
                  int stream,
                  struct replay_fault *fault);

    /* The stream does nothing for so long. */
    bool (*pause)(struct replay_device *device,
                  int stream,
                  double us,
                  struct replay_fault *fault);

    /*
     * Keep what is launched on stream 0 from now on from running until release,
     * so that no launch is waited for; with several ranks until all are here.
     * The device lets go by itself after a few seconds, and finish fails then.
     */
    bool (*hold)(struct replay_device *device, struct replay_fault *fault);
    bool (*release)(struct replay_device *device, struct replay_fault *fault);

    /* Wait for all streams. */
    bool (*finish)(struct replay_device *device, struct replay_fault *fault);
    /* Between two marks that have come. */
    bool (*elapsed)(struct replay_device *device,
                    int from,
                    int to,
                    double *us,
                    struct replay_fault *fault);

    /* Of the SMs now, MHz; 0: not known. */
    double (*clock_mhz)(struct replay_device *device);
    /* Each value's sum or largest over the ranks, on every rank. */
    bool (*combine)(struct replay_device *device,
                    double *values,
                    int count,
                    enum replay_combine how,
                    struct replay_fault *fault);
    /* Compare results with the host's and print a line for each check; false
       when one is wrong. */
    bool (*self_test)(struct replay_device *device, struct replay_fault *fault);
};

#endif
