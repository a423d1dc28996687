/*
 * queue.h - pending events in a total order: (time, phase, sequence).
 *
 * Time is integer picoseconds. Within one instant, finishes come before
 * failures, starts and samples; within a phase, first scheduled comes first.
 * An event that is overtaken (the rate of its activity changed) is not removed:
 * its generation no longer matches and the owner skips it.
 */
#ifndef SIM_QUEUE_H
#define SIM_QUEUE_H

#include "model/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum sim_phase { SIM_FINISH, SIM_FAIL, SIM_START, SIM_SAMPLE };

/* What happens to the target. */
enum sim_event_kind {
    SIM_EVENT_LOADS_DONE, /* target: run; a cohort of loads ends */
    SIM_EVENT_MOVED,      /* target: joint; all bytes are moved */
    SIM_EVENT_BEGIN,      /* target: run; the kernel is on the device */
    SIM_EVENT_FILLED      /* target: joint; its pipeline is full */
};

struct sim_event {
    int64_t time_ps;
    uint64_t sequence;
    int phase; /* enum sim_phase */
    int kind;  /* enum sim_event_kind */
    int target;
    uint32_t generation;
};

struct sim_queue {
    struct model_arena *arena;
    struct sim_event *heap;
    int count;
    int room;
    uint64_t next_sequence;
};

void sim_queue_start(struct sim_queue *queue, struct model_arena *arena);

/* Add an event; its sequence is set here. */
void sim_queue_push(struct sim_queue *queue, struct sim_event event);

/* Take the first event; false when there is none. */
bool sim_queue_pop(struct sim_queue *queue, struct sim_event *event);

/* The first event; the queue must not be empty. Valid until the next call. */
const struct sim_event *sim_queue_first(const struct sim_queue *queue);

/* Negative, zero, positive: a before, same as, after b. */
int sim_event_compare(const struct sim_event *a, const struct sim_event *b);

/* The end of simulated time, 46 days; a sum of two such times still fits. */
#define SIM_TIME_MAX_PS INT64_C(4000000000000000000)

/*
 * us to ps, rounded half up; the one place of this conversion. What is longer
 * than the end of time ends there.
 */
int64_t sim_time_ps(double time_us);
double sim_time_us(int64_t time_ps);

#endif
