/*
 * explain_text.c - an explanation for people: the iteration, its windows, where
 * most time is lost, what would help.
 */
#include "search/explain_print.h"

#include "build/version.h"
#include "search/explain_words.h"
#include "search/paragraph.h"
#include "sim/report.h"

#include <inttypes.h>
#include <string.h>

enum {
    WINDOWS_SHOWN = 6,
    COLLECTIVES_SHOWN = 4,
    LOSERS_SHOWN = 4,
    WHAT_IFS_SHOWN = 10
};

/* Changes that move the iteration by less do not matter. */
static const double HELPS_RATIO = 0.005;
/* Windows that cost less, and last less, of the iteration get one line. */
static const double COST_RATIO = 0.05;
static const double LONG_RATIO = 0.2;

struct page {
    struct model_arena *arena;
    FILE *out;
    const struct search_explanation *it;
    bool all; /* details of all windows */
};

/* A paragraph, with lines after the first further in. */
static void put(const struct page *page, int indent, const char *text)
{
    search_paragraph(page->out, indent, text);
}

/* -- windows -- */

/* Its collectives, those that are alike once. */
static void put_collectives(const struct page *page, int window)
{
    const struct search_explanation *it = page->it;
    int shown = 0;

    for (int i = 0; i < it->windows.part_count; i++) {
        const struct sim_part *part = &it->windows.parts[i];
        bool said =
            part->window != window || !search_words_alike(it, part, part);

        for (int j = 0; j < i && !said; j++) {
            said = search_words_alike(it, &it->windows.parts[j], part);
        }
        if (!said && (shown++ < COLLECTIVES_SHOWN || page->all)) {
            put(page, 2, search_words_collective(page->arena, it, part));
        }
    }
    if (shown > COLLECTIVES_SHOWN && !page->all) {
        int others = shown - COLLECTIVES_SHOWN;

        (void)fprintf(page->out,
                      "  and %d of other kind%s or size%s (-v lists all)\n",
                      others, others > 1 ? "s" : "", others > 1 ? "s" : "");
    }
}

/* Does a window cost enough, or is it long enough, to tell how? */
static bool matters(const struct page *page, const struct sim_window *window)
{
    double iteration_us = page->it->result->iteration_us;
    double cost_us =
        window->exposed_us + window->kernels.time_us - window->kernels.alone_us;

    return page->all || cost_us >= COST_RATIO * iteration_us ||
           window->total_us >= LONG_RATIO * iteration_us;
}

static void put_window(const struct page *page, int window)
{
    const struct search_explanation *it = page->it;
    const struct sim_window *whole = &it->windows.list[window];
    const char *slowed = search_words_kernels(page->arena, whole);

    put(page, 0, search_words_window(page->arena, it, whole));
    if (!matters(page, whole)) {
        return;
    }
    if (page->all) {
        put(page, 2, search_words_model(page->arena, it, window));
    }
    put(page, 2, slowed);
    put(page, 2, search_words_sms(page->arena, it, window));
    put(page, 2, search_words_l2(page->arena, it, window));
    put(page, 2, search_words_hbm(page->arena, it, window));
    if (page->all ||
        (slowed == NULL && sim_window_bound(whole) == SIM_BOUND_KERNELS)) {
        put(page, 2, search_words_alone(page->arena, it, window));
    }
    put_collectives(page, window);
}

/* Windows, longest first. */
static void put_windows(const struct page *page)
{
    const struct sim_windows *windows = &page->it->windows;
    bool *shown = model_arena_array(page->arena, (size_t)windows->count + 1,
                                    sizeof(*shown));

    for (int i = 0; i < WINDOWS_SHOWN && i < windows->count; i++) {
        int best = -1;

        for (int j = 0; j < windows->count; j++) {
            if (!shown[j] && (best < 0 || windows->list[j].total_us >
                                              windows->list[best].total_us)) {
                best = j;
            }
        }
        shown[best] = true;
        put_window(page, best);
    }
    if (windows->count > WINDOWS_SHOWN) {
        (void)fprintf(page->out,
                      "and %d shorter windows (--format csv has all)\n",
                      windows->count - WINDOWS_SHOWN);
    }
}

/* -- who lost most -- */

static double lost_us(const struct sim_part *part)
{
    return part->time_us - part->alone_us;
}

/* The parts that lost most, worst first; returns how many are worth a line. */
static int find_losers(const struct page *page,
                       const struct sim_part *losers[LOSERS_SHOWN])
{
    const struct sim_windows *windows = &page->it->windows;
    double least_us = 0.1 * search_worth_ratio * page->it->result->iteration_us;
    int count = 0;

    for (int i = 0; i < windows->part_count; i++) {
        const struct sim_part *part = &windows->parts[i];
        int at = count;

        while (at > 0 && lost_us(part) > lost_us(losers[at - 1])) {
            at--;
        }
        if (at == LOSERS_SHOWN || lost_us(part) < least_us) {
            continue;
        }
        count += count < LOSERS_SHOWN ? 1 : 0;
        for (int j = count - 1; j > at; j--) {
            losers[j] = losers[j - 1];
        }
        losers[at] = part;
    }
    return count;
}

