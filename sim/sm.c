/*
 * sm.c - who runs on which SM.
 *
 * SMs of one rank are alike, so only their number counts. A run that wants SMs
 * stands in its rank's list, ordered by priority and launch; free SMs go to
 * the first. A computation kernel's SMs form cohorts: SMs whose current load
 * began together and ends together. Progress is counted in loads and rises at
 * the same rate on all SMs of the run, so a cohort is just the value of
 * progress at which it ends, and contention moves all of them alike.
 *
 * How many SMs there are for a run, room.c says: channels and CTAs of a kernel
 * share an SM where its limits allow it. A collective that waits keeps what it
 * got and starts when all its channels have an SM. That NCCL launches clusters
 * of 4 CTAs on sm_90 changes nothing then: four at once or one by one, the last
 * comes at the same time (GPCs, in which a cluster must lie, are not modelled).
 *
 * Identical waves are skipped: while a kernel is first in the list, or only
 * behind kernels at their SM limit, every cohort that ends takes its own SMs
 * again, so whole rounds (one load on every SM) are added to all cohorts at
 * once (`skip_rounds`). As soon as somebody
 * else may want the SMs, rounds not yet begun are given back (`restore`).
 * Cost is thus per change, not per wave of that kernel.
 */
#include "sim/state.h"

#include <math.h>

/* -- the list of runs that want SMs -- */

static bool comes_before(const struct sim_run *a, const struct sim_run *b)
{
    if (a->priority != b->priority) {
        return a->priority > b->priority;
    }
    return a->launch < b->launch;
}

static void insert_pending(struct sim *sim, int run)
{
    struct sim_run *self = &sim->runs[run];
    int *link = &sim->ranks[self->rank].pending;

    if (self->wants_sms) {
        return;
    }
    while (*link >= 0 && comes_before(&sim->runs[*link], self)) {
        link = &sim->runs[*link].next_pending;
    }
    self->next_pending = *link;
    self->wants_sms = true;
    *link = run;
}

static void remove_pending(struct sim *sim, int run)
{
    struct sim_run *self = &sim->runs[run];
    int *link = &sim->ranks[self->rank].pending;

    while (*link != run) {
        link = &sim->runs[*link].next_pending;
    }
    *link = self->next_pending;
    self->wants_sms = false;
}

/* -- cohorts -- */

static int new_cohort(struct sim *sim)
{
    int index = sim->free_cohort;

    if (index >= 0) {
        sim->free_cohort = sim->cohorts[index].next;
        return index;
    }
    sim->cohorts = model_arena_grow(sim->arena, sim->cohorts, sim->cohort_count,
                                    &sim->cohort_room, sizeof(*sim->cohorts));
    return sim->cohort_count++;
}

/* SMs that begin a load now; joins a cohort that ends at the same moment. */
static void add_cohort(struct sim *sim, struct sim_run *run, int sms)
{
    double finish = run->progress + 1.0;
    int index;

    for (index = run->cohorts; index >= 0; index = sim->cohorts[index].next) {
        double gap = sim->cohorts[index].finish - finish;

        if (model_same(gap, 0.0)) {
            sim->cohorts[index].sms += sms;
            return;
        }
    }
    index = new_cohort(sim);
    sim->cohorts[index] = (struct sim_cohort){finish, sms, run->cohorts};
    run->cohorts = index;
}

/*
 * Loads of a cohort that were skipped ahead and have not begun. One that ends
 * at this very instant has: finishes come before whatever asks.
 */
static double not_begun(const struct sim_run *run,
                        const struct sim_cohort *cohort)
{
    double left = cohort->finish - run->progress;
    double ahead = ceil(left) - 1.0;

    if (ahead > 0.0 && run->rate > 0.0 &&
        sim_time_ps((left - ahead) / run->rate) == 0) {
        ahead -= 1.0;
    }
    return ahead;
}

/* Loads on SMs or skipped ahead: give back those that have not begun. */
static void restore(struct sim *sim, int run)
{
    struct sim_run *self = &sim->runs[run];

    sim_rates_sync_run(sim, self);
    for (int i = self->cohorts; i >= 0; i = sim->cohorts[i].next) {
        struct sim_cohort *cohort = &sim->cohorts[i];
        double ahead = not_begun(self, cohort);

        if (ahead > 0.0) {
            cohort->finish -= ahead;
            self->loads_left += (int)ahead * cohort->sms;
        }
    }
    if (self->loads_left > 0) {
        insert_pending(sim, run);
    }
    sim_rates_schedule_run(sim, run);
}

