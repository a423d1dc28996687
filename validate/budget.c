/*
 * budget.c - reads budgets, and holds a verdict against them.
 */
#include "validate/budget.h"

#include <math.h>
#include <string.h>

/* A budget is loose where it is this much, and points, above the figure. */
static const double LOOSE_RATIO = 1.5;
static const double LOOSE_POINTS = 0.02;
/* And a correlation where it is so much below. */
static const double LOOSE_RANK = 0.1;

#define AT(member) offsetof(struct validate_budget, member)

#define NAME(name, member, text)                                               \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_TEXT, .offset = AT(member),         \
        .help = (text)                                                         \
    }

#define FLAG(name, member, text)                                               \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_BOOL, .offset = AT(member),         \
        .help = (text)                                                         \
    }

#define RATIO(name, member, most, text)                                        \
    {                                                                          \
        .key = (name), .kind = MODEL_FIELD_QUANTITY, .dimension = MODEL_RATIO, \
        .offset = AT(member), .min = 1e-6, .max = (most), .help = (text)       \
    }

static const struct model_field budget_fields[] = {
    NAME("set", set, "a set of records, as the table names it"),
    NAME("collective", collective, "one collective of it, or computation"),
    NAME("gpu", gpu, "all rows of a GPU that are no fit"),
    FLAG("all", all, "all rows"),
    FLAG("others", others, "all rows that are no fit"),
    RATIO("median", median_ratio, 1e6, "the most of its median error"),
    RATIO("p95", p95_ratio, 1e6, "the most of its 95th percentile"),
    RATIO("worst", worst_ratio, 1e6, "the most of its worst error"),
    RATIO("spearman", spearman, 1, "the least of its rank correlation"),
    RATIO("kendall", kendall, 1, "the least of its Kendall tau-b"),
    {.key = NULL}};

struct budget_file {
    const struct model_node *budgets;
};

static const struct model_field file_fields[] = {
    {.key = "budgets",
     .kind = MODEL_FIELD_NODE,
     .offset = offsetof(struct budget_file, budgets),
     .required = true,
     .fields = budget_fields,
     .help = "what accuracies must not exceed"},
    {.key = NULL}};

static void check_budget(const struct validate_budget *budget,
                         const char *path,
                         struct model_errors *errors)
{
    int named = (budget->set != NULL) + (budget->gpu != NULL) +
                (budget->all ? 1 : 0) + (budget->others ? 1 : 0);

    if (named != 1) {
        (void)model_errors_add(errors, MODEL_BAD_INPUT, budget->place, path,
                               "write one of set, gpu, all and others",
                               named == 0 ? "names nothing"
                                          : "names several things");
    }
    if (budget->collective != NULL && budget->set == NULL) {
        (void)model_errors_add(errors, MODEL_BAD_INPUT, budget->place, path,
                               "write set: NAME beside it",
                               "a collective of no set");
    }
    if (!(budget->median_ratio + budget->p95_ratio + budget->worst_ratio +
              budget->spearman + budget->kendall >
          0.0)) {
        (void)model_errors_add(
            errors, MODEL_BAD_INPUT, budget->place, path,
            "write such as median: 25%, p95, worst, spearman, kendall",
            "limits nothing");
    }
}

