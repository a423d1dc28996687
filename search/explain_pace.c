/*
 * explain_pace.c - from numbers to sentences: what sets the pace of a
 * collective, and of a kernel that runs alone.
 */
#include "search/explain_words.h"

#include <math.h>
#include <string.h>

/* -- collectives -- */

const char *search_words_resource(const char *name)
{
    static const char *const words[][2] = {
        {".hbm", "HBM"},
        {".nvlink.", "NVLink"},
        {".port.", "the PCIe port of a GPU"},
        {".pcie.", "the PCIe link of a GPU"},
        {".cross.", "the link between sockets"},
        {".memory", "the memory of a socket"},
        {".switch", "the link of a PCIe switch"},
        {".nic", "a NIC"},
        {"rail", "the uplink of a leaf switch"},
        {"leaf", "the uplink of a leaf switch"}};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strstr(name, words[i][0]) != NULL) {
            return words[i][1];
        }
    }
    return "a link";
}

static double busy_ratio(const struct sim_result *result, int resource)
{
    for (int i = 0; i < result->resource_count; i++) {
        if (result->resources[i].resource == resource) {
            return result->resources[i].busy_ratio;
        }
    }
    return 0.0;
}

static const char *words_of_pace(struct model_arena *arena,
                                 const struct search_explanation *it,
                                 const struct sim_part *part)
{
    double ratio = part->limited_us / part->moving_us;
    const char *often =
        ratio < 0.995 ? model_arena_format(arena, " for %s of its time",
                                           search_words_share(arena, ratio))
                      : "";
    char name[96];

    if (!(part->moving_us > 0.0)) {
        return "with nothing to move";
    }
    if (part->limited_by == SIM_LIMITED_BY_CHANNELS) {
        return model_arena_format(
            arena, "paced%s by its own %d channel%s, %s each", often,
            part->config.channels, part->config.channels == 1 ? "" : "s",
            search_words_rate(arena, part->wire_bytes / part->moving_us /
                                         (double)part->config.channels));
    }
    (void)sim_resource_name(it->sim, part->limited_by, name, sizeof(name));
    return model_arena_format(
        arena, "paced%s by %s (%s, busy %s of the iteration)", often,
        search_words_resource(name), name,
        search_words_share(arena, busy_ratio(it->result, part->limited_by)));
}

/* Kinds of the collectives of a window that are as this one, itself first. */
static const char *words_of_kinds(struct model_arena *arena,
                                  const struct search_explanation *it,
                                  const struct sim_part *part)
{
    const struct model_op *ops = it->request->workload->ops;
    const char *text = model_op_names[ops[part->op].kind];

    for (int i = 0; i < it->windows.part_count; i++) {
        const struct sim_part *other = &it->windows.parts[i];

        if (other != part && search_words_alike(it, part, other)) {
            text = model_arena_format(arena, "%s, %s", text,
                                      model_op_names[ops[other->op].kind]);
        }
    }
    return text;
}

bool search_words_alike(const struct search_explanation *it,
                        const struct sim_part *a,
                        const struct sim_part *b)
{
    const struct model_op *ops = it->request->workload->ops;
    double a_us = a->time_us / (double)a->count;
    double b_us = b->time_us / (double)b->count;

    return a->window == b->window && model_op_is_collective(&ops[a->op]) &&
           model_op_is_collective(&ops[b->op]) &&
           ops[a->op].group == ops[b->op].group &&
           model_same(ops[a->op].bytes, ops[b->op].bytes) &&
           model_config_equal(&a->config, &b->config) &&
           a->limited_by == b->limited_by &&
           fabs(a_us - b_us) < search_worth_ratio * a_us;
}

const char *search_words_collective(struct model_arena *arena,
                                    const struct search_explanation *it,
                                    const struct sim_part *part)
{
    const struct model_workload *workload = it->request->workload;
    const struct model_op *op = &workload->ops[part->op];
    double each_us = part->time_us / (double)part->count;
    double rate =
        op->bytes / each_us *
        model_collective_bus_factor(model_op_collective(op),
                                    workload->groups[op->group].count);
    const char *losses = search_words_losses(arena, &part->lost, false,
                                             part->time_us, part->count);
    bool loses = losses[0] != '\0';
    char config[96];

    return model_arena_format(
        arena, "%s of %s (%s): %s, %s on the bus, %s.%s%s%s",
        words_of_kinds(arena, it, part), search_words_bytes(arena, op->bytes),
        model_config_print(&part->config, config, sizeof(config)),
        search_words_time(arena, each_us), search_words_rate(arena, rate),
        words_of_pace(arena, it, part), loses ? " It loses: " : "",
        loses ? losses : "", loses ? "." : "");
}

/* -- a kernel by itself -- */

static const struct sim_part *
longest_kernel(const struct search_explanation *it, int window)
{
    const struct sim_part *found = NULL;

    for (int i = 0; i < it->windows.part_count; i++) {
        const struct sim_part *part = &it->windows.parts[i];

        if (search_is_kernel_of(it, part, window) &&
            (found == NULL || part->time_us > found->time_us)) {
            found = part;
        }
    }
    return found;
}

/* Which of the two a load takes longer for, and how near the other is. */
static const char *words_of_roofline(struct model_arena *arena,
                                     double arithmetic_us,
                                     double memory_us)
{
    if (!(arithmetic_us > 0.0)) {
        return "memory";
    }
    return arithmetic_us > memory_us
               ? model_arena_format(
                     arena, "arithmetic; memory would take %s of its time",
                     search_words_share(arena, memory_us / arithmetic_us))
               : model_arena_format(
                     arena, "memory; arithmetic would take %s of its time",
                     search_words_share(arena, arithmetic_us / memory_us));
}

const char *search_words_alone(struct model_arena *arena,
                               const struct search_explanation *it,
                               int window)
{
    const struct model_gpu *gpu = search_gpu(it);
    const struct sim_part *part = longest_kernel(it, window);
    struct model_kernel kernel;
    double memory_us;
    double slots;
    double waves;

    if (part == NULL) {
        return NULL;
    }
    kernel = model_op_kernel(&it->request->workload->ops[part->op], gpu);
    slots = kernel.sm_limit > 0 ? fmin(kernel.sm_limit, gpu->sm_count)
                                : gpu->sm_count;
    waves = kernel.loads / slots;
    memory_us =
        kernel.load_bytes * fmax(1.0 / gpu->sm_bytes_per_us,
                                 fmin(kernel.loads, slots) /
                                     (gpu->hbm_bytes_per_us * gpu->hbm_ratio));
    return model_arena_format(
        arena, "The longest kernel, %s (%s alone), is bound by %s%s.",
        search_words_label(it, part),
        search_words_time(arena, part->alone_us / (double)part->count),
        words_of_roofline(arena, kernel.load_us, memory_us),
        kernel.schedule == MODEL_WAVES && ceil(waves) > waves
            ? model_arena_format(arena, ". It fills %.2f of %.0f waves", waves,
                                 ceil(waves))
            : "");
}
