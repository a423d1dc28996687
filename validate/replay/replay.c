/*
 * replay.c - lagom-replay, from its arguments to its exit status.
 *
 * Inputs are read first, so that their faults show on any machine; then the
 * GPUs are counted, ranks found, and the work is measured here (one GPU, or one
 * rank of several) or by a process for each rank.
 */
#include "validate/replay/replay.h"

#include "build/version.h"
#include "sim/load.h"
#include "sim/nccl_options.h"
#include "validate/replay/bench.h"
#include "validate/replay/look.h"
#include "validate/replay/ranks.h"
#include "validate/replay/sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* All that a run works with. */
struct state {
    struct model_arena *arena;
    const struct replay_job *job;
    struct model_errors *errors;
    struct replay_options options;
    struct sim_input input; /* of a sweep without workload */
    struct replay_sweep sweep;
    struct model_plan plan;
    struct replay_ranks ranks;
    struct replay_schedule schedule;
    struct replay_environments environments;
    struct model_list notes; /* of settings that were not met */
    FILE *output;
    const char *note; /* for records */
};

static enum model_status report(struct state *state,
                                const struct replay_fault *fault)
{
    return replay_fault_add(state->errors, MODEL_NO_DEVICE, NULL, fault->text,
                            "");
}

static void say(const struct state *state, const char *text)
{
    if (!state->options.quiet) {
        (void)fprintf(state->job->log, "lagom-replay: %s\n", text);
    }
}

/* --- inputs -------------------------------------------------------------- */

static enum model_status read_workload(struct state *state,
                                       const struct sim_sets *sets)
{
    struct sim_input *input = &state->input;
    enum model_status status;

    if (state->options.mode != REPLAY_SWEEP) {
        return model_workload_read(state->arena, state->options.workload,
                                   sets->items, sets->count, &input->topology,
                                   &input->workload, state->errors);
    }
    status = replay_sweep_read(state->arena, state->options.workload,
                               &input->topology, &state->sweep, state->errors);
    input->workload = state->sweep.workload;
    return status;
}

static enum model_status read_plan(struct state *state)
{
    enum model_status status = MODEL_OK;

    if (state->options.plan != NULL) {
        status = model_plan_read(state->arena, state->options.plan,
                                 &state->plan, state->errors);
    }
    return status == MODEL_OK && state->options.plan != NULL
               ? model_plan_check(&state->plan, &state->input.workload,
                                  state->errors)
               : status;
}

static enum model_status load(struct state *state)
{
    struct sim_input *input = &state->input;
    struct sim_cli cli = {
        .arena = state->arena,
        .errors = state->errors,
        .options = {.sets = state->options.sets, .quiet = state->options.quiet},
        .out = state->job->out,
        .log = state->job->log};
    struct sim_sets for_topology, for_workload;
    struct model_nccl_settings settings;
    enum model_status status;

    sim_load_split(&cli, &for_topology, &for_workload);
    status = model_topology_read(state->arena, state->options.topology,
                                 for_topology.items, for_topology.count,
                                 &input->topology, state->errors);
    if (status == MODEL_OK) {
        status = sim_nccl_options(&cli, &input->topology, &input->version,
                                  &settings);
    }
    if (status == MODEL_OK) {
        status = read_workload(state, &for_workload);
    }
    if (status != MODEL_OK) {
        return status;
    }
    model_nccl_make(state->arena, &input->topology, &input->workload,
                    &input->version, &settings, sim_nccl_as_observed(&cli),
                    &input->nccl);
    return read_plan(state);
}

static const char *variable(const char *name)
{
    return getenv(name);
}

/* Ranks, what this one launches, and in what environments. */
static enum model_status prepare(struct state *state, int gpus_here)
{
    const struct sim_input *input = &state->input;
    struct replay_program program = {
        .topology = &input->topology,
        .workload = &input->workload,
        .plan = state->options.plan != NULL ? &state->plan : NULL,
        .nccl = &input->nccl};
    struct replay_environment_request request = {
        .schedule = &state->schedule,
        .one = state->options.mode == REPLAY_OVERLAP,
        .nearest = state->options.nearest};
    enum model_status status =
        replay_ranks_find(&state->options, &input->topology, gpus_here,
                          variable, &state->ranks, state->errors);

    if (status != MODEL_OK) {
        return status;
    }
    program.rank = state->ranks.first;
    program.stand_in = state->ranks.stand_in;
    status = replay_schedule_make(state->arena, &program, &state->schedule,
                                  state->errors);
    if (status == MODEL_OK && state->ranks.count > 1) {
        request.version = state->job->driver->nccl_version();
        status = replay_environments_make(state->arena, &request,
                                          &state->environments, &state->notes,
                                          state->errors);
    }
    return status;
}

