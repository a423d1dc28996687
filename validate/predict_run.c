/*
 * predict_run.c - the rows of one machine as a workload, simulated.
 *
 * Collectives run back to back on one stream, as nccl-tests launch them, behind
 * one more that is not counted: its launch is the CPU's, theirs are not.
 */
#include "validate/predict_parts.h"

#include "model/nccl/settings_read.h"
#include "model/node_merge.h"
#include "model/workload_build.h"
#include "search/explain_words.h"
#include "search/perf.h"

#include <math.h>
#include <string.h>

/* A simulation of rows of a machine. */
struct run {
    const struct validate_predictor *predictor;
    const struct validate_machine *machine;
    struct model_arena *arena;
    struct model_topology topology;
    const struct model_nccl_version *version;
    struct model_nccl_settings settings;
    const int *rows;
    int row_count;
    struct model_workload workload;
    int first; /* op of the first row */
};

/* -- the machine -- */

static enum model_status read_topology(struct run *run,
                                       const char *const *sets,
                                       int set_count,
                                       struct model_errors *errors)
{
    const char **all =
        model_arena_array(run->arena, (size_t)set_count + 1, sizeof(*all));

    for (int i = 0; i < set_count; i++) {
        all[i] = sets[i];
    }
    all[set_count] =
        model_arena_format(run->arena, "nodes=%d", run->machine->nodes);
    return model_topology_read(run->arena, run->machine->topology, all,
                               set_count + 1, &run->topology, errors);
}

static enum model_status find_version(struct run *run,
                                      struct model_errors *errors)
{
    struct model_nccl_version *other;

    run->version = run->machine->version;
    for (int i = 0; run->version == NULL && i < run->predictor->version_count;
         i++) {
        if (strcmp(run->predictor->versions[i].name,
                   run->topology.nccl.version) == 0) {
            run->version = &run->predictor->versions[i];
        }
    }
    if (run->version != NULL) {
        return MODEL_OK;
    }
    other = model_arena_alloc(run->arena, sizeof(*other));
    run->version = other;
    return model_nccl_version_read(
        run->arena, run->topology.nccl.version,
        (struct model_place){run->machine->topology, 0, 0}, "nccl.version",
        other, errors);
}

static enum model_status read_settings(struct run *run,
                                       struct model_errors *errors)
{
    struct model_nccl_reader reader = {.arena = run->arena,
                                       .version = run->version,
                                       .settings = &run->settings,
                                       .errors = errors};
    const char *const *env = run->topology.nccl.env.items;
    struct model_place place = {run->machine->topology, 0, 0};
    int before = errors->count;

    run->settings = model_nccl_settings_none();
    for (int i = 0; i < run->topology.nccl.env.count; i++) {
        (void)model_nccl_settings_read(&reader, env[i], place);
    }
    if (run->machine->buffer_bytes > 0.0) {
        (void)model_nccl_settings_read(
            &reader,
            model_arena_format(run->arena, "NCCL_BUFFSIZE=%.0f",
                               run->machine->buffer_bytes),
            place);
    }
    model_nccl_settings_apply(&run->settings, &run->topology);
    return errors->count == before ? MODEL_OK : MODEL_BAD_INPUT;
}

/* -- the workload -- */

/* All GPUs, or the first of each node. */
static int add_group(struct model_builder *builder, const struct run *run)
{
    int taken = run->machine->gpus_per_node;
    int count = 0;
    int *ranks;

    if (taken == run->topology.gpus_per_node) {
        return model_builder_find_group(builder, "world");
    }
    ranks = model_arena_array(run->arena,
                              (size_t)run->machine->nodes * (size_t)taken,
                              sizeof(*ranks));
    for (int node = 0; node < run->machine->nodes; node++) {
        for (int gpu = 0; gpu < taken; gpu++) {
            ranks[count++] = node * run->topology.gpus_per_node + gpu;
        }
    }
    return model_builder_group(builder, "part", ranks, count);
}

static void add_op(struct model_builder *builder,
                   const struct run *run,
                   const struct validate_record *row,
                   int group)
{
    struct model_op op = {.id = "record",
                          .kind = row->kind,
                          .bytes = row->size_bytes,
                          .shift = 1,
                          .group = group,
                          .config = row->config,
                          .place = row->place};

    if (row->kind == MODEL_OP_RING_STEP) {
        /* The one way that it can be done. */
        op.config.algorithm = MODEL_RING;
        op.config.protocol = MODEL_SIMPLE;
        op.config.transport = MODEL_P2P;
    }
    op.stream = model_builder_stream(builder, "collectives",
                                     run->machine->computation != NULL ? 1 : 0);
    (void)model_builder_add(builder, &op);
}

/* Ops of the run's rows; the computation is the first, where there is one. */
static enum model_status make_workload(struct run *run,
                                       struct model_errors *errors)
{
    const struct validate_record *rows = run->predictor->records->rows;
    struct model_node *root =
        model_node_new(run->arena, MODEL_MAPPING, NULL, NULL, NULL);
    struct model_node *ops =
        model_node_new(run->arena, MODEL_SEQUENCE, root, "ops", NULL);
    struct model_builder builder;
    int group;

