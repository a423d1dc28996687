/*
 * workload_build.h - a growing list of ops, for the op form, the lowerings and
 * importers; not for users of a finished workload.
 */
#ifndef MODEL_WORKLOAD_BUILD_H
#define MODEL_WORKLOAD_BUILD_H

#include "model/workload.h"

struct model_builder {
    struct model_arena *arena;
    struct model_workload *workload;
    int op_room;
    int stream_room;
    int group_room;
};

void model_builder_start(struct model_builder *builder,
                         struct model_arena *arena,
                         struct model_workload *workload);

/* The stream of that name, made when new. */
int model_builder_stream(struct model_builder *builder,
                         const char *name,
                         int priority);

/* Add a group; returns its index. ranks NULL: 0 .. count-1. */
int model_builder_group(struct model_builder *builder,
                        const char *name,
                        const int *ranks,
                        int count);

/* Index of a group by name, or -1. */
int model_builder_find_group(const struct model_builder *builder,
                             const char *name);

/* Append a copy of op; returns its index. */
int model_builder_add(struct model_builder *builder, const struct model_op *op);

/* Let op wait for another one; MODEL_UNSET is ignored. */
void model_builder_after(struct model_builder *builder, int op, int other);

/*
 * An op that waits for itself, by way of `after` and the order of streams, or
 * -1. With several, the first in the list that waits for another by `after`.
 */
int model_workload_circle(struct model_arena *arena,
                          const struct model_workload *workload);

/* world, node, and the groups of the file (may be NULL). */
enum model_status model_read_groups(struct model_builder *builder,
                                    const struct model_node *groups,
                                    const struct model_topology *topology,
                                    struct model_errors *errors);

/* The form "model": lower it into the builder. */
enum model_status model_lower(struct model_builder *builder,
                              const struct model_node *root,
                              const struct model_topology *topology,
                              struct model_errors *errors);

/* The form "ops": read the list into the builder. */
enum model_status model_read_ops(struct model_builder *builder,
                                 const struct model_node *ops,
                                 const struct model_node *streams,
                                 struct model_errors *errors);

#endif
