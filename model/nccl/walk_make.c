/*
 * walk_make.c - what an attempt needs to know beforehand: how good each
 * next GPU is, and which NICs to try in which order.
 */
#include "model/nccl/walk.h"

#include <math.h>
#include <string.h>

enum {
    RATE_BITS = 13, /* GB/s */
    PCIE_BITS = 8,
    HOPS_BITS = 4,
    TURN_BITS = 10, /* how far on in the order of GPUs */
    RATE_MOST = (1 << RATE_BITS) - 1
};

/* GB/s without what is behind the point, as NCCL's integers have it; the
 * faster, the smaller. */
static long long rank_of_rate(int bytes_per_us)
{
    int whole = bytes_per_us / 1000;

    return RATE_MOST - (whole < RATE_MOST ? whole : RATE_MOST);
}

/* From the least to the most important: turn, hops, rate. */
static long long
gpu_score(const struct model_nccl_walk *walk, int from, int to, int turn)
{
    const struct model_nccl_way *way = model_nccl_way(walk->paths, from, to);

    return (rank_of_rate(way->bytes_per_us) << (HOPS_BITS + TURN_BITS)) |
           ((long long)way->count << TURN_BITS) | turn;
}

/* Above it: hops, a gap for what is left of PCIe, rate. */
static long long net_score(const struct model_nccl_walk *walk, int net, int gpu)
{
    const struct model_nccl_way *way = model_nccl_way_of(
        walk->paths, MODEL_NCCL_NET, net, MODEL_NCCL_GPU, gpu);
    long long score =
        (rank_of_rate(way->bytes_per_us) << (PCIE_BITS + HOPS_BITS)) |
        way->count;

    return score << (RATE_BITS + HOPS_BITS + TURN_BITS);
}

/* A GPU's own link of PCIe comes last (machine.c). */
static void find_pcie(const struct model_nccl_walk *walk)
{
    for (int gpu = 0; gpu < walk->gpus; gpu++) {
        const struct model_nccl_device *at = &walk->machine->devices[gpu];

        walk->pcie_link[gpu] = at->links[at->link_count - 1];
    }
}

static void score_all(struct model_nccl_walk *walk)
{
    for (int from = 0; from < walk->gpus; from++) {
        for (int turn = 1; turn < walk->gpus; turn++) {
            int to = (from + turn) % walk->gpus;

            walk->gpu_scores[from * walk->gpus + to] =
                gpu_score(walk, from, to, turn);
        }
    }
    for (int net = 0; net < walk->nets; net++) {
        for (int gpu = 0; gpu < walk->gpus; gpu++) {
            walk->net_scores[net * walk->gpus + gpu] =
                net_score(walk, net, gpu);
        }
    }
}

/* The NETs that each GPU takes channel by channel, until they repeat. */
static void prefer_nets(struct model_nccl_walk *walk, int *found)
{
    for (int gpu = 0; gpu < walk->gpus; gpu++) {
        int *nets = walk->preferred + (ptrdiff_t)gpu * walk->nets;
        int count = 0;

        for (int channel = 0; count < walk->nets; channel++) {
            int net = model_nccl_local_net(walk->paths, gpu, channel, found);

            if (count > 0 && net == nets[0]) {
                break;
            }
            nets[count++] = net;
        }
        walk->preferred_count[gpu] = count;
    }
}

/*
 * The GPUs where a channel from a NET may start: the fastest ways to them, of
 * these the shortest, or where NICs have GPUs of their own the nearest.
 */
static void find_starts(struct model_nccl_walk *walk, int net)
{
    int *starts = walk->starts + (ptrdiff_t)net * walk->gpus;
    int fastest = 0;
    int least = walk->data->replay_or_search ? (int)MODEL_NCCL_PATH_DIS
                                             : MODEL_NCCL_HOPS_MAX + 1;
    int count = 0;

    for (int gpu = 0; gpu < walk->gpus; gpu++) {
        const struct model_nccl_way *way = model_nccl_way_of(
            walk->paths, MODEL_NCCL_NET, net, MODEL_NCCL_GPU, gpu);
        int far = walk->data->replay_or_search ? way->type : way->count;

        if (way->bytes_per_us > fastest ||
            (way->bytes_per_us == fastest && far < least)) {
            fastest = way->bytes_per_us;
            least = far;
            count = 0;
        }
        if (way->bytes_per_us == fastest && far == least) {
            starts[count++] = gpu;
        }
    }
    walk->start_count[net] = count;
    walk->start_bytes_per_us[net] = fastest;
}

