/*
 * explain_words.c - from numbers to sentences: totals and windows.
 */
#include "search/explain_words.h"

#include <math.h>
#include <string.h>

const double search_worth_ratio = 0.01;

/* -- numbers -- */

const char *search_words_time(struct model_arena *arena, double time_us)
{
    if (time_us >= 99.95) {
        return model_arena_format(arena,
                                  time_us >= 99995.0 ? "%.1f ms" : "%.2f ms",
                                  time_us / 1000.0);
    }
    return model_arena_format(arena, time_us >= 9.995 ? "%.1f us" : "%.2f us",
                              time_us);
}

const char *search_words_bytes(struct model_arena *arena, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;

    for (; bytes >= 1024.0 && unit < 4; unit++) {
        bytes /= 1024.0;
    }
    return model_arena_format(arena, "%.4g %s", bytes, units[unit]);
}

const char *search_words_rate(struct model_arena *arena, double bytes_per_us)
{
    double rate = bytes_per_us / 1000.0;

    return model_arena_format(arena, rate < 99.95 ? "%.1f GB/s" : "%.0f GB/s",
                              rate);
}

const char *search_words_share(struct model_arena *arena, double ratio)
{
    double percent = 100.0 * ratio;

    return model_arena_format(
        arena, fabs(percent) < 9.95 ? "%.1f %%" : "%.0f %%", percent);
}

/* How much of a label all parts of its window begin with, up to a dot. */
static size_t shared_length(const struct sim_windows *windows,
                            const struct sim_part *part)
{
    size_t shared = strlen(part->label);

    for (int i = 0; i < windows->part_count; i++) {
        const char *label = windows->parts[i].label;
        size_t length = 0;

        if (windows->parts[i].window != part->window ||
            &windows->parts[i] == part) {
            continue;
        }
        while (length < shared && label[length] == part->label[length]) {
            length++;
        }
        shared = length;
    }
    while (shared > 0 && part->label[shared - 1] != '.') {
        shared--;
    }
    return shared;
}

const char *search_words_label(const struct search_explanation *it,
                               const struct sim_part *part)
{
    return part->label + shared_length(&it->windows, part);
}

/* -- the iteration -- */

static double idle_us(const struct sim_result *result)
{
    return fmax(result->iteration_us - result->compute_us -
                    result->exposed_comm_us,
                0.0);
}

/* Who runs for how long. */
static const char *words_of_totals(struct model_arena *arena,
                                   const struct search_explanation *it)
{
    const struct sim_result *result = it->result;
    const char *compute = search_words_time(arena, result->compute_us);
    const char *comm = search_words_time(arena, result->comm_us);
    const char *idle = "";

    if (idle_us(result) >= search_worth_ratio * result->iteration_us) {
        idle = model_arena_format(
            arena, " For %s (%s) nothing runs.",
            search_words_time(arena, idle_us(result)),
            search_words_share(arena, idle_us(result) / result->iteration_us));
    }
    if (it->collectives == 0) {
        return model_arena_format(
            arena, "Kernels run for %s of it; there are no collectives.%s",
            compute, idle);
    }
    if (!(result->compute_us > 0.0)) {
        return model_arena_format(
            arena, "Collectives run for %s of it; there are no kernels.%s",
            comm, idle);
    }
    if (!(result->exposed_comm_us > 0.0)) {
        return model_arena_format(
            arena,
            "Kernels run for %s of it, collectives for %s, all beside "
            "kernels.%s",
            compute, comm, idle);
    }
    return model_arena_format(
        arena,
        "Kernels run for %s of it, collectives for %s, of which %s are "
        "exposed: beside no kernel.%s",
        compute, comm, search_words_time(arena, result->exposed_comm_us), idle);
}

/* What kernels lost to all there is, us. */
static double slowed_us(const struct search_explanation *it)
{
    double sum_us = 0.0;

    for (int i = 0; i < it->windows.count; i++) {
        const struct sim_side *kernels = &it->windows.list[i].kernels;

        sum_us += kernels->time_us - kernels->alone_us;
    }
    return sum_us;
}

/*
 * How what communication costs comes about. What is not exposed can only be due
 * to slowed kernels when they were slowed by about as much.
 */
static const char *words_of_cost(struct model_arena *arena,
                                 const struct search_explanation *it)
{
    const struct sim_result *result = it->result;
    double least_us = search_worth_ratio * result->iteration_us;
    double rest_us =
        result->iteration_us - it->free_us - result->exposed_comm_us;
    bool exposed = result->exposed_comm_us >= least_us;

    if (fabs(rest_us) < least_us && exposed) {
        return ", all of it as exposed time";
    }
    if (rest_us < least_us || slowed_us(it) < 0.5 * rest_us) {
        return "";
    }
    return exposed ? model_arena_format(
                         arena, ", %s exposed and %s by slowing kernels",
                         search_words_time(arena, result->exposed_comm_us),
                         search_words_time(arena, rest_us))
                   : ", by slowing kernels";
}

