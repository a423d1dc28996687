/*
 * cmd_perf.c - `lagom perf`: one collective over sizes, as nccl-tests.
 *
 * All sizes are one workload: operations back to back on one stream, so that
 * each waits for the one before and none for the CPU, as nccl-tests launches
 * them. nccl-tests repeat each and print the mean: what only the first of equal
 * ones takes counts once. What NCCL chooses for each size comes from the
 * problem that strategies search: its baseline.
 */
#include "search/perf.h"

#include "model/workload_build.h"
#include "sim/nccl_options.h"

enum { ROWS_MAX = 10000, PART_ALIGN_BYTES = 16 };

static enum model_status
usage(struct sim_cli *cli, const char *hint, const char *message)
{
    return model_errors_add(cli->errors, MODEL_USAGE,
                            (struct model_place){"lagom", 0, 0}, NULL, hint,
                            "%s", message);
}

static enum model_status check(struct sim_cli *cli)
{
    if (cli->options.topologies.count != 1) {
        return usage(cli,
                     "write -t dgx-h100-1node, a file, or "
                     "-t \"1x8 gpu:h100 nvswitch\"",
                     cli->options.topologies.count == 0
                         ? "no topology given"
                         : "this command takes one topology");
    }
    return MODEL_OK;
}

/*
 * The topology with as many nodes as take part: read again when that is not all
 * of them, since what NCCL does depends on it.
 */
static enum model_status read_topology(struct sim_cli *cli,
                                       struct model_topology *topology,
                                       struct search_perf *perf)
{
    const char *name = cli->options.topologies.items[0];
    enum model_status status = sim_load_topology(cli, name, NULL, topology);

    if (status == MODEL_OK) {
        status = search_perf_ranks(cli, topology, perf);
    }
    if (status != MODEL_OK || perf->nodes == topology->node_count) {
        return status;
    }
    if (name[0] == '-' && name[1] == '\0') {
        topology->node_count = perf->nodes;
        return MODEL_OK;
    }
    *topology = (struct model_topology){.name = NULL};
    return sim_load_topology(
        cli, name, model_arena_format(cli->arena, "nodes=%d", perf->nodes),
        topology);
}

static int64_t rank_count(const struct search_perf *perf)
{
    return (int64_t)perf->nodes * perf->gpus_per_node;
}

static void size_row(const struct search_perf *perf,
                     int64_t bytes,
                     struct search_perf_row *row)
{
    int64_t part = bytes / perf->type_bytes;

    if (!perf->kind->divided) {
        row->count = part;
        row->size_bytes = part * perf->type_bytes;
        return;
    }
    part /= rank_count(perf);
    part -= part % (PART_ALIGN_BYTES / perf->type_bytes);
    row->count = part;
    row->size_bytes = part * perf->type_bytes * rank_count(perf);
}

static enum model_status size_rows(struct sim_cli *cli,
                                   struct search_perf *perf)
{
    int room = 0;

    for (int64_t bytes = perf->min_bytes; bytes <= perf->max_bytes;
         bytes = perf->step_factor > 0 ? bytes * perf->step_factor
                                       : bytes + perf->step_bytes) {
        if (perf->row_count == ROWS_MAX) {
            return usage(cli, "write a larger step, or --stepfactor",
                         "more than 10000 sizes");
        }
        perf->rows = model_arena_grow(cli->arena, perf->rows, perf->row_count,
                                      &room, sizeof(*perf->rows));
        perf->rows[perf->row_count] =
            (struct search_perf_row){.config = model_config_none()};
        size_row(perf, bytes, &perf->rows[perf->row_count++]);
        if (perf->step_factor > 0 && bytes > INT64_MAX / perf->step_factor) {
            break;
        }
    }
    return MODEL_OK;
}

/* The group of those that take part: all, or the first of each node. */
static int add_group(struct model_builder *builder,
                     const struct search_perf *perf)
{
    int gpus = perf->topology->gpus_per_node;
    int count = 0;
    int *ranks;

    if (perf->gpus_per_node == gpus) {
        return model_builder_find_group(builder, "world");
    }
    ranks = model_arena_array(builder->arena, (size_t)rank_count(perf),
                              sizeof(*ranks));
    for (int node = 0; node < perf->nodes; node++) {
        for (int gpu = 0; gpu < perf->gpus_per_node; gpu++) {
            ranks[count++] = node * gpus + gpu;
        }
    }
    return model_builder_group(builder, "part", ranks, count);
}

