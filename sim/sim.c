/*
 * sim.c - the event loop, and the life of an op.
 *
 *     waiting -> launched -> pending -> running -> done
 *
 * waiting until its dependencies and the op before it on its stream are done;
 * launched until the CPU has come to it and the launch latency is over; pending
 * until it gets an SM. All events of one instant are handled before shares
 * are solved again, so simultaneous changes cost one solve.
 */
#include "sim/state.h"

#include <assert.h>
#include <math.h>

enum { EVENT_LIMIT = 1000000000 };

struct sim *sim_new(struct model_arena *arena,
                    const struct sim_request *request,
                    struct model_errors *errors)
{
    struct sim *sim = model_arena_alloc(arena, sizeof(*sim));

    sim->arena = arena;
    sim->request = *request;
    if (sim->request.event_limit == 0) {
        sim->request.event_limit = EVENT_LIMIT;
    }
    return sim_setup(sim, errors) == MODEL_OK ? sim : NULL;
}

void sim_check_invariants(struct sim *sim, bool on)
{
    sim->check = on;
}

/* -- totals of rank 0 -- */

void sim_count_time(struct sim *sim)
{
    int64_t elapsed_ps = sim->now_ps - sim->changed_ps;

    sim->compute_ps += sim->kernels_running > 0 ? elapsed_ps : 0;
    sim->comm_ps += sim->collectives_running > 0 ? elapsed_ps : 0;
    sim->exposed_ps += sim->collectives_running > 0 && sim->kernels_running == 0
                           ? elapsed_ps
                           : 0;
    sim->changed_ps = sim->now_ps;
}

void sim_count(struct sim *sim, const struct sim_run *run, int change)
{
    if (run->rank != 0) {
        return;
    }
    sim_count_time(sim);
    if (model_op_is_collective(sim_op(sim, run))) {
        sim->collectives_running += change;
    } else {
        sim->kernels_running += change;
    }
}

/* -- the life of an op -- */

bool sim_takes_part(const struct sim *sim, const struct sim_run *run)
{
    const struct model_op *op = sim_op(sim, run);

    return !model_op_is_collective(op) ||
           model_group_member(&sim->request.workload->groups[op->group],
                              run->rank) >= 0;
}

/* Dependencies are met: on the device after the CPU and the launch latency. */
static void launch(struct sim *sim, int index)
{
    struct sim_run *run = &sim->runs[index];
    const struct model_op *op = sim_op(sim, run);
    const struct model_gpu *gpu = sim->ranks[run->rank].gpu;
    int64_t start_ps = sim_time_ps(op->start_us);
    int64_t issued_ps = sim_time_ps(gpu->issue_us * (double)run->issue);

    run->state = SIM_LAUNCHED;
    run->ready_ps = sim->now_ps > start_ps ? sim->now_ps : start_ps;
    run->begin_ps = run->ready_ps > issued_ps ? run->ready_ps : issued_ps;
    run->lost.launch = sim_time_us(run->begin_ps - run->ready_ps);
    run->begin_ps += sim_time_ps(gpu->launch_us);
    if (!sim_takes_part(sim, run)) {
        run->begin_ps = run->ready_ps;
        run->lost.launch = 0.0;
    }
    sim_queue_push(&sim->queue, (struct sim_event){.time_ps = run->begin_ps,
                                                   .phase = SIM_START,
                                                   .kind = SIM_EVENT_BEGIN,
                                                   .target = index});
}

static void start_moving(struct sim *sim, int index)
{
    struct sim_joint *joint = &sim->joints[index];

    joint->moving = true;
    joint->moved_ps = sim->now_ps;
    joint->next_moving = sim->moving;
    sim->moving = index;
    sim->dirty = true;
}

static void push_joint(struct sim *sim,
                       int index,
                       enum sim_event_kind kind,
                       double after_us)
{
    sim_queue_push(
        &sim->queue,
        (struct sim_event){.time_ps = sim->now_ps + sim_time_ps(after_us),
                           .phase = SIM_FINISH,
                           .kind = (int)kind,
                           .target = index,
                           .generation = sim->joints[index].generation});
}

