/*
 * descent.c - candidates ahead, by distance and angle.
 *
 * Distances use raw numbers (channels, threads, bytes), as AutoCCL's code
 * does, so chunk bytes dominate the angle.
 */
#include "search/descent.h"

#include <math.h>

enum {
    TOP = SEARCH_DESCENT_TOP,
    RETRIES = 5, /* TUNER_RETRY */
    AXES = 3,
    CHUNKS = 24 /* kept per (channels, threads); see space.h */
};

static const double LEARNING_RATE = 0.8;

static double coordinate(const struct model_config *config, int axis)
{
    switch (axis) {
    case 0:
        return config->channels;
    case 1:
        return config->threads;
    default:
        return config->chunk_bytes;
    }
}

/* All candidates, thinned to CHUNKS chunks each; returns how many. */
static int list_all(struct model_arena *arena,
                    const struct search_space *space,
                    struct model_config **list)
{
    int kinds =
        (space->threads_max - space->threads_min) / SEARCH_THREADS_STEP + 1;
    struct model_config *out = model_arena_array(
        arena, (size_t)space->channels_max * (size_t)kinds * CHUNKS,
        sizeof(*out));
    int count = 0;

    for (int channels = 1; channels <= space->channels_max; channels++) {
        int most = search_space_threads_max(space, channels);

        for (int threads = space->threads_min; threads <= most;
             threads += SEARCH_THREADS_STEP) {
            int chunks = search_space_chunks(space, channels, threads);
            int kept = chunks < CHUNKS ? chunks : CHUNKS;

            for (int i = 1; i <= kept; i++) {
                /* Evenly spread, always with the largest. */
                struct search_candidate at = {
                    channels, threads, (int)((int64_t)chunks * i / kept)};

                out[count++] = search_space_config(space, &at);
            }
        }
    }
    *list = out;
    return count;
}

/* -- candidates ahead -- */

static bool nearer(const struct search_ahead *a, const struct search_ahead *b)
{
    if (a->distance < b->distance || a->distance > b->distance) {
        return a->distance < b->distance;
    }
    if (a->off < b->off || a->off > b->off) {
        return a->off < b->off;
    }
    return a->candidate < b->candidate;
}

static void swap(struct search_ahead *a, struct search_ahead *b)
{
    struct search_ahead kept = *a;

    *a = *b;
    *b = kept;
}

/* Order so that the k nearest come first (quickselect). */
static void select_nearest(struct search_ahead *list, int count, int k)
{
    int low = 0;
    int high = count - 1;

    while (low < high) {
        struct search_ahead pivot = list[low + (high - low) / 2];
        int i = low;
        int j = high;

        while (i <= j) {
            while (nearer(&list[i], &pivot)) {
                i++;
            }
            while (nearer(&pivot, &list[j])) {
                j--;
            }
            if (i <= j) {
                swap(&list[i++], &list[j--]);
            }
        }
        if (k - 1 <= j) {
            high = j;
        } else if (k - 1 >= i) {
            low = i;
        } else {
            return;
        }
    }
}

static int look_ahead(struct search_descent *descent)
{
    const struct model_config *from = &descent->list[descent->current];
    int found = 0;

    for (int i = 0; i < descent->count; i++) {
        double distance;
        double off = 0.0;

        if (descent->tried[i]) {
            continue;
        }
        distance =
            descent->direction * (coordinate(&descent->list[i], descent->axis) -
                                  coordinate(from, descent->axis));
        if (distance <= 0.0) {
            continue;
        }
        for (int axis = 0; axis < AXES; axis++) {
            double part =
                coordinate(&descent->list[i], axis) - coordinate(from, axis);

            off += axis != descent->axis ? part * part : 0.0;
        }
        descent->ahead[found++] = (struct search_ahead){distance, off, i};
    }
    return found;
}

/* Choose up to TOP candidates ahead for the next measurements. */
static void survey(struct search_descent *descent)
{
    int found = look_ahead(descent);
    int nearest = (int)(descent->step * (double)found);

    nearest = nearest < TOP ? TOP : nearest;
    nearest = nearest > found ? found : nearest;
    descent->batch_count = 0;
    descent->batch_next = 0;
    descent->batch_best = -1;
    descent->batch_best_us = HUGE_VAL;
    select_nearest(descent->ahead, found, nearest);
    if (nearest > TOP) {
        /* The three farthest of the k nearest. */
        select_nearest(descent->ahead, nearest, nearest - TOP);
    }
    for (int i = nearest > TOP ? nearest - TOP : 0; i < nearest; i++) {
        descent->batch[descent->batch_count++] = descent->ahead[i].candidate;
    }
}

