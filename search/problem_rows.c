/*
 * problem_rows.c - the rows by which a plan names the ops of each class.
 *
 * Rows match by label, kind, size and group. Ops alike in these may still be of
 * several classes: the one with the most of them gets the row, and the others
 * rows by op before it. Ids get stars for numbers, so that rows stay few; what
 * a pattern takes of other classes gets rows before it. The first match counts.
 */
#include "search/problem.h"

#include <ctype.h>
#include <string.h>

enum { NUMBERS_MAX = 6 /* of an id that may become stars */ };

/* -- what a row by label would take -- */

/* Ops that one row by label takes. */
struct label {
    int first; /* place of the first of them */
    int owner; /* the class with the most of them */
};

struct rows {
    struct model_arena *arena;
    struct search_problem *problem;
    const int *ops; /* of classes, in their order */
    int op_count;
    int *label_of; /* by place in ops */
    bool *named;   /* by place in ops: by a row by op */
    struct label *labels;
    int label_count;
    int room;
};

static const struct model_op *op_at(const struct rows *rows, int place)
{
    return &rows->problem->workload->ops[rows->ops[place]];
}

static int class_at(const struct rows *rows, int place)
{
    return rows->problem->class_of[rows->ops[place]];
}

static bool same_row(const struct model_op *a, const struct model_op *b)
{
    return model_same_text(a->window, b->window) && a->kind == b->kind &&
           a->group == b->group && model_same(a->bytes, b->bytes);
}

static struct model_plan_row row_for(const struct rows *rows,
                                     const struct model_op *op)
{
    return (struct model_plan_row){
        .window = op->window,
        .kind = op->kind,
        .min_bytes = op->bytes,
        .max_bytes = op->bytes,
        .group = rows->problem->workload->groups[op->group].name};
}

static int find_label(struct rows *rows, int place)
{
    for (int i = 0; i < rows->label_count; i++) {
        if (same_row(op_at(rows, rows->labels[i].first), op_at(rows, place))) {
            return i;
        }
    }
    rows->labels[rows->label_count].first = place;
    return rows->label_count++;
}

/* The class with the most ops of a label; counts is work space by class. */
static int find_owner(const struct rows *rows, int label, int *counts)
{
    int owner = class_at(rows, rows->labels[label].first);

    memset(counts, 0, (size_t)rows->problem->class_count * sizeof(*counts));
    for (int i = 0; i < rows->op_count; i++) {
        counts[class_at(rows, i)] += rows->label_of[i] == label ? 1 : 0;
    }
    for (int i = 0; i < rows->problem->class_count; i++) {
        owner = counts[i] > counts[owner] ? i : owner;
    }
    return owner;
}

static void
add(struct rows *rows, const struct model_plan_row *row, int class_index)
{
    struct search_problem *problem = rows->problem;

    problem->rows =
        model_arena_grow(rows->arena, problem->rows, problem->row_count,
                         &rows->room, sizeof(*problem->rows));
    problem->rows[problem->row_count++] =
        (struct search_row){.row = *row, .class_index = class_index};
}

/* -- rows by op -- */

/* The id with stars for the numbers whose bits are set; how many there are. */
static int star(const char *id, unsigned stars, char *pattern)
{
    int numbers = 0;

    while (*id != '\0') {
        bool starred = false;

        if (isdigit((unsigned char)*id) == 0) {
            *pattern++ = *id++;
            continue;
        }
        starred = numbers < NUMBERS_MAX && (stars >> numbers & 1U) != 0;
        numbers++;
        if (starred) {
            *pattern++ = '*';
        }
        while (isdigit((unsigned char)*id) != 0) {
            if (!starred) {
                *pattern++ = *id;
            }
            id++;
        }
    }
    *pattern = '\0';
    return numbers < NUMBERS_MAX ? numbers : NUMBERS_MAX;
}

/* Ops without a row by op that such a row would take. */
struct taken {
    int own;
    int strange; /* of other classes */
};

