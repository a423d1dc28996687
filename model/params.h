/*
 * params.h - a file of fitted parameters: what `lagom calibrate` writes and
 * --params takes.
 *
 *     name: dgx-a100-fit
 *     date: 2026-11-30
 *     records: [{file: note-a100.csv, rows: 18, hash: "0x5e1f..."}]
 *     parameters:
 *       - {path: gpu.channel.sync, value: 0.61 us, low: 0.55 us,
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

#include "model/arena.h"
#include "model/error.h"
#include "model/units.h"

struct model_param {
    const char *path;
    enum model_dimension dimension;
    double value;     /* base units, above 0 */
    double low, high; /* 95 % confidence */
    double was;       /* before the fit */
    const char *was_from;
};

struct model_params {
    const char *file;
    const char *name;
    const char *date;
    struct model_param *list;
    int count;
    double *covariance; /* count x count, of natural logarithms, or NULL */
};

/* Read a file; faults with place and key path. Lives in the arena. */
enum model_status model_params_read(struct model_arena *arena,
                                    const char *file,
                                    struct model_params *params,
                                    struct model_errors *errors);

/*
 * Overrides for model_topology_read that set each parameter to its value times
 * exp(shift[i]) (shift NULL: to its value): count texts such as
 * "gpu.channel.sync={value: 0.61 us, from: fitted, source: ...}".
 */
const char *const *model_params_sets(struct model_arena *arena,
                                     const struct model_params *params,
                                     const double *shift);

#endif
