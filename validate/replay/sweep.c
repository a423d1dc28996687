/*
 * sweep.c - lists of points to measure.
 *
 * All combinations become ops of one workload, which is then read as any other:
 * so keys, units and faults are those of workloads, with places in this file.
 */
#include "validate/replay/sweep.h"

#include "model/topology.h"

#include <string.h>

struct set {
    const struct model_node *ops;
    bool match;
    struct model_list working_sets;
};

struct file {
    const char *name;
    struct model_list sets;
};

#define SET(member) offsetof(struct set, member)

static const struct model_field set_fields[] = {
    {.key = "ops",
     .kind = MODEL_FIELD_NODE,
     .offset = SET(ops),
     .required = true,
     .help = "one op, or a collective and a computation"},
    {.key = "match",
     .kind = MODEL_FIELD_BOOL,
     .offset = SET(match),
     .default_text = "false",
     .help = "the collective is to last as long as the computation"},
    {.key = "working_set",
     .kind = MODEL_FIELD_QUANTITIES,
     .dimension = MODEL_BYTES,
     .one_or_more = true,
     .offset = SET(working_sets),
     .min = 4096.0,
     .max = 1e12,
     .help = "what a kernel reads again and again"},
    {.key = NULL}};

static const struct model_field file_fields[] = {
    {.key = "name",
     .kind = MODEL_FIELD_TEXT,
     .offset = offsetof(struct file, name),
     .required = true,
     .help = "for reports"},
    {.key = "sets",
     .kind = MODEL_FIELD_LIST,
     .offset = offsetof(struct file, sets),
     .fields = set_fields,
     .item_bytes = sizeof(struct set),
     .required = true,
     .help = "what to measure"},
    {.key = NULL}};

/* What the making of one sweep shares. */
struct maker {
    struct model_arena *arena;
    struct replay_sweep *sweep;
    struct model_errors *errors;
    struct model_node *list; /* ops of the workload */
    int room;
    bool full;
};

/* Variants of one op, each a mapping without lists of values. */
struct variants {
    const struct model_node **nodes;
    int count, room;
};

static void add_fault(struct maker *maker,
                      const struct model_node *node,
                      const char *hint,
                      const char *message)
{
    (void)model_errors_add(maker->errors, MODEL_BAD_INPUT, node->place, "ops",
                           hint, "%s", message);
}

/* Keys that are lists by themselves. */
static bool is_list_key(const char *key)
{
    return strcmp(key, "rows") == 0 || strcmp(key, "tile") == 0;
}

static struct model_node *copy(struct maker *maker,
                               const struct model_node *from,
                               struct model_node *parent,
                               const char *key)
{
    struct model_node *node =
        model_node_new(maker->arena, from->kind, parent, key, from->text);

    node->place = from->place;
    node->key_place = from->key_place;
    node->quoted = from->quoted;
    for (const struct model_node *child = from->first; child != NULL;
         child = child->next) {
        (void)copy(maker, child, node, child->key);
    }
    return node;
}

static void add_variant(struct maker *maker,
                        struct variants *variants,
                        const struct model_node *node)
{
    if (variants->count == REPLAY_POINTS_MAX) {
        maker->full = true;
        return;
    }
    variants->nodes =
        model_arena_grow(maker->arena, variants->nodes, variants->count,
                         &variants->room, sizeof(struct model_node *));
    variants->nodes[variants->count++] = node;
}

/* The first key that has a list of values, or NULL. */
static const struct model_node *listed_key(const struct model_node *op)
{
    const struct model_node *child = op->first;

    while (child != NULL &&
           (child->kind != MODEL_SEQUENCE || is_list_key(child->key))) {
        child = child->next;
    }
    return child;
}

/* The op with one value in the place of that list. */
static struct model_node *with_value(struct maker *maker,
                                     const struct model_node *op,
                                     const struct model_node *list,
                                     const struct model_node *value)
{
    struct model_node *node =
        model_node_new(maker->arena, MODEL_MAPPING, NULL, NULL, NULL);

    node->place = op->place;
    for (const struct model_node *child = op->first; child != NULL;
         child = child->next) {
        struct model_node *made =
            copy(maker, child == list ? value : child, node, child->key);

        made->key_place = child->key_place;
    }
    return node;
}

static void expand(struct maker *maker,
                   const struct model_node *op,
                   struct variants *variants)
{
    const struct model_node *list =
        op->kind == MODEL_MAPPING ? listed_key(op) : NULL;

    if (list == NULL) {
        add_variant(maker, variants, op);
        return;
    }
    if (list->count == 0) {
        add_fault(maker, list, "write [1, 2]", "an empty list of values");
    }
    for (const struct model_node *value = list->first;
         value != NULL && !maker->full; value = value->next) {
        expand(maker, with_value(maker, op, list, value), variants);
    }
}

/* An op of a set: a mapping, or a list of them. */
static struct variants variants_of(struct maker *maker,
                                   const struct model_node *op)
{
    struct variants variants = {.count = 0};

    if (op->kind != MODEL_SEQUENCE) {
        expand(maker, op, &variants);
        return variants;
    }
    for (const struct model_node *one = op->first; one != NULL;
         one = one->next) {
        expand(maker, one, &variants);
    }
    return variants;
}

/* Append an op to the workload; its number there. */
static int add_op(struct maker *maker, const struct model_node *op)
{
    static const char *const streams[] = {"first", "second"};
    int index = maker->list->count;
    struct model_node *node = copy(maker, op, maker->list, NULL);

    if (node->kind == MODEL_MAPPING) {
        struct model_node *id =
            model_node_new(maker->arena, MODEL_SCALAR, node, "id",
                           model_arena_format(maker->arena, "op%d", index));
        struct model_node *stream = model_node_new(
            maker->arena, MODEL_SCALAR, node, "stream", streams[index % 2]);

        id->place = op->place;
        stream->place = op->place;
    }
    return index;
}

