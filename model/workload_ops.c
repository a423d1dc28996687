/*
 * workload_ops.c - the op form: a list of operations with their keys.
 *
 *     ops:
 *       - {id: g, kind: gemm, m: 8192, n: 8192, k: 8192, stream: compute}
 *       - {id: k, kind: kernel, ctas: 132, schedule: persistent,
 *          flops: 2.2 TFLOP, hbm: 400 MB, stream: compute}
 *       - {id: a, kind: all_gather, size: 256 MiB, group: world, stream: comm,
 *          channels: 24, after: [g]}
 *
 * A row is bound by one table for all kinds; another table says which keys a
 * kind needs and which it may have.
 */
#include "model/workload_row.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    struct model_builder *builder;
    struct model_errors *errors;
    const struct model_node *streams;
    struct model_op_row *rows;       /* one per item of the list */
    const struct model_node **items; /* their nodes */
    int *last_op;                    /* last op made from each row */
    int *by_id;                      /* rows sorted by id */
    int count;
};

static void fault(const struct reader *reader,
                  int row,
                  const char *key,
                  const char *hint,
                  const char *message,
                  const char *detail)
{
    const struct model_node *item = reader->items[row];
    const struct model_node *child = model_node_find(item, key);

    (void)model_errors_add(
        reader->errors, MODEL_BAD_INPUT,
        child != NULL ? child->place : item->place,
        model_arena_format(reader->builder->arena, "ops[%d].%s", row, key),
        hint, "%s%s", message, detail);
}

/* Returns whether the row has all keys that it needs. */
static bool check_keys(const struct reader *reader, int row)
{
    bool complete = true;
    int kind = reader->rows[row].op.kind;
    struct model_op_rule rule;

    for (int i = 0; model_op_row_rule(i, kind, &rule); i++) {
        bool given = model_node_find(reader->items[row], rule.key) != NULL;

        if (!given && rule.needed) {
            complete = false;
            fault(reader, row, rule.key, NULL, "required for kind ",
                  model_op_names[kind]);
        } else if (given && !rule.allowed) {
            fault(reader, row, rule.key, "leave it out",
                  "has no meaning for kind ", model_op_names[kind]);
        }
    }
    return complete;
}

/* The priority of a stream; collectives go first unless the file says. */
static int
stream_priority(const struct reader *reader, const char *name, int otherwise)
{
    double priority = 0.0;
    const struct model_node *node =
        reader->streams != NULL ? model_node_find(reader->streams, name) : NULL;

    if (node == NULL || node->kind != MODEL_SCALAR) {
        return otherwise;
    }
    (void)model_units_parse(node->text, MODEL_COUNT, &priority, NULL);
    return (int)priority;
}

/* What a computation's keys mean, once all that it needs are there. */
static void set_compute(const struct reader *reader, int index)
{
    struct model_op_fault found = model_op_row_compute(&reader->rows[index]);

    if (found.key != NULL) {
        fault(reader, index, found.key, found.hint, found.message, "");
    }
}

static void set_group(const struct reader *reader, int index)
{
    struct model_op_row *row = &reader->rows[index];
    const char *name = row->group != NULL ? row->group : "world";
    const struct model_workload *workload = reader->builder->workload;
    const char **names =
        model_arena_array(reader->builder->arena,
                          (size_t)workload->group_count + 1, sizeof(*names));
    const char *nearest;

    row->op.group = model_builder_find_group(reader->builder, name);
    if (row->op.group >= 0) {
        return;
    }
    for (int i = 0; i < workload->group_count; i++) {
        names[i] = workload->groups[i].name;
    }
    nearest = model_nearest_name(name, names);
    fault(reader, index, "group",
          nearest != NULL ? model_arena_format(reader->builder->arena,
                                               "did you mean \"%s\"?", nearest)
                          : "write world, node, or a key of groups",
          "no such group: ", name);
}

/* The two ranks of a send as a group of their own. */
static void set_peers(const struct reader *reader, int index)
{
    struct model_op_row *row = &reader->rows[index];
    struct model_arena *arena = reader->builder->arena;
    int world = reader->builder->workload->groups[0].count;
    const char *name;
    int *ranks;

    if (row->from == row->to || row->from >= world || row->to >= world) {
        fault(reader, index, row->from >= world ? "from" : "to",
              model_arena_format(arena, "write two ranks from 0 to %d",
                                 world - 1),
              row->from == row->to ? "sends to itself" : "no such rank", "");
        return;
    }
    name = model_arena_format(arena, "%d to %d", row->from, row->to);
    row->op.shift = row->from < row->to ? 1 : -1;
    row->op.group = model_builder_find_group(reader->builder, name);
    if (row->op.group < 0) {
        ranks = model_arena_array(arena, 2, sizeof(*ranks));
        ranks[0] = row->from < row->to ? row->from : row->to;
        ranks[1] = row->from < row->to ? row->to : row->from;
        row->op.group = model_builder_group(reader->builder, name, ranks, 2);
    }
}

