/*
 * model.c - how far Lagom's cost model is from the simulator.
 *
 *     model TOPOLOGY,... WORKLOAD,...
 *
 * All collectives of a workload get the same channels and chunk, the rest as
 * NCCL has it; both evaluators measure it, over a spread of such settings. A
 * line per pair compares the iterations, with Spearman's rank correlation and
 * what the setting that the model likes best costs over the best; the last
 * lines take all pairs together, and the windows' X and Y.
 */
#include "model/nccl.h"
#include "search/evaluator.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHANNELS = 6, CHUNKS = 4, SETTINGS = CHANNELS * CHUNKS };

static const int spread_channels[CHANNELS] = {1, 2, 4, 8, 16, 32};
static const double spread_chunk_bytes[CHUNKS] = {32768, 131072, 524288,
                                                  2097152};

/* Pairs of one quantity. */
struct sample {
    double *model;
    double *simulated;
    int count;
    int room[2];
};

struct study {
    struct model_arena *arena;
    struct model_arena *scratch;
    struct model_errors errors;
    struct sample iterations, x, y; /* of all pairs */
};

static void add(struct model_arena *arena,
                struct sample *to,
                double model,
                double simulated)
{
    to->model = model_arena_grow(arena, to->model, to->count, &to->room[0],
                                 sizeof(double));
    to->simulated = model_arena_grow(arena, to->simulated, to->count,
                                     &to->room[1], sizeof(double));
    to->model[to->count] = model;
    to->simulated[to->count++] = simulated;
}

static double spearman(struct model_arena *arena, const struct sample *sample)
{
    size_t count = (size_t)sample->count;
    double *work = model_arena_array(arena, 2 * count, sizeof(double));

    return gsl_stats_spearman(sample->model, 1, sample->simulated, 1, count,
                              work);
}

/* Median, 95th percentile and worst of relative errors; bias: their mean. */
static void print_sample(struct model_arena *arena,
                         const char *name,
                         const struct sample *sample)
{
    size_t count = (size_t)sample->count;
    double *errors = model_arena_array(arena, count + 1, sizeof(double));
    double bias = 0.0;

    for (int i = 0; i < sample->count; i++) {
        double error = sample->model[i] / sample->simulated[i] - 1.0;

        bias += error / (double)count;
        errors[i] = fabs(error);
    }
    gsl_sort(errors, 1, count);
    (void)printf(
        "%-38s %5d %7.1f%% %6.1f%% %6.1f%% %+6.1f%% %8.3f", name, sample->count,
        100 * gsl_stats_quantile_from_sorted_data(errors, 1, count, 0.5),
        100 * gsl_stats_quantile_from_sorted_data(errors, 1, count, 0.95),
        100 * errors[count - 1], 100 * bias, spearman(arena, sample));
}

static int least(const double *values, int count)
{
    int best = 0;

    for (int i = 1; i < count; i++) {
        best = values[i] < values[best] ? i : best;
    }
    return best;
}

/* What the model's favourite costs over the simulator's. */
static double regret(const struct sample *sample)
{
    return sample->simulated[least(sample->model, sample->count)] /
               sample->simulated[least(sample->simulated, sample->count)] -
           1.0;
}

/* A measured side of a window counts where it has something to run. */
static void add_windows(struct study *study,
                        const struct search_problem *problem,
                        const struct search_measure *model,
                        const struct search_measure *simulated)
{
    for (int i = 0; i < problem->window_count; i++) {
        if (simulated->comm_us[i] > 0.0) {
            add(study->arena, &study->x, model->comm_us[i],
                simulated->comm_us[i]);
        }
        if (simulated->kernel_us[i] > 0.0) {
            add(study->arena, &study->y, model->kernel_us[i],
                simulated->kernel_us[i]);
        }
    }
}

static struct model_plan
plan_of(struct study *study, const struct search_problem *problem, int setting)
{
    struct model_config *configs = model_arena_array(
        study->arena, (size_t)problem->class_count + 1, sizeof(*configs));

    for (int i = 0; i < problem->class_count; i++) {
        configs[i] = problem->classes[i].baseline;
        configs[i].channels = spread_channels[setting % CHANNELS];
        configs[i].chunk_bytes = spread_chunk_bytes[setting / CHANNELS];
    }
    return search_plan(study->arena, problem, configs, NULL);
}

/* All settings of a pair, measured by both. */
static enum model_status measure_pair(struct study *study,
                                      const struct search_problem *problem,
                                      struct sample *iterations)
{
    struct search_evaluator evaluators[2];
    struct search_measure measures[2];
    enum model_status status = MODEL_OK;

