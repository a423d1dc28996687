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
    struct search_space all[SEARCH_SUBSPACES_MAX];
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

/* Such channels, parts of the steps of their threads and of their chunks. */
static struct model_config point(const struct search_space *space,
                                 double channels,
                                 double threads_part,
                                 double chunk_part)
{
    struct search_candidate at;
    double chunks;

    at.channels = (int)fmin(floor(channels + 0.5), space->channels_max);
    at.threads = space->threads_min +
                 SEARCH_THREADS_STEP *
                     (int)floor(threads_part * search_space_thread_steps(
                                                   space, at.channels) +
                                0.5);
    chunks = search_space_chunks(space, at.channels, at.threads);
    at.multiple = (int)fmax(floor(chunk_part * chunks + 0.5), 1.0);
    return search_space_config(space, &at);
}

struct model_config lagom_least(const struct search_space *space)
{
    return point(space, 1.0, 0.0, 0.0);
}

bool lagom_is_top(const struct search_space *space,
                  const struct model_config *config)
{
    struct search_candidate at = search_space_nearest(space, config);

    return at.channels >= space->channels_max &&
           at.threads >= search_space_threads_max(space, at.channels) &&
           at.multiple >= search_space_chunks(space, at.channels, at.threads);
}

/* Every value by lr of itself, and by one step of its grid at least. */
static struct model_config raise_values(const struct search_space *space,
                                        const struct model_config *config,
                                        double lr)
{
    struct search_candidate at = search_space_nearest(space, config);
    double channels =
        floor(fmax(at.channels + 1.0, at.channels * (1.0 + lr)) + 0.5);
    double threads =
        fmax(at.threads + (double)SEARCH_THREADS_STEP, at.threads * (1.0 + lr));
    double steps =
        floor((threads - space->threads_min) / SEARCH_THREADS_STEP + 0.5);
    double unit_bytes;
    double chunks;
    int up;

    at.channels = (int)fmin(channels, space->channels_max);
    at.threads =
        space->threads_min +
        SEARCH_THREADS_STEP *
            (int)fmin(steps, search_space_thread_steps(space, at.channels));
    chunks = search_space_chunks(space, at.channels, at.threads);
    at.multiple = 1;
    unit_bytes = search_space_config(space, &at).chunk_bytes;
    up = (int)fmin(floor(config->chunk_bytes / unit_bytes) + 1.0, chunks);
    at.multiple =
        search_space_multiple(space, &at, config->chunk_bytes * (1.0 + lr));
    at.multiple = up > at.multiple ? up : at.multiple;
    return search_space_config(space, &at);
}

struct model_config lagom_raise(const struct search_reading *reading,
                                const struct search_space *space,
                                const struct model_config *config,
                                double lr,
                                double *height)
{
    double channels;

    if (reading->scale == SEARCH_SCALE_VALUE) {
        return raise_values(space, config, lr);
    }
    *height = fmin(*height + lr, 1.0);
    channels = reading->scale == SEARCH_SCALE_RANGE
                   ? pow((double)space->channels_max, *height)
                   : 1.0 + *height * (space->channels_max - 1);
    return point(space, channels, *height, *height);
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
