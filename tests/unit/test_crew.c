/*
 * test_crew.c - jobs by number: each once, none after one that failed.
 */
#include "search/crew.h"

#include "tests/unit/fixture.h"

enum { JOBS = 100 };

struct done {
    int times[JOBS]; /* each job has its own: no lock */
    int failing;     /* -1: none */
};

static bool job(void *context, int index)
{
    struct done *done = context;

    done->times[index]++;
    return index != done->failing;
}

static void each_is_done_once(void **state)
{
    static const int threads[] = {1, 4, JOBS + 1};

    (void)state;
    for (int i = 0; i < FIXTURE_COUNT(threads); i++) {
        struct done done = {.failing = -1};
        struct search_crew_work work = {job, &done, JOBS};

        search_crew_run(&work, threads[i]);
        for (int k = 0; k < JOBS; k++) {
            assert_int_equal(done.times[k], 1);
        }
    }
}

static void none_after_a_failure(void **state)
{
    struct done done = {.failing = 3};
    struct search_crew_work work = {job, &done, JOBS};

    (void)state;
    search_crew_run(&work, 1);
    for (int k = 0; k < JOBS; k++) {
        assert_int_equal(done.times[k], k <= 3);
    }
}

static void threads_for_jobs(void **state)
{
    (void)state;
    assert_int_equal(search_crew_threads(4, 100), 4);
    assert_int_equal(search_crew_threads(4, 3), 3);
    assert_int_equal(search_crew_threads(1000000, 1000000), 256);
    assert_true(search_crew_threads(0, 100) >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_done_once),
        cmocka_unit_test(none_after_a_failure),
        cmocka_unit_test(threads_for_jobs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
