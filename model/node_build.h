/*
 * node_build.h - how a reader hangs what it reads into a tree (internal).
 *
 * A reader announces scalars and the begin and end of collections in the order
 * of the text; whether a scalar is a key or a value follows from what is open.
 * Judged here: keys that are no scalar, duplicate keys, depth, NUL.
 */
#ifndef MODEL_NODE_BUILD_H
#define MODEL_NODE_BUILD_H

#include "model/yaml.h"

/* Zero-initialise, then set arena and faults.arena. */
struct model_node_build {
    struct model_arena *arena;
    struct model_errors faults;
    struct model_node *root;
    struct model_node *open[MODEL_YAML_DEPTH_MAX];
    int depth;
    const char *key; /* waits for its value, or NULL */
    struct model_place key_place;
    bool broken; /* a fault after which there is no tree */
};

/* Report a fault after which there is no tree. hint may be NULL. */
void model_node_build_break(struct model_node_build *build,
                            struct model_place place,
                            const char *message,
                            const char *hint);

/* text of length bytes is copied. */
void model_node_build_scalar(struct model_node_build *build,
                             struct model_place place,
                             const char *text,
                             size_t length,
                             bool quoted);

void model_node_build_open(struct model_node_build *build,
                           struct model_place place,
                           enum model_node_kind kind);

void model_node_build_close(struct model_node_build *build);

#endif
