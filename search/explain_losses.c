/*
 * explain_losses.c - from numbers to sentences: what kernels and collectives
 * lost, to whom, and the numbers behind it.
 */
#include "search/explain_words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LOSSES = 6, WAVES_SHOWN = 2 };

/* A part of a loss by name. */
struct loss {
    const char *name;
    double us;
};

static int compare_losses(const void *left, const void *right)
{
    const struct loss *a = left;
    const struct loss *b = right;

    return (a->us < b->us) - (a->us > b->us);
}

/* The parts of a loss, largest first. */
static void
sort_losses(const struct sim_lost *lost, bool kernels, struct loss list[LOSSES])
{
    list[0] = (struct loss){kernels ? "SMs" : "waiting for SMs", lost->sm};
    list[1] = (struct loss){"L2", lost->l2};
    list[2] = (struct loss){"HBM", lost->hbm};
    list[3] = (struct loss){"shared links", lost->link};
    list[4] = (struct loss){"waiting for other ranks or data", lost->peer};
    list[5] = (struct loss){"the CPU's launches", lost->launch};
    qsort(list, LOSSES, sizeof(*list), compare_losses);
}

const char *search_words_losses(struct model_arena *arena,
                                const struct sim_lost *lost,
                                bool kernels,
                                double whole_us,
                                int count)
{
    struct loss list[LOSSES];
    const char *text = "";

    sort_losses(lost, kernels, list);
    for (int i = 0; i < LOSSES && list[i].us >= search_worth_ratio * whole_us;
         i++) {
        text = model_arena_format(
            arena, "%s%s%s %s (%s)", text, i > 0 ? ", " : "", list[i].name,
            search_words_time(arena, list[i].us / (double)count),
            search_words_share(arena, list[i].us / whole_us));
    }
    return text;
}

const char *search_words_kernels(struct model_arena *arena,
                                 const struct sim_window *window)
{
    const struct sim_side *side = &window->kernels;
    double lost_us = side->time_us - side->alone_us;
    const char *losses = search_words_losses(arena, &side->lost, true,
                                             window->total_us, window->count);

    if (side->op_count == 0) {
        return NULL;
    }
    if (lost_us < search_worth_ratio * window->total_us) {
        return NULL;
    }
    return model_arena_format(
        arena, "Kernels are slowed %.3f times, by %s%s%s.",
        side->time_us / side->alone_us,
        search_words_time(arena, lost_us / (double)window->count),
        losses[0] != '\0' ? ": " : "", losses);
}

/* -- SMs -- */

/* Rounds of a part's kernel on all SMs, and on those that are left. */
struct rounds {
    const struct sim_part *part;
    int alone;
    int beside;
};

static int compare_rounds(const void *left, const void *right)
{
    const struct sim_part *a = ((const struct rounds *)left)->part;
    const struct sim_part *b = ((const struct rounds *)right)->part;

    return (a->lost.sm < b->lost.sm) - (a->lost.sm > b->lost.sm);
}

static struct rounds rounds_of(const struct search_explanation *it,
                               const struct sim_part *part)
{
    const struct model_gpu *gpu = search_gpu(it);
    struct model_kernel kernel =
        model_op_kernel(&it->request->workload->ops[part->op], gpu);

    /* Kernels that only stream have no tiles to be counted. */
    if (!(kernel.load_us > 0.0)) {
        return (struct rounds){.part = part};
    }
    return (struct rounds){
        .part = part,
        .alone = sim_kernel_rounds(&kernel, gpu->sm_count),
        .beside = sim_kernel_rounds(&kernel, sim_part_sms(part, gpu))};
}

bool search_is_kernel_of(const struct search_explanation *it,
                         const struct sim_part *part,
                         int window)
{
    return part->window == window &&
           !model_op_is_collective(&it->request->workload->ops[part->op]);
}

/* Kernels of a window that need more rounds and lost to SMs, worst first. */
static int find_rounds(struct model_arena *arena,
                       const struct search_explanation *it,
                       int window,
                       struct rounds **list)
{
    const struct sim_windows *windows = &it->windows;
    int count = 0;

    *list = model_arena_array(arena, (size_t)windows->part_count + 1,
                              sizeof(**list));
    for (int i = 0; i < windows->part_count; i++) {
        const struct sim_part *part = &windows->parts[i];

        if (search_is_kernel_of(it, part, window) && part->lost.sm > 0.0) {
            (*list)[count] = rounds_of(it, part);
            count += (*list)[count].beside > (*list)[count].alone ? 1 : 0;
        }
    }
    qsort(*list, (size_t)count, sizeof(**list), compare_rounds);
    return count;
}

static const char *words_of_rounds(struct model_arena *arena,
                                   const struct search_explanation *it,
                                   int window)
{
    struct rounds *list;
    int count = find_rounds(arena, it, window, &list);
    const char *text = "";
    double last = 0.0;

    for (int i = 0; i < count && i < WAVES_SHOWN; i++) {
        const char *label = search_words_label(it, list[i].part);
        double sms = sim_part_sms(list[i].part, search_gpu(it));

        if (model_same(sms, last)) {
            text = model_arena_format(arena, "%s, %s %d instead of %d", text,
                                      label, list[i].beside, list[i].alone);
        } else {
            text = model_arena_format(
                arena, "%s%s %.0f left%s %s needs %d waves instead of %d", text,
                i > 0 ? ", on the" : " On the", sms,
                list[i].part->shared_sms > 0.0 ? " or shared" : "", label,
                list[i].beside, list[i].alone);
        }
        last = sms;
    }
    if (count <= WAVES_SHOWN) {
        return count > 0 ? model_arena_format(arena, "%s.", text) : "";
    }
    return model_arena_format(arena, "%s; %d other%s more, too.", text,
                              count - WAVES_SHOWN,
                              count - WAVES_SHOWN > 1 ? "s need" : " needs");
}

