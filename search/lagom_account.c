/*
 * lagom_account.c - how each window ended, in words.
 */
#include "search/lagom_climb.h"

#include "model/units.h"

#include <math.h>

/* An H below this is what rounding leaves of 0. */
static const double ROUNDED = 1e-9;

static const char *const stops[] = {
    [LAGOM_HIDDEN] = "X' < Y'",
    [LAGOM_WORSE] = "no faster",
    [LAGOM_TOP] = "at the largest settings",
    [LAGOM_NATIVE] = "NCCL's own settings",
};

/* The three cases of section 3.4, and where no climb was better. */
static const char *case_of(const struct lagom *lagom, int window)
{
    const struct search_problem *problem = lagom->task->problem;
    bool climbed = false;

    for (int i = 0; i < problem->class_count; i++) {
        if (problem->classes[i].window_index != window) {
            continue;
        }
        if (lagom->best[i].stop == LAGOM_NATIVE) {
            return "no climb is shorter than NCCL's own settings";
        }
        climbed = climbed || lagom->best[i].climbed;
    }
    if (lagom->windows[window].comm_us >= lagom->windows[window].kernel_us) {
        return "case 2, each at its best and still X > Y";
    }
    return climbed ? "case 3, balance" : "case 1, all least and X < Y";
}

static const char *
class_line(const struct lagom *lagom, const char *text, int index)
{
    struct model_arena *arena = lagom->task->arena;
    const struct search_class *part = &lagom->task->problem->classes[index];
    const struct lagom_climber *best = &lagom->best[index];
    char size[64];
    char setting[128];

    text = model_arena_format(
        arena, "%s  %s %s: %s", text, model_op_names[part->kind],
        model_units_print(part->bytes, MODEL_BYTES, size, sizeof(size)),
        model_config_print(&best->config, setting, sizeof(setting)));
    if (best->stop != LAGOM_NATIVE) {
        text = model_arena_format(
            arena, "%s, H %.3g", text,
            fabs(best->priority) < ROUNDED ? 0.0 : best->priority);
    }
    return model_arena_format(arena, "%s, %s\n", text, stops[best->stop]);
}

const char *lagom_account(const struct lagom *lagom)
{
    const struct search_problem *problem = lagom->task->problem;
    struct model_arena *arena = lagom->task->arena;
    const char *text = "";

    for (int i = 0; i < problem->window_count; i++) {
        const struct lagom_window *window = &lagom->windows[i];
        const char *name = problem->windows[i];

        text = model_arena_format(
            arena,
            "%swindow %s, %d times: X %.3f ms, Y %.3f ms, %d steps: %s\n", text,
            name != NULL ? name : "(unnamed)", problem->instances[i],
            window->comm_us / 1000.0, window->kernel_us / 1000.0, window->steps,
            case_of(lagom, i));
        for (int j = 0; j < problem->class_count; j++) {
            if (problem->classes[j].window_index == i) {
                text = class_line(lagom, text, j);
            }
        }
    }
    return lagom->reverted
               ? model_arena_format(arena,
                                    "%sThe whole is slower than with NCCL's "
                                    "own settings, which stay.\n",
                                    text)
               : text;
}