/* A collective moves when it is resident everywhere and its data are there. */
static void start_joint(struct sim *sim, int index)
{
    struct sim_joint *joint = &sim->joints[index];

    if (joint->resident < joint->members.count || joint->awaited > 0) {
        return;
    }
    joint->started_ps = sim->now_ps;
    if (!(joint->cost->channel_bytes > 0.0)) {
        push_joint(sim, index, SIM_EVENT_MOVED, 0.0);
    } else if (joint->fill_us > 0.0) {
        push_joint(sim, index, SIM_EVENT_FILLED, joint->fill_us);
    } else {
        start_moving(sim, index);
    }
}

/* An op that a collective spins for on this rank is done. */
static void stop_spinning(struct sim *sim, const struct sim_run *collective)
{
    int index = sim_joint_of(sim, collective);

    if (sim_takes_part(sim, collective)) {
        sim->joints[index].awaited--;
        start_joint(sim, index);
    }
}

static void end_run(struct sim *sim, int index)
{
    struct sim_run *run = &sim->runs[index];
    int base = run->rank * sim->op_count;

    run->state = SIM_DONE;
    run->end_ps = sim->now_ps;
    sim->done_count++;
    sim_cycle_ended(sim, run->op);
    for (int i = sim->first_successor[run->op];
         i < sim->first_successor[run->op + 1]; i++) {
        int next = sim->successors[i];

        if (next < 0) {
            stop_spinning(sim, &sim->runs[base + ~next]);
        } else if (--sim->runs[base + next].waits == 0) {
            launch(sim, base + next);
        }
    }
}

static void finish_run(struct sim *sim, int index)
{
    sim_count(sim, &sim->runs[index], -1);
    end_run(sim, index);
}

void sim_joint_resident(struct sim *sim, int run)
{
    struct sim_run *self = &sim->runs[run];
    int index = sim_joint_of(sim, self);

    self->resident_ps = sim->now_ps;
    self->lost.sm += sim_time_us(sim->now_ps - self->begin_ps);
    sim->joints[index].resident++;
    start_joint(sim, index);
}

static void stop_moving(struct sim *sim, int index)
{
    int *link = &sim->moving;

    if (!sim->joints[index].moving) {
        return;
    }
    while (*link != index) {
        link = &sim->joints[*link].next_moving;
    }
    *link = sim->joints[index].next_moving;
    sim->joints[index].moving = false;
    sim->dirty = true;
}

static void finish_joint(struct sim *sim, int index)
{
    struct sim_joint *joint = &sim->joints[index];

    sim_rates_sync_joint(sim, joint);
    stop_moving(sim, index);
    for (int i = 0; i < joint->members.count; i++) {
        int run =
            model_group_rank(&joint->members, i) * sim->op_count + joint->op;

        sim_sm_release(sim, run);
        finish_run(sim, run);
    }
}

/* -- events -- */

static void handle_begin(struct sim *sim, int index)
{
    struct sim_run *run = &sim->runs[index];

    if (!sim_takes_part(sim, run)) {
        end_run(sim, index);
        return;
    }
    if (model_op_is_collective(sim_op(sim, run))) {
        sim_count(sim, run, 1);
    }
    run->launch = sim->ranks[run->rank].launches++;
    if (model_op_is_collective(sim_op(sim, run)) &&
        sim->joints[sim_joint_of(sim, run)].cost->sms == 0) {
        run->state = SIM_RUNNING;
        sim_joint_resident(sim, index);
        return;
    }
    sim_sm_request(sim, index);
}

static void handle_loads_done(struct sim *sim, int index)
{
    struct sim_run *run = &sim->runs[index];
    double finish = HUGE_VAL;

    sim_rates_sync_run(sim, run);
    for (int i = run->cohorts; i >= 0; i = sim->cohorts[i].next) {
        finish = fmin(finish, sim->cohorts[i].finish);
    }
    run->progress = finish; /* the event is the truth, not the sum */
    if (sim_sm_loads_done(sim, index)) {
        finish_run(sim, index);
    }
}

