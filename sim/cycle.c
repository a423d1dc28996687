/*
 * cycle.c - what the steps that are not simulated add: the step that the
 * workload lists for them, from the end of the one before to its own end.
 */
#include "sim/state.h"

#include <string.h>

/* The mark of an op's step, or NULL. */
static struct sim_mark *mark_of(struct sim *sim, int op)
{
    const struct model_cycle *cycle = &sim->request.workload->cycle;
    int first_before = cycle->first - (cycle->end - cycle->first);

    if (op >= cycle->end || op < first_before) {
        return NULL;
    }
    return &sim->marks[op < cycle->first ? 0 : 1];
}

void sim_cycle_setup(struct sim *sim)
{
    for (int op = 0; op < sim->op_count; op++) {
        struct sim_mark *mark = mark_of(sim, op);

        if (mark != NULL) {
            mark->runs_left += sim->rank_count;
        }
    }
}

void sim_cycle_ended(struct sim *sim, int op)
{
    struct sim_mark *mark = mark_of(sim, op);
    size_t resources = (size_t)sim->share.resource_count;

    if (mark == NULL || --mark->runs_left > 0) {
        return;
    }
    sim_count_time(sim);
    sim_rates_account(sim);
    mark->time_ps = sim->now_ps;
    mark->compute_ps = sim->compute_ps;
    mark->comm_ps = sim->comm_ps;
    mark->exposed_ps = sim->exposed_ps;
    mark->busy =
        model_arena_array(sim->arena, resources + 1, sizeof(*mark->busy));
    if (resources > 0) {
        memcpy(mark->busy, sim->busy, resources * sizeof(*mark->busy));
    }
}

struct sim_steady sim_cycle_steady(const struct sim *sim)
{
    const struct model_cycle *cycle = &sim->request.workload->cycle;

    return cycle->end > cycle->first
               ? (struct sim_steady){.from_us =
                                         sim_time_us(sim->marks[0].time_ps),
                                     .to_us =
                                         sim_time_us(sim->marks[1].time_ps),
                                     .extra = cycle->repeats - 1.0}
               : (struct sim_steady){.extra = 0.0};
}
