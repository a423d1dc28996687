/*
 * noise.c - log-normal factors on what another evaluator measures.
 */
#include "search/noise.h"

#include "search/moves.h"

#include <gsl/gsl_randist.h>
#include <math.h>

/* Values of a measurement; value `index` of one. */
static int value_count(const struct search_problem *problem)
{
    return 1 + problem->class_count + 2 * problem->window_count;
}

static double *value_at(const struct search_problem *problem,
                        struct search_measure *measure,
                        int index)
{
    int classes = problem->class_count;
    int windows = problem->window_count;

    if (index == 0) {
        return &measure->iteration_us;
    }
    index -= 1;
    if (index < classes) {
        return &measure->x_us[index];
    }
    index -= classes;
    return index < windows ? &measure->comm_us[index]
                           : &measure->kernel_us[index - windows];
}

/* The mean of the factors of a time. */
static double draw_factor(struct search_noise *noise)
{
    double ratio = noise->deviation_ratio;
    double sigma = sqrt(log1p(ratio * ratio));
    double sum = 0.0;

    for (int i = 0; i < noise->repeats; i++) {
        sum +=
            exp(gsl_ran_gaussian(noise->random, sigma) - 0.5 * sigma * sigma);
    }
    return sum / noise->repeats;
}

static enum model_status measure_noisily(void *context,
                                         const struct model_plan *plan,
                                         struct search_measure *measure,
                                         struct model_errors *errors)
{
    struct search_noise *noise = context;
    enum model_status status =
        search_evaluate(noise->inner, plan, &noise->measure, errors);

    if (status != MODEL_OK) {
        return status;
    }
    for (int i = 0; i < value_count(noise->problem); i++) {
        *value_at(noise->problem, measure, i) =
            *value_at(noise->problem, &noise->measure, i) * draw_factor(noise);
    }
    noise->outer->evaluations += noise->repeats - 1;
    return MODEL_OK;
}

void search_noise_make(struct model_arena *arena,
                       const struct search_problem *problem,
                       struct search_evaluator *inner,
                       const struct search_noise_options *options,
                       struct search_noise *noise,
                       struct search_evaluator *outer)
{
    *noise =
        (struct search_noise){.problem = problem,
                              .inner = inner,
                              .outer = outer,
                              .deviation_ratio = options->deviation_ratio,
                              .repeats = options->repeats,
                              .random = search_random(arena, options->seed)};
    search_measure_make(arena, problem, &noise->measure);
    *outer = (struct search_evaluator){.evaluate = measure_noisily,
                                       .context = noise,
                                       .measures = inner->measures};
}

enum model_status search_noise_read(const char *text,
                                    double *deviation_ratio,
                                    struct model_errors *errors)
{
    struct model_place place = {"lagom", 0, 0};
    struct model_units_fault fault = {.message = "is more than 100 %",
                                      .hint = "write --noise 2%"};
    double ratio = 0.0;

    if (text != NULL &&
        (model_units_parse(text, MODEL_RATIO, &ratio, &fault) != MODEL_OK ||
         ratio > 1.0)) {
        return model_errors_add(errors, MODEL_USAGE, place, "--noise",
                                "write --noise 2%", "%s: %s", text,
                                fault.message);
    }
    *deviation_ratio = ratio;
    return MODEL_OK;
}

uint64_t search_noise_seed(uint64_t seed, const char *purpose, int number)
{
    uint64_t hash = (seed ^ UINT64_C(0xcbf29ce484222325)) +
                    (uint64_t)number * UINT64_C(0x9e3779b97f4a7c15);

    for (; *purpose != '\0'; purpose++) {
        hash = (hash ^ (unsigned char)*purpose) * UINT64_C(0x100000001b3);
    }
    hash = (hash ^ (hash >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ (hash >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (hash ^ (hash >> 31)) >> 32;
}
