/*
 * uncertainty.h - how sure speedups are, when the numbers of the machine are
 * not (internal to compare).
 *
 * Machines are drawn from a file of fitted parameters: their logarithms are
 * normal around the fitted values, with the file's covariance (model/params.h,
 * search/draws.h). On each, every strategy searches anew, as it would there.
 * What lies between the 2.5 % and 97.5 % quantiles of a speedup over all of
 * them is its interval.
 *
 * A drawn machine that cannot be, such as one that reaches more than all of its
 * HBM's rate, is left out.
 */
#ifndef SEARCH_UNCERTAINTY_H
#define SEARCH_UNCERTAINTY_H

#include "search/compare.h"

/* With fewer than SEARCH_MACHINES_SURE the quantiles are beyond what is drawn,
 * and an interval is from the least to the most: narrower than it should be. */
enum {
    SEARCH_MACHINES_MIN = 8,
    SEARCH_MACHINES_SURE = 39,
    SEARCH_MACHINES_MAX = 100000
};

struct search_uncertainty {
    int machines; /* drawn */
    int left_out;
    /* Iterations: of each machine, of each case on it, of each strategy, and
     * last with NCCL's own choice. NAN where the machine is left out. */
    double *times_us;
};

/* Whether --uncertainty can be done; MODEL_USAGE with what to write. */
enum model_status search_uncertainty_check(struct search_comparison *table);

/* Draw and search, when the cases are loaded; table->uncertainty then says
 * what came of it. The faults are those of the first search that failed. */
enum model_status search_uncertainty_run(struct search_comparison *table);

#endif
