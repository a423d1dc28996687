/*
 * lagom_climb.h - what the files of Lagom's strategy share: a class while it
 * climbs, the way up of its configurations, and the account of it all.
 */
#ifndef SEARCH_LAGOM_CLIMB_H
#define SEARCH_LAGOM_CLIMB_H

#include "search/lagom_reading.h"
#include "search/space.h"
#include "search/strategy.h"

/* The least step, and the first. */
#define LAGOM_RAISE_MIN 0.01

/* Why a class is done. */
enum lagom_stop {
    LAGOM_HIDDEN, /* X' < Y' */
    LAGOM_WORSE,  /* x got worse, or no better */
    LAGOM_TOP,    /* nothing is left to raise */
    LAGOM_NATIVE  /* it runs with NCCL's own settings */
};

struct lagom_climber {
    struct search_space space;
    struct model_config native; /* NCCL's own */
    struct model_config config; /* accepted, or being measured */
    struct model_config before; /* that */
    double height;              /* 0: least, 1: largest configuration */
    double priority;            /* H */
    double raise;               /* of the next step */
    bool started;               /* the least configuration was measured */
    bool climbed;               /* a raise was accepted */
    bool done;
    enum lagom_stop stop;
};

/* A window, with the best that was found for it. */
struct lagom_window {
    double z_us; /* max(X, Y) */
    double comm_us, kernel_us;
    int steps;   /* in all subspaces */
    bool climbs; /* in this subspace */
};

struct lagom {
    struct search_task *task;
    struct search_outcome *outcome;
    struct search_reading reading;
    struct lagom_climber *climbers; /* by class */
    struct lagom_climber *best;     /* by class */
    struct lagom_window *windows;
    int *chosen; /* by window: the class that takes a step, or -1 */
    struct search_measure now;    /* the last evaluation */
    struct search_measure seen;   /* by window: when a step was last accepted */
    struct search_measure native; /* under NCCL's own settings */
    bool reverted; /* the whole was slower than with NCCL's own settings */
};

/* The subspaces of a class that the reading climbs. */
struct lagom_spaces {
    struct search_space list[SEARCH_SUBSPACES_MAX];
    int count;
};

void lagom_spaces_of(const struct search_reading *reading,
                     const struct search_problem *problem,
                     const struct search_class *part,
                     struct lagom_spaces *spaces);

/* The ends of a space. */
struct model_config lagom_least(const struct search_space *space);
bool lagom_is_top(const struct search_space *space,
                  const struct model_config *config);

/*
 * The configuration above one, by lr. *height is where the climb is, for the
 * scales that are parts of the range; it rises too.
 */
struct model_config lagom_raise(const struct search_reading *reading,
                                const struct search_space *space,
                                const struct model_config *config,
                                double lr,
                                double *height);

/* lr after a step from before_us to x_us, which is less. */
double
lagom_rate(const struct search_reading *reading, double before_us, double x_us);

/*
 * How each window ended, in lines of text: X and Y, which of the paper's three
 * cases (section 3.4), and by class H, settings and why it stopped. Lives in
 * the task's arena.
 */
const char *lagom_account(const struct lagom *lagom);

#endif