static enum model_status make_workload(struct sim_cli *cli,
                                       const struct search_perf *perf,
                                       struct model_workload *workload)
{
    struct model_builder builder;
    struct model_op op = {.window = NULL,
                          .kind = perf->kind->op,
                          .shift = 1,
                          .config = model_config_none(),
                          .place = {"lagom", 0, 0}};

    *workload = (struct model_workload){.name = perf->kind->name,
                                        .label = "lagom",
                                        .tree = perf->topology->tree};
    model_builder_start(&builder, cli->arena, workload);
    if (model_read_groups(&builder, NULL, perf->topology, cli->errors) !=
        MODEL_OK) {
        return MODEL_BAD_INPUT;
    }
    op.group = add_group(&builder, perf);
    op.stream = model_builder_stream(&builder, "nccl-tests", 0);
    for (int i = 0; i < perf->row_count; i++) {
        if (perf->rows[i].count > 0) {
            op.id =
                model_arena_format(cli->arena, "%s of %lld B", perf->kind->name,
                                   (long long)perf->rows[i].size_bytes);
            op.bytes = (double)perf->rows[i].size_bytes;
            (void)model_builder_add(&builder, &op);
        }
    }
    return MODEL_OK;
}

/* Times of the operations to the rows that have one. */
static void fill_rows(struct search_perf *perf, const struct sim_result *result)
{
    double factor = model_collective_bus_factor(
        (enum model_collective_kind)(perf->kind->op - MODEL_OP_ALL_GATHER),
        (int)rank_count(perf));
    int op = 0;

    for (int i = 0; i < perf->row_count; i++) {
        struct search_perf_row *row = &perf->rows[i];

        if (row->count == 0) {
            continue;
        }
        row->time_us = sim_op_mean_us(&result->ops[op], SEARCH_PERF_REPEATS);
        row->config = result->ops[op].config;
        row->algbw_bytes_per_us = (double)row->size_bytes / row->time_us;
        row->busbw_bytes_per_us = row->algbw_bytes_per_us * factor;
        perf->mean_busbw_bytes_per_us +=
            row->busbw_bytes_per_us / (double)perf->row_count;
        op++;
    }
    perf->fingerprint = result->fingerprint;
}

/* One rank stands for all only where all are alike and take part. */
static bool needs_all_ranks(const struct search_perf *perf)
{
    return perf->gpus_per_node != perf->topology->gpus_per_node ||
           model_ranks_differ(perf->topology);
}

static enum model_status simulate(struct sim_cli *cli,
                                  const struct model_nccl *nccl,
                                  struct search_perf *perf)
{
    struct sim_request request = {.topology = nccl->topology,
                                  .workload = nccl->workload,
                                  .nccl = nccl,
                                  .all_ranks = needs_all_ranks(perf),
                                  .seed = 1};
    struct sim_result result = {.op_count = 0};
    struct sim *sim;

    if (nccl->workload->op_count == 0) {
        return MODEL_OK;
    }
    sim = sim_new(cli->arena, &request, cli->errors);
    if (sim == NULL || sim_run(sim, &result, cli->errors) != MODEL_OK) {
        return model_errors_status(cli->errors);
    }
    fill_rows(perf, &result);
    return MODEL_OK;
}

enum model_status search_command_perf(struct sim_cli *cli)
{
    struct search_perf perf = {.kind = NULL};
    struct model_topology topology = {.name = NULL};
    struct model_nccl_version version;
    struct model_nccl_settings settings;
    struct model_workload workload;
    struct model_nccl nccl;
    enum model_status status = search_perf_options(cli, &perf);

    if (status == MODEL_OK) {
        status = check(cli);
    }
    if (status == MODEL_OK) {
        status = read_topology(cli, &topology, &perf);
    }
    if (status == MODEL_OK) {
        sim_load_notes(cli, &topology);
        status = sim_nccl_options(cli, &topology, &version, &settings);
    }
    if (status == MODEL_OK) {
        perf.topology = &topology;
        perf.nccl_release = version.release;
        status = size_rows(cli, &perf);
    }
    if (status == MODEL_OK) {
        status = make_workload(cli, &perf, &workload);
    }
    if (status == MODEL_OK) {
        model_nccl_make(cli->arena, &topology, &workload, &version, &settings,
                        sim_nccl_as_observed(cli), &nccl);
        status = simulate(cli, &nccl, &perf);
    }
    return status == MODEL_OK ? search_perf_print(cli, &perf) : status;
}
