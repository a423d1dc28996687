/*
 * collective.h - what one collective under one configuration asks of the
 * machine: bytes, channel rate, links, memory, cache.
 *
 * `size` is counted as nccl-tests count it. n ranks, M bytes:
 *
 *     kind            M is                     algorithms
 *     all_gather      the gathered buffer      ring nvls pat copy_engine
 *     reduce_scatter  the scattered buffer     ring nvls pat
 *     all_reduce      the buffer               ring tree nvls nvls_tree
 *     broadcast       the buffer, from the     ring
 *     reduce          first member, to it      ring
 *     all_to_all      what one rank holds      pairwise copy_engine
 *     send_recv       what each rank sends     pairwise
 *     send            what one rank sends      pairwise
 *     ring_step       the buffer of one rank   ring
 *
 * Each algorithm counts its progress in bytes of one channel; the simulator
 * lets all channels of all ranks progress at one rate, the largest that the
 * channel's cap, the links and the memories allow, after a time to fill the
 * pipeline. A file collective_*.c says how an algorithm counts, and why.
 *
 * Channels share a link, each waiting between its steps while others use it.
 * But they all begin together: in the first first_steps steps, until the first
 * chunk of each has arrived, all wait at once and the link is idle then, so
 * that such a step lasts its latency plus its bytes at the link's pace
 * (AutoCCL, NSDI'25, eq. 2). Short collectives have no other steps. Chains,
 * trees and pairs have none of these: nobody waits for another's step, so links
 * are idle only until the first chunk has come, which fill_us counts.
 */
#ifndef MODEL_COLLECTIVE_H
#define MODEL_COLLECTIVE_H

#include "model/walk.h"

enum model_collective_kind {
    MODEL_ALL_GATHER,
    MODEL_REDUCE_SCATTER,
    MODEL_ALL_REDUCE,
    MODEL_BROADCAST,
    MODEL_REDUCE,
    MODEL_ALL_TO_ALL,
    MODEL_SEND_RECV, /* each member to the one `shift` members further */
    MODEL_SEND,      /* of two members: shift 1 first to second, -1 back */
    MODEL_RING_STEP, /* of one member: see collective_step.c */
    MODEL_COLLECTIVE_KINDS
};

extern const char *const model_collective_names[MODEL_COLLECTIVE_KINDS + 1];

/* What is to be done. */
struct model_collective_task {
    enum model_collective_kind kind;
    double size_bytes;                 /* > 0 */
    int shift;                         /* send_recv, send; 0 counts as 1;
                                          a multiple of count moves nothing */
    const struct model_group *group;   /* count >= 1; folded: may be a family */
    const struct model_config *config; /* complete */
};

/* What the simulator needs; lives in the arena given to the maker. */
struct model_collective {
    int rank_count;
    int channels;
    int sms;                     /* SMs held on each rank */
    double channel_bytes;        /* progress of one channel in all */
    double channel_bytes_per_us; /* the most one channel reaches, with sync */
    double crowded_bytes_per_us; /* the same beside kernels, whose data drive
                                    the FIFOs out of L2 */
    double start_us;             /* of the kernel, before and after all steps */
    double fill_us;              /* from a first step to steady progress */
    double first_bytes;          /* progress that is made in fill_us */
    double handover_ratio;       /* of fill_us, that is paid once by equal ones
                                    in a row: see collective_time.h */
    double fill_bytes;           /* progress that a first chunk's way is: at
                                    the links' pace it may take longer */
    double step_latency_us;      /* part of a step in which nothing is moved */
    double step_bytes;           /* progress of a step */
    double network_ratio;        /* part of the steps that pass the network */
    double near_bytes_per_us;    /* what links let a channel do in the others */
    int first_steps;             /* that channels begin together; see below */
    double chunk_bytes;          /* C_eff */
    double in_flight_bytes;      /* per channel, over the slowest hop */
    double hbm_ratio;            /* HBM bytes of a rank per byte of progress */
    double crowded_hbm_ratio;    /* the same beside kernels */
    double footprint_bytes;      /* one chunk of each channel: on its way
                                    through L2 to or from the user buffer,
                                    wherever the FIFO is */
    double bus_factor;           /* busbw / algbw */
    const struct model_use *uses; /* shown links, ascending */
    int use_count;
    const char *fault; /* why it cannot run so on this machine, or NULL */
};

/* busbw / algbw of nccl-tests. */
double model_collective_bus_factor(enum model_collective_kind kind,
                                   int rank_count);

/* Whether the algorithm can do that at all, on some machine. */
bool model_collective_runs(enum model_collective_kind kind,
                           enum model_algorithm algorithm);

/* The first algorithm of the table that can. */
enum model_algorithm
model_collective_algorithm(enum model_collective_kind kind);

/* Why a configuration cannot run on this GPU, or NULL when it can. */
const char *model_collective_fault(const struct model_topology *topology,
                                   enum model_collective_kind kind,
                                   const struct model_config *config);

/*
 * The collective's demands. config without fault by the function above; what
 * depends on group and wiring is in result.fault. With one rank nothing moves
 * (channel_bytes 0), but in a ring_step. walk is scratch over the fabric.
 */
struct model_collective
model_collective_make(struct model_walk *walk,
                      const struct model_collective_task *task);

#endif
