/*
 * autoccl.c - AutoCCL (NSDI'25): each collective as fast as it can be.
 *
 * As its code has it (github.com/gbxu/autoccl, nccl_combined_job.h), for each
 * workload key (group, kind, size):
 *
 *   native   NCCL's own configuration is measured first and stays a candidate
 *   search   a descent (descent.h) in each subspace, which take turns: one
 *            batch each. Its calls are divided evenly, by whole numbers, but
 *            each has one of either kind at least
 *   drop     a subspace whose best is 1.5 times the best elsewhere after a
 *            tenth of its training, or 3 times after 5 candidates of it; the
 *            batch that it was given is still measured. Elsewhere: natively,
 *            or in a subspace that has ended
 *
 * The objective is the collective's own time, measured in company; nothing
 * couples two keys, so all keys try a candidate in one evaluation, and those
 * that have ended run their best.
 *
 * A budget is that of all evaluations: what NCCL's own configuration leaves is
 * divided as AutoCCL's 20 and 50 calls are.
 *
 * Left out, since the simulator has nothing to warm up and answers at once: the
 * warm-up calls, whose times AutoCCL throws away, and the calls that run the
 * best so far while it waits for times.
 */
#include "search/descent.h"
#include "search/moves.h"
#include "search/strategy.h"

#include <limits.h>
#include <math.h>

enum {
    PRETRAIN_CALLS = 20, /* TUNER_PRETRAIN_STEPS */
    TRAIN_CALLS = 50,    /* TUNER_TRAIN_STEPS */
    EARLY_REPEATS = 5
};

static const double DROP_RATIO = 1.5;
static const double DROP_AFTER = 0.1;
static const double EARLY_DROP_RATIO = 3.0;

/* A subspace of a key. */
struct subspace {
    struct search_descent descent;
    bool ended;
};

/* One workload key. */
struct key {
    int kind;
    int group;
    double bytes;
    struct subspace *spaces;
    int space_count;
    int turn;                   /* of spaces, whose batch is measured */
    int at;                     /* in the batch */
    int calls_left;             /* of the candidate there */
    struct model_config trying; /* the configuration now under test */
    struct model_config native;
    double native_us; /* score */
    double *times_us; /* native ones, one a repeat */
    int native_calls; /* made so far */
    double ended_us;  /* best of natively and the subspaces that ended */
    bool ended;
};

struct tuner {
    struct search_task *task;
    gsl_rng *random;
    struct search_ahead ahead;
    struct key *keys;
    int key_count;
    int *key_of; /* by class */
    int repeats;
    int left; /* evaluations */
};

/* -- turns -- */

/* Is it too slow for its best to matter? */
static bool is_hopeless(const struct key *key,
                        const struct search_descent *descent)
{
    const struct search_calls *calls = &descent->calls;
    double trained = (double)(descent->judged - calls->pretrain);

    return trained > DROP_AFTER * calls->train
               ? descent->best_us > DROP_RATIO * key->ended_us
               : trained > (double)EARLY_REPEATS * calls->repeats &&
                     descent->best_us > EARLY_DROP_RATIO * key->ended_us;
}

/* The next batch of the subspace whose turn it is; false: it has none. */
static bool take_turn(struct key *key, gsl_rng *random)
{
    struct subspace *space = &key->spaces[key->turn];
    int length;

    if (space->ended) {
        return false;
    }
    length = search_descent_next(&space->descent, random);
    if (length == 0) {
        key->ended_us = fmin(key->ended_us, space->descent.best_us);
    }
    space->ended = length == 0 || is_hopeless(key, &space->descent);
    return length > 0;
}

static bool have_ended(const struct key *key)
{
    for (int i = 0; i < key->space_count; i++) {
        if (!key->spaces[i].ended) {
            return false;
        }
    }
    return true;
}

static void begin_batch(struct key *key)
{
    key->at = 0;
    key->calls_left = key->spaces[key->turn].descent.batch[0].calls;
}

/* A batch is used up: the next of the subspaces that has one. */
static void choose_batch(struct key *key, gsl_rng *random)
{
    while (!have_ended(key)) {
        key->turn = (key->turn + 1) % key->space_count;
        if (take_turn(key, random)) {
            begin_batch(key);
            return;
        }
    }
    key->ended = true;
}

/* -- what a key runs and learns -- */

static bool is_native(const struct tuner *tuner, const struct key *key)
{
    return key->native_calls < tuner->repeats;
}

/* The best of all that was measured. */
static struct model_config best_of(const struct key *key)
{
    struct model_config best = key->native;
    double best_us = key->native_us;

    for (int i = 0; i < key->space_count; i++) {
        const struct search_descent *descent = &key->spaces[i].descent;

        for (int t = 0; t < descent->tried_count; t++) {
            const struct search_tried_one *one = &descent->tried[t];
            struct search_candidate at =
                search_candidates_at(&descent->candidates, one->number);

            if (one->count > 0 &&
                search_score_us(one->times_us, one->count) < best_us) {
                best_us = search_score_us(one->times_us, one->count);
                best = search_space_config(&descent->candidates.space, &at);
            }
        }
    }
    return best;
}

/* What it runs next. */
static void choose(const struct tuner *tuner, struct key *key)
{
    if (key->ended) {
        key->trying = best_of(key);
    } else if (is_native(tuner, key)) {
        key->trying = key->native;
    } else {
        const struct search_descent *descent = &key->spaces[key->turn].descent;
        struct search_candidate at = search_candidates_at(
            &descent->candidates, descent->batch[key->at].number);

        key->trying = search_space_config(&descent->candidates.space, &at);
    }
}

