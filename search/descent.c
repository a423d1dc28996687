/*
 * descent.c - the state of a descent between its batches.
 */
#include "search/descent.h"

#include "search/moves.h"

#include <math.h>
#include <string.h>

enum {
    TOP = SEARCH_DESCENT_TOP,
    STARTS = 5 /* TUNER_RETRY */
};

static const double LEARNING_RATE = 0.8;
static const double SCORED_RATIO = 0.75;

/* -- what was tried -- */

double search_score_us(double *times_us, int count)
{
    int scored = (int)ceil(SCORED_RATIO * (double)count);
    double sum_us = 0.0;

    for (int i = 1; i < count; i++) {
        double time_us = times_us[i];
        int at = i;

        for (; at > 0 && times_us[at - 1] > time_us; at--) {
            times_us[at] = times_us[at - 1];
        }
        times_us[at] = time_us;
    }
    for (int i = 0; i < scored; i++) {
        sum_us += times_us[i];
    }
    return sum_us / (double)scored;
}

/* Where a number is among those tried, or would be. */
static int find(const struct search_descent *descent, int number)
{
    int at = 0;

    while (at < descent->tried_count && descent->numbers[at] < number) {
        at++;
    }
    return at;
}

static bool is_tried(const struct search_descent *descent, int at, int number)
{
    return at < descent->tried_count && descent->numbers[at] == number;
}

static double score_us(const struct search_descent *descent, int number)
{
    struct search_tried_one *one = &descent->tried[find(descent, number)];

    return search_score_us(one->times_us, one->count);
}

void search_descent_record(struct search_descent *descent,
                           int number,
                           double us)
{
    struct search_tried_one *one = &descent->tried[find(descent, number)];

    one->times_us = model_arena_grow(descent->arena, one->times_us, one->count,
                                     &one->room, sizeof(*one->times_us));
    one->times_us[one->count++] = us;
}

/* Of equal ones the first of the list. */
static void judge(struct search_descent *descent)
{
    descent->best_us = HUGE_VAL;
    for (int i = 0; i < descent->tried_count; i++) {
        double us = score_us(descent, descent->numbers[i]);

        if (us < descent->best_us) {
            descent->best_us = us;
            descent->best = descent->numbers[i];
        }
    }
    descent->judged = descent->calls.pretrain - descent->pretrain_left +
                      descent->calls.train - descent->train_left;
}

/* Hand a candidate out, as often as calls are left; false: none is. */
static bool hand_out(struct search_descent *descent, int number, int *left)
{
    int calls = *left < descent->calls.repeats ? *left : descent->calls.repeats;
    int at = find(descent, number);

    if (calls <= 0) {
        return false;
    }
    if (!is_tried(descent, at, number)) {
        size_t behind = (size_t)(descent->tried_count - at);

        memmove(&descent->tried[at + 1], &descent->tried[at],
                behind * sizeof(*descent->tried));
        memmove(&descent->numbers[at + 1], &descent->numbers[at],
                behind * sizeof(*descent->numbers));
        descent->tried[at] = (struct search_tried_one){.number = number};
        descent->numbers[at] = number;
        descent->tried_count++;
    }
    descent->batch[descent->batch_count++] =
        (struct search_batch){number, calls};
    *left -= calls;
    return true;
}

static bool is_exhausted(const struct search_descent *descent)
{
    return descent->tried_count == descent->candidates.count;
}

/* -- pretraining -- */

/*
 * Strided, a candidate stays unseen with probability 1 - visits / count;
 * at random with (1 - 1 / count) ^ visits, which is never less, unless there
 * are more visits than candidates: then AutoCCL draws them.
 */
static bool is_strided(int count, int visits)
{
    double unseen = pow((count - 1.0) / count, visits);
    double strided = count > visits ? (double)(count - visits) / count : 1.0;

    return unseen > strided;
}

static void pretrain(struct search_descent *descent, gsl_rng *random)
{
    int count = descent->candidates.count;
    int visits = descent->calls.pretrain / descent->calls.repeats;
    bool strided = is_strided(count, visits);
    int stride = visits > 0 && visits < count ? count / visits : 1;
    int number = search_below(random, count);

    while (descent->pretrain_left > 0 && !is_exhausted(descent)) {
        number = strided ? number : search_below(random, count);
        (void)hand_out(descent, number, &descent->pretrain_left);
        number = (int)(((int64_t)number + stride) % count);
    }
}

