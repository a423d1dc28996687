/*
 * predict.h - what the simulator says of measured rows.
 *
 * A row runs with the settings that it states; the rest is what NCCL chooses
 * there, of the version that the row names or else the topology's. Rows of one
 * machine, number of ranks and version run back to back on one stream, as
 * nccl-tests launch them: an operation's time has the launch gap of a full
 * stream, but not the CPU's, and is the mean of as many equal ones as
 * nccl-tests repeat (search/perf.h). A row with computation runs by itself, the
 * computation on a second stream, both ready at once. What a row takes does not
 * depend on which others are predicted with it.
 */
#ifndef VALIDATE_PREDICT_H
#define VALIDATE_PREDICT_H

#include "validate/record.h"

struct validate_prediction {
    double time_us;        /* of the collective; 0: none */
    double computation_us; /* 0: none */
    struct model_config config;
    const char *limited_by; /* what set the collective's pace, as explain names
                               it: "NVLink"; "channels": its own; "": none */
    double launch_us;       /* of time_us: from ready to resident */
    double moving_us;       /* of time_us; the rest is start and fill */
    bool left_out;          /* no such topology, or it cannot run there */
    const char *reason;     /* why it was left out; lives as long as the
                               predictor and what scratch holds */
};

/*
 * Rows made ready to be predicted again and again, with other parameters: the
 * inputs of each machine. Opaque; lives in the arena.
 */
struct validate_predictor;

/*
 * Group the rows by machine. topology (may be NULL) takes the place of what
 * rows name. Rows that cannot run are left out with a reason; only faults of
 * topologies that are files, and of `sets`, go to errors.
 */
enum model_status
validate_predictor_make(struct model_arena *arena,
                        const struct validate_records *records,
                        const char *topology,
                        struct validate_predictor **predictor,
                        struct model_errors *errors);

/* The machine of a row, for reports; gpu is "" where it is left out. */
struct validate_place {
    const char *topology; /* as named */
    const char *gpu;      /* its name */
};

struct validate_place
validate_predictor_place(const struct validate_predictor *predictor, int row);

/*
 * Predict the rows marked in `wanted` (by row; NULL: all) with the overrides of
 * the topology ("gpu.channel.sync=1 us" and the like) on top. predictions has
 * records->count elements; those not wanted stay as they are. scratch is reset
 * first; nothing of it is needed afterwards. Several threads may do this at
 * once, each with scratch, predictions and errors of its own.
 */
enum model_status validate_predict(const struct validate_predictor *predictor,
                                   const char *const *sets,
                                   int set_count,
                                   const bool *wanted,
                                   struct model_arena *scratch,
                                   struct validate_prediction *predictions,
                                   struct model_errors *errors);

#endif
