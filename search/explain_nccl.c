/*
 * explain_nccl.c - NCCL's choices as text, JSON and CSV.
 */
#include "search/explain_nccl.h"

#include "build/version.h"
#include "sim/csv.h"
#include "sim/json.h"
#include "sim/report.h"

#include <string.h>

static const char *const graph_names[MODEL_NCCL_GRAPHS] = {"ring", "tree",
                                                           "nvls"};

static const char *const pattern_names[] = {
    [0] = "none",
    [MODEL_NCCL_BALANCED_TREE] = "balanced tree",
    [MODEL_NCCL_SPLIT_TREE] = "split tree",
    [MODEL_NCCL_PLAIN_TREE] = "tree",
    [MODEL_NCCL_RING_PATTERN] = "ring",
    [MODEL_NCCL_NVLS_PATTERN] = "nvls"};

static const char *const cause_names[MODEL_NCCL_CAUSES] = {
    [MODEL_NCCL_AS_SEARCHED] = "as the communicator has",
    [MODEL_NCCL_FEWER_CHANNELS] = "fewer channels for a small message",
    [MODEL_NCCL_FEWER_THREADS] = "then fewer threads",
    [MODEL_NCCL_SMALLER_CHUNK] = "shorter chunks for a small message"};

/* One kind of collective, of one size and group, with what its ops fix. */
struct row {
    const struct search_class *part; /* the first of those that are alike */
    int op_count;
    const struct model_op *op; /* the first of the class */
    const struct model_nccl_tuning *tuning;
    struct model_nccl_choice choice;
    struct model_config config; /* what it runs with in the end */
};

struct rows {
    const struct model_nccl *nccl;
    struct row *list;
    int count;
};

/* The row of a class that differs in its window alone, or NULL. */
static struct row *alike(const struct rows *rows,
                         const struct search_class *part)
{
    for (int i = 0; i < rows->count; i++) {
        const struct search_class *known = rows->list[i].part;

        if (known->kind == part->kind && known->group == part->group &&
            known->shift == part->shift &&
            model_same(known->bytes, part->bytes) &&
            model_config_equal(&known->fixed, &part->fixed)) {
            return &rows->list[i];
        }
    }
    return NULL;
}

static struct rows gather(struct sim_cli *cli, const struct sim_input *input)
{
    struct search_problem *problem =
        model_arena_alloc(cli->arena, sizeof(*problem));
    struct rows rows = {.nccl = &input->nccl};

    search_problem_make(cli->arena, rows.nccl, problem);
    rows.list = model_arena_array(cli->arena, (size_t)problem->class_count + 1,
                                  sizeof(*rows.list));
    for (int i = 0; i < problem->workload->op_count; i++) {
        const struct search_class *part;
        struct row *row;

        if (problem->class_of[i] < 0) {
            continue;
        }
        part = &problem->classes[problem->class_of[i]];
        row = alike(&rows, part);
        if (row != NULL) {
            row->op_count++;
            continue;
        }
        row = &rows.list[rows.count];
        row->part = part;
        row->op_count = 1;
        row->op = &problem->workload->ops[i];
        row->tuning = rows.nccl->tunings[row->part->group];
        row->config = row->part->baseline;
        (void)model_nccl_choice_of(rows.nccl, row->op, &row->part->fixed,
                                   &row->choice);
        rows.count++;
    }
    return rows;
}

/* -- one candidate -- */

struct candidate {
    const struct model_nccl_pair *pair;
    double time_us; /* < 0: off */
    bool chosen;
};

static struct candidate
candidate_of(const struct row *row, int algorithm, int protocol)
{
    const struct model_nccl_choice *choice = &row->choice;

    return (struct candidate){
        .pair = &row->tuning->pairs[choice->function][algorithm][protocol],
        .time_us = choice->time_us[algorithm][protocol],
        .chosen =
            choice->algorithm == algorithm && choice->protocol == protocol};
}

static double best_us(const struct row *row)
{
    return row->choice.time_us[row->choice.algorithm][row->choice.protocol];
}

/* Why it is not the one, in words. */
static const char *verdict(struct model_arena *arena,
                           const struct row *row,
                           const struct candidate *candidate)
{
    double ratio = candidate->time_us / best_us(row);

    if (candidate->chosen) {
        return "chosen";
    }
    if (candidate->time_us < 0.0) {
        return candidate->pair->off != NULL ? candidate->pair->off : "off";
    }
    if (ratio >= 2.0) {
        return model_arena_format(arena, "%.3g times as long", ratio);
    }
    return model_arena_format(arena, "%.2g %% longer", (ratio - 1.0) * 100.0);
}

