/*
 * test_descent.c - AutoCCL's coordinate descent, rule by rule, on lists small
 * enough to follow by hand.
 */
#include "search/descent.h"
#include "search/moves.h"

#include "tests/unit/searching.h"

/* Rings and Simple with 96 and 128 threads, chunks up to so many KiB: as many
 * multiples of 1024 bytes, and of 768. */
static struct search_space small_space(int channels, int kib)
{
    return (struct search_space){
        .subspace = {MODEL_RING, MODEL_SIMPLE, MODEL_P2P, 0, 0, 0},
        .channels_max = channels,
        .threads_min = 96,
        .threads_max = 128,
        .last_threads = 128,
        .grain_bytes = 8,
        .chunk_max_bytes = 1024.0 * kib,
        .count_bytes = 1e12};
}

struct bench {
    struct search_descent descent;
    struct search_ahead ahead;
    gsl_rng *random;
};

static struct bench *bench(struct model_arena *arena,
                           int channels,
                           int kib,
                           struct search_calls calls)
{
    struct bench *made = model_arena_alloc(arena, sizeof *made);
    struct search_space space = small_space(channels, kib);

    made->ahead.arena = arena;
    made->random = search_random(arena, 1);
    search_descent_start(&made->descent, arena, &space, &calls, &made->ahead);
    return made;
}

/* The next batch; all of it is recorded with the same time. */
static int next(struct bench *bench, double us)
{
    int length = search_descent_next(&bench->descent, bench->random);

    for (int i = 0; i < length; i++) {
        for (int c = 0; c < bench->descent.batch[i].calls; c++) {
            search_descent_record(&bench->descent,
                                  bench->descent.batch[i].number, us);
        }
    }
    return length;
}

static struct search_candidate at(const struct bench *bench, int i)
{
    return search_candidates_at(&bench->descent.candidates,
                                bench->descent.batch[i].number);
}

/* -- candidates ahead -- */

/* A candidate ahead, as AutoCCL orders them. */
struct rival {
    double distance, off;
    int number;
};

static int by_distance(const void *a, const void *b)
{
    const struct rival *one = a;
    const struct rival *two = b;

    return one->distance < two->distance   ? -1
           : one->distance > two->distance ? 1
           : one->off < two->off           ? -1
           : one->off > two->off           ? 1
                                           : one->number - two->number;
}

/* Its five numbers: channels, threads, chunk, steps, bytes of the last. */
static void
numbers_of(const struct search_candidates *list, int number, double values[5])
{
    struct search_candidate one = search_candidates_at(list, number);
    double chunk = 8.0 * one.threads * one.multiple;

    values[0] = one.channels;
    values[1] = one.threads;
    values[2] = chunk;
    values[3] = ceil(list->space.count_bytes / (one.channels * chunk));
    values[4] = floor(fmod(list->space.count_bytes, one.channels * chunk) /
                      one.channels);
}

static bool is_in(const int *list, int count, int number)
{
    for (int i = 0; i < count; i++) {
        if (list[i] == number) {
            return true;
        }
    }
    return false;
}

/* The same by sorting the whole list. */
static int sort_all(struct model_arena *arena,
                    const struct search_candidates *list,
                    const struct search_look *look,
                    double step,
                    int *out)
{
    struct rival *rivals =
        model_arena_array(arena, (size_t)list->count, sizeof *rivals);
    double from[5], to[5];
    int count = 0;
    int found = 0;
    int k;

    numbers_of(list, look->from, from);
    for (int n = 0; n < list->count; n++) {
        struct rival rival = {.number = n};

        numbers_of(list, n, to);
        rival.distance = look->direction * (to[look->axis] - from[look->axis]);
        for (int i = 0; i < 5; i++) {
            rival.off +=
                i != look->axis ? (to[i] - from[i]) * (to[i] - from[i]) : 0;
        }
        if (rival.distance > 0 && !is_in(look->tried, look->tried_count, n)) {
            rivals[count++] = rival;
        }
    }
    qsort(rivals, (size_t)count, sizeof *rivals, by_distance);
    k = (int)fmin(fmax((int)(step * count), 3), count);
    for (int i = k - 1; i >= 0 && found < 3; i--) {
        out[found++] = rivals[i].number;
    }
    return found;
}

