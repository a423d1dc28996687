/*
 * tuned.c - a strategy run for a command.
 */
#include "search/tuned.h"

#include "search/memo.h"
#include "search/noise.h"

#include <limits.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

enum { REPEATS_MAX = 1000, TRIALS_MAX = 100000 };

struct progress {
    struct sim_cli *cli;
    const char *label;
    const char *strategy;
    int every; /* evaluations between two looks */
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
    if (evaluations % progress->every == 0) {
        (void)fprintf(progress->cli->log,
                      "\r\033[K%s%s: %d evaluations, best %.3f ms ",
                      progress->label, progress->strategy, evaluations,
                      progress->best_us / 1000.0);
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
        *times =
            (struct search_times){result.iteration_us, result.compute_us,
                                  result.comm_us, result.exposed_comm_us, 0.0};
    }
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

/* Does the evaluator of that name (NULL: the default) measure a machine? */
static bool measures(const char *name)
{
    for (int i = 0; name != NULL && search_evaluators[i].name != NULL; i++) {
        if (strcmp(search_evaluators[i].name, name) == 0) {
            return search_evaluators[i].measures;
        }
    }
    return false;
}

/* A machine has noise of its own; and only there is something to run. */
static enum model_status check_measuring(struct sim_cli *cli)
{
    const struct sim_options *options = &cli->options;
    struct model_place place = {"lagom", 0, 0};
    bool replays = options->replay != NULL || options->replay_timeout_s > 0;

    if (!measures(options->evaluator)) {
        return !replays
                   ? MODEL_OK
                   : model_errors_add(
                         cli->errors, MODEL_USAGE, place, NULL,
                         "write --evaluator replay, too",
                         "nothing is measured: --%s is for that",
                         options->replay != NULL ? "replay" : "replay-timeout");
    }
    if (options->noise == NULL && options->trials == 0) {
        return MODEL_OK;
    }
    return model_errors_add(cli->errors, MODEL_USAGE, place, NULL,
                            "leave it out",
                            "a machine has noise of its own: "
                            "--%s is for simulated times",
                            options->noise != NULL ? "noise" : "trials");
}

enum model_status search_tune_check(struct sim_cli *cli, double *noise_ratio)
{
    const struct sim_options *options = &cli->options;
    struct model_place place = {"lagom", 0, 0};
    enum model_status status =
        search_noise_read(options->noise, noise_ratio, cli->errors);

    if (options->repeats > REPEATS_MAX || options->trials > TRIALS_MAX) {
        status = model_errors_add(
            cli->errors, MODEL_USAGE, place, NULL,
            "write up to 1000 repeats and 100000 trials", "too many %s",
            options->repeats > REPEATS_MAX ? "repeats" : "trials");
    }
    if (options->budget > SEARCH_BUDGET_MAX) {
        status = model_errors_add(cli->errors, MODEL_USAGE, place, NULL,
                                  "write at most 100000 iterations",
                                  "too large a budget");
    }
    if (status == MODEL_OK) {
        status = check_measuring(cli);
    }
    if (status == MODEL_OK && options->noise == NULL &&
        !measures(options->evaluator) &&
        (options->repeats > 1 || options->trials > 0)) {
        status = model_errors_add(cli->errors, MODEL_USAGE, place, NULL,
                                  "write --noise 2%, too",
                                  "without noise all %s are alike",
                                  options->repeats > 1 ? "repeats" : "trials");
    }
    return status;
}

void search_put_noise(const struct sim_cli *cli, struct sim_json *object)
{
    double noise_ratio = 0.0;

    (void)search_noise_read(cli->options.noise, &noise_ratio, cli->errors);
    if (noise_ratio > 0.0) {
        sim_json_number(object, "noise_ratio", noise_ratio);
        sim_json_count(object, "repeats",
                       cli->options.repeats > 0 ? (int64_t)cli->options.repeats
                                                : 1);
    }
}

/* What the strategies that are run on one input share. */
struct bench {
    struct sim_cli *cli;
    struct search_problem problem;
    const struct search_evaluator_kind *kind;
    struct search_evaluator inner; /* that kind's, which memo asks */
    struct search_memo memo;
    struct search_reading reading;
    double noise_ratio;
    struct search_times nccl; /* simulated */
    const char *label;
    struct model_arena *shared;  /* for all strategies */
    struct model_arena *work;    /* for one */
    struct model_arena *scratch; /* for one simulation */
};

static bool is_native(const struct search_problem *problem,
                      const struct model_config *configs)
{
    for (int i = 0; i < problem->class_count; i++) {
        if (!model_config_equal(&configs[i], &problem->classes[i].baseline)) {
            return false;
        }
    }
    return true;
}

/* What a plan takes on the machine; measured before, as a rule. */
static enum model_status measure_plan(struct bench *bench,
                                      const struct model_config *configs,
                                      struct search_times *times)
{
    struct search_evaluator evaluator = search_memo_evaluator(&bench->memo);
    struct model_plan plan =
        search_plan(bench->work, &bench->problem, configs, NULL);
    struct search_measure measure;
    enum model_status status;