static void put_losers(const struct page *page)
{
    const struct sim_part *losers[LOSERS_SHOWN];
    int count = find_losers(page, losers);
    int width = 0;

    for (int i = 0; i < count; i++) {
        int length = (int)strlen(losers[i]->label);

        width = length > width ? length : width;
    }
    if (count > 0) {
        (void)fputs("\nMost time is lost by, over the iteration:\n", page->out);
    }
    for (int i = 0; i < count; i++) {
        (void)fprintf(page->out, "  %10s of %-10s %4d x %-*s  %s\n",
                      search_words_time(page->arena, lost_us(losers[i])),
                      search_words_time(page->arena, losers[i]->time_us),
                      losers[i]->count, width, losers[i]->label,
                      search_words_reasons(page->arena, page->it, losers[i]));
    }
}

/* With -v: X and Y as a search balances them. */
static void put_found(const struct page *page)
{
    const char *const *lines;

    if (!page->all) {
        return;
    }
    lines = search_words_found(page->arena, page->it);
    if (lines[0] != NULL) {
        (void)fputs("\nWindows that lagom would balance:\n", page->out);
    }
    for (int i = 0; lines[i] != NULL; i++) {
        put(page, 2, lines[i]);
    }
}

/* -- what would help -- */

enum verdict { HELPS, USELESS, HARMS, STUCK };

static enum verdict verdict_of(const struct search_what_if *what_if)
{
    if (what_if->stuck) {
        return STUCK;
    }
    if (what_if->gain_ratio >= HELPS_RATIO) {
        return HELPS;
    }
    return what_if->gain_ratio > -HELPS_RATIO ? USELESS : HARMS;
}

/* One paragraph with all changes of a verdict. */
static void
put_verdict(const struct page *page, enum verdict verdict, const char *title)
{
    const struct search_explanation *it = page->it;
    const char *text = NULL;

    for (int i = 0; i < it->what_if_count; i++) {
        const struct search_what_if *what_if = &it->what_ifs[i];
        const char *cost =
            verdict == HARMS
                ? model_arena_format(
                      page->arena, " (%s longer)",
                      search_words_share(page->arena, -what_if->gain_ratio))
                : "";

        if (verdict_of(what_if) == verdict) {
            text = model_arena_format(
                page->arena, "%s%s%s%s", text != NULL ? text : title,
                text != NULL ? ", " : " ", what_if->text, cost);
        }
    }
    put(page, 0,
        text != NULL ? model_arena_format(page->arena, "%s.", text) : NULL);
}

static void put_what_ifs(const struct page *page)
{
    const struct search_explanation *it = page->it;
    int shown = 0;

    (void)fputs("\nWith one thing changed, all else the same:\n", page->out);
    for (int i = 0; i < it->what_if_count && shown < WHAT_IFS_SHOWN; i++) {
        const struct search_what_if *what_if = &it->what_ifs[i];

        if (verdict_of(what_if) != HELPS) {
            continue;
        }
        shown++;
        (void)fprintf(page->out, "  %6s less %10s  %s%s%s%s\n",
                      search_words_share(page->arena, what_if->gain_ratio),
                      search_words_time(page->arena, what_if->iteration_us),
                      what_if->text,
                      what_if->guesses != NULL ? " [guessed: " : "",
                      what_if->guesses != NULL ? what_if->guesses : "",
                      what_if->guesses != NULL ? "]" : "");
    }
    if (shown == 0) {
        (void)fputs("  nothing helps by half a percent\n", page->out);
    }
    put_verdict(page, USELESS, "No help (less than 0.5 %):");
    put_verdict(page, HARMS, "Worse:");
    put_verdict(page, STUCK, "Would never end:");
}

void search_explain_text(struct sim_cli *cli,
                         const struct search_explanation *it)
{
    struct page page = {cli->arena, cli->out, it, cli->options.verbose};
    char guesses[128];

    put(&page, 0, search_words_headline(cli->arena, it));
    (void)fputc('\n', cli->out);
    put_windows(&page);
    put_found(&page);
    put_losers(&page);
    put_what_ifs(&page);
    (void)fputc('\n', cli->out);
    sim_report_steps(cli->out, it->request->workload);
    (void)fprintf(
        cli->out,
        "%s\nlagom %s, seed %" PRIu64 ", fingerprint %016" PRIx64 "\n",
        sim_report_guesses(it->request->topology, guesses, sizeof(guesses)),
        LAGOM_VERSION, cli->options.seed, it->result->fingerprint);
    sim_report_overrides(cli, "");
}
