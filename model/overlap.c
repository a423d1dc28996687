/*
 * overlap.c - one pass over the ops; an overlap is two slices of two lists.
 */
#include "model/overlap.h"

struct cutter {
    const struct model_workload *workload;
    struct model_overlaps overlaps;
    int *kernels;
    int *collectives;
    int kernel_count;
    int collective_count;
    int first_kernel; /* of the overlap at hand */
    int first_collective;
    int *number; /* by op: its place in its list; of ops seen so far */
    int *tail;   /* by stream: its latest op, or -1 */
};

/* The overlap at hand ends before these; what lies behind is the next's. */
static void cut(struct cutter *cutter, int kernel_end, int collective_end)
{
    cutter->overlaps.list[cutter->overlaps.count++] = (struct model_overlap){
        .kernels = &cutter->kernels[cutter->first_kernel],
        .kernel_count = kernel_end - cutter->first_kernel,
        .collectives = &cutter->collectives[cutter->first_collective],
        .collective_count = collective_end - cutter->first_collective};
    cutter->first_kernel = kernel_end;
    cutter->first_collective = collective_end;
}

/* The place of an op among the kernels, or collectives, seen; -1: it is none.
 */
static int place_of(const struct cutter *cutter, int op, bool collective)
{
    return op >= 0 && model_op_is_collective(&cutter->workload->ops[op]) ==
                          collective
               ? cutter->number[op]
               : -1;
}

/* The last kernel, or collective, that an op waits for before it starts. */
static int last_awaited(const struct cutter *cutter, int op, bool collective)
{
    const struct model_op *self = &cutter->workload->ops[op];
    int last = place_of(cutter, cutter->tail[self->stream], collective);

    for (int i = 0; i < self->after_count && !self->spins; i++) {
        int place = place_of(cutter, self->after[i], collective);

        last = place > last ? place : last;
    }
    return last;
}

static void add(struct cutter *cutter, int op)
{
    const struct model_op *self = &cutter->workload->ops[op];

    if (model_op_is_collective(self)) {
        if (last_awaited(cutter, op, false) >= cutter->first_kernel) {
            cut(cutter, cutter->kernel_count, cutter->collective_count);
        }
        cutter->number[op] = cutter->collective_count;
        cutter->collectives[cutter->collective_count++] = op;
    } else {
        int awaited = last_awaited(cutter, op, true);

        if (awaited >= cutter->first_collective) {
            cut(cutter, cutter->kernel_count, awaited + 1);
        }
        cutter->number[op] = cutter->kernel_count;
        cutter->kernels[cutter->kernel_count++] = op;
    }
    cutter->tail[self->stream] = op;
}

struct model_overlaps
model_overlaps_in_order(struct model_arena *arena,
                        const struct model_workload *workload,
                        const int *order,
                        int count)
{
    size_t ops = (size_t)workload->op_count + 1;
    struct cutter cutter = {.workload = workload};

    cutter.overlaps.list =
        model_arena_array(arena, ops, sizeof(*cutter.overlaps.list));
    cutter.kernels = model_arena_array(arena, ops, sizeof(int));
    cutter.collectives = model_arena_array(arena, ops, sizeof(int));
    cutter.number = model_arena_array(arena, ops, sizeof(int));
    cutter.tail = model_arena_array(arena, (size_t)workload->stream_count + 1,
                                    sizeof(int));
    for (size_t i = 0; i < ops; i++) {
        cutter.number[i] = -1;
    }
    for (int i = 0; i < workload->stream_count; i++) {
        cutter.tail[i] = -1;
    }
    for (int i = 0; i < count; i++) {
        add(&cutter, order[i]);
    }
    if (cutter.kernel_count > cutter.first_kernel ||
        cutter.collective_count > cutter.first_collective) {
        cut(&cutter, cutter.kernel_count, cutter.collective_count);
    }
    return cutter.overlaps;
}

struct model_overlaps model_overlaps_make(struct model_arena *arena,
                                          const struct model_workload *workload)
{
    int *order =
        model_arena_array(arena, (size_t)workload->op_count + 1, sizeof(int));

    for (int i = 0; i < workload->op_count; i++) {
        order[i] = i;
    }
    return model_overlaps_in_order(arena, workload, order, workload->op_count);
}

double model_overlap_repeats(const struct model_workload *workload,
                             const struct model_overlap *overlap)
{
    int first = overlap->kernel_count > 0 ? overlap->kernels[0]
                                          : overlap->collectives[0];

    if (overlap->collective_count > 0 && overlap->collectives[0] < first) {
        first = overlap->collectives[0];
    }
    return model_workload_repeats(workload, first);
}
