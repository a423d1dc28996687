/*
 * autoccl.c - AutoCCL (NSDI'25): each collective as fast as it can be.
 *
 * As in its code (github.com/gbxu/autoccl, coordinate_descent_job.h), for each
 * workload key (group, kind, size) and in each subspace (algorithm, protocol,
 * transport):
 *
 *   native     NCCL's own configuration is measured first and stays a candidate
 *   pretrain   random candidates
 *   train      coordinate descent from the best so far: up to 3 untried
 *              candidates ahead on the axis (channels, threads, chunk), by
 *              projected distance, then angle. After a gain the step is a
 *              quantile, lr = 0.8 (old - new) / old of the candidates ahead,
 *              of which the 3 farthest are tried. No gain: turn round, then
 *              next axis; after 6 failures restart from a random candidate.
 *   drop       a subspace whose best is 1.5 times the overall best after a
 *              tenth of its training
 *
 * The budget of calls is divided evenly over the subspaces, which take turns
 * in rounds. The objective is the collective's own time, measured in company;
 * nothing couples two keys, so all keys try a candidate in one evaluation.
 */
#include "search/space.h"
#include "search/strategy.h"

#include <gsl/gsl_rng.h>
#include <math.h>

enum {
    PRETRAIN_CALLS = 20, /* TUNER_PRETRAIN_STEPS */
    TRAIN_CALLS = 50,    /* TUNER_TRAIN_STEPS */
    ROUND_CALLS = 10,    /* TUNER_ROUND_MAX_STEPS */
    TOP = 3,             /* TUNER_ACCESS_TOPK */
    RETRIES = 5,         /* TUNER_RETRY */
    AXES = 3,
    CHUNKS = 24 /* kept per (channels, threads); see space.h */
};

static const double LEARNING_RATE = 0.8;
static const double DROP_RATIO = 1.5;
static const double DROP_AFTER = 0.1;

/* A candidate ahead of the current one. */
struct ahead {
    double distance; /* on the axis */
    double off;      /* squared distance from the axis */
    int candidate;
};

/* Coordinate descent in one subspace. */
struct descent {
    struct model_config *list;
    bool *tried;
    struct ahead *ahead; /* work space */
    int count;
    int untried;
    int current; /* index, or -1 */
    double current_us;
    double best_us;
    int best;
    int axis, direction, failures, retries;
    double step; /* quantile after a gain, 0: none */
    int batch[TOP];
    int batch_count, batch_next;
    int batch_best;
    double batch_best_us;
    int pretrain_left, train_left, train_calls;
    bool done;
};

/* One workload key. */
struct key {
    int kind;
    int group;
    double bytes;
    struct descent spaces[MODEL_TRANSPORTS];
    int space_count;
    int turn;
    int round_left;
    struct model_config best;
    double best_us;
    int trying; /* candidate now under test, or -1: native, best */
};

struct tuner {
    struct search_task *task;
    gsl_rng *random;
    struct key *keys;
    int key_count;
    int *key_of; /* by class */
};

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

/* -- candidates ahead
 * ---------------------------------------------------------- */

static bool nearer(const struct ahead *a, const struct ahead *b)
{
    if (a->distance < b->distance || a->distance > b->distance) {
        return a->distance < b->distance;
    }
    if (a->off < b->off || a->off > b->off) {
        return a->off < b->off;
    }
    return a->candidate < b->candidate;
}

static void swap(struct ahead *a, struct ahead *b)
{
    struct ahead kept = *a;

    *a = *b;
    *b = kept;
}

/* Order so that the k nearest come first (quickselect). */
static void select_nearest(struct ahead *list, int count, int k)
{
    int low = 0;
    int high = count - 1;

    while (low < high) {
        struct ahead pivot = list[low + (high - low) / 2];
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

static int look_ahead(struct descent *descent)
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
        descent->ahead[found++] = (struct ahead){distance, off, i};
    }
    return found;
}

/* Choose up to TOP candidates ahead for the next measurements. */
static void survey(struct descent *descent)
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

/* -- the descent
 * ----------------------------------------------------------------- */

static void start_descent(struct descent *descent, int from, double from_us)
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
static void turn(struct descent *descent)
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

static void judge_batch(struct descent *descent)
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

static int random_untried(struct descent *descent, gsl_rng *random)
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

/* The next candidate to measure, or -1 when the subspace is finished. */
static int next_candidate(struct descent *descent, gsl_rng *random)
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

static void record(struct descent *descent, int candidate, double us)
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

/* -- keys
 * ------------------------------------------------------------------------ */

static bool is_hopeless(const struct key *key, const struct descent *descent)
{
    int trained = descent->train_calls - descent->train_left;

    return descent->pretrain_left == 0 &&
           (double)trained > DROP_AFTER * descent->train_calls &&
           descent->best_us > DROP_RATIO * key->best_us;
}

/* The next candidate of the subspace whose turn it is, or -1. */
static int choose_in_turn(struct key *key, gsl_rng *random)
{
    struct descent *descent = &key->spaces[key->turn];
    int candidate = -1;

    if (descent->done || key->round_left == 0) {
        return -1;
    }
    if (!is_hopeless(key, descent)) {
        candidate = next_candidate(descent, random);
    }
    descent->done = candidate < 0;
    key->round_left--;
    return candidate;
}

/* Let the key's subspaces take turns; -1 when all are finished. */
static int choose(struct key *key, gsl_rng *random)
{
    for (int tries = 0; tries <= key->space_count; tries++) {
        int candidate = choose_in_turn(key, random);

        if (candidate >= 0) {
            return candidate;
        }
        key->turn = (key->turn + 1) % key->space_count;
        key->round_left = ROUND_CALLS;
    }
    return -1;
}

