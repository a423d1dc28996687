/*
 * setup.c - from a request to arrays: kernels, configurations, joints,
 * shared resources. Ranks and runs are in setup_runs.c.
 *
 * Faults of single ops are found here, with the place of the op in its file,
 * so that the event loop has none to handle.
 */
#include "sim/state.h"

#include "model/occupancy.h"

#include <limits.h>

/* Equal collectives share one cost. */
struct cost_key {
    int kind;
    int group;
    int instance;
    int shift;
    double bytes;
    struct model_config config;
    const struct model_collective *cost;
    const struct model_collective *family; /* NULL: not made yet */
};

struct setup {
    struct sim *sim;
    struct model_errors *errors;
    struct model_walk *walk;
    double *flows; /* by link; 0 between two ops */
    struct cost_key *keys;
    int key_count;
    int key_room;
    /* What is wrong with all ops of a kind is said once. */
    bool type_reported[MODEL_TYPES];
    bool lowered_reported;
};

static void fault(struct setup *setup,
                  const struct model_op *op,
                  const char *hint,
                  const char *message)
{
    struct model_place place = op->place;

    if (place.file == NULL) {
        if (setup->lowered_reported) {
            return;
        }
        setup->lowered_reported = true;
        place.file = setup->sim->request.workload->label;
    }
    (void)model_errors_add(setup->errors, MODEL_BAD_INPUT, place, op->id, hint,
                           "%s", message);
}

/* A CTA that says what it asks for must fit into an SM. */
static void check_cta(struct setup *setup,
                      const struct model_gpu *gpu,
                      const struct model_kernel *kernel,
                      const struct model_op *op)
{
    struct model_cta cta = model_occupancy_cta(kernel);

    if (kernel->cta_threads == 0) {
        return;
    }
    setup->sim->sharing = true;
    if (model_occupancy(gpu, &cta) == 0) {
        fault(setup, op,
              "write fewer cta_threads, cta_registers or less cta_shared",
              model_arena_format(setup->errors->arena,
                                 "not one of its CTAs fits into an SM of the "
                                 "%s",
                                 gpu->name));
    }
}

/* The kernel of an op on a GPU. */
static void set_kernel(struct setup *setup,
                       const struct model_gpu *gpu,
                       const struct model_op *op,
                       struct model_kernel *kernel)
{

    if (op->kind != MODEL_OP_MEMORY && op->kernel_class != MODEL_CLASS_VECTOR &&
        !(gpu->peak_flops_per_us[op->type] > 0.0)) {
        if (setup->type_reported[op->type]) {
            return;
        }
        setup->type_reported[op->type] = true;
        fault(setup, op,
              model_arena_format(setup->errors->arena,
                                 "choose another type, or give gpu.peak.%s",
                                 model_type_names[op->type]),
              model_arena_format(setup->errors->arena,
                                 "the %s has no peak rate for %s", gpu->name,
                                 model_type_names[op->type]));
        return;
    }
    *kernel = model_op_kernel(op, gpu);
    if (kernel->overflows) {
        fault(setup, op, "write smaller sizes, or several ops",
              "more CTAs than the simulator numbers");
    }
    check_cta(setup, gpu, kernel, op);
}

/* The same on each kind of GPU. */
static void set_kernels(struct setup *setup, int index)
{
    struct sim *sim = setup->sim;
    const struct model_topology *topology = sim->request.topology;

    for (int i = 0; i < model_ranks_gpu_count(topology); i++) {
        set_kernel(setup, model_ranks_gpu_at(topology, i),
                   &sim->request.workload->ops[index],
                   &sim->kernels[i * sim->op_count + index]);
    }
}

/* SMs of the smallest GPU. */
static int least_sm_count(const struct model_topology *topology)
{
    int least = topology->gpu.sm_count;

    for (int i = 1; i < model_ranks_gpu_count(topology); i++) {
        int count = model_ranks_gpu_at(topology, i)->sm_count;

        least = count < least ? count : least;
    }
    return least;
}

