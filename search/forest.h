/*
 * forest.h - a random forest: the mean of regression trees, each grown from a
 * sample of the samples (Breiman 2001).
 *
 * Inputs are small whole numbers, such as the index of a variable's value; a
 * tree asks whether one is at most some number. A node is split where the
 * squares of deviations from the means on both sides sum up to least, looking
 * at a random part of the inputs, until few samples or equal ones are left.
 */
#ifndef SEARCH_FOREST_H
#define SEARCH_FOREST_H

#include "model/arena.h"

#include <gsl/gsl_rng.h>

enum {
    SEARCH_FOREST_INPUTS_MAX = 8,
    SEARCH_FOREST_VALUES_MAX = 16 /* 0 .. 15 */
};

struct search_sample {
    int inputs[SEARCH_FOREST_INPUTS_MAX];
    double value;
};

struct search_forest {
    struct search_tree *trees;
    int tree_count;
};

/* Grow one from samples (at least one); lives in the arena. */
void search_forest_grow(struct model_arena *arena,
                        const struct search_sample *samples,
                        int count,
                        int inputs,
                        gsl_rng *random,
                        struct search_forest *forest);

/* What it takes the value at such inputs to be. */
double search_forest_value(const struct search_forest *forest,
                           const int *inputs);

#endif