struct model_nccl_walk
model_nccl_walk_make(struct model_arena *arena,
                     const struct model_nccl_paths *paths,
                     int most_channels)
{
    const struct model_nccl_machine *machine = paths->machine;
    struct model_nccl_walk walk = {
        .paths = paths,
        .machine = machine,
        .data = machine->data,
        .gpus = model_nccl_count(machine, MODEL_NCCL_GPU),
        .nets = model_nccl_count(machine, MODEL_NCCL_NET)};
    size_t gpus = (size_t)walk.gpus;
    size_t nets = (size_t)walk.nets;
    size_t channels = (size_t)most_channels + 1;

    walk.left =
        model_arena_array(arena, (size_t)machine->link_count, sizeof(int));
    walk.net_left = model_arena_array(arena, nets, sizeof(int));
    walk.used = model_arena_array(arena, channels * gpus, sizeof(bool));
    walk.next =
        model_arena_array(arena, channels * gpus * gpus, sizeof(*walk.next));
    walk.scores = model_arena_array(arena, gpus, sizeof(*walk.scores));
    walk.pcie_link = model_arena_array(arena, gpus, sizeof(int));
    walk.p2p_thousandths = (int)lround(machine->data->intel_p2p_ratio * 1000.0);
    walk.gpu_scores =
        model_arena_array(arena, gpus * gpus, sizeof(*walk.gpu_scores));
    walk.net_scores =
        model_arena_array(arena, nets * gpus, sizeof(*walk.net_scores));
    walk.preferred = model_arena_array(arena, gpus * nets, sizeof(int));
    walk.preferred_count = model_arena_array(arena, gpus, sizeof(int));
    walk.starts = model_arena_array(arena, nets * gpus, sizeof(int));
    walk.start_count = model_arena_array(arena, nets, sizeof(int));
    walk.start_bytes_per_us = model_arena_array(arena, nets, sizeof(int));
    walk.net_order = model_arena_array(arena, (gpus + 1) * nets, sizeof(int));
    walk.net_count = model_arena_array(arena, gpus + 1, sizeof(int));
    for (int i = 0; i < machine->link_count; i++) {
        walk.left[i] = machine->links[i].bytes_per_us;
    }
    for (int i = 0; i < walk.nets; i++) {
        int at = machine->first[MODEL_NCCL_NET] + i;

        walk.net_left[i] =
            machine->links[machine->devices[at].links[0]].bytes_per_us;
    }
    for (int i = 0; i < walk.nets; i++) {
        find_starts(&walk, i);
    }
    find_pcie(&walk);
    score_all(&walk);
    if (walk.nets > 0) {
        prefer_nets(&walk, model_arena_array(arena, gpus + nets, sizeof(int)));
    }
    return walk;
}

struct model_nccl_draft
model_nccl_draft_make(struct model_arena *arena, int gpus, int most_channels)
{
    size_t channels = (size_t)most_channels;

    return (struct model_nccl_draft){
        .order = model_arena_array(arena, channels * (size_t)gpus, sizeof(int)),
        .nics = model_arena_array(arena, 2 * channels, sizeof(int))};
}

void model_nccl_draft_copy(struct model_nccl_draft *to,
                           const struct model_nccl_draft *from,
                           int gpus)
{
    size_t channels = (size_t)from->channels;
    int *order = to->order;
    int *nics = to->nics;

    memcpy(order, from->order, channels * (size_t)gpus * sizeof(*order));
    memcpy(nics, from->nics, 2 * channels * sizeof(*nics));
    *to = *from;
    to->order = order;
    to->nics = nics;
}
