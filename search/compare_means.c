/*
 * compare_means.c - the speedup table summed up: geometric means by family and
 * cluster, and what became of the published ranges.
 */
#include "search/compare.h"

#include <math.h>
#include <string.h>

/* Those that others are compared with. */
static const char *const baselines[] = {"nccl", "autoccl"};

enum { BASELINES = 2 };

/* Can speedups over it be told? */
static bool is_known(const struct search_comparison *table, const char *name)
{
    return table->case_count > 0 &&
           search_times_of(table, table->cases[0], name) != NULL;
}

static bool is_baseline(const char *name)
{
    return strcmp(name, baselines[0]) == 0 || strcmp(name, baselines[1]) == 0;
}

/* -- means -- */

static void print_mean_line(const struct search_comparison *table,
                            const struct search_filter *filter,
                            const char *over,
                            const char *title)
{
    FILE *out = table->cli->out;

    (void)fprintf(out, "  over %-8s %-16s", over, title);
    for (int i = 0; i < table->strategy_count; i++) {
        double ratio = search_mean_ratio(table, filter, i, over);
        struct search_interval interval;
        char text[64];

        if (table->uncertainty == NULL) {
            (void)fprintf(out, " %8.3f", ratio);
            continue;
        }
        interval = search_mean_interval(table, filter, i, over);
        (void)fprintf(
            out, " %*s", SEARCH_INTERVAL_WIDTH,
            search_interval_print(ratio, &interval, text, sizeof(text)));
    }
    (void)fputc('\n', out);
}

static void print_means(const struct search_comparison *table,
                        const struct search_filter *filter,
                        const char *title)
{
    FILE *out = table->cli->out;
    const char **clusters = model_arena_array(
        table->cli->arena, (size_t)table->case_count + 1, sizeof(*clusters));
    int cluster_count = search_clusters(table, filter, clusters);

    (void)fprintf(out, "\n%-31s", title);
    for (int i = 0; i < table->strategy_count; i++) {
        (void)fprintf(out, " %*s",
                      table->uncertainty != NULL ? SEARCH_INTERVAL_WIDTH : 8,
                      table->strategies[i]->name);
    }
    (void)fputc('\n', out);
    for (int b = 0; b < BASELINES; b++) {
        if (!is_known(table, baselines[b])) {
            continue;
        }
        for (int i = 0; i < cluster_count && cluster_count > 1; i++) {
            struct search_filter here = {filter->family, clusters[i], NULL};

            print_mean_line(table, &here, baselines[b], clusters[i]);
        }
        print_mean_line(table, filter, baselines[b], "all");
    }
}

/* -- what became of claims -- */

static void print_tally(FILE *out, const struct search_tally *tally)
{
    (void)fprintf(out,
                  "%d of %d rows in the published range, %d in it widened by "
                  "%.2f\n",
                  tally->in, tally->judged, tally->near, search_near_ratio);
}

static void print_claims(const struct search_comparison *table,
                         const struct search_filter *filter)
{
    const struct model_claim *claims[SEARCH_CLAIMS_MAX];
    int count = search_claims(table, filter, claims);
    FILE *out = table->cli->out;

    for (int i = 0; i < count; i++) {
        struct search_tally tally = search_tally(table, filter, claims[i]);

        (void)fprintf(
            out, "  %s over %s, published %.2f-%.2f: ", claims[i]->strategy,
            claims[i]->over, claims[i]->min_ratio, claims[i]->max_ratio);
        print_tally(out, &tally);
    }
}

/* In how many cases a strategy is at least as fast as both baselines. */
static void print_never_worse(const struct search_comparison *table,
                              const struct search_filter *filter)
{
    FILE *out = table->cli->out;
    bool both = is_known(table, "autoccl");
    const char *separator = "";

    for (int s = 0; s < table->strategy_count; s++) {
        int good = 0;
        int count = 0;

        if (is_baseline(table->strategies[s]->name)) {
            continue;
        }
        for (int i = 0; i < table->case_count; i++) {
            const struct search_compared *row = &table->cases[i]->rows[s];

            if (search_filter_takes(filter, table->cases[i])) {
                count++;
                good += search_speedup_ratio(table, row, "nccl") >= 1.0 &&
                                (!both || search_speedup_ratio(
                                              table, row, "autoccl") >= 1.0)
                            ? 1
                            : 0;
            }
        }
        if (separator[0] == '\0') {
            (void)fprintf(out, "  at least as fast as %s, rows: ",
                          both ? "nccl and autoccl" : "nccl");
        }
        (void)fprintf(out, "%s%s %d of %d", separator,
                      table->strategies[s]->name, good, count);
        separator = ", ";
    }
    if (separator[0] != '\0') {
        (void)fputc('\n', out);
    }
}