/* The least that the kernels need, where it differs from what is said. */
static const char *words_of_bound_us(struct model_arena *arena,
                                     const struct search_explanation *it,
                                     double said_us)
{
    if (!(it->bound_us > 0.0) ||
        fabs(it->bound_us - said_us) < search_worth_ratio * said_us) {
        return "";
    }
    return model_arena_format(arena, " No settings can bring it below %s.",
                              search_words_time(arena, it->bound_us));
}

static const char *words_of_limits(struct model_arena *arena,
                                   const struct search_explanation *it)
{
    double iteration_us = it->result->iteration_us;
    double cost_us = iteration_us - it->free_us;
    const char *bound = words_of_bound_us(arena, it, it->free_us);

    if (it->collectives == 0 || !(it->result->compute_us > 0.0)) {
        return bound;
    }
    return model_arena_format(
        arena,
        " If communication cost nothing it would take %s: it costs %s "
        "(%s)%s.%s",
        search_words_time(arena, it->free_us),
        search_words_time(arena, cost_us),
        search_words_share(arena, cost_us / iteration_us),
        words_of_cost(arena, it), bound);
}

const char *search_words_headline(struct model_arena *arena,
                                  const struct search_explanation *it)
{
    const char *settings =
        it->collectives > 0
            ? model_arena_format(arena, ", settings of %s", it->strategy)
            : "";

    return model_arena_format(
        arena, "%s on %s%s: an iteration takes %s. %s%s",
        it->request->workload->name, it->request->topology->name, settings,
        search_words_time(arena, it->result->iteration_us),
        words_of_totals(arena, it), words_of_limits(arena, it));
}

/* -- a window -- */

/* The time of one instance. */
static const char *
each(struct model_arena *arena, const struct sim_window *window, double time_us)
{
    return search_words_time(arena, time_us / (double)window->count);
}

/* Whether its collectives are hidden. */
static const char *words_of_exposure(struct model_arena *arena,
                                     const struct sim_window *window)
{
    double least_us = search_worth_ratio * window->total_us;

    if (!(window->collectives.covered_us > 0.0)) {
        return "nothing to move";
    }
    if (window->exposed_us < least_us) {
        return "hidden";
    }
    if (window->collectives.covered_us - window->exposed_us < least_us) {
        return "all exposed";
    }
    return model_arena_format(
        arena, "%s (%s) exposed", each(arena, window, window->exposed_us),
        search_words_share(arena, window->exposed_us / window->total_us));
}

static const char *words_of_bound(struct model_arena *arena,
                                  const struct sim_window *window)
{
    const char *y = each(arena, window, window->kernels.covered_us);
    const char *x = each(arena, window, window->collectives.covered_us);
    const char *exposure = words_of_exposure(arena, window);

    if (window->collectives.op_count == 0) {
        return model_arena_format(arena, "Only kernels: %s.", y);
    }
    if (window->kernels.op_count == 0) {
        return model_arena_format(arena, "Only collectives: %s, %s.", x,
                                  exposure);
    }
    switch (sim_window_bound(window)) {
    case SIM_BOUND_KERNELS:
        return model_arena_format(
            arena, "Kernels bind it: %s; collectives %s, %s.", y, x, exposure);
    case SIM_BOUND_COLLECTIVES:
        return model_arena_format(
            arena, "Collectives bind it: %s, %s; kernels %s.", x, exposure, y);
    case SIM_BOUND_TURNS:
        return model_arena_format(
            arena, "Kernels (%s) and collectives (%s, %s) take turns.", y, x,
            exposure);
    case SIM_BOUND_IDLE:
    case SIM_WINDOW_BOUNDS:
        break;
    }
    return model_arena_format(
        arena, "It idles most of the time: kernels %s; collectives %s, %s.", y,
        x, exposure);
}

static const char *words_of_idle(struct model_arena *arena,
                                 const struct sim_window *window)
{
    double time_us = sim_window_idle_us(window);

    if (time_us < search_worth_ratio * window->total_us) {
        return "";
    }
    return model_arena_format(
        arena, " Nothing of it runs for %s (%s).", each(arena, window, time_us),
        search_words_share(arena, time_us / window->total_us));
}

const char *search_words_window(struct model_arena *arena,
                                const struct search_explanation *it,
                                const struct sim_window *window)
{
    const char *often =
        window->count > 1
            ? model_arena_format(arena, "%d times %s, in all %s", window->count,
                                 each(arena, window, window->total_us),
                                 search_words_time(arena, window->total_us))
            : search_words_time(arena, window->total_us);

    return model_arena_format(
        arena, "%s: %s (%s). %s%s",
        window->name != NULL ? window->name : "ops without a window", often,
        search_words_share(arena, window->total_us / it->result->iteration_us),
        words_of_bound(arena, window), words_of_idle(arena, window));
}
