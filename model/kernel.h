/*
 * kernel.h - what a computation kernel asks of a GPU: CTAs, arithmetic, HBM.
 *
 * A kernel is a grid of equal CTAs. SMs are the unit of scheduling: one SM
 * runs `ctas_per_sm` of them at once, called a load, and takes the next load
 * when it is done (schedule `waves`). The simulator decides when loads run.
 *
 * HBM bytes of a load lie between two bounds: what it reads when L2 keeps what
 * the CTAs of a wave share, and what it reads when L2 keeps nothing. Between
 * them by the share of L2 that is left: model_l2_share. Which bytes these are
 * is the matter of gemm.h, attention.h and streaming.h; here is what all
 * kernels have in common, and the kernel that is known by its totals.
 */
#ifndef MODEL_KERNEL_H
#define MODEL_KERNEL_H

#include "model/gpu.h"

enum model_schedule {
    MODEL_WAVES,      /* the next CTA starts where a slot frees */
    MODEL_PERSISTENT, /* at most one CTA per slot of the empty GPU, tiles
                         divided statically at launch: a CTA's time is that of
                         the most tiles, its bytes those of the mean */
    MODEL_STREAM_K,   /* work divides evenly over the slots it gets */
    MODEL_SCHEDULES
};

extern const char *const model_schedule_names[MODEL_SCHEDULES + 1];

/* A grid as the simulator runs it. */
struct model_kernel {
    enum model_schedule schedule;
    int loads;                  /* SM loads; stream_k: of the empty GPU */
    double load_us;             /* arithmetic of one load, its CTA's start and
                                   end with it */
    double load_bytes;          /* HBM bytes of one load, all L2 its own */
    double load_no_reuse_bytes; /* HBM bytes of one load without L2 */
    double working_set_bytes;   /* what a wave wants to keep in L2 */
    int sm_limit;               /* SMs it may use, 0: all */
    int cta_threads;            /* of one CTA; 0: it takes its SMs whole */
    int cta_registers;          /* per thread */
    double cta_shared_bytes;
    int ctas_per_sm; /* of one load, 0: as many as fit */
    bool overflows;  /* more CTAs than loads can count */
};

/*
 * A kernel known by its totals: ctas >= 1 CTAs, ctas_per_sm >= 1 of them on
 * an SM, flops and HBM bytes of the whole grid.
 */
struct model_kernel model_kernel_grid(const struct model_gpu *gpu,
                                      enum model_type type,
                                      enum model_kernel_class kernel_class,
                                      int ctas,
                                      int ctas_per_sm,
                                      double flops,
                                      double bytes,
                                      enum model_schedule schedule);

/*
 * Lay a kernel made for `waves` out for another schedule over so many slots.
 */
void model_kernel_schedule(struct model_kernel *kernel,
                           enum model_schedule schedule,
                           int slots);

/* Note what a CTA takes, and how many make a load. */
void model_kernel_set_cta(struct model_kernel *kernel,
                          const struct model_cta *cta,
                          int ctas_per_sm);

/* SMs that a kernel may use: the GPU's, or its own limit if that is less. */
int model_gpu_slots(const struct model_gpu *gpu, int sm_limit);

/* Peak of one SM for a class of kernel, flops/us. */
double model_gpu_sm_flops_per_us(const struct model_gpu *gpu,
                                 enum model_type type,
                                 enum model_kernel_class kernel_class);

/*
 * Share of its reuse that a wave keeps when others stream footprint_bytes
 * through L2, in [1/2, 1]; alone it keeps all, whatever the size of L2 (its
 * tiles go through K in step). Both fill the cache; when they do not fit
 * together, least-recently-used replacement leaves each a part in proportion to
 * what it keeps touching, at most the whole cache: share = min(1, L2 /
 * (min(working set, L2) + min(footprint, L2)))
 */
double model_l2_share(double l2_bytes,
                      double working_set_bytes,
                      double footprint_bytes);

/*
 * A time that the kernel cannot beat, whatever runs beside it, without launch:
 * some SM has at least loads / SMs (rounded up) loads, each of which takes its
 * arithmetic and its bytes over one SM's rate; and all bytes pass HBM.
 */
double model_kernel_bound_us(const struct model_kernel *kernel,
                             const struct model_gpu *gpu);

/*
 * Time on the empty GPU, without launch: waves of one load on each SM, then
 * what is left. A wave takes the arithmetic of a load, its bytes over one SM's
 * rate, or the bytes of all over HBM, whichever is longest.
 */
double model_kernel_alone_us(const struct model_kernel *kernel,
                             const struct model_gpu *gpu);

/* HBM bytes of one load when it keeps that share of its reuse. */
double model_kernel_load_bytes(const struct model_kernel *kernel,
                               double l2_share);

#endif
