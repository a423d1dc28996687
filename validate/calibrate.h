/*
 * calibrate.h - numbers of a GPU or topology, fitted to measurements.
 *
 * Rows of records are what the simulator must reproduce; the numbers it may
 * change are those that have a source other than a data sheet. Each starts at
 * the value of its file, which is also its prior, as wide as its source is
 * unsure (calibrate_parameters.c). fit.h is the method; a residual is
 * ln(predicted / measured) of the collective's time and, where a row has one,
 * of the computation's.
 *
 * Some rows are held out: they are not fitted, and tell what the fit is worth.
 * The choice is stratified. Rows in the order of set, kind, nodes, GPUs, size
 * and settings are cut into as many stretches of equal length as rows are to be
 * held out, and of each one row is drawn by the seed: so all sizes and settings
 * are on both sides, and no period of the rows meets one of the choice.
 */
#ifndef VALIDATE_CALIBRATE_H
#define VALIDATE_CALIBRATE_H

#include "model/params.h"
#include "model/topology.h"
#include "validate/accuracy.h"
#include "validate/fit.h"

struct validate_calibration_options {
    const struct validate_records *records;
    int held_out_from;       /* these and all later rows are held out; records'
                                count: none */
    double hold_out;         /* share of the others, 0 to 0.9 */
    double min_bytes;        /* smaller collectives are not used */
    uint64_t seed;           /* of the choice */
    int jobs;                /* threads, 0: one for each core; results do not
                             depend on them */
    const char *topology;    /* in the place of what rows name, or NULL */
    const char *const *sets; /* overrides: the start; borrowed */
    int set_count;
    const char *const *patterns; /* of paths to fit; * is any text */
    int pattern_count;           /* 0: all that rows depend on */
    /* Told of points computed, or NULL. */
    void (*progress)(void *context, int points);
    void *progress_context;
};

/* A number that was fitted. */
struct validate_calibrated {
    const char *path;
    enum model_dimension dimension;
    enum model_origin from;
    double was, now;      /* base units; now with five digits */
    double low, high;     /* 95 % interval */
    double width;         /* of the prior, of logarithms */
    double decided_ratio; /* by the data rather than the prior, 0 to 1 */
    bool at_bound;
};

/* A time of a row, before and after. */
struct validate_calibrated_row {
    int row; /* of the records */
    int target;
    bool computation; /* its time, not the collective's */
    bool held_out;
    double measured_us, before_us, after_us;
};

/* A topology of the rows. */
struct validate_target {
    const char *label;
    struct model_topology topology;
    struct validate_records records; /* those of its rows */
    int *rows;                       /* their numbers in all records */
    struct validate_predictor *predictor;
};

struct validate_calibration {
    const struct validate_calibration_options *options;
    struct validate_target *targets;
    int target_count;
    struct validate_calibrated *parameters;
    int parameter_count;
    const char **unseen; /* named, but no row depends on them */
    int unseen_count;
    struct validate_calibrated_row *rows;
    int row_count;
    int small_count;                    /* rows below min_bytes */
    int left_out_count;                 /* rows that cannot run */
    const char *left_out_reason;        /* of the first of them */
    struct validate_accuracy fitted[2]; /* before, after */
    struct validate_accuracy held_out[2];
    struct validate_fit_result fit;
};

/*
 * Calibrate. Results live in the arena. Faults: no row can be used, rows of
 * several GPUs, a pattern that names nothing, numbers that differ between
 * topologies, nothing that rows depend on.
 */
enum model_status
validate_calibrate(struct model_arena *arena,
                   const struct validate_calibration_options *options,
                   struct validate_calibration *calibration,
                   struct model_errors *errors);

#endif
