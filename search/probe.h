/*
 * probe.h - a search around the best plan so far: what the surrogate expects
 * says which step to measure next, what is measured says whether to keep it.
 *
 * Nothing is compared for equality, and gains below a least one are none:
 * measurements may be noisy.
 */
#ifndef SEARCH_PROBE_H
#define SEARCH_PROBE_H

#include "search/bound.h"
#include "search/surrogate.h"
#include "search/trial.h"

struct search_probe {
    struct search_trial trial;
    struct search_surrogate *surrogate;
    struct search_range *ranges; /* by class */
    struct search_bound *bound;
    const double
        *least_us;     /* by class: none of its space is faster (least.h) */
    double bound_us;   /* no plan is faster; what is measured below says that
                          it does not hold here, and then it counts for
                          nothing; HUGE_VAL on a real machine */
    double stop_ratio; /* so near to the bound there is nothing to search for */
    double gain_min;   /* less, over the best plan's time, is no gain */
    int patience;      /* measurements in a row that may gain nothing */
    int in_vain;       /* of those at the end so far */
    struct model_config *at; /* by class: the best plan */
    double at_us;
    struct search_measure known; /* of the best plan */
    struct model_config *next;   /* by class: a plan to measure */
    int *chosen;                 /* by class: options of the surrogate */
    double *alone_us;            /* by class: work space */
};

/* A step of a knob. */
struct search_step {
    enum search_knob knob;
    double ratio; /* of what the knob is set to, counted from 1 */
};

enum { SEARCH_COARSE = 7 };

extern const struct search_step search_coarse[SEARCH_COARSE];

/*
 * No plan is worth measuring whose collectives, each alone, already take longer
 * than the best plan: that is a bound of its time (bound.h), where it holds,
 * and SEARCH_PRUNE of it is left for measurements that the cost model is not
 * exact for.
 */
#define SEARCH_PRUNE 0.02

/* All classes at once, where a class is asked for. */
enum { SEARCH_ALL = -1 };

/*
 * Measure NCCL's own settings, the first of a budget, and make the surrogate.
 * Everything lives in the task's arena; scratch is borrowed for as long as the
 * probe is used.
 */
enum model_status search_probe_start(struct search_probe *self,
                                     struct search_task *task,
                                     struct search_outcome *outcome,
                                     int budget,
                                     struct model_arena *scratch);

/* Does each class have an option? If not there is nothing to search. */
bool search_probe_can_run(const struct search_probe *self);

/* Does the bound hold here? Not where something faster was measured. */
bool search_probe_bounds(const struct search_probe *self);

/* The budget or the patience is used up, or the best plan is good enough. */
bool search_probe_is_over(const struct search_probe *self);

/*
 * Measure the next plan, unless it was before. *fresh tells; *gained when it is
 * better than the best, and takes its place.
 */
enum model_status
search_probe_measure(struct search_probe *self, bool *fresh, bool *gained);

/*
 * Take a plan for the best that another search ended with, if it is. Measuring
 * it costs nothing of the budget.
 */
enum model_status search_probe_add(struct search_probe *self,
                                   const struct model_config *configs);

/* The surrogate's options for a plan; false when some class has none. */
bool search_probe_choose(struct search_probe *self,
                         const struct model_config *configs);

/* The chosen options become the next plan. */
void search_probe_plan(struct search_probe *self);

/*
 * Steps of the classes from first up to end, or of SEARCH_ALL up to SEARCH_ALL
 * + 1: of all at once. Those come first of which the surrogate expects most;
 * after each that gains all are judged anew; it ends when none gains. Of a step
 * of all classes those windows keep it whose max(X, Y) fell.
 */
enum model_status search_probe_steps(struct search_probe *self,
                                     const struct search_step *steps,
                                     int step_count,
                                     int first,
                                     int end);

/*
 * Run a search with scratch memory that is given back, too, when memory runs
 * out.
 */
enum model_status
search_with_scratch(struct search_task *task,
                    struct search_outcome *outcome,
                    enum model_status (*find)(struct search_task *task,
                                              struct search_outcome *outcome,
                                              struct model_arena *scratch));

#endif
