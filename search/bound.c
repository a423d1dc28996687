/*
 * bound.c - longest paths, and sums over resources.
 */
#include "search/bound.h"

#include <math.h>

/* What rounding to a picosecond may take off an op: when it begins, fills or
 * ends, and off longer ones at changes of contention. */
static const double ROUNDING_US = 3e-6;
static const double ROUNDING_RATIO = 1e-9;

/* -- what a collective must move -- */

/* A group as seen from one node; folded, all nodes are alike. */
struct shape {
    double n;         /* members */
    double per_node;  /* of them on a node */
    double instances; /* groups of the family with members on a node */
    bool spans;
};

static struct shape shape_of(const struct search_problem *problem,
                             const struct model_group *group)
{
    int gpus = problem->topology->gpus_per_node;
    struct model_group one = model_group_instance(group, 0);
    int node = model_group_rank(&one, 0) / gpus;
    struct shape shape = {.n = one.count, .instances = 1.0};

    for (int i = 0; i < one.count; i++) {
        shape.per_node += model_group_rank(&one, i) / gpus == node ? 1.0 : 0.0;
    }
    shape.spans = shape.per_node < shape.n;
    if (group->family) {
        shape.instances = floor(gpus / shape.per_node);
    }
    return shape;
}

/* Can a switch reduce and multicast for the ranks? */
static bool may_switch(const struct model_topology *topology)
{
    return topology->nvlink.kind == MODEL_NVLINK_SWITCH &&
           topology->gpu.nvls_ratio > 0.0;
}

/* Bytes into a part of k of n members, in the mean of all such parts. */
static double
bytes_into(const struct model_op *op, double n, double k, bool switched)
{
    double rest_bytes = (n - k) / n * op->bytes;

    switch (model_op_collective(op)) {
    case MODEL_ALL_GATHER:
    case MODEL_REDUCE_SCATTER:
        return n > k ? (n - 1.0) / n * op->bytes : 0.0;
    case MODEL_ALL_TO_ALL:
        return k * rest_bytes;
    case MODEL_ALL_REDUCE:
        return switched && n > k ? op->bytes : 2.0 * rest_bytes;
    case MODEL_BROADCAST:
    case MODEL_REDUCE:
        return n > k ? op->bytes : 0.0;
    case MODEL_SEND_RECV:
    case MODEL_SEND: /* the two may be in one part */
    case MODEL_RING_STEP:
    case MODEL_COLLECTIVE_KINDS:
        break;
    }
    return 0.0;
}

/* Bytes into a GPU: the same, where pairs of GPUs matter, too. */
static double bytes_into_gpu(const struct search_problem *problem,
                             const struct model_op *op,
                             double n)
{
    bool pairs = model_op_collective(op) == MODEL_SEND ||
                 model_op_collective(op) == MODEL_SEND_RECV;
    int shift = op->shift == 0 ? 1 : op->shift;

    if (pairs) {
        return shift % (int)n != 0 ? op->bytes : 0.0;
    }
    return bytes_into(op, n, 1.0, may_switch(problem->topology));
}

/* Does each rank get as much? Of the others one does, and maybe no other. */
static bool is_even(const struct model_op *op)
{
    enum model_collective_kind kind = model_op_collective(op);

    return kind != MODEL_BROADCAST && kind != MODEL_REDUCE &&
           kind != MODEL_SEND;
}

/* NVLink into a GPU, of the one that has most. */
static double nvlink_bytes_per_us(const struct model_topology *topology)
{
    const struct model_nvlink *nvlink = &topology->nvlink;
    int gpus = topology->gpus_per_node;
    int most = 0;

    if (nvlink->kind == MODEL_NVLINK_NONE) {
        return 0.0;
    }
    if (nvlink->kind != MODEL_NVLINK_LINKS) {
        return nvlink->bytes_per_us;
    }
    for (int to = 0; to < gpus; to++) {
        int links = 0;

        for (int from = 0; from < gpus; from++) {
            links += nvlink->links[from * gpus + to];
        }
        most = links > most ? links : most;
    }
    return nvlink->bytes_per_us * most;
}

/* PCIe into a GPU for one collective. */
static double
port_bytes_per_us(const struct model_pcie *pcie, bool spans, bool even)
{
    double port = fmax(pcie->p2p_bytes_per_us, pcie->shm_bytes_per_us);

    if (spans) {
        return pcie->bytes_per_us; /* to and from NICs each way by itself */
    }
    return fmin(pcie->bytes_per_us, even ? 0.5 * port : port);
}

static double nics_bytes_per_us(const struct model_topology *topology)
{
    return topology->nics.bytes_per_us * topology->nics.ratio *
           topology->nics.count;
}

/* Bytes of HBM on a rank, in the mean of the ranks. */
static double hbm_bytes(const struct model_op *op, double n)
{
    switch (model_op_collective(op)) {
    case MODEL_ALL_REDUCE:
        return 2.0 * op->bytes;
    case MODEL_ALL_TO_ALL:
        return 2.0 * (n - 1.0) / n * op->bytes;
    default:
        return op->bytes;
    }
}

