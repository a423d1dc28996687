/*
 * budget.h - accuracies that must not get worse: the file of --budget.
 *
 *     budgets:
 *       - {set: b300-default, collective: all_reduce, median: 25%, worst: 90%}
 *       - {gpu: h100, p95: 80%}
 *       - {others: true, median: 30%}
 *
 * Each row names one line of the table: a set, maybe one collective of it
 * (computation: the kernels), a GPU (without fits), all rows, or the others,
 * those that are no fit. median, p95 and worst are the most, spearman and
 * kendall the least that it may reach.
 */
#ifndef VALIDATE_BUDGET_H
#define VALIDATE_BUDGET_H

#include "validate/verdict.h"

struct validate_budget {
    const char *set, *collective, *gpu; /* NULL: not named */
    bool all, others;
    double median_ratio, p95_ratio, worst_ratio; /* 0: no budget */
    double spearman, kendall;
    struct model_place place;
};

struct validate_budgets {
    struct validate_budget *list;
    int count;
};

enum model_status validate_budgets_read(struct model_arena *arena,
                                        const char *file,
                                        struct validate_budgets *budgets,
                                        struct model_errors *errors);

/* What a verdict says of budgets. Texts have the file and line before them. */
struct validate_spent {
    const char **exceeded; /* also those of lines that are not there */
    int exceeded_count;
    const char **loose; /* so far from reached that they should be tightened */
    int loose_count;
};

struct validate_spent validate_spend(struct model_arena *arena,
                                     const struct validate_budgets *budgets,
                                     const struct validate_verdict *verdict);

#endif