    for (int e = 0; status == MODEL_OK && e < 2; e++) {
        const struct search_evaluator_kind *kind = search_evaluator_find(
            e == 0 ? "model" : "simulator", &study->errors);

        search_measure_make(study->arena, problem, &measures[e]);
        status = kind->open(study->arena, study->scratch, problem, NULL,
                            &evaluators[e], &study->errors);
    }
    for (int i = 0; status == MODEL_OK && i < SETTINGS; i++) {
        struct model_plan plan = plan_of(study, problem, i);

        for (int e = 0; status == MODEL_OK && e < 2; e++) {
            status = search_evaluate(&evaluators[e], &plan, &measures[e],
                                     &study->errors);
        }
        if (status == MODEL_OK) {
            add(study->arena, iterations, measures[0].iteration_us,
                measures[1].iteration_us);
            add(study->arena, &study->iterations, measures[0].iteration_us,
                measures[1].iteration_us);
            add_windows(study, problem, &measures[0], &measures[1]);
        }
    }
    return status;
}

/* A topology as NAME, or NAME:KEY=VALUE. */
static enum model_status read_topology(struct study *study,
                                       const char *words,
                                       struct model_topology *topology)
{
    char *name = model_arena_text(study->arena, words);
    char *colon = strchr(name, ':');
    const char *override = colon != NULL ? colon + 1 : NULL;

    if (colon != NULL) {
        *colon = '\0';
    }
    return model_topology_read(study->arena, name, &override,
                               colon != NULL ? 1 : 0, topology, &study->errors);
}

static enum model_status read_pair(struct study *study,
                                   const char *topology_name,
                                   const char *workload_name,
                                   struct search_problem *problem)
{
    struct model_topology *topology =
        model_arena_alloc(study->arena, sizeof(*topology));
    struct model_workload *workload =
        model_arena_alloc(study->arena, sizeof(*workload));
    struct model_nccl_version *version =
        model_arena_alloc(study->arena, sizeof(*version));
    struct model_nccl *nccl = model_arena_alloc(study->arena, sizeof(*nccl));
    struct model_nccl_settings settings = model_nccl_settings_none();
    enum model_status status = read_topology(study, topology_name, topology);

    if (status == MODEL_OK) {
        status = model_workload_read(study->arena, workload_name, NULL, 0,
                                     topology, workload, &study->errors);
    }
    if (status == MODEL_OK) {
        status =
            model_nccl_version_read(study->arena, topology->nccl.version,
                                    (struct model_place){topology_name, 0, 0},
                                    "nccl.version", version, &study->errors);
    }
    if (status == MODEL_OK) {
        model_nccl_make(study->arena, topology, workload, version, &settings,
                        true, nccl);
        search_problem_make(study->arena, nccl, problem);
        search_problem_label(study->arena, problem);
    }
    return status;
}

static enum model_status
run_pair(struct study *study, const char *topology, const char *workload)
{
    struct search_problem problem;
    struct sample iterations = {.count = 0};
    enum model_status status = read_pair(study, topology, workload, &problem);

    if (status == MODEL_OK) {
        status = measure_pair(study, &problem, &iterations);
    }
    if (status == MODEL_OK) {
        print_sample(
            study->arena,
            model_arena_format(study->arena, "%s, %s", topology, workload),
            &iterations);
        (void)printf(" %+7.1f%%\n", 100 * regret(&iterations));
    }
    return status;
}

static enum model_status
run_pairs(struct study *study, const char *topologies, const char *workloads)
{
    enum model_status status = MODEL_OK;
    char *topology_state = NULL;

    for (char *topology = strtok_r(model_arena_text(study->arena, topologies),
                                   ",", &topology_state);
         topology != NULL && status == MODEL_OK;
         topology = strtok_r(NULL, ",", &topology_state)) {
        char *state = NULL;

        for (char *workload = strtok_r(
                 model_arena_text(study->arena, workloads), ",", &state);
             workload != NULL && status == MODEL_OK;
             workload = strtok_r(NULL, ",", &state)) {
            status = run_pair(study, topology, workload);
        }
    }
    return status;
}

/* words: a list of topologies, a list of workloads for them, and so on. */
static enum model_status run_all(struct study *study, char **words)
{
    enum model_status status = MODEL_OK;

    (void)printf("\n%-38s %5s %8s %7s %7s %7s %8s %8s\n",
                 "cost model against simulator", "plans", "median", "p95",
                 "worst", "bias", "ranks", "regret");
    for (; status == MODEL_OK && words[0] != NULL; words += 2) {
        status = run_pairs(study, words[0], words[1]);
    }
    if (status == MODEL_OK) {
        print_sample(study->arena, "all: an iteration", &study->iterations);
        (void)putchar('\n');
        print_sample(study->arena, "all: X of a window", &study->x);
        (void)putchar('\n');
        print_sample(study->arena, "all: Y of a window", &study->y);
        (void)putchar('\n');
    }
    return status;
}

int main(int count, char **words)
{
    struct study study = {.arena = model_arena_new(),
                          .scratch = model_arena_new()};
    enum model_status status = MODEL_FAULT;

    if (count < 3 || count % 2 == 0 || study.arena == NULL ||
        study.scratch == NULL) {
        (void)fputs("usage: model TOPOLOGY,... WORKLOAD,... [...]\n", stderr);
    } else {
        study.errors.arena = study.arena;
        status = run_all(&study, &words[1]);
        model_errors_print(&study.errors, stderr);
    }
    model_arena_free(study.scratch);
    model_arena_free(study.arena);
    return status == MODEL_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
