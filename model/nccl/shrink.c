/*
 * shrink.c - how many channels and threads NCCL gives a message
 * (2.18.3: src/enqueue.cc, getAlgoInfo; 2.30.7: topoGetAlgoInfo,
 * scheduleCollTasksToPlan).
 *
 * Each thread of each channel is to have some bytes to do: first channels go,
 * one by one, down to the last, then threads are halved as long as what is left
 * are whole warps in pairs. NVLS and PAT keep all. Warps that synchronise come
 * on top of the workers; a CTA has some threads at least, that of a tree all
 * from 2.22 on.
 *
 * From 2.22 on a message is then dealt to channels one after the other, in
 * cells of some least traffic, rather than cut evenly: as many cells as an even
 * share of its traffic fills, so that the last channels may get none.
 */
#include "model/nccl/tuning_parts.h"

#include <math.h>

enum { WARP = 32 };

static bool is_nvls(int algorithm)
{
    return algorithm == MODEL_NCCL_NVLS || algorithm == MODEL_NCCL_NVLS_TREE;
}

static void note_fewer(struct model_nccl_choice *choice, int channels)
{
    if (choice->channels < channels) {
        model_nccl_choice_note(choice, MODEL_NCCL_FEWER_CHANNELS);
    }
}

/* Warps that synchronise, or steer, beside the workers. */
static int extra_warps(const struct model_nccl_comm *comm,
                       const struct model_nccl_choice *choice)
{
    const struct model_nccl_threads *threads = &comm->version->tuning.threads;

    if (choice->protocol != MODEL_NCCL_SIMPLE) {
        return 0;
    }
    switch (choice->algorithm) {
    case MODEL_NCCL_RING:
        return 1;
    case MODEL_NCCL_TREE:
        return 4;
    case MODEL_NCCL_PAT:
        return (threads->cta - threads->pat) / WARP;
    default:
        return 0;
    }
}

/* Workers of a CTA that would have so many, and that is not to be too small. */
static int workers(const struct model_nccl_comm *comm,
                   const struct model_nccl_choice *choice,
                   int threads)
{
    const struct model_nccl_tuning_data *data = &comm->version->tuning;
    bool full =
        data->threads.full_trees && choice->algorithm == MODEL_NCCL_TREE;
    int least = (full ? data->threads.cta : data->least_threads) -
                choice->extra_warps * WARP;

    return threads < least ? least : threads;
}

/* A broadcast that is run as an all_gather counts as much from each rank. */
static bool gathers(const struct model_nccl_comm *comm,
                    const struct model_nccl_choice *choice)
{
    return choice->function == MODEL_NCCL_BROADCAST &&
           comm->version->tuning.broadcast_gathers;
}

static void by_threads(const struct model_nccl_tuning *tuning,
                       struct model_nccl_choice *choice)
{
    double bytes = gathers(tuning->comm, choice)
                       ? choice->bytes * tuning->comm->rank_count
                       : choice->bytes;
    double each = tuning->threshold_bytes[choice->algorithm][choice->protocol];
    int channels = choice->channels, before = choice->threads;
    int threads = tuning->threads[choice->algorithm][choice->protocol];

    while (choice->channels > 1 && bytes < choice->channels * each * threads) {
        choice->channels--;
    }
    note_fewer(choice, channels);
    while (threads % 128 == 0 && bytes < choice->channels * each * threads) {
        threads /= 2;
    }
    choice->threads = workers(tuning->comm, choice, threads);
    if (choice->threads < before) {
        model_nccl_choice_note(choice, MODEL_NCCL_FEWER_THREADS);
    }
}

static double up_to_16(double value)
{
    return ceil(value / 16.0) * 16.0;
}

/*
 * Deal a rank's bytes to channels by cells. What gathers or scatters has n
 * bytes of traffic for each of a rank's, an all_reduce two.
 */
static void by_traffic(const struct model_nccl_comm *comm,
                       struct model_nccl_choice *choice)
{
    const struct model_nccl_tuning_data *data = &comm->version->tuning;
    int channels = choice->channels;
    bool parts = choice->function == MODEL_NCCL_ALL_GATHER ||
                 choice->function == MODEL_NCCL_REDUCE_SCATTER;
    double ranks = parts ? (double)comm->rank_count : 1.0;
    double bytes = choice->bytes / ranks;
    double ratio = choice->function == MODEL_NCCL_ALL_REDUCE ? 2.0 : ranks;
    double cell, cells, share, each;

    if (choice->protocol == MODEL_NCCL_LL) {
        ratio *= data->ll_traffic_ratio;
    }
    cell = up_to_16(ceil(data->channel_traffic_bytes / ratio));
    cells = ceil(bytes / cell);
    share = up_to_16(
        floor(fmax(data->channel_traffic_bytes, bytes * ratio) / channels));
    each = fmin(cells, ceil(share / (cell * ratio)));
    choice->channels = (int)fmin(channels, ceil(cells / each));
    choice->channel_bytes = fmin(bytes, each * cell) * ranks;
    note_fewer(choice, channels);
}

void model_nccl_shrink(const struct model_nccl_tuning *tuning,
                       struct model_nccl_choice *choice)
{
    const struct model_nccl_comm *comm = tuning->comm;

    /* A pair that NCCL rules out may be asked for all the same. */
    choice->channels = is_nvls(choice->algorithm) && comm->nvls_channels > 0
                           ? comm->nvls_channels
                           : comm->channels;
    choice->extra_warps = extra_warps(comm, choice);
    choice->threads = workers(
        comm, choice, tuning->threads[choice->algorithm][choice->protocol]);
    model_nccl_choice_note(choice, MODEL_NCCL_AS_SEARCHED);
    by_threads(tuning, choice);
    choice->channel_bytes = choice->bytes / choice->channels;
    if (comm->version->tuning.channel_traffic_bytes > 0.0 &&
        !gathers(comm, choice)) {
        by_traffic(comm, choice);
    }
}
