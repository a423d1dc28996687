/*
 * uncertainty.c - cases on drawn machines, side by side.
 *
 * A job is one case on one machine: it reads its inputs itself, with the
 * machine's parameters, and keeps nothing but times. What it says while it
 * reads was said before.
 */
#include "search/uncertainty.h"

#include "search/crew.h"
#include "search/draws.h"

#include <gsl/gsl_sort_double.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

struct study {
    struct search_comparison *table;
    struct search_uncertainty *found;
    const double *shifts; /* of each machine, of each parameter */
    FILE *nowhere;
    enum model_status *status; /* by job */
    bool *impossible;
    struct model_arena **arenas;  /* of jobs that failed, with their faults */
    struct model_errors **errors; /* of those; NULL: memory ran out */
};

static int jobs_of(const struct study *study)
{
    return study->found->machines * study->table->case_count;
}

/* The times of a job: by strategy, and NCCL's. */
static double *times_of(const struct study *study, int job)
{
    size_t strategies = (size_t)study->table->strategy_count + 1;

    return study->found->times_us + (size_t)job * strategies;
}

/* -- checks -- */

enum model_status search_uncertainty_check(struct search_comparison *table)
{
    const struct sim_options *options = &table->cli->options;
    const struct model_params *params = table->cli->params;
    const char *message = NULL;
    const char *hint = NULL;

    if (options->uncertainty == 0) {
        return MODEL_OK;
    }
    if (options->uncertainty < SEARCH_MACHINES_MIN ||
        options->uncertainty > SEARCH_MACHINES_MAX) {
        message = "not from 8 to 100000 machines";
        hint = "write --uncertainty 64";
    } else if (params == NULL) {
        message = "nothing says how sure the machine's numbers are";
        hint = "write --params FILE, made by lagom calibrate";
    } else if (params->covariance == NULL) {
        message = model_arena_format(table->cli->arena, "%s has no covariance",
                                     params->file);
        hint = "write the file that lagom calibrate made, or the key "
               "covariance: lagom help params";
    } else if (options->trials > 0) {
        message = "trials under noise have intervals of their own";
        hint = "leave --trials out";
    } else if (table->evaluator->measures) {
        message = "the machine that measures cannot be drawn";
        hint = "leave --evaluator replay out";
    }
    return message == NULL
               ? MODEL_OK
               : model_errors_add(table->cli->errors, MODEL_USAGE,
                                  (struct model_place){"lagom", 0, 0},
                                  "--uncertainty", hint, "%s", message);
}

/* Inputs are read again for each machine. */
static enum model_status check_cases(struct search_comparison *table)
{
    for (int i = 0; i < table->case_count; i++) {
        const struct sim_input *input = &table->cases[i]->input;

        if (strcmp(input->topology.label, "-") == 0 ||
            strcmp(input->workload.label, "-") == 0) {
            return model_errors_add(table->cli->errors, MODEL_USAGE,
                                    (struct model_place){"lagom", 0, 0},
                                    "--uncertainty", "write it to a file",
                                    "standard input cannot be read again");
        }
    }
    return MODEL_OK;
}

/* -- a job -- */