/*
 * 400 looks over a list of 30 channels with chunks up to 40 KiB, of random
 * origin, axis, direction, step and tried candidates.
 */
static void ahead_is_as_sorted(void **state)
{
    gsl_rng *random = search_random(*state, 3);
    struct search_space space = small_space(30, 40);
    struct search_candidates list;
    struct search_ahead room = {.arena = *state};

    space.threads_max = 256;
    space.last_threads = 256;
    space.count_bytes = 300000;
    search_candidates_make(*state, &space, &list);
    assert_int_equal(list.count, search_space_count(&space));
    for (int i = 0; i < 400; i++) {
        int tried[20];
        int apart = list.count / 20;
        int expected[3], numbers[3];
        struct search_look look = {
            .from = (int)gsl_rng_uniform_int(random, (unsigned)list.count),
            .axis = (int)gsl_rng_uniform_int(random, SEARCH_AXES),
            .direction = gsl_rng_uniform_int(random, 2) == 0 ? 1 : -1,
            .tried = tried,
            .tried_count = (int)gsl_rng_uniform_int(random, 21)};
        double step = i % 3 == 0 ? 0 : gsl_rng_uniform(random);
        int count;

        for (int t = 0; t < look.tried_count; t++) {
            tried[t] =
                t * apart + (int)gsl_rng_uniform_int(random, (unsigned)apart);
        }
        count = sort_all(*state, &list, &look, step, expected);
        assert_int_equal(
            search_candidates_ahead(&list, &look, step, 3, &room, numbers),
            count);
        assert_memory_equal(numbers, expected,
                            (size_t)count * sizeof(*numbers));
    }
}

/* Every number is that of its candidate. */
static void candidates_are_numbered(void **state)
{
    struct search_space space = small_space(4, 3);
    struct search_candidates list;

    search_candidates_make(*state, &space, &list);
    /* 96 threads: 3072 / 768 = 4 chunks; 128: 3 */
    assert_int_equal(list.count, 4 * (4 + 3));
    for (int i = 0; i < list.count; i++) {
        struct search_candidate one = search_candidates_at(&list, i);

        assert_int_equal(search_candidates_number(&list, &one), i);
    }
}

/* -- pretraining -- */

/* 8 candidates, 4 calls: every second one, from a random one on. */
static void pretraining_is_strided(void **state)
{
    struct bench *it = bench(*state, 4, 1, (struct search_calls){4, 9, 1});
    int first;

    assert_int_equal(it->descent.candidates.count, 8);
    assert_int_equal(next(it, 1), 4);
    first = it->descent.batch[0].number;
    for (int i = 1; i < 4; i++) {
        assert_int_equal(it->descent.batch[i].number, (first + 2 * i) % 8);
    }
    assert_int_equal(it->descent.tried_count, 4);
}

/* As many calls as candidates: drawn at random, until the calls are used up or
 * all were seen. */
static void pretraining_of_few_is_random(void **state)
{
    struct bench *it = bench(*state, 1, 1, (struct search_calls){9, 9, 1});
    int length = next(it, 1);

    assert_int_equal(it->descent.candidates.count, 2);
    assert_in_range(length, 2, 9);
    if (length < 9) {
        assert_int_equal(it->descent.tried_count, 2);
    }
}

/* 2 calls a candidate: half as many, and 5 calls make 2, 2 and 1. */
static void repeats_share_the_calls(void **state)
{
    struct bench *it = bench(*state, 4, 1, (struct search_calls){5, 9, 2});

    assert_int_equal(next(it, 1), 3);
    assert_int_equal(it->descent.batch[0].calls, 2);
    assert_int_equal(it->descent.batch[1].calls, 2);
    assert_int_equal(it->descent.batch[2].calls, 1);
    /* 8 / (5 / 2) = 4 apart */
    assert_int_equal(it->descent.batch[1].number,
                     (it->descent.batch[0].number + 4) % 8);
}

