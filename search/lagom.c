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
 * Where sense can be made of the printed algorithms in more than one way,
 * lagom_reading.h has the ways. Besides, this file chooses:
 *
 *   first step by 0.01: there is no gain yet
 *   before     until it is first chosen a class runs with NCCL's own settings
 *   measured   x, Y and their primes are of the last two steps of the window; x
 *              of H is the sum over the class's collectives, as Y is a sum
 *   subspaces  the climb is made once per subspace (algorithm, protocol,
 *              transport), for all classes alike, and each window keeps the one
 *              with the smaller max(X, Y)
 *   whole      windows are judged by themselves, and by max(X, Y) as if all
 *              communication could hide: where the whole iteration is slower
 *              than with NCCL's own settings, these stay
 */
#include "search/lagom_climb.h"

#include <float.h>
#include <math.h>

static const double FIRST_PRIORITY = 0.01;
static const double GAIN_MIN = 0.001;

/* -- measuring -- */

static enum model_status measure(struct lagom *lagom)
{
    const struct search_problem *problem = lagom->task->problem;

    for (int i = 0; i < problem->class_count; i++) {
        lagom->outcome->configs[i] = lagom->climbers[i].config;
    }
    return search_try(lagom->task, lagom->outcome, lagom->outcome->configs,
                      &lagom->now);
}

static bool in_window(const struct lagom *lagom, int class_index, int window)
{
    return lagom->task->problem->classes[class_index].window_index == window;
}

/* What was measured of a window becomes what the next step compares with. */
static void see(struct lagom *lagom, int window)
{
    lagom->seen.comm_us[window] = lagom->now.comm_us[window];
    lagom->seen.kernel_us[window] = lagom->now.kernel_us[window];
    for (int i = 0; i < lagom->task->problem->class_count; i++) {
        if (in_window(lagom, i, window)) {
            lagom->seen.x_us[i] = lagom->now.x_us[i];
        }
    }
}

static bool hides(const struct lagom *lagom, int window)
{
    double comm_us = lagom->now.comm_us[window];
    double kernel_us = lagom->now.kernel_us[window];

    if (lagom->reading.balance == SEARCH_BALANCE_ITERATION) {
        comm_us = kernel_us = 0.0;
        for (int i = 0; i < lagom->task->problem->window_count; i++) {
            comm_us += lagom->now.comm_us[i];
            kernel_us += lagom->now.kernel_us[i];
        }
    }
    return comm_us < kernel_us;
}

/* -- Algorithm 2 -- */

static void finish(struct lagom_climber *self, enum lagom_stop stop)
{
    self->stop = stop;
    self->done = true;
}

/* Put the class where it is measured next. */
static void rise(struct lagom *lagom, struct lagom_climber *self)
{
    self->before = self->started ? self->config : self->native;
    self->config = self->started
                       ? lagom_raise(&lagom->reading, &self->space,
                                     &self->config, self->raise, &self->height)
                       : lagom_least(&self->space);
}

/* What was measured decides whether the class is done, and its H and lr. */
static void judge(struct lagom *lagom, int index)
{
    struct lagom_climber *self = &lagom->climbers[index];
    const struct search_class *part = &lagom->task->problem->classes[index];
    int window = part->window_index;
    double before_us = lagom->seen.x_us[index];
    double x_us = lagom->now.x_us[index];
    bool compared = self->started || lagom->reading.first == SEARCH_FIRST_NCCL;

    double least_gain =
        lagom->reading.worse == SEARCH_WORSE_LITTLE ? GAIN_MIN : 0.0;

    if (compared && x_us > before_us * (1.0 - least_gain)) {
        self->config = self->before;
        finish(self, LAGOM_WORSE);
        return;
    }
    if (self->started) {
        self->raise = lagom_rate(&lagom->reading, before_us, x_us);
        self->priority = before_us > x_us
                             ? (lagom->now.kernel_us[window] -
                                lagom->seen.kernel_us[window]) /
                                   ((before_us - x_us) * part->op_count)
                             : HUGE_VAL;
    }
    if (hides(lagom, window)) {
        finish(self, LAGOM_HIDDEN);
        if (lagom->reading.keep == SEARCH_KEEP_OLD && self->started) {
            self->config = self->before;
            return;
        }
    } else if (lagom_is_top(&self->space, &self->config)) {
        finish(self, LAGOM_TOP);
    }
    self->climbed = self->climbed || self->started;
    self->started = true;
    see(lagom, window);
}

