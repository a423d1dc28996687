/*
 * perf_print.c - results in nccl-tests' own layout, as CSV or as JSON.
 *
 * The layout is that of nccl-tests 2.13 and later: widths and digits as in its
 * common.cu. What only a run can know is printed as nccl-tests prints it when
 * not checked: #wrong is N/A. In place and out of place are one prediction.
 */
#include "search/perf.h"

#include "build/version.h"
#include "sim/json.h"
#include "sim/report.h"

#include <inttypes.h>

enum { DEVICES_SHOWN = 64, BYTES_PER_US_IN_GBPS = 1000 };

static const char *reduction_of(const struct search_perf *perf)
{
    return perf->kind->reduces ? perf->reduction : "none";
}

/* The root, or -1 where there is none. */
static int root_of(const struct search_perf *perf)
{
    return perf->kind->rooted ? 0 : -1;
}

static bool has_settings(const struct search_perf_row *row)
{
    return row->config.algorithm != MODEL_UNSET;
}

/* -- text -- */

static void print_devices(FILE *out, const struct search_perf *perf)
{
    int count = perf->nodes * perf->gpus_per_node;

    (void)fputs("#\n# Using devices\n", out);
    for (int rank = 0; rank < count && rank < DEVICES_SHOWN; rank++) {
        char host[32];

        (void)snprintf(host, sizeof(host), "node%d",
                       rank / perf->gpus_per_node);
        (void)fprintf(
            out,
            "#  Rank %2d Group %2d Pid %6d on %10s device %2d [0x%02x] %s\n",
            rank, 0, 0, host, rank % perf->gpus_per_node,
            (unsigned)(rank % perf->gpus_per_node), perf->topology->gpu.name);
    }
    if (count > DEVICES_SHOWN) {
        (void)fprintf(out, "#  and %d more\n", count - DEVICES_SHOWN);
    }
}

static void print_head(const struct sim_cli *cli,
                       const struct search_perf *perf)
{
    FILE *out = cli->out;
    char guesses[128];

    (void)fprintf(
        out,
        "# lagom %s predicts %s_perf; nothing was run\n"
        "# topology %s, %dx%d GPUs, NCCL %s, fingerprint %016" PRIx64 "\n",
        LAGOM_VERSION, perf->kind->name, perf->topology->name, perf->nodes,
        perf->gpus_per_node, perf->nccl_release, perf->fingerprint);
    (void)fprintf(out, "# %s\n",
                  sim_report_guesses(perf->topology, guesses, sizeof(guesses)));
    sim_report_overrides(cli, "# ");
    (void)fprintf(
        out,
        "# nThread 1 nGpus %d minBytes %" PRId64 " maxBytes %" PRId64
        " step: %" PRId64 "(%s) warmup iters: 0 iters: %d "
        "agg iters: 1 validation: 0 graph: 0\n",
        perf->nodes * perf->gpus_per_node, perf->min_bytes, perf->max_bytes,
        perf->step_factor > 0 ? perf->step_factor : perf->step_bytes,
        perf->step_factor > 0 ? "factor" : "bytes", SEARCH_PERF_REPEATS);
    print_devices(out, perf);
    (void)fprintf(
        out,
        "#\n# %10s  %12s  %8s  %6s  %6s           out-of-place        "
        "               in-place          \n",
        "", "", "", "", "");
    (void)fprintf(out,
                  "# %10s  %12s  %8s  %6s  %6s  %7s  %6s  %6s %6s  %7s  %6s  "
                  "%6s %6s%s\n",
                  "size", "count", "type", "redop", "root", "time", "algbw",
                  "busbw", "#wrong", "time", "algbw", "busbw", "#wrong",
                  cli->options.verbose ? "  settings" : "");
    (void)fprintf(out,
                  "# %10s  %12s  %8s  %6s  %6s  %7s  %6s  %6s  %5s  %7s  %6s  "
                  "%6s  %5s\n",
                  "(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)",
                  "", "(us)", "(GB/s)", "(GB/s)", "");
}

static int time_digits(double time_us)
{
    if (time_us >= 10000.0) {
        return 0;
    }
    return time_us >= 100.0 ? 1 : 2;
}

static void print_row(const struct sim_cli *cli,
                      const struct search_perf *perf,
                      const struct search_perf_row *row)
{
    char config[96];

    (void)fprintf(cli->out, "%12" PRId64 "  %12" PRId64 "  %8s  %6s  %6d",
                  row->size_bytes, row->count, perf->type, reduction_of(perf),
                  root_of(perf));
    for (int place = 0; place < 2; place++) {
        (void)fprintf(cli->out, "  %7.*f  %6.2f  %6.2f  %5s",
                      time_digits(row->time_us), row->time_us,
                      row->algbw_bytes_per_us / BYTES_PER_US_IN_GBPS,
                      row->busbw_bytes_per_us / BYTES_PER_US_IN_GBPS, "N/A");
    }
    if (cli->options.verbose && has_settings(row)) {
        (void)fprintf(cli->out, "  %s",
                      model_config_print(&row->config, config, sizeof(config)));
    }
    (void)fputc('\n', cli->out);
}

