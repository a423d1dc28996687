/*
 * child.h - another program, run to its end: for measurements.
 *
 * It has no input and no output but what it says on standard error, of which
 * the last line is kept. It is in a process group of its own, which is ended as
 * a whole when time is up, or when this program is to end: SIGINT, SIGTERM and
 * SIGHUP are held back meanwhile, passed on, and come due afterwards. So files
 * made for it can be removed in any case.
 */
#ifndef SEARCH_CHILD_H
#define SEARCH_CHILD_H

#include "model/arena.h"

#include <signal.h>
#include <stdbool.h>

struct search_child {
    const char *const *words; /* the program, its arguments, NULL */
    /* Put before the environment's own: NAME=VALUE, NULL; or NULL. */
    const char *const *variables;
    double timeout_s; /* 0: none */
};

/* How it ended. */
struct search_child_end {
    int fault;             /* errno of why it did not start, or 0 */
    int code;              /* its exit status, when it ended by itself */
    int signal;            /* that ended it, or 0 */
    bool timed_out;        /* it did not end in time, and was ended */
    const char *last_line; /* that it wrote, "" for none; in the arena */
};

/*
 * Run a program: a path, or a name that is looked for in PATH. Returns when it
 * has ended.
 */
struct search_child_end search_child_run(struct model_arena *arena,
                                         const struct search_child *child);

/*
 * The signals that search_child_run holds back, held back for longer: until
 * `before`, as search_child_hold filled it, is given to search_child_release.
 * What came meanwhile takes its effect then.
 */
void search_child_hold(sigset_t *before);
void search_child_release(const sigset_t *before);

#endif
