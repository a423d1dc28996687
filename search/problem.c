/*
 * problem.c - classes and windows of a workload.
 */
#include "search/problem.h"

#include <string.h>

/* While classes are made. */
struct maker {
    struct search_problem *problem;
    const struct search_windows *found;
    const struct model_op **first; /* by class: an op of it */
    double *time_us;               /* by class, of all its ops */
};

static const struct model_op *op_at(const struct search_problem *problem,
                                    int op)
{
    return &problem->workload->ops[op];
}

static int find_class(struct maker *maker, int op_index)
{
    struct search_problem *problem = maker->problem;
    const struct model_op *op = op_at(problem, op_index);
    int window = maker->found->of_op[op_index];

    for (int i = 0; i < problem->class_count; i++) {
        if (problem->classes[i].window_index == window &&
            search_same_key(maker->first[i], op)) {
            return i;
        }
    }
    maker->first[problem->class_count] = op;
    problem->classes[problem->class_count] = (struct search_class){
        .kind = op->kind,
        .bytes = op->bytes,
        .group = op->group,
        .shift = op->shift,
        .fixed = op->config,
        .baseline = model_nccl_complete(problem->nccl, op, &op->config),
        .window_index = window};
    return problem->class_count++;
}

/* -- classes that join others -- */

/* The class of equal collectives that take longest: under the same label only,
 * or anywhere. */
static int largest(const struct maker *maker, int class_index, bool labelled)
{
    int best = class_index;

    for (int i = 0; i < maker->problem->class_count; i++) {
        const struct model_op *op = maker->first[i];

        if (search_same_key(op, maker->first[class_index]) &&
            (!labelled ||
             model_same_text(op->window, maker->first[class_index]->window)) &&
            maker->time_us[i] > maker->time_us[best]) {
            best = i;
        }
    }
    return best;
}

static int leader_of(const struct maker *maker, int class_index)
{
    for (int labelled = 1; labelled >= 0; labelled--) {
        int leader = largest(maker, class_index, labelled != 0);

        if (maker->time_us[class_index] <
            SEARCH_FOLLOWS * maker->time_us[leader]) {
            return leader;
        }
    }
    return class_index;
}

/* Past a leader that follows another itself. */
static int last_leader(const struct maker *maker, int class_index)
{
    int leader = leader_of(maker, class_index);

    while (leader != class_index) {
        class_index = leader;
        leader = leader_of(maker, class_index);
    }
    return leader;
}

/* Ops change over to the leaders, and these close the gaps. */
static void join(struct model_arena *arena, struct maker *maker)
{
    struct search_problem *problem = maker->problem;
    int count = problem->class_count;
    int *leaders = model_arena_array(arena, (size_t)count + 1, sizeof(int));
    int *place = model_arena_array(arena, (size_t)count + 1, sizeof(int));

    for (int i = 0; i < count; i++) {
        leaders[i] = last_leader(maker, i);
    }
    problem->class_count = 0;
    for (int i = 0; i < count; i++) {
        if (leaders[i] == i) {
            place[i] = problem->class_count;
            problem->classes[problem->class_count++] = problem->classes[i];
        }
    }
    for (int i = 0; i < problem->workload->op_count; i++) {
        if (problem->class_of[i] >= 0) {
            problem->class_of[i] = place[leaders[problem->class_of[i]]];
            problem->classes[problem->class_of[i]].op_count +=
                (int)model_workload_repeats(problem->workload, i);
        }
    }
}

/* -- windows -- */

static int with_label(const struct search_windows *found,
                      const int *place,
                      const char *label,
                      int before)
{
    int count = 0;

    for (int i = 0; i < before; i++) {
        count +=
            place[i] >= 0 && model_same_text(found->labels[i], label) ? 1 : 0;
    }
    return count;
}

static const char *name_of(struct model_arena *arena,
                           const struct search_windows *found,
                           const int *place,
                           int window)
{
    const char *label = found->labels[window];

    if (with_label(found, place, label, found->count) == 1) {
        return label;
    }
    return model_arena_format(arena, "%s %d", label != NULL ? label : "window",
                              with_label(found, place, label, window) + 1);
}