    run->workload = (struct model_workload){
        .name = "records", .label = "records", .tree = root};
    model_builder_start(&builder, run->arena, &run->workload);
    if (model_read_groups(&builder, NULL, &run->topology, errors) != MODEL_OK) {
        return MODEL_BAD_INPUT;
    }
    group = add_group(&builder, run);
    if (run->machine->computation != NULL) {
        model_node_adopt(run->arena, ops, run->machine->computation);
        if (model_read_ops(&builder, ops, NULL, errors) != MODEL_OK) {
            return MODEL_BAD_INPUT;
        }
    } else {
        add_op(&builder, run, &rows[run->rows[0]], group);
    }
    run->first = run->workload.op_count;
    for (int i = 0; i < run->row_count; i++) {
        if (rows[run->rows[i]].kind != MODEL_UNSET) {
            add_op(&builder, run, &rows[run->rows[i]], group);
        }
    }
    return MODEL_OK;
}

/* -- the simulation -- */

/* In whole picoseconds, as times are simulated: equal ones are equal numbers,
 * whatever ran before. */
static double in_picoseconds(double time_us)
{
    return round(time_us * 1e6) / 1e6;
}

static void take_collective(const struct sim *sim,
                            const struct sim_op_result *result,
                            int repeats,
                            struct validate_prediction *prediction)
{
    char name[96];

    prediction->time_us = in_picoseconds(sim_op_mean_us(result, repeats));
    prediction->config = result->config;
    prediction->launch_us = result->run_us - result->start_us;
    prediction->moving_us = result->move->moving_us;
    prediction->limited_by = "channels";
    if (result->move->limited_by != SIM_LIMITED_BY_CHANNELS) {
        prediction->limited_by = search_words_resource(sim_resource_name(
            sim, result->move->limited_by, name, sizeof(name)));
    }
}

/* A collective of one GPU, where nccl-tests copy. */
static bool is_lonely(const struct run *run, int index)
{
    const struct validate_record *row =
        &run->predictor->records->rows[run->rows[index]];

    return row->gpus == 1 && row->kind != MODEL_UNSET &&
           row->kind != MODEL_OP_RING_STEP;
}

static void take_results(const struct run *run,
                         const struct sim *sim,
                         const struct sim_result *result,
                         struct validate_prediction *predictions)
{
    int repeats = run->machine->computation != NULL ? 1 : SEARCH_PERF_REPEATS;

    for (int i = 0; i < run->row_count; i++) {
        struct validate_prediction *prediction = &predictions[run->rows[i]];

        *prediction = (struct validate_prediction){
            .config = model_config_none(), .limited_by = ""};
        if (run->machine->computation != NULL) {
            prediction->computation_us =
                in_picoseconds(result->ops[0].end_us - result->ops[0].start_us);
        }
        if (is_lonely(run, i)) {
            prediction->left_out = true;
            prediction->reason = "one GPU has nobody to talk to";
        } else if (run->first + i < run->workload.op_count) {
            take_collective(sim, &result->ops[run->first + i], repeats,
                            prediction);
        }
    }
}

static enum model_status simulate(struct run *run,
                                  struct validate_prediction *predictions,
                                  struct model_errors *errors)
{
    struct model_nccl nccl;
    struct sim_request request = {.topology = &run->topology,
                                  .workload = &run->workload,
                                  .nccl = &nccl,
                                  .seed = 1};
    struct sim_result result;
    struct sim *sim;

    if (make_workload(run, errors) != MODEL_OK) {
        return MODEL_BAD_INPUT;
    }
    request.all_ranks =
        run->machine->gpus_per_node != run->topology.gpus_per_node ||
        model_ranks_differ(&run->topology);
    model_nccl_make(run->arena, &run->topology, &run->workload, run->version,
                    &run->settings, true, &nccl);
    sim = sim_new(run->arena, &request, errors);
    if (sim == NULL || sim_run(sim, &result, errors) != MODEL_OK) {
        return MODEL_BAD_INPUT;
    }
    take_results(run, sim, &result, predictions);
    return MODEL_OK;
}

/* Rows of which one cannot run are run one by one. */
static void simulate_each(struct run *run,
                          struct validate_prediction *predictions)
{
    const int *rows = run->rows;
    int count = run->row_count;

    run->row_count = 1;
    for (int i = 0; i < count; i++) {
        struct model_errors faults = {.arena = run->arena};

        run->rows = &rows[i];
        if (simulate(run, predictions, &faults) != MODEL_OK) {
            predictions[rows[i]] = (struct validate_prediction){
                .left_out = true, .reason = faults.list[0].message};
        }
    }
}

/* The wanted ones of a machine's rows. */
static void choose_rows(struct run *run, const bool *wanted)
{
    int *rows = model_arena_array(run->arena, (size_t)run->machine->row_count,
                                  sizeof(*rows));

    for (int i = 0; i < run->machine->row_count; i++) {
        if (wanted == NULL || wanted[run->machine->rows[i]]) {
            rows[run->row_count++] = run->machine->rows[i];
        }
    }
    run->rows = rows;
}

enum model_status
validate_machine_run(const struct validate_predictor *predictor,
                     const struct validate_machine *machine,
                     const char *const *sets,
                     int set_count,
                     const bool *wanted,
                     struct model_arena *arena,
                     struct validate_prediction *predictions,
                     struct model_errors *errors)
{
    struct run run = {
        .predictor = predictor, .machine = machine, .arena = arena};
    struct model_errors faults = {.arena = arena};

    if (read_topology(&run, sets, set_count, errors) != MODEL_OK ||
        find_version(&run, errors) != MODEL_OK ||
        read_settings(&run, errors) != MODEL_OK) {
        return MODEL_BAD_INPUT;
    }
    choose_rows(&run, wanted);
    if (simulate(&run, predictions, &faults) != MODEL_OK) {
        simulate_each(&run, predictions);
    }
    return MODEL_OK;
}