/* -- training -- */

/*
 * 20 channels, chunks up to 8 KiB, and one call of pretraining: at (10, 96, 5),
 * the first seed that draws it. It takes 100 us.
 */
static struct bench *from_the_middle(struct model_arena *arena)
{
    struct search_candidate middle = {10, 96, 5};

    for (uint64_t seed = 1;; seed++) {
        struct bench *it =
            bench(arena, 20, 8, (struct search_calls){1, 999, 1});
        struct search_candidate first;

        it->random = search_random(arena, seed);
        assert_int_equal(next(it, 100), 1);
        first = at(it, 0);
        if (memcmp(&first, &middle, sizeof first) == 0) {
            return it;
        }
    }
}

static void is_at(const struct bench *it, int axis, int direction, int failures)
{
    assert_int_equal(it->descent.axis, axis);
    assert_int_equal(it->descent.direction, direction);
    assert_int_equal(it->descent.failures, failures);
}

/*
 * All slower than (10, 96, 5 x 768 = 3840 bytes): three up the channels, with
 * 11; down, with 9; more threads; fewer, of which there are none: that fails,
 * too; the next larger chunk, 4 x 1024; the next smaller, 3 x 1024 or 4 x 768.
 * Then the sixth failure: a random candidate, alone.
 */
static void axes_are_surveyed_in_order(void **state)
{
    struct bench *it = from_the_middle(*state);

    assert_int_equal(next(it, 200), 3);
    is_at(it, 0, 1, 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(at(it, i).channels, 11);
    }
    assert_int_equal(next(it, 200), 3);
    is_at(it, 0, -1, 1);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(at(it, i).channels, 9);
    }
    assert_int_equal(next(it, 200), 3);
    is_at(it, 1, 1, 2);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(at(it, i).threads, 128);
    }
    assert_int_equal(next(it, 200), 3);
    is_at(it, 2, 1, 4);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(at(it, i).threads, 128);
        assert_int_equal(at(it, i).multiple, 4);
    }
    assert_int_equal(next(it, 200), 3);
    is_at(it, 2, -1, 5);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(at(it, i).threads * at(it, i).multiple, 3 * 128);
    }
    assert_int_equal(next(it, 200), 1);
    assert_int_equal(it->descent.starts, 2);
}

/*
 * A gain of a half, 100 to 50 us: 0.8 x 0.5 of all ahead, of which the three
 * farthest are tried, farthest first.
 */
static void a_gain_is_a_quantile(void **state)
{
    struct bench *it = from_the_middle(*state);
    struct search_look look = {.axis = 0, .direction = 1};
    int expected[3];
    int tried[4];

    assert_int_equal(next(it, 50), 3);
    look.from = it->descent.batch[0].number; /* the first of the equal ones */
    memcpy(tried, it->descent.numbers, sizeof tried);
    look.tried = tried;
    look.tried_count = it->descent.tried_count;
    assert_int_equal(
        sort_all(*state, &it->descent.candidates, &look, 0.4, expected), 3);
    assert_int_equal(next(it, 60), 3);
    assert_near(it->descent.step, 0.4, 1e-12);
    is_at(it, 0, 1, 0);
    assert_int_equal(it->descent.current, look.from);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(it->descent.batch[i].number, expected[i]);
        /* 11 .. 20 are ahead; 4 tenths of 9 or 10 counts, and so many more */
        assert_in_range(at(it, i).channels, 14, 16);
    }
}