/* A case as the table has it, on a machine of its own. */
static enum model_status
run_on_machine(const struct study *study, int job, struct model_arena *arena)
{
    struct search_comparison *table = study->table;
    int machine = job / table->case_count;
    const struct search_case *like = table->cases[job % table->case_count];
    struct sim_cli cli = *table->cli;
    struct search_comparison own = *table;
    struct search_case of = {.arena = arena};
    struct model_errors *errors = model_arena_alloc(arena, sizeof(*errors));
    double *times_us = times_of(study, job);
    enum model_status status;

    errors->arena = arena;
    cli.arena = arena;
    cli.errors = errors;
    cli.log = study->nowhere;
    cli.params_shift =
        study->shifts + (size_t)machine * (size_t)table->cli->params->count;
    cli.options.quiet = true;
    own.cli = &cli;
    of.rows = model_arena_array(arena, (size_t)table->strategy_count,
                                sizeof(*of.rows));
    status = sim_load(&cli, like->input.topology.label,
                      like->input.workload.label, &of.input);
    study->impossible[job] = status == MODEL_BAD_INPUT;
    if (status == MODEL_OK) {
        of.errors.arena = arena;
        status = search_case_run(&own, &of, "");
        model_errors_move(errors, &of.errors);
    }
    for (int s = 0; status == MODEL_OK && s < table->strategy_count; s++) {
        times_us[s] = of.rows[s].tuned.times.iteration_us;
    }
    if (status == MODEL_OK) {
        times_us[table->strategy_count] = of.rows[0].tuned.nccl_us;
    }
    study->errors[job] = errors;
    return study->impossible[job] ? MODEL_OK : status;
}

static enum model_status
guarded(const struct study *study, int job, struct model_arena *arena)
{
    jmp_buf out_of_memory;

    if (arena == NULL || setjmp(out_of_memory) != 0) {
        return MODEL_FAULT;
    }
    (void)model_arena_guard(arena, &out_of_memory);
    return run_on_machine(study, job, arena);
}

static bool shows_progress(const struct sim_cli *cli)
{
    return !cli->options.quiet && isatty(fileno(cli->log)) != 0;
}

static void show_progress(const struct study *study, int job)
{
    struct sim_cli *cli = study->table->cli;

    if (shows_progress(cli)) {
        (void)fprintf(cli->log, "\r\033[Kmachine %d of %d ",
                      job / study->table->case_count + 1,
                      study->found->machines);
    }
}

static bool work(void *context, int job)
{
    struct study *study = context;
    struct model_arena *arena = model_arena_new();

    show_progress(study, job);
    study->status[job] = guarded(study, job, arena);
    if (study->status[job] == MODEL_OK) {
        study->errors[job] = NULL;
        model_arena_free(arena);
    } else {
        study->arenas[job] = arena; /* its errors are there */
    }
    return study->status[job] == MODEL_OK;
}

/* -- all of them -- */

/* A machine is left out for all cases when it cannot be for one of them. */
static void leave_out(const struct study *study)
{
    int cases = study->table->case_count;
    size_t values = (size_t)cases * ((size_t)study->table->strategy_count + 1);

    for (int machine = 0; machine < study->found->machines; machine++) {
        double *times_us = times_of(study, machine * cases);
        bool out = false;

        for (int i = 0; i < cases; i++) {
            out = out || study->impossible[machine * cases + i];
        }
        for (size_t i = 0; out && i < values; i++) {
            times_us[i] = (double)NAN;
        }
        study->found->left_out += out ? 1 : 0;
    }
}

static enum model_status sum_up(const struct study *study)
{
    struct model_errors *errors = study->table->cli->errors;
    struct model_place place = {"lagom", 0, 0};

    for (int job = 0; job < jobs_of(study); job++) {
        if (study->status[job] == MODEL_OK) {
            continue;
        }
        if (study->errors[job] == NULL || study->errors[job]->count == 0) {
            return model_errors_add(errors, study->status[job], place, NULL,
                                    NULL, "out of memory");
        }
        model_errors_move(errors, study->errors[job]);
        return study->status[job];
    }
    leave_out(study);
    return study->found->machines - study->found->left_out >=
                   SEARCH_MACHINES_MIN
               ? MODEL_OK
               : model_errors_add(
                     errors, MODEL_BAD_INPUT, place, "--uncertainty",
                     "see the ranges of these keys: lagom help gpu, topology",
                     "only %d of %d machines drawn by %s can be",
                     study->found->machines - study->found->left_out,
                     study->found->machines, study->table->cli->params->file);
}

