/*
 * measured.c - rows of a measured iteration put to the ops of its workload,
 * and what they add up to.
 */
#include "search/measured.h"

#include "model/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum column { OP, STREAM, START, END, SPREAD, COLUMNS };

static const char *const columns[COLUMNS + 1] = {
    "op", "stream", "start_us", "end_us", "spread_us", NULL};

static const char whole[] = "iteration";

struct reading {
    struct model_arena *arena;
    struct model_errors *errors;
    const char *name; /* of the file, for messages */
    const struct model_workload *workload;
    struct model_table table;
    int at[COLUMNS];           /* cell of a column, or -1 */
    struct sim_op_result *ops; /* by op */
    bool *seen;                /* by op */
    bool whole_seen;
    struct search_measured *measured;
};

static void fault(struct reading *reading,
                  const struct model_row *row,
                  const char *column,
                  const char *hint,
                  const char *message)
{
    struct model_place place = {reading->name, row != NULL ? row->line : 0, 0};

    (void)model_errors_add(reading->errors, MODEL_BAD_INPUT, place, column,
                           hint, "%s", message);
}

/* -- rows -- */

static void find_columns(struct reading *reading)
{
    for (int i = 0; i < COLUMNS; i++) {
        reading->at[i] = -1;
        for (int cell = 0; cell < reading->table.head.count; cell++) {
            if (strcmp(reading->table.head.cells[cell].text, columns[i]) == 0) {
                reading->at[i] = cell;
            }
        }
        if (reading->at[i] < 0 && i != STREAM && i != SPREAD) {
            fault(reading, &reading->table.head, columns[i],
                  "the head is op,stream,start_us,end_us,spread_us",
                  "no such column");
        }
    }
}

static const char *cell_of(const struct reading *reading,
                           const struct model_row *row,
                           enum column column)
{
    int at = reading->at[column];

    return at >= 0 && at < row->count ? row->cells[at].text : "";
}

/* A time of a row, in us; an empty spread is 0. */
static bool read_time(struct reading *reading,
                      const struct model_row *row,
                      enum column column,
                      double *us)
{
    const char *text = cell_of(reading, row, column);

    if (column == SPREAD && text[0] == '\0') {
        *us = 0.0;
        return true;
    }
    if (model_units_parse(text, MODEL_RATIO, us, NULL) == MODEL_OK &&
        strchr(text, '%') == NULL) {
        return true;
    }
    fault(reading, row, columns[column], "write microseconds, as 310.4",
          model_arena_format(reading->arena, "\"%s\" is no time", text));
    return false;
}

/* An op by id; rows mostly come in the order of the ops. */
static int
find_op(const struct model_workload *workload, const char *id, int expected)
{
    for (int i = 0; i < workload->op_count; i++) {
        int op = (expected + i) % workload->op_count;

        if (strcmp(workload->ops[op].id, id) == 0) {
            return op;
        }
    }
    return -1;
}

static void keep_op(struct reading *reading,
                    const struct model_row *row,
                    int op,
                    double start_us,
                    double end_us)
{
    if (op < 0) {
        fault(reading, row, "op", "write a line for each op of the workload",
              model_arena_format(reading->arena, "no such op: %s",
                                 cell_of(reading, row, OP)));
    } else if (reading->seen[op]) {
        fault(reading, row, "op", "write one line for each op",
              model_arena_format(reading->arena, "twice: %s",
                                 cell_of(reading, row, OP)));
    } else {
        reading->seen[op] = true;
        reading->ops[op] = (struct sim_op_result){.op = op,
                                                  .start_us = start_us,
                                                  .run_us = start_us,
                                                  .end_us = end_us,
                                                  .takes_part = true};
    }
}

/* Returns the op that the row is of, or what was expected. */
static int
read_row(struct reading *reading, const struct model_row *row, int expected)
{
    const char *id = cell_of(reading, row, OP);
    double start_us = 0.0;
    double end_us = 0.0;
    double spread_us = 0.0;
    int op;

    if (!read_time(reading, row, START, &start_us) ||
        !read_time(reading, row, END, &end_us) ||
        !read_time(reading, row, SPREAD, &spread_us)) {
        return expected;
    }
    if (end_us < start_us) {
        fault(reading, row, "end_us", NULL, "ends before it starts");
        return expected;
    }
    if (strcmp(id, whole) == 0 && cell_of(reading, row, STREAM)[0] == '\0') {
        reading->whole_seen = true;
        reading->measured->result.iteration_us = end_us - start_us;
        reading->measured->spread_us = spread_us;
        return expected;
    }
    op = find_op(reading->workload, id, expected);
    keep_op(reading, row, op, start_us, end_us);
    return op >= 0 ? op + 1 : expected;
}

/* Lines that should be there and are not. */
static void check_all_seen(struct reading *reading)
{
    const char *first = NULL;
    int missing = 0;

    for (int i = reading->workload->op_count - 1; i >= 0; i--) {
        if (!reading->seen[i]) {
            first = reading->workload->ops[i].id;
            missing++;
        }
    }
    if (missing > 0) {
        fault(reading, NULL, "op", "write a line for each op of the workload",
              model_arena_format(reading->arena, "no line for %s%s", first,
                                 missing == 1
                                     ? ""
                                     : model_arena_format(reading->arena,
                                                          " and %d other ops",
                                                          missing - 1)));
    }
    if (!reading->whole_seen ||
        !(reading->measured->result.iteration_us > 0.0)) {
        fault(reading, NULL, whole, "write iteration,,0,END_US,SPREAD_US",
              reading->whole_seen ? "takes no time" : "no line for the whole");
    }
}

