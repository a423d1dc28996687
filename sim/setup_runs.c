/*
 * setup_runs.c - ranks with their GPUs, the runs of each op on each, and who
 * releases whom.
 */
#include "sim/state.h"

#include "sim/jitter.h"

/* Index of the op before each op on its stream, or -1. */
static int *stream_predecessors(struct sim *sim)
{
    const struct model_workload *workload = sim->request.workload;
    int *before = model_arena_array(sim->arena, (size_t)sim->op_count + 1,
                                    sizeof(*before));
    int *tail = model_arena_array(
        sim->arena, (size_t)workload->stream_count + 1, sizeof(*tail));

    for (int i = 0; i < workload->stream_count; i++) {
        tail[i] = -1;
    }
    for (int i = 0; i < sim->op_count; i++) {
        before[i] = tail[workload->ops[i].stream];
        tail[workload->ops[i].stream] = i;
    }
    return before;
}

/* Who is released by whom, as one flat list. */
static void set_successors(struct sim *sim)
{
    const struct model_workload *workload = sim->request.workload;
    int *before = stream_predecessors(sim);
    size_t count = (size_t)sim->op_count;
    int *first = model_arena_array(sim->arena, count + 2, sizeof(*first));

    /* Count one place later, sum up, then fill: first[i] moves to its end. */
    for (int i = 0; i < sim->op_count; i++) {
        for (int j = 0; j < workload->ops[i].after_count; j++) {
            first[workload->ops[i].after[j] + 2]++;
        }
        if (before[i] >= 0) {
            first[before[i] + 2]++;
        }
    }
    for (int i = 0; i < sim->op_count; i++) {
        first[i + 2] += first[i + 1];
    }
    sim->successors = model_arena_array(
        sim->arena, (size_t)first[sim->op_count + 1] + 1, sizeof(int));
    for (int i = 0; i < sim->op_count; i++) {
        for (int j = 0; j < workload->ops[i].after_count; j++) {
            sim->successors[first[workload->ops[i].after[j] + 1]++] =
                workload->ops[i].spins ? ~i : i;
        }
        if (before[i] >= 0) {
            sim->successors[first[before[i] + 1]++] = i;
        }
    }
    sim->first_successor = first;
    for (int i = 0; i < sim->op_count; i++) {
        const struct model_op *op = &workload->ops[i];

        for (int rank = 0; rank < sim->rank_count; rank++) {
            sim_run_of(sim, rank, i)->waits =
                (op->spins ? 0 : op->after_count) + (before[i] >= 0 ? 1 : 0);
        }
    }
}

/* How many times its usual work a kernel is on a rank. */
static double work_ratio(const struct sim *sim, int rank, int op)
{
    const struct model_topology *topology = sim->request.topology;

    if (model_op_is_collective(&sim->request.workload->ops[op])) {
        return 1.0;
    }
    return model_ranks_slow_ratio(topology, rank) *
           sim_jitter_factor(sim->request.seed, rank, op,
                             topology->variation.jitter_ratio);
}

int sim_joint_of(const struct sim *sim, const struct sim_run *run)
{
    const struct model_op *op = sim_op(sim, run);
    const struct model_group *group = &sim->request.workload->groups[op->group];
    int instance =
        sim->request.all_ranks ? model_group_instance_of(group, run->rank) : 0;

    return sim->first_joint[run->op] + instance;
}

static void set_rank(struct sim *sim, int rank)
{
    const struct model_topology *topology = sim->request.topology;
    size_t kind = (size_t)model_ranks_gpu_index(topology, rank);
    const struct model_gpu *gpu = model_ranks_gpu_at(topology, (int)kind);

    sim->ranks[rank] = (struct sim_rank){
        .gpu = gpu,
        .kernels = sim->kernels + kind * (size_t)sim->op_count,
        .free_sms = gpu->sm_count,
        .pending = -1,
        .active = -1,
        .holding = -1};
}

void sim_setup_ranks(struct sim *sim)
{
    sim->ranks = model_arena_array(sim->arena, (size_t)sim->rank_count,
                                   sizeof(*sim->ranks));
    for (int rank = 0; rank < sim->rank_count; rank++) {
        set_rank(sim, rank);
    }
}

static void set_runs(struct sim *sim)
{
    const struct model_workload *workload = sim->request.workload;

    for (int rank = 0; rank < sim->rank_count; rank++) {
        int issued = 0;

        for (int op = 0; op < sim->op_count; op++) {
            double ratio = work_ratio(sim, rank, op);
            struct sim_run *run = sim_run_of(sim, rank, op);

            *run = (struct sim_run){
                .op = op,
                .rank = rank,
                .issue = issued,
                .priority =
                    workload->streams[workload->ops[op].stream].priority,
                .loads_left = sim->ranks[rank].kernels[op].loads,
                .load_scale = ratio,
                .work_ratio = ratio,
                .cohorts = -1};
            issued += sim_takes_part(sim, run) ? 1 : 0;
        }
    }
}

void sim_setup_runs(struct sim *sim)
{
    sim->runs = model_arena_array(
        sim->arena, (size_t)sim->op_count * (size_t)sim->rank_count,
        sizeof(*sim->runs));
    set_runs(sim);
    set_successors(sim);
}
