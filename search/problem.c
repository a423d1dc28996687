/*
 * problem.c - classes and windows of a workload.
 */
#include "search/problem.h"

static int find_window(struct search_problem *problem, const char *window)
{
    for (int i = 0; i < problem->window_count; i++) {
        if (model_same_text(problem->windows[i], window)) {
            return i;
        }
    }
    problem->windows[problem->window_count] = window;
    return problem->window_count++;
}

static int find_class(struct search_problem *problem, const struct model_op *op)
{
    struct search_class *new_class;

    for (int i = 0; i < problem->class_count; i++) {
        const struct search_class *known = &problem->classes[i];

        if (model_same_text(known->window, op->window) &&
            known->kind == op->kind && known->group == op->group &&
            known->shift == op->shift &&
            model_config_equal(&known->fixed, &op->config) &&
            model_same(known->bytes, op->bytes)) {
            return i;
        }
    }
    new_class = &problem->classes[problem->class_count];
    *new_class = (struct search_class){
        .window = op->window,
        .kind = op->kind,
        .bytes = op->bytes,
        .group = op->group,
        .shift = op->shift,
        .fixed = op->config,
        .baseline = model_nccl_complete(problem->nccl, op, &op->config),
        .window_index = find_window(problem, op->window)};
    return problem->class_count++;
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
    size_t ops = (size_t)workload->op_count;
    int collectives = collective_count(workload);

    *problem = (struct search_problem){
        .topology = nccl->topology, .workload = workload, .nccl = nccl};
    problem->classes = model_arena_array(arena, (size_t)collectives + 1,
                                         sizeof(*problem->classes));
    problem->windows =
        model_arena_array(arena, ops + 1, sizeof(*problem->windows));
    problem->class_of =
        model_arena_array(arena, ops + 1, sizeof(*problem->class_of));
    problem->window_of =
        model_arena_array(arena, ops + 1, sizeof(*problem->window_of));
    for (int i = 0; i < workload->op_count; i++) {
        const struct model_op *op = &workload->ops[i];

        problem->window_of[i] = find_window(problem, op->window);
        problem->class_of[i] = -1;
        if (model_op_is_collective(op) &&
            !model_config_is_complete(&op->config)) {
            problem->class_of[i] = find_class(problem, op);
            problem->classes[problem->class_of[i]].op_count++;
        }
    }
}

void search_measure_make(struct model_arena *arena,
                         const struct search_problem *problem,
                         struct search_measure *measure)
{
    size_t windows = (size_t)problem->window_count + 1;

    measure->iteration_us = 0.0;
    measure->x_us = model_arena_array(arena, (size_t)problem->class_count + 1,
                                      sizeof(double));
    measure->comm_us = model_arena_array(arena, windows, sizeof(double));
    measure->kernel_us = model_arena_array(arena, windows, sizeof(double));
}

void search_measure_fill(const struct search_problem *problem,
                         const struct sim_result *result,
                         struct search_measure *measure)
{
    measure->iteration_us = result->iteration_us;
    for (int i = 0; i < problem->class_count; i++) {
        measure->x_us[i] = 0.0;
    }
    for (int i = 0; i < problem->window_count; i++) {
        measure->comm_us[i] = 0.0;
        measure->kernel_us[i] = 0.0;
    }
    /* Rank 0 comes first; the others of a folded run do not exist. */
    for (int i = 0; i < problem->workload->op_count; i++) {
        double time_us = result->ops[i].end_us - result->ops[i].start_us;
        int window = problem->window_of[i];
        int class_index = problem->class_of[i];

        if (model_op_is_collective(&problem->workload->ops[i])) {
            measure->comm_us[window] += time_us;
        } else {
            measure->kernel_us[window] += time_us;
        }
        if (class_index >= 0) {
            measure->x_us[class_index] +=
                time_us / (double)problem->classes[class_index].op_count;
        }
    }
}

static bool is_pinned(const struct search_class *part)
{
    struct model_config none = model_config_none();

    return !model_config_equal(&part->fixed, &none);
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

/* Rows for a class: one, or one for each op where ops have keys of their own
 * and another class may be of the same kind, size and group. */
static int add_rows(const struct search_problem *problem,
                    int class_index,
                    const struct model_config *config,
                    struct model_plan_row *rows)
{
    const struct search_class *part = &problem->classes[class_index];
    struct model_plan_row row = {
        .window = part->window,
        .kind = part->kind,
        .min_bytes = part->bytes,
        .max_bytes = part->bytes,
        .group = problem->workload->groups[part->group].name,
        .config = *config};
    int count = 0;

    if (!is_pinned(part)) {
        rows[0] = row;
        return 1;
    }
    for (int i = 0; i < problem->workload->op_count; i++) {
        if (problem->class_of[i] == class_index) {
            row.op = problem->workload->ops[i].id;
            rows[count++] = row;
        }
    }
    return count;
}

/* Rows for single ops come first, rows for any window last. */
static int pass_of(const struct search_class *part)
{
    if (is_pinned(part)) {
        return 0;
    }
    return part->window != NULL ? 1 : 2;
}

struct model_plan search_plan(struct model_arena *arena,
                              const struct search_problem *problem,
                              const struct model_config *configs,
                              const char *strategy)
{
    struct model_plan plan = {.strategy = strategy};
    int room = problem->class_count;

    for (int i = 0; i < problem->class_count; i++) {
        room +=
            is_pinned(&problem->classes[i]) ? problem->classes[i].op_count : 0;
    }
    plan.rows = model_arena_array(arena, (size_t)room + 1, sizeof(*plan.rows));
    for (int pass = 0; pass < 3; pass++) {
        for (int i = 0; i < problem->class_count; i++) {
            if (pass_of(&problem->classes[i]) == pass) {
                plan.row_count += add_rows(problem, i, &configs[i],
                                           &plan.rows[plan.row_count]);
            }
        }
    }
    return plan;
}
