/*
 * explain_nccl_data.c - NCCL's choices as JSON and CSV.
 */
#include "search/explain_nccl.h"

#include "build/version.h"
#include "sim/csv.h"
#include "sim/json.h"
#include "sim/report.h"

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

        sim_json_text(item, "graph", search_nccl_graph_names[kind]);
        sim_json_count(item, "channels", graph->channels);
        if (graph->channels > 0) {
            sim_json_text(item, "pattern",
                          search_nccl_pattern_names[graph->pattern]);
            sim_json_number(item, "intra_GBps",
                            graph->intra_bytes_per_us / 1000.0);
            sim_json_text(item, "intra_path",
                          model_nccl_path_names[graph->intra_type]);
        }
        if (graph->channels > 0 && comm->node_count > 1) {
            sim_json_number(item, "inter_GBps",
                            graph->inter_bytes_per_us / 1000.0);
            sim_json_text(item, "inter_path",
                          model_nccl_path_names[graph->inter_type]);
        }
    }
}

static void json_candidates(struct model_arena *arena,
                            struct sim_json *list,
                            const struct search_nccl_row *row)
{
    for (int a = 0; a < MODEL_NCCL_ALGORITHMS; a++) {
        for (int p = 0; p < MODEL_NCCL_PROTOCOLS; p++) {
            struct search_nccl_candidate candidate =
                search_nccl_candidate_of(row, a, p);
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
            sim_json_text(object, "verdict",
                          search_nccl_verdict(arena, row, &candidate));
        }
    }
}

static void json_row(struct model_arena *arena,
                     struct sim_json *list,
                     const struct model_nccl *nccl,
                     const struct search_nccl_row *row)
{
    const struct model_nccl_choice *choice = &row->choice;
    struct sim_json *object = sim_json_append(list);
    struct sim_json *steps;

    sim_json_text(object, "kind", model_op_names[row->part->kind]);
    sim_json_number(object, "size_bytes", row->part->bytes);
    sim_json_text(object, "group",
                  nccl->workload->groups[row->part->group].name);
    sim_json_count(object, "count", row->op_count);
    if (search_nccl_row_fails(row)) {
        sim_json_text(object, "algorithm", NULL);
        json_candidates(arena, sim_json_put_array(object, "candidates"), row);
        return;
    }
    sim_report_put_config(object, &row->config);
    sim_json_count(object, "extra_warps", choice->extra_warps);
    if (choice->function != MODEL_UNSET) {
        sim_json_number(object, "predicted_us", search_nccl_best_us(row));
        json_candidates(arena, sim_json_put_array(object, "candidates"), row);
    }
    steps = sim_json_put_array(object, "steps");
    for (int i = 0; i < choice->step_count; i++) {
        struct sim_json *step = sim_json_append(steps);

        sim_json_text(step, "cause",
                      search_nccl_cause_names[choice->steps[i].cause]);
        sim_json_count(step, "channels", choice->steps[i].channels);
        sim_json_count(step, "threads", choice->steps[i].threads);
        sim_json_number(step, "chunk_bytes", choice->steps[i].chunk_bytes);
    }
}

/* The variables of the topology. */
static void json_told(struct sim_json *root, const struct model_nccl_told *told)
{
    const char *const *variables = told->env.items;
    struct sim_json *list = sim_json_put_array(root, "variables");

    for (int i = 0; i < told->env.count; i++) {
        sim_json_text(sim_json_append(list), "env", variables[i]);
    }
}

enum model_status search_explain_nccl_json(struct sim_cli *cli,
                                           const struct sim_input *input,
                                           const struct search_nccl_rows *rows)
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
    json_told(root, &input->topology.nccl);
    sim_report_put_overrides(cli, root);
    list = sim_json_put_array(root, "communicators");
    for (int i = 0; i < nccl->workload->group_count; i++) {
        if (nccl->groups[i].comm != NULL) {
            json_comm(list, nccl->workload->groups[i].name,
                      nccl->groups[i].comm);
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

/* -- CSV: one row per candidate; of send and receive there is but one -- */

static void csv_names(FILE *out,
                      const struct model_nccl *nccl,
                      const struct search_nccl_row *row,
                      const char *algorithm,
                      const char *protocol)
{
    (void)fprintf(out, "%s,%.0f,", model_op_names[row->part->kind],
                  row->part->bytes);
    sim_csv_text(out, nccl->workload->groups[row->part->group].name);
    (void)fprintf(out, "%s,%s,", algorithm, protocol);
}

static void csv_config(FILE *out, const struct model_config *config)
{
    (void)fprintf(out, "%d,%d,%.0f,", config->channels, config->threads,
                  config->chunk_bytes);
}

static void csv_candidate(struct sim_cli *cli,
                          const struct model_nccl *nccl,
                          const struct search_nccl_row *row,
                          int algorithm,
                          int protocol)
{
    struct search_nccl_candidate candidate =
        search_nccl_candidate_of(row, algorithm, protocol);

    csv_names(cli->out, nccl, row, model_nccl_algorithm_names[algorithm],
              model_nccl_protocol_names[protocol]);
    if (candidate.time_us >= 0.0) {
        (void)fprintf(cli->out, "%.6f,%.6f,%.6f,", candidate.pair->latency_us,
                      candidate.pair->bytes_per_us / 1000.0, candidate.time_us);
    } else {
        (void)fputs(",,,", cli->out);
    }
    if (candidate.chosen) {
        csv_config(cli->out, &row->config);
    } else {
        (void)fputs(",,,", cli->out);
    }
    sim_csv_last(cli->out, search_nccl_verdict(cli->arena, row, &candidate));
}

static void csv_only(struct sim_cli *cli,
                     const struct model_nccl *nccl,
                     const struct search_nccl_row *row)
{
    csv_names(cli->out, nccl, row, model_algorithm_names[row->config.algorithm],
              model_protocol_names[row->config.protocol]);
    (void)fputs(",,,", cli->out);
    csv_config(cli->out, &row->config);
    sim_csv_last(cli->out, "chosen");
}

void search_explain_nccl_csv(struct sim_cli *cli,
                             const struct search_nccl_rows *rows)
{
    (void)fputs("kind,size_bytes,group,algorithm,protocol,latency_us,"
                "algbw_GBps,time_us,channels,threads,chunk_bytes,verdict\n",
                cli->out);
    for (int i = 0; i < rows->count; i++) {
        if (rows->list[i].choice.function == MODEL_UNSET) {
            csv_only(cli, rows->nccl, &rows->list[i]);
            continue;
        }
        for (int pair = 0; pair < MODEL_NCCL_ALGORITHMS * MODEL_NCCL_PROTOCOLS;
             pair++) {
            csv_candidate(cli, rows->nccl, &rows->list[i],
                          pair / MODEL_NCCL_PROTOCOLS,
                          pair % MODEL_NCCL_PROTOCOLS);
        }
    }
}
