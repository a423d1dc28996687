/*
 * space.c - the candidates of one subspace, counted and never listed.
 */
#include "search/space.h"

#include <math.h>

static const double SMALL_BYTES = 1048576.0; /* messages below are small */

enum { PAIRS_MAX = 8 /* of a CTA, at once */ };

/* Pairs that a CTA has at once; 1 in rings and trees. */
static int pairs_of(const struct search_space *space, int channels)
{
    int pairs = (space->peers + channels - 1) / channels;

    return space->peers == 0 || pairs < 1 ? 1
           : pairs > PAIRS_MAX            ? PAIRS_MAX
                                          : pairs;
}

int search_space_threads_max(const struct search_space *space, int channels)
{
    int most = space->threads_max;

    if (space->peers > 0) {
        most = most / pairs_of(space, channels) / SEARCH_THREADS_STEP *
               SEARCH_THREADS_STEP;
    }
    return channels == space->channels_max && space->last_threads < most
               ? space->last_threads
               : most;
}

int search_space_thread_steps(const struct search_space *space, int channels)
{
    return (search_space_threads_max(space, channels) - space->threads_min) /
           SEARCH_THREADS_STEP;
}

double search_space_sharers(const struct search_space *space, int channels)
{
    return space->peers > 0 ? fmax((double)channels / (double)space->peers, 1.0)
                            : (double)channels;
}

static double unit_bytes(const struct search_space *space, int threads)
{
    return space->grain_bytes * threads;
}

int search_space_chunks(const struct search_space *space,
                        int channels,
                        int threads)
{
    double unit = unit_bytes(space, threads);
    double most = floor(space->chunk_max_bytes / unit);
    double useful = floor(space->count_bytes /
                          (search_space_sharers(space, channels) * unit));

    return (int)fmax(fmin(most, useful), 1.0);
}

void search_space_end(struct search_space *space, double message_bytes)
{
    for (int channels = 1;
         message_bytes < SMALL_BYTES && channels <= space->channels_max;
         channels++) {
        int most = search_space_threads_max(space, channels);

        for (int threads = space->threads_min; threads <= most;
             threads += SEARCH_THREADS_STEP) {
            double largest = unit_bytes(space, threads) *
                             search_space_chunks(space, channels, threads);

            if (largest * search_space_sharers(space, channels) >=
                space->count_bytes) {
                space->channels_max = channels;
                space->last_threads = threads;
                return;
            }
        }
    }
}

int64_t search_space_count(const struct search_space *space)
{
    int64_t count = 0;

    for (int channels = 1; channels <= space->channels_max; channels++) {
        int most = search_space_threads_max(space, channels);

        for (int threads = space->threads_min; threads <= most;
             threads += SEARCH_THREADS_STEP) {
            count += search_space_chunks(space, channels, threads);
        }
    }
    return count;
}

/* Threads of the CTA for one of a candidate's: pairs share it both ways. */
static int cta_threads(const struct search_space *space, int channels)
{
    return space->peers > 0 ? 2 * pairs_of(space, channels) : 1;
}

struct model_config
search_space_config(const struct search_space *space,
                    const struct search_candidate *candidate)
{
    struct model_config config = space->subspace;

    config.channels = candidate->channels;
    config.threads =
        candidate->threads * cta_threads(space, candidate->channels);
    config.chunk_bytes =
        unit_bytes(space, candidate->threads) * candidate->multiple;
    return config;
}

static int clamp(double value, int least, int most)
{
    return (int)fmin(fmax(value, least), most);
}

int search_space_multiple(const struct search_space *space,
                          const struct search_candidate *candidate,
                          double chunk_bytes)
{
    return clamp(
        floor(chunk_bytes / unit_bytes(space, candidate->threads) + 0.5), 1,
        search_space_chunks(space, candidate->channels, candidate->threads));
}

struct search_candidate search_space_nearest(const struct search_space *space,
                                             const struct model_config *config)
{
    struct search_candidate at;
    int least = space->threads_min;
    double steps;
    int most;

    at.channels = clamp(config->channels, 1, space->channels_max);
    most = search_space_threads_max(space, at.channels);
    steps = ((double)config->threads / cta_threads(space, at.channels) -
             (double)least) /
            SEARCH_THREADS_STEP;
    at.threads = least + SEARCH_THREADS_STEP *
                             clamp(floor(steps + 0.5), 0,
                                   (most - least) / SEARCH_THREADS_STEP);
    at.multiple = search_space_multiple(space, &at, config->chunk_bytes);
    return at;
}
