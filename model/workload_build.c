/*
 * workload_build.c - lists that grow in an arena.
 *
 * Arrays double and the old copy stays in the arena: at most as much again as
 * the final list, for the life of the workload.
 */
#include "model/workload_build.h"

#include <string.h>

void model_builder_start(struct model_builder *builder,
                         struct model_arena *arena,
                         struct model_workload *workload)
{
    *builder = (struct model_builder){.arena = arena, .workload = workload};
}

int model_builder_stream(struct model_builder *builder,
                         const char *name,
                         int priority)
{
    struct model_workload *workload = builder->workload;

    for (int i = 0; i < workload->stream_count; i++) {
        if (strcmp(workload->streams[i].name, name) == 0) {
            return i;
        }
    }
    workload->streams = model_arena_grow(
        builder->arena, workload->streams, workload->stream_count,
        &builder->stream_room, sizeof(*workload->streams));
    workload->streams[workload->stream_count] =
        (struct model_stream){name, priority};
    return workload->stream_count++;
}

int model_builder_group(struct model_builder *builder,
                        const char *name,
                        const int *ranks,
                        int count)
{
    struct model_workload *workload = builder->workload;

    workload->groups = model_arena_grow(
        builder->arena, workload->groups, workload->group_count,
        &builder->group_room, sizeof(*workload->groups));
    workload->groups[workload->group_count] =
        (struct model_group){.name = name, .ranks = ranks, .count = count};
    return workload->group_count++;
}

int model_builder_find_group(const struct model_builder *builder,
                             const char *name)
{
    for (int i = 0; i < builder->workload->group_count; i++) {
        if (strcmp(builder->workload->groups[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

int model_builder_add(struct model_builder *builder, const struct model_op *op)
{
    struct model_workload *workload = builder->workload;

    workload->ops =
        model_arena_grow(builder->arena, workload->ops, workload->op_count,
                         &builder->op_room, sizeof(*workload->ops));
    workload->ops[workload->op_count] = *op;
    return workload->op_count++;
}

void model_builder_after(struct model_builder *builder, int op, int other)
{
    struct model_op *target = &builder->workload->ops[op];
    int *after;

    if (other == MODEL_UNSET) {
        return;
    }
    after = model_arena_array(builder->arena, (size_t)target->after_count + 1,
                              sizeof(*after));
    if (target->after_count > 0) {
        memcpy(after, target->after,
               (size_t)target->after_count * sizeof(*after));
    }
    after[target->after_count++] = other;
    target->after = after;
}
