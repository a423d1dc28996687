/*
 * explain_model.c - Lagom's cost model of the iteration that is explained.
 */
#include "search/evaluator.h"
#include "search/explain_change.h"
#include "search/explain_words.h"

/* By window of the explanation what is measured by window of the problem. */
static const struct search_modelled *
by_window(struct model_arena *arena,
          const struct search_explanation *explanation,
          const struct search_problem *problem,
          const struct search_measure *measure)
{
    const struct sim_windows *windows = &explanation->windows;
    struct search_modelled *modelled =
        model_arena_array(arena, (size_t)windows->count + 1, sizeof(*modelled));

    for (int i = 0; i < windows->count; i++) {
        for (int j = 0; j < problem->window_count; j++) {
            if (model_same_text(windows->list[i].name, problem->windows[j])) {
                modelled[i] = (struct search_modelled){measure->comm_us[j],
                                                       measure->kernel_us[j]};
            }
        }
    }
    return modelled;
}

const struct search_modelled *
search_model_windows(struct model_arena *arena,
                     struct model_arena *scratch,
                     const struct search_explanation *explanation)
{
    const struct sim_request *request = explanation->request;
    struct model_plan none = {.row_count = 0};
    struct model_errors silent = {.arena = arena};
    struct search_evaluator evaluator;
    struct search_problem problem;
    struct search_measure measure;

    if (request->nccl == NULL) {
        return NULL;
    }
    search_problem_make(arena, request->nccl, &problem);
    search_problem_label(arena, &problem);
    search_measure_make(arena, &problem, &measure);
    if (search_open_model(arena, scratch, &problem, NULL, &evaluator,
                          &silent) != MODEL_OK ||
        search_evaluate(&evaluator,
                        request->plan != NULL ? request->plan : &none, &measure,
                        &silent) != MODEL_OK) {
        return NULL;
    }
    return by_window(arena, explanation, &problem, &measure);
}

const char *search_words_model(struct model_arena *arena,
                               const struct search_explanation *it,
                               int window)
{
    const struct sim_window *whole = &it->windows.list[window];
    double count = whole->count;

    if (it->modelled == NULL) {
        return NULL;
    }
    return model_arena_format(
        arena, "Lagom's cost model: X %s (%s simulated), Y %s (%s).",
        search_words_time(arena, it->modelled[window].collectives_us / count),
        search_words_time(arena, whole->collectives.time_us / count),
        search_words_time(arena, it->modelled[window].kernels_us / count),
        search_words_time(arena, whole->kernels.time_us / count));
}
