/*
 * explain.h - why an iteration takes what it takes, as data: its windows, what
 * it would take under other circumstances, and what it cannot go below.
 *
 * Circumstances are simulated, one thing changed at a time: a rate of the
 * hardware, a setting of all collectives, or no collectives at all.
 */
#ifndef SEARCH_EXPLAIN_H
#define SEARCH_EXPLAIN_H

#include "sim/window.h"

enum search_change_kind {
    SEARCH_CHANGE_LIMIT,    /* what nobody can have, such as free collectives */
    SEARCH_CHANGE_HARDWARE, /* other numbers of the topology */
    SEARCH_CHANGE_SETTING,  /* other settings of the collectives */
    SEARCH_CHANGE_KINDS
};

extern const char *const search_change_names[SEARCH_CHANGE_KINDS + 1];

/* An iteration with one thing changed. Texts live in the arena. */
struct search_what_if {
    int kind;            /* enum search_change_kind */
    const char *key;     /* "hbm", "channels_half", for scripts */
    const char *text;    /* "HBM x 1.25" */
    const char *guesses; /* the changed numbers that are guesses, or NULL */
    bool stuck;          /* it would not finish; no times then */
    double iteration_us;
    double gain_ratio; /* of the iteration that it saves; negative: costs */
};

/* Lagom's cost model of a window (model/window_cost.h), all its instances. */
struct search_modelled {
    double collectives_us; /* X */
    double kernels_us;     /* Y */
};

struct search_explanation {
    const struct sim *sim;
    const struct sim_request *request;
    const struct sim_result *result;
    const char *strategy;
    struct sim_windows windows;
    const struct search_modelled *modelled; /* by window; NULL where one rank
                                               cannot stand for all */
    double bound_us;                        /* that no settings beat: bound.h */
    double free_us;                  /* were its collectives free: simulated */
    int collectives;                 /* ops of rank 0 */
    struct search_what_if *what_ifs; /* largest gain first */
    int what_if_count;
};

/*
 * Explain a finished simulation of request, which explanation->sim, request,
 * result and strategy name already; they are borrowed. Everything else lives in
 * the arena. tuned may be NULL, or the plan to compare with. MODEL_FAULT when
 * memory runs out; changes that this machine cannot run are left out.
 */
enum model_status search_explain(struct model_arena *arena,
                                 const struct model_plan *tuned,
                                 struct search_explanation *explanation);

/* The GPU of rank 0, from which everything is seen. */
const struct model_gpu *
search_gpu(const struct search_explanation *explanation);

/* The workload with all collectives done as soon as they could begin. */
struct model_workload
search_without_collectives(struct model_arena *arena,
                           const struct model_workload *workload);

#endif
