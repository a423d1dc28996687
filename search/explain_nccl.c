/*
 * explain_nccl.c - NCCL's choices as text.
 */
#include "search/explain_nccl.h"

#include "build/version.h"
#include "sim/report.h"

/* Does the reason hold for all protocols of the algorithm? */
static const char *off_at_all(const struct search_nccl_row *row, int algorithm)
{
    const char *reason = NULL;

    for (int p = 0; p < MODEL_NCCL_PROTOCOLS; p++) {
        struct search_nccl_candidate candidate =
            search_nccl_candidate_of(row, algorithm, p);

        if (candidate.time_us >= 0.0 || candidate.chosen ||
            (p > 0 && !model_same_text(reason, candidate.pair->off))) {
            return NULL;
        }
        reason = candidate.pair->off;
    }
    return reason != NULL ? reason : search_nccl_unasked;
}

/* -- text -- */

static const char *print_bytes(struct model_arena *arena, double bytes)
{
    char *text = model_arena_alloc(arena, 48);

    return model_units_print(bytes, MODEL_BYTES, text, 48);
}

static void put_graph(FILE *out, const struct model_nccl_comm *comm, int kind)
{
    const struct model_nccl_graph *graph = &comm->graphs[kind];

    (void)fprintf(out, "  %-6s ", search_nccl_graph_names[kind]);
    if (graph->channels == 0) {
        (void)fputs("none\n", out);
        return;
    }
    (void)fprintf(out, "%-14s %8d %9.4g GB/s",
                  search_nccl_pattern_names[graph->pattern], graph->channels,
                  graph->intra_bytes_per_us / 1000.0);
    if (comm->node_count == 1) {
        (void)fprintf(out, " %14s  %s\n", "-",
                      model_nccl_path_names[graph->intra_type]);
    } else {
        (void)fprintf(out, " %9.4g GB/s  %s/%s\n",
                      graph->inter_bytes_per_us / 1000.0,
                      model_nccl_path_names[graph->intra_type],
                      model_nccl_path_names[graph->inter_type]);
    }
}

static void
put_comm(struct sim_cli *cli, const struct model_nccl *nccl, int group)
{
    const struct model_nccl_comm *comm = nccl->groups[group].comm;
    FILE *out = cli->out;

    (void)fprintf(out, "\nGroup %s: %d rank%s on %d node%s\n",
                  nccl->workload->groups[group].name, comm->rank_count,
                  comm->rank_count == 1 ? "" : "s", comm->node_count,
                  comm->node_count == 1 ? "" : "s");
    (void)fprintf(out, "  %-6s %-14s %8s %14s %14s  %s\n", "graph", "pattern",
                  "channels", "in a node", "between", "paths");
    for (int kind = 0; kind < MODEL_NCCL_GRAPHS; kind++) {
        put_graph(out, comm, kind);
    }
    (void)fprintf(out, "  channels: %d for rings and trees, %d for NVLS, ",
                  comm->channels, comm->nvls_channels);
    (void)fprintf(out, "%d for send and receive (%d a peer)\n",
                  comm->p2p_channels, comm->p2p_channels_per_peer);
}

static void put_candidate(struct sim_cli *cli,
                          const struct search_nccl_row *row,
                          int algorithm,
                          int protocol)
{
    struct search_nccl_candidate candidate =
        search_nccl_candidate_of(row, algorithm, protocol);
    char name[32];

    (void)snprintf(name, sizeof(name), "%s %s",
                   model_nccl_algorithm_names[algorithm],
                   model_nccl_protocol_names[protocol]);
    if (candidate.time_us < 0.0) {
        (void)fprintf(cli->out, "  %-20s %10s %12s %12s  off: %s\n", name, "-",
                      "-", "-",
                      search_nccl_verdict(cli->arena, row, &candidate));
        return;
    }
    (void)fprintf(cli->out, "  %-20s %7.1f us %7.2f GB/s %9.1f us  %s\n", name,
                  candidate.pair->latency_us,
                  candidate.pair->bytes_per_us / 1000.0, candidate.time_us,
                  search_nccl_verdict(cli->arena, row, &candidate));
}

static void put_candidates(struct sim_cli *cli,
                           const struct search_nccl_row *row)
{
    (void)fprintf(cli->out, "  %-20s %10s %12s %12s\n", "candidate", "latency",
                  "bandwidth", "time");
    for (int a = 0; a < MODEL_NCCL_ALGORITHMS; a++) {
        const char *reason = off_at_all(row, a);

        if (reason != NULL) {
            (void)fprintf(cli->out, "  %-20s %10s %12s %12s  off: %s\n",
                          model_nccl_algorithm_names[a], "-", "-", "-", reason);
            continue;
        }
        for (int p = MODEL_NCCL_PROTOCOLS - 1; p >= 0; p--) {
            put_candidate(cli, row, a, p);
        }
    }
}

