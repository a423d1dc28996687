/*
 * window_beside.c - a step function: what is held from one change to the next.
 *
 * A collective holds its SMs from residence to its end; it moves data, and
 * takes L2 and HBM evenly, at the end of that time.
 */
#include "sim/window_beside.h"

#include <math.h>
#include <stdlib.h>

/* From from_us to the next level. */
struct level {
    double from_us;
    double sms;
    double footprint_bytes;
    double hbm_bytes_per_us;
    int moving;                        /* collectives */
    const struct model_config *config; /* of the last that came, or NULL */
};

struct sim_beside {
    struct level *levels;
    int count;
};

static int compare(const void *left, const void *right)
{
    const struct level *a = left;
    const struct level *b = right;

    return (a->from_us > b->from_us) - (a->from_us < b->from_us);
}

static void add_changes(struct sim_beside *beside,
                        const struct sim_op_result *op)
{
    const struct sim_move *move = op->move;
    double moved_us = fmax(move->moving_us, 0.0);
    struct level moves = {.from_us = op->end_us - moved_us,
                          .footprint_bytes = move->footprint_bytes,
                          .hbm_bytes_per_us = move->hbm_bytes / moved_us,
                          .moving = 1};
    struct level holds = {.from_us = op->run_us + op->lost.sm,
                          .sms = op->mean_sms,
                          .config = &op->config};

    beside->levels[beside->count++] = holds;
    beside->levels[beside->count++] =
        (struct level){.from_us = op->end_us, .sms = -holds.sms};
    if (moved_us > 0.0) {
        beside->levels[beside->count++] = moves;
        beside->levels[beside->count++] =
            (struct level){.from_us = op->end_us,
                           .footprint_bytes = -moves.footprint_bytes,
                           .hbm_bytes_per_us = -moves.hbm_bytes_per_us,
                           .moving = -1};
    }
}

/* From changes to what holds after each. */
static void add_up(struct sim_beside *beside)
{
    qsort(beside->levels, (size_t)beside->count, sizeof(*beside->levels),
          compare);
    for (int i = 1; i < beside->count; i++) {
        const struct level *before = &beside->levels[i - 1];
        struct level *level = &beside->levels[i];

        level->sms += before->sms;
        level->footprint_bytes += before->footprint_bytes;
        level->hbm_bytes_per_us += before->hbm_bytes_per_us;
        level->moving += before->moving;
        if (level->config == NULL) {
            level->config = before->config;
        }
    }
}

const struct sim_beside *sim_beside_make(struct model_arena *arena,
                                         const struct sim_result *result,
                                         int op_count)
{
    struct sim_beside *beside = model_arena_alloc(arena, sizeof(*beside));
    size_t collectives = 0;

    for (int i = 0; i < op_count; i++) {
        collectives += result->ops[i].move != NULL ? 1 : 0;
    }
    beside->levels =
        model_arena_array(arena, 4 * collectives + 1, sizeof(*beside->levels));
    for (int i = 0; i < op_count; i++) {
        if (result->ops[i].move != NULL) {
            add_changes(beside, &result->ops[i]);
        }
    }
    add_up(beside);
    return beside;
}

/* The last level that begins at or before a time, or the first of all. */
static int level_at(const struct sim_beside *beside, double time_us)
{
    int low = 0;
    int high = beside->count;

    while (high - low > 1) {
        int middle = low + (high - low) / 2;

        if (beside->levels[middle].from_us <= time_us) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

struct sim_beside_view
sim_beside_look(const struct sim_beside *beside, double from_us, double to_us)
{
    struct sim_beside_view view = {.moving_us = 0.0};

    for (int i = level_at(beside, from_us);
         i < beside->count && beside->levels[i].from_us < to_us; i++) {
        const struct level *level = &beside->levels[i];
        double end_us =
            i + 1 < beside->count ? level[1].from_us : level->from_us;
        double seen_us = fmin(end_us, to_us) - fmax(level->from_us, from_us);

        if (seen_us > 0.0) {
            view.moving_us += level->moving > 0 ? seen_us : 0.0;
            view.hbm_bytes +=
                level->moving > 0 ? level->hbm_bytes_per_us * seen_us : 0.0;
            if (level->sms > view.most_sms) {
                view.most_sms = level->sms;
                view.config = level->config;
            }
            view.most_footprint_bytes =
                fmax(view.most_footprint_bytes, level->footprint_bytes);
        }
    }
    return view;
}
