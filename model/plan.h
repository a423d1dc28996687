/*
 * plan.h - which configuration each collective of a workload gets.
 *
 * A plan is a list of rows; the first row that matches a collective assigns
 * its configuration. A row matches by any of: the op's id, which may be a
 * pattern with stars (step*.forward.*.all_gather), its window, its kind, a
 * range of sizes, its group. Keys that a row leaves out match all; settings
 * that it leaves out stay open for the strategy's default.
 *
 *     collectives:
 *       - {window: forward, kind: all_gather, transport: p2p, channels: 2,
 *          threads: 256, chunk: 684 KiB}
 */
#ifndef MODEL_PLAN_H
#define MODEL_PLAN_H

#include "model/nccl.h"

struct model_plan_row {
    const char *op;     /* id, in which * stands for any text, or NULL */
    const char *window; /* or NULL */
    int kind;           /* enum model_op_kind or MODEL_UNSET */
    double min_bytes;   /* size range, inclusive; max 0: no limit */
    double max_bytes;
    const char *group; /* or NULL */
    struct model_config config;
    struct model_place place; /* in the file */
};

struct model_plan {
    struct model_plan_row *rows;
    int row_count;
    const char *strategy; /* that made it, or NULL */
};

/* Read a plan file. Faults go to errors. */
enum model_status model_plan_read(struct model_arena *arena,
                                  const char *file,
                                  struct model_plan *plan,
                                  struct model_errors *errors);

/*
 * Rows that can never match: of an op that the workload does not have, or, when
 * no row matches any collective, all of them.
 */
enum model_status model_plan_check(const struct model_plan *plan,
                                   const struct model_workload *workload,
                                   struct model_errors *errors);

/* True when the row matches the collective. */
bool model_plan_row_takes(const struct model_plan_row *row,
                          const struct model_workload *workload,
                          const struct model_op *op);

/* True when the row matches some collective of the workload. */
bool model_plan_row_matches(const struct model_plan_row *row,
                            const struct model_workload *workload);

/* Write it as YAML; reading the text gives the same plan. */
enum model_status model_plan_write(struct model_arena *arena,
                                   const struct model_plan *plan,
                                   const char *topology,
                                   const char *workload,
                                   FILE *stream);

/* The first row that matches the op, or NULL. */
const struct model_plan_row *
model_plan_find(const struct model_plan *plan,
                const struct model_workload *workload,
                const struct model_op *op);

/*
 * What an op runs with: its own keys, then the plan (may be NULL), then what
 * NCCL makes of the rest (may be NULL: the rest stays open).
 */
struct model_config model_plan_config(const struct model_plan *plan,
                                      const struct model_workload *workload,
                                      const struct model_op *op,
                                      const struct model_nccl *nccl);

/* The table of keys, for help. */
extern const struct model_field model_plan_fields[];

#endif