/* What to write instead of a configuration that cannot run. */
static const char *config_hint(struct setup *setup, int index)
{
    struct model_arena *arena = setup->errors->arena;
    const struct model_op *op = &setup->sim->request.workload->ops[index];
    enum model_collective_kind kind = model_op_collective(op);
    const struct model_config *config = &setup->sim->configs[index];
    const char *list = NULL;

    if (model_collective_runs(kind, (enum model_algorithm)config->algorithm)) {
        return config->channels >
                           least_sm_count(setup->sim->request.topology) ||
                       config->threads > 1024
                   ? model_arena_format(
                         arena, "at most %d channels and 1024 threads",
                         least_sm_count(setup->sim->request.topology))
                   : "choose another algorithm or protocol";
    }
    for (int i = 0; i < MODEL_ALGORITHMS; i++) {
        if (model_collective_runs(kind, (enum model_algorithm)i)) {
            list = model_arena_format(arena, "%s%s%s", list ? list : "write ",
                                      list ? " or " : "",
                                      model_algorithm_names[i]);
        }
    }
    return list;
}

static const char unfolded_hint[] = "lagom run and explain simulate each rank "
                                    "with --ranks all; searches cannot";

/* One rank can stand for all when every node is like the others. */
static void check_fold(struct setup *setup, const struct model_op *op)
{
    const struct model_group *group =
        &setup->sim->request.workload->groups[op->group];
    int gpus = setup->sim->request.topology->gpus_per_node;

    if (group->ranks != NULL) {
        fault(setup, op, unfolded_hint,
              "a group of chosen ranks cannot be folded into one rank");
    } else if (!model_group_folds(group, gpus)) {
        fault(setup, op, unfolded_hint,
              model_arena_format(setup->errors->arena,
                                 "groups of %d lie unevenly on nodes of %d "
                                 "GPUs and cannot be folded",
                                 group->count, gpus));
    }
}

static void set_config(struct setup *setup, int index)
{
    struct sim *sim = setup->sim;
    const struct model_op *op = &sim->request.workload->ops[index];
    const char *message;

    sim->configs[index] = model_plan_config(
        sim->request.plan, sim->request.workload, op, sim->request.nccl);
    if (!model_config_is_complete(&sim->configs[index])) {
        if (sim->request.nccl != NULL) {
            fault(setup, op, "allow Ring and Simple, as NCCL does by itself",
                  "NCCL_ALGO and NCCL_PROTO leave it no algorithm: NCCL "
                  "fails here");
        } else {
            fault(setup, op,
                  "give algorithm, protocol, transport, channels, threads and "
                  "chunk in the op or a plan",
                  "its configuration is not complete");
        }
        return;
    }
    message = model_collective_fault(
        sim->request.topology, model_op_collective(op), &sim->configs[index]);
    if (message != NULL) {
        fault(setup, op, config_hint(setup, index), message);
    } else if (!sim->request.all_ranks) {
        check_fold(setup, op);
    }
}

/* The group of an instance of a collective; folded: the whole family. */
static struct model_group
instance_group(struct sim *sim, const struct model_op *op, int instance)
{
    const struct model_group *group = &sim->request.workload->groups[op->group];

    return sim->request.all_ranks ? model_group_instance(group, instance)
                                  : *group;
}

static struct cost_key *find_key(struct setup *setup,
                                 const struct cost_key *key)
{
    for (int i = setup->key_count - 1; i >= 0; i--) {
        const struct cost_key *other = &setup->keys[i];

        if (other->kind == key->kind && other->group == key->group &&
            other->instance == key->instance && other->shift == key->shift &&
            model_same(other->bytes, key->bytes) &&
            model_config_equal(&other->config, &key->config)) {
            return &setup->keys[i];
        }
    }
    return NULL;
}

static void keep_key(struct setup *setup, const struct cost_key *key)
{
    setup->keys =
        model_arena_grow(setup->sim->arena, setup->keys, setup->key_count,
                         &setup->key_room, sizeof(*setup->keys));
    setup->keys[setup->key_count++] = *key;
}

/* The key of an instance's cost, made when new. */
static struct cost_key *cost_of(struct setup *setup,
                                int index,
                                int instance,
                                const struct model_group *group)
{
    struct sim *sim = setup->sim;
    const struct model_op *op = &sim->request.workload->ops[index];
    struct cost_key key = {.kind = op->kind,
                           .group = op->group,
                           .instance = instance,
                           .shift = op->shift,
                           .bytes = op->bytes,
                           .config = sim->configs[index]};
    struct cost_key *known = find_key(setup, &key);
    struct model_collective_task task = {.kind = model_op_collective(op),
                                         .size_bytes = op->bytes,
                                         .shift = op->shift,
                                         .group = group,
                                         .config = &sim->configs[index]};
    struct model_collective *cost;

    if (known != NULL) {
        return known;
    }
    cost = model_arena_alloc(sim->arena, sizeof(*cost));
    *cost = model_collective_make(setup->walk, &task);
    if (cost->fault != NULL) {
        fault(setup, op, "choose another algorithm, protocol or group",
              cost->fault);
    }
    key.cost = cost;
    keep_key(setup, &key);
    return &setup->keys[setup->key_count - 1];
}

