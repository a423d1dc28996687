/*
 * node.c - the tree of nodes without its text form: find, build, override.
 *
 * An override "path=value" walks the tree along the path. What is missing on
 * the way is first made as an empty scalar and becomes a mapping when a key is
 * looked for in it; schema binding judges the keys later. The value goes
 * through the YAML reader, and all that an override makes is placed at "--set"
 * so that faults and provenance tell where it came from.
 */
#include "model/yaml.h"

#include <stdlib.h>
#include <string.h>

/* One "--set", as long as it is being applied. */
struct node_setting {
    struct model_arena *arena;
    struct model_errors *errors;
    const char *assignment;
};

static const struct model_place node_override_place = {MODEL_OVERRIDE_FILE, 0,
                                                       0};

struct model_node *model_node_find(const struct model_node *mapping,
                                   const char *key)
{
    if (mapping == NULL || mapping->kind != MODEL_MAPPING) {
        return NULL;
    }
    struct model_node *child = mapping->first;
    while (child != NULL && strcmp(child->key, key) != 0) {
        child = child->next;
    }
    return child;
}

static void node_append(struct model_node *parent, struct model_node *node)
{
    if (parent->last == NULL) {
        parent->first = node;
    } else {
        parent->last->next = node;
    }
    parent->last = node;
    parent->count++;
}

struct model_node *model_node_new(struct model_arena *arena,
                                  enum model_node_kind kind,
                                  struct model_node *parent,
                                  const char *key,
                                  const char *text)
{
    struct model_node *node = model_arena_alloc(arena, sizeof *node);
    node->kind = kind;
    if (key != NULL) {
        node->key = model_arena_text(arena, key);
    }
    if (kind == MODEL_SCALAR) {
        node->text = text == NULL ? "" : model_arena_text(arena, text);
    }
    if (parent != NULL) {
        node_append(parent, node);
    }
    return node;
}

static enum model_status node_set_fault(const struct node_setting *setting,
                                        enum model_status status,
                                        const char *hint,
                                        const char *message)
{
    return model_errors_add(setting->errors, status, node_override_place, NULL,
                            hint, "\"%s\": %s", setting->assignment, message);
}

static struct model_node *node_set_new(const struct node_setting *setting,
                                       struct model_node *parent,
                                       const char *key,
                                       const char *text)
{
    struct model_node *node =
        model_node_new(setting->arena, MODEL_SCALAR, parent, key, text);
    node->place = node_override_place;
    node->key_place = node_override_place;
    return node;
}

static bool node_is_empty(const struct model_node *node)
{
    return node->kind == MODEL_SCALAR && !node->quoted && node->text[0] == '\0';
}

/* Step to the key at *at, which is made when missing; moves *at past it. */
static struct model_node *node_key_step(const struct node_setting *setting,
                                        struct model_node *node,
                                        const char **at)
{
    size_t length = strcspn(*at, ".[");
    char *key = model_arena_text_n(setting->arena, *at, length);
    if (length == 0) {
        node_set_fault(setting, MODEL_USAGE, "write \"key.path=value\"",
                       "a key is missing in the path");
        return NULL;
    }
    if (node_is_empty(node)) {
        node->kind = MODEL_MAPPING;
        node->text = NULL;
    }
    if (node->kind != MODEL_MAPPING) {
        node_set_fault(setting, MODEL_BAD_INPUT, NULL,
                       model_arena_format(setting->arena,
                                          "no mapping to look for \"%s\" in",
                                          key));
        return NULL;
    }
    *at += length;
    struct model_node *child = model_node_find(node, key);
    return child != NULL ? child : node_set_new(setting, node, key, NULL);
}

/* Step to the entry "[index]" at *at; moves *at past it. */
static struct model_node *node_index_step(const struct node_setting *setting,
                                          const struct model_node *node,
                                          const char **at)
{
    size_t digits = strspn(*at + 1, "0123456789");
    if (digits == 0 || (*at)[1 + digits] != ']') {
        node_set_fault(setting, MODEL_USAGE, "write \"key[0]=value\"",
                       "no whole number in brackets");
        return NULL;
    }
    unsigned long index = strtoul(*at + 1, NULL, 10);
    unsigned long count =
        node->kind == MODEL_SEQUENCE ? (unsigned long)node->count : 0;
    if (index >= count) {
        node_set_fault(setting, MODEL_BAD_INPUT, NULL,
                       model_arena_format(setting->arena,
                                          "no entry [%lu], there are %lu",
                                          index, count));
        return NULL;
    }
    *at += digits + 2;
    struct model_node *child = node->first;
    while (index-- > 0) {
        child = child->next;
    }
    return child;
}

