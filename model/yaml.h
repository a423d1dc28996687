/*
 * yaml.h - YAML text to a tree of nodes that remember their place, and back.
 *
 * yaml.c is the one file that knows libyaml. The tree is plain: mappings keep
 * the order of their keys, every scalar is text (schema.h gives it a type).
 * Refused with a place: anchors and aliases, tags, several documents, keys
 * that are no scalar, duplicate keys, files over MODEL_YAML_BYTES_MAX, nesting
 * over MODEL_YAML_DEPTH_MAX, text that is not UTF-8.
 */
#ifndef MODEL_YAML_H
#define MODEL_YAML_H

#include "model/arena.h"
#include "model/error.h"
#include "model/text.h"

#include <stdbool.h>
#include <stdio.h>

enum { MODEL_YAML_BYTES_MAX = 64 << 20, MODEL_YAML_DEPTH_MAX = 64 };

enum model_node_kind { MODEL_SCALAR, MODEL_SEQUENCE, MODEL_MAPPING };

struct model_node {
    enum model_node_kind kind;
    struct model_place place;
    const char *key;              /* its key when its parent is a mapping */
    struct model_place key_place; /* place of that key */
    const char *text;             /* scalars: value, never NULL */
    bool quoted;                  /* scalars: was quoted */
    struct model_node *first;     /* children of sequence or mapping */
    struct model_node *last;
    struct model_node *next; /* next sibling */
    int count;               /* number of children */
};

/* The file of places made by model_node_set. */
#define MODEL_OVERRIDE_FILE "--set"

/*
 * Read a file ("-" is standard input), or text under the name `file`. Returns
 * the root node in the arena, or NULL with the faults in errors. An empty
 * document is a fault. Faults that leave the tree whole (duplicate keys, tags,
 * anchors) are reported and the root still returned, so that the binding can
 * report the rest of the file's faults: model_errors_status has the last word.
 */
struct model_node *model_yaml_read_file(struct model_arena *arena,
                                        const char *file,
                                        struct model_errors *errors);
/* The same of a file's text that is in memory; text is borrowed. */
struct model_node *model_yaml_read(struct model_arena *arena,
                                   struct model_text text,
                                   struct model_errors *errors);
struct model_node *model_yaml_read_text(struct model_arena *arena,
                                        const char *file,
                                        const char *text,
                                        size_t length,
                                        struct model_errors *errors);

/* The child of a mapping with that key, or NULL. */
struct model_node *model_node_find(const struct model_node *mapping,
                                   const char *key);

/*
 * Build a tree by hand: a new node, appended to parent (NULL: a root) under
 * key (NULL in sequences). text is copied.
 */
struct model_node *model_node_new(struct model_arena *arena,
                                  enum model_node_kind kind,
                                  struct model_node *parent,
                                  const char *key,
                                  const char *text);

/*
 * Apply "path=value" (such as "nodes.nics.rate=200 Gbit/s", "ops[3].m=512")
 * to the tree. The value is YAML flow text: a scalar, {...} or [...]. Missing
 * mappings on the way are made; schema binding judges the result. A scalar
 * put where the long form {value: .., from: .., source: ..} stands replaces
 * its value and marks from: override. Nodes so made have the place {"--set"}.
 */
enum model_status model_node_set(struct model_arena *arena,
                                 struct model_node *root,
                                 const char *assignment,
                                 struct model_errors *errors);

/*
 * Write the tree as YAML. Mappings that hold only scalars are written in flow
 * style below the first level. Returns MODEL_FAULT when the stream fails.
 */
enum model_status model_yaml_write(const struct model_node *root, FILE *stream);

#endif