/* -- Algorithm 1 -- */

/* The window's undone class with the smallest H; ties go to the lowest. */
static int choose(const struct lagom *lagom, int window)
{
    int best = -1;

    for (int i = 0; i < lagom->task->problem->class_count; i++) {
        if (in_window(lagom, i, window) && !lagom->climbers[i].done &&
            (best < 0 ||
             lagom->climbers[i].priority < lagom->climbers[best].priority)) {
            best = i;
        }
    }
    return best;
}

/* A class of each window, or of the first that has one; false: all are done. */
static bool choose_all(struct lagom *lagom)
{
    bool any = false;

    for (int window = 0; window < lagom->task->problem->window_count;
         window++) {
        bool waits = any && lagom->reading.turns == SEARCH_TURNS_WINDOW;

        lagom->chosen[window] = waits ? -1 : choose(lagom, window);
        any = any || lagom->chosen[window] >= 0;
    }
    return any;
}

static enum model_status climb(struct lagom *lagom)
{
    int windows = lagom->task->problem->window_count;
    enum model_status status = MODEL_OK;

    while (status == MODEL_OK && choose_all(lagom)) {
        for (int i = 0; i < windows; i++) {
            if (lagom->chosen[i] >= 0) {
                rise(lagom, &lagom->climbers[lagom->chosen[i]]);
                lagom->windows[i].steps++;
            }
        }
        status = measure(lagom);
        for (int i = 0; status == MODEL_OK && i < windows; i++) {
            if (lagom->chosen[i] >= 0) {
                judge(lagom, lagom->chosen[i]);
            }
        }
    }
    return status;
}

/* -- subspaces -- */

/* Put all classes at the beginning of their climb in one subspace; those of
 * windows that have none left keep what is best so far. */
static void start(struct lagom *lagom, int subspace)
{
    const struct search_problem *problem = lagom->task->problem;

    for (int i = 0; i < problem->class_count; i++) {
        const struct search_class *part = &problem->classes[i];
        struct lagom_window *window = &lagom->windows[part->window_index];
        struct lagom_spaces spaces;
        int own;

        lagom_spaces_of(&lagom->reading, problem, part, &spaces);
        own = subspace < spaces.count ? subspace : spaces.count - 1;
        lagom->climbers[i] = (struct lagom_climber){.space = spaces.list[own],
                                                    .native = part->baseline,
                                                    .config = part->baseline,
                                                    .priority = FIRST_PRIORITY,
                                                    .raise = LAGOM_RAISE_MIN};
        window->climbs = false;
    }
    for (int i = 0; i < problem->class_count; i++) {
        struct lagom_spaces spaces;

        lagom_spaces_of(&lagom->reading, problem, &problem->classes[i],
                        &spaces);
        if (subspace < spaces.count) {
            lagom->windows[problem->classes[i].window_index].climbs = true;
        }
    }
    for (int i = 0; i < problem->class_count; i++) {
        if (!lagom->windows[problem->classes[i].window_index].climbs) {
            lagom->climbers[i] = lagom->best[i];
            lagom->climbers[i].done = true;
        }
    }
}

/* Where the climb's window is shorter than the best so far, take it over. */
static void keep_better(struct lagom *lagom, const struct search_measure *from)
{
    const struct search_problem *problem = lagom->task->problem;

    for (int i = 0; i < problem->window_count; i++) {
        struct lagom_window *window = &lagom->windows[i];
        double z_us = fmax(from->comm_us[i], from->kernel_us[i]);

        if (!window->climbs || z_us > window->z_us * (1.0 - GAIN_MIN)) {
            continue;
        }
        window->z_us = z_us;
        window->comm_us = from->comm_us[i];
        window->kernel_us = from->kernel_us[i];
        for (int j = 0; j < problem->class_count; j++) {
            if (in_window(lagom, j, i)) {
                lagom->best[j] = lagom->climbers[j];
            }
        }
    }
}

