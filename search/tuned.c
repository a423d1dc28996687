/*
 * tuned.c - a strategy run for a command.
 */
#include "search/tuned.h"

#include <unistd.h>

struct progress {
    struct sim_cli *cli;
    const char *text;
    double best_us;
    int shown;
};

/* A line that overwrites itself, only on a terminal. */
static void show_progress(void *context, int evaluations, double iteration_us)
{
    struct progress *progress = context;

    if (progress->best_us <= 0.0 || iteration_us < progress->best_us) {
        progress->best_us = iteration_us;
    }
    if (evaluations % 10 == 0) {
        (void)fprintf(progress->cli->log, "\r%s: %d evaluations, best %.3f ms ",
                      progress->text, evaluations, progress->best_us / 1000.0);
        progress->shown++;
    }
}

enum model_status search_tune(struct sim_cli *cli,
                              const struct sim_input *input,
                              const struct search_strategy *strategy,
                              struct search_problem *problem,
                              struct search_outcome *outcome)
{
    bool show = !cli->options.quiet && isatty(fileno(cli->log)) != 0;
    struct progress progress = {.cli = cli, .text = strategy->name};
    struct search_simulator simulator = {.problem = problem};
    struct search_evaluator evaluator;
    struct search_task task = {.arena = cli->arena,
                               .problem = problem,
                               .evaluator = &evaluator,
                               .errors = cli->errors,
                               .seed = cli->options.seed,
                               .progress = show ? show_progress : NULL,
                               .progress_context = &progress};
    jmp_buf out_of_memory;
    volatile enum model_status status = MODEL_FAULT;

    if (search_problem_make(cli->arena, &input->topology, &input->workload,
                            problem, cli->errors) != MODEL_OK) {
        return MODEL_BAD_INPUT;
    }
    simulator.scratch = model_arena_new();
    if (simulator.scratch == NULL) {
        return MODEL_FAULT;
    }
    if (setjmp(out_of_memory) == 0) {
        model_arena_guard(simulator.scratch, &out_of_memory);
        evaluator = search_simulate(&simulator);
        status = search_run(strategy, &task, outcome);
    }
    model_arena_free(simulator.scratch);
    if (progress.shown > 0) {
        (void)fputs("\r\033[K", cli->log);
    }
    return status;
}