/* -- training -- */

static int random_untried(const struct search_descent *descent, gsl_rng *random)
{
    int number =
        search_below(random, descent->candidates.count - descent->tried_count);

    for (int i = 0; i < descent->tried_count && descent->numbers[i] <= number;
         i++) {
        number++;
    }
    return number;
}

/* Move to the best point if it gains, or turn; false after 6 failures. */
static bool step(struct search_descent *descent)
{
    double from_us = score_us(descent, descent->current);
    double best_us = from_us;
    int best = -1;

    for (int i = 0; i < descent->point_count; i++) {
        double us = score_us(descent, descent->points[i]);

        if (us < best_us) {
            best_us = us;
            best = descent->points[i];
        }
    }
    if (best >= 0) {
        descent->step = LEARNING_RATE * (from_us - best_us) / from_us;
        descent->current = best;
        descent->failures = 0;
        return true;
    }
    descent->step = 0.0;
    descent->failures++;
    descent->axis = descent->direction > 0 ? descent->axis
                                           : (descent->axis + 1) % SEARCH_AXES;
    descent->direction = -descent->direction;
    return descent->failures != 2 * SEARCH_AXES;
}

/* Start at a candidate; AutoCCL keeps failures and points. */
static void start_at(struct search_descent *descent, int number)
{
    descent->current = number;
    descent->axis = 0;
    descent->direction = 1;
    descent->starts++;
}

/* Look ahead from the current candidate, turning until there is something. */
static void survey(struct search_descent *descent, gsl_rng *random)
{
    descent->point_count = 0;
    while (descent->point_count == 0) {
        struct search_look look = {descent->current, descent->axis,
                                   descent->direction, descent->numbers,
                                   descent->tried_count};
        int found =
            search_candidates_ahead(&descent->candidates, &look, descent->step,
                                    TOP, descent->ahead, descent->points);

        if (found == 0 && !step(descent)) {
            start_at(descent, random_untried(descent, random));
            descent->points[found++] = descent->current;
        }
        descent->point_count = found;
    }
    for (int i = 0; i < descent->point_count; i++) {
        (void)hand_out(descent, descent->points[i], &descent->train_left);
    }
}

static void train(struct search_descent *descent, gsl_rng *random)
{
    if (descent->starts == 0) {
        start_at(descent, descent->best);
        survey(descent, random);
    } else if (descent->starts < STARTS) {
        if (step(descent)) {
            survey(descent, random);
        } else {
            start_at(descent, random_untried(descent, random));
            (void)hand_out(descent, descent->current, &descent->train_left);
        }
    }
}

int search_descent_next(struct search_descent *descent, gsl_rng *random)
{
    descent->batch_count = 0;
    if (descent->pretrain_left > 0 && !is_exhausted(descent)) {
        pretrain(descent, random);
    } else {
        judge(descent);
        if (descent->train_left > 0 && !is_exhausted(descent)) {
            train(descent, random);
        }
    }
    descent->done = descent->batch_count == 0;
    return descent->batch_count;
}

void search_descent_start(struct search_descent *descent,
                          struct model_arena *arena,
                          const struct search_space *space,
                          const struct search_calls *calls,
                          struct search_ahead *ahead)
{
    size_t most = (size_t)calls->pretrain + (size_t)calls->train + 1;

    *descent = (struct search_descent){.arena = arena,
                                       .ahead = ahead,
                                       .calls = *calls,
                                       .pretrain_left = calls->pretrain,
                                       .train_left = calls->train,
                                       .current = -1,
                                       .best = -1,
                                       .best_us = HUGE_VAL,
                                       .direction = 1};
    search_candidates_make(arena, space, &descent->candidates);
    descent->tried = model_arena_array(arena, most, sizeof(*descent->tried));
    descent->numbers =
        model_arena_array(arena, most, sizeof(*descent->numbers));
    descent->batch = model_arena_array(arena, most, sizeof(*descent->batch));
}
