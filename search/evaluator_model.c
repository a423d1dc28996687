/*
 * evaluator_model.c - Lagom's cost model as evaluator: the workload's overlaps
 * (model/overlap.h), each in closed form (model/window_cost.h), one after
 * another. What it cannot run the simulator cannot either, and says why.
 */
#include "search/evaluator.h"

#include "model/overlap.h"
#include "model/window_cost.h"

#include <math.h>

struct model {
    const struct search_problem *problem;
    struct search_simulator simulator; /* for what is wrong with a plan */
    struct model_overlaps overlaps;
    struct model_fabric fabric;
    struct model_kernel *kernels; /* by op */
    int *class_op;                /* by class: its first op */
};

/* What one evaluation works with, in scratch memory. */
struct work {
    const struct model *model;
    struct model_walk *walk;
    struct model_contender *by_class;
    struct model_config *configs;  /* by op: of those with a contender of their
                                      own, by class behind them */
    struct model_contender *by_op; /* of ops without a class */
};

static const struct model_op *op_at(const struct model *model, int op)
{
    return &model->problem->workload->ops[op];
}

/* A collective under a configuration; false when it cannot run. */
static bool set_contender(const struct work *work,
                          int op,
                          const struct model_config *config,
                          struct model_contender *contender)
{
    const struct model *model = work->model;
    const struct search_problem *problem = model->problem;
    const struct model_op *self = op_at(model, op);
    struct model_collective_task task = {
        .kind = model_op_collective(self),
        .size_bytes = self->bytes,
        .shift = self->shift,
        .group = &problem->workload->groups[self->group],
        .config = config};
    struct model_collective collective;

    if (!model_config_is_complete(config) ||
        model_collective_fault(problem->topology, task.kind, config) != NULL) {
        return false;
    }
    collective = model_collective_make(work->walk, &task);
    if (collective.fault != NULL) {
        return false;
    }
    *contender = model_contender_make(&collective, config, &model->fabric,
                                      &problem->topology->gpu);
    return true;
}

/* What the plan gives an op; kept where its contender can borrow it. */
static bool set_planned(const struct work *work,
                        int op,
                        const struct model_plan *plan,
                        struct model_config *config,
                        struct model_contender *contender)
{
    const struct search_problem *problem = work->model->problem;

    *config = model_plan_config(plan, problem->workload, op_at(work->model, op),
                                problem->nccl);
    return set_contender(work, op, config, contender);
}

static bool set_contenders(struct work *work, const struct model_plan *plan)
{
    const struct model *model = work->model;
    const struct search_problem *problem = model->problem;
    int ops = problem->workload->op_count;
    bool runs = true;

    for (int i = 0; runs && i < problem->class_count; i++) {
        runs = set_planned(work, model->class_op[i], plan,
                           &work->configs[ops + i], &work->by_class[i]);
    }
    for (int i = 0; runs && i < ops; i++) {
        if (model_op_is_collective(op_at(model, i)) &&
            problem->class_of[i] < 0) {
            runs =
                set_planned(work, i, plan, &work->configs[i], &work->by_op[i]);
        }
    }
    return runs;
}

static const struct model_contender *contender_of(const struct work *work,
                                                  int op)
{
    int class_index = work->model->problem->class_of[op];

    return class_index >= 0 ? &work->by_class[class_index] : &work->by_op[op];
}

/* One overlap, added to the windows and the iteration. */
static void add_overlap(const struct work *work,
                        const struct model_overlap *overlap,
                        struct model_arena *scratch,
                        struct search_measure *measure)
{
    const struct model *model = work->model;
    const struct search_problem *problem = model->problem;
    const struct model_kernel **kernels = model_arena_array(
        scratch, (size_t)overlap->kernel_count + 1, sizeof(const void *));
    const struct model_contender **collectives = model_arena_array(
        scratch, (size_t)overlap->collective_count + 1, sizeof(const void *));
    double repeats = model_overlap_repeats(problem->workload, overlap);
    double *kernel_us = model_arena_array(
        scratch, (size_t)overlap->kernel_count + 1, sizeof(double));
    struct model_window window = {.gpu = &problem->topology->gpu,
                                  .kernels = kernels,
                                  .kernel_count = overlap->kernel_count,
                                  .collectives = collectives,
                                  .collective_count =
                                      overlap->collective_count};

