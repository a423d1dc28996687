/*
 * queue.c - a binary heap in one flat array.
 */
#include "sim/queue.h"

#include <math.h>

void sim_queue_start(struct sim_queue *queue, struct model_arena *arena)
{
    *queue = (struct sim_queue){.arena = arena, .room = 64};
    queue->heap =
        model_arena_array(arena, (size_t)queue->room, sizeof(*queue->heap));
}

int sim_event_compare(const struct sim_event *a, const struct sim_event *b)
{
    if (a->time_ps != b->time_ps) {
        return a->time_ps < b->time_ps ? -1 : 1;
    }
    if (a->phase != b->phase) {
        return a->phase < b->phase ? -1 : 1;
    }
    return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

static bool before(const struct sim_queue *queue, int a, int b)
{
    return sim_event_compare(&queue->heap[a], &queue->heap[b]) < 0;
}

static void swap(struct sim_queue *queue, int a, int b)
{
    struct sim_event event = queue->heap[a];

    queue->heap[a] = queue->heap[b];
    queue->heap[b] = event;
}

void sim_queue_push(struct sim_queue *queue, struct sim_event event)
{
    int child = queue->count;

    queue->heap = model_arena_grow(queue->arena, queue->heap, queue->count,
                                   &queue->room, sizeof(*queue->heap));
    event.sequence = queue->next_sequence++;
    queue->heap[queue->count++] = event;
    while (child > 0 && before(queue, child, (child - 1) / 2)) {
        swap(queue, child, (child - 1) / 2);
        child = (child - 1) / 2;
    }
}

bool sim_queue_pop(struct sim_queue *queue, struct sim_event *event)
{
    int parent = 0;

    if (queue->count == 0) {
        return false;
    }
    *event = queue->heap[0];
    queue->heap[0] = queue->heap[--queue->count];
    for (;;) {
        int least = parent;

        for (int child = 2 * parent + 1;
             child <= 2 * parent + 2 && child < queue->count; child++) {
            if (before(queue, child, least)) {
                least = child;
            }
        }
        if (least == parent) {
            return true;
        }
        swap(queue, parent, least);
        parent = least;
    }
}

const struct sim_event *sim_queue_first(const struct sim_queue *queue)
{
    return &queue->heap[0];
}

int64_t sim_time_ps(double time_us)
{
    double time_ps = floor(time_us * 1e6 + 0.5);

    return time_ps < (double)SIM_TIME_MAX_PS ? (int64_t)time_ps
                                             : SIM_TIME_MAX_PS;
}

double sim_time_us(int64_t time_ps)
{
    return (double)time_ps / 1e6;
}
