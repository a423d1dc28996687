/*
 * explain_free.c - a workload whose collectives cost nothing.
 *
 * Collectives are taken out; what waited for one waits for what that waited
 * for. A stream runs in order, so of the ops of one stream only the last
 * counts: what an op waits for is one op, or none, per stream.
 */
#include "search/explain.h"

#include <math.h>

struct rewire {
    struct model_arena *arena;
    const struct model_workload *old;
    int *before;      /* the op before each on its stream, or -1 */
    int *waits;       /* by op and stream: the last kernel waited for, or -1 */
    double *start_us; /* by op: not before, with what it waits for */
    bool *known;      /* by op: the two above are complete */
    int *path;        /* work space: ops, each needed by the one before */
    int *new_index;   /* of kernels */
};

static int *waits_of(const struct rewire *rewire, int op)
{
    return &rewire->waits[(size_t)op * (size_t)rewire->old->stream_count];
}

/* Number of ops that an op waits for, and each of them. */
static int need_count(const struct rewire *rewire, int op)
{
    return rewire->old->ops[op].after_count + (rewire->before[op] >= 0 ? 1 : 0);
}

static int need(const struct rewire *rewire, int op, int index)
{
    const struct model_op *self = &rewire->old->ops[op];

    return index < self->after_count ? self->after[index] : rewire->before[op];
}

/* Let op wait for another: a kernel itself, or what a collective waits for. */
static void wait_for(const struct rewire *rewire, int op, int other)
{
    const struct model_op *waited = &rewire->old->ops[other];
    int *waits = waits_of(rewire, op);

    if (!model_op_is_collective(waited)) {
        waits[waited->stream] = (int)fmax(waits[waited->stream], other);
        return;
    }
    rewire->start_us[op] = fmax(rewire->start_us[op], rewire->start_us[other]);
    for (int i = 0; i < rewire->old->stream_count; i++) {
        waits[i] = (int)fmax(waits[i], waits_of(rewire, other)[i]);
    }
}

/* A collective that must be known before an op can be, or -1. */
static int missing(const struct rewire *rewire, int op)
{
    for (int i = 0; i < need_count(rewire, op); i++) {
        int other = need(rewire, op, i);

        if (model_op_is_collective(&rewire->old->ops[other]) &&
            !rewire->known[other]) {
            return other;
        }
    }
    return -1;
}

/* What an op waits for; ops may wait for later ones, but not in circles. */
static void resolve(struct rewire *rewire, int op)
{
    int depth = 0;

    rewire->path[0] = op;
    while (depth >= 0) {
        int at = rewire->path[depth];
        int other = missing(rewire, at);

        if (other >= 0) {
            rewire->path[++depth] = other;
            continue;
        }
        rewire->start_us[at] = rewire->old->ops[at].start_us;
        for (int i = 0; i < need_count(rewire, at); i++) {
            wait_for(rewire, at, need(rewire, at, i));
        }
        rewire->known[at] = true;
        depth--;
    }
}

/* A kernel of the new workload; its stream keeps its own order. */
static struct model_op kept_op(const struct rewire *rewire, int index)
{
    const int *waits = waits_of(rewire, index);
    struct model_op op = rewire->old->ops[index];
    int *after = model_arena_array(
        rewire->arena, (size_t)rewire->old->stream_count + 1, sizeof(*after));

    op.after = after;
    op.after_count = 0;
    op.start_us = rewire->start_us[index];
    for (int i = 0; i < rewire->old->stream_count; i++) {
        if (i != op.stream && waits[i] >= 0) {
            after[op.after_count++] = rewire->new_index[waits[i]];
        }
    }
    return op;
}

static struct rewire start(struct model_arena *arena,
                           const struct model_workload *workload)
{
    size_t ops = (size_t)workload->op_count + 1;
    size_t streams = (size_t)workload->stream_count + 1;
    int *tail = model_arena_array(arena, streams, sizeof(*tail));
    struct rewire rewire = {
        .arena = arena,
        .old = workload,
        .before = model_arena_array(arena, ops, sizeof(int)),
        .waits = model_arena_array(arena, ops * streams, sizeof(int)),
        .start_us = model_arena_array(arena, ops, sizeof(double)),
        .known = model_arena_array(arena, ops, sizeof(bool)),
        .path = model_arena_array(arena, ops, sizeof(int)),
        .new_index = model_arena_array(arena, ops, sizeof(int))};

    for (size_t i = 0; i < streams; i++) {
        tail[i] = -1;
    }
    for (size_t i = 0; i < ops * streams; i++) {
        rewire.waits[i] = -1;
    }
    for (int i = 0, kernels = 0; i < workload->op_count; i++) {
        const struct model_op *op = &workload->ops[i];

        rewire.before[i] = tail[op->stream];
        tail[op->stream] = i;
        rewire.new_index[i] = kernels;
        kernels += model_op_is_collective(op) ? 0 : 1;
    }
    return rewire;
}

struct model_workload
search_without_collectives(struct model_arena *arena,
                           const struct model_workload *workload)
{
    struct rewire rewire = start(arena, workload);
    struct model_workload kept = *workload;

    kept.ops = model_arena_array(arena, (size_t)workload->op_count + 1,
                                 sizeof(*kept.ops));
    kept.op_count = 0;
    kept.cycle.first = rewire.new_index[workload->cycle.first];
    kept.cycle.end = rewire.new_index[workload->cycle.end];
    for (int i = 0; i < workload->op_count; i++) {
        if (!model_op_is_collective(&workload->ops[i])) {
            resolve(&rewire, i);
            kept.ops[kept.op_count++] = kept_op(&rewire, i);
        }
    }
    return kept;
}
