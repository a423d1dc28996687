/*
 * window.h - a result by overlap windows: who bound each, what it lost to whom.
 *
 * A window is a set of collectives and the kernels they run beside (the
 * `window` of an op; ops without one form one). Seen from rank 0, with times of
 * all equal instances (layers) of a window together:
 *
 *     total    some op of the window is under way (ready, not done)
 *     X        a collective of it is on the device
 *     Y        a kernel of it is on an SM
 *     exposed  a collective of it is on the device, no kernel of any window is
 *
 * Windows overlap in time, so their totals may add up to more than the
 * iteration; X, Y and exposed count each moment once per window.
 */
#ifndef SIM_WINDOW_H
#define SIM_WINDOW_H

#include "sim/sim.h"

/* What a window's time is made of, most of all. */
enum sim_window_bound {
    SIM_BOUND_KERNELS,     /* Y is the longer, and X runs beside it */
    SIM_BOUND_COLLECTIVES, /* X is the longer, and Y runs beside it */
    SIM_BOUND_TURNS,       /* they hardly overlap: X and Y add up */
    SIM_BOUND_IDLE,        /* most of the time nothing of it runs */
    SIM_WINDOW_BOUNDS
};

extern const char *const sim_window_bound_names[SIM_WINDOW_BOUNDS + 1];

/* Equal ops of a window. Sums over all of them, us and bytes. */
struct sim_part {
    int window;                 /* index */
    int op;                     /* the first of them */
    const char *label;          /* its id, with * for digits that differ */
    int count;                  /* ops */
    struct model_config config; /* collectives */
    double time_us;             /* from ready to end */
    double alone_us;
    struct sim_lost lost; /* adds up to time less alone */
    double hbm_bytes;
    double alone_hbm_bytes;
    /* kernels */
    double run_us;           /* with an SM */
    double waiting_us;       /* on the device, for the first SM */
    double beside_us;        /* while collectives move */
    double beside_hbm_bytes; /* that those take meanwhile */
    double held_sms;         /* the most that collectives hold meanwhile */
    double shared_sms;       /* of them, what it may have beside the channels */
    double footprint_bytes;  /* the most of L2 that they do */
    /* collectives */
    double wire_bytes; /* that a rank sends */
    double moving_us;
    int limited_by; /* as in struct sim_move, over all ops */
    double limited_us;
};

/* The kernels or the collectives of a window. */
struct sim_side {
    int op_count;
    double covered_us; /* Y or X */
    double time_us;    /* sum over ops, from ready to end */
    double alone_us;
    struct sim_lost lost;
};

struct sim_window {
    const char *name; /* or NULL */
    int count;        /* equal instances of which it consists, or 1 */
    double total_us;
    double exposed_us;
    double both_us; /* kernels and collectives of it at once */
    struct sim_side kernels;
    struct sim_side collectives;
};

struct sim_windows {
    struct sim_window *list;
    int count;
    struct sim_part *parts; /* in the order in which they first come */
    int part_count;
    int *part_of; /* by op; -1: rank 0 takes no part */
};

/*
 * The windows of a finished simulation. Everything lives in the arena; names
 * and labels may be those of the workload.
 */
struct sim_windows sim_windows_make(struct model_arena *arena,
                                    const struct sim_request *request,
                                    const struct sim_result *result);

/* Nothing of the window runs: launch latency, and waiting for others. */
double sim_window_idle_us(const struct sim_window *window);

/*
 * What bounds a window: idle when nothing of it runs for half of its time,
 * turns when less than a tenth of the shorter side runs beside the other, else
 * the longer side. A window of one side is bound by it.
 */
enum sim_window_bound sim_window_bound(const struct sim_window *window);

/* Add so many times a loss to a sum. */
void sim_lost_add(struct sim_lost *sum,
                  const struct sim_lost *lost,
                  double repeats);

/* Parts of a loss added up. */
double sim_lost_sum_us(const struct sim_lost *lost);

/* SMs of a GPU that a kernel may have beside the collectives; at least 1. */
double sim_part_sms(const struct sim_part *part, const struct model_gpu *gpu);

/*
 * Rounds of loads that a kernel needs on so many SMs; 1 for stream_k, which
 * divides its work evenly. sms >= 1.
 */
int sim_kernel_rounds(const struct model_kernel *kernel, double sms);

#endif
