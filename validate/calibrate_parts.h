/*
 * calibrate_parts.h - what the files of calibration share (internal).
 */
#ifndef VALIDATE_CALIBRATE_PARTS_H
#define VALIDATE_CALIBRATE_PARTS_H

#include "validate/calibrate.h"

/* A number that may be fitted. */
struct validate_candidate {
    const struct model_provenance_entry *entry;
    struct validate_fit_parameter prior;
    bool named; /* by a pattern */
};

struct validate_candidates {
    struct validate_candidate *list;
    int count;
};

/* Topologies with the rows that name them, made ready. */
enum model_status
validate_targets_find(struct model_arena *arena,
                      struct validate_calibration *calibration,
                      struct model_errors *errors);

/* The rows to use, before_us filled in, and which are held out. */
enum model_status
validate_calibration_rows(struct model_arena *arena,
                          struct validate_calibration *calibration,
                          struct model_errors *errors);

/* The numbers that the options and sources allow, in the order of the files. */
enum model_status
validate_candidates_find(struct model_arena *arena,
                         const struct validate_calibration *calibration,
                         struct validate_candidates *candidates,
                         struct model_errors *errors);

/*
 * Keep the candidates that the rows depend on, and choose where the fit of each
 * begins. model is of all candidates; named ones that go are unseen.
 */
enum model_status
validate_candidates_keep(struct model_arena *arena,
                         const struct validate_fit_model *model,
                         struct validate_calibration *calibration,
                         struct validate_candidates *candidates);

/* Predictions with numbers in the place of the topologies'. */
struct validate_points {
    const struct validate_calibration *calibration;
    const struct model_provenance_entry *const *numbers;
    int number_count;
    const double *values; /* point by point, in base units */
    int count;
    bool all; /* rows: held out ones, too */
};

/*
 * The times of calibration->rows (those not wanted stay), point after point,
 * in threads.
 */
enum model_status validate_points_predict(struct model_arena *arena,
                                          const struct validate_points *points,
                                          double *times_us,
                                          struct model_errors *errors);

/* Has the topology that number? */
bool validate_target_has(const struct validate_target *target,
                         const char *path);

/* Of the rows that are held out, or not; before or after. */
struct validate_accuracy
validate_calibration_accuracy(struct model_arena *arena,
                              const struct validate_calibration *calibration,
                              bool held_out,
                              bool after);

#endif