static void print_text(const struct sim_cli *cli,
                       const struct search_perf *perf)
{
    print_head(cli, perf);
    for (int i = 0; i < perf->row_count; i++) {
        print_row(cli, perf, &perf->rows[i]);
    }
    (void)fprintf(cli->out,
                  "# Out of bounds values : 0 OK\n"
                  "# Avg bus bandwidth    : %g \n#\n",
                  perf->mean_busbw_bytes_per_us / BYTES_PER_US_IN_GBPS);
}

/* -- CSV and JSON -- */

static void print_csv(const struct sim_cli *cli, const struct search_perf *perf)
{
    (void)fputs("size_bytes,count,type,redop,root,time_us,algbw_GBps,"
                "busbw_GBps,algorithm,protocol,transport,channels,threads,"
                "chunk_bytes\n",
                cli->out);
    for (int i = 0; i < perf->row_count; i++) {
        const struct search_perf_row *row = &perf->rows[i];

        (void)fprintf(cli->out,
                      "%" PRId64 ",%" PRId64 ",%s,%s,%d,%.6f,%.6f,%.6f,",
                      row->size_bytes, row->count, perf->type,
                      reduction_of(perf), root_of(perf), row->time_us,
                      row->algbw_bytes_per_us / BYTES_PER_US_IN_GBPS,
                      row->busbw_bytes_per_us / BYTES_PER_US_IN_GBPS);
        if (has_settings(row)) {
            (void)fprintf(cli->out, "%s,%s,%s,%d,%d,%.0f\n",
                          model_algorithm_names[row->config.algorithm],
                          model_protocol_names[row->config.protocol],
                          model_transport_names[row->config.transport],
                          row->config.channels, row->config.threads,
                          row->config.chunk_bytes);
        } else {
            (void)fputs(",,,,,\n", cli->out);
        }
    }
}

static void put_row(struct sim_json *json,
                    const struct search_perf *perf,
                    const struct search_perf_row *row)
{
    sim_json_count(json, "size_bytes", row->size_bytes);
    sim_json_count(json, "count", row->count);
    sim_json_text(json, "type", perf->type);
    sim_json_text(json, "redop", reduction_of(perf));
    sim_json_count(json, "root", root_of(perf));
    sim_json_number(json, "time_us", row->time_us);
    sim_json_number(json, "algbw_GBps",
                    row->algbw_bytes_per_us / BYTES_PER_US_IN_GBPS);
    sim_json_number(json, "busbw_GBps",
                    row->busbw_bytes_per_us / BYTES_PER_US_IN_GBPS);
    if (has_settings(row)) {
        sim_report_put_config(json, &row->config);
    }
}

static enum model_status print_json(const struct sim_cli *cli,
                                    const struct search_perf *perf)
{
    struct sim_json *root = sim_json_object();
    struct sim_json *rows;
    enum model_status status;

    sim_json_text(root, "version", LAGOM_VERSION);
    sim_json_hex(root, "fingerprint", perf->fingerprint);
    sim_json_text(root, "topology", perf->topology->name);
    sim_json_text(root, "collective", perf->kind->name);
    sim_json_text(root, "nccl", perf->nccl_release);
    sim_json_count(root, "nodes", perf->nodes);
    sim_json_count(root, "ranks", (int64_t)perf->nodes * perf->gpus_per_node);
    sim_report_put_overrides(cli, root);
    sim_json_count(root, "guesses",
                   perf->topology->provenance.count[MODEL_FROM_GUESS]);
    rows = sim_json_put_array(root, "rows");
    for (int i = 0; i < perf->row_count; i++) {
        put_row(sim_json_append(rows), perf, &perf->rows[i]);
    }
    sim_json_number(root, "mean_busbw_GBps",
                    perf->mean_busbw_bytes_per_us / BYTES_PER_US_IN_GBPS);
    status = sim_json_print(root, cli->out);
    sim_json_free(root);
    return status;
}

enum model_status search_perf_print(struct sim_cli *cli,
                                    const struct search_perf *perf)
{
    switch ((enum sim_format)cli->options.format) {
    case SIM_JSON:
        return print_json(cli, perf);
    case SIM_CSV:
        print_csv(cli, perf);
        break;
    case SIM_TEXT:
        print_text(cli, perf);
        break;
    }
    return MODEL_OK;
}
