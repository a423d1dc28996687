/*
 * child.c - posix_spawn, a pipe for what the program says, and a look every few
 * milliseconds whether it has ended, time is up, or a signal waits. No handler:
 * signals stay pending.
 */
#include "search/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { LOOK_MS = 5, PATIENCE_S = 5, LINE_MAX_BYTES = 400 };

static const int held[] = {SIGINT, SIGTERM, SIGHUP};

enum { HELD = sizeof(held) / sizeof(held[0]) };

/* -- signals -- */

static sigset_t held_set(void)
{
    sigset_t set;

    (void)sigemptyset(&set);
    for (int i = 0; i < HELD; i++) {
        (void)sigaddset(&set, held[i]);
    }
    return set;
}

void search_child_hold(sigset_t *before)
{
    sigset_t set = held_set();

    (void)pthread_sigmask(SIG_BLOCK, &set, before);
}

void search_child_release(const sigset_t *before)
{
    (void)pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* A held signal that has come, or 0. */
static int pending_signal(void)
{
    sigset_t set;

    if (sigpending(&set) == 0) {
        for (int i = 0; i < HELD; i++) {
            if (sigismember(&set, held[i]) == 1) {
                return held[i];
            }
        }
    }
    return 0;
}

/* -- what it says -- */

/* The line that is being written, and the last one that was. */
struct ear {
    int descriptor;
    char line[LINE_MAX_BYTES + 1];
    char last[LINE_MAX_BYTES + 1];
    size_t length;
};

static void end_line(struct ear *ear)
{
    ear->line[ear->length] = '\0';
    if (ear->line[strspn(ear->line, " \t\r")] != '\0') {
        memcpy(ear->last, ear->line, ear->length + 1);
    }
    ear->length = 0;
}

static void hear(struct ear *ear, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] == '\n' || bytes[i] == '\0') {
            end_line(ear);
        } else if (ear->length < LINE_MAX_BYTES) {
            ear->line[ear->length++] = bytes[i];
        }
    }
}

/* Read what is there; waits for it at most so long. */
static void listen_for(struct ear *ear, int wait_ms)
{
    struct pollfd look = {.fd = ear->descriptor, .events = POLLIN};
    char bytes[4096];
    ssize_t count;

    (void)poll(&look, ear->descriptor >= 0 ? 1 : 0, wait_ms);
    while (ear->descriptor >= 0) {
        count = read(ear->descriptor, bytes, sizeof(bytes));
        if (count > 0) {
            hear(ear, bytes, (size_t)count);
        } else if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        } else {
            (void)close(ear->descriptor);
            ear->descriptor = -1;
        }
    }
}

/* -- its life -- */

static double now_s(void)
{
    struct timespec now = {0, 0};

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool has_ended(pid_t pid, int *status)
{
    pid_t ended = waitpid(pid, status, WNOHANG);

    return ended == pid || (ended < 0 && errno != EINTR);
}

/* Until it has ended, or it is time_s; false then, or when a signal came. */
static bool
wait_until(pid_t pid, struct ear *ear, double time_s, bool heeds, int *status)
{
    while (!has_ended(pid, status)) {
        if ((time_s > 0.0 && now_s() >= time_s) ||
            (heeds && pending_signal() != 0)) {
            return false;
        }
        listen_for(ear, LOOK_MS);
    }
    return true;
}

/* Asked to end by the signal that came, or SIGTERM; made to in the end. */
static int end_it(pid_t pid, struct ear *ear)
{
    int status = 0;
    int signal = pending_signal();

    (void)kill(-pid, signal != 0 ? signal : SIGTERM);
    if (!wait_until(pid, ear, now_s() + PATIENCE_S, false, &status)) {
        (void)kill(-pid, SIGKILL);
        (void)wait_until(pid, ear, 0.0, false, &status);
    }
    return status;
}

static bool sets(const char *const *variables, const char *other)
{
    for (int i = 0; variables != NULL && variables[i] != NULL; i++) {
        size_t length = strcspn(variables[i], "=") + 1;

        if (strncmp(variables[i], other, length) == 0) {
            return true;
        }
    }
    return false;
}

static const char **environment(struct model_arena *arena,
                                const char *const *variables)
{
    size_t count = 1;
    const char **all;
    int next = 0;

    for (int i = 0; variables != NULL && variables[i] != NULL; i++) {
        count++;
    }
    for (int i = 0; environ[i] != NULL; i++) {
        count++;
    }
    all = model_arena_array(arena, count, sizeof(*all));
    for (int i = 0; variables != NULL && variables[i] != NULL; i++) {
        all[next++] = variables[i];
    }
    for (int i = 0; environ[i] != NULL; i++) {
        if (!sets(variables, environ[i])) {
            all[next++] = environ[i];
        }
    }
    return all;
}

/* Start it with its standard error in a pipe. Returns errno, or 0. */
static int start(const struct search_child *child,
                 const char **variables,
                 const int pipe_ends[2],
                 const sigset_t *mask,
                 pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t usual = held_set();
    sigset_t own = *mask;
    int fault;

    for (int i = 0; i < HELD; i++) {
        (void)sigdelset(&own, held[i]);
    }
    (void)posix_spawn_file_actions_init(&files);
    (void)posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    (void)posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    (void)posix_spawn_file_actions_adddup2(&files, pipe_ends[1], 2);
    (void)posix_spawnattr_init(&how);
    (void)posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP |
                                             POSIX_SPAWN_SETSIGMASK |
                                             POSIX_SPAWN_SETSIGDEF);
    (void)posix_spawnattr_setpgroup(&how, 0);
    (void)posix_spawnattr_setsigmask(&how, &own);
    (void)posix_spawnattr_setsigdefault(&how, &usual);
    /* posix_spawnp takes the words as its own, but does not write to them. */
    fault = posix_spawnp(pid, child->words[0], &files, &how,
                         (char *const *)(const void *)child->words,
                         (char *const *)(const void *)variables);
    (void)posix_spawn_file_actions_destroy(&files);
    (void)posix_spawnattr_destroy(&how);
    return fault;
}

/* From start to end, while signals are held back. */
static void live(const struct search_child *child,
                 const char **variables,
                 const sigset_t *mask,
                 struct ear *ear,
                 struct search_child_end *end)
{
    double end_s = child->timeout_s > 0.0 ? now_s() + child->timeout_s : 0.0;
    int pipe_ends[2];
    int status = 0;
    pid_t pid = 0;

    if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
        end->fault = errno;
        return;
    }
    (void)fcntl(pipe_ends[0], F_SETFL, O_NONBLOCK);
    end->fault = start(child, variables, pipe_ends, mask, &pid);
    (void)close(pipe_ends[1]);
    ear->descriptor = pipe_ends[0];
    if (end->fault == 0) {
        if (!wait_until(pid, ear, end_s, true, &status)) {
            end->timed_out = pending_signal() == 0;
            status = end_it(pid, ear);
        }
        listen_for(ear, 0);
        end_line(ear);
        end->code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
        end->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    }
    if (ear->descriptor >= 0) {
        (void)close(ear->descriptor);
    }
}

struct search_child_end search_child_run(struct model_arena *arena,
                                         const struct search_child *child)
{
    struct search_child_end end = {.last_line = ""};
    struct ear ear = {.descriptor = -1};
    const char **variables = environment(arena, child->variables);
    sigset_t before;

    search_child_hold(&before);
    live(child, variables, &before, &ear, &end);
    search_child_release(&before);
    end.last_line = model_arena_text(arena, ear.last);
    return end;
}
