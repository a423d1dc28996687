/*
 * space.c - AutoCCL's candidate generator for Ring and Simple.
 */
#include "search/space.h"

#include <math.h>

int search_subspaces(const struct search_problem *problem,
                     const struct search_class *part,
                     struct search_space spaces[MODEL_TRANSPORTS])
{
    const struct model_topology *topology = problem->topology;
    double n = problem->workload->groups[part->group].count;
    bool all_nvlink = problem->nccl->groups[part->group].comm->all_nvlink;
    int count = 0;

    for (int transport = 0; transport < MODEL_TRANSPORTS; transport++) {
        if (transport == MODEL_SHM && all_nvlink) {
            continue;
        }
        spaces[count] = (struct search_space){
            .subspace = model_config_none(),
            .channels_max = topology->gpu.sm_count < SEARCH_CHANNELS_MAX
                                ? topology->gpu.sm_count
                                : SEARCH_CHANNELS_MAX,
            .count_bytes = part->bytes / n};
        spaces[count].subspace.algorithm = part->baseline.algorithm;
        spaces[count].subspace.protocol = MODEL_SIMPLE;
        spaces[count].subspace.transport = transport;
        count++;
    }
    return count;
}

int search_space_chunks(const struct search_space *space,
                        int channels,
                        int threads)
{
    double unit = (double)threads * SEARCH_CHUNK_GRAIN;
    double most = floor(SEARCH_CHUNK_MAX / unit);
    double useful = floor(space->count_bytes / ((double)channels * unit));

    return (int)fmax(fmin(most, useful), 1.0);
}

int search_space_list(struct model_arena *arena,
                      const struct search_space *space,
                      int chunks_max,
                      struct model_config **list)
{
    int kinds =
        (SEARCH_THREADS_MAX - SEARCH_THREADS_MIN) / SEARCH_THREADS_STEP + 1;
    struct model_config *out = model_arena_array(
        arena, (size_t)space->channels_max * (size_t)kinds * (size_t)chunks_max,
        sizeof(*out));
    int count = 0;

    for (int channels = 1; channels <= space->channels_max; channels++) {
        for (int threads = SEARCH_THREADS_MIN; threads <= SEARCH_THREADS_MAX;
             threads += SEARCH_THREADS_STEP) {
            int chunks = search_space_chunks(space, channels, threads);
            int kept = chunks < chunks_max ? chunks : chunks_max;

            for (int i = 1; i <= kept; i++) {
                /* Evenly spread, always with the largest. */
                int step = (int)((int64_t)chunks * i / kept);

                out[count] = space->subspace;
                out[count].channels = channels;
                out[count].threads = threads;
                out[count].chunk_bytes =
                    (double)step * threads * SEARCH_CHUNK_GRAIN;
                count++;
            }
        }
    }
    *list = out;
    return count;
}