    search_measure_make(bench->work, &bench->problem, &measure);
    status = search_evaluate(&evaluator, &plan, &measure, bench->cli->errors);
    *times = (struct search_times){
        measure.iteration_us, measure.busy.compute_us, measure.busy.comm_us,
        measure.busy.exposed_us, measure.spread_us};
    return status;
}

static const struct model_config *
native_of(struct model_arena *arena, const struct search_problem *problem)
{
    struct model_config *native = model_arena_array(
        arena, (size_t)problem->class_count + 1, sizeof(*native));

    for (int i = 0; i < problem->class_count; i++) {
        native[i] = problem->classes[i].baseline;
    }
    return native;
}

/* Simulate the outcome, whatever has searched. */
static enum model_status check(struct bench *bench, struct search_tuned *tuned)
{
    enum model_status status = MODEL_OK;

    tuned->nccl = bench->nccl;
    tuned->times = bench->nccl;
    if (!is_native(&bench->problem, tuned->outcome.configs)) {
        status = time_plan(&bench->problem, tuned->outcome.configs,
                           bench->scratch, &tuned->times, bench->cli->errors);
    }
    tuned->simulated_us = tuned->times.iteration_us;
    tuned->simulated_nccl_us = tuned->nccl.iteration_us;
    if (status == MODEL_OK && bench->kind->measures) {
        status = measure_plan(bench, tuned->outcome.configs, &tuned->times);
    }
    if (status == MODEL_OK && bench->kind->measures) {
        status = measure_plan(bench, native_of(bench->work, &bench->problem),
                              &tuned->nccl);
    }
    tuned->outcome.iteration_us = tuned->times.iteration_us;
    tuned->nccl_us = tuned->nccl.iteration_us;
    return status;
}

/* Evaluations that a search may make of so many measurements each; 0: any. */
static int budget_of(const struct sim_options *options,
                     const struct search_entry *entry,
                     int each)
{
    uint64_t given = entry->budget > 0 ? entry->budget : options->budget;
    uint64_t budget = given / (uint64_t)each;

    if (given > 0 && budget == 0) {
        budget = 1;
    }
    return budget < INT_MAX ? (int)budget : INT_MAX;
}

/* Noise differs between rows of a table, and from trial to trial. */
static uint64_t
seed_of(const struct bench *bench, const struct search_entry *entry, int trial)
{
    const char *purpose = model_arena_format(
        bench->work, "noise: %s, %s, %s", bench->problem.topology->name,
        bench->problem.workload->name, entry->strategy->name);

    return search_noise_seed(entry->seed, purpose, trial);
}

/* Run a strategy, under noise of its own for each trial (0: the only one), if
 * there is any. The outcome lives in the work arena, until the next run. */
static enum model_status run_once(struct bench *bench,
                                  const struct search_entry *entry,
                                  double noise_ratio,
                                  int trial,
                                  struct search_outcome *outcome)
{
    struct sim_cli *cli = bench->cli;
    const struct sim_options *options = &cli->options;
    const struct search_strategy *strategy = entry->strategy;
    bool show = !options->quiet && isatty(fileno(cli->log)) != 0;
    int repeats =
        noise_ratio > 0.0 && options->repeats > 0 ? (int)options->repeats : 1;
    int each = strategy->repeats ? 1 : repeats; /* for an evaluation */
    struct progress progress = {.cli = cli,
                                .label = bench->label,
                                .strategy = strategy->name,
                                .every = bench->kind->measures ? 1 : 10};
    struct search_evaluator exact = search_memo_evaluator(&bench->memo);
    struct search_evaluator evaluator = exact;
    struct search_noise noise;
    struct search_task task = {.arena = bench->work,
                               .problem = &bench->problem,
                               .evaluator = &evaluator,
                               .errors = cli->errors,
                               .seed = entry->seed,
                               .budget = budget_of(options, entry, each),
                               .repeats = strategy->repeats ? repeats : 1,
                               .reading = &bench->reading,
                               .progress = show ? show_progress : NULL,
                               .progress_context = &progress};
    enum model_status status;

    model_arena_reset(bench->work);
    if (noise_ratio > 0.0) {
        struct search_noise_options how = {noise_ratio, each,
                                           seed_of(bench, entry, trial)};

        search_noise_make(bench->work, &bench->problem, &exact, &how, &noise,
                          &evaluator);
    }
    status = search_run(strategy, &task, outcome);
    if (progress.shown > 0) {
        (void)fputs("\r\033[K", cli->log);
    }
    return status;
}

/* Add what a strategy found under noise to the account of that. */
static enum model_status judge_trial(struct bench *bench,
                                     const struct model_config *configs,
                                     struct search_tuned *tuned)
{
    struct search_trials *trials = &tuned->trials;
    struct search_times times;
    double loss_ratio;
    enum model_status status = time_plan(
        &bench->problem, configs, bench->scratch, &times, bench->cli->errors);

