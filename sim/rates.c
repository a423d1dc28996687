/*
 * rates.c - how fast everything runs between two events.
 *
 * Running kernels and moving collectives are the activities of one max-min
 * problem over the HBM of each rank and the links of the fabric. A kernel of s
 * SMs is s equal flows of HBM bytes, a collective one flow of wire bytes per
 * channel. Fairness is between these flows: between channels on links; in HBM a
 * channel may take its traffic for each wire byte that an SM takes for itself,
 * since its peers and NICs ask for it too.
 *
 * A load of a kernel takes max(arithmetic, bytes / its share of HBM): the cap
 * of its rate is the arithmetic (and what one SM can move), the share gives
 * the rest. Rates are constant between two solves; progress is brought up to
 * date only where it is needed.
 */
#include "sim/state.h"

#include "model/collective_time.h"

#include <math.h>

enum { LEAST_LOAD_PS = 1 };

static int hbm_resource(int rank)
{
    return rank;
}

static int link_resource(const struct sim *sim, int link)
{
    return sim->rank_count + link;
}

static double hbm_bytes_per_us(const struct model_gpu *gpu)
{
    return gpu->hbm_bytes_per_us * gpu->hbm_ratio;
}

/* -- progress -- */

void sim_rates_sync_run(struct sim *sim, struct sim_run *run)
{
    double elapsed_us = sim_time_us(sim->now_ps - run->progress_ps);
    double loads = run->rate * elapsed_us;

    run->progress_ps = sim->now_ps;
    run->sm_us += elapsed_us * (double)run->sms;
    if (!(elapsed_us > 0.0) || !(run->rate > 0.0)) {
        return;
    }
    run->progress += loads;
    run->hbm_bytes += loads * (double)run->sms * run->load_bytes;
    run->lost.l2 += loads * (run->l2_us - run->alone_us);
    run->lost.hbm += elapsed_us - loads * run->l2_us;
}

/* What has set the rate of a joint since it was synced. */
static void
note_limit(struct sim *sim, struct sim_joint *joint, double elapsed_us)
{
    for (int i = joint->limits; i >= 0; i = sim->limits[i].next) {
        if (sim->limits[i].resource == joint->bound_by) {
            sim->limits[i].us += elapsed_us;
            return;
        }
    }
    sim->limits = model_arena_grow(sim->arena, sim->limits, sim->limit_count,
                                   &sim->limit_room, sizeof(*sim->limits));
    sim->limits[sim->limit_count] =
        (struct sim_limit){joint->bound_by, elapsed_us, joint->limits};
    joint->limits = sim->limit_count++;
}

void sim_rates_sync_joint(struct sim *sim, struct sim_joint *joint)
{
    double elapsed_us = sim_time_us(sim->now_ps - joint->moved_ps);
    double bytes = joint->rate * elapsed_us;
    double lost_us = elapsed_us - bytes / joint->alone_rate;

    joint->moved_ps = sim->now_ps;
    if (!joint->moving || !(elapsed_us > 0.0)) {
        return;
    }
    joint->moved_bytes += bytes;
    note_limit(sim, joint, elapsed_us);
    for (int i = 0; i < joint->members.count; i++) {
        struct sim_lost *lost =
            &sim_run_of(sim, model_group_rank(&joint->members, i), joint->op)
                 ->lost;

        if (joint->bound_by == SIM_SHARE_CAP) {
            lost->l2 += lost_us;
        } else if (joint->bound_by < sim->rank_count) {
            lost->hbm += lost_us;
        } else {
            lost->link += lost_us;
        }
    }
}

void sim_rates_schedule_run(struct sim *sim, int run)
{
    struct sim_run *self = &sim->runs[run];
    double finish = HUGE_VAL;

    self->generation++;
    if (self->cohorts < 0 || !(self->rate > 0.0)) {
        return;
    }
    for (int i = self->cohorts; i >= 0; i = sim->cohorts[i].next) {
        finish = fmin(finish, sim->cohorts[i].finish);
    }
    sim_queue_push(
        &sim->queue,
        (struct sim_event){
            .time_ps =
                self->progress_ps +
                sim_time_ps(fmax(finish - self->progress, 0.0) / self->rate),
            .phase = SIM_FINISH,
            .kind = SIM_EVENT_LOADS_DONE,
            .target = run,
            .generation = self->generation});
}

