/*
 * share.c - progressive filling over the resources that are in use.
 *
 * Each round finds the level at which the next resource fills or the next
 * activity reaches its cap, and fixes the activities this stops. At least one
 * is fixed a round, so there are at most as many rounds as activities.
 */
#include "sim/share.h"

#include <math.h>
#include <string.h>

static void *larger_copy(struct model_arena *arena,
                         const void *items,
                         int count,
                         int room,
                         size_t item_bytes)
{
    void *copy = model_arena_array(arena, (size_t)room, item_bytes);

    if (count > 0) {
        memcpy(copy, items, (size_t)count * item_bytes);
    }
    return copy;
}

void sim_share_start(struct sim_share *share,
                     struct model_arena *arena,
                     int resource_count)
{
    size_t count = (size_t)resource_count;

    *share =
        (struct sim_share){.arena = arena, .resource_count = resource_count};
    share->capacity = model_arena_array(arena, count, sizeof(double));
    share->used = model_arena_array(arena, count, sizeof(double));
    share->demand = model_arena_array(arena, count, sizeof(double));
    share->touched = model_arena_array(arena, count, sizeof(int));
    share->is_touched = model_arena_array(arena, count, sizeof(bool));
    share->first = model_arena_array(arena, 1, sizeof(int));
}

void sim_share_clear(struct sim_share *share)
{
    for (int i = 0; i < share->touched_count; i++) {
        share->is_touched[share->touched[i]] = false;
        share->used[share->touched[i]] = 0.0;
    }
    share->touched_count = 0;
    share->activity_count = 0;
    share->term_count = 0;
    share->first[0] = 0;
}

static void make_room(struct sim_share *share)
{
    int count = share->activity_count;
    int room = share->activity_room;

    if (count < room) {
        return;
    }
    room = room == 0 ? 16 : 2 * room;
    share->cap =
        larger_copy(share->arena, share->cap, count, room, sizeof(double));
    share->weight =
        larger_copy(share->arena, share->weight, count, room, sizeof(double));
    share->rate =
        larger_copy(share->arena, share->rate, count, room, sizeof(double));
    share->bound_by =
        larger_copy(share->arena, share->bound_by, count, room, sizeof(int));
    share->fixed =
        larger_copy(share->arena, share->fixed, count, room, sizeof(bool));
    share->first = larger_copy(share->arena, share->first, count + 1, room + 1,
                               sizeof(int));
    share->activity_room = room;
}

int sim_share_add(struct sim_share *share, double cap, double weight)
{
    int index = share->activity_count;

    make_room(share);
    share->cap[index] = cap;
    share->weight[index] = weight;
    share->activity_count++;
    share->first[index + 1] = share->term_count;
    return index;
}

void sim_share_use(struct sim_share *share, int resource, double amount)
{
    if (share->term_count == share->term_room) {
        share->term_room = share->term_room == 0 ? 64 : 2 * share->term_room;
        share->terms =
            larger_copy(share->arena, share->terms, share->term_count,
                        share->term_room, sizeof(*share->terms));
    }
    share->terms[share->term_count++] = (struct sim_term){resource, amount};
    share->first[share->activity_count] = share->term_count;
    if (!share->is_touched[resource]) {
        share->is_touched[resource] = true;
        share->touched[share->touched_count++] = resource;
    }
}

/* Demand per level of the activities that still rise. */
static void sum_demand(struct sim_share *share)
{
    for (int i = 0; i < share->touched_count; i++) {
        share->demand[share->touched[i]] = 0.0;
    }
    for (int i = 0; i < share->activity_count; i++) {
        for (int j = share->first[i];
             !share->fixed[i] && j < share->first[i + 1]; j++) {
            share->demand[share->terms[j].resource] +=
                share->terms[j].amount * share->weight[i];
        }
    }
}

/* Level at which a resource fills. */
static double full_level(const struct sim_share *share, int resource)
{
    double left = share->capacity[resource] - share->used[resource];

    return share->demand[resource] > 0.0
               ? fmax(left, 0.0) / share->demand[resource]
               : HUGE_VAL;
}