/* A send_recv must not lead every rank back to itself. */
static void check_shift(const struct reader *reader, int index)
{
    const struct model_op *op = &reader->rows[index].op;
    int count =
        op->group >= 0 ? reader->builder->workload->groups[op->group].count : 1;

    if (count > 1 && op->shift % count == 0) {
        fault(reader, index, "shift",
              model_arena_format(reader->builder->arena,
                                 "write a value from 1 to %d", count - 1),
              "each rank sends to itself", "");
    }
}

static bool has_key(const struct reader *reader, int index, const char *key)
{
    return model_node_find(reader->items[index], key) != NULL;
}

/* Each rank by itself, in the one way that a ring_step can be done. */
static void set_alone(const struct reader *reader, int index)
{
    static const char name[] = "each rank";
    struct model_builder *builder = reader->builder;
    struct model_op *op = &reader->rows[index].op;

    op->config.algorithm = MODEL_RING;
    op->config.protocol = MODEL_SIMPLE;
    op->config.transport = MODEL_P2P;
    op->group = model_builder_find_group(builder, name);
    if (op->group < 0) {
        op->group = model_builder_group(builder, name, NULL, 1);
        builder->workload->groups[op->group].family = true;
    }
}

/* Who takes part in a collective. */
static void set_ranks(const struct reader *reader, int index)
{
    if (reader->rows[index].op.kind == MODEL_OP_RING_STEP) {
        set_alone(reader, index);
        return;
    }
    if (reader->rows[index].op.kind != MODEL_OP_SEND) {
        set_group(reader, index);
    } else if (has_key(reader, index, "from") && has_key(reader, index, "to")) {
        set_peers(reader, index);
    }
    if (reader->rows[index].op.kind == MODEL_OP_SEND_RECV) {
        check_shift(reader, index);
    }
}

/* What the table cannot put into the op by itself. */
static void finish_row(const struct reader *reader, int index)
{
    struct model_op_row *row = &reader->rows[index];
    struct model_op *op = &row->op;
    bool collective = model_op_is_collective(op);
    const char *stream = row->stream != NULL ? row->stream
                         : collective        ? "comm"
                                             : "compute";

    op->place = reader->items[index]->place;
    op->stream = model_builder_stream(
        reader->builder, stream,
        stream_priority(reader, stream, collective ? 1 : 0));
    if (op->cta_threads == 0 &&
        (op->cta_registers > 0 || op->cta_shared_bytes > 0.0)) {
        fault(reader, index, "cta_threads", "write cta_threads: 256",
              "needed where cta_registers or cta_shared is given", "");
    }
    if (collective) {
        op->bytes = row->size;
        set_ranks(reader, index);
        if (has_key(reader, index, "size") && !(op->bytes > 0.0)) {
            fault(reader, index, "size", "write \"64 MiB\"",
                  "must be more than nothing", "");
        }
    }
}

static void read_rows(struct reader *reader, const struct model_node *ops)
{
    int index = 0;

    for (const struct model_node *item = ops->first; item != NULL;
         item = item->next, index++) {
        struct model_binding binding = {
            .arena = reader->builder->arena,
            .errors = reader->errors,
            .path =
                model_arena_format(reader->builder->arena, "ops[%d]", index)};

        reader->items[index] = item;
        reader->rows[index].op.config = model_config_none();
        if (model_schema_bind(&binding, model_op_row_fields, item,
                              &reader->rows[index]) == MODEL_OK) {
            bool complete = check_keys(reader, index);

            finish_row(reader, index);
            if (complete && !model_op_is_collective(&reader->rows[index].op)) {
                set_compute(reader, index);
            }
        }
    }
}

/* qsort has no argument for context, so ids are sorted with their rows. */
struct named {
    const char *id;
    int row;
};

static int compare_named(const void *left, const void *right)
{
    const struct named *a = left;
    const struct named *b = right;
    int order = strcmp(a->id, b->id);

    return order != 0 ? order : (a->row > b->row) - (a->row < b->row);
}

static struct named *sort_ids(struct reader *reader)
{
    struct named *names = model_arena_array(
        reader->builder->arena, (size_t)reader->count, sizeof(*names));

    for (int i = 0; i < reader->count; i++) {
        names[i] = (struct named){reader->rows[i].op.id, i};
    }
    qsort(names, (size_t)reader->count, sizeof(*names), compare_named);
    for (int i = 1; i < reader->count; i++) {
        if (strcmp(names[i].id, names[i - 1].id) == 0) {
            fault(reader, names[i].row, "id", "choose another id",
                  "used twice: ", names[i].id);
        }
    }
    return names;
}

