/*
 * lagom_climb.c - the configurations of a space from the least to the largest.
 */
#include "search/lagom_climb.h"

#include <math.h>

static const double most_ratios[] = {0.1, 1.0 / 3.0, 1.0};

void lagom_spaces_of(const struct search_reading *reading,
                     const struct search_problem *problem,
                     const struct search_class *part,
                     struct lagom_spaces *spaces)
{
    struct search_space all[MODEL_TRANSPORTS];
    int count = search_subspaces(problem, part, all);

    spaces->count = 0;
    for (int i = 0; i < count; i++) {
        const struct model_config *at = &all[i].subspace;
        bool own = at->algorithm == part->baseline.algorithm &&
                   at->protocol == part->baseline.protocol;

        if (reading->spaces == SEARCH_SPACES_ALL ||
            (own && (reading->spaces == SEARCH_SPACES_TRANSPORTS ||
                     at->transport == part->baseline.transport))) {
            spaces->list[spaces->count++] = all[i];
        }
    }
    if (spaces->count == 0 && count > 0) { /* NCCL's is not among them */
        spaces->list[spaces->count++] = all[0];
    }
}

/* The configuration with such channels, threads and part of the chunks. */
static struct model_config
point(const struct search_space *space, double channels, int step, double part)
{
    int most = (SEARCH_THREADS_MAX - SEARCH_THREADS_MIN) / SEARCH_THREADS_STEP;
    struct model_config config = space->subspace;

    config.channels = (int)fmin(floor(channels + 0.5), space->channels_max);
    config.threads =
        SEARCH_THREADS_MIN + SEARCH_THREADS_STEP * (step < most ? step : most);
    config.chunk_bytes =
        fmax(floor(part * search_space_chunks(space, config.channels,
                                              config.threads) +
                   0.5),
             1.0) *
        config.threads * SEARCH_CHUNK_GRAIN;
    return config;
}

struct model_config lagom_least(const struct search_space *space)
{
    return point(space, 1.0, 0, 0.0);
}

bool lagom_is_top(const struct search_space *space,
                  const struct model_config *config)
{
    return config->channels >= space->channels_max &&
           config->threads >= SEARCH_THREADS_MAX &&
           config->chunk_bytes + 0.5 >
               (double)search_space_chunks(space, config->channels,
                                           config->threads) *
                   config->threads * SEARCH_CHUNK_GRAIN;
}

/* Every value by lr of itself, and by one step of its grid at least. */
static struct model_config raise_values(const struct search_space *space,
                                        const struct model_config *config,
                                        double lr)
{
    double channels =
        fmax(config->channels + 1.0, config->channels * (1.0 + lr));
    double threads = fmax(config->threads + (double)SEARCH_THREADS_STEP,
                          config->threads * (1.0 + lr));
    int step =
        (int)floor((threads - SEARCH_THREADS_MIN) / SEARCH_THREADS_STEP + 0.5);
    struct model_config next = point(space, channels, step, 1.0);
    double unit_bytes = (double)next.threads * SEARCH_CHUNK_GRAIN;
    double chunks =
        fmax(floor(config->chunk_bytes / unit_bytes) + 1.0,
             floor(config->chunk_bytes * (1.0 + lr) / unit_bytes + 0.5));

    next.chunk_bytes = fmin(chunks * unit_bytes, next.chunk_bytes);
    return next;
}

struct model_config lagom_raise(const struct search_reading *reading,
                                const struct search_space *space,
                                const struct model_config *config,
                                double lr,
                                double *height)
{
    double steps =
        (double)(SEARCH_THREADS_MAX - SEARCH_THREADS_MIN) / SEARCH_THREADS_STEP;
    double channels;

    if (reading->scale == SEARCH_SCALE_VALUE) {
        return raise_values(space, config, lr);
    }
    *height = fmin(*height + lr, 1.0);
    channels = reading->scale == SEARCH_SCALE_RANGE
                   ? pow((double)space->channels_max, *height)
                   : 1.0 + *height * (space->channels_max - 1);
    return point(space, channels, (int)floor(*height * steps + 0.5), *height);
}

double
lagom_rate(const struct search_reading *reading, double before_us, double x_us)
{
    double rate = LAGOM_RAISE_MIN;

    switch ((enum search_reading_lr)reading->lr) {
    case SEARCH_LR_GAIN:
        rate = (before_us - x_us) / x_us;
        break;
    case SEARCH_LR_SHARE:
        rate = (before_us - x_us) / before_us;
        break;
    case SEARCH_LR_PRINTED:
        rate = (x_us - before_us) / x_us;
        break;
    }
    return fmin(fmax(rate, LAGOM_RAISE_MIN), most_ratios[reading->most]);
}
