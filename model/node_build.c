/*
 * node_build.c - hangs scalars and collections into a tree as they are read.
 *
 * The open collections stand in a stack of fixed depth. Duplicate keys are
 * looked for when a mapping closes, by sorting its keys, so that a mapping of
 * n keys costs n log n whatever its keys are.
 */
#include "model/node_build.h"

#include <stdlib.h>
#include <string.h>

enum { BUILD_FEW_KEYS = 16 };

void model_node_build_break(struct model_node_build *build,
                            struct model_place place,
                            const char *message,
                            const char *hint)
{
    build->broken = true;
    model_errors_add(&build->faults, MODEL_BAD_INPUT, place, NULL, hint, "%s",
                     message);
}

static struct model_node *build_innermost(const struct model_node_build *build)
{
    return build->depth > 0 ? build->open[build->depth - 1] : NULL;
}

static bool build_key_wanted(const struct model_node_build *build)
{
    const struct model_node *parent = build_innermost(build);
    return parent != NULL && parent->kind == MODEL_MAPPING &&
           build->key == NULL;
}

static struct model_node *build_node_add(struct model_node_build *build,
                                         struct model_place place,
                                         enum model_node_kind kind)
{
    struct model_node *parent = build_innermost(build);
    struct model_node *node =
        model_node_new(build->arena, kind, parent, NULL, NULL);
    node->place = place;
    node->key = build->key;
    node->key_place = build->key_place;
    build->key = NULL;
    build->key_place = (struct model_place){NULL, 0, 0};
    if (parent == NULL) {
        build->root = node;
    }
    return node;
}

void model_node_build_scalar(struct model_node_build *build,
                             struct model_place place,
                             const char *text,
                             size_t length,
                             bool quoted)
{
    if (memchr(text, '\0', length) != NULL) {
        model_node_build_break(build, place, "a text may not hold NUL", NULL);
        return;
    }
    const char *copy = model_arena_text_n(build->arena, text, length);
    if (build_key_wanted(build)) {
        build->key = copy;
        build->key_place = place;
        return;
    }
    struct model_node *node = build_node_add(build, place, MODEL_SCALAR);
    node->text = copy;
    node->quoted = quoted;
}

void model_node_build_open(struct model_node_build *build,
                           struct model_place place,
                           enum model_node_kind kind)
{
    if (build_key_wanted(build)) {
        model_node_build_break(build, place, "a key must be a plain text",
                               NULL);
    } else if (build->depth == MODEL_YAML_DEPTH_MAX) {
        model_node_build_break(build, place, "nested more than 64 levels deep",
                               NULL);
    } else {
        struct model_node *node = build_node_add(build, place, kind);
        build->open[build->depth++] = node;
    }
}

/* The path of a key in the innermost mapping, such as "ops[3].m". */
static const char *build_key_path(struct model_node_build *build,
                                  const char *key)
{
    const char *path = "";
    for (int i = 1; i < build->depth; i++) {
        const char *name = build->open[i]->key;
        int index = build->open[i - 1]->count - 1;
        const char *dot = path[0] == '\0' ? "" : ".";
        path =
            name == NULL
                ? model_arena_format(build->arena, "%s[%d]", path, index)
                : model_arena_format(build->arena, "%s%s%s", path, dot, name);
    }
    const char *dot = path[0] == '\0' ? "" : ".";
    return model_arena_format(build->arena, "%s%s%s", path, dot, key);
}

static void build_duplicate_report(struct model_node_build *build,
                                   const struct model_node *first,
                                   const struct model_node *again)
{
    const char *path = build->faults.count < MODEL_ERRORS_MAX
                           ? build_key_path(build, again->key)
                           : NULL;
    model_errors_add(&build->faults, MODEL_BAD_INPUT, again->key_place, path,
                     NULL, "duplicate key \"%s\", the first is in line %d",
                     again->key, first->key_place.line);
}

/* One child of a mapping, to be sorted. */
struct build_key {
    const struct model_node *node;
};

/* By key, then by place. */
static int build_keys_compare(const void *left, const void *right)
{
    const struct model_node *a = ((const struct build_key *)left)->node;
    const struct model_node *b = ((const struct build_key *)right)->node;
    int order = strcmp(a->key, b->key);
    if (order == 0) {
        order = a->key_place.line - b->key_place.line;
    }
    return order != 0 ? order : a->key_place.column - b->key_place.column;
}

static void build_duplicates_check(struct model_node_build *build,
                                   const struct model_node *mapping)
{
    struct build_key few[BUILD_FEW_KEYS];
    struct build_key *keys = few;
    size_t count = 0;
    if (mapping->count > BUILD_FEW_KEYS) {
        keys = model_arena_array(build->arena, (size_t)mapping->count,
                                 sizeof *keys);
    }
    for (const struct model_node *n = mapping->first; n != NULL; n = n->next) {
        keys[count++].node = n;
    }
    qsort(keys, count, sizeof *keys, build_keys_compare);
    for (size_t i = 1, first = 0; i < count; i++) {
        if (strcmp(keys[i].node->key, keys[first].node->key) == 0) {
            build_duplicate_report(build, keys[first].node, keys[i].node);
        } else {
            first = i;
        }
    }
}

void model_node_build_close(struct model_node_build *build)
{
    const struct model_node *node = build_innermost(build);
    if (node->kind == MODEL_MAPPING) {
        build_duplicates_check(build, node);
    }
    build->depth--;
}