static bool same_name(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* Two budgets of the same rows: which of them holds? */
static void check_others(const struct validate_budgets *budgets,
                         const char *path,
                         struct model_errors *errors)
{
    const struct validate_budget *last = &budgets->list[budgets->count - 1];

    for (int i = 0; i < budgets->count - 1; i++) {
        const struct validate_budget *other = &budgets->list[i];

        if (same_name(other->set, last->set) &&
            same_name(other->collective, last->collective) &&
            same_name(other->gpu, last->gpu) && other->all == last->all &&
            other->others == last->others) {
            (void)model_errors_add(errors, MODEL_BAD_INPUT, last->place, path,
                                   "write all limits into one",
                                   "names the same rows as budgets[%d]", i);
            return;
        }
    }
}

enum model_status validate_budgets_read(struct model_arena *arena,
                                        const char *file,
                                        struct validate_budgets *budgets,
                                        struct model_errors *errors)
{
    struct model_binding binding = {.arena = arena, .errors = errors};
    const struct model_node *root = model_yaml_read_file(arena, file, errors);
    struct budget_file top = {.budgets = NULL};
    int before = errors->count;

    *budgets = (struct validate_budgets){.count = 0};
    if (root == NULL ||
        model_schema_bind(&binding, file_fields, root, &top) != MODEL_OK) {
        return MODEL_BAD_INPUT;
    }
    if (top.budgets->kind != MODEL_SEQUENCE || top.budgets->count == 0) {
        return model_errors_add(
            errors, MODEL_BAD_INPUT, top.budgets->place, "budgets",
            "write - {set: NAME, median: 25%} lines",
            top.budgets->kind != MODEL_SEQUENCE ? "not a list"
                                                : "no budget in it");
    }
    budgets->list = model_arena_array(arena, (size_t)top.budgets->count,
                                      sizeof(*budgets->list));
    for (const struct model_node *item = top.budgets->first; item != NULL;
         item = item->next) {
        struct validate_budget *budget = &budgets->list[budgets->count];

        binding.path =
            model_arena_format(arena, "budgets[%d]", budgets->count++);
        budget->place = item->place;
        if (model_schema_bind(&binding, budget_fields, item, budget) ==
            MODEL_OK) {
            check_budget(budget, binding.path, errors);
            check_others(budgets, binding.path, errors);
        }
    }
    return errors->count == before ? MODEL_OK : MODEL_BAD_INPUT;
}

/* -- the account -- */

static bool is_line(const struct validate_line *line,
                    const char *set,
                    const char *operation,
                    const char *gpu)
{
    return strcmp(line->set, set) == 0 &&
           strcmp(line->operation, operation) == 0 &&
           strcmp(line->gpu, gpu) == 0;
}

/* The line that a budget names, or NULL. */
static const struct validate_line *
line_of(const struct validate_budget *budget,
        const struct validate_verdict *verdict)
{
    const struct validate_lines *lines = budget->gpu != NULL ? &verdict->gpus
                                         : budget->collective != NULL
                                             ? &verdict->parts
                                             : &verdict->sets;

    if (budget->all || budget->others) {
        const struct validate_line *line =
            budget->all ? &verdict->all : &verdict->others;

        return line->accuracy.count > 0 ? line : NULL;
    }
    for (int i = 0; i < lines->count; i++) {
        if (is_line(&lines->list[i], budget->set != NULL ? budget->set : "",
                    budget->collective != NULL ? budget->collective : "",
                    budget->gpu != NULL ? budget->gpu : "")) {
            return &lines->list[i];
        }
    }
    return NULL;
}

struct account {
    struct model_arena *arena;
    struct validate_spent *spent;
    const struct validate_budget *budget;
    int exceeded_room, loose_room;
};

static const char *name_of(const struct account *account)
{
    const struct validate_budget *budget = account->budget;

    return budget->all      ? "all rows"
           : budget->others ? "all others"
           : budget->gpu != NULL
               ? budget->gpu
               : model_arena_format(
                     account->arena, "%s%s%s", budget->set,
                     budget->collective != NULL ? " " : "",
                     budget->collective != NULL ? budget->collective : "");
}

static void say(struct account *account, bool exceeded, const char *text)
{
    const char ***list =
        exceeded ? &account->spent->exceeded : &account->spent->loose;
    int *count = exceeded ? &account->spent->exceeded_count
                          : &account->spent->loose_count;

    *list = model_arena_grow(account->arena, (void *)*list, *count,
                             exceeded ? &account->exceeded_room
                                      : &account->loose_room,
                             sizeof(**list));
    (*list)[(*count)++] = model_arena_format(
        account->arena, "%s:%d: %s: %s", account->budget->place.file,
        account->budget->place.line, name_of(account), text);
}

static void check_error(struct account *account,
                        const char *figure,
                        double reached,
                        double most)
{
    if (!(most > 0.0)) {
        return;
    }
    if (!(reached <= most)) {
        say(account, true,
            model_arena_format(account->arena, "%s %.1f%% exceeds %.1f%%",
                               figure, 100.0 * reached, 100.0 * most));
    } else if (most > LOOSE_RATIO * reached + LOOSE_POINTS) {
        say(account, false,
            model_arena_format(
                account->arena,
                "%s %.1f%% is far below %.1f%%: tighten the budget", figure,
                100.0 * reached, 100.0 * most));
    }
}

static void check_rank(struct account *account,
                       const char *figure,
                       double reached,
                       double least)
{
    if (!(least > 0.0)) {
        return;
    }
    if (isnan(reached)) {
        say(account, true,
            model_arena_format(account->arena, "%s: nothing is ranked",
                               figure));
    } else if (!(reached >= least)) {
        say(account, true,
            model_arena_format(account->arena, "%s %.3f is below %.3f", figure,
                               reached, least));
    } else if (reached > least + LOOSE_RANK) {
        say(account, false,
            model_arena_format(account->arena,
                               "%s %.3f is far above %.3f: tighten the budget",
                               figure, reached, least));
    }
}

struct validate_spent validate_spend(struct model_arena *arena,
                                     const struct validate_budgets *budgets,
                                     const struct validate_verdict *verdict)
{
    struct validate_spent spent = {.exceeded = NULL};
    struct account account = {.arena = arena, .spent = &spent};

    for (int i = 0; i < budgets->count; i++) {
        const struct validate_budget *budget = &budgets->list[i];
        const struct validate_line *line = line_of(budget, verdict);

        account.budget = budget;
        if (line == NULL) {
            say(&account, true, "there are no such rows");
            continue;
        }
        check_error(&account, "median", line->accuracy.median_ratio,
                    budget->median_ratio);
        check_error(&account, "p95", line->accuracy.p95_ratio,
                    budget->p95_ratio);
        check_error(&account, "worst", line->accuracy.worst_ratio,
                    budget->worst_ratio);
        check_rank(&account, "spearman", line->accuracy.spearman,
                   budget->spearman);
        check_rank(&account, "kendall", line->accuracy.kendall,
                   budget->kendall);
    }
    return spent;
}
