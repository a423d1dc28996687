/*
 * collective.c - a ring collective as rates and shares.
 *
 * The pace of a ring: every rank always works on one chunk, so a step lasts
 * as long as the slowest transfer around the ring, plus the mean of the
 * synchronisations (a chunk that goes once around pays each of them once,
 * while every rank makes as many steps).
 *
 * HBM bytes of a rank, in chunks S (NCCL 2.18.3 primitives): the sends and
 * receives of each step, with the FIFO in the memory that the transport puts
 * it in. A receive costs 1 S (the user buffer), and 2 S more when the FIFO is
 * in device memory (written by the peer, read here); a send over GPUDirect
 * costs 2 S more (FIFO written, read by the NIC); the first and last steps of
 * the whole add 2 S. Over P2P: all_gather (3n-1) M/n, all_reduce (6n-4) M/n.
 */
#include "model/collective.h"

#include "model/channel.h"
#include "model/ring.h"

#include <math.h>
#include <stdlib.h>

const char *const model_collective_names[] = {"all_gather", "reduce_scatter",
                                              "all_reduce", NULL};

double model_collective_bus_factor(enum model_collective_kind kind,
                                   int rank_count)
{
    double n = (double)rank_count;

    return (kind == MODEL_ALL_REDUCE ? 2.0 : 1.0) * (n - 1.0) / n;
}

const char *model_collective_fault(const struct model_topology *topology,
                                   const struct model_config *config)
{
    if (config->channels > topology->gpu.sm_count) {
        return "more channels than the GPU has SMs";
    }
    if (config->threads > 1024) {
        return "more threads than a CTA can have";
    }
    return NULL;
}

/* What is gathered while walking the ring's hops. */
struct walk {
    double slowest_us; /* transfer of one chunk over the slowest hop */
    double sync_us;    /* sum over hops */
    double in_flight_bytes;
    double device_fifos;  /* hops whose FIFO is in device memory */
    double network_sends; /* hops where the NIC reads the sender's memory */
    double hops;
    struct model_use *uses;
    int use_count;
};

static void add_use(struct walk *walk, int link, double flows)
{
    walk->uses[walk->use_count++] = (struct model_use){link, flows};
}

static void add_hop(struct walk *walk,
                    const struct model_topology *topology,
                    const struct model_hop *hop,
                    const struct model_config *config,
                    double chunk_bytes,
                    double flows)
{
    struct model_channel channel =
        model_channel_make(topology, hop, config->threads);
    double transfer_us = chunk_bytes / channel.bytes_per_us;

    if (transfer_us > walk->slowest_us) {
        walk->slowest_us = transfer_us;
        walk->in_flight_bytes = channel.in_flight_bytes;
    }
    walk->sync_us += channel.sync_us * flows;
    walk->hops += flows;
    if (hop->kind == MODEL_HOP_NVLINK || hop->kind == MODEL_HOP_P2P ||
        (hop->kind == MODEL_HOP_NET && topology->nics.gpudirect)) {
        walk->device_fifos += flows;
    }
    if (hop->kind == MODEL_HOP_NET && topology->nics.gpudirect) {
        walk->network_sends += flows;
    }
    for (int i = 0; i < hop->link_count; i++) {
        add_use(walk, hop->links[i], flows);
    }
}

static int compare_uses(const void *left, const void *right)
{
    const struct model_use *a = left;
    const struct model_use *b = right;

    return (a->link > b->link) - (a->link < b->link);
}

/* Sort by link and add up the flows of equal ones. */
static void merge_uses(struct walk *walk)
{
    int kept = 0;

    qsort(walk->uses, (size_t)walk->use_count, sizeof(*walk->uses),
          compare_uses);
    for (int i = 0; i < walk->use_count; i++) {
        if (kept > 0 && walk->uses[kept - 1].link == walk->uses[i].link) {
            walk->uses[kept - 1].flows += walk->uses[i].flows;
        } else {
            walk->uses[kept++] = walk->uses[i];
        }
    }
    walk->use_count = kept;
}

/* All hops that leave a shown node, in all variants. */
static void walk_ring(struct walk *walk,
                      struct model_arena *arena,
                      const struct model_fabric *fabric,
                      const struct model_group *group,
                      const struct model_config *config,
                      double chunk_bytes)
{
    struct model_ring ring = model_ring_make(fabric->topology, group);
    int shown_ranks = fabric->shown_nodes * fabric->topology->gpus_per_node;
    int members = group->count < shown_ranks ? group->count : shown_ranks;

    walk->uses = model_arena_array(
        arena, (size_t)members * (size_t)ring.variants * MODEL_HOP_LINKS_MAX,
        sizeof(*walk->uses));
    for (int variant = 0; variant < ring.variants; variant++) {
        int flows = model_ring_channels(&ring, variant, config->channels);

        for (int member = 0; flows > 0 && member < members; member++) {
            int rank = model_group_rank(group, member);
            struct model_hop hop;

            if (rank >= shown_ranks) {
                break;
            }
            model_fabric_route(fabric, rank,
                               model_ring_next(&ring, member, variant),
                               (enum model_transport)config->transport,
                               model_ring_nic(&ring, variant), &hop);
            add_hop(walk, fabric->topology, &hop, config, chunk_bytes,
                    (double)flows);
        }
    }
    merge_uses(walk);
}

/* HBM bytes of a rank per wire byte: see the head of the file. */
static double hbm_ratio(const struct walk *walk, double steps)
{
    double per_step = 1.0 + 2.0 * walk->device_fifos / walk->hops +
                      2.0 * walk->network_sends / walk->hops;

    return per_step + 2.0 / steps;
}

struct model_collective model_collective_ring(struct model_arena *arena,
                                              const struct model_fabric *fabric,
                                              enum model_collective_kind kind,
                                              double size_bytes,
                                              const struct model_group *group,
                                              const struct model_config *config)
{
    double n = (double)group->count;
    double passes = kind == MODEL_ALL_REDUCE ? 2.0 : 1.0;
    double steps = passes * (n - 1.0);
    double part_bytes = size_bytes / n / (double)config->channels;
    double chunk_bytes = fmin(config->chunk_bytes, part_bytes);
    struct model_collective result = {
        .rank_count = group->count,
        .channels = config->channels,
        .chunk_bytes = chunk_bytes,
        .bus_factor = model_collective_bus_factor(kind, group->count)};
    struct walk walk = {.slowest_us = 0.0};

    if (group->count < 2) {
        return result;
    }
    walk_ring(&walk, arena, fabric, group, config, chunk_bytes);
    result.channel_bytes = steps * part_bytes;
    result.channel_bytes_per_us =
        chunk_bytes / (walk.slowest_us + walk.sync_us / walk.hops);
    result.in_flight_bytes = walk.in_flight_bytes;
    result.hbm_ratio = hbm_ratio(&walk, steps);
    result.footprint_bytes = (double)config->channels * chunk_bytes;
    result.uses = walk.uses;
    result.use_count = walk.use_count;
    return result;
}
