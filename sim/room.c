/*
 * room.c - how many SMs a run may take now.
 *
 * SMs of one rank are alike, so an SM that a channel and a kernel share is one
 * that counts twice: `free_sms` is what there is less what all runs hold, and
 * below 0 by the SMs that are shared. Beside a channel a kernel gets `beside`
 * of the `full` CTAs of its loads (model/occupancy.h), so the channels that are
 * resident leave it
 *
 *     floor(sum over collectives of channels x beside / full)
 *
 * SMs' worth of room, which it may take beyond what is free. Without resources
 * given that is 0, and everything is as if SMs were taken whole. SMs that other
 * kernels share so are not missing from what it may take.
 *
 * A channel is not placed on an SM whose CTAs would have to go first: it takes
 * free SMs, and at once those of running kernels that leave it room with all
 * their CTAs (beside = full); for others it waits until a load ends.
 *
 * Simplified: what shares an SM does not slow each other beyond HBM, L2 and
 * links; channels share no SM among themselves; and once a shared SM's load or
 * channel ends, it does not matter which of the SMs it was.
 */
#include "sim/state.h"

#include "model/occupancy.h"

static struct model_room
room_beside(const struct sim *sim, const struct sim_run *kernel, int collective)
{
    return model_occupancy_room(sim->ranks[kernel->rank].gpu,
                                sim_kernel(sim, kernel),
                                &sim->configs[collective]);
}

/* SMs' worth of room that a kernel finds on the SMs of resident channels. */
static int shared_room(const struct sim *sim, const struct sim_run *kernel)
{
    int room = 0;
    int full = 1;

    for (int run = sim->ranks[kernel->rank].holding; run >= 0;
         run = sim->runs[run].next_holding) {
        struct model_room here = room_beside(sim, kernel, sim->runs[run].op);

        room += sim->runs[run].sms * here.beside;
        full = here.full;
    }
    return room / full;
}

/* SMs that other kernels share with channels, as many as can be. */
static int shared_by_others(const struct sim *sim, const struct sim_run *kernel)
{
    int sum = 0;
    int most = 0;

    for (int i = sim->ranks[kernel->rank].active; i >= 0;
         i = sim->runs[i].next_active) {
        const struct sim_run *other = &sim->runs[i];

        if (other != kernel) {
            int room = shared_room(sim, other);

            sum += other->sms < room ? other->sms : room;
            most = room > most ? room : most;
        }
    }
    return sum < most ? sum : most;
}

int sim_room_kernel(const struct sim *sim, const struct sim_run *run)
{
    int free_sms = sim->ranks[run->rank].free_sms;
    int own;
    int others;

    if (!sim->sharing) {
        return free_sms;
    }
    own = shared_room(sim, run);
    others = shared_by_others(sim, run);
    return free_sms + (own > others ? own : others);
}

int sim_room_collective(const struct sim *sim, const struct sim_run *run)
{
    const struct sim_rank *rank = &sim->ranks[run->rank];
    int unshared = rank->free_sms < 0 ? rank->free_sms : 0;

    if (!sim->sharing) {
        return rank->free_sms;
    }
    for (int other = rank->active; other >= 0;
         other = sim->runs[other].next_active) {
        struct model_room here = room_beside(sim, &sim->runs[other], run->op);

        unshared += here.beside == here.full ? sim->runs[other].sms : 0;
    }
    return (rank->free_sms > 0 ? rank->free_sms : 0) +
           (unshared > 0 ? unshared : 0);
}

void sim_room_hold(struct sim *sim, int run)
{
    struct sim_rank *rank = &sim->ranks[sim->runs[run].rank];

    sim->runs[run].next_holding = rank->holding;
    rank->holding = run;
}

void sim_room_let_go(struct sim *sim, int run)
{
    int *link = &sim->ranks[sim->runs[run].rank].holding;

    while (*link != run) {
        link = &sim->runs[*link].next_holding;
    }
    *link = sim->runs[run].next_holding;
}

int sim_room_shared_max(const struct sim *sim, int rank)
{
    int most = 0;

    for (int run = sim->ranks[rank].active; run >= 0;
         run = sim->runs[run].next_active) {
        int room = shared_room(sim, &sim->runs[run]);

        most = room > most ? room : most;
    }
    return most;
}
