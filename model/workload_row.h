/*
 * workload_row.h - the keys of one operation in a workload file.
 *
 * One table for all kinds of op; another says which keys a kind needs and
 * which it may have. Only for workload_ops.c.
 */
#ifndef MODEL_WORKLOAD_ROW_H
#define MODEL_WORKLOAD_ROW_H

#include "model/workload_build.h"

enum { MODEL_REPEAT_MAX = 1000000 };

/* A row of the file. */
struct model_op_row {
    struct model_op op;
    const char *stream, *group;
    double size, hbm;
    int repeat, m, n, k, batch;
    int from, to;                                    /* send: ranks */
    int heads, kv_heads, sequence, keys, head_width; /* attention */
    int reads, writes, columns;                      /* elementwise, norm */
    bool causal, backward, residual;
    double elements, parameters;
    struct model_list rows; /* norm: one; grouped_gemm: of each group */
    struct model_list tile;
    struct model_list after;
};

/* The table of keys, bound to struct model_op_row. */
extern const struct model_field model_op_row_fields[];

/* What a kind of op says of a key. */
struct model_op_rule {
    const char *key;
    bool needed;
    bool allowed;
};

/* Why a row is no kernel; key NULL: it is one. */
struct model_op_fault {
    const char *key;
    const char *message;
    const char *hint;
};

/*
 * Put what a computation's keys mean into its op (workload_compute.c). The row
 * has all keys that its kind needs.
 */
struct model_op_fault model_op_row_compute(struct model_op_row *row);

/* The i-th rule for a kind (enum model_op_kind); false past the last. */
bool model_op_row_rule(int index, int kind, struct model_op_rule *rule);

#endif
