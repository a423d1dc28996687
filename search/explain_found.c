/*
 * explain_found.c - the windows that a search would tune (windows.h), which may
 * be others than the file labels, with their X and Y in the iteration that is
 * explained.
 */
#include "search/explain_words.h"
#include "search/problem.h"

/* "all_gather of 150 MiB, reduce_scatter of 150 MiB" */
static const char *classes_of(struct model_arena *arena,
                              const struct search_problem *problem,
                              int window)
{
    const char *text = "";

    for (int i = 0; i < problem->class_count; i++) {
        const struct search_class *part = &problem->classes[i];

        if (part->window_index == window) {
            text = model_arena_format(arena, "%s%s%s of %s", text,
                                      text[0] != '\0' ? ", " : "",
                                      model_op_names[part->kind],
                                      search_words_bytes(arena, part->bytes));
        }
    }
    return text;
}

/* "X 5.46 ms < Y 8.66 ms", of one of so many instances. */
static const char *
balance_of(struct model_arena *arena, double x_us, double y_us, double count)
{
    const char *x = search_words_time(arena, x_us / count);

    if (!(y_us > 0.0)) {
        return model_arena_format(arena, "X %s beside no kernel", x);
    }
    return model_arena_format(arena, "X %s %s Y %s", x, x_us < y_us ? "<" : ">",
                              search_words_time(arena, y_us / count));
}

/* "forward, 31 times: X 5.46 ms < Y 8.66 ms; all_gather of 150 MiB." */
static const char *window_line(struct model_arena *arena,
                               const struct search_problem *problem,
                               const struct search_measure *measure,
                               int window)
{
    const char *name = problem->windows[window];
    int count = problem->instances[window];

    return model_arena_format(arena, "%s, %d time%s: %s; %s.",
                              name != NULL ? name : "one", count,
                              count > 1 ? "s" : "",
                              balance_of(arena, measure->comm_us[window],
                                         measure->kernel_us[window], count),
                              classes_of(arena, problem, window));
}

const char *const *search_words_found(struct model_arena *arena,
                                      const struct search_explanation *it)
{
    const struct sim_request *request = it->request;
    struct search_problem problem;
    struct search_measure measure;
    const char **lines;

    if (request->nccl == NULL || request->all_ranks) { /* searches fold */
        return model_arena_alloc(arena, sizeof(*lines));
    }
    search_problem_make(arena, request->nccl, &problem);
    search_measure_make(arena, &problem, &measure);
    search_measure_fill(&problem, it->result, &measure);
    lines = model_arena_array(arena, (size_t)problem.window_count + 1,
                              sizeof(const char *));
    for (int i = 0; i < problem.window_count; i++) {
        lines[i] = window_line(arena, &problem, &measure, i);
    }
    return lines;
}