/* Flows of all joints of an op on each link, or of none (factor 0). */
static void count_flows(struct setup *setup, int index, double factor)
{
    const struct sim *sim = setup->sim;

    for (int j = sim->first_joint[index]; j < sim->first_joint[index + 1];
         j++) {
        const struct model_collective *cost = sim->joints[j].cost;

        for (int i = 0; i < cost->use_count; i++) {
            double *flows = &setup->flows[cost->uses[i].link];

            *flows = factor * (*flows + cost->uses[i].flows);
        }
    }
}

/* A cost with the flows that were counted. */
static const struct model_collective *
with_flows(const struct setup *setup, const struct model_collective *cost)
{
    struct model_arena *arena = setup->sim->arena;
    struct model_collective *family = model_arena_alloc(arena, sizeof(*family));
    struct model_use *uses =
        model_arena_array(arena, (size_t)cost->use_count + 1, sizeof(*uses));

    *family = *cost;
    for (int i = 0; i < cost->use_count; i++) {
        uses[i] = (struct model_use){cost->uses[i].link,
                                     setup->flows[cost->uses[i].link]};
    }
    family->uses = uses;
    return family;
}

static void set_rates(struct setup *setup, struct sim_joint *joint, int key)
{
    struct cost_key *known = &setup->keys[key];

    if (known->family == NULL) {
        known->family = with_flows(setup, joint->cost);
    }
    joint->family = known->family;
    joint->alone_rate = 1.0;
    if (joint->cost->channel_bytes > 0.0) {
        joint->alone_rate = sim_rates_alone(setup->sim, joint);
        joint->fill_us = sim_rates_fill_us(setup->sim, joint);
    }
}

static void set_joints(struct setup *setup, int index)
{
    struct sim *sim = setup->sim;
    const struct model_op *op = &sim->request.workload->ops[index];
    int instances = sim->first_joint[index + 1] - sim->first_joint[index];
    int before = setup->errors->count;
    int *keys = model_arena_array(sim->arena, (size_t)instances, sizeof(*keys));

    /* What is wrong with one group is, mostly, with all: said once. */
    for (int i = 0; i < instances && setup->errors->count == before; i++) {
        struct sim_joint *joint = &sim->joints[sim->first_joint[index] + i];
        struct model_group group = instance_group(sim, op, i);

        joint->op = index;
        joint->limits = -1;
        keys[i] = (int)(cost_of(setup, index, i, &group) - setup->keys);
        joint->cost = setup->keys[keys[i]].cost;
        joint->members =
            sim->request.all_ranks
                ? group
                : (struct model_group){.name = group.name, .count = 1};
        joint->awaited = op->spins ? op->after_count * joint->members.count : 0;
    }
    if (setup->errors->count > before) {
        return;
    }
    count_flows(setup, index, 1.0);
    for (int i = 0; i < instances; i++) {
        set_rates(setup, &sim->joints[sim->first_joint[index] + i], keys[i]);
    }
    count_flows(setup, index, 0.0);
}

/* How many groups of its family each collective has here. */
static void number_joints(struct sim *sim)
{
    const struct model_workload *workload = sim->request.workload;
    int count = 0;

    sim->first_joint = model_arena_array(sim->arena, (size_t)sim->op_count + 1,
                                         sizeof(*sim->first_joint));
    for (int i = 0; i < sim->op_count; i++) {
        const struct model_op *op = &workload->ops[i];

        sim->first_joint[i] = count;
        if (model_op_is_collective(op)) {
            count += sim->request.all_ranks
                         ? model_group_instances(&workload->groups[op->group],
                                                 sim->rank_count)
                         : 1;
        }
    }
    sim->first_joint[sim->op_count] = count;
    sim->joints =
        model_arena_array(sim->arena, (size_t)count + 1, sizeof(*sim->joints));
}

