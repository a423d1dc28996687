/*
 * report_text.c - an iteration for people: totals, equal operations as one
 * line with what they lost, the busiest resources.
 */
#include "sim/report.h"

#include "build/version.h"
#include "model/units.h"
#include "sim/alone.h"
#include "sim/window.h"

#include <inttypes.h>

/* Ops that the text shows as one line. */
struct group {
    const char *window;
    int kind;
    int group;    /* collectives */
    double bytes; /* collectives of one size; kernels: 0 */
    struct model_config config;
    int count;
    double time_us;
    double alone_us;
    struct sim_lost lost;
};

enum { GROUPS_MAX = 64 };

struct groups {
    struct group list[GROUPS_MAX];
    int count;
    int hidden; /* ops for which there was no room */
};

static bool belongs(const struct group *group,
                    const struct model_op *op,
                    const struct model_config *config)
{
    if (group->kind != op->kind ||
        !model_same_text(group->window, op->window)) {
        return false;
    }
    return !model_op_is_collective(op) ||
           (group->group == op->group && model_same(group->bytes, op->bytes) &&
            model_config_equal(&group->config, config));
}

/* The line an op belongs to, or NULL when there are too many. */
static struct group *find_group(struct groups *groups,
                                const struct model_op *op,
                                const struct model_config *config)
{
    for (int i = 0; i < groups->count; i++) {
        if (belongs(&groups->list[i], op, config)) {
            return &groups->list[i];
        }
    }
    if (groups->count == GROUPS_MAX) {
        return NULL;
    }
    groups->list[groups->count] = (struct group){.window = op->window,
                                                 .kind = op->kind,
                                                 .group = op->group,
                                                 .bytes = op->bytes,
                                                 .config = *config};
    return &groups->list[groups->count++];
}

static void add(struct group *group,
                const struct sim_op_result *result,
                double alone_us,
                double repeats)
{
    group->count += (int)repeats;
    group->time_us += repeats * (result->end_us - result->start_us);
    group->alone_us += repeats * alone_us;
    sim_lost_add(&group->lost, &result->lost, repeats);
}

static void gather(struct sim_cli *cli,
                   const struct sim_report *report,
                   struct groups *groups)
{
    struct sim_alone *alone = sim_alone_new(cli->arena, report->request);

    for (int i = 0; i < report->result->op_count; i++) {
        struct sim_op_result result = report->result->ops[i];
        const struct model_op *op = &report->request->workload->ops[result.op];
        struct group *group = find_group(groups, op, &result.config);
        double alone_us;

        if (!result.takes_part) {
            continue;
        }
        if (group == NULL) {
            groups->hidden++;
            continue;
        }
        sim_alone_explain(alone, &result, &alone_us);
        add(group, &result, alone_us,
            model_workload_repeats(report->request->workload, result.op));
    }
}

/* us as ms, without a sign on nothing. */
static double shown_ms(double time_us)
{
    double time_ms = time_us / 1000.0;

    return time_ms > -0.005 && time_ms < 0.005 ? 0.0 : time_ms;
}

static void print_group(FILE *out, const struct group *group)
{
    const struct sim_lost *lost = &group->lost;
    struct model_op op = {.kind = group->kind};

    (void)fprintf(out,
                  "%-10s %-14s %5d %10.3f %10.3f %6.3f %8.2f %8.2f %8.2f "
                  "%8.2f %8.2f %8.2f",
                  group->window != NULL ? group->window : "-",
                  model_op_names[group->kind], group->count,
                  group->time_us / 1000.0, group->alone_us / 1000.0,
                  group->time_us / group->alone_us, shown_ms(lost->sm),
                  shown_ms(lost->l2), shown_ms(lost->hbm), shown_ms(lost->link),
                  shown_ms(lost->peer), shown_ms(lost->launch));
    if (model_op_is_collective(&op)) {
        char setting[96];
        char size[32];

        (void)fprintf(
            out, "  %s  %s",
            model_units_print(group->bytes, MODEL_BYTES, size, sizeof(size)),
            model_config_print(&group->config, setting, sizeof(setting)));
    }
    (void)fputc('\n', out);
}

static void print_busiest(FILE *out, const struct sim_report *report)
{
    const struct sim_result *result = report->result;
    double last = 2.0;

    (void)fputs("\nbusiest  ", out);
    for (int shown = 0; shown < 4; shown++) {
        int best = -1;
        char name[96];

        for (int i = 0; i < result->resource_count; i++) {
            double busy = result->resources[i].busy_ratio;

            if (busy < last &&
                (best < 0 || busy > result->resources[best].busy_ratio)) {
                best = i;
            }
        }
        if (best < 0) {
            break;
        }
        last = result->resources[best].busy_ratio;
        (void)fprintf(out, "%s%s %.0f %%", shown > 0 ? ", " : "",
                      sim_resource_name(report->sim,
                                        result->resources[best].resource, name,
                                        sizeof(name)),
                      100.0 * last);
    }
    (void)fputc('\n', out);
}

void sim_report_text(struct sim_cli *cli, const struct sim_report *report)
{
    const struct sim_result *result = report->result;
    struct groups *groups = model_arena_alloc(cli->arena, sizeof(*groups));
    FILE *out = cli->out;
    char text[128];

    gather(cli, report, groups);
    (void)fprintf(out,
                  "topology  %s\nworkload  %s\nstrategy  %s\nnccl      %s\n\n"
                  "iteration %10.3f ms\ncompute   %10.3f ms\n"
                  "comm      %10.3f ms\nexposed   %10.3f ms of comm\n\n",
                  report->request->topology->name,
                  report->request->workload->name, report->strategy,
                  sim_report_nccl(cli->arena, report->request->nccl),
                  result->iteration_us / 1000.0, result->compute_us / 1000.0,
                  result->comm_us / 1000.0, result->exposed_comm_us / 1000.0);
    (void)fputs("                                                         "
                "   ms lost to\n"
                "window     kind           count    time ms   alone ms   "
                "slow       sm       l2      hbm     link     peer   launch\n",
                out);
    for (int i = 0; i < groups->count; i++) {
        print_group(out, &groups->list[i]);
    }
    if (groups->hidden > 0) {
        (void)fprintf(out,
                      "and %d operations of other kinds and sizes (--format "
                      "csv has all)\n",
                      groups->hidden);
    }
    print_busiest(out, report);
    sim_report_steps(out, report->request->workload);
    (void)fprintf(
        out,
        "%s\nlagom %s, seed %" PRIu64 ", %" PRIu64
        " events, fingerprint %016" PRIx64 "\n",
        sim_report_guesses(report->request->topology, text, sizeof(text)),
        LAGOM_VERSION, cli->options.seed, result->events, result->fingerprint);
    sim_report_overrides(cli, "");
}