static double hbm_bytes_per_us(const struct model_gpu *gpu)
{
    return gpu->hbm_bytes_per_us * gpu->hbm_ratio;
}

/*
 * Nothing moves among one, but the memory of a ring_step, nor between ranks
 * that a shift leaves in place.
 */
static bool moves(const struct search_problem *problem,
                  const struct model_op *op,
                  const struct shape *shape)
{
    return op->kind == MODEL_OP_RING_STEP ||
           (shape->n > 1.0 && bytes_into_gpu(problem, op, shape->n) > 0.0);
}

double search_bound_collective_us(const struct search_problem *problem,
                                  const struct model_op *op)
{
    const struct model_topology *topology = problem->topology;
    const struct model_group *group = &problem->workload->groups[op->group];
    struct shape shape = shape_of(problem, group);
    double port = port_bytes_per_us(&topology->pcie, shape.spans, is_even(op));
    double least_us;

    if (!moves(problem, op, &shape) ||
        !model_group_folds(group, topology->gpus_per_node)) {
        return 0.0;
    }
    least_us = hbm_bytes(op, shape.n) / hbm_bytes_per_us(&topology->gpu);
    least_us = fmax(least_us, bytes_into_gpu(problem, op, shape.n) /
                                  (nvlink_bytes_per_us(topology) + port));
    if (topology->nvlink.kind == MODEL_NVLINK_PAIRS && !shape.spans &&
        is_even(op) && model_same(shape.n, topology->gpus_per_node)) {
        least_us =
            fmax(least_us, bytes_into(op, shape.n, 2.0, false) / (2.0 * port));
    }
    if (shape.spans) {
        double bytes = bytes_into(op, shape.n, shape.per_node, false);

        least_us = fmax(least_us,
                        shape.instances * bytes / nics_bytes_per_us(topology));
    }
    return least_us;
}

/* -- the longest path -- */

struct search_bound {
    const struct search_problem *problem;
    const double *class_us; /* what is known of classes, or NULL */
    double *least_us;       /* by op, whatever is known */
    int *before;            /* by op: the one before it on its stream, or -1 */
    double *end_us;
    double sums_us;
};

/* Is the rank that stands for all in an op? */
static bool takes_part(const struct search_problem *problem,
                       const struct model_op *op)
{
    return !model_op_is_collective(op) ||
           model_group_member(&problem->workload->groups[op->group], 0) >= 0;
}

static double least_us(const struct search_problem *problem, int op)
{
    const struct model_op *self = &problem->workload->ops[op];
    struct model_kernel kernel;

    if (model_op_is_collective(self)) {
        return search_bound_collective_us(problem, self);
    }
    kernel = model_op_kernel(self, &problem->topology->gpu);
    return model_kernel_bound_us(&kernel, &problem->topology->gpu);
}

/* The same with what is known of its class. */
static double known_us(const struct search_bound *path, int op)
{
    return path->class_us != NULL && path->problem->class_of[op] >= 0
               ? fmax(path->least_us[op],
                      path->class_us[path->problem->class_of[op]])
               : path->least_us[op];
}

/* When an op ends at the earliest, by when the others do. */
static double end_us(const struct search_bound *path, int op, double issue_us)
{
    const struct search_problem *problem = path->problem;
    const struct model_op *self = &problem->workload->ops[op];
    double awaited_us = 0.0;
    double begin_us = self->start_us;

    for (int i = 0; i < self->after_count; i++) {
        awaited_us = fmax(awaited_us, path->end_us[self->after[i]]);
    }
    if (path->before[op] >= 0) {
        begin_us = fmax(begin_us, path->end_us[path->before[op]]);
    }
    begin_us = self->spins ? begin_us : fmax(begin_us, awaited_us);
    if (!takes_part(problem, self)) {
        return begin_us;
    }
    if (problem->workload->cycle.repeats < 2) {
        begin_us = fmax(begin_us, issue_us);
    }
    begin_us += problem->topology->gpu.launch_us;
    return fmax(begin_us, awaited_us) + known_us(path, op) - ROUNDING_US;
}

/* One pass over the ops; true when an end moved. Ops are mostly listed in the
 * order in which they run, and then a second pass moves none. */
static bool extend(struct search_bound *path)
{
    const struct model_workload *workload = path->problem->workload;
    double issue_us = 0.0;
    bool moved = false;

    for (int i = 0; i < workload->op_count; i++) {
        double us = end_us(path, i, issue_us);

        moved = moved || us > path->end_us[i];
        path->end_us[i] = us;
        issue_us += takes_part(path->problem, &workload->ops[i])
                        ? path->problem->topology->gpu.issue_us
                        : 0.0;
    }
    return moved;
}

/* When all of some ops have ended. */
static double last_end_us(const struct search_bound *path, int first, int end)
{
    double last_us = 0.0;

    for (int i = first; i < end; i++) {
        last_us = fmax(last_us, path->end_us[i]);
    }
    return last_us;
}

