/*
 * predict.c - rows grouped by machine, and all groups run.
 *
 * What does not change from one prediction to the next is made once: groups,
 * NCCL's versions, the trees of computations. Topologies are read anew, since
 * overrides may change any number of theirs.
 */
#include "validate/predict_parts.h"

#include "model/files.h"
#include "model/notation.h"

#include <string.h>

struct grouping {
    struct model_arena *arena;
    struct validate_predictor *predictor;
    struct validate_machine *machines;
    int count, room;
    int *rooms; /* of the rows of each */
};

static bool same_place(const struct validate_machine *a,
                       const struct validate_machine *b)
{
    return a->nodes == b->nodes && a->gpus_per_node == b->gpus_per_node &&
           strcmp(a->topology, b->topology) == 0;
}

static bool same_machine(const struct validate_machine *a,
                         const struct validate_machine *b)
{
    return a->computation == NULL && b->computation == NULL &&
           a->version == b->version &&
           model_same(a->buffer_bytes, b->buffer_bytes) && same_place(a, b);
}

/* A computation as the tree of an op on a stream of its own. */
static const struct model_node *
read_computation(struct model_arena *arena, const struct validate_record *row)
{
    struct model_errors ignored = {.arena = arena};
    struct model_node *node =
        row->computation[0] != '\0'
            ? model_yaml_read_text(arena, "computation", row->computation,
                                   strlen(row->computation), &ignored)
            : NULL;

    if (node != NULL && node->kind == MODEL_MAPPING) {
        (void)model_node_new(arena, MODEL_SCALAR, node, "id", "computation");
        (void)model_node_new(arena, MODEL_SCALAR, node, "stream",
                             "computation");
    }
    return node;
}

static struct validate_machine machine_of(const struct grouping *grouping,
                                          const struct validate_record *row,
                                          const char *topology)
{
    const struct validate_predictor *predictor = grouping->predictor;

    return (struct validate_machine){
        .topology = topology != NULL ? topology : row->topology,
        .version = model_nccl_version_nearest(
            predictor->versions, predictor->version_count, row->version),
        .buffer_bytes = row->buffer_bytes,
        .nodes = row->nodes,
        .gpus_per_node = row->gpus / row->nodes,
        .gpu = "",
        .computation = read_computation(grouping->arena, row)};
}

static int add_machine(struct grouping *grouping,
                       const struct validate_machine *machine)
{
    int room = grouping->room;

    grouping->machines =
        model_arena_grow(grouping->arena, grouping->machines, grouping->count,
                         &room, sizeof(*grouping->machines));
    grouping->rooms =
        model_arena_grow(grouping->arena, grouping->rooms, grouping->count,
                         &grouping->room, sizeof(*grouping->rooms));
    grouping->machines[grouping->count] = *machine;
    grouping->rooms[grouping->count] = 0;
    return grouping->count++;
}

static void add_row(struct grouping *grouping, int number, int row)
{
    struct validate_machine *machine = &grouping->machines[number];
    int *rows = model_arena_grow(grouping->arena, (void *)machine->rows,
                                 machine->row_count, &grouping->rooms[number],
                                 sizeof(*rows));

    rows[machine->row_count++] = row;
    machine->rows = rows;
}

static void group_rows(struct grouping *grouping, const char *topology)
{
    const struct validate_records *records = grouping->predictor->records;

    for (int i = 0; i < records->count; i++) {
        struct validate_machine machine =
            machine_of(grouping, &records->rows[i], topology);
        int at = 0;

        while (at < grouping->count &&
               !same_machine(&machine, &grouping->machines[at])) {
            at++;
        }
        if (at == grouping->count) {
            (void)add_machine(grouping, &machine);
        }
        add_row(grouping, at, i);
        grouping->predictor->machine_of[i] = at;
    }
}

/* Is there anything to read, rather than a name that nobody knows? */
static bool is_there(struct model_arena *arena, const char *topology)
{
    struct model_errors ignored = {.arena = arena};

    return (model_notation_is(topology) && !model_file_exists(topology)) ||
           model_file_find(arena, "topologies", topology,
                           (struct model_place){"lagom", 0, 0}, NULL,
                           &ignored) != NULL;
}

/* Read a topology with so many nodes; 0: as it is. */
static bool read_topology(struct model_arena *arena,
                          const char *name,
                          int nodes,
                          struct model_topology *topology,
                          struct model_errors *faults)
{
    const char *set = model_arena_format(arena, "nodes=%d", nodes);

    *faults = (struct model_errors){.arena = arena};
    return model_topology_read(arena, name, &set, nodes > 0 ? 1 : 0, topology,
                               faults) == MODEL_OK;
}

/*
 * Why nothing runs on a machine, or NULL, and then what GPU it has; faults of
 * files are reported.
 */
