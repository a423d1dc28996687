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
    int from, to; /* send: ranks */
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

/* The i-th rule for a kind (enum model_op_kind); false past the last. */
bool model_op_row_rule(int index, int kind, struct model_op_rule *rule);

#endif
