/*
 * workload_circle.c - ops that wait for themselves.
 *
 * An op waits for those in its `after` and for the one before it on its
 * stream. Ops are taken off as soon as all that they wait for are (Kahn's
 * algorithm); what is left waits in a circle, or for one.
 */
#include "model/workload_build.h"

/* The waiting graph, as arrays by op. */
struct graph {
    const struct model_workload *workload;
    int *waits; /* how many it still waits for */
    int *first; /* waiters of op i are first[i] .. first[i + 1] - 1 */
    int *waiters;
    int *next; /* the op after it on its stream, or -1 */
};

static void count_waits(struct graph *graph, struct model_arena *arena)
{
    const struct model_workload *workload = graph->workload;
    int *tail = model_arena_array(arena, (size_t)workload->stream_count + 1,
                                  sizeof(*tail));

    for (int i = 0; i < workload->stream_count; i++) {
        tail[i] = -1;
    }
    for (int i = 0; i < workload->op_count; i++) {
        const struct model_op *op = &workload->ops[i];
        int before = tail[op->stream];

        graph->waits[i] = op->after_count + (before >= 0 ? 1 : 0);
        graph->next[i] = -1;
        if (before >= 0) {
            graph->next[before] = i;
        }
        tail[op->stream] = i;
        for (int j = 0; j < op->after_count; j++) {
            graph->first[op->after[j] + 2]++;
        }
    }
}

/* Fill waiters; first[i + 1] moves from the start of op i's to their end. */
static void list_waiters(struct graph *graph, struct model_arena *arena)
{
    const struct model_workload *workload = graph->workload;
    int count = workload->op_count;

    for (int i = 0; i < count; i++) {
        graph->first[i + 2] += graph->first[i + 1];
    }
    graph->waiters = model_arena_array(
        arena, (size_t)graph->first[count + 1] + 1, sizeof(int));
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < workload->ops[i].after_count; j++) {
            graph->waiters[graph->first[workload->ops[i].after[j] + 1]++] = i;
        }
    }
}

static void release(struct graph *graph, int op, int *queue, int *queued)
{
    if (--graph->waits[op] == 0) {
        queue[(*queued)++] = op;
    }
}

/* Take off all ops that can run. */
static void drain(struct graph *graph, struct model_arena *arena)
{
    int count = graph->workload->op_count;
    int *queue = model_arena_array(arena, (size_t)count + 1, sizeof(*queue));
    int queued = 0;

    for (int i = 0; i < count; i++) {
        if (graph->waits[i] == 0) {
            queue[queued++] = i;
        }
    }
    for (int done = 0; done < queued; done++) {
        int op = queue[done];

        for (int j = graph->first[op]; j < graph->first[op + 1]; j++) {
            release(graph, graph->waiters[j], queue, &queued);
        }
        if (graph->next[op] >= 0) {
            release(graph, graph->next[op], queue, &queued);
        }
    }
}

int model_workload_circle(struct model_arena *arena,
                          const struct model_workload *workload)
{
    size_t count = (size_t)workload->op_count;
    struct graph graph = {
        .workload = workload,
        .waits = model_arena_array(arena, count + 1, sizeof(int)),
        .first = model_arena_array(arena, count + 2, sizeof(int)),
        .next = model_arena_array(arena, count + 1, sizeof(int))};

    count_waits(&graph, arena);
    list_waiters(&graph, arena);
    drain(&graph, arena);
    for (int i = 0; i < workload->op_count; i++) {
        if (graph.waits[i] > 0 && workload->ops[i].after_count > 0) {
            return i;
        }
    }
    return -1;
}