/* On which cluster Lagom gains most over NCCL, and least. */
static void print_gains(const struct search_comparison *table,
                        const struct search_filter *filter)
{
    int lagom = search_strategy_index(table, "lagom");
    const char **clusters = model_arena_array(
        table->cli->arena, (size_t)table->case_count + 1, sizeof(*clusters));
    int count = search_clusters(table, filter, clusters);
    FILE *out = table->cli->out;

    if (lagom < 0 || count < 2) {
        return;
    }
    (void)fputs("  lagom gains over nccl:", out);
    for (int i = 0; i < count; i++) {
        struct search_filter here = {filter->family, clusters[i], NULL};

        (void)fprintf(
            out, "%s %.1f %% on %s", i > 0 ? "," : "",
            100.0 * (search_mean_ratio(table, &here, lagom, "nccl") - 1.0),
            clusters[i]);
    }
    (void)fputc('\n', out);
}

/* Reasons for the rows of the filter that are outside a range. */
static void print_outside(const struct search_comparison *table,
                          const struct search_filter *filter)
{
    struct search_verdict verdict;
    bool first = true;

    for (int i = 0; i < table->case_count; i++) {
        const struct search_case *of = table->cases[i];
        const struct model_claim *claims = of->input.workload.claims.items;

        for (int j = 0; j < of->input.workload.claims.count; j++) {
            for (int s = 0; s < table->strategy_count; s++) {
                if (search_filter_takes(filter, of) &&
                    search_judge(table, &of->rows[s], &claims[j], &verdict) &&
                    strcmp(verdict.word, "in") != 0) {
                    (void)fputs(first ? "\noutside a published range:\n" : "",
                                table->cli->out);
                    first = false;
                    search_reason_print(table, &of->rows[s], &verdict);
                }
            }
        }
    }
}

static void print_gaps(const struct search_comparison *table,
                       const char *title,
                       bool to_bound)
{
    FILE *out = table->cli->out;

    if (isnan(search_mean_gap_ratio(table, 0, to_bound))) {
        return;
    }
    (void)fprintf(out, "  mean gap to the %s:", title);
    for (int i = 0; i < table->strategy_count; i++) {
        (void)fprintf(out, " %s %.2f%%", table->strategies[i]->name,
                      100.0 * search_mean_gap_ratio(table, i, to_bound));
    }
    (void)fputc('\n', out);
}

static void print_group(const struct search_comparison *table,
                        const struct search_filter *filter,
                        const char *title,
                        bool claims)
{
    print_means(table, filter, title);
    print_gains(table, filter);
    if (claims) {
        print_claims(table, filter);
    }
    print_never_worse(table, filter);
}

void search_means_print(const struct search_comparison *table)
{
    const char **families = model_arena_array(
        table->cli->arena, (size_t)table->case_count + 1, sizeof(*families));
    int count = search_families(table, families);
    const struct search_filter all = {NULL, NULL, NULL};
    struct search_tally tally = search_tally(table, &all, NULL);

    for (int i = 0; i < count && count > 1; i++) {
        struct search_filter filter = {families[i], NULL, NULL};

        print_group(table, &filter,
                    model_arena_format(table->cli->arena, "geometric means, %s",
                                       families[i]),
                    true);
    }
    print_group(table, &all, "geometric means", count == 1);
    if (tally.judged > 0) {
        (void)fputs("  all claims: ", table->cli->out);
        print_tally(table->cli->out, &tally);
    }
    print_gaps(table, "fastest plan found", false);
    print_gaps(table, "bound", true);
    print_outside(table, &all);
}