static void restore_all(struct sim *sim, int rank)
{
    for (int run = sim->ranks[rank].active; run >= 0;
         run = sim->runs[run].next_active) {
        restore(sim, run);
    }
}

static int limit_of(const struct sim *sim, const struct sim_run *run)
{
    int limit = sim_kernel(sim, run)->sm_limit;

    return limit > 0 ? limit - run->sms : sim->ranks[run->rank].gpu->sm_count;
}

/* Whole rounds of a kernel that nobody comes before. */
static void skip_rounds(struct sim *sim, int run)
{
    struct sim_run *self = &sim->runs[run];
    int rounds;

    if (self->sms == 0 || self->loads_left < self->sms ||
        sim_room_kernel(sim, self) < 0) {
        return;
    }
    rounds = self->loads_left / self->sms;
    for (int i = self->cohorts; i >= 0; i = sim->cohorts[i].next) {
        sim->cohorts[i].finish += rounds;
    }
    self->loads_left -= rounds * self->sms;
    if (self->loads_left == 0) {
        remove_pending(sim, run);
    }
    sim_rates_schedule_run(sim, run);
}

/*
 * The first in the list, and those behind kernels that have all the SMs they
 * may have: each takes its own SMs again.
 */
static void skip_ahead(struct sim *sim, int rank)
{
    bool sated = true;

    for (int run = sim->ranks[rank].pending; sated && run >= 0;) {
        const struct sim_run *self = &sim->runs[run];
        int next = self->next_pending;

        sated = !model_op_is_collective(sim_op(sim, self));
        if (sated) {
            sated = limit_of(sim, self) <= 0;
            skip_rounds(sim, run);
        }
        run = next;
    }
}

/* -- giving out SMs -- */

/* A stream_k kernel divides its work over the SMs that are free now. */
static void divide_evenly(struct sim_run *run, int sms)
{
    run->load_scale *= (double)run->loads_left / (double)sms;
    run->loads_left = sms;
}

static void start_kernel(struct sim *sim, int run)
{
    struct sim_run *self = &sim->runs[run];
    struct sim_rank *rank = &sim->ranks[self->rank];

    sim_count(sim, self, 1);
    self->state = SIM_RUNNING;
    self->resident_ps = sim->now_ps;
    self->progress_ps = sim->now_ps;
    self->next_active = rank->active;
    rank->active = run;
}

/* SMs that a kernel may take now; none or less: it has to wait. */
static int room_of_kernel(const struct sim *sim, const struct sim_run *run)
{
    int room = sim_room_kernel(sim, run);
    int limit = limit_of(sim, run);

    return room < limit ? room : limit;
}

static void give_kernel(struct sim *sim, int run)
{
    struct sim_run *self = &sim->runs[run];
    struct sim_rank *rank = &sim->ranks[self->rank];
    int sms = room_of_kernel(sim, self);

    if (sms <= 0) {
        return;
    }
    if (self->state == SIM_PENDING) {
        start_kernel(sim, run);
        if (sim_kernel(sim, self)->schedule == MODEL_STREAM_K) {
            divide_evenly(self, sms);
        }
    }
    sms = self->loads_left < sms ? self->loads_left : sms;
    sim_rates_sync_run(sim, self);
    add_cohort(sim, self, sms);
    self->sms += sms;
    self->loads_left -= sms;
    rank->free_sms -= sms;
    sim->dirty = true;
}

static void give_collective(struct sim *sim, int run)
{
    struct sim_run *self = &sim->runs[run];
    int wanted = sim->configs[self->op].channels - self->sms;
    int room = sim_room_collective(sim, self);
    int sms = room < wanted ? room : wanted;

    if (sms > 0 && self->sms == 0) {
        sim_room_hold(sim, run);
    }
    self->sms += sms;
    sim->ranks[self->rank].free_sms -= sms;
}

static bool is_satisfied(const struct sim *sim, const struct sim_run *run)
{
    return model_op_is_collective(&sim->request.workload->ops[run->op])
               ? run->sms == sim->configs[run->op].channels
               : run->loads_left == 0;
}

