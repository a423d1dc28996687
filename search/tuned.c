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
    if (outcome->account != NULL) {
        outcome->account = model_arena_text(arena, outcome->account);
    }
    outcome->configs = configs;
    outcome->curve = curve;
}

/* Simulate a plan. */
static enum model_status time_plan(const struct search_problem *problem,
                                   const struct model_config *configs,
                                   struct model_arena *scratch,
                                   struct search_times *times,
                                   struct model_errors *errors)
{
    struct model_plan plan;
    struct sim_request request = {.topology = problem->topology,
                                  .workload = problem->workload,
                                  .plan = &plan,
                                  .nccl = problem->nccl};
    struct sim_result result;
    struct sim *sim;
    enum model_status status;

    model_arena_reset(scratch);
    plan = search_plan(scratch, problem, configs, NULL);
    sim = sim_new(scratch, &request, errors);
    status = sim != NULL ? sim_run(sim, &result, errors) : MODEL_BAD_INPUT;
    if (status == MODEL_OK) {
        *times = (struct search_times){result.iteration_us, result.compute_us,
                                       result.comm_us, result.exposed_comm_us};
    }
    return status;
}

/* Simulate the outcome and NCCL's choice, whatever has searched. */
static enum model_status check(struct search_task *task,
                               struct model_arena *scratch,
                               struct search_tuned *tuned)
{
    const struct search_problem *problem = task->problem;
    struct model_config *native = model_arena_array(
        task->arena, (size_t)problem->class_count + 1, sizeof(*native));
    enum model_status status = time_plan(problem, tuned->outcome.configs,
                                         scratch, &tuned->times, task->errors);

    for (int i = 0; i < problem->class_count; i++) {
        native[i] = problem->classes[i].baseline;
    }
    if (status == MODEL_OK) {
        status =
            time_plan(problem, native, scratch, &tuned->nccl, task->errors);
    }
    tuned->outcome.iteration_us = tuned->times.iteration_us;
    tuned->nccl_us = tuned->nccl.iteration_us;
    return status;
}

static enum model_status set_readings(const struct sim_cli *cli,
                                      struct search_reading *reading)
{
    const struct sim_cli_list *given = &cli->options.readings;
    enum model_status status = MODEL_OK;

    for (int i = 0; status == MODEL_OK && i < given->count; i++) {
        status = search_reading_set(given->items[i], reading, cli->errors);
    }
    return status;
}

/* The search with its two arenas; they are freed by the caller. */
static enum model_status search(struct sim_cli *cli,
                                const struct search_strategy *strategy,
                                struct search_tuned *tuned,
                                struct model_arena *work,
                                struct model_arena *scratch)
{
    struct search_reading reading = {.lr = SEARCH_LR_GAIN};
    uint64_t budget = cli->options.budget;
    bool show = !cli->options.quiet && isatty(fileno(cli->log)) != 0;
    struct progress progress = {.cli = cli, .text = strategy->name};
    struct search_evaluator evaluator;
    struct search_task task = {.arena = work,
                               .problem = &tuned->problem,
                               .evaluator = &evaluator,
                               .errors = cli->errors,
                               .seed = cli->options.seed,
                               .budget =
                                   budget < INT_MAX ? (int)budget : INT_MAX,
                               .reading = &reading,
                               .progress = show ? show_progress : NULL,
                               .progress_context = &progress};
    enum model_status status = set_readings(cli, &reading);

    if (status == MODEL_OK) {
        status = tuned->evaluator->open(work, scratch, &tuned->problem,
                                        &evaluator, cli->errors);
    }
    if (status == MODEL_OK) {
        status = search_run(strategy, &task, &tuned->outcome);
    }
    if (status == MODEL_OK) {
        tuned->searched_us = tuned->outcome.iteration_us;
        status = check(&task, scratch, tuned);
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