/* What a user should know of how it is measured. */
static void say_notes(struct state *state)
{
    const char *const *notes = state->notes.items;

    if (state->ranks.child && state->ranks.first > 0) {
        return;
    }
    if (state->ranks.stand_in && !state->ranks.child) {
        say(state, "one GPU: ring steps stand in for collectives");
    }
    for (int i = 0; i < state->notes.count; i++) {
        if (!state->ranks.child) {
            say(state, notes[i]);
        }
        state->note = model_arena_format(
            state->arena, "%s%s", state->note != NULL ? state->note : "nearest",
            model_arena_format(state->arena, "; %s", notes[i]));
    }
}

/* --- output -------------------------------------------------------------- */

/* The first process of a run writes the header, rank 0 the rows, others
   nothing. */
static enum model_status open_output(struct state *state)
{
    const char *path = state->options.output;
    bool writes = state->ranks.first == 0;

    state->output = state->job->out;
    if (!writes) {
        path = "/dev/null";
    }
    if (path != NULL) {
        state->output = fopen(path, state->ranks.child ? "a" : "w");
    }
    if (state->output == NULL) {
        return model_errors_add(state->errors, MODEL_BAD_INPUT,
                                (struct model_place){path, 0, 0}, NULL, NULL,
                                "cannot write: %s", strerror(errno));
    }
    if (!state->ranks.child && state->sweep.curve) {
        replay_output_curve_header(state->output);
    } else if (!state->ranks.child && !state->options.ops) {
        validate_records_header(state->output);
    }
    (void)fflush(state->output);
    return MODEL_OK;
}

static enum model_status close_output(struct state *state,
                                      enum model_status status)
{
    bool good = fflush(state->output) == 0 && ferror(state->output) == 0;

    if (state->output != state->job->out) {
        good = fclose(state->output) == 0 && good;
    }
    if (!good && status == MODEL_OK) {
        return replay_fault_add(
            state->errors, MODEL_BAD_INPUT, NULL,
            "cannot write results: ", strerror(errno != 0 ? errno : EIO));
    }
    return status;
}

/* --- measuring ----------------------------------------------------------- */

/* A child measures only what its environment is for. */
static bool is_mine(const struct state *state, int item)
{
    return !state->ranks.child || state->schedule.items[item].environment ==
                                      state->options.environment;
}

static enum model_status measure_items(struct state *state,
                                       struct replay_bench *bench)
{
    const struct model_op *ops = state->input.workload.ops;
    enum model_status status = MODEL_OK;

    for (int i = 0; i < state->schedule.item_count && status == MODEL_OK; i++) {
        bool collective =
            model_op_is_collective(&ops[state->schedule.items[i].op]);
        struct replay_pair pair = {.collective = collective ? i : -1,
                                   .computation = collective ? -1 : i};

        if (is_mine(state, i)) {
            status = replay_bench_pair(bench, &pair);
        }
    }
    return status;
}

/* The item of an op, or -1. */
static int item_of(const struct state *state, int op)
{
    return op >= 0 ? state->schedule.launches[op].item : -1;
}

static enum model_status measure_points(struct state *state,
                                        struct replay_bench *bench)
{
    enum model_status status = MODEL_OK;

    for (int i = 0; i < state->sweep.count && status == MODEL_OK; i++) {
        const struct replay_point *point = &state->sweep.points[i];
        struct replay_pair pair = {
            .collective = item_of(state, point->collective),
            .computation = item_of(state, point->computation),
            .match = point->match,
            .working_set_bytes = point->working_set_bytes};

        if (is_mine(state, pair.collective >= 0 ? pair.collective
                                                : pair.computation)) {
            status = replay_bench_pair(bench, &pair);
        }
    }
    return status;
}

static enum model_status measure_overlap(struct state *state,
                                         struct replay_bench *bench)
{
    struct replay_schedule *schedule = &state->schedule;
    struct replay_together together;
    struct replay_pair *pairs;
    enum model_status status = MODEL_OK;
    int count;

    for (int i = 0; i < schedule->item_count && status == MODEL_OK; i++) {
        status = replay_measure_make(bench->run, &schedule->items[i]);
    }
    if (status == MODEL_OK) {
        status = replay_measure_together(bench->run, schedule, &together);
    }
    if (status != MODEL_OK) {
        return status;
    }
    if (state->options.ops) {
        replay_output_ops(schedule, &together, state->output);
        return MODEL_OK;
    }
    if (state->ranks.first == 0) {
        say(state, model_arena_format(state->arena,
                                      "iteration %.1f us, spread %.1f us",
                                      together.iteration.median_us,
                                      together.iteration.spread_us));
    }
    pairs = model_arena_array(state->arena,
                              (size_t)schedule->item_count *
                                  (size_t)schedule->item_count,
                              sizeof(*pairs));
    count = replay_bench_seen(schedule, &together, pairs);
    for (int i = 0; i < count && status == MODEL_OK; i++) {
        status = replay_bench_pair(bench, &pairs[i]);
    }
    return status;
}

