/*
 * choose.c - the least time by NCCL's model, and what follows from it
 * (2.18.3: src/enqueue.cc, getAlgoInfo; src/graph/tuning.cc,
 * ncclTopoGetAlgoTime. 2.30.7: topoGetAlgoInfo).
 *
 * Trees of middling sizes are slower than the model says: factors by size,
 * doubling, make up for it. So does a longer latency for a Simple ring's
 * all_reduce across nodes that has more than a few bytes for each rank.
 */
#include "model/nccl/tuning_parts.h"

#include <math.h>

/* How often a size doubles the first one of a list, which is its least. */
static int doublings(const struct model_nccl_comm *comm, double bytes)
{
    double first = comm->version->tuning.tree_correction_bytes;

    return bytes < first ? 0 : ilogb(bytes / first);
}

static double correction_ratio(const struct model_nccl_comm *comm,
                               int function,
                               int algorithm,
                               int protocol,
                               double bytes)
{
    const struct model_nccl_tuning_data *data = &comm->version->tuning;
    bool nvls =
        algorithm == MODEL_NCCL_NVLS_TREE &&
        comm->compute_capability >= data->nvls_tree_correction_capability &&
        comm->topology->host.cpu != MODEL_CPU_ARM;
    const struct model_list *list =
        nvls ? &data->nvls_tree_correction : &data->tree_correction[protocol];
    const double *ratios = list->items;
    int i = doublings(comm, bytes);

    return function == MODEL_NCCL_ALL_REDUCE &&
                   (nvls || algorithm == MODEL_NCCL_TREE) && i < list->count
               ? ratios[i]
               : 1.0;
}

static double plateau_ratio(const struct model_nccl_comm *comm,
                            int function,
                            int algorithm,
                            int protocol,
                            double bytes)
{
    const struct model_nccl_plateau *plateau = &comm->version->tuning.plateau;
    double parts = (double)comm->channels * comm->rank_count;

    if (function != MODEL_NCCL_ALL_REDUCE || algorithm != MODEL_NCCL_RING ||
        protocol != MODEL_NCCL_SIMPLE || comm->node_count == 1 ||
        bytes < plateau->least_bytes * parts) {
        return 1.0;
    }
    return comm->compute_capability < plateau->old_capability
               ? plateau->old_ratio
               : plateau->ratio;
}

double model_nccl_time_us(const struct model_nccl_tuning *tuning,
                          enum model_nccl_function function,
                          int algorithm,
                          int protocol,
                          double bytes)
{
    const struct model_nccl_comm *comm = tuning->comm;
    int f = (int)function;
    const struct model_nccl_pair *pair = &tuning->pairs[f][algorithm][protocol];

    if (pair->off != NULL) {
        return -1.0;
    }
    return pair->latency_us *
               plateau_ratio(comm, f, algorithm, protocol, bytes) +
           bytes / (pair->bytes_per_us *
                    correction_ratio(comm, f, algorithm, protocol, bytes));
}

/* The first of the least times; a lone rank copies as a Simple ring. */
static void pair_choose(const struct model_nccl_tuning *tuning,
                        struct model_nccl_choice *choice)
{
    double least_us = HUGE_VAL;

    if (tuning->comm->rank_count < 2) {
        choice->algorithm = MODEL_NCCL_RING;
        choice->protocol = MODEL_NCCL_SIMPLE;
    }
    for (int a = 0; a < MODEL_NCCL_ALGORITHMS; a++) {
        for (int p = 0; p < MODEL_NCCL_PROTOCOLS; p++) {
            double us = model_nccl_time_us(
                tuning, (enum model_nccl_function)choice->function, a, p,
                choice->bytes);

            choice->time_us[a][p] = us;
            if (us >= 0.0 && us < least_us) {
                choice->algorithm = a;
                choice->protocol = p;
                least_us = us;
            }
        }
    }
}

void model_nccl_choice_note(struct model_nccl_choice *choice,
                            enum model_nccl_cause cause)
{
    choice->steps[choice->step_count] =
        (struct model_nccl_step){.cause = (int)cause,
                                 .channels = choice->channels,
                                 .threads = choice->threads,
                                 .chunk_bytes = choice->chunk_bytes};
    choice->step_count++;
}

void model_nccl_choose(const struct model_nccl_tuning *tuning,
                       enum model_nccl_function function,
                       double size_bytes,
                       struct model_nccl_choice *choice)
{
    *choice = (struct model_nccl_choice){.function = (int)function,
                                         .bytes = size_bytes,
                                         .algorithm = MODEL_UNSET,
                                         .protocol = MODEL_UNSET,
                                         .transport = tuning->comm->transport};
    pair_choose(tuning, choice);
    if (choice->algorithm != MODEL_UNSET) {
        model_nccl_settle(tuning, choice->algorithm, choice->protocol, choice);
    }
}

void model_nccl_settle(const struct model_nccl_tuning *tuning,
                       int algorithm,
                       int protocol,
                       struct model_nccl_choice *choice)
{
    const struct model_nccl_comm *comm = tuning->comm;
    double most_bytes;

    choice->algorithm = algorithm;
    choice->protocol = protocol;
    choice->step_count = 0;
    most_bytes = model_nccl_chunk_most_bytes(comm, choice);
    choice->chunk_bytes = most_bytes;
    model_nccl_shrink(tuning, choice);
    model_nccl_cut(comm, choice);
    if (choice->chunk_bytes < most_bytes) {
        model_nccl_choice_note(choice, MODEL_NCCL_SMALLER_CHUNK);
    }
}

struct model_config model_nccl_config(const struct model_nccl_choice *choice)
{
    static const int algorithms[MODEL_NCCL_ALGORITHMS] = {
        [MODEL_NCCL_TREE] = MODEL_TREE,
        [MODEL_NCCL_RING] = MODEL_RING,
        [MODEL_NCCL_COLLNET_DIRECT] = MODEL_UNSET,
        [MODEL_NCCL_COLLNET_CHAIN] = MODEL_UNSET,
        [MODEL_NCCL_NVLS] = MODEL_NVLS,
        [MODEL_NCCL_NVLS_TREE] = MODEL_NVLS_TREE,
        [MODEL_NCCL_PAT] = MODEL_PAT};
    static const int protocols[MODEL_NCCL_PROTOCOLS] = {
        [MODEL_NCCL_LL] = MODEL_LL,
        [MODEL_NCCL_LL128] = MODEL_LL128,
        [MODEL_NCCL_SIMPLE] = MODEL_SIMPLE};

    if (choice->algorithm == MODEL_UNSET) {
        return model_config_none();
    }
    return (struct model_config){.algorithm =
                                     choice->function == MODEL_UNSET
                                         ? (int)MODEL_PAIRWISE
                                         : algorithms[choice->algorithm],
                                 .protocol = protocols[choice->protocol],
                                 .transport = choice->transport,
                                 .channels = choice->channels,
                                 .threads = choice->threads,
                                 .chunk_bytes = choice->chunk_bytes};
}
