/*
 * test_child.c - another program run to its end: what it says and returns, when
 * it does not start, not end, or is interrupted.
 */
#include "search/child.h"

#include "tests/unit/fixture.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static struct search_child_end
run_shell(struct model_arena *arena, const char *script, double timeout_s)
{
    const char *words[] = {"sh",    "-c",       script, "name",
                           "first", "a 'b' $c", NULL};
    const char *variables[] = {"CHILD=told", "HOME=/nowhere", NULL};

    return search_child_run(
        arena, &(struct search_child){words, variables, timeout_s});
}

static double seconds(void)
{
    struct timespec now;

    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void what_it_says_and_returns(void **state)
{
    static const struct {
        const char *script, *last_line;
        int code, signal;
    } rows[] = {
        {"true", "", 0, 0},
        {"exit 5", "", 5, 0},
        {"echo one >&2; echo two >&2; exit 1", "two", 1, 0},
        {"printf 'no end' >&2", "no end", 0, 0},
        {"echo said >&2; echo '  ' >&2; echo >&2", "said", 0, 0},
        {"echo to nobody", "", 0, 0},
        {"echo $1 >&2", "first", 0, 0},
        {"echo \"$2\" >&2", "a 'b' $c", 0, 0},
        {"echo $CHILD $HOME >&2", "told /nowhere", 0, 0},
        {"cat; echo read >&2", "read", 0, 0}, /* nothing on standard input */
        {"kill -9 $$", "", 0, SIGKILL},
        {"exec 2>&-; sleep 0.05; exit 7", "", 7, 0},
    };

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct search_child_end end = run_shell(*state, rows[i].script, 10);

        assert_int_equal(end.fault, 0);
        assert_string_equal(end.last_line, rows[i].last_line);
        assert_int_equal(end.code, rows[i].code);
        assert_int_equal(end.signal, rows[i].signal);
        assert_false(end.timed_out);
    }
}

/* A line is cut, and a megabyte of them does not fill the pipe. */
static void it_may_say_much(void **state)
{
    struct search_child_end end =
        run_shell(*state, "yes long | head -c 1000000 | tr '\\n' 'x' >&2", 10);

    assert_int_equal(end.code, 0);
    assert_int_equal(strlen(end.last_line), 400);
    end =
        run_shell(*state, "yes 2>&1 | head -c 1000000 >&2; echo last >&2", 10);
    assert_string_equal(end.last_line, "last");
}

static void what_does_not_start(void **state)
{
    const char *none[] = {"no-such-program-here", NULL};
    const char *folder[] = {"/", NULL};
    struct search_child child = {.words = none};

    assert_int_equal(search_child_run(*state, &child).fault, ENOENT);
    child.words = folder;
    assert_int_equal(search_child_run(*state, &child).fault, EACCES);
}

/* Asked to end, it does. */
static void time_is_up(void **state)
{
    double begin_s = seconds();
    struct search_child_end end =
        run_shell(*state, "echo begun >&2; sleep 30; echo never >&2", 0.2);

    assert_true(end.timed_out);
    assert_int_equal(end.signal, SIGTERM);
    assert_string_equal(end.last_line, "begun");
    assert_true(seconds() - begin_s < 4);
}

/* Do all that have the pipe end within two seconds? */
static bool all_end(const int pipe_ends[2])
{
    struct pollfd look = {.fd = pipe_ends[0], .events = POLLIN};
    bool gone;

    (void)close(pipe_ends[1]);
    gone = poll(&look, 1, 2000) == 1 && (look.revents & POLLHUP) != 0;
    (void)close(pipe_ends[0]);
    return gone;
}

/*
 * With all that it started: these have the other end of a pipe, which is closed
 * when the last of them has gone. Who does not heed the request is killed.
 */
static void nobody_stays(void **state)
{
    static const char *const scripts[] = {"sleep 30 & wait",
                                          "trap '' TERM; sleep 30; sleep 30"};
    static const int signals[] = {SIGTERM, SIGKILL};

    for (int i = 0; i < FIXTURE_COUNT(scripts); i++) {
        int pipe_ends[2];
        struct search_child_end end;

        assert_int_equal(pipe(pipe_ends), 0);
        end = run_shell(*state, scripts[i], 0.2);
        assert_true(end.timed_out);
        assert_int_equal(end.signal, signals[i]);
        assert_true(all_end(pipe_ends));
    }
}

/* What we hold back is not held back there. */
static void it_hears_signals(void **state)
{
    sigset_t before;
    struct search_child_end end;

    search_child_hold(&before);
    end = run_shell(*state, "kill -TERM $$; exit 3", 10);
    search_child_release(&before);
    assert_int_equal(end.signal, SIGTERM);
}

static void *interrupt(void *thread)
{
    struct timespec wait = {.tv_nsec = 200000000};

    (void)nanosleep(&wait, NULL);
    (void)pthread_kill(*(pthread_t *)thread, SIGHUP);
    return NULL;
}

/* A signal for us ends it, and comes due only when it is released. */
static void a_signal_comes_afterwards(void **state)
{
    pthread_t self = pthread_self();
    pthread_t other;
    sigset_t before;
    sigset_t pending;
    struct search_child_end end;
    struct timespec none = {.tv_nsec = 0};

    search_child_hold(&before);
    assert_int_equal(pthread_create(&other, NULL, interrupt, &self), 0);
    end = run_shell(*state, "sleep 30", 0);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_int_equal(end.signal, SIGHUP);
    assert_false(end.timed_out);
    assert_int_equal(sigpending(&pending), 0);
    assert_int_equal(sigismember(&pending, SIGHUP), 1);
    /* Take it, so that the test goes on. */
    assert_int_equal(sigemptyset(&pending), 0);
    assert_int_equal(sigaddset(&pending, SIGHUP), 0);
    assert_int_equal(sigtimedwait(&pending, NULL, &none), SIGHUP);
    search_child_release(&before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_says_and_returns),
        cmocka_unit_test(it_may_say_much),
        cmocka_unit_test(what_does_not_start),
        cmocka_unit_test(time_is_up),
        cmocka_unit_test(nobody_stays),
        cmocka_unit_test(it_hears_signals),
        cmocka_unit_test(a_signal_comes_afterwards),
    };

    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