    if (status != MODEL_OK) {
        return status;
    }
    loss_ratio = times.iteration_us / tuned->times.iteration_us - 1.0;
    trials->worst_loss_ratio = trials->count > 0
                                   ? fmax(trials->worst_loss_ratio, loss_ratio)
                                   : loss_ratio;
    trials->mean_loss_ratio =
        (trials->mean_loss_ratio * trials->count + loss_ratio) /
        (trials->count + 1);
    trials->found += loss_ratio <= SEARCH_AS_GOOD ? 1 : 0;
    trials->count++;
    return MODEL_OK;
}

/* One strategy. */
static enum model_status search(struct bench *bench,
                                const struct search_entry *entry,
                                struct search_tuned *tuned)
{
    int trials = (int)bench->cli->options.trials;
    double noise_ratio = trials > 0 ? 0.0 : bench->noise_ratio;
    enum model_status status =
        run_once(bench, entry, noise_ratio, 0, &tuned->outcome);

    tuned->problem = bench->problem;
    tuned->evaluator = bench->kind;
    if (status == MODEL_OK) {
        tuned->searched_us = tuned->outcome.iteration_us;
        status = check(bench, tuned);
    }
    if (status == MODEL_OK) {
        keep(bench->cli->arena, tuned);
    }
    for (int i = 1; status == MODEL_OK && i <= trials; i++) {
        struct search_outcome outcome;

        status = run_once(bench, entry, bench->noise_ratio, i, &outcome);
        if (status == MODEL_OK) {
            status = judge_trial(bench, outcome.configs, tuned);
        }
    }
    return status;
}

/* All that comes before the first strategy. */
static enum model_status set_up(struct bench *bench)
{
    const struct search_problem *problem = &bench->problem;
    enum model_status status = set_readings(bench->cli, &bench->reading);

    if (status == MODEL_OK) {
        status = search_tune_check(bench->cli, &bench->noise_ratio);
    }
    if (status == MODEL_OK) {
        status = bench->kind->open(bench->shared, bench->scratch, problem,
                                   &bench->cli->options, &bench->inner,
                                   bench->cli->errors);
    }
    if (status == MODEL_OK) {
        search_memo_make(bench->shared, problem, &bench->inner, &bench->memo);
        status = time_plan(problem, native_of(bench->shared, problem),
                           bench->scratch, &bench->nccl, bench->cli->errors);
    }
    return status;
}

/*
 * The searches, or MODEL_FAULT when memory ran out. Apart from its caller, so
 * that no local lives across the jump.
 */
static enum model_status search_guarded(struct bench *bench,
                                        const struct search_entry *entries,
                                        int count,
                                        struct search_tuned *const *tuned)
{
    jmp_buf out_of_memory;
    enum model_status status;

    if (bench->shared == NULL || bench->work == NULL ||
        bench->scratch == NULL || setjmp(out_of_memory) != 0) {
        return MODEL_FAULT;
    }
    (void)model_arena_guard(bench->shared, &out_of_memory);
    (void)model_arena_guard(bench->work, &out_of_memory);
    (void)model_arena_guard(bench->scratch, &out_of_memory);
    status = set_up(bench);
    for (int i = 0; status == MODEL_OK && i < count; i++) {
        status = search(bench, &entries[i], tuned[i]);
    }
    return status;
}

enum model_status search_tune_all(struct sim_cli *cli,
                                  const struct sim_input *input,
                                  const char *label,
                                  const struct search_entry *entries,
                                  int count,
                                  struct search_tuned *const *tuned)
{
    struct bench bench = {.cli = cli, .label = label};
    enum model_status status;

    bench.kind = search_evaluator_find(cli->options.evaluator, cli->errors);
    if (bench.kind == NULL) {
        return MODEL_USAGE;
    }
    search_problem_make(cli->arena, &input->nccl, &bench.problem);
    bench.shared = model_arena_new();
    bench.work = model_arena_new();
    bench.scratch = model_arena_new();
    status = search_guarded(&bench, entries, count, tuned);
    model_arena_free(bench.shared);
    model_arena_free(bench.work);
    model_arena_free(bench.scratch);
    if (status == MODEL_FAULT) {
        (void)model_errors_add(cli->errors, MODEL_FAULT,
                               (struct model_place){"lagom", 0, 0}, NULL, NULL,
                               "out of memory");
    }
    return status;
}

enum model_status search_tune(struct sim_cli *cli,
                              const struct sim_input *input,
                              const struct search_strategy *strategy,
                              struct search_tuned *tuned)
{
    struct search_entry entry = {strategy, 0, cli->options.seed};

    return search_tune_all(cli, input, "", &entry, 1, &tuned);
}