/* Does the reason hold for all protocols of the algorithm? */
static const char *off_at_all(const struct row *row, int algorithm)
{
    const char *reason = NULL;

    for (int p = 0; p < MODEL_NCCL_PROTOCOLS; p++) {
        struct candidate candidate = candidate_of(row, algorithm, p);

        if (candidate.time_us >= 0.0 || candidate.chosen ||
            (p > 0 && !model_same_text(reason, candidate.pair->off))) {
            return NULL;
        }
        reason = candidate.pair->off;
    }
    return reason != NULL ? reason : "off";
}

/* -- text -- */

static const char *print_bytes(struct model_arena *arena, double bytes)
{
    char *text = model_arena_alloc(arena, 48);

    return model_units_print(bytes, MODEL_BYTES, text, 48);
}

static void put_graph(FILE *out, int kind, const struct model_nccl_graph *graph)
{
    if (graph->channels == 0) {
        (void)fprintf(out, "  %-6s none\n", graph_names[kind]);
        return;
    }
    (void)fprintf(out, "  %-6s %-14s %8d %9.4g GB/s %9.4g GB/s  %s/%s\n",
                  graph_names[kind], pattern_names[graph->pattern],
                  graph->channels, graph->intra_bytes_per_us / 1000.0,
                  graph->inter_bytes_per_us / 1000.0,
                  model_nccl_path_names[graph->intra_type],
                  model_nccl_path_names[graph->inter_type]);
}

static void
put_comm(struct sim_cli *cli, const struct model_nccl *nccl, int group)
{
    const struct model_nccl_comm *comm = nccl->comms[group];
    FILE *out = cli->out;

    (void)fprintf(out, "\nGroup %s: %d rank%s on %d node%s\n",
                  nccl->workload->groups[group].name, comm->rank_count,
                  comm->rank_count == 1 ? "" : "s", comm->node_count,
                  comm->node_count == 1 ? "" : "s");
    (void)fprintf(out, "  %-6s %-14s %8s %14s %14s  %s\n", "graph", "pattern",
                  "channels", "in a node", "between", "paths");
    for (int kind = 0; kind < MODEL_NCCL_GRAPHS; kind++) {
        put_graph(out, kind, &comm->graphs[kind]);
    }
    (void)fprintf(out, "  channels: %d for rings and trees, %d for NVLS, ",
                  comm->channels, comm->nvls_channels);
    (void)fprintf(out, "%d for send and receive (%d a peer)\n",
                  comm->p2p_channels, comm->p2p_channels_per_peer);
}

static void put_candidate(struct sim_cli *cli,
                          const struct row *row,
                          int algorithm,
                          int protocol)
{
    struct candidate candidate = candidate_of(row, algorithm, protocol);
    char name[32];

    (void)snprintf(name, sizeof(name), "%s %s",
                   model_nccl_algorithm_names[algorithm],
                   model_nccl_protocol_names[protocol]);
    if (candidate.time_us < 0.0) {
        (void)fprintf(cli->out, "  %-20s %10s %12s %12s  off: %s\n", name, "-",
                      "-", "-", verdict(cli->arena, row, &candidate));
        return;
    }
    (void)fprintf(cli->out, "  %-20s %7.1f us %7.2f GB/s %9.1f us  %s\n", name,
                  candidate.pair->latency_us,
                  candidate.pair->bytes_per_us / 1000.0, candidate.time_us,
                  verdict(cli->arena, row, &candidate));
}

static void put_candidates(struct sim_cli *cli, const struct row *row)
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

static void put_steps(struct sim_cli *cli, const struct row *row)
{
    const struct model_nccl_choice *choice = &row->choice;

    for (int i = 0; i < choice->step_count; i++) {
        const struct model_nccl_step *step = &choice->steps[i];

        (void)fprintf(cli->out,
                      "  %3d channels of %3d threads, %s chunks: %s\n",
                      step->channels, step->threads,
                      print_bytes(cli->arena, step->chunk_bytes),
                      cause_names[step->cause]);
    }
}

static void put_row(struct sim_cli *cli,
                    const struct model_nccl *nccl,
                    const struct row *row)
{
    char config[96];

    (void)fprintf(cli->out, "\n%s of %s, group %s",
                  model_op_names[row->part->kind],
                  print_bytes(cli->arena, row->part->bytes),
                  nccl->workload->groups[row->part->group].name);
    (void)fprintf(cli->out, ", %d time%s: %s\n", row->op_count,
                  row->op_count == 1 ? "" : "s",
                  model_config_print(&row->config, config, sizeof(config)));
    if (row->choice.function != MODEL_UNSET) {
        put_candidates(cli, row);
    }
    put_steps(cli, row);
}

