/*
 * lagom.c - Lagom (arXiv 2602.20656): collectives just fast enough to hide.
 *
 * Algorithm 1, per overlap window: every collective class starts undone with
 * priority H = 0.01; the undone one with the smallest H takes a step; then
 * H = (Y' - Y) / (x - x'), the computation lost per communication gained.
 *
 * Algorithm 2, a step of class j: the first is to the least configuration.
 * Measure. When x_j got worse, or the window's communication now fits under
 * its computation (X' < Y'), j is done; otherwise channels, threads and chunk
 * all rise by lr.
 *
 * Where the printed algorithms leave a hole, this file chooses:
 *
 *   lr         the improvement (x - x') / x', as a fraction of each parameter's
 *              range, kept within RAISE_MIN .. RAISE_MAX: an early gain is of
 *              the order of x itself and would jump to the far end
 *   range      channels geometrically, threads and chunk linearly, within the
 *              bounds of AutoCCL's generator (space.h)
 *   first      a class runs with NCCL's own configuration until it is first
 *              chosen; there is no earlier x to compare with then, and
 *              lr = RAISE_MIN
 *   measured   x, Y and their primes are of the last two evaluations
 *   worse      a gain under GAIN_MIN counts as none
 *   kept       the configuration before, when x_j got worse; the new one when
 *              X' < Y'
 *   transport  the climb is made once per subspace, for all classes alike, and
 *              each window keeps the subspace with the smaller max(X, Y)
 *   native     AutoCCL, inside which Lagom runs, also measures NCCL's own
 *              configuration: a window that no climb betters keeps it; and
 *              all windows do when the whole iteration is slower without it
 */
#include "search/space.h"
#include "search/strategy.h"

#include <float.h>
#include <math.h>

static const double FIRST_PRIORITY = 0.01;
static const double RAISE_MIN = 0.01;
static const double RAISE_MAX = 0.1;
static const double GAIN_MIN = 0.001;

/* One class while it climbs. */
struct climber {
    struct search_space space;
    double height;   /* 0: least, 1: largest configuration */
    double priority; /* H */
    double raise;    /* of the next step */
    bool started;
    bool done;
    struct model_config config;
};

struct climb {
    struct search_task *task;
    struct search_outcome *outcome;
    struct climber *climbers;
    struct search_measure now, before;
};

/* The configuration at a height. */
static struct model_config config_at(const struct search_space *space,
                                     double height)
{
    struct model_config config = space->subspace;
    double threads = SEARCH_THREADS_MAX - SEARCH_THREADS_MIN;
    int chunks;

    config.channels =
        (int)floor(pow((double)space->channels_max, height) + 0.5);
    config.threads =
        SEARCH_THREADS_MIN +
        SEARCH_THREADS_STEP *
            (int)floor(height * threads / SEARCH_THREADS_STEP + 0.5);
    chunks = search_space_chunks(space, config.channels, config.threads);
    config.chunk_bytes = fmax(floor(height * chunks + 0.5), 1.0) *
                         config.threads * SEARCH_CHUNK_GRAIN;
    return config;
}

static enum model_status measure(struct climb *climb)
{
    const struct search_problem *problem = climb->task->problem;

    for (int i = 0; i < problem->class_count; i++) {
        climb->outcome->configs[i] = climb->climbers[i].config;
    }
    return search_try(climb->task, climb->outcome, climb->outcome->configs,
                      &climb->now);
}

static enum model_status measure_native(struct climb *climb)
{
    const struct search_problem *problem = climb->task->problem;

    for (int i = 0; i < problem->class_count; i++) {
        climb->climbers[i].config = problem->classes[i].baseline;
    }
    return measure(climb);
}

static void copy_measure(const struct search_problem *problem,
                         const struct search_measure *from,
                         struct search_measure *to)
{
    to->iteration_us = from->iteration_us;
    for (int i = 0; i < problem->class_count; i++) {
        to->x_us[i] = from->x_us[i];
    }
    for (int i = 0; i < problem->window_count; i++) {
        to->comm_us[i] = from->comm_us[i];
        to->kernel_us[i] = from->kernel_us[i];
    }
}

/* The window's undone class with the smallest H; ties go to the lowest. */
static int choose(const struct climb *climb, int window)
{
    int best = -1;

    for (int i = 0; i < climb->task->problem->class_count; i++) {
        if (climb->task->problem->classes[i].window_index == window &&
            !climb->climbers[i].done &&
            (best < 0 ||
             climb->climbers[i].priority < climb->climbers[best].priority)) {
            best = i;
        }
    }
    return best;
}

/*
 * Algorithm 2: raise the class (the first time: put it at its least
 * configuration), measure, decide whether it is done, and set its H.
 */
static enum model_status step(struct climb *climb, int index)
{
    const struct search_problem *problem = climb->task->problem;
    struct climber *self = &climb->climbers[index];
    int window = problem->classes[index].window_index;
    struct climber old = *self;
    enum model_status status;
    double before_us;
    double x_us;

