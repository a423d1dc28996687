/*
 * window_cost.h - Lagom's cost model: one window in closed form.
 *
 * A window is M kernels, one after another, and N collectives, one after
 * another, that begin together (Lagom, arXiv 2602.20656, section 3.1 and 3.2):
 *
 *     Z = max(X, Y)    X = sum of x_j    Y = sum of y_i              (eq 1)
 *     y_i  = sum over the collectives j beside it of f_ij g_ij       (eq 4)
 *     g_ij = ceil(mu_i / ((lambda - NC_j) TB_i))                     (eq 5)
 *     f_ij = theta_ij
 *            + (lambda - NC_j) TB_i D_i / (B - V(NC_j, C_j))         (eq 6)
 *
 * with lambda SMs, NC_j channels, mu_i CTAs of which an SM holds TB_i, D_i
 * bytes of each, and B bytes/us of memory. The paper leaves open, and here is:
 *
 *   x_j      what the collective takes by itself (collective_time.h). The paper
 *            measures it; with the time alone X is separable, as its eq 2 has
 *            it.
 *   TB_i     the unit is the load of kernel.h, all CTAs an SM holds: mu / TB
 *            loads, D is bytes of a load. Beside a channel an SM may have room
 *            for some CTAs of the kernel (occupancy.h): lambda - NC_j grows by
 *            that room, as in the simulator. A kernel may have its own limit.
 *   theta_ij the arithmetic that moving the wave's bytes does not hide:
 *            max(0, arithmetic - bytes / bandwidth). Printed as a sum of all
 *            arithmetic and all bytes, f would count a GEMM, which overlaps
 *            them, nearly twice.
 *   V, D_i   no formula is given. V is the HBM traffic of the collective's own
 *            bytes at the rate it has alone: it grows with NC and C until a
 *            link is full. C acts besides by D_i: chunks of all channels pass
 *            through L2 and take its part from the kernel, whose loads then
 *            read more (model_l2_share).
 *   B - V    is never less than an even share: memory serves the flows of SMs
 *            and channels alike, and above that the collective gives way.
 *   g_ij     the last wave moves only what is left: it has the arithmetic of a
 *            wave, but not its bytes. A stream_k kernel has no such rest.
 *   eq 4     as printed each collective gets the whole mu_i. Here kernel i is
 *            beside j for as long as x_j lasts, and does y_ij's part of its
 *            work there, where y_ij = f_ij g_ij is its time wholly beside j;
 *            SMs that a collective gives back are taken at once.
 *   rest     kernels that outlast the collectives run on alone: NC = V = 0.
 *   launch   each op, of either kind, is on the device only a launch latency
 *            after it could be; in that gap collectives go on.
 *
 * Not here: how kernels slow collectives, by SMs that are not free yet, by
 * their memory traffic and their data in L2; the CPU's launch rate; windows
 * that reach into each other. How far that leads from the simulator `make
 * validate` prints.
 */
#ifndef MODEL_WINDOW_COST_H
#define MODEL_WINDOW_COST_H

#include "model/collective_time.h"
#include "model/kernel.h"

/* A collective, as the kernels beside it feel it. */
struct model_contender {
    double time_us;                    /* x_j, with its launch */
    int sms;                           /* NC_j; 0: it runs on none */
    const struct model_config *config; /* whose CTAs hold them; borrowed */
    double hbm_bytes_per_us;           /* V_j, all to itself */
    double hbm_flows;       /* that memory serves, in flows of one SM */
    double footprint_bytes; /* in L2 */
};

/* Of a collective without fault, on GPUs of one kind. Borrows config. */
struct model_contender
model_contender_make(const struct model_collective *collective,
                     const struct model_config *config,
                     const struct model_fabric *fabric,
                     const struct model_gpu *gpu);

struct model_window {
    const struct model_gpu *gpu;
    const struct model_kernel *const *kernels;
    int kernel_count;
    const struct model_contender *const *collectives;
    int collective_count;
};

struct model_window_cost {
    double x_us;
    double y_us;
    double z_us;
};

/* SMs for a kernel beside a collective, or beside none (NULL); >= 1. */
int model_window_sms(const struct model_gpu *gpu,
                     const struct model_kernel *kernel,
                     const struct model_contender *beside);

/* f: a wave of one load on each of so many SMs, beside a collective or none. */
double model_window_wave_us(const struct model_gpu *gpu,
                            const struct model_kernel *kernel,
                            const struct model_contender *beside,
                            double sms);

/* f times g: the whole kernel beside a collective or none, without launch. */
double model_window_kernel_us(const struct model_gpu *gpu,
                              const struct model_kernel *kernel,
                              const struct model_contender *beside);

/* X, Y and Z. kernel_us, when not NULL, gets y of each kernel. */
struct model_window_cost model_window_cost(const struct model_window *window,
                                           double *kernel_us);

#endif