static void print_text(struct sim_cli *cli,
                       const struct sim_input *input,
                       const struct rows *rows)
{
    const struct model_nccl *nccl = rows->nccl;
    const struct model_observed *seen = &input->topology.observed;
    char config[96];

    (void)fprintf(cli->out, "NCCL %s on %s\n", nccl->version->release,
                  input->topology.name);
    if (nccl->observed) {
        (void)fprintf(
            cli->out,
            "Taken from what was observed there, not from the search: "
            "%s (%s)\n",
            model_config_print(&seen->config, config, sizeof(config)),
            seen->source);
    }
    for (int i = 0; i < nccl->workload->group_count; i++) {
        if (nccl->comms[i] != NULL) {
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
    sim_report_overrides(cli);
}

/* -- JSON -- */

static void json_comm(struct sim_json *list,
                      const char *name,
                      const struct model_nccl_comm *comm)
{
    struct sim_json *object = sim_json_append(list);
    struct sim_json *graphs;

    sim_json_text(object, "group", name);
    sim_json_count(object, "ranks", comm->rank_count);
    sim_json_count(object, "nodes", comm->node_count);
    sim_json_count(object, "channels", comm->channels);
    sim_json_count(object, "nvls_channels", comm->nvls_channels);
    sim_json_count(object, "p2p_channels", comm->p2p_channels);
    sim_json_count(object, "p2p_channels_per_peer",
                   comm->p2p_channels_per_peer);
    graphs = sim_json_put_array(object, "graphs");
    for (int kind = 0; kind < MODEL_NCCL_GRAPHS; kind++) {
        const struct model_nccl_graph *graph = &comm->graphs[kind];
        struct sim_json *item = sim_json_append(graphs);

        sim_json_text(item, "graph", graph_names[kind]);
        sim_json_count(item, "channels", graph->channels);
        if (graph->channels > 0) {
            sim_json_text(item, "pattern", pattern_names[graph->pattern]);
            sim_json_number(item, "intra_GBps",
                            graph->intra_bytes_per_us / 1000.0);
            sim_json_number(item, "inter_GBps",
                            graph->inter_bytes_per_us / 1000.0);
            sim_json_text(item, "intra_path",
                          model_nccl_path_names[graph->intra_type]);
            sim_json_text(item, "inter_path",
                          model_nccl_path_names[graph->inter_type]);
        }
    }
}

static void json_candidates(struct model_arena *arena,
                            struct sim_json *list,
                            const struct row *row)
{
    for (int a = 0; a < MODEL_NCCL_ALGORITHMS; a++) {
        for (int p = 0; p < MODEL_NCCL_PROTOCOLS; p++) {
            struct candidate candidate = candidate_of(row, a, p);
            struct sim_json *object = sim_json_append(list);

            sim_json_text(object, "algorithm", model_nccl_algorithm_names[a]);
            sim_json_text(object, "protocol", model_nccl_protocol_names[p]);
            if (candidate.time_us >= 0.0) {
                sim_json_number(object, "latency_us",
                                candidate.pair->latency_us);
                sim_json_number(object, "algbw_GBps",
                                candidate.pair->bytes_per_us / 1000.0);
                sim_json_number(object, "time_us", candidate.time_us);
            }
            sim_json_text(object, "verdict", verdict(arena, row, &candidate));
        }
    }
}

static void json_row(struct model_arena *arena,
                     struct sim_json *list,
                     const struct model_nccl *nccl,
                     const struct row *row)
{
    const struct model_nccl_choice *choice = &row->choice;
    struct sim_json *object = sim_json_append(list);
    struct sim_json *steps;

    sim_json_text(object, "kind", model_op_names[row->part->kind]);
    sim_json_number(object, "size_bytes", row->part->bytes);
    sim_json_text(object, "group",
                  nccl->workload->groups[row->part->group].name);
    sim_json_count(object, "count", row->op_count);
    sim_json_text(object, "algorithm",
                  model_algorithm_names[row->config.algorithm]);
    sim_json_text(object, "protocol",
                  model_protocol_names[row->config.protocol]);
    sim_json_text(object, "transport",
                  model_transport_names[row->config.transport]);
    sim_json_count(object, "channels", row->config.channels);
    sim_json_count(object, "threads", row->config.threads);
    sim_json_count(object, "extra_warps", choice->extra_warps);
    sim_json_number(object, "chunk_bytes", row->config.chunk_bytes);
    if (choice->function != MODEL_UNSET) {
        sim_json_number(object, "predicted_us", best_us(row));
        json_candidates(arena, sim_json_put_array(object, "candidates"), row);
    }
    steps = sim_json_put_array(object, "steps");
    for (int i = 0; i < choice->step_count; i++) {
        struct sim_json *step = sim_json_append(steps);

        sim_json_text(step, "cause", cause_names[choice->steps[i].cause]);
        sim_json_count(step, "channels", choice->steps[i].channels);
        sim_json_count(step, "threads", choice->steps[i].threads);
        sim_json_number(step, "chunk_bytes", choice->steps[i].chunk_bytes);
    }
}

static enum model_status print_json(struct sim_cli *cli,
                                    const struct sim_input *input,
                                    const struct rows *rows)
{
    const struct model_nccl *nccl = rows->nccl;
    struct sim_json *root = sim_json_object();
    struct sim_json *list;
    enum model_status status;

    sim_json_text(root, "version", LAGOM_VERSION);
    sim_json_text(root, "nccl", nccl->version->release);
    sim_json_text(root, "topology", input->topology.name);
    sim_json_text(root, "workload", input->workload.name);
    sim_json_text(root, "observed",
                  nccl->observed ? input->topology.observed.source : NULL);
    sim_report_put_overrides(cli, root);
    list = sim_json_put_array(root, "communicators");
    for (int i = 0; i < nccl->workload->group_count; i++) {
        if (nccl->comms[i] != NULL) {
            json_comm(list, nccl->workload->groups[i].name, nccl->comms[i]);
        }
    }
    list = sim_json_put_array(root, "collectives");
    for (int i = 0; i < rows->count; i++) {
        json_row(cli->arena, list, nccl, &rows->list[i]);
    }
    status = sim_json_print(root, cli->out);
    sim_json_free(root);
    return status;
}

/* -- CSV: one row per candidate -- */

static void csv_candidate(struct sim_cli *cli,
                          const struct model_nccl *nccl,
                          const struct row *row,
                          int algorithm,
                          int protocol)
{
    struct candidate candidate = candidate_of(row, algorithm, protocol);

    (void)fprintf(cli->out, "%s,%.0f,", model_op_names[row->part->kind],
                  row->part->bytes);
    sim_csv_text(cli->out, nccl->workload->groups[row->part->group].name);
    (void)fprintf(cli->out, "%s,%s,", model_nccl_algorithm_names[algorithm],
                  model_nccl_protocol_names[protocol]);
    if (candidate.time_us >= 0.0) {
        (void)fprintf(cli->out, "%.6f,%.6f,%.6f,", candidate.pair->latency_us,
                      candidate.pair->bytes_per_us / 1000.0, candidate.time_us);
    } else {
        (void)fputs(",,,", cli->out);
    }
    if (candidate.chosen) {
        (void)fprintf(cli->out, "%d,%d,%.0f,", row->config.channels,
                      row->config.threads, row->config.chunk_bytes);
    } else {
        (void)fputs(",,,", cli->out);
    }
    sim_csv_last(cli->out, verdict(cli->arena, row, &candidate));
}

static void print_csv(struct sim_cli *cli, const struct rows *rows)
{
    (void)fputs("kind,size_bytes,group,algorithm,protocol,latency_us,"
                "algbw_GBps,time_us,channels,threads,chunk_bytes,verdict\n",
                cli->out);
    for (int i = 0; i < rows->count; i++) {
        for (int pair = 0; rows->list[i].choice.function != MODEL_UNSET &&
                           pair < MODEL_NCCL_ALGORITHMS * MODEL_NCCL_PROTOCOLS;
             pair++) {
            csv_candidate(cli, rows->nccl, &rows->list[i],
                          pair / MODEL_NCCL_PROTOCOLS,
                          pair % MODEL_NCCL_PROTOCOLS);
        }
    }
}

enum model_status search_explain_nccl(struct sim_cli *cli,
                                      const struct sim_input *input)
{
    struct rows rows = gather(cli, input);

    switch ((enum sim_format)cli->options.format) {
    case SIM_JSON:
        return print_json(cli, input, &rows);
    case SIM_CSV:
        print_csv(cli, &rows);
        break;
    case SIM_TEXT:
        print_text(cli, input, &rows);
        break;
    }
    return MODEL_OK;
}
