/*
 * result.c - what a finished simulation tells, and why an unfinished one is
 * stuck.
 */
#include "sim/state.h"

#include "model/collective_time.h"

#include <stdio.h>

static struct sim_move move_of(const struct sim *sim,
                               const struct sim_joint *joint)
{
    const struct model_collective *cost = joint->cost;
    double wire_bytes = cost->channel_bytes * (double)cost->channels;
    struct sim_move move = {
        .wire_bytes = wire_bytes,
        .hbm_bytes = wire_bytes * cost->hbm_ratio,
        .footprint_bytes = cost->footprint_bytes,
        .handover_us = model_collective_handover_us(cost, joint->fill_us),
        .limited_by = SIM_LIMITED_BY_CHANNELS};

    if (!(cost->channel_bytes > 0.0)) {
        return (struct sim_move){.limited_by = SIM_LIMITED_BY_CHANNELS};
    }
    for (int i = joint->limits; i >= 0; i = sim->limits[i].next) {
        const struct sim_limit *limit = &sim->limits[i];

        move.moving_us += limit->us;
        if (limit->us > move.limited_us) {
            move.limited_us = limit->us;
            move.limited_by = limit->resource;
        }
    }
    return move;
}

/* By joint. */
static const struct sim_move *collect_moves(const struct sim *sim)
{
    int count = sim->first_joint[sim->op_count];
    struct sim_move *moves =
        model_arena_array(sim->arena, (size_t)count + 1, sizeof(*moves));

    for (int i = 0; i < count; i++) {
        if (sim->joints[i].cost != NULL) {
            moves[i] = move_of(sim, &sim->joints[i]);
        }
    }
    return moves;
}

static struct sim_op_result result_of(const struct sim *sim,
                                      const struct sim_run *run,
                                      const struct sim_move *moves)
{
    struct sim_op_result result = {.op = run->op,
                                   .rank = run->rank,
                                   .start_us = sim_time_us(run->ready_ps),
                                   .run_us = sim_time_us(run->resident_ps),
                                   .end_us = sim_time_us(run->end_ps),
                                   .hbm_bytes = run->hbm_bytes,
                                   .lost = run->lost,
                                   .config = sim->configs[run->op],
                                   .work_ratio = run->work_ratio,
                                   .takes_part = sim_takes_part(sim, run)};

    if (run->end_ps > run->resident_ps) {
        result.mean_sms =
            run->sm_us / sim_time_us(run->end_ps - run->resident_ps);
    }
    if (result.takes_part && model_op_is_collective(sim_op(sim, run))) {
        const struct sim_joint *joint = &sim->joints[sim_joint_of(sim, run)];
        double waiting_us = sim_time_us(joint->started_ps - run->resident_ps);

        /* Resident until the last rank, and all data, are: waiting. */
        result.lost.peer = waiting_us > 0.0 ? waiting_us : 0.0;
        result.run_us = sim_time_us(run->begin_ps);
        result.move = &moves[sim_joint_of(sim, run)];
        result.hbm_bytes = result.move->hbm_bytes;
    }
    return result;
}

double sim_op_mean_us(const struct sim_op_result *op, int repeats)
{
    double handover_us = op->move != NULL ? op->move->handover_us : 0.0;

    return op->end_us - op->start_us -
           handover_us * (double)(repeats - 1) / (double)repeats;
}

/* With what the steps add that are not simulated. */
static double
whole(const struct sim_result *result, double now, double before, double after)
{
    return now + result->steady.extra * (after - before);
}

static double whole_us(const struct sim_result *result,
                       int64_t now,
                       int64_t before,
                       int64_t after)
{
    return whole(result, sim_time_us(now), sim_time_us(before),
                 sim_time_us(after));
}

static void collect_totals(const struct sim *sim, struct sim_result *result)
{
    const struct sim_mark *from = &sim->marks[0];
    const struct sim_mark *to = &sim->marks[1];

    result->iteration_us =
        whole_us(result, sim->now_ps, from->time_ps, to->time_ps);
    result->compute_us =
        whole_us(result, sim->compute_ps, from->compute_ps, to->compute_ps);
    result->comm_us =
        whole_us(result, sim->comm_ps, from->comm_ps, to->comm_ps);
    result->exposed_comm_us =
        whole_us(result, sim->exposed_ps, from->exposed_ps, to->exposed_ps);
}