/* Free SMs of a rank to those that want them. */
static void dispatch(struct sim *sim, int rank)
{
    int run = sim->ranks[rank].pending;

    while (run >= 0 && (sim->ranks[rank].free_sms > 0 || sim->sharing)) {
        int next = sim->runs[run].next_pending;
        bool collective = model_op_is_collective(
            &sim->request.workload->ops[sim->runs[run].op]);

        if (collective) {
            give_collective(sim, run);
        } else {
            give_kernel(sim, run);
        }
        if (is_satisfied(sim, &sim->runs[run])) {
            remove_pending(sim, run);
            if (collective) {
                sim->runs[run].state = SIM_RUNNING;
                sim_joint_resident(sim, run);
            }
        }
        run = next;
    }
    skip_ahead(sim, rank);
}

void sim_sm_request(struct sim *sim, int run)
{
    int rank = sim->runs[run].rank;

    restore_all(sim, rank);
    sim->runs[run].state = SIM_PENDING;
    insert_pending(sim, run);
    dispatch(sim, rank);
}

void sim_sm_release(struct sim *sim, int run)
{
    struct sim_run *self = &sim->runs[run];

    if (self->sms == 0) {
        return; /* copy engines hold none */
    }
    restore_all(sim, self->rank);
    self->sm_us +=
        sim_time_us(sim->now_ps - self->resident_ps) * (double)self->sms;
    sim->ranks[self->rank].free_sms += self->sms;
    self->sms = 0;
    sim_room_let_go(sim, run);
    dispatch(sim, self->rank);
}

static void remove_active(struct sim *sim, int run)
{
    int *link = &sim->ranks[sim->runs[run].rank].active;

    while (*link != run) {
        link = &sim->runs[*link].next_active;
    }
    *link = sim->runs[run].next_active;
}

/* Take the cohorts that end now off the run; returns their SMs. */
static int end_cohorts(struct sim *sim, struct sim_run *run)
{
    int *link = &run->cohorts;
    int sms = 0;

    while (*link >= 0) {
        struct sim_cohort *cohort = &sim->cohorts[*link];
        int index = *link;

        if (cohort->finish > run->progress) {
            link = &cohort->next;
            continue;
        }
        sms += cohort->sms;
        *link = cohort->next;
        cohort->next = sim->free_cohort;
        sim->free_cohort = index;
    }
    return sms;
}

bool sim_sm_loads_done(struct sim *sim, int run)
{
    struct sim_run *self = &sim->runs[run];
    int sms = end_cohorts(sim, self);

    self->sms -= sms;
    sim->ranks[self->rank].free_sms += sms;
    sim->dirty = true;
    if (self->sms == 0 && self->loads_left == 0) {
        remove_active(sim, run);
        restore_all(sim, self->rank);
        dispatch(sim, self->rank);
        return true;
    }
    restore_all(sim, self->rank);
    dispatch(sim, self->rank);
    sim_rates_schedule_run(sim, run);
    return false;
}

/* Does a kernel have loads that wait for an SM? */
static bool is_starved(const struct sim *sim, const struct sim_run *run)
{
    bool waiting = run->loads_left > 0;

    for (int i = run->cohorts; i >= 0; i = sim->cohorts[i].next) {
        waiting = waiting || not_begun(run, &sim->cohorts[i]) > 0.0;
    }
    return waiting;
}

/* No SM is free while a kernel or a collective that waits could use it. */
static bool is_busy(const struct sim *sim, int rank)
{
    for (int run = sim->ranks[rank].pending; run >= 0;
         run = sim->runs[run].next_pending) {
        const struct sim_run *self = &sim->runs[run];
        int room = model_op_is_collective(sim_op(sim, self))
                       ? sim_room_collective(sim, self)
                       : room_of_kernel(sim, self);

        if (room > 0) {
            return false;
        }
    }
    for (int run = sim->ranks[rank].active; run >= 0;
         run = sim->runs[run].next_active) {
        const struct sim_run *self = &sim->runs[run];

        if (is_starved(sim, self) && room_of_kernel(sim, self) > 0) {
            return false;
        }
    }
    return true;
}

bool sim_sm_check(const struct sim *sim)
{
    for (int rank = 0; rank < sim->rank_count; rank++) {
        int free_sms = sim->ranks[rank].free_sms;
        int sum = free_sms;

        for (int op = 0; op < sim->op_count; op++) {
            sum += sim->runs[rank * sim->op_count + op].sms;
        }
        if (sum != sim->ranks[rank].gpu->sm_count || !is_busy(sim, rank) ||
            free_sms < -sim_room_shared_max(sim, rank)) {
            return false;
        }
    }
    return true;
}
