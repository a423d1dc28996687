/*
 * node_merge.c - trees laid over each other.
 */
#include "model/node_merge.h"

#include <string.h>

void model_node_adopt(struct model_arena *arena,
                      struct model_node *parent,
                      const struct model_node *child)
{
    struct model_node *copy =
        model_node_new(arena, child->kind, parent, child->key, child->text);
    struct model_node *next = copy->next;

    *copy = *child;
    copy->next = next;
}

bool model_node_is_mapping(const struct model_node *node)
{
    return node != NULL && node->kind == MODEL_MAPPING;
}

void model_node_merge(struct model_arena *arena,
                      struct model_node *over,
                      const struct model_node *under)
{
    for (const struct model_node *child = under->first; child != NULL;
         child = child->next) {
        struct model_node *own = model_node_find(over, child->key);

        if (own == NULL) {
            model_node_adopt(arena, over, child);
        } else if (own->kind == MODEL_MAPPING && child->kind == MODEL_MAPPING &&
                   model_node_find(own, "value") == NULL) {
            model_node_merge(arena, own, child);
        }
    }
}

struct model_node *model_node_take(struct model_node *mapping, const char *key)
{
    struct model_node *before = NULL;

    for (struct model_node *child = mapping->first; child != NULL;
         before = child, child = child->next) {
        if (strcmp(child->key, key) != 0) {
            continue;
        }
        if (before == NULL) {
            mapping->first = child->next;
        } else {
            before->next = child->next;
        }
        if (mapping->last == child) {
            mapping->last = before;
        }
        mapping->count--;
        return child;
    }
    return NULL;
}

struct model_node *model_node_mapping_at(struct model_arena *arena,
                                         struct model_node *parent,
                                         const char *key)
{
    struct model_node *child = model_node_find(parent, key);

    if (child == NULL) {
        child = model_node_new(arena, MODEL_MAPPING, parent, key, NULL);
        child->place = parent->place;
    }
    return child;
}

const char *model_node_text_at(const struct model_node *mapping,
                               const char *key,
                               const char *otherwise)
{
    const struct model_node *child =
        model_node_is_mapping(mapping) ? model_node_find(mapping, key) : NULL;

    if (model_node_is_mapping(child)) {
        child = model_node_find(child, "value");
    }
    return child != NULL && child->kind == MODEL_SCALAR ? child->text
                                                        : otherwise;
}