/* The resource that stops an activity first, or SIM_SHARE_CAP. */
static int
first_limit(const struct sim_share *share, int activity, double *level)
{
    int limit = SIM_SHARE_CAP;

    *level = share->cap[activity] / share->weight[activity];
    for (int j = share->first[activity]; j < share->first[activity + 1]; j++) {
        double full = full_level(share, share->terms[j].resource);

        if (full < *level) {
            *level = full;
            limit = share->terms[j].resource;
        }
    }
    return limit;
}

/* The lowest level at which an activity that still rises is stopped. */
static double lowest_level(const struct sim_share *share)
{
    double lowest = HUGE_VAL;

    for (int i = 0; i < share->activity_count; i++) {
        double level;

        if (!share->fixed[i]) {
            (void)first_limit(share, i, &level);
            lowest = fmin(lowest, level);
        }
    }
    return lowest;
}

/*
 * Fix all activities that stop at the level; returns how many. Demand and use
 * stay as they were at the beginning of the round, so the order is no matter.
 */
static int fix_round(struct sim_share *share, double lowest)
{
    int count = 0;

    for (int i = 0; i < share->activity_count; i++) {
        double level;
        int limit;

        if (share->fixed[i]) {
            continue;
        }
        limit = first_limit(share, i, &level);
        if (level <= lowest) {
            share->fixed[i] = true;
            share->bound_by[i] = limit;
            share->rate[i] = limit == SIM_SHARE_CAP ? share->cap[i]
                                                    : level * share->weight[i];
            count++;
        }
    }
    return count;
}

/* What the fixed activities take of each resource. */
static void sum_use(struct sim_share *share)
{
    for (int i = 0; i < share->touched_count; i++) {
        share->used[share->touched[i]] = 0.0;
    }
    for (int i = 0; i < share->activity_count; i++) {
        for (int j = share->first[i];
             share->fixed[i] && j < share->first[i + 1]; j++) {
            share->used[share->terms[j].resource] +=
                share->terms[j].amount * share->rate[i];
        }
    }
}

void sim_share_solve(struct sim_share *share)
{
    int left = share->activity_count;

    for (int i = 0; i < share->activity_count; i++) {
        share->fixed[i] = false;
    }
    while (left > 0) {
        sum_use(share);
        sum_demand(share);
        left -= fix_round(share, lowest_level(share));
    }
    sum_use(share);
}

/* No resource over its capacity. */
static bool is_feasible(const struct sim_share *share, double slack_ratio)
{
    for (int i = 0; i < share->touched_count; i++) {
        int resource = share->touched[i];

        if (share->used[resource] >
            share->capacity[resource] * (1.0 + slack_ratio)) {
            return false;
        }
    }
    return true;
}

/* A full resource on which the activity has the highest level. */
static bool is_stopped_by(const struct sim_share *share,
                          int activity,
                          int resource,
                          double slack_ratio)
{
    double level = share->rate[activity] / share->weight[activity];

    if (share->used[resource] <
        share->capacity[resource] * (1.0 - slack_ratio)) {
        return false;
    }
    for (int i = 0; i < share->activity_count; i++) {
        for (int j = share->first[i]; j < share->first[i + 1]; j++) {
            if (share->terms[j].resource == resource &&
                share->rate[i] / share->weight[i] >
                    level * (1.0 + slack_ratio)) {
                return false;
            }
        }
    }
    return true;
}

bool sim_share_check(const struct sim_share *share, double slack_ratio)
{
    if (!is_feasible(share, slack_ratio)) {
        return false;
    }
    for (int i = 0; i < share->activity_count; i++) {
        bool stopped = share->rate[i] >= share->cap[i] * (1.0 - slack_ratio);

        if (share->rate[i] > share->cap[i] * (1.0 + slack_ratio)) {
            return false;
        }
        for (int j = share->first[i]; !stopped && j < share->first[i + 1];
             j++) {
            stopped =
                is_stopped_by(share, i, share->terms[j].resource, slack_ratio);
        }
        if (!stopped) {
            return false;
        }
    }
    return true;
}
