/*
 * verdict.h - how far the model can be believed: accuracies of predicted
 * records by set, by set and operation, by GPU, and of all.
 */
#ifndef VALIDATE_VERDICT_H
#define VALIDATE_VERDICT_H

#include "validate/accuracy.h"
#include "validate/fitted.h"

/* A line of the table: some pairs and their accuracy. Texts are not NULL. */
struct validate_line {
    const char *set;        /* "": of several */
    const char *operation;  /* "all_gather"; "computation"; "": of several */
    const char *gpu;        /* "": of several */
    const char *topologies; /* as records name them, ", " between */
    const char *shapes;     /* "1x8 2x8": nodes x GPUs of a node */
    bool fit;               /* all its records gave constants */
    struct validate_accuracy accuracy;
};

struct validate_lines {
    struct validate_line *list;
    int count;
};

/* Rows that were left out for one reason. */
struct validate_left_out {
    const char *reason;
    int rows;
};

struct validate_verdict {
    const struct validate_records *records; /* borrowed, as the next four */
    const struct validate_prediction *predictions;
    const struct validate_predictor *predictor;
    const struct validate_fits *fits;
    double min_size_bytes;
    struct validate_pairs pairs;
    struct validate_lines sets;  /* in the order of the records */
    struct validate_lines parts; /* a line for each operation of a set */
    struct validate_lines gpus;  /* of rows that are no fit */
    struct validate_line fitted, others, all;
    double median_of_medians; /* of the parts that are no fit; 0: none */
    int median_count;         /* how many these are */
    struct validate_left_out *left_out;
    int left_out_count;
};

/* Fill in what follows min_size_bytes. Lives in the arena. */
void validate_judge(struct model_arena *arena,
                    struct validate_verdict *verdict);

/* "all_gather", "computation": what a pair is a time of. */
const char *validate_operation(const struct validate_records *records,
                               const struct validate_pair *pair);

#endif