/* Priorities of the held stream, the workload's, and two for pairs. */
static void set_priorities(struct state *state, struct replay_seat *seat)
{
    const struct model_workload *workload = &state->input.workload;
    int count = workload->stream_count + 3;
    int *priorities =
        model_arena_array(state->arena, (size_t)count, sizeof(*priorities));

    for (int i = 0; i < workload->stream_count; i++) {
        priorities[i + 1] = workload->streams[i].priority;
    }
    priorities[workload->stream_count + 1] = 1;
    seat->priorities = priorities;
    seat->stream_count = count;
}

static enum model_status measure_on(struct state *state,
                                    struct replay_device *device)
{
    const struct replay_driver *driver = state->job->driver;
    struct replay_description description;
    struct replay_stamp stamp = {.description = &description,
                                 .topology = &state->input.topology,
                                 .groups = state->schedule.groups,
                                 .note = state->note};
    struct replay_run run = {.driver = driver,
                             .device = device,
                             .arena = state->arena,
                             .errors = state->errors,
                             .repeats = state->options.repeats,
                             .warmup = state->options.warmup};
    struct replay_bench bench = {
        .run = &run,
        .stamp = &stamp,
        .schedule = &state->schedule,
        .alone =
            model_arena_array(state->arena, (size_t)state->schedule.item_count,
                              sizeof(*bench.alone)),
        .stream = state->schedule.stream_count,
        .output = state->output};

    driver->describe(device, &description);
    switch ((enum replay_mode)state->options.mode) {
    case REPLAY_OVERLAP:
        return measure_overlap(state, &bench);
    case REPLAY_SWEEP:
        return measure_points(state, &bench);
    default:
        return measure_items(state, &bench);
    }
}

static enum model_status measure_here(struct state *state)
{
    const struct replay_driver *driver = state->job->driver;
    struct replay_seat seat = {.gpu = state->ranks.gpu,
                               .rank = state->ranks.first,
                               .rank_count = state->ranks.count,
                               .id_file = state->options.id_file,
                               .groups = state->schedule.groups,
                               .group_count = state->schedule.group_count};
    struct replay_fault fault = {""};
    struct replay_device *device;
    enum model_status status;

    set_priorities(state, &seat);
    device = driver->open(&seat, &fault);
    status = device == NULL ? report(state, &fault) : measure_on(state, device);
    driver->close(device);
    return status;
}

static enum model_status measure_by_ranks(struct state *state)
{
    return replay_ranks_run_all(state->arena, state->job, &state->ranks,
                                &state->environments, state->options.id_file,
                                state->errors);
}

/* --- from arguments on --------------------------------------------------- */

static enum model_status measure(struct state *state)
{
    enum model_status status = open_output(state);

    if (status != MODEL_OK) {
        return status;
    }
    say_notes(state);
    status = state->ranks.count > 1 && !state->ranks.child
                 ? measure_by_ranks(state)
                 : measure_here(state);
    return close_output(state, status);
}

enum model_status replay_run(struct model_arena *arena,
                             const struct replay_job *job,
                             struct model_errors *errors)
{
    struct state *state = model_arena_alloc(arena, sizeof(*state));
    struct replay_options *options = &state->options;
    struct replay_fault fault = {""};
    enum model_status status =
        replay_options_parse(job->word_count, job->words, options, errors);
    int gpus_here;

    state->arena = arena;
    state->job = job;
    state->errors = errors;
    if (status != MODEL_OK) {
        return status;
    }
    if (options->help || options->version) {
        if (options->help) {
            replay_options_help(job->out);
        } else {
            (void)fprintf(job->out, "lagom-replay %s\n", LAGOM_VERSION);
        }
        return MODEL_OK;
    }
    if (!options->describe && !options->self_test) {
        status = load(state);
    }
    if (status != MODEL_OK) {
        return status;
    }
    gpus_here = job->driver->count(&fault);
    if (gpus_here == 0) {
        return replay_fault_add(errors, MODEL_NO_DEVICE,
                                model_arena_text(arena, fault.text),
                                "no CUDA device", "");
    }
    if (options->describe || options->self_test) {
        return replay_look(arena, job, options, gpus_here, errors);
    }
    status = prepare(state, gpus_here);
    return status == MODEL_OK ? measure(state) : status;
}
