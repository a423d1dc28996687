/*
 * compare_run.c - the cases of the table side by side, in threads.
 *
 * Each case has arenas and errors of its own: runs of a case, with other seeds
 * too, share what was measured. Inputs are read before and only looked at. So
 * the table does not depend on the number of threads, and the faults of the
 * first case that fails are the table's.
 */
#include "search/compare.h"

#include "search/crew.h"
#include "search/least.h"

#include <math.h>

/* The runs of a case, row by row. */
struct runs {
    struct search_entry *entries;
    struct search_tuned **tuned;
    int count;
};

/* Under noise each search depends on the seed, without on its draws alone. */
static int runs_of(const struct search_comparison *table, int strategy)
{
    return table->strategies[strategy]->draws || table->noise_ratio > 0.0
               ? table->seeds
               : 1;
}

static void list_runs(struct model_arena *arena,
                      const struct search_comparison *table,
                      struct runs *runs)
{
    size_t room = (size_t)table->strategy_count * (size_t)table->seeds;

    *runs = (struct runs){
        .entries = model_arena_array(arena, room, sizeof(*runs->entries)),
        .tuned = model_arena_array(arena, room, sizeof(void *))};
    for (int s = 0; s < table->strategy_count; s++) {
        for (int i = 0; i < runs_of(table, s); i++) {
            runs->entries[runs->count] =
                (struct search_entry){table->strategies[s], table->budgets[s],
                                      table->cli->options.seed + (uint64_t)i};
            runs->tuned[runs->count++] =
                model_arena_alloc(arena, sizeof(**runs->tuned));
        }
    }
}

/* Make a row of its runs, the first of which is at `first`. */
static void take_median(struct model_arena *arena,
                        const struct runs *runs,
                        int first,
                        int count,
                        struct search_compared *row)
{
    double *times_us = model_arena_array(arena, (size_t)count, sizeof(double));
    int median;

    row->spread = (struct search_spread){
        .count = count, .min_us = HUGE_VAL, .max_us = 0.0};
    for (int i = 0; i < count; i++) {
        times_us[i] = runs->tuned[first + i]->times.iteration_us;
        row->spread.min_us = fmin(row->spread.min_us, times_us[i]);
        row->spread.max_us = fmax(row->spread.max_us, times_us[i]);
    }
    median = search_median_index(times_us, count);
    row->spread.seed = runs->entries[first + median].seed;
    row->tuned = *runs->tuned[first + median];
}

/* What the rows of a case have in common. */
static void sum_up(struct model_arena *arena,
                   const struct search_comparison *table,
                   struct search_case *of)
{
    int nccl = search_strategy_index(table, "nccl");

    of->nccl_us = of->rows[0].tuned.nccl_us;
    of->bound_us =
        table->evaluator->measures
            ? 0.0
            : search_least_bound_us(arena, &of->rows[0].tuned.problem);
    of->best_us = of->nccl_us;
    of->best = nccl >= 0 ? &of->rows[nccl] : NULL;
    for (int i = 0; i < table->strategy_count; i++) {
        if (of->rows[i].spread.min_us < of->best_us) {
            of->best_us = of->rows[i].spread.min_us;
            of->best = &of->rows[i];
        }
    }
}

enum model_status search_case_run(struct search_comparison *table,
                                  struct search_case *of,
                                  const char *label)
{
    struct sim_cli cli = *table->cli;
    struct runs runs;
    int first = 0;
    enum model_status status;

    cli.arena = of->arena;
    cli.errors = &of->errors;
    list_runs(of->arena, table, &runs);
    status = search_tune_all(&cli, &of->input, label, runs.entries, runs.count,
                             runs.tuned);
    if (status != MODEL_OK) {
        return status;
    }
    for (int s = 0; s < table->strategy_count; s++) {
        take_median(of->arena, &runs, first, runs_of(table, s), &of->rows[s]);
        first += runs_of(table, s);
    }
    return MODEL_OK;
}

/* A case in an arena of its own, which stays until the table is printed. */
static enum model_status
run_case(struct search_comparison *table, struct search_case *of, int number)
{
    jmp_buf out_of_memory;
    enum model_status status;

    if (of->arena == NULL || setjmp(out_of_memory) != 0) {
        return MODEL_FAULT;
    }
    (void)model_arena_guard(of->arena, &out_of_memory);
    status = search_case_run(
        table, of,
        model_arena_format(of->arena, "%d of %d, %s on %s, ", number + 1,
                           table->case_count, of->input.workload.name,
                           of->input.topology.name));
    if (status == MODEL_OK) {
        sum_up(of->arena, table, of);
    }
    return status;
}

static bool work(void *context, int index)
{
    struct search_comparison *table = context;
    struct search_case *of = table->cases[index];

    of->arena = model_arena_new();
    of->errors.arena = of->arena;
    of->status = run_case(table, of, index);
    return of->status == MODEL_OK;
}

/* The faults of the first case that failed. */
static enum model_status first_fault(struct search_comparison *table)
{
    for (int i = 0; i < table->case_count; i++) {
        struct search_case *of = table->cases[i];

        if (of->status != MODEL_OK && of->errors.count == 0) {
            return model_errors_add(table->cli->errors, of->status,
                                    (struct model_place){"lagom", 0, 0}, NULL,
                                    NULL, "out of memory");
        }
        if (of->status != MODEL_OK) {
            model_errors_move(table->cli->errors, &of->errors);
            return of->status;
        }
    }
    return MODEL_OK;
}

enum model_status search_cases_run(struct search_comparison *table)
{
    struct search_crew_work cases = {work, table, table->case_count};

    /* They would measure on the same GPUs. */
    search_crew_run(&cases, table->evaluator->measures
                                ? 1
                                : search_crew_threads(table->cli->options.jobs,
                                                      table->case_count));
    return first_fault(table);
}

void search_cases_free(struct search_comparison *table)
{
    for (int i = 0; i < table->case_count; i++) {
        model_arena_free(table->cases[i]->arena);
        table->cases[i]->arena = NULL;
    }
}
