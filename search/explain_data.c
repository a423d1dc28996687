/*
 * explain_data.c - an explanation as JSON and CSV. Times and bytes of windows
 * and parts are sums over all their instances; `count` says how many.
 */
#include "search/explain_print.h"

#include "build/version.h"
#include "sim/csv.h"
#include "sim/report.h"

#include <math.h>

/* -- JSON -- */

/* modelled_us is what Lagom's cost model says; NAN, which is null: nothing. */
static void put_side(struct sim_json *object,
                     const char *key,
                     const struct sim_side *side,
                     double modelled_us)
{
    struct sim_json *json = sim_json_put_object(object, key);

    sim_json_count(json, "ops", side->op_count);
    sim_json_number(json, "covered_us", side->covered_us);
    sim_json_number(json, "time_us", side->time_us);
    sim_json_number(json, "alone_us", side->alone_us);
    sim_json_number(json, "modelled_us", modelled_us);
    sim_report_put_lost(sim_json_put_object(json, "lost_us"), &side->lost);
}

static void put_kernel(struct sim_json *json,
                       const struct search_explanation *it,
                       const struct sim_part *part)
{
    const struct model_gpu *gpu = search_gpu(it);
    struct model_kernel kernel =
        model_op_kernel(&it->request->workload->ops[part->op], gpu);

    sim_json_text(json, "schedule", model_schedule_names[kernel.schedule]);
    sim_json_count(json, "loads", kernel.loads);
    sim_json_count(json, "waves_alone",
                   sim_kernel_rounds(&kernel, gpu->sm_count));
    sim_json_count(json, "waves_beside",
                   sim_kernel_rounds(&kernel, sim_part_sms(part, gpu)));
    sim_json_number(json, "held_sms", part->held_sms);
    sim_json_number(json, "shared_sms", part->shared_sms);
    sim_json_number(json, "waiting_us", part->waiting_us);
    sim_json_number(json, "run_us", part->run_us);
    sim_json_number(json, "beside_us", part->beside_us);
    sim_json_number(json, "beside_hbm_bytes", part->beside_hbm_bytes);
    sim_json_number(json, "footprint_bytes", part->footprint_bytes);
}

static void put_collective(struct sim_json *json,
                           const struct search_explanation *it,
                           const struct sim_part *part)
{
    char name[96];

    sim_report_put_config(json, &part->config);
    sim_json_number(json, "size_bytes",
                    it->request->workload->ops[part->op].bytes);
    sim_json_number(json, "wire_bytes", part->wire_bytes);
    sim_json_number(json, "moving_us", part->moving_us);
    sim_json_text(
        json, "limited_by",
        part->limited_by == SIM_LIMITED_BY_CHANNELS
            ? "channels"
            : sim_resource_name(it->sim, part->limited_by, name, sizeof(name)));
    sim_json_number(json, "limited_us", part->limited_us);
}

static void put_part(struct sim_json *list,
                     const struct search_explanation *it,
                     const struct sim_part *part)
{
    const struct model_op *op = &it->request->workload->ops[part->op];
    struct sim_json *json = sim_json_append(list);

    sim_json_text(json, "label", part->label);
    sim_json_text(json, "kind", model_op_names[op->kind]);
    sim_json_count(json, "count", part->count);
    sim_json_number(json, "time_us", part->time_us);
    sim_json_number(json, "alone_us", part->alone_us);
    sim_report_put_lost(sim_json_put_object(json, "lost_us"), &part->lost);
    sim_json_number(json, "hbm_bytes", part->hbm_bytes);
    sim_json_number(json, "alone_hbm_bytes", part->alone_hbm_bytes);
    if (model_op_is_collective(op)) {
        put_collective(json, it, part);
    } else {
        put_kernel(json, it, part);
    }
}

static void put_window(struct sim_json *list,
                       const struct search_explanation *it,
                       int window)
{
    const struct sim_window *whole = &it->windows.list[window];
    const struct search_modelled *modelled =
        it->modelled != NULL ? &it->modelled[window] : NULL;
    struct sim_json *json = sim_json_append(list);
    struct sim_json *parts;

    sim_json_text(json, "window", whole->name);
    sim_json_count(json, "count", whole->count);
    sim_json_number(json, "total_us", whole->total_us);
    sim_json_number(json, "share_ratio",
                    whole->total_us / it->result->iteration_us);
    sim_json_text(json, "bound",
                  sim_window_bound_names[sim_window_bound(whole)]);
    sim_json_number(json, "exposed_us", whole->exposed_us);
    sim_json_number(json, "idle_us", sim_window_idle_us(whole));
    put_side(json, "kernels", &whole->kernels,
             modelled != NULL ? modelled->kernels_us : (double)NAN);
    put_side(json, "collectives", &whole->collectives,
             modelled != NULL ? modelled->collectives_us : (double)NAN);
    parts = sim_json_put_array(json, "parts");
    for (int i = 0; i < it->windows.part_count; i++) {
        if (it->windows.parts[i].window == window) {
            put_part(parts, it, &it->windows.parts[i]);
        }
    }
}