static void add_point(struct maker *maker, struct replay_point point)
{
    struct replay_sweep *sweep = maker->sweep;

    if (sweep->count == REPLAY_POINTS_MAX) {
        maker->full = true;
        return;
    }
    sweep->points = model_arena_grow(maker->arena, sweep->points, sweep->count,
                                     &maker->room, sizeof(point));
    sweep->points[sweep->count++] = point;
}

/* A point of one op, for each working set. Which of both kinds the op is shows
   when the workload has been read. */
static void add_alone(struct maker *maker,
                      const struct set *set,
                      const struct model_node *op)
{
    const double *bytes = set->working_sets.items;
    struct replay_point point = {.collective = MODEL_UNSET,
                                 .computation = add_op(maker, op)};

    for (int i = 0; i < set->working_sets.count; i++) {
        point.working_set_bytes = bytes[i];
        add_point(maker, point);
    }
    if (set->working_sets.count == 0) {
        add_point(maker, point);
    }
}

static void add_set(struct maker *maker, const struct set *set)
{
    const struct model_node *ops = set->ops;
    struct variants first, second;

    if (ops->kind != MODEL_SEQUENCE || ops->count < 1 || ops->count > 2) {
        add_fault(maker, ops,
                  "write [{kind: ring_step, ...}, {kind: gemm, ...}]",
                  "not a list of one op or two");
        return;
    }
    if (ops->count == 2 && set->working_sets.count > 0) {
        add_fault(maker, ops, "leave working_set out",
                  "working sets are of one op alone");
        return;
    }
    first = variants_of(maker, ops->first);
    for (int i = 0; i < first.count && ops->count == 1; i++) {
        add_alone(maker, set, first.nodes[i]);
    }
    if (ops->count == 1) {
        return;
    }
    second = variants_of(maker, ops->last);
    for (int i = 0; i < second.count && !maker->full; i++) {
        for (int j = 0; j < first.count && !maker->full; j++) {
            struct replay_point point = {.match = set->match};

            point.collective = add_op(maker, first.nodes[j]);
            point.computation = add_op(maker, second.nodes[i]);
            add_point(maker, point);
        }
    }
}

/* Which op of a point is what, now that it is known. */
static void sort_point(struct maker *maker, struct replay_point *point)
{
    const struct model_op *ops = maker->sweep->workload.ops;
    bool pair = point->collective != MODEL_UNSET;
    bool first = pair && model_op_is_collective(&ops[point->collective]);
    bool second = model_op_is_collective(&ops[point->computation]);

    if (!pair && second) {
        point->collective = point->computation;
        point->computation = MODEL_UNSET;
    } else if (pair && (!first || second)) {
        (void)model_errors_add(maker->errors, MODEL_BAD_INPUT,
                               ops[point->computation].place, "ops",
                               "write the collective first",
                               "a pair is a collective and a computation");
    }
    if (point->working_set_bytes > 0.0 &&
        (point->computation == MODEL_UNSET ||
         (ops[point->computation].kind != MODEL_OP_KERNEL &&
          ops[point->computation].kind != MODEL_OP_MEMORY))) {
        (void)model_errors_add(maker->errors, MODEL_BAD_INPUT, ops[0].place,
                               "working_set", "write {kind: memory, hbm: 8 GB}",
                               "only memory and kernels read from a working "
                               "set");
    }
}

static void check_points(struct maker *maker)
{
    struct replay_sweep *sweep = maker->sweep;
    int curves = 0;

    for (int i = 0; i < sweep->count && maker->errors->count == 0; i++) {
        sort_point(maker, &sweep->points[i]);
        curves += sweep->points[i].working_set_bytes > 0.0 ? 1 : 0;
    }
    sweep->curve = curves > 0;
    if (curves > 0 && curves < sweep->count) {
        (void)model_errors_add(maker->errors, MODEL_BAD_INPUT,
                               sweep->workload.tree->place, "working_set",
                               "write them to a file of their own",
                               "some sets have one, some have none");
    }
}

enum model_status replay_sweep_read(struct model_arena *arena,
                                    const char *file,
                                    const struct model_topology *topology,
                                    struct replay_sweep *sweep,
                                    struct model_errors *errors)
{
    struct maker maker = {.arena = arena, .sweep = sweep, .errors = errors};
    struct model_binding binding = {.arena = arena, .errors = errors};
    struct model_node *root = model_yaml_read_file(arena, file, errors);
    struct model_node *workload;
    struct file content = {.name = NULL};
    const struct set *sets;

    *sweep = (struct replay_sweep){.count = 0};
    if (root == NULL ||
        model_schema_bind(&binding, file_fields, root, &content) != MODEL_OK) {
        return model_errors_status(errors);
    }
    workload = model_node_new(arena, MODEL_MAPPING, NULL, NULL, NULL);
    workload->place = root->place;
    (void)model_node_new(arena, MODEL_SCALAR, workload, "name", content.name);
    maker.list = model_node_new(arena, MODEL_SEQUENCE, workload, "ops", NULL);
    maker.list->place = root->place;
    sets = content.sets.items;
    for (int i = 0; i < content.sets.count; i++) {
        add_set(&maker, &sets[i]);
    }
    if (maker.full) {
        add_fault(&maker, root, "write fewer values", "over 20000 points");
    }
    if (errors->count == 0 &&
        model_workload_bind(arena, workload, file, NULL, 0, topology,
                            &sweep->workload, errors) == MODEL_OK) {
        check_points(&maker);
    }
    return model_errors_status(errors);
}
