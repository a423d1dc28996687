/*
 * collective.c - the tables of kinds and algorithms.
 */
#include "model/collective_parts.h"

#include <math.h>

const char *const model_collective_names[] = {
    "all_gather", "reduce_scatter", "all_reduce", "broadcast", "reduce",
    "all_to_all", "send_recv",      "send",       "ring_step", NULL};

/* Which algorithm does what. The first of a kind is its usual one. */
static const struct row {
    enum model_collective_kind kind;
    enum model_algorithm algorithm;
    model_collective_maker *make;
} rows[] = {
    {MODEL_ALL_GATHER, MODEL_RING, model_collective_ring},
    {MODEL_ALL_GATHER, MODEL_NVLS, model_collective_nvls},
    {MODEL_ALL_GATHER, MODEL_PAT, model_collective_pat},
    {MODEL_ALL_GATHER, MODEL_COPY_ENGINE, model_collective_copy},
    {MODEL_REDUCE_SCATTER, MODEL_RING, model_collective_ring},
    {MODEL_REDUCE_SCATTER, MODEL_NVLS, model_collective_nvls},
    {MODEL_REDUCE_SCATTER, MODEL_PAT, model_collective_pat},
    {MODEL_ALL_REDUCE, MODEL_RING, model_collective_ring},
    {MODEL_ALL_REDUCE, MODEL_TREE, model_collective_tree},
    {MODEL_ALL_REDUCE, MODEL_NVLS, model_collective_nvls},
    {MODEL_ALL_REDUCE, MODEL_NVLS_TREE, model_collective_nvls_tree},
    {MODEL_BROADCAST, MODEL_RING, model_collective_chain},
    {MODEL_REDUCE, MODEL_RING, model_collective_chain},
    {MODEL_ALL_TO_ALL, MODEL_PAIRWISE, model_collective_pairwise},
    {MODEL_ALL_TO_ALL, MODEL_COPY_ENGINE, model_collective_copy},
    {MODEL_SEND_RECV, MODEL_PAIRWISE, model_collective_pairwise},
    {MODEL_SEND, MODEL_PAIRWISE, model_collective_pairwise},
    {MODEL_RING_STEP, MODEL_RING, model_collective_step},
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static const struct row *find_row(enum model_collective_kind kind,
                                  int algorithm)
{
    for (int i = 0; i < ROWS; i++) {
        if (rows[i].kind == kind && (int)rows[i].algorithm == algorithm) {
            return &rows[i];
        }
    }
    return NULL;
}

bool model_collective_runs(enum model_collective_kind kind,
                           enum model_algorithm algorithm)
{
    return find_row(kind, (int)algorithm) != NULL;
}

enum model_algorithm model_collective_algorithm(enum model_collective_kind kind)
{
    int i = 0;

    while (rows[i].kind != kind) {
        i++;
    }
    return rows[i].algorithm;
}

double model_collective_bus_factor(enum model_collective_kind kind,
                                   int rank_count)
{
    double n = (double)rank_count;

    switch (kind) {
    case MODEL_ALL_REDUCE:
        return 2.0 * (n - 1.0) / n;
    case MODEL_ALL_GATHER:
    case MODEL_REDUCE_SCATTER:
    case MODEL_ALL_TO_ALL:
        return (n - 1.0) / n;
    case MODEL_BROADCAST:
    case MODEL_REDUCE:
    case MODEL_SEND_RECV:
    case MODEL_SEND:
    case MODEL_RING_STEP:
    case MODEL_COLLECTIVE_KINDS:
        break;
    }
    return 1.0;
}

const char *model_collective_fault(const struct model_topology *topology,
                                   enum model_collective_kind kind,
                                   const struct model_config *config)
{
    bool switched = topology->nvlink.kind == MODEL_NVLINK_SWITCH;

    for (int i = 0; i < model_ranks_gpu_count(topology); i++) {
        if (config->channels > model_ranks_gpu_at(topology, i)->sm_count) {
            return "more channels than the GPU has SMs";
        }
    }
    if (config->threads > 1024) {
        return "more threads than a CTA can have";
    }
    if (find_row(kind, config->algorithm) == NULL) {
        return "the algorithm does not do this kind of collective";
    }
    if (kind == MODEL_RING_STEP &&
        (config->protocol != MODEL_SIMPLE || config->transport != MODEL_P2P)) {
        return "ring_step knows only simple, with its FIFO in device memory";
    }
    switch ((enum model_algorithm)config->algorithm) {
    case MODEL_NVLS:
    case MODEL_NVLS_TREE:
        if (topology->gpu.compute_capability < 90 || !switched) {
            return "nvls needs an NVSwitch and GPUs of sm_90 or later";
        }
        if (!(topology->gpu.nvls_ratio > 0.0)) {
            return "the GPU's file has no channel.nvls";
        }
        return config->protocol != MODEL_SIMPLE ? "nvls knows only simple"
                                                : NULL;
    case MODEL_PAT:
        return config->protocol != MODEL_SIMPLE ? "pat knows only simple"
                                                : NULL;
    case MODEL_COPY_ENGINE:
        return topology->gpu.copy_bytes_per_us > 0.0
                   ? NULL
                   : "the GPU's file has no copy_engine";
    case MODEL_RING:
    case MODEL_TREE:
    case MODEL_PAIRWISE:
    case MODEL_ALGORITHMS:
        break;
    }
    return NULL;
}

/* What the kernel takes outside its steps, with one channel. */
static double kernel_us(const struct model_gpu *gpu,
                        const struct model_config *config)
{
    switch ((enum model_algorithm)config->algorithm) {
    case MODEL_NVLS:
    case MODEL_NVLS_TREE:
        return gpu->nvls_start_us;
    case MODEL_COPY_ENGINE:
        return 0.0;
    case MODEL_RING:
    case MODEL_TREE:
    case MODEL_PAT:
    case MODEL_PAIRWISE:
    case MODEL_ALGORITHMS:
        break;
    }
    return model_channel_start_us(gpu, (enum model_protocol)config->protocol);
}

/* NCCL sets its channels up; copy engines and a kernel by itself have none. */
static double start_us(const struct model_topology *topology,
                       const struct model_collective_task *task)
{
    const struct model_config *config = task->config;
    double channels =
        config->algorithm == MODEL_COPY_ENGINE || task->kind == MODEL_RING_STEP
            ? 0.0
            : (double)config->channels;

    return kernel_us(&topology->gpu, config) +
           channels * topology->nccl.channel_setup_us;
}

struct model_collective
model_collective_make(struct model_walk *walk,
                      const struct model_collective_task *task)
{
    struct model_collective result = {.rank_count = task->group->count,
                                      .channels = task->config->channels,
                                      .sms = task->config->channels,
                                      .bus_factor = model_collective_bus_factor(
                                          task->kind, task->group->count)};
    const struct row *row = find_row(task->kind, task->config->algorithm);

    if (row->algorithm == MODEL_COPY_ENGINE) {
        result.sms = 0;
    }
    if (task->group->count > 1 || task->kind == MODEL_RING_STEP) {
        row->make(walk, task, &result);
        if (!(result.crowded_bytes_per_us > 0.0)) {
            result.crowded_bytes_per_us = result.channel_bytes_per_us;
        }
        result.crowded_hbm_ratio =
            fmax(result.crowded_hbm_ratio, result.hbm_ratio);
        result.start_us = start_us(walk->fabric->topology, task);
    }
    return result;
}