static void set_native(struct lagom *lagom)
{
    const struct search_problem *problem = lagom->task->problem;

    for (int i = 0; i < problem->class_count; i++) {
        lagom->climbers[i] =
            (struct lagom_climber){.config = problem->classes[i].baseline,
                                   .stop = LAGOM_NATIVE,
                                   .done = true};
    }
    for (int i = 0; i < problem->window_count; i++) {
        lagom->windows[i].climbs = true;
    }
}

/* NCCL's own settings come first. */
static enum model_status measure_native(struct lagom *lagom)
{
    const struct search_problem *problem = lagom->task->problem;
    enum model_status status;

    set_native(lagom);
    status = measure(lagom);
    lagom->native.iteration_us = lagom->now.iteration_us;
    for (int i = 0; i < problem->window_count; i++) {
        see(lagom, i);
        lagom->native.comm_us[i] = lagom->now.comm_us[i];
        lagom->native.kernel_us[i] = lagom->now.kernel_us[i];
    }
    return status;
}

/* They stay where no climb came out below them. */
static void judge_native(struct lagom *lagom)
{
    if (lagom->reading.native == SEARCH_NATIVE_STAYS) {
        set_native(lagom);
        keep_better(lagom, &lagom->native);
    }
}

/* Without NCCL's own among the choices the result stands as it is. */
static enum model_status check_whole(struct lagom *lagom)
{
    const struct search_problem *problem = lagom->task->problem;
    enum model_status status;
    bool native = true;

    for (int i = 0; i < problem->class_count; i++) {
        lagom->climbers[i] = lagom->best[i];
        native = native && lagom->best[i].stop == LAGOM_NATIVE;
    }
    if (native || lagom->reading.native == SEARCH_NATIVE_OUT) {
        return MODEL_OK;
    }
    status = measure(lagom);
    lagom->reverted = lagom->now.iteration_us > lagom->native.iteration_us;
    for (int i = 0; lagom->reverted && i < problem->class_count; i++) {
        lagom->best[i].config = problem->classes[i].baseline;
    }
    return status;
}

/* The most that any class has. */
static int subspace_count(const struct lagom *lagom)
{
    const struct search_problem *problem = lagom->task->problem;
    int most = 0;

    for (int i = 0; i < problem->class_count; i++) {
        struct lagom_spaces spaces;

        lagom_spaces_of(&lagom->reading, problem, &problem->classes[i],
                        &spaces);
        most = spaces.count > most ? spaces.count : most;
    }
    return most;
}

static void make(struct lagom *lagom, struct search_task *task)
{
    const struct search_problem *problem = task->problem;
    size_t classes = (size_t)problem->class_count + 1;
    size_t windows = (size_t)problem->window_count + 1;

    if (task->reading != NULL) {
        lagom->reading = *task->reading;
    }
    lagom->climbers =
        model_arena_array(task->arena, classes, sizeof(*lagom->climbers));
    lagom->best = model_arena_array(task->arena, classes, sizeof(*lagom->best));
    lagom->windows =
        model_arena_array(task->arena, windows, sizeof(*lagom->windows));
    lagom->chosen = model_arena_array(task->arena, windows, sizeof(int));
    search_measure_make(task->arena, problem, &lagom->now);
    search_measure_make(task->arena, problem, &lagom->seen);
    search_measure_make(task->arena, problem, &lagom->native);
    for (int i = 0; i < problem->window_count; i++) {
        lagom->windows[i].z_us = DBL_MAX;
    }
}

enum model_status search_find_lagom(struct search_task *task,
                                    struct search_outcome *outcome)
{
    struct lagom lagom = {.task = task, .outcome = outcome};
    enum model_status status;
    int subspaces;

    make(&lagom, task);
    subspaces = subspace_count(&lagom);
    status = measure_native(&lagom);
    for (int i = 0; status == MODEL_OK && i < subspaces; i++) {
        start(&lagom, i);
        status = climb(&lagom);
        if (status == MODEL_OK) {
            keep_better(&lagom, &lagom.seen);
        }
    }
    if (status == MODEL_OK) {
        judge_native(&lagom);
        status = check_whole(&lagom);
    }
    for (int i = 0; i < task->problem->class_count; i++) {
        outcome->configs[i] = lagom.best[i].config;
    }
    outcome->account = lagom_account(&lagom);
    return status;
}