static void learn(const struct tuner *tuner, struct key *key, double us)
{
    struct search_descent *descent = &key->spaces[key->turn].descent;

    if (is_native(tuner, key)) {
        key->times_us[key->native_calls++] = us;
        if (!is_native(tuner, key)) {
            key->native_us = search_score_us(key->times_us, tuner->repeats);
            key->ended_us = key->native_us;
            key->turn = key->space_count - 1;
            choose_batch(key, tuner->random);
        }
        return;
    }
    if (key->ended) {
        return;
    }
    search_descent_record(descent, descent->batch[key->at].number, us);
    if (--key->calls_left > 0) {
        return;
    }
    if (++key->at < descent->batch_count) {
        key->calls_left = descent->batch[key->at].calls;
    } else {
        choose_batch(key, tuner->random);
    }
}

/* -- keys -- */

static int at_least_1(int value)
{
    return value > 1 ? value : 1;
}

/* The calls of one of so many subspaces. */
static struct search_calls calls_of(const struct tuner *tuner, int spaces)
{
    const struct search_task *task = tuner->task;
    int pretrain = PRETRAIN_CALLS;
    int train = TRAIN_CALLS;

    if (task->budget > 0) {
        int searched = at_least_1(task->budget - tuner->repeats);

        pretrain = (int)((int64_t)searched * PRETRAIN_CALLS /
                         (PRETRAIN_CALLS + TRAIN_CALLS));
        train = searched - pretrain;
    }
    return (struct search_calls){at_least_1(pretrain / spaces),
                                 at_least_1(train / spaces), tuner->repeats};
}

static void start_key(struct tuner *tuner, struct key *key, int class_index)
{
    const struct search_problem *problem = tuner->task->problem;
    const struct search_class *part = &problem->classes[class_index];
    struct model_arena *arena = tuner->task->arena;
    struct search_space spaces[SEARCH_SUBSPACES_MAX];
    struct search_calls calls;

    *key = (struct key){.kind = part->kind,
                        .group = part->group,
                        .bytes = part->bytes,
                        .native = part->baseline,
                        .native_us = HUGE_VAL};
    key->times_us =
        model_arena_array(arena, (size_t)tuner->repeats, sizeof(double));
    key->space_count = search_subspaces(problem, part, spaces);
    key->spaces = model_arena_array(arena, (size_t)key->space_count,
                                    sizeof(*key->spaces));
    calls = calls_of(tuner, key->space_count);
    for (int i = 0; i < key->space_count; i++) {
        search_descent_start(&key->spaces[i].descent, arena, &spaces[i], &calls,
                             &tuner->ahead);
    }
}

static void make_key(struct tuner *tuner, int class_index)
{
    const struct search_class *part =
        &tuner->task->problem->classes[class_index];
    int i = 0;

    while (i < tuner->key_count &&
           (tuner->keys[i].kind != part->kind ||
            tuner->keys[i].group != part->group ||
            !model_same(tuner->keys[i].bytes, part->bytes))) {
        i++;
    }
    tuner->key_of[class_index] = i;
    if (i == tuner->key_count) {
        start_key(tuner, &tuner->keys[tuner->key_count++], class_index);
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

/* -- the search -- */

static void set_configs(struct tuner *tuner, struct search_outcome *outcome)
{
    for (int i = 0; i < tuner->key_count; i++) {
        choose(tuner, &tuner->keys[i]);
    }
    for (int i = 0; i < tuner->task->problem->class_count; i++) {
        outcome->configs[i] = tuner->keys[tuner->key_of[i]].trying;
    }
}

/* One iteration of training: every key runs what it has chosen. */
static enum model_status measure_all(struct tuner *tuner,
                                     struct search_outcome *outcome,
                                     struct search_measure *measure)
{
    enum model_status status;

    set_configs(tuner, outcome);
    status = search_try(tuner->task, outcome, outcome->configs, measure);
    for (int i = 0; status == MODEL_OK && i < tuner->key_count; i++) {
        learn(tuner, &tuner->keys[i], key_us(tuner, i, measure));
    }
    return status;
}

/* Is there a key that has not ended, and an evaluation left? */
static bool goes_on(const struct tuner *tuner)
{
    for (int i = 0; i < tuner->key_count; i++) {
        if (!tuner->keys[i].ended) {
            return tuner->left > 0;
        }
    }
    return false;
}

enum model_status search_find_autoccl(struct search_task *task,
                                      struct search_outcome *outcome)
{
    size_t classes = (size_t)task->problem->class_count + 1;
    struct tuner tuner = {.task = task,
                          .random = search_random(task->arena, task->seed),
                          .ahead = {.arena = task->arena},
                          .repeats = at_least_1(task->repeats),
                          .left = task->budget > 0 ? task->budget : INT_MAX};
    struct search_measure measure;
    enum model_status status = MODEL_OK;

    tuner.keys = model_arena_array(task->arena, classes, sizeof(*tuner.keys));
    tuner.key_of = model_arena_array(task->arena, classes, sizeof(int));
    for (int i = 0; i < task->problem->class_count; i++) {
        make_key(&tuner, i);
    }
    search_measure_make(task->arena, task->problem, &measure);
    do {
        status = measure_all(&tuner, outcome, &measure);
        tuner.left--;
    } while (status == MODEL_OK && goes_on(&tuner));
    for (int i = 0; i < tuner.key_count; i++) {
        tuner.keys[i].ended = true;
    }
    set_configs(&tuner, outcome);
    return status;
}