const char *search_words_sms(struct model_arena *arena,
                             const struct search_explanation *it,
                             int window)
{
    const struct sim_window *whole = &it->windows.list[window];
    double held = 0.0;
    double waiting_us = 0.0;

    if (whole->kernels.lost.sm < search_worth_ratio * whole->total_us) {
        return NULL;
    }
    for (int i = 0; i < it->windows.part_count; i++) {
        const struct sim_part *part = &it->windows.parts[i];

        if (search_is_kernel_of(it, part, window)) {
            held = fmax(held, part->held_sms);
            waiting_us += part->waiting_us;
        }
    }
    if (waiting_us > 0.5 * whole->kernels.lost.sm) {
        return model_arena_format(
            arena, "SMs: kernels wait %s for their first SM.",
            search_words_time(arena, waiting_us / (double)whole->count));
    }
    if (held > 0.0) {
        return model_arena_format(
            arena, "SMs: collectives hold up to %.0f of %d.%s", held,
            search_gpu(it)->sm_count, words_of_rounds(arena, it, window));
    }
    return "SMs: no collective holds any beside them, other kernels do.";
}

/* -- memory -- */

/* The kernel of a window that lost most to what `amount` tells, or NULL. */
static const struct sim_part *
worst(const struct search_explanation *it,
      int window,
      double (*amount)(const struct sim_lost *lost))
{
    const struct sim_part *found = NULL;

    for (int i = 0; i < it->windows.part_count; i++) {
        const struct sim_part *part = &it->windows.parts[i];

        if (search_is_kernel_of(it, part, window) &&
            (found == NULL || amount(&part->lost) > amount(&found->lost))) {
            found = part;
        }
    }
    return found;
}

static double lost_to_l2(const struct sim_lost *lost)
{
    return lost->l2;
}

static double lost_to_hbm(const struct sim_lost *lost)
{
    return lost->hbm;
}

const char *search_words_l2(struct model_arena *arena,
                            const struct search_explanation *it,
                            int window)
{
    const struct sim_window *whole = &it->windows.list[window];
    const struct sim_part *part = worst(it, window, lost_to_l2);

    if (part == NULL ||
        whole->kernels.lost.l2 < search_worth_ratio * whole->total_us ||
        !(part->alone_hbm_bytes > 0.0)) {
        return NULL;
    }
    if (!(part->footprint_bytes > 0.0)) {
        return model_arena_format(arena,
                                  "L2: %s moves %.2f times its HBM bytes.",
                                  search_words_label(it, part),
                                  part->hbm_bytes / part->alone_hbm_bytes);
    }
    return model_arena_format(
        arena,
        "L2: up to %s of chunks pass through its %s; %s moves %.2f times its "
        "HBM bytes.",
        search_words_bytes(arena, part->footprint_bytes),
        search_words_bytes(arena, search_gpu(it)->l2_bytes),
        search_words_label(it, part), part->hbm_bytes / part->alone_hbm_bytes);
}

const char *search_words_hbm(struct model_arena *arena,
                             const struct search_explanation *it,
                             int window)
{
    const struct model_gpu *gpu = search_gpu(it);
    const struct sim_window *whole = &it->windows.list[window];
    const struct sim_part *part = worst(it, window, lost_to_hbm);
    const char *others = "other kernels take the rest";

    if (part == NULL ||
        whole->kernels.lost.hbm < search_worth_ratio * whole->total_us) {
        return NULL;
    }
    if (part->beside_us > 0.0) {
        others = model_arena_format(
            arena, "collectives take %s",
            search_words_rate(arena, part->beside_hbm_bytes / part->beside_us));
    }
    return model_arena_format(
        arena, "HBM: %s gets %s of the %s it would draw; of %s %s.",
        search_words_label(it, part),
        search_words_rate(arena, part->hbm_bytes / part->run_us),
        search_words_rate(arena,
                          part->hbm_bytes / (part->run_us - part->lost.hbm)),
        search_words_rate(arena, gpu->hbm_bytes_per_us * gpu->hbm_ratio),
        others);
}

const char *search_words_reasons(struct model_arena *arena,
                                 const struct search_explanation *it,
                                 const struct sim_part *part)
{
    bool kernels =
        !model_op_is_collective(&it->request->workload->ops[part->op]);
    double lost_us = part->time_us - part->alone_us;
    struct loss list[LOSSES];
    const char *text = "";

    sort_losses(&part->lost, kernels, list);
    for (int i = 0; i < LOSSES && list[i].us >= 0.05 * lost_us; i++) {
        text = model_arena_format(
            arena, "%s%s%s %s", text, i > 0 ? ", " : "", list[i].name,
            search_words_share(arena, list[i].us / lost_us));
    }
    return text;
}