/* The found windows that still have a class, in their order. */
static void keep_windows(struct model_arena *arena, struct maker *maker)
{
    struct search_problem *problem = maker->problem;
    const struct search_windows *found = maker->found;
    int *place =
        model_arena_array(arena, (size_t)found->count + 1, sizeof(int));

    for (int i = 0; i < found->count; i++) {
        place[i] = -1;
        for (int j = 0; j < problem->class_count && place[i] < 0; j++) {
            if (problem->classes[j].window_index == i) {
                place[i] = problem->window_count++;
            }
        }
    }
    for (int i = 0; i < found->count; i++) {
        if (place[i] >= 0) {
            problem->windows[place[i]] = name_of(arena, found, place, i);
            problem->instances[place[i]] = found->instances[i];
        }
    }
    for (int i = 0; i < problem->workload->op_count; i++) {
        int window = found->of_op[i];

        problem->window_of[i] = window >= 0 ? place[window] : -1;
    }
    for (int i = 0; i < found->beside_count; i++) {
        problem->beside[i].window = place[found->beside[i].window];
    }
    for (int i = 0; i < problem->class_count; i++) {
        struct search_class *part = &problem->classes[i];

        part->window_index = place[part->window_index];
        part->window = problem->windows[part->window_index];
    }
}

static int collective_count(const struct model_workload *workload)
{
    int count = 0;

    for (int i = 0; i < workload->op_count; i++) {
        count += model_op_is_collective(&workload->ops[i]) ? 1 : 0;
    }
    return count;
}

void search_problem_make(struct model_arena *arena,
                         const struct model_nccl *nccl,
                         struct search_problem *problem)
{
    const struct model_workload *workload = nccl->workload;
    size_t ops = (size_t)workload->op_count + 1;
    size_t collectives = (size_t)collective_count(workload) + 1;
    struct search_windows found;
    struct maker maker = {.problem = problem, .found = &found};

    search_windows_find(arena, nccl, &found);
    *problem = (struct search_problem){
        .topology = nccl->topology, .workload = workload, .nccl = nccl};
    problem->classes =
        model_arena_array(arena, collectives, sizeof(*problem->classes));
    problem->windows = model_arena_array(arena, (size_t)found.count + 1,
                                         sizeof(*problem->windows));
    problem->instances =
        model_arena_array(arena, (size_t)found.count + 1, sizeof(int));
    problem->class_of = model_arena_array(arena, ops, sizeof(int));
    problem->window_of = model_arena_array(arena, ops, sizeof(int));
    problem->beside_of = found.beside_of;
    problem->beside = found.beside;
    maker.first = model_arena_array(arena, collectives, sizeof(const void *));
    maker.time_us = model_arena_array(arena, collectives, sizeof(double));
    for (int i = 0; i < workload->op_count; i++) {
        const struct model_op *op = op_at(problem, i);

        problem->class_of[i] = -1;
        if (model_op_is_collective(op) &&
            !model_config_is_complete(&op->config)) {
            problem->class_of[i] = find_class(&maker, i);
            maker.time_us[problem->class_of[i]] +=
                model_workload_repeats(workload, i) * found.time_us[i];
        }
    }
    join(arena, &maker);
    keep_windows(arena, &maker);
    search_problem_rows(arena, problem);
}

static int find_label(struct search_problem *problem, const char *label)
{
    for (int i = 0; i < problem->window_count; i++) {
        if (model_same_text(problem->windows[i], label)) {
            return i;
        }
    }
    problem->windows[problem->window_count] = label;
    return problem->window_count++;
}

void search_problem_label(struct model_arena *arena,
                          struct search_problem *problem)
{
    size_t ops = (size_t)problem->workload->op_count + 1;

