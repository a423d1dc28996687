/*
 * collective_ring.c - rings: all_gather, reduce_scatter, all_reduce; and the
 * open ring, a chain, of broadcast and reduce.
 *
 *     op              steps      progress: wire bytes per rank
 *     all_gather      n-1        M (n-1)/n
 *     reduce_scatter  n-1        M (n-1)/n
 *     all_reduce      2(n-1)     2 M (n-1)/n
 *
 * Channels split the block of a step, M/n, evenly; each moves it in chunks of
 * C_eff = min(C, block / NC): C binds only when the block exceeds NC C.
 *
 * The pace of a ring: every rank always works on one chunk, so a step lasts
 * as long as the slowest transfer around the ring, plus the mean of the waits
 * (a chunk that goes once around pays each of them once, while every rank
 * makes as many steps).
 *
 * HBM bytes of a rank, in chunks S (NCCL 2.18.3 primitives): the sends and
 * receives of each step, with the FIFO in the memory that the transport puts
 * it in. A receive costs 1 S (the user buffer), and 2 S more when the FIFO is
 * in device memory (written by the peer, read here), doubled with LL; a send
 * over GPUDirect costs 2 S more (FIFO written, read by the NIC); the first and
 * last steps of the whole add 2 S. Over P2P: all_gather (3n-1) M/n, all_reduce
 * (6n-4) M/n. They count so even while the FIFO stays in L2 (channel.h).
 *
 * A chain streams M past each rank in chunks of at most one FIFO slot, at the
 * pace of its slowest hop, and is full when the last rank has its first chunk.
 */
#include "model/collective_parts.h"

#include "model/ring.h"

#include <math.h>

/* Ring edges that leave shown ranks; an open one lacks that into member 0. */
static void walk_ring(struct model_walk *walk,
                      const struct model_collective_task *task,
                      bool open,
                      bool reversed)
{
    int gpus = walk->fabric->topology->gpus_per_node;
    struct model_group *groups =
        model_arena_array(walk->arena, (size_t)gpus, sizeof(*groups));
    int count = model_parts_groups(walk, task->group, 0, groups);

    for (int i = 0; i < count; i++) {
        struct model_ring ring =
            model_ring_make(walk->arena, walk->fabric->topology, &groups[i]);
        int root = model_group_rank(&groups[i], 0);
        int first;
        int end;

        model_parts_span(walk, &groups[i], 0, &first, &end);
        for (int variant = 0; variant < ring.variants; variant++) {
            int flows =
                model_ring_channels(&ring, variant, task->config->channels);

            for (int member = first; flows > 0 && member < end; member++) {
                int rank = model_group_rank(&groups[i], member);
                int next = model_ring_next(&ring, member, variant);

                if (!open || next != root) {
                    (void)model_walk_send(
                        walk, reversed ? next : rank, reversed ? rank : next,
                        model_ring_nic(&ring, variant), (double)flows);
                }
            }
        }
    }
}

/*
 * What passes through a rank's L2 until a slot of its FIFOs is used again: the
 * chunks that fill them, and as much of the user's buffer.
 */
static double reuse_bytes(const struct model_collective_task *task,
                          double fifo_chunks,
                          double chunk_bytes)
{
    return 2.0 * (double)task->config->channels * fifo_chunks * chunk_bytes;
}

void model_collective_ring(struct model_walk *walk,
                           const struct model_collective_task *task,
                           struct model_collective *result)
{
    double n = (double)task->group->count;
    double passes = task->kind == MODEL_ALL_REDUCE ? 2.0 : 1.0;
    double steps = passes * (n - 1.0);
    double part_bytes = task->size_bytes / n / (double)task->config->channels;
    double chunk_bytes = fmin(
        model_protocol_chunk_bytes((enum model_protocol)task->config->protocol,
                                   task->config->chunk_bytes),
        part_bytes);
    struct model_channel_role role = model_parts_role(walk, task);

    role.slices =
        model_protocol_facts((enum model_protocol)task->config->protocol)
            ->slices;
    role.reuse_bytes =
        reuse_bytes(task, model_protocol_fifo_chunks(task->config->chunk_bytes),
                    chunk_bytes);
    model_walk_start(walk, task->config, &role, chunk_bytes);
    walk_ring(walk, task, false, false);
    result->channel_bytes = steps * part_bytes;
    result->channel_bytes_per_us =
        chunk_bytes / (walk->slowest_us + model_walk_wait_us(walk));
    result->crowded_bytes_per_us =
        chunk_bytes / (walk->crowded_us + model_walk_wait_us(walk));
    result->step_latency_us = model_walk_latency_us(walk);
    result->step_bytes = chunk_bytes;
    result->first_steps = (int)steps;
    result->hbm_ratio = 1.0 + 2.0 / steps + model_parts_fifo_ratio(walk, task);
    model_parts_finish(walk, task, chunk_bytes, result);
}

void model_collective_chain(struct model_walk *walk,
                            const struct model_collective_task *task,
                            struct model_collective *result)
{
    double n = (double)task->group->count;
    bool reduce = task->kind == MODEL_REDUCE;
    double part_bytes = task->size_bytes / (double)task->config->channels;
    double slot_bytes =
        model_protocol_facts((enum model_protocol)task->config->protocol)
            ->slot_bytes;
    double chunk_bytes =
        fmin(fmin(task->config->chunk_bytes, slot_bytes), part_bytes);
    struct model_channel_role role = model_parts_role(walk, task);

    model_walk_start(walk, task->config, &role, chunk_bytes);
    walk_ring(walk, task, true, reduce);
    result->channel_bytes = part_bytes;
    result->channel_bytes_per_us = chunk_bytes / walk->slowest_stream_us;
    result->fill_us = model_walk_fill_us(
        walk, (n - 1.0) * model_walk_hop_us(walk), walk->slowest_stream_us);
    result->fill_bytes = model_walk_fill_bytes(walk, n - 1.0);
    /* The user buffers: one read at the root and n - 1 writes, or the other
     * way round, over n ranks. */
    result->hbm_ratio =
        (reduce ? (n + 1.0) / n : 1.0) + model_parts_fifo_ratio(walk, task);
    model_parts_finish(walk, task, chunk_bytes, result);
}