static void collect_resources(const struct sim *sim, struct sim_result *result)
{
    int count = sim->share.resource_count;
    struct sim_resource_result *resources =
        model_arena_array(sim->arena, (size_t)count + 1, sizeof(*resources));

    for (int i = 0; i < count; i++) {
        double busy_us = sim->busy[i];

        if (result->steady.extra > 0.0) {
            busy_us = whole(result, busy_us, sim->marks[0].busy[i],
                            sim->marks[1].busy[i]);
        }
        if (busy_us > 0.0) {
            resources[result->resource_count++] =
                (struct sim_resource_result){i, busy_us / result->iteration_us};
        }
    }
    result->resources = resources;
}

void sim_collect(const struct sim *sim, struct sim_result *result)
{
    int count = sim->rank_count * sim->op_count;
    struct sim_op_result *ops =
        model_arena_array(sim->arena, (size_t)count + 1, sizeof(*ops));
    const struct sim_move *moves = collect_moves(sim);

    *result = (struct sim_result){.steady = sim_cycle_steady(sim),
                                  .events = sim->events,
                                  .fingerprint = sim->fingerprint,
                                  .rank_count = sim->rank_count,
                                  .op_count = count,
                                  .ops = ops};
    for (int i = 0; i < count; i++) {
        ops[i] = result_of(sim, &sim->runs[i], moves);
    }
    collect_totals(sim, result);
    collect_resources(sim, result);
}

char *sim_resource_name(const struct sim *sim,
                        int resource,
                        char *buffer,
                        size_t buffer_bytes)
{
    if (resource < sim->rank_count) {
        (void)snprintf(buffer, buffer_bytes, "rank%d.hbm", resource);
        return buffer;
    }
    return model_fabric_link_name(&sim->fabric, resource - sim->rank_count,
                                  buffer, buffer_bytes);
}

/* An op that has to be done before this one, or -1. */
static int blocker(const struct sim *sim, const struct sim_run *run)
{
    const struct model_op *op = sim_op(sim, run);

    for (int i = 0; i < op->after_count; i++) {
        if (sim_run_of(sim, run->rank, op->after[i])->state != SIM_DONE) {
            return op->after[i];
        }
    }
    for (int i = run->op - 1; i >= 0; i--) {
        if (sim->request.workload->ops[i].stream == op->stream &&
            sim_run_of(sim, run->rank, i)->state != SIM_DONE) {
            return i;
        }
    }
    return -1;
}

static void report(const struct sim *sim,
                   const struct sim_run *run,
                   struct model_errors *errors)
{
    const struct model_workload *workload = sim->request.workload;
    struct model_place place = {workload->label, 0, 0};
    const char *id = sim_op(sim, run)->id;
    int other = blocker(sim, run);
    int spins_for = sim_op(sim, run)->spins ? other : -1;
    int free_sms = sim->ranks[run->rank].free_sms;
    char reason[256];

    if (run->state == SIM_WAITING && other >= 0) {
        (void)snprintf(reason, sizeof(reason), "waits for %s",
                       workload->ops[other].id);
    } else if (run->state == SIM_PENDING) {
        (void)snprintf(reason, sizeof(reason),
                       "waits for SMs (%d free, %d held)",
                       free_sms > 0 ? free_sms : 0, run->sms);
    } else if (run->state == SIM_RUNNING && spins_for >= 0) {
        (void)snprintf(reason, sizeof(reason), "spins for %s (holds %d SMs)",
                       workload->ops[spins_for].id, run->sms);
    } else if (run->state == SIM_RUNNING) {
        (void)snprintf(reason, sizeof(reason), "is running (holds %d SMs)",
                       run->sms);
    } else {
        (void)snprintf(reason, sizeof(reason), "is on its way to the device");
    }
    (void)model_errors_add(errors, MODEL_STUCK, place, id, NULL,
                           "stuck: rank %d %s", run->rank, reason);
}

void sim_report_stuck(const struct sim *sim, struct model_errors *errors)
{
    int count = sim->rank_count * sim->op_count;

    for (int i = 0; i < count; i++) {
        if (sim->runs[i].state != SIM_DONE) {
            report(sim, &sim->runs[i], errors);
        }
    }
}
