/*
 * import_nccl_tests.c - a log of nccl-tests as records.
 */
#include "validate/import_nccl_tests.h"

#include "model/files.h"
#include "search/perf.h"
#include "sim/load.h"
#include "sim/output.h"
#include "validate/log.h"

#include <limits.h>
#include <math.h>
#include <string.h>

static enum model_status
usage(struct sim_cli *cli, const char *hint, const char *message)
{
    return model_errors_add(cli->errors, MODEL_USAGE,
                            (struct model_place){"lagom", 0, 0}, NULL, hint,
                            "%s", message);
}

/* Is the topology there, and are the ranks ones that it can have? */
static enum model_status read_topology(struct sim_cli *cli,
                                       struct validate_log_options *options)
{
    const struct sim_cli_list *topologies = &cli->options.topologies;
    struct model_topology topology;

    if (topologies->count == 0) {
        return MODEL_OK;
    }
    if (topologies->count > 1 || strcmp(topologies->items[0], "-") == 0) {
        return usage(cli, "write -t dgx-a100, or a file",
                     "records name one topology");
    }
    options->topology = topologies->items[0];
    return model_topology_read(cli->arena, options->topology, NULL, 0,
                               &topology, cli->errors);
}

/* --ranks 8, or 2x8. */
static enum model_status read_ranks(struct sim_cli *cli,
                                    struct validate_log_options *options)
{
    static const long most = 1000000;
    long first;
    long second;

    if (cli->options.nodes > 0) {
        options->nodes =
            cli->options.nodes < INT_MAX ? (int)cli->options.nodes : INT_MAX;
    }
    if (cli->options.gpus == NULL) {
        return MODEL_OK;
    }
    if (!search_perf_parse_ranks(cli->options.gpus, &first, &second) ||
        first > most || second > most) {
        return usage(cli, "write 8, or 2x8 for 8 GPUs of each of 2 nodes",
                     model_arena_format(cli->arena, "--ranks cannot be %s",
                                        cli->options.gpus));
    }
    options->nodes = second > 0 ? (int)first : options->nodes;
    options->gpus = (int)(second > 0 ? fmin((double)first * (double)second, 1e9)
                                     : (double)first);
    return MODEL_OK;
}

static enum model_status read_collective(struct sim_cli *cli,
                                         struct validate_log_options *options)
{
    const char *name = cli->options.collective;

    options->kind =
        name != NULL ? validate_collective_kind(cli->arena, name) : MODEL_UNSET;
    return name == NULL || options->kind != MODEL_UNSET
               ? MODEL_OK
               : usage(cli,
                       "write all_reduce, all_gather, reduce_scatter, "
                       "broadcast, reduce, alltoall or sendrecv",
                       model_arena_format(cli->arena, "no such collective: %s",
                                          name));
}

static void say(const struct sim_cli *cli, const struct validate_log *log)
{
    for (int i = 0; i < log->found_count; i++) {
        (void)fputs("found: ", cli->log);
        model_text_print(log->found[i], cli->log);
        (void)fputc('\n', cli->log);
    }
    if (log->wrong > 0) {
        (void)fprintf(cli->log,
                      "lagom: warning: %d row%s left out: nccl-tests found "
                      "wrong results\n",
                      log->wrong, log->wrong == 1 ? "" : "s");
    }
    if (cli->options.topologies.count == 0) {
        (void)fputs("lagom: warning: no topology named, so lagom validate will "
                    "need one (write -t dgx-a100, or a file)\n",
                    cli->log);
    }
}

static void write_records(const struct validate_records *records, FILE *stream)
{
    validate_records_header(stream);
    for (int i = 0; i < records->count; i++) {
        validate_records_row(&records->rows[i], stream);
    }
}

static enum model_status write_file(struct sim_cli *cli,
                                    const struct validate_log *log)
{
    struct sim_output output;

    if (cli->options.output == NULL) {
        write_records(&log->records, cli->out);
        return MODEL_OK;
    }
    if (sim_output_open(cli->arena, cli->options.output, &output,
                        cli->errors) != MODEL_OK) {
        return MODEL_BAD_INPUT;
    }
    write_records(&log->records, output.stream);
    return sim_output_close(&output, ferror(output.stream) == 0, cli->errors);
}

enum model_status validate_import_nccl_tests(struct sim_cli *cli,
                                             const char *path)
{
    struct validate_log_options options = {.source = cli->options.name};
    struct validate_log log;
    struct model_text text;
    enum model_status status = read_topology(cli, &options);

    if (status == MODEL_OK) {
        status = read_ranks(cli, &options);
    }
    if (status == MODEL_OK) {
        status = read_collective(cli, &options);
    }
    if (status != MODEL_OK) {
        return status;
    }
    if (options.source == NULL && strcmp(path, "-") == 0) {
        options.source = "standard input";
    }
    if (!model_text_read(cli->arena, path, VALIDATE_LOG_BYTES_MAX, &text,
                         cli->errors)) {
        return MODEL_BAD_INPUT;
    }
    status = validate_log_read(cli->arena, text, &options, &log, cli->errors);
    if (status != MODEL_OK) {
        return status;
    }
    if (!cli->options.quiet) {
        say(cli, &log);
    }
    return write_file(cli, &log);
}
