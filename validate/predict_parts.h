/*
 * predict_parts.h - rows grouped by machine (internal to predict*.c).
 */
#ifndef VALIDATE_PREDICT_PARTS_H
#define VALIDATE_PREDICT_PARTS_H

#include "validate/predict.h"

#include "model/nccl.h"

/* Rows of one machine, which run as one workload. */
struct validate_machine {
    const char *topology;
    const struct model_nccl_version *version; /* NULL: the topology's */
    double buffer_bytes;
    int nodes, gpus_per_node;             /* that take part */
    const struct model_node *computation; /* an op; NULL: collectives alone */
    const char *gpu;                      /* "" where reason is set */
    const char *reason;                   /* why none can run, or NULL */
    bool faulty;                          /* it told of its topology's faults */
    const int *rows;
    int row_count;
};

struct validate_predictor {
    const struct validate_records *records;
    const struct model_nccl_version *versions;
    int version_count;
    const struct validate_machine *machines;
    int machine_count;
    int *machine_of; /* by row */
};

/*
 * Simulate the rows of a machine that are wanted. What they need is allocated
 * in the arena. Rows that cannot run get their reason; MODEL_BAD_INPUT where
 * the sets are at fault.
 */
enum model_status
validate_machine_run(const struct validate_predictor *predictor,
                     const struct validate_machine *machine,
                     const char *const *sets,
                     int set_count,
                     const bool *wanted,
                     struct model_arena *arena,
                     struct validate_prediction *predictions,
                     struct model_errors *errors);

#endif