static void study_make(struct search_comparison *table, struct study *study)
{
    struct model_arena *arena = table->cli->arena;
    const struct model_params *params = table->cli->params;
    size_t jobs;

    study->table = table;
    study->found = model_arena_alloc(arena, sizeof(*study->found));
    study->found->machines = (int)table->cli->options.uncertainty;
    jobs = (size_t)jobs_of(study);
    study->found->times_us = model_arena_array(
        arena, jobs * ((size_t)table->strategy_count + 1), sizeof(double));
    study->shifts =
        search_draws_make(arena, params->covariance, params->count,
                          study->found->machines, table->cli->options.seed);
    study->status = model_arena_array(arena, jobs, sizeof(*study->status));
    study->impossible = model_arena_array(arena, jobs, sizeof(bool));
    study->arenas = model_arena_array(arena, jobs, sizeof(void *));
    study->errors = model_arena_array(arena, jobs, sizeof(void *));
}

enum model_status search_uncertainty_run(struct search_comparison *table)
{
    struct study study;
    struct search_crew_work machines = {.job = work, .context = &study};
    enum model_status status;

    if (table->cli->options.uncertainty == 0) {
        return MODEL_OK;
    }
    status = check_cases(table);
    if (status != MODEL_OK) {
        return status;
    }
    study_make(table, &study);
    study.nowhere = fopen("/dev/null", "w");
    if (study.nowhere == NULL) {
        study.nowhere = table->cli->log;
    }
    machines.count = jobs_of(&study);
    search_crew_run(&machines, search_crew_threads(table->cli->options.jobs,
                                                   machines.count));
    if (shows_progress(table->cli)) {
        (void)fputs("\r\033[K", table->cli->log);
    }
    status = sum_up(&study);
    for (int job = 0; job < machines.count; job++) {
        model_arena_free(study.arenas[job]);
    }
    if (study.nowhere != table->cli->log) {
        (void)fclose(study.nowhere);
    }
    table->uncertainty = study.found;
    return status;
}

/* -- intervals -- */

/* Where a strategy's times are; one past the strategies: NCCL's. -1: none. */
static int place_of(const struct search_comparison *table, const char *strategy)
{
    int index = search_strategy_index(table, strategy);

    return index >= 0                      ? index
           : strcmp(strategy, "nccl") == 0 ? table->strategy_count
                                           : -1;
}

static struct search_interval interval_of(double *values, int count)
{
    gsl_sort(values, 1, (size_t)count);
    return (struct search_interval){
        search_draws_quantile(values, count, 0.025),
        search_draws_quantile(values, count, 0.975)};
}

/* The mean of logarithms of a machine's speedups; NAN: left out, or no case. */
static double log_speedup(const struct search_comparison *table,
                          const struct search_filter *filter,
                          int machine,
                          int strategy,
                          int over)
{
    size_t strategies = (size_t)table->strategy_count + 1;
    const double *times_us =
        table->uncertainty->times_us +
        (size_t)machine * (size_t)table->case_count * strategies;
    double sum = 0.0;
    int count = 0;

    for (int i = 0; i < table->case_count; i++, times_us += strategies) {
        if (search_filter_takes(filter, table->cases[i])) {
            sum += log(times_us[over] / times_us[strategy]);
            count++;
        }
    }
    return count > 0 ? sum / count : (double)NAN;
}

struct search_interval
search_mean_interval(const struct search_comparison *table,
                     const struct search_filter *filter,
                     int strategy,
                     const char *over)
{
    int over_place = place_of(table, over);
    double *values;
    int count = 0;

    if (table->uncertainty == NULL || over_place < 0) {
        return (struct search_interval){(double)NAN, (double)NAN};
    }
    values = model_arena_array(table->cli->arena,
                               (size_t)table->uncertainty->machines,
                               sizeof(*values));
    for (int machine = 0; machine < table->uncertainty->machines; machine++) {
        double value =
            log_speedup(table, filter, machine, strategy, over_place);

        if (!isnan(value)) {
            values[count++] = exp(value);
        }
    }
    return count > 0 ? interval_of(values, count)
                     : (struct search_interval){(double)NAN, (double)NAN};
}