static void schedule_joint(struct sim *sim, struct sim_joint *joint)
{
    double left = joint->cost->channel_bytes - joint->moved_bytes;

    joint->generation++;
    sim_queue_push(&sim->queue,
                   (struct sim_event){
                       .time_ps = joint->moved_ps +
                                  sim_time_ps(fmax(left, 0.0) / joint->rate),
                       .phase = SIM_FINISH,
                       .kind = SIM_EVENT_MOVED,
                       .target = (int)(joint - sim->joints),
                       .generation = joint->generation});
}

/* -- the sharing problem -- */

/* Share of its L2 reuse that a kernel keeps on a rank. */
static double l2_share(const struct sim *sim, const struct sim_run *run)
{
    const struct sim_rank *rank = &sim->ranks[run->rank];

    return model_l2_share(rank->gpu->l2_bytes,
                          sim_kernel(sim, run)->working_set_bytes,
                          rank->footprint_bytes);
}

static double load_us(const struct sim *sim,
                      const struct sim_run *run,
                      double bytes,
                      double sms)
{
    const struct model_gpu *gpu = sim->ranks[run->rank].gpu;
    double arithmetic_us = sim_kernel(sim, run)->load_us * run->load_scale;
    double memory_us =
        fmax(bytes / gpu->sm_bytes_per_us, bytes * sms / hbm_bytes_per_us(gpu));

    /* The least grows with a rank's slowness, as all its work does. */
    return fmax(fmax(arithmetic_us, memory_us),
                sim_time_us(LEAST_LOAD_PS) * fmax(run->work_ratio, 1.0));
}

static void add_run(struct sim *sim, struct sim_run *run)
{
    const struct model_kernel *kernel = sim_kernel(sim, run);
    double alone_bytes = kernel->load_bytes * run->load_scale;
    double bytes =
        model_kernel_load_bytes(kernel, l2_share(sim, run)) * run->load_scale;
    double cap = 1.0 / load_us(sim, run, bytes, 0.0);

    run->load_bytes = bytes;
    run->alone_us = load_us(sim, run, alone_bytes, (double)run->sms);
    run->l2_us = load_us(sim, run, bytes, (double)run->sms);
    if (bytes > 0.0) {
        (void)sim_share_add(&sim->share, cap, 1.0 / bytes);
        sim_share_use(&sim->share, hbm_resource(run->rank),
                      bytes * (double)run->sms);
    } else {
        (void)sim_share_add(&sim->share, cap, 1.0);
    }
}

/* Whether a kernel beside the collective streams data through L2. */
static bool is_crowded(const struct sim *sim, const struct sim_joint *joint)
{
    for (int i = 0; i < joint->members.count; i++) {
        int rank = model_group_rank(&joint->members, i);

        for (int run = sim->ranks[rank].active; run >= 0;
             run = sim->runs[run].next_active) {
            if (sim->runs[run].load_bytes > 0.0) {
                return true;
            }
        }
    }
    return false;
}

/* After the runs. */
static void add_joint(struct sim *sim, const struct sim_joint *joint)
{
    const struct model_collective *cost = joint->cost;
    bool crowded = is_crowded(sim, joint);
    double hbm = (double)cost->channels *
                 (crowded ? cost->crowded_hbm_ratio : cost->hbm_ratio);

    (void)sim_share_add(
        &sim->share,
        crowded ? cost->crowded_bytes_per_us : cost->channel_bytes_per_us, 1.0);
    for (int i = 0; i < joint->members.count; i++) {
        sim_share_use(&sim->share,
                      hbm_resource(model_group_rank(&joint->members, i)), hbm);
    }
    for (int i = 0; i < cost->use_count; i++) {
        sim_share_use(&sim->share, link_resource(sim, cost->uses[i].link),
                      cost->uses[i].flows);
    }
}

/* Rate of a link with bytes in flight on it. */
static double
congested_bytes_per_us(const struct sim *sim, int link, double in_flight_bytes)
{
    double rate = sim->link_bytes_per_us[link];

    return sim->link_congests[link]
               ? model_pcie_congested_bytes_per_us(&sim->request.topology->pcie,
                                                   rate, in_flight_bytes)
               : rate;
}