static struct taken taken_by(const struct rows *rows,
                             const struct model_plan_row *row,
                             int class_index)
{
    struct taken taken = {.own = 0};

    for (int i = 0; i < rows->op_count; i++) {
        if (!rows->named[i] &&
            model_plan_row_takes(row, rows->problem->workload,
                                 op_at(rows, i))) {
            taken.own += class_at(rows, i) == class_index ? 1 : 0;
            taken.strange += class_at(rows, i) != class_index ? 1 : 0;
        }
    }
    return taken;
}

/*
 * The row by op for the one at that place that takes most others of its class,
 * and no strangers: or less of them, if they may be, than a quarter.
 */
static struct model_plan_row
choose_row(struct rows *rows, int place, bool strangers)
{
    const struct model_op *op = op_at(rows, place);
    struct model_plan_row row = row_for(rows, op);
    char *pattern = model_arena_alloc(rows->arena, strlen(op->id) + 1);
    unsigned ways = 1U << star(op->id, 0, pattern);
    unsigned best = 0;
    int most = 0;

    row.op = pattern;
    for (unsigned stars = 0; stars < ways; stars++) {
        struct taken taken;

        (void)star(op->id, stars, pattern);
        taken = taken_by(rows, &row, class_at(rows, place));
        if (taken.own - taken.strange > most &&
            taken.strange <= (strangers ? taken.own / 4 : 0)) {
            most = taken.own - taken.strange;
            best = stars;
        }
    }
    (void)star(op->id, best, pattern);
    return row;
}

static void
add_by_op(struct rows *rows, const struct model_plan_row *row, int class_index)
{
    add(rows, row, class_index);
    for (int i = 0; i < rows->op_count; i++) {
        rows->named[i] =
            rows->named[i] ||
            model_plan_row_takes(row, rows->problem->workload, op_at(rows, i));
    }
}

/* Rows for the op at that place, behind those of the strangers among them. */
static void name_op(struct rows *rows, int place)
{
    struct model_plan_row row = choose_row(rows, place, true);
    int class_index = class_at(rows, place);

    for (int i = 0; i < rows->op_count; i++) {
        if (!rows->named[i] && class_at(rows, i) != class_index &&
            model_plan_row_takes(&row, rows->problem->workload,
                                 op_at(rows, i))) {
            struct model_plan_row before = choose_row(rows, i, false);

            add_by_op(rows, &before, class_at(rows, i));
        }
    }
    add_by_op(rows, &row, class_index);
}

/* -- all -- */

static void collect(struct rows *rows)
{
    const struct search_problem *problem = rows->problem;
    size_t room = (size_t)problem->workload->op_count + 1;
    int *ops = model_arena_array(rows->arena, room, sizeof(*ops));
    int *counts = model_arena_array(
        rows->arena, (size_t)problem->class_count + 1, sizeof(*counts));

    rows->ops = ops;
    rows->named = model_arena_array(rows->arena, room, sizeof(*rows->named));
    rows->label_of =
        model_arena_array(rows->arena, room, sizeof(*rows->label_of));
    rows->labels = model_arena_array(rows->arena, room, sizeof(*rows->labels));
    for (int i = 0; i < problem->workload->op_count; i++) {
        if (problem->class_of[i] >= 0) {
            ops[rows->op_count] = i;
            rows->label_of[rows->op_count] = find_label(rows, rows->op_count);
            rows->op_count++;
        }
    }
    for (int i = 0; i < rows->label_count; i++) {
        rows->labels[i].owner = find_owner(rows, i, counts);
    }
}

static void add_by_label(struct rows *rows, bool labelled)
{
    for (int i = 0; i < rows->label_count; i++) {
        const struct model_op *op = op_at(rows, rows->labels[i].first);

        if ((op->window != NULL) == labelled) {
            struct model_plan_row row = row_for(rows, op);

            add(rows, &row, rows->labels[i].owner);
        }
    }
}

void search_problem_rows(struct model_arena *arena,
                         struct search_problem *problem)
{
    struct rows rows = {.arena = arena, .problem = problem};

    collect(&rows);
    for (int i = 0; i < rows.op_count; i++) {
        if (!rows.named[i] &&
            class_at(&rows, i) != rows.labels[rows.label_of[i]].owner) {
            name_op(&rows, i);
        }
    }
    /* A row without a label matches every label: those come last. */
    add_by_label(&rows, true);
    add_by_label(&rows, false);
}