static const char *reason_of(struct model_arena *arena,
                             struct validate_machine *machine,
                             struct model_errors *errors)
{
    const char *name = machine->topology;
    struct model_errors faults;
    struct model_topology topology;

    if (name[0] == '\0') {
        return "no topology is named";
    }
    if (strcmp(name, "-") == 0) {
        return "a topology on standard input: write it to a file";
    }
    if (!is_there(arena, name)) {
        return model_arena_format(arena, "no topology %s: -t names another",
                                  name);
    }
    if (!read_topology(arena, name, machine->nodes, &topology, &faults)) {
        const char *message = faults.list[0].message;

        if (name[strspn(name, "0123456789x")] == '\0') {
            return model_arena_format(
                arena, "topology=%s ends at a blank: write topology=\"%s ...\"",
                name, name);
        }
        if (!read_topology(arena, name, 0, &topology, &faults) &&
            (!model_notation_is(name) || model_file_exists(name))) {
            model_errors_move(errors, &faults);
        }
        return model_arena_format(arena, "%s with %d nodes: %s", name,
                                  machine->nodes, message);
    }
    if (machine->gpus_per_node > topology.gpus_per_node) {
        return model_arena_format(arena, "%d GPUs a node, %s has %d",
                                  machine->gpus_per_node, name,
                                  topology.gpus_per_node);
    }
    machine->gpu = topology.gpu.name;
    return NULL;
}

/* Each place is judged once, and the faults of a file are told once. */
static void find_reasons(struct grouping *grouping, struct model_errors *errors)
{
    for (int i = 0; i < grouping->count; i++) {
        struct validate_machine *machine = &grouping->machines[i];
        int before = errors->count;
        int same = 0;

        while (!same_place(&grouping->machines[same], machine) &&
               !(grouping->machines[same].faulty &&
                 strcmp(grouping->machines[same].topology, machine->topology) ==
                     0)) {
            same++;
        }
        machine->gpu = grouping->machines[same].gpu;
        machine->reason = same < i
                              ? grouping->machines[same].reason
                              : reason_of(grouping->arena, machine, errors);
        machine->faulty = errors->count > before;
    }
}

enum model_status
validate_predictor_make(struct model_arena *arena,
                        const struct validate_records *records,
                        const char *topology,
                        struct validate_predictor **predictor,
                        struct model_errors *errors)
{
    struct grouping grouping = {.arena = arena};
    int before = errors->count;

    *predictor = model_arena_alloc(arena, sizeof(**predictor));
    (*predictor)->records = records;
    (*predictor)->versions =
        model_nccl_versions_read(arena, &(*predictor)->version_count, errors);
    if ((*predictor)->versions == NULL) {
        return MODEL_BAD_INPUT;
    }
    (*predictor)->machine_of =
        model_arena_array(arena, (size_t)records->count, sizeof(int));
    grouping.predictor = *predictor;
    group_rows(&grouping, topology);
    find_reasons(&grouping, errors);
    (*predictor)->machines = grouping.machines;
    (*predictor)->machine_count = grouping.count;
    return errors->count == before ? MODEL_OK : MODEL_BAD_INPUT;
}

struct validate_place
validate_predictor_place(const struct validate_predictor *predictor, int row)
{
    const struct validate_machine *machine =
        &predictor->machines[predictor->machine_of[row]];

    return (struct validate_place){machine->topology, machine->gpu};
}

/* -- all machines -- */

static bool is_wanted(const struct validate_machine *machine,
                      const bool *wanted)
{
    for (int i = 0; i < machine->row_count; i++) {
        if (wanted == NULL || wanted[machine->rows[i]]) {
            return true;
        }
    }
    return false;
}

static void leave_out(const struct validate_machine *machine,
                      const bool *wanted,
                      struct validate_prediction *predictions)
{
    for (int i = 0; i < machine->row_count; i++) {
        int row = machine->rows[i];

        if (wanted == NULL || wanted[row]) {
            predictions[row] = (struct validate_prediction){
                .left_out = true, .reason = machine->reason};
        }
    }
}

enum model_status validate_predict(const struct validate_predictor *predictor,
                                   const char *const *sets,
                                   int set_count,
                                   const bool *wanted,
                                   struct model_arena *scratch,
                                   struct validate_prediction *predictions,
                                   struct model_errors *errors)
{
    model_arena_reset(scratch);
    for (int i = 0; i < predictor->machine_count; i++) {
        const struct validate_machine *machine = &predictor->machines[i];

        if (!is_wanted(machine, wanted)) {
            continue;
        }
        if (machine->reason != NULL) {
            leave_out(machine, wanted, predictions);
        } else if (validate_machine_run(predictor, machine, sets, set_count,
                                        wanted, scratch, predictions,
                                        errors) != MODEL_OK) {
            return model_errors_status(errors);
        }
    }
    return MODEL_OK;
}