    for (int i = 0; i < overlap->kernel_count; i++) {
        kernels[i] = &model->kernels[overlap->kernels[i]];
    }
    for (int i = 0; i < overlap->collective_count; i++) {
        int op = overlap->collectives[i];

        collectives[i] = contender_of(work, op);
        if (problem->window_of[op] >= 0) {
            measure->comm_us[problem->window_of[op]] +=
                repeats * collectives[i]->time_us;
        }
    }
    measure->iteration_us +=
        repeats * model_window_cost(&window, kernel_us).z_us;
    for (int i = 0; i < overlap->kernel_count; i++) {
        search_measure_kernel(problem, overlap->kernels[i],
                              repeats * kernel_us[i], measure);
    }
}

static enum model_status evaluate(void *context,
                                  const struct model_plan *plan,
                                  struct search_measure *measure,
                                  struct model_errors *errors)
{
    struct model *model = context;
    const struct search_problem *problem = model->problem;
    struct model_arena *scratch = model->simulator.scratch;
    size_t ops = (size_t)problem->workload->op_count;
    size_t classes = (size_t)problem->class_count;
    const double unknown = (double)NAN;
    struct work work = {.model = model};

    model_arena_reset(scratch);
    work.walk = model_walk_new(scratch, &model->fabric);
    work.by_class =
        model_arena_array(scratch, classes + 1, sizeof(*work.by_class));
    work.by_op = model_arena_array(scratch, ops + 1, sizeof(*work.by_op));
    work.configs =
        model_arena_array(scratch, ops + classes + 1, sizeof(*work.configs));
    if (!set_contenders(&work, plan)) {
        struct search_evaluator simulator = search_simulate(&model->simulator);

        return search_evaluate(&simulator, plan, measure, errors);
    }
    measure->iteration_us = 0.0;
    measure->spread_us = 0.0;
    measure->busy = (struct search_busy){unknown, unknown, unknown};
    for (int i = 0; i < problem->window_count; i++) {
        measure->comm_us[i] = 0.0;
        measure->kernel_us[i] = 0.0;
    }
    for (int i = 0; i < problem->class_count; i++) {
        measure->x_us[i] = work.by_class[i].time_us;
    }
    for (int i = 0; i < model->overlaps.count; i++) {
        add_overlap(&work, &model->overlaps.list[i], scratch, measure);
    }
    return MODEL_OK;
}

static void prepare(struct model *model, struct model_arena *arena)
{
    const struct search_problem *problem = model->problem;
    const struct model_workload *workload = problem->workload;

    model_fabric_make(problem->topology, true, &model->fabric);
    model->overlaps = model_overlaps_make(arena, workload);
    model->kernels = model_arena_array(arena, (size_t)workload->op_count + 1,
                                       sizeof(*model->kernels));
    model->class_op = model_arena_array(arena, (size_t)problem->class_count + 1,
                                        sizeof(*model->class_op));
    for (int i = workload->op_count - 1; i >= 0; i--) {
        const struct model_op *op = &workload->ops[i];

        if (!model_op_is_collective(op)) {
            model->kernels[i] = model_op_kernel(op, &problem->topology->gpu);
        } else if (problem->class_of[i] >= 0) {
            model->class_op[problem->class_of[i]] = i;
        }
    }
}

/* Setting a simulation up finds what is wrong with the workload itself. */
enum model_status search_open_model(struct model_arena *arena,
                                    struct model_arena *scratch,
                                    const struct search_problem *problem,
                                    const struct sim_options *options,
                                    struct search_evaluator *evaluator,
                                    struct model_errors *errors)
{
    struct sim_request request = {.topology = problem->topology,
                                  .workload = problem->workload,
                                  .nccl = problem->nccl};
    struct model *model;

    (void)options;
    model_arena_reset(scratch);
    if (sim_new(scratch, &request, errors) == NULL) {
        return MODEL_BAD_INPUT;
    }
    model = model_arena_alloc(arena, sizeof(*model));
    model->problem = problem;
    model->simulator = (struct search_simulator){problem, scratch};
    prepare(model, arena);
    *evaluator =
        (struct search_evaluator){.evaluate = evaluate, .context = model};
    return MODEL_OK;
}
