/*
 * problem.h - what a search has to decide, and what a measurement tells.
 *
 * Collectives of one window, kind, size and group, with the same keys fixed in
 * their ops, are one class: they get one configuration. A window is a set of
 * collectives and the kernels they run beside; for each window a measurement
 * gives X, the time of its collectives, and Y, the time of its kernels (Lagom,
 * arXiv 2602.20656, eq. 1).
 */
#ifndef SEARCH_PROBLEM_H
#define SEARCH_PROBLEM_H

#include "sim/sim.h"

struct search_class {
    const char *window; /* or NULL */
    int kind;           /* enum model_op_kind */
    double bytes;
    int group;
    int shift;                    /* send_recv, send */
    struct model_config fixed;    /* keys that the ops themselves give */
    struct model_config baseline; /* what NCCL itself would choose */
    int window_index;
    int op_count;
};

struct search_problem {
    const struct model_topology *topology;
    const struct model_workload *workload;
    const struct model_nccl *nccl; /* that decides where nothing is tuned */
    struct search_class *classes;
    int class_count;
    const char **windows;
    int window_count;
    int *class_of;  /* by op, -1: no collective, or fully fixed */
    int *window_of; /* by op */
};

/* One evaluation of a plan. Arrays are the caller's, by class or window. */
struct search_measure {
    double iteration_us;
    double *x_us;      /* mean time of a collective of the class */
    double *comm_us;   /* X of each window */
    double *kernel_us; /* Y of each window */
};

/*
 * Find the classes and windows of NCCL's workload. Everything lives in the
 * arena and borrows nccl.
 */
void search_problem_make(struct model_arena *arena,
                         const struct model_nccl *nccl,
                         struct search_problem *problem);

void search_measure_make(struct model_arena *arena,
                         const struct search_problem *problem,
                         struct search_measure *measure);

/* Sum a simulation's result up by class and window. */
void search_measure_fill(const struct search_problem *problem,
                         const struct sim_result *result,
                         struct search_measure *measure);

/* Put the keys that the ops themselves give over configurations by class. */
void search_pin(const struct search_problem *problem,
                struct model_config *configs);

/* The plan that gives each class its configuration; lives in the arena. */
struct model_plan search_plan(struct model_arena *arena,
                              const struct search_problem *problem,
                              const struct model_config *configs,
                              const char *strategy);

#endif
