/*
 * params.h - a file of fitted parameters: what `lagom calibrate` writes and
 * --params takes.
 *
 *     name: dgx-a100-fit
 *     date: 2026-11-30
 *     records: [{file: note-a100.csv, rows: 18, hash: "0x5e1f..."}]
 *     parameters:
 *       - {path: gpu.channel.sync, value: 0.61 us, from: fitted, low: 0.55 us,
 *          high: 0.68 us, was: 0.54 us, was_from: guess}
 *     covariance:          # of natural logarithms, in the order above
 *       - [0.0025, 0.0001]
 *       - [0.0001, 0.0036]
 *
 * A parameter is a number of a GPU or topology as --set names it. It counts as
 * `fitted`, with this file as its source.
 */
#ifndef MODEL_PARAMS_H
#define MODEL_PARAMS_H

#include "model/schema.h"

#include <stdint.h>

enum { MODEL_PARAMS_MAX = 256 };

struct model_param {
    const char *path;
    enum model_dimension dimension;
    double value;             /* base units, above 0 */
    double low, high;         /* 95 % confidence */
    double was;               /* before the fit */
    enum model_origin from;   /* of `was` */
    struct model_place place; /* in the file */
};

/* What a fit rests on. */
struct model_params_records {
    const char *file;
    int rows;
    uint64_t hash; /* of the rows used; 0: not said */
};

struct model_params {
    const char *file;
    const char *name;
    const char *date; /* "2026-11-30" */
    struct model_params_records *records;
    int record_count;
    struct model_param *list;
    int count;          /* 1 to MODEL_PARAMS_MAX */
    double *covariance; /* count x count, of natural logarithms, symmetric and
                           positive semidefinite; or NULL */
};

/*
 * Read a file; faults with place and key path. Lives in the arena. Whether a
 * topology has such numbers is for model_params_check.
 */
enum model_status model_params_read(struct model_arena *arena,
                                    const char *file,
                                    struct model_params *params,
                                    struct model_errors *errors);

/* Write it as YAML; reading the text gives the same. */
enum model_status model_params_write(struct model_arena *arena,
                                     const struct model_params *params,
                                     FILE *stream);

/*
 * Are all of them numbers that the topology `name` has, of the same dimension?
 * provenance is that of the topology without them.
 */
enum model_status model_params_check(const struct model_params *params,
                                     const struct model_provenance *provenance,
                                     const char *name,
                                     struct model_errors *errors);

/*
 * Overrides for model_topology_read that set each parameter to its value times
 * exp(shift[i]) (shift NULL: to its value): count texts such as
 * "gpu.channel.sync={value: 0.61 us, from: fitted, source: ...}".
 */
const char *const *model_params_sets(struct model_arena *arena,
                                     const struct model_params *params,
                                     const double *shift);

/* The table of keys, for help. */
extern const struct model_field model_params_fields[];

#endif