static struct model_node *node_path_walk(const struct node_setting *setting,
                                         struct model_node *root,
                                         const char *path)
{
    const char *at = path;
    struct model_node *node = root;
    bool dot = true; /* what follows must be a key, or '[' at the start */
    do {
        if (*at == '[' && (!dot || at == path)) {
            node = node_index_step(setting, node, &at);
        } else if (dot) {
            node = node_key_step(setting, node, &at);
        } else {
            node_set_fault(setting, MODEL_USAGE, "write \"a[0].b=value\"",
                           "a dot is missing behind \"]\"");
            return NULL;
        }
        dot = *at == '.';
        at += dot;
    } while (node != NULL && (*at != '\0' || dot));
    return node;
}

/* The value as a tree, all placed at "--set", or NULL after a fault. */
static struct model_node *node_value_read(const struct node_setting *setting,
                                          const char *text)
{
    struct model_errors faults = {.arena = setting->arena};
    if (text[strspn(text, " \t\n")] == '\0') {
        node_set_fault(setting, MODEL_USAGE, "write \"key.path=value\"",
                       "no value");
        return NULL;
    }
    struct model_node *value = model_yaml_read_text(
        setting->arena, MODEL_OVERRIDE_FILE, text, strlen(text), &faults);
    if (faults.count > 0) {
        const struct model_error *first = &faults.list[0];
        node_set_fault(setting, MODEL_BAD_INPUT, first->hint, first->message);
        return NULL;
    }
    return value;
}

static void node_place_override(struct model_node *node)
{
    node->place = node_override_place;
    if (node->key != NULL) {
        node->key_place = node_override_place;
    }
    for (struct model_node *n = node->first; n != NULL; n = n->next) {
        node_place_override(n);
    }
}

/* Put value in the place of node, which keeps its key and its siblings. */
static void node_value_replace(struct model_node *node,
                               const struct model_node *value)
{
    node->kind = value->kind;
    node->place = value->place;
    node->text = value->text;
    node->quoted = value->quoted;
    node->first = value->first;
    node->last = value->last;
    node->count = value->count;
}

/* Is it {value: .., from: .., source: ..}, in part or whole? */
static bool node_is_long_form(const struct model_node *node)
{
    for (const struct model_node *n = node->first; n != NULL; n = n->next) {
        if (n->key == NULL ||
            (strcmp(n->key, "value") != 0 && strcmp(n->key, "from") != 0 &&
             strcmp(n->key, "source") != 0)) {
            return false;
        }
    }
    return model_node_find(node, "value") != NULL;
}

/* The new number is not what the source says: only value and from remain. */
static void node_long_form_override(const struct node_setting *setting,
                                    struct model_node *node,
                                    const struct model_node *value)
{
    node->first = NULL;
    node->last = NULL;
    node->count = 0;
    node_value_replace(node_set_new(setting, node, "value", NULL), value);
    node_set_new(setting, node, "from", "override");
}

enum model_status model_node_set(struct model_arena *arena,
                                 struct model_node *root,
                                 const char *assignment,
                                 struct model_errors *errors)
{
    const struct node_setting setting = {arena, errors, assignment};
    const char *equal = strchr(assignment, '=');
    if (equal == NULL) {
        return node_set_fault(&setting, MODEL_USAGE, "write \"key.path=value\"",
                              "no \"=\"");
    }
    struct model_node *value = node_value_read(&setting, equal + 1);
    if (value == NULL) {
        return model_errors_status(errors);
    }
    node_place_override(value);
    struct model_node *node = node_path_walk(
        &setting, root,
        model_arena_text_n(arena, assignment, (size_t)(equal - assignment)));
    if (node == NULL) {
        return model_errors_status(errors);
    }
    if (value->kind == MODEL_SCALAR && node_is_long_form(node)) {
        node_long_form_override(&setting, node, value);
    } else {
        node_value_replace(node, value);
    }
    return MODEL_OK;
}
