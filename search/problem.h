/*
 * problem.h - what a search has to decide, and what a measurement tells.
 *
 * Equal collectives (windows.h) of one overlap window are one class: they get
 * one configuration. For each window a measurement gives X, the time of its
 * collectives, and Y, the time of the kernels that can hide them (Lagom, arXiv
 * 2602.20656, eq. 1).
 *
 * A class whose collectives take less than SEARCH_FOLLOWS of the time of equal
 * ones in another window, such as those of the first and last layer, is not
 * tuned: it joins the class of those (of the same label, if there are such),
 * and may cost at most what such a share of that time is worth. A window of
 * which nothing else is left is dropped.
 */
#ifndef SEARCH_PROBLEM_H
#define SEARCH_PROBLEM_H

#include "search/windows.h"

/* Time of a class over that of the one that it joins. */
#define SEARCH_FOLLOWS 0.1

struct search_class {
    const char *window; /* its name, or NULL */
    int kind;           /* enum model_op_kind */
    double bytes;
    int group;
    int shift;                    /* send_recv, send */
    struct model_config fixed;    /* keys that the ops themselves give */
    struct model_config baseline; /* what NCCL itself would choose */
    int window_index;
    int op_count; /* of the iteration, not only of those listed */
};

/* A row of a plan, and the class whose configuration it gives. */
struct search_row {
    struct model_plan_row row; /* its configuration is not set */
    int class_index;
};

struct search_problem {
    const struct model_topology *topology;
    const struct model_workload *workload;
    const struct model_nccl *nccl; /* that decides where nothing is tuned */
    struct search_class *classes;
    int class_count;
    /* Names: the label of the file, numbered where it has several windows;
     * NULL: the only one without a label. */
    const char **windows;
    int *instances; /* by window: equal ones that it stands for */
    int window_count;
    int *class_of;  /* by op, -1: no collective, or fully fixed */
    int *window_of; /* by collective, -1: in none */
    int *beside_of; /* by kernel: its first in beside, or -1 */
    struct search_beside *beside;
    struct search_row *rows; /* of each plan */
    int row_count;
};

/* Parts of an iteration, as sim_result has them; NAN where not known. */
struct search_busy {
    double compute_us; /* some kernel runs */
    double comm_us;    /* some collective runs */
    double exposed_us; /* a collective runs and no kernel does */
};

/* One evaluation of a plan. Arrays are the caller's, by class or window. */
struct search_measure {
    double iteration_us;
    double spread_us; /* of the iteration: between the quartiles of measured
                         ones; 0: exact, or not said */
    struct search_busy busy;
    double *x_us;      /* mean time of a collective of the class */
    double *comm_us;   /* X of each window */
    double *kernel_us; /* Y of each window */
};

/*
 * Find the classes and windows of NCCL's workload, by one simulation under
 * NCCL's settings. Everything lives in the arena and borrows nccl.
 */
void search_problem_make(struct model_arena *arena,
                         const struct model_nccl *nccl,
                         struct search_problem *problem);

/*
 * Let the windows be those that the file labels, one for the ops without, and
 * every op be in one: for reports that show them. Classes stay.
 */
void search_problem_label(struct model_arena *arena,
                          struct search_problem *problem);

void search_measure_make(struct model_arena *arena,
                         const struct search_problem *problem,
                         struct search_measure *measure);

void search_measure_copy(const struct search_problem *problem,
                         const struct search_measure *from,
                         struct search_measure *to);

/* Sum a simulation's result up by class and window. */
void search_measure_fill(const struct search_problem *problem,
                         const struct sim_result *result,
                         struct search_measure *measure);

/* Add the time of a kernel op to the windows that it is in. */
void search_measure_kernel(const struct search_problem *problem,
                           int op,
                           double time_us,
                           struct search_measure *measure);

/* Put the keys that the ops themselves give over configurations by class. */
void search_pin(const struct search_problem *problem,
                struct model_config *configs);

/*
 * The plan that gives each class its configuration; lives in the arena. A row
 * names the ops of a class by window label, kind, size and group, where most
 * ops of such are its own; the others have rows by op before it.
 */
struct model_plan search_plan(struct model_arena *arena,
                              const struct search_problem *problem,
                              const struct model_config *configs,
                              const char *strategy);

/* For search_problem_make: the rows, once all else is there. */
void search_problem_rows(struct model_arena *arena,
                         struct search_problem *problem);

#endif
