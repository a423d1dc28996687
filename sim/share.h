/*
 * share.h - who gets how much when activities share resources: max-min
 * fairness with caps, by progressive filling.
 *
 * Activity i runs at rate x_i and takes a_ri x_i of resource r:
 *
 *     x_i <= cap_i            for each activity
 *     sum_i a_ri x_i <= C_r   for each resource
 *
 * All rates rise together as x_i = level * w_i, where w_i makes activities
 * comparable; an activity stops at its cap or when one of its resources is
 * full, the others go on. In the result each activity either has its cap or
 * passes a full resource on which no other has a higher x / w: the max-min
 * certificate, checked by sim_share_check.
 */
#ifndef SIM_SHARE_H
#define SIM_SHARE_H

#include "model/arena.h"

#include <stdbool.h>

enum { SIM_SHARE_CAP = -1 };

struct sim_term {
    int resource;
    double amount; /* a_ri > 0 */
};

/* One problem, reused from solve to solve; flat arrays that grow. */
struct sim_share {
    struct model_arena *arena;
    /* resources */
    double *capacity; /* C_r >= 0 */
    double *used;     /* result: sum of a_ri x_i */
    int resource_count;
    /* activities */
    double *cap;    /* cap_i > 0 */
    double *weight; /* w_i > 0 */
    double *rate;   /* result: x_i */
    int *bound_by;  /* result: resource, or SIM_SHARE_CAP */
    int *first;     /* first term of activity i; first[count] = term count */
    int activity_count;
    int activity_room;
    struct sim_term *terms;
    int term_count;
    int term_room;
    /* work space */
    double *demand;
    bool *fixed;
    int *touched;
    int touched_count;
    bool *is_touched;
};

/* An empty problem over resources; capacities are to be set by the caller. */
void sim_share_start(struct sim_share *share,
                     struct model_arena *arena,
                     int resource_count);

/* Forget all activities; capacities stay. */
void sim_share_clear(struct sim_share *share);

/* Add an activity without terms; returns its index. */
int sim_share_add(struct sim_share *share, double cap, double weight);

/* Let the activity added last take amount per rate of a resource. */
void sim_share_use(struct sim_share *share, int resource, double amount);

/* Fill rate, bound_by and used. */
void sim_share_solve(struct sim_share *share);

/* True when the result is feasible and max-min fair within a relative slack. */
bool sim_share_check(const struct sim_share *share, double slack_ratio);

#endif