    if (self->started) {
        self->height = fmin(self->height + self->raise, 1.0);
    }
    self->started = true;
    self->config = config_at(&self->space, self->height);
    copy_measure(problem, &climb->now, &climb->before);
    status = measure(climb);
    if (status != MODEL_OK) {
        return status;
    }
    x_us = climb->now.x_us[index];
    before_us = climb->before.x_us[index];
    if (old.started && x_us > before_us * (1.0 - GAIN_MIN)) {
        *self = old;
        self->done = true;
        copy_measure(problem, &climb->before, &climb->now);
        return MODEL_OK;
    }
    self->done = climb->now.comm_us[window] < climb->now.kernel_us[window] ||
                 self->height >= 1.0;
    if (old.started) {
        self->raise =
            fmin(fmax((before_us - x_us) / x_us, RAISE_MIN), RAISE_MAX);
        self->priority =
            (climb->now.kernel_us[window] - climb->before.kernel_us[window]) /
            (before_us - x_us);
    }
    return MODEL_OK;
}

/* Algorithm 1 in one subspace, for all classes. */
static enum model_status climb_subspace(struct climb *climb, int subspace)
{
    const struct search_problem *problem = climb->task->problem;
    enum model_status status;
    int index;

    for (int i = 0; i < problem->class_count; i++) {
        const struct search_class *part = &problem->classes[i];
        struct search_space spaces[MODEL_TRANSPORTS];
        int count = search_subspaces(problem, part, spaces);
        int own = subspace < count ? subspace : count - 1;

        climb->climbers[i] = (struct climber){.space = spaces[own],
                                              .priority = FIRST_PRIORITY,
                                              .raise = RAISE_MIN};
        climb->climbers[i].config = part->baseline;
    }
    status = MODEL_OK;
    for (int window = 0; window < problem->window_count; window++) {
        while (status == MODEL_OK && (index = choose(climb, window)) >= 0) {
            status = step(climb, index);
        }
    }
    return status;
}

/* Where the climb's window is shorter than the best so far, take it over. */
static void
keep_better(struct climb *climb, double *best_us, struct model_config *best)
{
    const struct search_problem *problem = climb->task->problem;

    for (int window = 0; window < problem->window_count; window++) {
        double z_us =
            fmax(climb->now.comm_us[window], climb->now.kernel_us[window]);

        if (z_us > best_us[window] * (1.0 - GAIN_MIN)) {
            continue;
        }
        best_us[window] = z_us;
        for (int i = 0; i < problem->class_count; i++) {
            if (problem->classes[i].window_index == window) {
                best[i] = climb->climbers[i].config;
            }
        }
    }
}

/* The most that any class has. */
static int subspace_count(const struct search_problem *problem)
{
    struct search_space spaces[MODEL_TRANSPORTS];
    int most = 0;

    for (int i = 0; i < problem->class_count; i++) {
        int count = search_subspaces(problem, &problem->classes[i], spaces);

        most = count > most ? count : most;
    }
    return most;
}

static bool is_native(const struct search_problem *problem,
                      const struct model_config *configs)
{
    for (int i = 0; i < problem->class_count; i++) {
        if (!model_config_equal(&configs[i], &problem->classes[i].baseline)) {
            return false;
        }
    }
    return true;
}

/*
 * Windows are judged one by one, and by max(X, Y) as if all communication could
 * hide: the whole may still be slower than NCCL's own, which then stays.
 */
static enum model_status check_whole(struct climb *climb,
                                     struct model_config *best)
{
    const struct search_problem *problem = climb->task->problem;
    double native_us = climb->now.iteration_us;
    enum model_status status = MODEL_OK;

    if (is_native(problem, best)) {
        return MODEL_OK;
    }
    for (int i = 0; i < problem->class_count; i++) {
        climb->climbers[i].config = best[i];
    }
    status = measure(climb);
    for (int i = 0; climb->now.iteration_us * (1.0 - GAIN_MIN) > native_us &&
                    i < problem->class_count;
         i++) {
        best[i] = problem->classes[i].baseline;
    }
    return status;
}

enum model_status search_find_lagom(struct search_task *task,
                                    struct search_outcome *outcome)
{
    const struct search_problem *problem = task->problem;
    size_t classes = (size_t)problem->class_count + 1;
    size_t windows = (size_t)problem->window_count + 1;
    struct climb climb = {.task = task, .outcome = outcome};
    double *best_us = model_arena_array(task->arena, windows, sizeof(double));
    struct model_config *best =
        model_arena_array(task->arena, classes, sizeof(*best));
    enum model_status status = MODEL_OK;
    int subspaces = subspace_count(problem);

    climb.climbers =
        model_arena_array(task->arena, classes, sizeof(*climb.climbers));
    search_measure_make(task->arena, problem, &climb.now);
    search_measure_make(task->arena, problem, &climb.before);
    for (int i = 0; i < problem->window_count; i++) {
        best_us[i] = DBL_MAX;
    }
    for (int i = 0; status == MODEL_OK && i < subspaces; i++) {
        status = climb_subspace(&climb, i);
        if (status == MODEL_OK) {
            keep_better(&climb, best_us, best);
        }
    }
    if (status == MODEL_OK) {
        status = measure_native(&climb);
        keep_better(&climb, best_us, best);
        status = status == MODEL_OK ? check_whole(&climb, best) : status;
    }
    for (int i = 0; i < problem->class_count; i++) {
        outcome->configs[i] = best[i];
    }
    return status;
}