static void put_what_if(struct sim_json *list,
                        const struct search_what_if *what_if)
{
    struct sim_json *json = sim_json_append(list);

    sim_json_text(json, "change", what_if->key);
    sim_json_text(json, "kind", search_change_names[what_if->kind]);
    sim_json_text(json, "text", what_if->text);
    sim_json_text(json, "guesses", what_if->guesses);
    sim_json_text(json, "outcome", what_if->stuck ? "stuck" : "done");
    sim_json_number(json, "iteration_us",
                    what_if->stuck ? (double)NAN : what_if->iteration_us);
    sim_json_number(json, "gain_ratio",
                    what_if->stuck ? (double)NAN : what_if->gain_ratio);
}

static void put_gpu(struct sim_json *root, const struct model_gpu *gpu)
{
    struct sim_json *json = sim_json_put_object(root, "gpu");

    sim_json_text(json, "name", gpu->name);
    sim_json_count(json, "sms", gpu->sm_count);
    sim_json_number(json, "l2_bytes", gpu->l2_bytes);
    sim_json_number(json, "hbm_bytes_per_us",
                    gpu->hbm_bytes_per_us * gpu->hbm_ratio);
}

enum model_status search_explain_json(struct sim_cli *cli,
                                      const struct search_explanation *it)
{
    const struct sim_result *result = it->result;
    struct sim_json *root = sim_json_object();
    struct sim_json *list;
    enum model_status status;

    sim_json_text(root, "version", LAGOM_VERSION);
    sim_json_hex(root, "fingerprint", result->fingerprint);
    sim_json_count(root, "seed", (int64_t)cli->options.seed);
    sim_json_text(root, "topology", it->request->topology->name);
    sim_json_text(root, "workload", it->request->workload->name);
    sim_json_text(root, "strategy", it->strategy);
    sim_report_put_nccl(root, it->request->nccl);
    sim_report_put_overrides(cli, root);
    sim_json_count(root, "guesses",
                   it->request->topology->provenance.count[MODEL_FROM_GUESS]);
    sim_json_number(root, "iteration_us", result->iteration_us);
    sim_json_number(root, "compute_us", result->compute_us);
    sim_json_number(root, "comm_us", result->comm_us);
    sim_json_number(root, "exposed_comm_us", result->exposed_comm_us);
    sim_json_number(root, "free_comm_us", it->free_us);
    sim_json_number(root, "bound_us", it->bound_us);
    put_gpu(root, search_gpu(it));
    list = sim_json_put_array(root, "windows");
    for (int i = 0; i < it->windows.count; i++) {
        put_window(list, it, i);
    }
    list = sim_json_put_array(root, "what_if");
    for (int i = 0; i < it->what_if_count; i++) {
        put_what_if(list, &it->what_ifs[i]);
    }
    status = sim_json_print(root, cli->out);
    sim_json_free(root);
    return status;
}

/* -- CSV -- */

static void print_side(FILE *out, const struct sim_side *side)
{
    const struct sim_lost *lost = &side->lost;

    (void)fprintf(out, ",%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f",
                  side->covered_us, side->time_us, side->alone_us, lost->sm,
                  lost->l2, lost->hbm, lost->link, lost->peer, lost->launch);
}

void search_explain_csv(struct sim_cli *cli,
                        const struct search_explanation *it)
{
    (void)fputs("window,count,total_us,bound,exposed_us,idle_us", cli->out);
    for (int side = 0; side < 2; side++) {
        static const char *const columns[] = {
            "covered",  "time",      "alone",     "lost_sm",    "lost_l2",
            "lost_hbm", "lost_link", "lost_peer", "lost_launch"};

        for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
            (void)fprintf(cli->out, ",%s_%s_us",
                          side == 0 ? "kernels" : "collectives", columns[i]);
        }
    }
    (void)fputc('\n', cli->out);
    for (int i = 0; i < it->windows.count; i++) {
        const struct sim_window *window = &it->windows.list[i];

        sim_csv_text(cli->out, window->name != NULL ? window->name : "");
        (void)fprintf(cli->out, "%d,%.6f,%s,%.6f,%.6f", window->count,
                      window->total_us,
                      sim_window_bound_names[sim_window_bound(window)],
                      window->exposed_us, sim_window_idle_us(window));
        print_side(cli->out, &window->kernels);
        print_side(cli->out, &window->collectives);
        (void)fputc('\n', cli->out);
    }
}
