/*
 * node_merge.h - trees laid over each other: what one lacks comes from the one
 * below (internal).
 */
#ifndef MODEL_NODE_MERGE_H
#define MODEL_NODE_MERGE_H

#include "model/yaml.h"

/* NULL is none. */
bool model_node_is_mapping(const struct model_node *node);

/* Append child, with all below it, to parent. The child node is copied. */
void model_node_adopt(struct model_arena *arena,
                      struct model_node *parent,
                      const struct model_node *child);

/*
 * Add to `over` what it lacks of `under`, mapping by mapping; a number with its
 * source stays whole.
 */
void model_node_merge(struct model_arena *arena,
                      struct model_node *over,
                      const struct model_node *under);

/* Take a key out of a mapping; returns it or NULL. */
struct model_node *model_node_take(struct model_node *mapping, const char *key);

/* The mapping at key below parent, made when absent. */
struct model_node *model_node_mapping_at(struct model_arena *arena,
                                         struct model_node *parent,
                                         const char *key);

/*
 * The text of a key, written short or as {value: ..}; `otherwise` when there is
 * none. mapping may be NULL or no mapping.
 */
const char *model_node_text_at(const struct model_node *mapping,
                               const char *key,
                               const char *otherwise);

#endif
