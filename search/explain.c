/*
 * explain.c - windows, limits, and a simulation for each change.
 *
 * Each change is simulated in memory that is used again; what is kept of it is
 * a line.
 */
#include "search/explain.h"

#include "model/ranks.h"
#include "search/bound.h"
#include "search/explain_change.h"

#include <string.h>

const char *const search_change_names[] = {"limit", "hardware", "setting",
                                           NULL};

const struct model_gpu *search_gpu(const struct search_explanation *explanation)
{
    return model_ranks_gpu(explanation->request->topology, 0);
}

static int collective_count(const struct search_explanation *explanation)
{
    int count = 0;

    for (int i = 0; i < explanation->windows.count; i++) {
        count += explanation->windows.list[i].collectives.op_count;
    }
    return count;
}

static double bound_us(struct model_arena *arena,
                       const struct sim_request *request)
{
    struct search_problem problem = {.topology = request->topology,
                                     .workload = request->workload};

    return search_bound_us(arena, &problem);
}

/* Simulate a variant; false when the machine cannot run it at all. */
static bool simulate(const struct search_variant *variant,
                     struct search_what_if *what_if)
{
    struct sim_request request = *variant->base->request;
    struct model_errors errors = {.arena = variant->arena};
    struct sim_result result = {.iteration_us = 0.0};
    enum model_status status = MODEL_OK;
    struct sim *sim;

    request.topology = &variant->topology;
    request.workload = &variant->workload;
    request.plan = variant->plan;
    if (variant->workload.op_count > 0) {
        sim = sim_new(variant->arena, &request, &errors);
        status = sim != NULL ? sim_run(sim, &result, &errors) : MODEL_BAD_INPUT;
    }
    what_if->stuck = status == MODEL_STUCK;
    what_if->iteration_us = result.iteration_us;
    what_if->gain_ratio =
        1.0 - result.iteration_us / variant->base->result->iteration_us;
    return status == MODEL_OK || status == MODEL_STUCK;
}

/* Best first; what would not finish is last. */
static bool comes_before(const struct search_what_if *a,
                         const struct search_what_if *b)
{
    return a->stuck != b->stuck ? b->stuck : a->gain_ratio > b->gain_ratio;
}

/* Into the list, behind those that are as good. */
static void insert(struct search_explanation *explanation,
                   struct search_what_if what_if)
{
    struct search_what_if *list = explanation->what_ifs;
    int at = explanation->what_if_count++;

    for (; at > 0 && comes_before(&what_if, &list[at - 1]); at--) {
        list[at] = list[at - 1];
    }
    list[at] = what_if;
}

static void try_change(struct model_arena *arena,
                       struct model_arena *scratch,
                       const struct search_change *change,
                       struct search_explanation *explanation)
{
    const struct model_topology *topology = explanation->request->topology;
    struct search_what_if what_if = {.kind = change->kind, .key = change->key};
    struct search_variant variant;

    model_arena_reset(scratch);
    variant = search_variant_make(scratch, explanation);
    variant.text = change->text;
    variant.paths = change->paths;
    if (change->apply(&variant, change->choice) &&
        simulate(&variant, &what_if)) {
        what_if.text = model_arena_text(arena, variant.text);
        what_if.guesses = search_guesses(arena, topology, variant.paths);
        insert(explanation, what_if);
    }
}

static void try_plan(struct model_arena *scratch,
                     const struct model_plan *plan,
                     struct search_explanation *explanation)
{
    struct search_what_if what_if = {.kind = SEARCH_CHANGE_SETTING,
                                     .key = "tuned",
                                     .text = "the plan that lagom tune finds"};
    struct search_variant variant;

    model_arena_reset(scratch);
    variant = search_variant_make(scratch, explanation);
    variant.workload = *explanation->request->workload;
    variant.plan = plan;
    if (simulate(&variant, &what_if)) {
        insert(explanation, what_if);
    }
}

static void explain(struct model_arena *arena,
                    struct model_arena *scratch,
                    const struct model_plan *tuned,
                    struct search_explanation *explanation)
{
    struct search_change *changes;
    int count = search_changes(arena, &changes);

    explanation->windows =
        sim_windows_make(arena, explanation->request, explanation->result);
    explanation->modelled = search_model_windows(arena, scratch, explanation);
    explanation->collectives = collective_count(explanation);
    explanation->bound_us = bound_us(arena, explanation->request);
    explanation->free_us = explanation->result->iteration_us;
    explanation->what_ifs = model_arena_array(arena, (size_t)count + 1,
                                              sizeof(*explanation->what_ifs));
    explanation->what_if_count = 0;
    for (int i = 0; i < count; i++) {
        try_change(arena, scratch, &changes[i], explanation);
    }
    if (tuned != NULL) {
        try_plan(scratch, tuned, explanation);
    }
    for (int i = 0; i < explanation->what_if_count; i++) {
        if (strcmp(explanation->what_ifs[i].key, "free") == 0) {
            explanation->free_us = explanation->what_ifs[i].iteration_us;
        }
    }
}

/* Apart from its caller, so that no local lives across the jump. */
static enum model_status guarded(struct model_arena *arena,
                                 struct model_arena *scratch,
                                 const struct model_plan *tuned,
                                 struct search_explanation *explanation)
{
    jmp_buf out_of_memory;

    if (scratch == NULL || setjmp(out_of_memory) != 0) {
        return MODEL_FAULT;
    }
    (void)model_arena_guard(scratch, &out_of_memory);
    explain(arena, scratch, tuned, explanation);
    return MODEL_OK;
}

enum model_status search_explain(struct model_arena *arena,
                                 const struct model_plan *tuned,
                                 struct search_explanation *explanation)
{
    struct model_arena *scratch = model_arena_new();
    enum model_status status = guarded(arena, scratch, tuned, explanation);

    model_arena_free(scratch);
    return status;
}
