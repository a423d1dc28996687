/*
 * compare_claims.c - rows of the speedup table beside what was published.
 */
#include "search/compare.h"

#include "sim/report.h"

#include <math.h>
#include <string.h>

const double search_near_ratio = 0.05;

/* Ranges are published with two decimals: 1.094 counts as 1.09. */
static const double ROUNDED_RATIO = 0.005;

static bool
is_within(const struct model_claim *claim, double ratio, double widened_ratio)
{
    return ratio >= claim->min_ratio - widened_ratio - ROUNDED_RATIO &&
           ratio < claim->max_ratio + widened_ratio + ROUNDED_RATIO;
}

static const char *verdict_word(const struct model_claim *claim, double ratio)
{
    if (is_within(claim, ratio, 0.0)) {
        return "in";
    }
    if (is_within(claim, ratio, search_near_ratio)) {
        return "near";
    }
    return ratio < claim->min_ratio ? "below" : "above";
}

bool search_judge(const struct search_comparison *table,
                  const struct search_compared *row,
                  const struct model_claim *claim,
                  struct search_verdict *verdict)
{
    double ratio = search_speedup_ratio(table, row, claim->over);

    if (sim_report_is_changed(table->cli) || isnan(ratio) ||
        strcmp(row->strategy->name, claim->strategy) != 0 ||
        !model_claim_names(claim, row->of->input.topology.name)) {
        return false;
    }
    *verdict =
        (struct search_verdict){claim, ratio, verdict_word(claim, ratio)};
    return true;
}

bool search_judge_over(const struct search_comparison *table,
                       const struct search_compared *row,
                       const char *over,
                       struct search_verdict *verdict)
{
    const struct model_list *list = &row->of->input.workload.claims;
    const struct model_claim *claims = list->items;

    for (int i = 0; i < list->count; i++) {
        if (strcmp(claims[i].over, over) == 0 &&
            search_judge(table, row, &claims[i], verdict)) {
            return true;
        }
    }
    return false;
}

/* Said of the same strategies with the same range. */
static bool is_same_claim(const struct model_claim *a,
                          const struct model_claim *b)
{
    return strcmp(a->strategy, b->strategy) == 0 &&
           strcmp(a->over, b->over) == 0 &&
           fabs(a->min_ratio - b->min_ratio) < 1e-9 &&
           fabs(a->max_ratio - b->max_ratio) < 1e-9;
}

/* Does the claim judge any row of the case? */
static bool judges_case(const struct search_comparison *table,
                        const struct search_case *of,
                        const struct model_claim *claim)
{
    struct search_verdict verdict;

    for (int i = 0; i < table->strategy_count; i++) {
        if (search_judge(table, &of->rows[i], claim, &verdict)) {
            return true;
        }
    }
    return false;
}

int search_claims(const struct search_comparison *table,
                  const struct search_filter *filter,
                  const struct model_claim **claims)
{
    int count = 0;

    for (int i = 0; i < table->case_count; i++) {
        const struct search_case *of = table->cases[i];
        const struct model_claim *own = of->input.workload.claims.items;

        for (int j = 0; j < of->input.workload.claims.count; j++) {
            bool known = !search_filter_takes(filter, of) ||
                         !judges_case(table, of, &own[j]);

            for (int k = 0; k < count && !known; k++) {
                known = is_same_claim(claims[k], &own[j]);
            }
            if (!known && count < SEARCH_CLAIMS_MAX) {
                claims[count++] = &own[j];
            }
        }
    }
    return count;
}

/* All verdicts on a case that are by the claim, or by any. */
static void tally_case(const struct search_comparison *table,
                       const struct search_case *of,
                       const struct model_claim *claim,
                       struct search_tally *tally)
{
    const struct model_claim *own = of->input.workload.claims.items;
    struct search_verdict verdict;

    for (int i = 0; i < table->strategy_count; i++) {
        for (int j = 0; j < of->input.workload.claims.count; j++) {
            if ((claim == NULL || is_same_claim(claim, &own[j])) &&
                search_judge(table, &of->rows[i], &own[j], &verdict)) {
                bool in = strcmp(verdict.word, "in") == 0;

                tally->judged++;
                tally->in += in ? 1 : 0;
                tally->near += in || strcmp(verdict.word, "near") == 0 ? 1 : 0;
            }
        }
    }
}

struct search_tally search_tally(const struct search_comparison *table,
                                 const struct search_filter *filter,
                                 const struct model_claim *claim)
{
    struct search_tally tally = {.judged = 0};

    for (int i = 0; i < table->case_count; i++) {
        if (search_filter_takes(filter, table->cases[i])) {
            tally_case(table, table->cases[i], claim, &tally);
        }
    }
    return tally;
}

static bool is_strategy(const char *name)
{
    for (int i = 0; search_strategies[i].name != NULL; i++) {
        if (strcmp(search_strategies[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

enum model_status search_claims_check(struct search_comparison *table,
                                      const struct search_case *of)
{
    const struct model_claim *claims = of->input.workload.claims.items;
    enum model_status status = MODEL_OK;

    for (int i = 0; i < of->input.workload.claims.count; i++) {
        const char *names[] = {claims[i].strategy, claims[i].over};

        for (int j = 0; j < 2; j++) {
            if (!is_strategy(names[j])) {
                status = model_errors_add(
                    table->cli->errors, MODEL_BAD_INPUT, claims[i].place,
                    j == 0 ? "published.strategy" : "published.over",
                    "lagom compare --help lists them", "no such strategy: %s",
                    names[j]);
            }
        }
    }
    return status;
}