static void learn(struct key *key, const struct model_config *config, double us)
{
    if (us < key->best_us) {
        key->best_us = us;
        key->best = *config;
    }
    if (key->trying >= 0) {
        record(&key->spaces[key->turn], key->trying, us);
    }
}

static void make_space(struct search_task *task,
                       struct descent *descent,
                       const struct search_space *space,
                       int spaces)
{
    *descent = (struct descent){.current = -1, .best = -1, .best_us = HUGE_VAL};
    descent->count =
        search_space_list(task->arena, space, CHUNKS, &descent->list);
    descent->untried = descent->count;
    descent->tried =
        model_arena_array(task->arena, (size_t)descent->count, sizeof(bool));
    descent->ahead = model_arena_array(task->arena, (size_t)descent->count,
                                       sizeof(*descent->ahead));
    descent->pretrain_left = PRETRAIN_CALLS / spaces;
    descent->train_calls = TRAIN_CALLS / spaces;
    descent->train_left = descent->train_calls;
    descent->retries = RETRIES;
    descent->axis = 0;
    descent->direction = 1;
}

static void make_key(struct tuner *tuner, int class_index)
{
    const struct search_problem *problem = tuner->task->problem;
    const struct search_class *part = &problem->classes[class_index];
    struct search_space spaces[MODEL_TRANSPORTS];
    struct key *key;
    int i;

    for (i = 0; i < tuner->key_count; i++) {
        key = &tuner->keys[i];
        if (key->kind == part->kind && key->group == part->group &&
            !(key->bytes < part->bytes) && !(key->bytes > part->bytes)) {
            break;
        }
    }
    tuner->key_of[class_index] = i;
    if (i < tuner->key_count) {
        return;
    }
    key = &tuner->keys[tuner->key_count++];
    *key = (struct key){.kind = part->kind,
                        .group = part->group,
                        .bytes = part->bytes,
                        .round_left = ROUND_CALLS,
                        .best = problem->baseline,
                        .best_us = HUGE_VAL,
                        .trying = -1};
    key->space_count =
        search_subspaces(problem, part->kind, part->bytes, part->group, spaces);
    for (int s = 0; s < key->space_count; s++) {
        make_space(tuner->task, &key->spaces[s], &spaces[s], key->space_count);
    }
}

/* Mean time of a key's collectives over its classes. */
static double
key_us(const struct tuner *tuner, int key, const struct search_measure *measure)
{
    const struct search_problem *problem = tuner->task->problem;
    double sum = 0.0;
    double ops = 0.0;

    for (int i = 0; i < problem->class_count; i++) {
        if (tuner->key_of[i] == key) {
            sum += measure->x_us[i] * problem->classes[i].op_count;
            ops += problem->classes[i].op_count;
        }
    }
    return sum / ops;
}

/* One iteration of training: every key runs what it has chosen. */
static enum model_status measure_all(struct tuner *tuner,
                                     struct search_outcome *outcome,
                                     struct search_measure *measure)
{
    const struct search_problem *problem = tuner->task->problem;
    enum model_status status;

    for (int i = 0; i < problem->class_count; i++) {
        const struct key *key = &tuner->keys[tuner->key_of[i]];

        outcome->configs[i] = key->trying >= 0
                                  ? key->spaces[key->turn].list[key->trying]
                                  : key->best;
    }
    status = search_try(tuner->task, outcome, outcome->configs, measure);
    for (int i = 0; status == MODEL_OK && i < tuner->key_count; i++) {
        struct key *key = &tuner->keys[i];
        struct model_config config =
            key->trying >= 0 ? key->spaces[key->turn].list[key->trying]
                             : key->best;

        learn(key, &config, key_us(tuner, i, measure));
    }
    return status;
}

/* Choose for every key; false when all are finished. */
static bool choose_all(struct tuner *tuner)
{
    bool any = false;

    for (int i = 0; i < tuner->key_count; i++) {
        struct key *key = &tuner->keys[i];

        key->trying = choose(key, tuner->random);
        any = any || key->trying >= 0;
    }
    return any;
}

static enum model_status tune(struct tuner *tuner,
                              struct search_outcome *outcome)
{
    const struct search_problem *problem = tuner->task->problem;
    struct search_measure measure;
    enum model_status status;

    search_measure_make(tuner->task->arena, problem, &measure);
    status = measure_all(tuner, outcome, &measure); /* native */
    while (status == MODEL_OK && choose_all(tuner)) {
        status = measure_all(tuner, outcome, &measure);
    }
    for (int i = 0; i < problem->class_count; i++) {
        outcome->configs[i] = tuner->keys[tuner->key_of[i]].best;
    }
    return status;
}

enum model_status search_find_autoccl(struct search_task *task,
                                      struct search_outcome *outcome)
{
    size_t classes = (size_t)task->problem->class_count;
    struct tuner tuner = {.task = task};
    enum model_status status;

    tuner.keys =
        model_arena_array(task->arena, classes + 1, sizeof(*tuner.keys));
    tuner.key_of = model_arena_array(task->arena, classes + 1, sizeof(int));
    for (int i = 0; i < task->problem->class_count; i++) {
        make_key(&tuner, i);
    }
    tuner.random = gsl_rng_alloc(gsl_rng_mt19937);
    if (tuner.random == NULL) {
        return MODEL_FAULT;
    }
    gsl_rng_set(tuner.random, (unsigned long)task->seed);
    status = tune(&tuner, outcome);
    gsl_rng_free(tuner.random);
    return status;
}