/* What the steps of a cycle add that are not listed. */
static double cycle_us(const struct search_bound *path)
{
    const struct model_cycle *cycle = &path->problem->workload->cycle;
    int before = cycle->first - (cycle->end - cycle->first);

    return cycle->repeats > 1
               ? (cycle->repeats - 1.0) *
                     (last_end_us(path, cycle->first, cycle->end) -
                      last_end_us(path, before, cycle->first))
               : 0.0;
}

static double path_us(struct search_bound *path)
{
    int ops = path->problem->workload->op_count;

    for (int i = 0; i < ops; i++) {
        path->end_us[i] = 0.0;
    }
    /* A circle would go on for ever: the simulator reports it. */
    for (int passes = 0; passes <= ops && extend(path); passes++) {
    }
    return last_end_us(path, 0, ops) + cycle_us(path);
}

/* -- sums -- */

/* What one rank's resources must do, us of each alone. */
struct sums {
    double sms, hbm, gpu_links, node_links, launches;
};

static void add_kernel(const struct model_gpu *gpu,
                       const struct model_op *op,
                       double repeats,
                       struct sums *sums)
{
    struct model_kernel kernel = model_op_kernel(op, gpu);
    double load_us =
        fmax(kernel.load_us, kernel.load_bytes / gpu->sm_bytes_per_us);

    sums->sms += repeats * kernel.loads * load_us / gpu->sm_count;
    sums->hbm +=
        repeats * kernel.loads * kernel.load_bytes / hbm_bytes_per_us(gpu);
}

static void add_collective(const struct search_problem *problem,
                           const struct model_op *op,
                           double repeats,
                           struct sums *sums)
{
    const struct model_topology *topology = problem->topology;
    const struct model_group *group = &problem->workload->groups[op->group];
    struct shape shape = shape_of(problem, group);

    if (!moves(problem, op, &shape) || !takes_part(problem, op) ||
        !model_group_folds(group, topology->gpus_per_node)) {
        return;
    }
    sums->hbm +=
        repeats * hbm_bytes(op, shape.n) / hbm_bytes_per_us(&topology->gpu);
    if (is_even(op)) {
        sums->gpu_links +=
            repeats * bytes_into_gpu(problem, op, shape.n) /
            (nvlink_bytes_per_us(topology) + topology->pcie.bytes_per_us);
    }
    if (shape.spans && is_even(op)) {
        sums->node_links += repeats * shape.instances *
                            bytes_into(op, shape.n, shape.per_node, false) /
                            nics_bytes_per_us(topology);
    }
}

static double sums_us(const struct search_problem *problem)
{
    const struct model_workload *workload = problem->workload;
    struct sums sums = {.sms = 0.0};

    for (int i = 0; i < workload->op_count; i++) {
        double repeats = model_workload_repeats(workload, i);

        sums.launches += takes_part(problem, &workload->ops[i])
                             ? repeats * problem->topology->gpu.issue_us
                             : 0.0;
        if (model_op_is_collective(&workload->ops[i])) {
            add_collective(problem, &workload->ops[i], repeats, &sums);
        } else {
            add_kernel(&problem->topology->gpu, &workload->ops[i], repeats,
                       &sums);
        }
    }
    /* The last op begins when all others are launched. */
    sums.launches -= problem->topology->gpu.issue_us;
    return fmax(fmax(fmax(sums.sms, sums.hbm), sums.launches),
                fmax(sums.gpu_links, sums.node_links));
}

struct search_bound *search_bound_new(struct model_arena *arena,
                                      const struct search_problem *problem)
{
    const struct model_workload *workload = problem->workload;
    size_t ops = (size_t)workload->op_count + 1;
    int *tail = model_arena_array(arena, (size_t)workload->stream_count + 1,
                                  sizeof(*tail));
    struct search_bound *self = model_arena_alloc(arena, sizeof(*self));

    *self = (struct search_bound){
        .problem = problem,
        .least_us = model_arena_array(arena, ops, sizeof(double)),
        .before = model_arena_array(arena, ops, sizeof(int)),
        .end_us = model_arena_array(arena, ops, sizeof(double)),
        .sums_us = sums_us(problem)};
    for (int i = 0; i < workload->stream_count; i++) {
        tail[i] = -1;
    }
    for (int i = 0; i < workload->op_count; i++) {
        self->before[i] = tail[workload->ops[i].stream];
        tail[workload->ops[i].stream] = i;
        self->least_us[i] = least_us(problem, i);
    }
    return self;
}

double search_bound_given_us(struct search_bound *self, const double *class_us)
{
    self->class_us = class_us;
    return fmax(path_us(self), self->sums_us) * (1.0 - ROUNDING_RATIO);
}

double search_bound_us(struct model_arena *arena,
                       const struct search_problem *problem)
{
    return search_bound_given_us(search_bound_new(arena, problem), NULL);
}