static void set_resources(struct sim *sim)
{
    int count = sim->rank_count + sim->fabric.link_count;

    sim_share_start(&sim->share, sim->arena, count);
    sim->busy = model_arena_array(sim->arena, (size_t)count, sizeof(double));
    sim->link_bytes_per_us = model_arena_array(
        sim->arena, (size_t)sim->fabric.link_count, sizeof(double));
    sim->link_congests = model_arena_array(
        sim->arena, (size_t)sim->fabric.link_count, sizeof(bool));
    for (int link = 0; link < sim->fabric.link_count; link++) {
        sim->link_bytes_per_us[link] =
            model_fabric_link_bytes_per_us(&sim->fabric, link);
        sim->link_congests[link] =
            model_fabric_link_kind(&sim->fabric, link) == MODEL_LINK_PORT_P2P;
    }
    for (int rank = 0; rank < sim->rank_count; rank++) {
        const struct model_gpu *gpu = sim->ranks[rank].gpu;

        sim->share.capacity[rank] = gpu->hbm_bytes_per_us * gpu->hbm_ratio;
    }
}

/* Runs and links are numbered by int. */
static enum model_status check_size(const struct sim *sim,
                                    struct model_errors *errors)
{
    const struct model_topology *topology = sim->request.topology;
    double runs = (double)sim->rank_count * sim->op_count;
    double links = (double)model_fabric_links_of_node(topology) *
                   (sim->request.all_ranks ? topology->node_count : 1);

    if (runs <= INT_MAX && links <= INT_MAX) {
        return MODEL_OK;
    }
    return model_errors_add(
        errors, MODEL_BAD_INPUT, (struct model_place){topology->label, 0, 0},
        NULL, "simulate folded ranks, or fewer of them",
        "too large: %.0f operations, %.0f links", runs, links);
}

/* One rank stands for all only where all are alike. */
static enum model_status check_folding(const struct sim *sim,
                                       struct model_errors *errors)
{
    const struct model_topology *topology = sim->request.topology;

    if (sim->request.all_ranks || !model_ranks_differ(topology)) {
        return MODEL_OK;
    }
    return model_errors_add(
        errors, MODEL_BAD_INPUT, (struct model_place){topology->label, 0, 0},
        topology->mixed.count > 0 ? "mixed" : "variation", unfolded_hint,
        "ranks differ, so that one cannot stand for all");
}

enum model_status sim_setup(struct sim *sim, struct model_errors *errors)
{
    struct setup setup = {.sim = sim, .errors = errors};
    const struct model_workload *workload = sim->request.workload;
    const struct model_topology *topology = sim->request.topology;
    size_t ops = (size_t)workload->op_count;
    int before = errors->count;

    sim->op_count = workload->op_count;
    sim->rank_count =
        sim->request.all_ranks ? model_topology_rank_count(topology) : 1;
    if (check_size(sim, errors) != MODEL_OK ||
        check_folding(sim, errors) != MODEL_OK) {
        return MODEL_BAD_INPUT;
    }
    model_fabric_make(topology, !sim->request.all_ranks, &sim->fabric);
    sim->kernels = model_arena_array(
        sim->arena, ops * (size_t)model_ranks_gpu_count(topology),
        sizeof(*sim->kernels));
    sim->configs = model_arena_array(sim->arena, ops, sizeof(*sim->configs));
    for (int i = 0; i < sim->op_count; i++) {
        if (model_op_is_collective(&workload->ops[i])) {
            set_config(&setup, i);
        } else {
            set_kernels(&setup, i);
        }
    }
    if (errors->count > before) {
        return MODEL_BAD_INPUT;
    }
    number_joints(sim);
    setup.walk = model_walk_new(sim->arena, &sim->fabric);
    setup.flows = model_arena_array(
        sim->arena, (size_t)sim->fabric.link_count + 1, sizeof(double));
    sim_setup_ranks(sim);
    set_resources(sim);
    for (int i = 0; i < sim->op_count; i++) {
        if (model_op_is_collective(&workload->ops[i])) {
            set_joints(&setup, i);
        }
    }
    if (errors->count > before) {
        return MODEL_BAD_INPUT;
    }
    sim_setup_runs(sim);
    sim_cycle_setup(sim);
    sim->moving = -1;
    sim->free_cohort = -1;
    sim_queue_start(&sim->queue, sim->arena);
    return MODEL_OK;
}