/* -- sums -- */

/* Where an op starts or ends. */
struct edge {
    double us;
    int kernels, collectives; /* that run from there on: one more or less */
};

static int compare_edges(const void *left, const void *right)
{
    const struct edge *a = left;
    const struct edge *b = right;

    return (a->us > b->us) - (a->us < b->us);
}

/* Times up to an instant. */
struct busy {
    double compute_us, comm_us, exposed_us;
};

static struct busy
busy_until(const struct edge *edges, int count, double until_us)
{
    struct busy busy = {0.0, 0.0, 0.0};
    int kernels = 0;
    int collectives = 0;

    for (int i = 0; i + 1 < count; i++) {
        double us = fmin(edges[i + 1].us, until_us) - edges[i].us;

        kernels += edges[i].kernels;
        collectives += edges[i].collectives;
        us = fmax(us, 0.0);
        busy.compute_us += kernels > 0 ? us : 0.0;
        busy.comm_us += collectives > 0 ? us : 0.0;
        busy.exposed_us += collectives > 0 && kernels == 0 ? us : 0.0;
    }
    return busy;
}

static struct edge *edges_of(const struct reading *reading, int *count)
{
    const struct model_workload *workload = reading->workload;
    struct edge *edges = model_arena_array(
        reading->arena, 2 * (size_t)workload->op_count + 1, sizeof(*edges));

    for (size_t i = 0; i < (size_t)workload->op_count; i++) {
        bool collective = model_op_is_collective(&workload->ops[i]);
        struct edge edge = {.us = reading->ops[i].start_us,
                            .kernels = collective ? 0 : 1,
                            .collectives = collective ? 1 : 0};

        edges[2 * i] = edge;
        edges[2 * i + 1] = (struct edge){reading->ops[i].end_us, -edge.kernels,
                                         -edge.collectives};
    }
    *count = 2 * workload->op_count;
    qsort(edges, (size_t)*count, sizeof(*edges), compare_edges);
    return edges;
}

/* When the last of some ops ends. */
static double last_us(const struct reading *reading, int first, int end)
{
    double us = 0.0;

    for (int i = first; i < end; i++) {
        us = fmax(us, reading->ops[i].end_us);
    }
    return us;
}

/* Everything that is a sum over the iteration, with the steps not listed. */
static void sum_up(const struct reading *reading)
{
    const struct model_cycle *cycle = &reading->workload->cycle;
    struct sim_result *result = &reading->measured->result;
    int count;
    const struct edge *edges = edges_of(reading, &count);
    struct busy busy = busy_until(edges, count, HUGE_VAL);
    struct busy from;
    struct busy to;
    struct sim_steady *steady = &result->steady;

    if (cycle->end > cycle->first) {
        int before = cycle->first - (cycle->end - cycle->first);

        *steady = (struct sim_steady){
            .from_us = last_us(reading, before, cycle->first),
            .to_us = last_us(reading, cycle->first, cycle->end),
            .extra = cycle->repeats - 1.0};
    }
    from = busy_until(edges, count, steady->from_us);
    to = busy_until(edges, count, steady->to_us);
    result->iteration_us += steady->extra * (steady->to_us - steady->from_us);
    result->compute_us =
        busy.compute_us + steady->extra * (to.compute_us - from.compute_us);
    result->comm_us =
        busy.comm_us + steady->extra * (to.comm_us - from.comm_us);
    result->exposed_comm_us =
        busy.exposed_us + steady->extra * (to.exposed_us - from.exposed_us);
    result->rank_count = 1;
    result->ops = reading->ops;
    result->op_count = reading->workload->op_count;
}

enum model_status search_measured_read(struct model_arena *arena,
                                       const char *file,
                                       const char *name,
                                       const struct model_workload *workload,
                                       struct search_measured *measured,
                                       struct model_errors *errors)
{
    size_t ops = (size_t)workload->op_count + 1;
    int before = errors->count;
    struct reading reading = {
        .arena = arena,
        .errors = errors,
        .name = name,
        .workload = workload,
        .ops = model_arena_array(arena, ops, sizeof(*reading.ops)),
        .seen = model_arena_array(arena, ops, sizeof(*reading.seen)),
        .measured = measured};
    struct model_text text;
    int expected = 0;

    *measured = (struct search_measured){.spread_us = 0.0};
    if (!model_text_read(arena, file, MODEL_TABLE_BYTES_MAX, &text, errors)) {
        return MODEL_BAD_INPUT;
    }
    text.file = name;
    if (!model_table_read(arena, text, &reading.table, errors)) {
        return MODEL_BAD_INPUT;
    }
    find_columns(&reading);
    for (int i = 0; errors->count == before && i < reading.table.count; i++) {
        expected = read_row(&reading, &reading.table.rows[i], expected);
    }
    if (errors->count == before) {
        check_all_seen(&reading);
    }
    if (errors->count > before) {
        return MODEL_BAD_INPUT;
    }
    sum_up(&reading);
    return MODEL_OK;
}
