/*
 * report.c - what `lagom run` prints.
 *
 * Text groups equal ops; JSON and CSV have one entry per op. Field names carry
 * their units.
 */
#include "sim/report.h"

#include "build/version.h"
#include "sim/alone.h"
#include "sim/csv.h"

char *sim_report_guesses(const struct model_topology *topology,
                         char *buffer,
                         size_t buffer_bytes)
{
    const struct model_provenance *provenance = &topology->provenance;
    int total = 0;

    for (int i = 0; i < MODEL_ORIGINS; i++) {
        total += provenance->count[i];
    }
    (void)snprintf(buffer, buffer_bytes,
                   "%d of %d hardware numbers are guesses, %d overridden",
                   provenance->count[MODEL_FROM_GUESS], total,
                   provenance->count[MODEL_FROM_OVERRIDE]);
    return buffer;
}

void sim_report_steps(FILE *out, const struct model_workload *workload)
{
    const struct model_cycle *cycle = &workload->cycle;

    if (cycle->steps > 0) {
        (void)fprintf(out, "%d of %d steps are simulated\n",
                      cycle->steps + 1 - cycle->repeats, cycle->steps);
    }
}

struct override {
    const char *option;
    const char *text;
};

struct overrides {
    struct override list[2 * SIM_CLI_LIST_MAX + 3];
    int count;
};

static void
add_override(struct overrides *all, const char *option, const char *text)
{
    if (text != NULL && text[0] != '\0') {
        all->list[all->count++] = (struct override){option, text};
    }
}

static struct overrides overrides_of(const struct sim_cli *cli)
{
    struct overrides all = {.count = 0};

    add_override(&all, "params", cli->options.params);
    for (int i = 0; i < cli->options.sets.count; i++) {
        add_override(&all, "set", cli->options.sets.items[i]);
    }
    add_override(&all, "nccl", cli->options.nccl);
    add_override(&all, "env-file", cli->options.env_file);
    for (int i = 0; i < cli->options.envs.count; i++) {
        add_override(&all, "env", cli->options.envs.items[i]);
    }
    return all;
}

bool sim_report_is_changed(const struct sim_cli *cli)
{
    return overrides_of(cli).count > 0;
}

void sim_report_overrides(const struct sim_cli *cli, const char *prefix)
{
    struct overrides all = overrides_of(cli);

    for (int i = 0; i < all.count; i++) {
        (void)fprintf(cli->out, "%s%s %s\n", prefix, all.list[i].option,
                      all.list[i].text);
    }
}

const char *sim_report_nccl(struct model_arena *arena,
                            const struct model_nccl *nccl)
{
    return nccl->observed ? model_arena_format(arena, "%s, as observed: %s",
                                               nccl->version->release,
                                               nccl->topology->observed.source)
                          : nccl->version->release;
}

void sim_report_put_nccl(struct sim_json *object, const struct model_nccl *nccl)
{
    sim_json_text(object, "nccl", nccl->version->release);
    sim_json_text(object, "nccl_observed",
                  nccl->observed ? nccl->topology->observed.source : NULL);
}

/* Less than a picosecond is rounding. */
static double shown_us(double time_us)
{
    return time_us > -1e-6 && time_us < 1e-6 ? 0.0 : time_us;
}

void sim_report_put_lost(struct sim_json *object, const struct sim_lost *lost)
{
    sim_json_number(object, "sm", shown_us(lost->sm));
    sim_json_number(object, "l2", shown_us(lost->l2));
    sim_json_number(object, "hbm", shown_us(lost->hbm));
    sim_json_number(object, "link", shown_us(lost->link));
    sim_json_number(object, "peer", shown_us(lost->peer));
    sim_json_number(object, "launch", shown_us(lost->launch));
}

/* M / t of a collective, bytes/us. */
static double algorithm_rate(const struct model_op *op, double duration_us)
{
    return duration_us > 0.0 ? op->bytes / duration_us : 0.0;
}

/* -- JSON -- */

void sim_report_put_config(struct sim_json *json,
                           const struct model_config *config)
{
    sim_json_text(json, "algorithm", model_algorithm_names[config->algorithm]);
    sim_json_text(json, "protocol", model_protocol_names[config->protocol]);
    sim_json_text(json, "transport", model_transport_names[config->transport]);
    sim_json_count(json, "channels", config->channels);
    sim_json_count(json, "threads", config->threads);
    sim_json_number(json, "chunk_bytes", config->chunk_bytes);
}

static void put_op(struct sim_json *list,
                   const struct sim_report *report,
                   struct sim_alone *alone,
                   struct sim_op_result result)
{
    const struct model_op *op = &report->request->workload->ops[result.op];
    double duration_us = result.end_us - result.start_us;
    struct sim_json *json = sim_json_append(list);
    double alone_us;

