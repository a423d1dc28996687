/*
 * surrogate_parts.h - the inside of a surrogate, shared by surrogate.c
 * (overlaps) and surrogate_options.c (options of classes).
 */
#ifndef SEARCH_SURROGATE_PARTS_H
#define SEARCH_SURROGATE_PARTS_H

#include "search/surrogate.h"

#include "model/overlap.h"
#include "model/window_cost.h"

struct option {
    struct model_config config;
    struct model_contender contender;
    double alone_us; /* without launch */
};

struct options {
    struct option *list;
    int count, room;
    int op; /* the first of the class */
    double scale;
};

/* An overlap that comes several times. */
struct pattern {
    const struct model_overlap *first;
    const struct model_kernel **kernels;
    double count;
    int window; /* of its collectives, or -1 */
};

struct search_surrogate {
    struct model_arena *arena;
    struct model_arena *scratch;
    const struct search_problem *problem;
    struct model_fabric fabric;
    struct model_walk *walk;
    struct options *by_class;
    struct pattern *patterns;
    int pattern_count;
    double *window_scale; /* of Y */
    /* work space */
    struct model_contender *contenders;         /* by class */
    const struct model_contender **collectives; /* of an overlap */
    double *kernel_us;
    struct option *fixed; /* by op: of those without a class */
    struct search_measure expected;
};

static inline const struct model_op *
search_surrogate_op(const struct search_surrogate *self, int op)
{
    return &self->problem->workload->ops[op];
}

/* What an op takes with a configuration; false where it cannot run. */
bool search_surrogate_make_option(struct search_surrogate *self,
                                  int op,
                                  const struct model_config *config,
                                  struct option *option);

/* The options of all classes. */
void search_surrogate_make_options(struct search_surrogate *self);

#endif