static void put_steps(struct sim_cli *cli, const struct search_nccl_row *row)
{
    const struct model_nccl_choice *choice = &row->choice;

    for (int i = 0; i < choice->step_count; i++) {
        const struct model_nccl_step *step = &choice->steps[i];

        (void)fprintf(cli->out,
                      "  %3d channel%s of %3d threads, %s chunks: %s\n",
                      step->channels, step->channels == 1 ? "" : "s",
                      step->threads, print_bytes(cli->arena, step->chunk_bytes),
                      search_nccl_cause_names[step->cause]);
    }
}

static void put_row(struct sim_cli *cli,
                    const struct model_nccl *nccl,
                    const struct search_nccl_row *row)
{
    char config[96];

    (void)fprintf(cli->out, "\n%s of %s, group %s",
                  model_op_names[row->part->kind],
                  print_bytes(cli->arena, row->part->bytes),
                  nccl->workload->groups[row->part->group].name);
    (void)fprintf(
        cli->out, ", %d time%s: %s\n", row->op_count,
        row->op_count == 1 ? "" : "s",
        search_nccl_row_fails(row)
            ? "nothing is left, NCCL fails here"
            : model_config_print(&row->config, config, sizeof(config)));
    if (row->choice.function != MODEL_UNSET) {
        put_candidates(cli, row);
    }
    put_steps(cli, row);
}

/* The settings that were seen on the real machine. */
static void put_observed(struct sim_cli *cli, const struct model_observed *seen)
{
    const struct model_config *config = &seen->config;

    (void)fputs("As observed there, not as the search finds:", cli->out);
    if (config->algorithm != MODEL_UNSET) {
        (void)fprintf(cli->out, " %s",
                      model_algorithm_names[config->algorithm]);
    }
    if (config->protocol != MODEL_UNSET) {
        (void)fprintf(cli->out, " %s", model_protocol_names[config->protocol]);
    }
    if (config->transport != MODEL_UNSET) {
        (void)fprintf(cli->out, " %s",
                      model_transport_names[config->transport]);
    }
    if (config->channels > 0) {
        (void)fprintf(cli->out, " %d channels", config->channels);
    }
    if (config->threads > 0) {
        (void)fprintf(cli->out, " %d threads", config->threads);
    }
    if (config->chunk_bytes > 0.0) {
        (void)fprintf(cli->out, " %s chunks",
                      print_bytes(cli->arena, config->chunk_bytes));
    }
    (void)fprintf(cli->out, " (%s)\n", seen->source);
}

/* The variables of the topology. */
static void put_told(FILE *out, const struct model_nccl_told *told)
{
    const char *const *variables = told->env.items;

    for (int i = 0; i < told->env.count; i++) {
        (void)fprintf(out, "%s%s", i == 0 ? "With " : ", ", variables[i]);
    }
    (void)fputs(told->env.count > 0 ? " (nccl.env)\n" : "", out);
}

static void print_text(struct sim_cli *cli,
                       const struct sim_input *input,
                       const struct search_nccl_rows *rows)
{
    const struct model_nccl *nccl = rows->nccl;

    (void)fprintf(cli->out, "NCCL %s on %s\n", nccl->version->release,
                  input->topology.name);
    put_told(cli->out, &input->topology.nccl);
    if (nccl->observed) {
        put_observed(cli, &input->topology.observed);
    }
    for (int i = 0; i < nccl->workload->group_count; i++) {
        if (nccl->groups[i].comm != NULL) {
            put_comm(cli, nccl, i);
        }
    }
    for (int i = 0; i < rows->count; i++) {
        put_row(cli, nccl, &rows->list[i]);
    }
    if (rows->count == 0) {
        (void)fputs("\nNo collective leaves anything to NCCL.\n", cli->out);
    }
    (void)fprintf(cli->out, "\nlagom %s\n", LAGOM_VERSION);
    sim_report_overrides(cli, "");
}

enum model_status search_explain_nccl(struct sim_cli *cli,
                                      const struct sim_input *input)
{
    struct search_nccl_rows rows =
        search_nccl_rows_make(cli->arena, &input->nccl);

    switch ((enum sim_format)cli->options.format) {
    case SIM_JSON:
        return search_explain_nccl_json(cli, input, &rows);
    case SIM_CSV:
        search_explain_nccl_csv(cli, &rows);
        break;
    case SIM_TEXT:
        print_text(cli, input, &rows);
        break;
    }
    return MODEL_OK;
}
