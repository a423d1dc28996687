/*
 * tuned.c - a strategy run for a command.
 */
#include "search/tuned.h"

#include <limits.h>
#include <string.h>
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

/* What outlives the search, out of its arena. */
static void keep(struct model_arena *arena, struct search_tuned *tuned)
{
    struct search_outcome *outcome = &tuned->outcome;
    size_t classes = (size_t)tuned->problem.class_count;
    size_t points = (size_t)outcome->curve_count;
    struct model_config *configs =
        model_arena_array(arena, classes + 1, sizeof(*configs));
    struct search_point *curve =
        model_arena_array(arena, points + 1, sizeof(*curve));

    memcpy(configs, outcome->configs, classes * sizeof(*configs));
    if (points > 0) {
        memcpy(curve, outcome->curve, points * sizeof(*curve));
    }
    outcome->configs = configs;
    outcome->curve = curve;
}

static enum model_status evaluate_nccl(struct search_task *task,
                                       double *nccl_us)
{
    int classes = task->problem->class_count;
    struct model_config *configs =
        model_arena_array(task->arena, (size_t)classes + 1, sizeof(*configs));

    for (int i = 0; i < classes; i++) {
        configs[i] = task->problem->classes[i].baseline;
    }
    return search_iteration_us(task, configs, nccl_us);
}

/* Simulate the outcome, unless the simulator searched, and NCCL's choice. */
static enum model_status check(struct search_task *task,
                               struct search_tuned *tuned)
{
    enum model_status status = MODEL_OK;

    if (tuned->evaluator != &search_evaluators[0]) {
        status = search_iteration_us(task, tuned->outcome.configs,
                                     &tuned->outcome.iteration_us);
    }
    return status == MODEL_OK ? evaluate_nccl(task, &tuned->nccl_us) : status;
}

/* The search with its two arenas; they are freed by the caller. */
static enum model_status search(struct sim_cli *cli,
                                const struct search_strategy *strategy,
                                struct search_tuned *tuned,
                                struct model_arena *work,
                                struct model_arena *scratch)
{
    uint64_t budget = cli->options.budget;
    bool show = !cli->options.quiet && isatty(fileno(cli->log)) != 0;
    struct progress progress = {.cli = cli, .text = strategy->name};
    struct search_simulator context = {&tuned->problem, scratch};
    struct search_evaluator simulator = search_simulate(&context);
    struct search_evaluator evaluator;
    struct search_task task = {.arena = work,
                               .problem = &tuned->problem,
                               .evaluator = &evaluator,
                               .errors = cli->errors,
                               .seed = cli->options.seed,
                               .budget =
                                   budget < INT_MAX ? (int)budget : INT_MAX,
                               .progress = show ? show_progress : NULL,
                               .progress_context = &progress};
    enum model_status status = tuned->evaluator->open(
        work, scratch, &tuned->problem, &evaluator, cli->errors);

    if (status == MODEL_OK) {
        status = search_run(strategy, &task, &tuned->outcome);
    }
    if (status == MODEL_OK) {
        tuned->searched_us = tuned->outcome.iteration_us;
        task.evaluator = &simulator;
        status = check(&task, tuned);
    }
    if (status == MODEL_OK) {
        keep(cli->arena, tuned);
    }
    if (progress.shown > 0) {
        (void)fputs("\r\033[K", cli->log);
    }
    return status;
}

/*
 * The search, or MODEL_FAULT when memory ran out. Apart from its caller, so
 * that no local lives across the jump.
 */
static enum model_status search_guarded(struct sim_cli *cli,
                                        const struct search_strategy *strategy,
                                        struct search_tuned *tuned,
                                        struct model_arena *work,
                                        struct model_arena *scratch)
{
    jmp_buf out_of_memory;

    if (work == NULL || scratch == NULL || setjmp(out_of_memory) != 0) {
        return MODEL_FAULT;
    }
    (void)model_arena_guard(work, &out_of_memory);
    (void)model_arena_guard(scratch, &out_of_memory);
    return search(cli, strategy, tuned, work, scratch);
}

enum model_status search_tune(struct sim_cli *cli,
                              const struct sim_input *input,
                              const struct search_strategy *strategy,
                              struct search_tuned *tuned)
{
    struct model_arena *work;
    struct model_arena *scratch;
    enum model_status status;

    tuned->evaluator =
        search_evaluator_find(cli->options.evaluator, cli->errors);
    if (tuned->evaluator == NULL) {
        return MODEL_USAGE;
    }
    search_problem_make(cli->arena, &input->nccl, &tuned->problem);
    work = model_arena_new();
    scratch = model_arena_new();
    status = search_guarded(cli, strategy, tuned, work, scratch);
    model_arena_free(work);
    model_arena_free(scratch);
    if (status == MODEL_FAULT) {
        (void)model_errors_add(cli->errors, MODEL_FAULT,
                               (struct model_place){"lagom", 0, 0}, NULL, NULL,
                               "out of memory");
    }
    return status;
}
