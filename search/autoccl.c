/*
 * autoccl.c - AutoCCL (NSDI'25): each collective as fast as it can be.
 *
 * As in its code (github.com/gbxu/autoccl), for each workload key (group, kind,
 * size) and in each subspace (algorithm, protocol, transport):
 *
 *   native     NCCL's own configuration is measured first and stays a candidate
 *   search     random candidates, then coordinate descent (descent.h)
 *   drop       a subspace whose best is 1.5 times the overall best after a
 *              tenth of its training
 *
 * Left out or chosen: pretraining is random, never strided; the second drop
 * rule (3 times the best after 5 repeats past pretraining) is not there, since
 * each candidate is measured once; the native configuration is no start of a
 * descent; a restart clears the failure counter. C is the chunk of a ring step
 * (AutoCCL's is that of a slice, of which its code makes up to 4 a chunk).
 *
 * The budget of calls is divided evenly over the subspaces, which take turns
 * in rounds. The objective is the collective's own time, measured in company;
 * nothing couples two keys, so all keys try a candidate in one evaluation.
 */
#include "search/descent.h"
#include "search/strategy.h"

#include <math.h>

enum {
    PRETRAIN_CALLS = 20, /* TUNER_PRETRAIN_STEPS */
    TRAIN_CALLS = 50,    /* TUNER_TRAIN_STEPS */
    ROUND_CALLS = 10     /* TUNER_ROUND_MAX_STEPS */
};

static const double DROP_RATIO = 1.5;
static const double DROP_AFTER = 0.1;

/* One workload key. */
struct key {
    int kind;
    int group;
    double bytes;
    struct search_descent spaces[SEARCH_SUBSPACES_MAX];
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
    jmp_buf guard;
    jmp_buf *outer;
};

static bool is_hopeless(const struct key *key,
                        const struct search_descent *descent)
{
    int trained = descent->train_calls - descent->train_left;

    return descent->pretrain_left == 0 &&
           (double)trained > DROP_AFTER * descent->train_calls &&
           descent->best_us > DROP_RATIO * key->best_us;
}

/* The next candidate of the subspace whose turn it is, or -1. */
static int choose_in_turn(struct key *key, gsl_rng *random)
{
    struct search_descent *descent = &key->spaces[key->turn];
    int candidate = -1;

    if (descent->done || key->round_left == 0) {
        return -1;
    }
    if (!is_hopeless(key, descent)) {
        candidate = search_descent_next(descent, random);
    }
    descent->done = candidate < 0;
    key->round_left--;
    return candidate;
}

/* Let the key's subspaces take turns; -1 when all are finished. */
static int choose(struct key *key, gsl_rng *random)
{
    int count = key->space_count;

    for (int tries = 0; count > 0 && tries <= count; tries++) {
        int candidate = choose_in_turn(key, random);

        if (candidate >= 0) {
            return candidate;
        }
        key->turn = (key->turn + 1) % count;
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
        search_descent_record(&key->spaces[key->turn], key->trying, us);
    }
}

static void make_key(struct tuner *tuner, int class_index)
{
    const struct search_problem *problem = tuner->task->problem;
    const struct search_class *part = &problem->classes[class_index];
    struct search_space spaces[SEARCH_SUBSPACES_MAX];
    struct key *key;
    int i;

    for (i = 0; i < tuner->key_count; i++) {
        key = &tuner->keys[i];
        if (key->kind == part->kind && key->group == part->group &&
            model_same(key->bytes, part->bytes)) {
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
                        .best = part->baseline,
                        .best_us = HUGE_VAL,
                        .trying = -1};
    key->space_count = search_subspaces(problem, part, spaces);
    for (int s = 0; s < key->space_count; s++) {
        search_descent_start(&key->spaces[s], tuner->task->arena, &spaces[s],
                             (PRETRAIN_CALLS / key->space_count) > 1
                                 ? PRETRAIN_CALLS / key->space_count
                                 : 1,
                             TRAIN_CALLS / key->space_count);
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

/* The generator is not the arena's: memory that runs out must come by here. */
static enum model_status tune_guarded(struct tuner *tuner,
                                      struct search_outcome *outcome)
{
    struct model_arena *arena = tuner->task->arena;
    enum model_status status;

    tuner->outer = model_arena_guard(arena, &tuner->guard);
    if (setjmp(tuner->guard) != 0) {
        gsl_rng_free(tuner->random);
        (void)model_arena_guard(tuner->task->arena, tuner->outer);
        model_arena_raise(tuner->task->arena);
    }
    status = tune(tuner, outcome);
    (void)model_arena_guard(arena, tuner->outer);
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
    status = tune_guarded(&tuner, outcome);
    gsl_rng_free(tuner.random);
    return status;
}