/* -- the descent -- */

static void
start_descent(struct search_descent *descent, int from, double from_us)
{
    descent->current = from;
    descent->current_us = from_us;
    descent->axis = 0;
    descent->direction = 1;
    descent->failures = 0;
    descent->step = 0.0;
    descent->batch_count = 0;
    descent->batch_next = 0;
}

/* A batch brought nothing: other direction, then next axis. */
static void turn(struct search_descent *descent)
{
    descent->failures++;
    descent->step = 0.0;
    if (descent->direction > 0) {
        descent->direction = -1;
    } else {
        descent->direction = 1;
        descent->axis = (descent->axis + 1) % AXES;
    }
}

static void judge_batch(struct search_descent *descent)
{
    if (descent->batch_best >= 0 &&
        descent->batch_best_us < descent->current_us) {
        descent->step = LEARNING_RATE *
                        (descent->current_us - descent->batch_best_us) /
                        descent->current_us;
        descent->current = descent->batch_best;
        descent->current_us = descent->batch_best_us;
        descent->failures = 0;
    } else {
        turn(descent);
    }
}

static int random_untried(struct search_descent *descent, gsl_rng *random)
{
    int wanted;

    if (descent->untried == 0) {
        return -1;
    }
    wanted = (int)gsl_rng_uniform_int(random, (unsigned long)descent->untried);
    for (int i = 0; i < descent->count; i++) {
        if (!descent->tried[i] && wanted-- == 0) {
            return i;
        }
    }
    return -1;
}

int search_descent_next(struct search_descent *descent, gsl_rng *random)
{
    if (descent->pretrain_left > 0) {
        return random_untried(descent, random);
    }
    if (descent->current < 0 && descent->best >= 0) {
        start_descent(descent, descent->best, descent->best_us);
    }
    while (descent->current >= 0 && descent->failures < 2 * AXES) {
        if (descent->batch_next < descent->batch_count) {
            return descent->batch[descent->batch_next];
        }
        if (descent->batch_count > 0) {
            judge_batch(descent);
            descent->batch_count = 0;
            descent->batch_next = 0;
            continue;
        }
        survey(descent);
        if (descent->batch_count == 0) {
            turn(descent);
        }
    }
    return --descent->retries > 0 ? random_untried(descent, random) : -1;
}

void search_descent_record(struct search_descent *descent,
                           int candidate,
                           double us)
{
    bool in_batch = descent->batch_next < descent->batch_count;

    if (!descent->tried[candidate]) {
        descent->tried[candidate] = true;
        descent->untried--;
    }
    if (us < descent->best_us) {
        descent->best_us = us;
        descent->best = candidate;
    }
    if (descent->pretrain_left > 0) {
        descent->pretrain_left--;
        return;
    }
    descent->train_left--;
    descent->done = descent->train_left <= 0;
    if (!in_batch) {
        start_descent(descent, candidate, us); /* a restart */
        return;
    }
    descent->batch_next++;
    if (us < descent->batch_best_us) {
        descent->batch_best_us = us;
        descent->batch_best = candidate;
    }
}

void search_descent_start(struct search_descent *descent,
                          struct model_arena *arena,
                          const struct search_space *space,
                          int pretrain_calls,
                          int train_calls)
{
    *descent = (struct search_descent){.current = -1,
                                       .best = -1,
                                       .best_us = HUGE_VAL,
                                       .pretrain_left = pretrain_calls,
                                       .train_left = train_calls,
                                       .train_calls = train_calls,
                                       .retries = RETRIES,
                                       .direction = 1};
    descent->count = list_all(arena, space, &descent->list);
    descent->untried = descent->count;
    descent->tried =
        model_arena_array(arena, (size_t)descent->count, sizeof(bool));
    descent->ahead = model_arena_array(arena, (size_t)descent->count,
                                       sizeof(*descent->ahead));
}