/* FNV-1a over what happened. */
static void mix(struct sim *sim, uint64_t value)
{
    for (int i = 0; i < 8; i++) {
        sim->fingerprint ^= (value >> (8 * i)) & 0xff;
        sim->fingerprint *= UINT64_C(1099511628211);
    }
}

static bool is_stale(const struct sim *sim, const struct sim_event *event)
{
    switch ((enum sim_event_kind)event->kind) {
    case SIM_EVENT_LOADS_DONE:
        return sim->runs[event->target].generation != event->generation;
    case SIM_EVENT_FILLED:
    case SIM_EVENT_MOVED:
        return sim->joints[event->target].generation != event->generation;
    case SIM_EVENT_BEGIN:
        break;
    }
    return false;
}

static void handle(struct sim *sim, const struct sim_event *event)
{
    sim->events++;
    mix(sim, (uint64_t)event->time_ps);
    mix(sim, (uint64_t)event->kind << 32 | (uint64_t)event->target);
    switch ((enum sim_event_kind)event->kind) {
    case SIM_EVENT_LOADS_DONE:
        handle_loads_done(sim, event->target);
        break;
    case SIM_EVENT_FILLED:
        start_moving(sim, event->target);
        break;
    case SIM_EVENT_MOVED:
        finish_joint(sim, event->target);
        break;
    case SIM_EVENT_BEGIN:
        handle_begin(sim, event->target);
        break;
    }
}

static void check(const struct sim *sim)
{
    assert(sim_sm_check(sim));
    assert(sim_share_check(&sim->share, 1e-9));
    (void)sim;
}

/* Events overtaken by others must not move the clock. */
static void drop_stale(struct sim *sim)
{
    struct sim_event event;

    while (sim->queue.count > 0 &&
           is_stale(sim, sim_queue_first(&sim->queue))) {
        (void)sim_queue_pop(&sim->queue, &event);
    }
}

/* All events of the next instant; false when there is none, or no more time. */
static bool step(struct sim *sim)
{
    struct sim_event event;

    drop_stale(sim);
    if (sim->queue.count == 0) {
        return false;
    }
    sim->now_ps = sim_queue_first(&sim->queue)->time_ps;
    if (sim->now_ps >= SIM_TIME_MAX_PS) {
        return false;
    }
    while (sim->queue.count > 0 &&
           sim_queue_first(&sim->queue)->time_ps == sim->now_ps) {
        (void)sim_queue_pop(&sim->queue, &event);
        if (!is_stale(sim, &event)) {
            handle(sim, &event);
        }
    }
    if (sim->dirty) {
        sim_rates_update(sim);
    }
    if (sim->check) {
        check(sim);
    }
    return true;
}

static void start(struct sim *sim)
{
    sim->fingerprint = UINT64_C(14695981039346656037);
    for (int rank = 0; rank < sim->rank_count; rank++) {
        for (int op = 0; op < sim->op_count; op++) {
            if (sim_run_of(sim, rank, op)->waits == 0) {
                launch(sim, rank * sim->op_count + op);
            }
        }
    }
}

static enum model_status report_too_long(const struct sim *sim,
                                         struct model_errors *errors)
{
    struct model_place place = {sim->request.workload->label, 0, 0};

    return model_errors_add(errors, MODEL_BAD_INPUT, place, NULL,
                            "write smaller sizes or larger rates",
                            "the iteration would take more than 46 days");
}

enum model_status
sim_run(struct sim *sim, struct sim_result *result, struct model_errors *errors)
{
    start(sim);
    while (sim->events < sim->request.event_limit &&
           sim->now_ps < SIM_TIME_MAX_PS && step(sim)) {
    }
    if (sim->now_ps >= SIM_TIME_MAX_PS) {
        return report_too_long(sim, errors);
    }
    if (sim->done_count < sim->rank_count * sim->op_count) {
        sim_report_stuck(sim, errors);
        return MODEL_STUCK;
    }
    sim_count_time(sim);
    sim_collect(sim, result);
    return MODEL_OK;
}