/* Capacities of the links that are in use, by what is in flight. */
static void set_capacities(struct sim *sim)
{
    for (int j = sim->moving; j >= 0; j = sim->joints[j].next_moving) {
        const struct model_collective *cost = sim->joints[j].cost;

        for (int i = 0; i < cost->use_count; i++) {
            sim->share.capacity[link_resource(sim, cost->uses[i].link)] = 0.0;
        }
    }
    for (int j = sim->moving; j >= 0; j = sim->joints[j].next_moving) {
        const struct model_collective *cost = sim->joints[j].cost;

        for (int i = 0; i < cost->use_count; i++) {
            sim->share.capacity[link_resource(sim, cost->uses[i].link)] +=
                cost->uses[i].flows * cost->in_flight_bytes;
        }
    }
    for (int i = 0; i < sim->share.touched_count; i++) {
        int resource = sim->share.touched[i];

        if (resource >= sim->rank_count) {
            sim->share.capacity[resource] = congested_bytes_per_us(
                sim, resource - sim->rank_count, sim->share.capacity[resource]);
        }
    }
}

/* What links and memory of a joint's ranks would give its family alone. */
static double shared_rate(const struct sim *sim, const struct sim_joint *joint)
{
    double hbm = HUGE_VAL;

    for (int i = 0; i < joint->members.count; i++) {
        int rank = model_group_rank(&joint->members, i);

        hbm = fmin(hbm, hbm_bytes_per_us(sim->ranks[rank].gpu));
    }
    return model_collective_shared_bytes_per_us(joint->family, &sim->fabric,
                                                hbm);
}

double sim_rates_alone(const struct sim *sim, const struct sim_joint *joint)
{
    return fmin(joint->cost->channel_bytes_per_us, shared_rate(sim, joint));
}

double sim_rates_fill_us(const struct sim *sim, const struct sim_joint *joint)
{
    return model_collective_fill_us(joint->cost, joint->alone_rate,
                                    shared_rate(sim, joint));
}

/* What was used since the last solve. */
void sim_rates_account(struct sim *sim)
{
    double elapsed_us = sim_time_us(sim->now_ps - sim->solved_ps);

    for (int i = 0; i < sim->share.touched_count; i++) {
        int resource = sim->share.touched[i];

        sim->busy[resource] += elapsed_us * sim->share.used[resource] /
                               sim->share.capacity[resource];
    }
    sim->solved_ps = sim->now_ps;
}

/* Chunks of moving collectives in each rank's L2. */
static void set_footprints(struct sim *sim)
{
    for (int rank = 0; rank < sim->rank_count; rank++) {
        sim->ranks[rank].footprint_bytes = 0.0;
    }
    for (int j = sim->moving; j >= 0; j = sim->joints[j].next_moving) {
        const struct model_group *members = &sim->joints[j].members;

        for (int i = 0; i < members->count; i++) {
            sim->ranks[model_group_rank(members, i)].footprint_bytes +=
                sim->joints[j].cost->footprint_bytes;
        }
    }
}

/* A kernel's new rate; its next end moves with it. */
static void set_run_rate(struct sim *sim, int run, double rate)
{
    struct sim_run *self = &sim->runs[run];

    self->rate = rate;
    sim_rates_schedule_run(sim, run);
}

static void set_joint_rate(struct sim *sim,
                           struct sim_joint *joint,
                           double rate,
                           int bound_by)
{
    joint->rate = rate;
    joint->bound_by = bound_by;
    schedule_joint(sim, joint);
}

void sim_rates_update(struct sim *sim)
{
    int activity = 0;

    sim_rates_account(sim);
    sim_share_clear(&sim->share);
    set_footprints(sim);
    for (int rank = 0; rank < sim->rank_count; rank++) {
        for (int run = sim->ranks[rank].active; run >= 0;
             run = sim->runs[run].next_active) {
            sim_rates_sync_run(sim, &sim->runs[run]);
            add_run(sim, &sim->runs[run]);
        }
    }
    for (int j = sim->moving; j >= 0; j = sim->joints[j].next_moving) {
        sim_rates_sync_joint(sim, &sim->joints[j]);
        add_joint(sim, &sim->joints[j]);
    }
    set_capacities(sim);
    sim_share_solve(&sim->share);
    for (int rank = 0; rank < sim->rank_count; rank++) {
        for (int run = sim->ranks[rank].active; run >= 0;
             run = sim->runs[run].next_active) {
            set_run_rate(sim, run, sim->share.rate[activity++]);
        }
    }
    for (int j = sim->moving; j >= 0; j = sim->joints[j].next_moving) {
        set_joint_rate(sim, &sim->joints[j], sim->share.rate[activity],
                       sim->share.bound_by[activity]);
        activity++;
    }
    sim->dirty = false;
}