/* Surveys that fail until the next start, which takes us. */
static void fail_until_restart(struct bench *it, double us)
{
    int length;

    while ((length = search_descent_next(&it->descent, it->random)) > 1) {
        for (int i = 0; i < length; i++) {
            search_descent_record(&it->descent, it->descent.batch[i].number,
                                  200);
        }
    }
    assert_int_equal(length, 1);
    search_descent_record(&it->descent, it->descent.batch[0].number, us);
}

/*
 * A start of 500 us is compared with the batch before it, of 200: back there,
 * with a quantile of 0.8 x 3 / 5, and failures are counted anew.
 */
static void a_slow_start_goes_back(void **state)
{
    struct bench *it = from_the_middle(*state);
    int points[3];

    fail_until_restart(it, 500);
    memcpy(points, it->descent.points, sizeof points);
    is_at(it, 0, 1, 6);
    (void)next(it, 200);
    assert_true(is_in(points, 3, it->descent.current));
    assert_near(it->descent.step, 0.48, 1e-12);
    is_at(it, 0, 1, 0);
}

/* One of 150 us is better than those: it stays, and that is a failure more than
 * the six, after which a descent ends only when one has gained. */
static void a_fast_start_stays(void **state)
{
    struct bench *it = from_the_middle(*state);
    int start;

    fail_until_restart(it, 150);
    start = it->descent.current;
    assert_true(next(it, 200) > 1);
    assert_int_equal(it->descent.current, start);
    is_at(it, 0, -1, 7);
    for (int i = 0; i < 8; i++) {
        assert_true(next(it, 200) > 1);
    }
    assert_true(it->descent.failures > 12);
    assert_int_equal(it->descent.starts, 2);
}

/* Each start is slow: the first descent, three more, and the fifth start is a
 * candidate alone. */
static void starts_are_five(void **state)
{
    struct bench *it = from_the_middle(*state);

    for (int start = 2; start <= 5; start++) {
        fail_until_restart(it, 500);
        assert_int_equal(it->descent.starts, start);
    }
    assert_int_equal(next(it, 200), 0);
    assert_true(it->descent.done);
}

/* Budgets end it, and no candidate is handed out twice in training. */
static void calls_end_it(void **state)
{
    struct bench *it = bench(*state, 40, 10, (struct search_calls){6, 20, 1});
    int calls = 0;
    int length;

    while ((length = next(it, 1000.0 - calls)) > 0) {
        calls += length;
    }
    assert_int_equal(calls, 26);
    assert_int_equal(it->descent.tried_count, 26);
    assert_true(it->descent.done);
}

/* -- scores -- */

/*
 * Of 5 times the fastest 4 (3.75, rounded up): (1 + 2 + 3 + 4) / 4. Of 20
 * times, 20 down to 1, the fastest 15: (1 + 15) / 2.
 */
static void a_score_leaves_out_the_slowest(void **state)
{
    double five[] = {3, 100, 1, 4, 2};
    double one[] = {7};
    double four[] = {4, 1, 2, 90};
    double twenty[20];

    (void)state;
    for (int i = 0; i < 20; i++) {
        twenty[i] = 20 - i;
    }
    assert_near(search_score_us(twenty, 20), 8, 0);
    assert_near(search_score_us(five, 5), 2.5, 0);
    assert_near(search_score_us(one, 1), 7, 0);
    assert_near(search_score_us(four, 4), 7.0 / 3.0, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ahead_is_as_sorted),
        cmocka_unit_test(candidates_are_numbered),
        cmocka_unit_test(pretraining_is_strided),
        cmocka_unit_test(pretraining_of_few_is_random),
        cmocka_unit_test(repeats_share_the_calls),
        cmocka_unit_test(axes_are_surveyed_in_order),
        cmocka_unit_test(a_gain_is_a_quantile),
        cmocka_unit_test(a_slow_start_goes_back),
        cmocka_unit_test(a_fast_start_stays),
        cmocka_unit_test(starts_are_five),
        cmocka_unit_test(calls_end_it),
        cmocka_unit_test(a_score_leaves_out_the_slowest),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