    sim_alone_explain(alone, &result, &alone_us);
    sim_json_text(json, "id", op->id);
    sim_json_text(json, "kind", model_op_names[op->kind]);
    sim_json_text(json, "stream",
                  report->request->workload->streams[op->stream].name);
    sim_json_count(json, "rank", result.rank);
    sim_json_number(
        json, "repeats",
        model_workload_repeats(report->request->workload, result.op));
    sim_json_number(json, "start_us", result.start_us);
    sim_json_number(json, "end_us", result.end_us);
    sim_json_number(json, "alone_us", alone_us);
    sim_json_number(json, "slowdown", duration_us / alone_us);
    sim_report_put_lost(sim_json_put_object(json, "lost_us"), &result.lost);
    if (model_op_is_collective(op)) {
        double rate = algorithm_rate(op, duration_us) / 1000.0;

        sim_report_put_config(json, &result.config);
        sim_json_number(json, "algbw_GBps", rate);
        sim_json_number(
            json, "busbw_GBps",
            rate * model_collective_bus_factor(
                       model_op_collective(op),
                       report->request->workload->groups[op->group].count));
    }
}

void sim_report_put_overrides(const struct sim_cli *cli, struct sim_json *root)
{
    struct overrides all = overrides_of(cli);
    struct sim_json *list =
        all.count > 0 ? sim_json_put_array(root, "overrides") : NULL;

    for (int i = 0; i < all.count; i++) {
        sim_json_text(sim_json_append(list), all.list[i].option,
                      all.list[i].text);
    }
}

static enum model_status print_json(struct sim_cli *cli,
                                    const struct sim_report *report)
{
    const struct sim_result *result = report->result;
    struct sim_json *root = sim_json_object();
    struct sim_alone *alone = sim_alone_new(cli->arena, report->request);
    struct sim_json *list;
    enum model_status status;

    sim_json_text(root, "version", LAGOM_VERSION);
    sim_json_hex(root, "fingerprint", result->fingerprint);
    sim_json_count(root, "seed", (int64_t)cli->options.seed);
    sim_json_text(root, "topology", report->request->topology->name);
    sim_json_text(root, "workload", report->request->workload->name);
    sim_json_text(root, "strategy", report->strategy);
    sim_report_put_nccl(root, report->request->nccl);
    sim_report_put_overrides(cli, root);
    sim_json_count(
        root, "guesses",
        report->request->topology->provenance.count[MODEL_FROM_GUESS]);
    sim_json_number(root, "iteration_us", result->iteration_us);
    sim_json_number(root, "compute_us", result->compute_us);
    sim_json_number(root, "comm_us", result->comm_us);
    sim_json_number(root, "exposed_comm_us", result->exposed_comm_us);
    sim_json_count(root, "events", (int64_t)result->events);
    sim_json_number(root, "wall_us", report->wall_us);
    list = sim_json_put_array(root, "ops");
    for (int i = 0; i < result->op_count; i++) {
        if (result->ops[i].takes_part) {
            put_op(list, report, alone, result->ops[i]);
        }
    }
    list = sim_json_put_array(root, "resources");
    for (int i = 0; i < result->resource_count; i++) {
        struct sim_json *json = sim_json_append(list);
        char name[96];

        sim_json_text(json, "name",
                      sim_resource_name(report->sim,
                                        result->resources[i].resource, name,
                                        sizeof(name)));
        sim_json_number(json, "busy_ratio", result->resources[i].busy_ratio);
    }
    status = sim_json_print(root, cli->out);
    sim_json_free(root);
    return status;
}

/* -- CSV -- */

static void print_csv(struct sim_cli *cli, const struct sim_report *report)
{
    struct sim_alone *alone = sim_alone_new(cli->arena, report->request);

    (void)fputs("id,kind,stream,rank,start_us,end_us,alone_us,slowdown,"
                "lost_sm_us,lost_l2_us,lost_hbm_us,lost_link_us,lost_peer_us,"
                "lost_launch_us,channels,threads,chunk_bytes,transport,"
                "algorithm,protocol,repeats\n",
                cli->out);
    for (int i = 0; i < report->result->op_count; i++) {
        struct sim_op_result op = report->result->ops[i];
        const struct model_op *row = &report->request->workload->ops[op.op];
        double alone_us;

        if (!op.takes_part) {
            continue;
        }
        sim_alone_explain(alone, &op, &alone_us);
        sim_csv_text(cli->out, row->id);
        sim_csv_text(cli->out, model_op_names[row->kind]);
        sim_csv_text(cli->out,
                     report->request->workload->streams[row->stream].name);
        (void)fprintf(
            cli->out, "%d,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f",
            op.rank, op.start_us, op.end_us, alone_us,
            (op.end_us - op.start_us) / alone_us, shown_us(op.lost.sm),
            shown_us(op.lost.l2), shown_us(op.lost.hbm), shown_us(op.lost.link),
            shown_us(op.lost.peer), shown_us(op.lost.launch));
        if (model_op_is_collective(row)) {
            (void)fprintf(cli->out, ",%d,%d,%.0f,%s,%s,%s", op.config.channels,
                          op.config.threads, op.config.chunk_bytes,
                          model_transport_names[op.config.transport],
                          model_algorithm_names[op.config.algorithm],
                          model_protocol_names[op.config.protocol]);
        } else {
            (void)fputs(",,,,,,", cli->out);
        }
        (void)fprintf(cli->out, ",%.0f\n",
                      model_workload_repeats(report->request->workload, op.op));
    }
}

enum model_status sim_report_print(struct sim_cli *cli,
                                   const struct sim_report *report)
{
    switch ((enum sim_format)cli->options.format) {
    case SIM_JSON:
        return print_json(cli, report);
    case SIM_CSV:
        print_csv(cli, report);
        break;
    case SIM_TEXT:
        sim_report_text(cli, report);
        break;
    }
    return MODEL_OK;
}
