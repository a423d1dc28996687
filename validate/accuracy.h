/*
 * accuracy.h - how far predictions are from measurements: the statistics.
 *
 * A pair is a time that was measured and the same time predicted: of a
 * collective, or of the computation beside it. Its error is predicted over
 * measured less 1: positive where the model is too slow.
 *
 * A tuner needs to know which of several settings is faster more than how fast
 * they are. So what is ranked are pairs of one case: the same operation of the
 * same size on the same machine and ranks, with the same company, measured with
 * different settings (algorithm, protocol, transport, channels, threads, chunk
 * or buffer). Over sizes any model ranks well, so cases of fewer than
 * VALIDATE_RANKED_MIN different settings are not ranked. Where a set of pairs
 * has several cases, its correlation is their mean, each weighted by its pairs.
 */
#ifndef VALIDATE_ACCURACY_H
#define VALIDATE_ACCURACY_H

#include "validate/predict.h"

enum { VALIDATE_RANKED_MIN = 4 };

struct validate_pair {
    int row;          /* of the records */
    bool computation; /* the computation's time, not the collective's */
    double measured_us, predicted_us;
    double error_ratio;
    int case_index;    /* equal for pairs of one case */
    int setting_index; /* within the case: equal for equal settings */
};

struct validate_pairs {
    struct validate_pair *list;
    int count;
};

/* Statistics of some pairs; ratios of the measured value. */
struct validate_accuracy {
    int count;
    double median_ratio, p95_ratio, worst_ratio; /* of errors without sign */
    double bias_ratio;                           /* their mean, with sign */
    double spearman, kendall; /* NaN: nothing to rank; Kendall's is tau-b */
    int ranked;               /* pairs that are ranked */
};

/*
 * The pairs of predicted rows whose collective has at least min_size_bytes, or
 * that are computation alone; rows left out have none. Cases are numbered over
 * all of them. Lives in the arena.
 */
struct validate_pairs
validate_pairs_make(struct model_arena *arena,
                    const struct validate_records *records,
                    const struct validate_prediction *predictions,
                    double min_size_bytes);

/*
 * The statistics of the pairs marked in `chosen` (NULL: all). All is 0 and NaN
 * where there is none. The arena is scratch.
 */
struct validate_accuracy
validate_accuracy_of(struct model_arena *arena,
                     const struct validate_pairs *pairs,
                     const bool *chosen);

/*
 * Kendall's tau-b of n pairs of numbers, n >= 2: (concordant - discordant) over
 * the geometric mean of those not tied in x and those not tied in y (Kendall,
 * "The treatment of ties in ranking problems", Biometrika 33, 1945). NaN where
 * all of one side are tied. Takes time of n squared.
 */
double validate_kendall(const double *x, const double *y, int n);

#endif
