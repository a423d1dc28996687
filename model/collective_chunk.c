/*
 * collective_chunk.c - how NCCL cuts chunks where a buffer is small.
 *
 * What fills a pipeline slowly moves in shorter chunks: with c bytes of each of
 * `ops` chunks under way at once, NCCL halves c while the buffer is less than
 * some multiple of them. The multiples and limits are those of NCCL 2.18.3,
 * src/enqueue.cc, computeColl; of PAT 2.23, src/enqueue.cc. Rings, chains and
 * pairs are not cut, nor Simple in trees, which NCCL left off in 2.20.
 * Configured chunks below the algorithm's most are taken as they are; the most,
 * or a ring's chunk, leaves the choice to NCCL.
 */
#include "model/collective_parts.h"

#include <math.h>

enum { KIB = 1024 };

/* Halve while size < multiple x ops x chunk, and the chunk is above limit. */
struct stage {
    double multiple, limit_bytes;
};

static double cut(const struct model_collective_task *task,
                  double most_bytes,
                  double ops,
                  const struct stage *stages,
                  int count)
{
    double chunk_bytes = most_bytes;

    if (task->config->chunk_bytes < most_bytes) {
        return task->config->chunk_bytes;
    }
    for (int i = 0; i < count; i++) {
        while (task->size_bytes < stages[i].multiple * ops * chunk_bytes &&
               chunk_bytes > stages[i].limit_bytes) {
            chunk_bytes /= 2.0;
        }
    }
    return chunk_bytes;
}

static int log2_floor(int n)
{
    int result = 0;

    while (n > 1) {
        n /= 2;
        result++;
    }
    return result;
}

double model_parts_slot_bytes(const struct model_topology *topology,
                              enum model_protocol protocol)
{
    double told_bytes = topology->nccl.slot_bytes;

    return protocol == MODEL_SIMPLE && told_bytes > 0.0
               ? told_bytes
               : model_protocol_facts(protocol)->slot_bytes;
}

double model_parts_tree_chunk_bytes(const struct model_topology *topology,
                                    const struct model_collective_task *task,
                                    int nodes)
{
    enum model_protocol protocol = (enum model_protocol)task->config->protocol;
    const struct model_protocol_facts *facts = model_protocol_facts(protocol);
    double channels = (double)task->config->channels;
    double members = (double)task->group->count / (double)nodes;
    double steps = 1.0 + (double)log2_floor(nodes) + 0.1 * members;
    /* Counted with its flags. */
    double multiple = 64.0 * steps / members * facts->wire_ratio;
    const struct stage ll128[] = {
        {multiple, 128 * KIB / facts->wire_ratio},
        {multiple / 4.0, 32 * KIB / facts->wire_ratio}};

    return protocol == MODEL_LL128
               ? cut(task, facts->slot_bytes, channels, ll128, 2)
               : fmin(task->config->chunk_bytes,
                      model_parts_slot_bytes(topology, protocol));
}

double model_parts_nvls_chunk_bytes(const struct model_collective_task *task,
                                    double heads)
{
    static const struct stage alone[] = {
        {64.0, 64 * KIB}, {8.0, 32 * KIB}, {2.0, 16 * KIB}};
    static const struct stage joined[] = {
        {32.0, 256 * KIB}, {16.0, 128 * KIB}, {4.0, 64 * KIB}, {1.0, 32 * KIB}};
    double ops = (double)task->config->channels * heads;

    return task->config->algorithm == MODEL_NVLS_TREE
               ? cut(task, 512 * KIB, ops, joined, 4)
               : cut(task, 128 * KIB, ops, alone, 3);
}

double model_parts_pat_chunk_bytes(const struct model_collective_task *task)
{
    const struct stage stages[] = {
        {task->kind == MODEL_ALL_GATHER ? 32.0 : 16.0, 64 * KIB}};

    return cut(task, model_protocol_facts(MODEL_SIMPLE)->slot_bytes,
               (double)task->config->channels, stages, 1);
}