    problem->windows = model_arena_array(arena, ops, sizeof(*problem->windows));
    problem->instances = model_arena_array(arena, ops, sizeof(int));
    problem->beside = model_arena_array(arena, ops, sizeof(*problem->beside));
    problem->window_count = 0;
    for (int i = 0; i < problem->workload->op_count; i++) {
        int window = find_label(problem, op_at(problem, i)->window);

        problem->window_of[i] = window;
        problem->beside[i] = (struct search_beside){window, -1};
        problem->beside_of[i] = i;
        problem->instances[window] = 1;
        if (problem->class_of[i] >= 0) {
            problem->classes[problem->class_of[i]].window_index = window;
        }
    }
}

/* -- measures -- */

void search_measure_make(struct model_arena *arena,
                         const struct search_problem *problem,
                         struct search_measure *measure)
{
    size_t windows = (size_t)problem->window_count + 1;

    measure->iteration_us = 0.0;
    measure->spread_us = 0.0;
    measure->busy = (struct search_busy){0.0, 0.0, 0.0};
    measure->x_us = model_arena_array(arena, (size_t)problem->class_count + 1,
                                      sizeof(double));
    measure->comm_us = model_arena_array(arena, windows, sizeof(double));
    measure->kernel_us = model_arena_array(arena, windows, sizeof(double));
}

void search_measure_kernel(const struct search_problem *problem,
                           int op,
                           double time_us,
                           struct search_measure *measure)
{
    for (int i = problem->beside_of[op]; i >= 0; i = problem->beside[i].next) {
        if (problem->beside[i].window >= 0) {
            measure->kernel_us[problem->beside[i].window] += time_us;
        }
    }
}

void search_measure_copy(const struct search_problem *problem,
                         const struct search_measure *from,
                         struct search_measure *to)
{
    size_t classes = (size_t)problem->class_count * sizeof(double);
    size_t windows = (size_t)problem->window_count * sizeof(double);

    to->iteration_us = from->iteration_us;
    to->spread_us = from->spread_us;
    to->busy = from->busy;
    memcpy(to->x_us, from->x_us, classes);
    memcpy(to->comm_us, from->comm_us, windows);
    memcpy(to->kernel_us, from->kernel_us, windows);
}

void search_measure_fill(const struct search_problem *problem,
                         const struct sim_result *result,
                         struct search_measure *measure)
{
    measure->iteration_us = result->iteration_us;
    measure->spread_us = 0.0;
    measure->busy = (struct search_busy){result->compute_us, result->comm_us,
                                         result->exposed_comm_us};
    for (int i = 0; i < problem->class_count; i++) {
        measure->x_us[i] = 0.0;
    }
    for (int i = 0; i < problem->window_count; i++) {
        measure->comm_us[i] = 0.0;
        measure->kernel_us[i] = 0.0;
    }
    /* Rank 0 comes first; the others of a folded run do not exist. */
    for (int i = 0; i < problem->workload->op_count; i++) {
        double time_us = model_workload_repeats(problem->workload, i) *
                         (result->ops[i].end_us - result->ops[i].start_us);
        int window = problem->window_of[i];
        int class_index = problem->class_of[i];

        if (!model_op_is_collective(op_at(problem, i))) {
            search_measure_kernel(problem, i, time_us, measure);
        } else if (window >= 0) {
            measure->comm_us[window] += time_us;
        }
        if (class_index >= 0) {
            measure->x_us[class_index] +=
                time_us / (double)problem->classes[class_index].op_count;
        }
    }
}

void search_pin(const struct search_problem *problem,
                struct model_config *configs)
{
    for (int i = 0; i < problem->class_count; i++) {
        struct model_config config = problem->classes[i].fixed;

        model_config_fill(&config, &configs[i]);
        configs[i] = config;
    }
}

struct model_plan search_plan(struct model_arena *arena,
                              const struct search_problem *problem,
                              const struct model_config *configs,
                              const char *strategy)
{
    struct model_plan plan = {.strategy = strategy,
                              .row_count = problem->row_count};

    plan.rows = model_arena_array(arena, (size_t)problem->row_count + 1,
                                  sizeof(*plan.rows));
    for (int i = 0; i < problem->row_count; i++) {
        plan.rows[i] = problem->rows[i].row;
        plan.rows[i].config = configs[problem->rows[i].class_index];
    }
    return plan;
}