/* The row with that id, or -1. */
static int
find_id(const struct reader *reader, const struct named *names, const char *id)
{
    struct named wanted = {id, 0};
    int low = 0;
    int high = reader->count;

    while (low < high) {
        int middle = low + (high - low) / 2;

        if (strcmp(names[middle].id, wanted.id) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < reader->count && strcmp(names[low].id, id) == 0
               ? names[low].row
               : -1;
}

/* Ids such as "g.3" that a repeated row makes must not be there already. */
static void check_repeats(const struct reader *reader,
                          const struct named *names)
{
    for (int i = 0; i < reader->count; i++) {
        const char *id = reader->rows[i].op.id;
        const char *dot = strrchr(id, '.');
        double copy = -1.0;
        int other;

        if (dot == NULL ||
            model_units_parse(dot + 1, MODEL_COUNT, &copy, NULL) != MODEL_OK) {
            continue;
        }
        other = find_id(
            reader, names,
            model_arena_text_n(reader->builder->arena, id, (size_t)(dot - id)));
        if (other >= 0 && reader->rows[other].repeat > 1 &&
            copy < (double)reader->rows[other].repeat) {
            fault(reader, i, "id", "choose another id", "used twice: ", id);
        }
    }
}

/* Copies of one row, in their stream's order. */
static void make_ops(struct reader *reader, int index)
{
    struct model_op_row *row = &reader->rows[index];

    for (int i = 0; i < row->repeat; i++) {
        struct model_op op = row->op;

        if (row->repeat > 1) {
            op.id = model_arena_format(reader->builder->arena, "%s.%d",
                                       row->op.id, i);
        }
        reader->last_op[index] = model_builder_add(reader->builder, &op);
    }
}

/* Turn ids into indices: the first copy waits for the last of the other. */
static void
link_row(struct reader *reader, const struct named *names, int index)
{
    const struct model_op_row *row = &reader->rows[index];
    const char *const *ids = row->after.items;
    int first = reader->last_op[index] - row->repeat + 1;

    for (int i = 0; i < row->after.count; i++) {
        int other = find_id(reader, names, ids[i]);

        if (other < 0) {
            fault(reader, index, "after", "write the id of another op",
                  "no such op: ", ids[i]);
        } else {
            model_builder_after(reader->builder, first, reader->last_op[other]);
        }
    }
}

static void check_circle(const struct reader *reader)
{
    const struct model_workload *workload = reader->builder->workload;
    int op = model_workload_circle(reader->builder->arena, workload);

    if (op >= 0) {
        (void)model_errors_add(
            reader->errors, MODEL_BAD_INPUT, workload->ops[op].place,
            "ops.after", "ops of one stream run in the order of the list",
            "\"%s\" waits, in a circle, for itself", workload->ops[op].id);
    }
}

static enum model_status check_streams(const struct model_node *streams,
                                       struct model_errors *errors)
{
    int before = errors->count;

    if (streams != NULL && streams->kind != MODEL_MAPPING) {
        return model_errors_add(errors, MODEL_BAD_INPUT, streams->place,
                                "streams", "write streams: {comm: 1}",
                                "not a mapping");
    }
    for (const struct model_node *item = streams != NULL ? streams->first
                                                         : NULL;
         item != NULL; item = item->next) {
        double value;

        if (item->kind != MODEL_SCALAR ||
            model_units_parse(item->text, MODEL_COUNT, &value, NULL) !=
                MODEL_OK ||
            value > 100.0) {
            (void)model_errors_add(errors, MODEL_BAD_INPUT, item->place,
                                   "streams",
                                   "write a whole number from 0 to 100",
                                   "bad priority of stream \"%s\"", item->key);
        }
    }
    return errors->count == before ? MODEL_OK : MODEL_BAD_INPUT;
}

enum model_status model_read_ops(struct model_builder *builder,
                                 const struct model_node *ops,
                                 const struct model_node *streams,
                                 struct model_errors *errors)
{
    struct model_arena *arena = builder->arena;
    int before = errors->count;
    struct reader reader = {.builder = builder,
                            .errors = errors,
                            .streams = streams,
                            .count = ops->count};
    struct named *names;
    double total = 0.0;

    if (ops->kind != MODEL_SEQUENCE || ops->count == 0) {
        return model_errors_add(errors, MODEL_BAD_INPUT, ops->place, "ops",
                                "write - {id: a, kind: gemm, ...} lines",
                                "not a list of operations");
    }
    if (check_streams(streams, errors) != MODEL_OK) {
        return MODEL_BAD_INPUT;
    }
    reader.rows =
        model_arena_array(arena, (size_t)ops->count, sizeof(*reader.rows));
    reader.items = model_arena_array(arena, (size_t)ops->count,
                                     sizeof(const struct model_node *));
    reader.last_op =
        model_arena_array(arena, (size_t)ops->count, sizeof(*reader.last_op));
    read_rows(&reader, ops);
    if (errors->count > before) {
        return MODEL_BAD_INPUT;
    }
    names = sort_ids(&reader);
    check_repeats(&reader, names);
    for (int i = 0; i < reader.count; i++) {
        total += (double)reader.rows[i].repeat;
        if (total > (double)MODEL_REPEAT_MAX * 10.0) {
            fault(&reader, i, "repeat", "at most 10000000 in all",
                  "too many ops", "");
            return MODEL_BAD_INPUT;
        }
        make_ops(&reader, i);
    }
    for (int i = 0; i < reader.count; i++) {
        link_row(&reader, names, i);
    }
    if (errors->count == before) {
        check_circle(&reader);
    }
    return errors->count == before ? MODEL_OK : MODEL_BAD_INPUT;
}
