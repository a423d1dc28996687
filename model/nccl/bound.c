/*
 * bound.c - upper bounds of channels by links that all must pass.
 */
#include "model/nccl/bound.h"

#include <limits.h>

static int smaller(int one, int other)
{
    return one < other ? one : other;
}

static bool is_ring(const struct model_nccl_draft *now)
{
    return now->pattern == MODEL_NCCL_RING_PATTERN;
}

/* A channel that comes back to where it started, a GPU or a NIC. */
static bool is_closed(const struct model_nccl_walk *walk,
                      const struct model_nccl_draft *now)
{
    return is_ring(now) && (walk->nets == 0 || now->cross_nic == 0);
}

static int fit(const struct model_nccl_walk *walk, int link, int bytes_per_us)
{
    return walk->machine->links[link].bytes_per_us / bytes_per_us;
}

/* -- NICs -- */

static const struct model_nccl_way *
net_way(const struct model_nccl_walk *walk, int net, int gpu, bool out)
{
    return out ? model_nccl_way_of(walk->paths, MODEL_NCCL_GPU, gpu,
                                   MODEL_NCCL_NET, net)
               : model_nccl_way_of(walk->paths, MODEL_NCCL_NET, net,
                                   MODEL_NCCL_GPU, gpu);
}

/* Can a ring come from a NIC to a GPU and go back to it from another one? */
static bool returns(const struct model_nccl_walk *walk,
                    const struct model_nccl_draft *now,
                    int net)
{
    int in = 0;
    int out = 0;
    int both = 0;

    for (int gpu = 0; gpu < walk->gpus; gpu++) {
        bool comes = net_way(walk, net, gpu, false)->type <= now->inter_type;
        bool goes = net_way(walk, net, gpu, true)->type <= now->inter_type;

        in += comes ? 1 : 0;
        out += goes ? 1 : 0;
        both += comes && goes ? 1 : 0;
    }
    if (walk->gpus == 1) {
        return both > 0;
    }
    return in > 0 && out > 0 && !(in == 1 && out == 1 && both == 1);
}

/* Each channel starts at a NIC. */
static int bound_by_nets(const struct model_nccl_walk *walk,
                         const struct model_nccl_draft *now)
{
    bool must_return = is_closed(walk, now);
    int sum = 0;

    for (int net = 0; net < walk->nets; net++) {
        int at = walk->machine->first[MODEL_NCCL_NET] + net;

        if (!must_return || returns(walk, now, net)) {
            sum += fit(walk, walk->machine->devices[at].links[0],
                       now->inter_bytes_per_us);
        }
    }
    return sum;
}

/* -- parts of the node -- */

/* How many channels fit through the links of a part's edge. */
static int fit_exits(const struct model_nccl_walk *walk,
                     const struct model_nccl_draft *now,
                     const struct model_nccl_exits *exits)
{
    bool by_net = walk->nets > 0 && is_closed(walk, now);
    int sum = 0;

    for (int i = 0; i < exits->count; i++) {
        const struct model_nccl_exit *exit = &exits->items[i];
        bool intra = exit->intra_type <= now->intra_type;
        bool inter = by_net && exit->inter_type <= now->inter_type;
        int rate = now->intra_bytes_per_us;

        if (inter && (!intra || now->inter_bytes_per_us < rate)) {
            rate = now->inter_bytes_per_us;
        }
        if (intra || inter) {
            sum += fit(walk, exit->link, rate);
        }
    }
    return sum;
}

/*
 * A closed channel leaves and enters each part. Another one leaves or enters
 * it, and leaves all parts but one.
 */
static int bound_by_parts(const struct model_nccl_walk *walk,
                          const struct model_nccl_draft *now,
                          const struct model_nccl_parts *parts)
{
    bool closed = is_closed(walk, now);
    int most = INT_MAX;
    long long out = 0;
    long long in = 0;

    for (int i = 0; i < parts->count; i++) {
        int leaving = fit_exits(walk, now, &parts->cuts[i].out);
        int entering = fit_exits(walk, now, &parts->cuts[i].in);

        out += leaving;
        in += entering;
        most = smaller(most, closed ? smaller(leaving, entering)
                                    : leaving + entering);
    }
    if (!closed && parts->count > 1) {
        most = smaller(most, (int)(out / (parts->count - 1)));
        most = smaller(most, (int)(in / (parts->count - 1)));
    }
    return most;
}

/* -- NVLS -- */

/* Each GPU gets and gives each channel once, the head twice. */
static int bound_nvls(const struct model_nccl_walk *walk,
                      const struct model_nccl_draft *now)
{
    int nvs = walk->machine->first[MODEL_NCCL_NVS];
    long long sum = 0;

    for (int gpu = 0; gpu < walk->gpus; gpu++) {
        const struct model_nccl_way *way =
            model_nccl_way(walk->paths, gpu, nvs);

        sum += way->count > 0 ? way->bytes_per_us : 0;
    }
    return (int)(sum / ((long long)(walk->gpus + 1) * now->intra_bytes_per_us));
}

/* -- all -- */

static int bound(const struct model_nccl_bounds *bounds,
                 const struct model_nccl_draft *now)
{
    const struct model_nccl_walk *walk = bounds->walk;
    int most = now->most;

    if (walk->nets > 0) {
        most = smaller(most, bound_by_nets(walk, now));
    }
    if (now->pattern == MODEL_NCCL_NVLS_PATTERN) {
        return smaller(most, bound_nvls(walk, now));
    }
    for (int i = 0; i < bounds->part_count && most > 0; i++) {
        most = smaller(most, bound_by_parts(walk, now, &bounds->parts[i]));
    }
    return most;
}

bool model_nccl_hopeless(const struct model_nccl_bounds *bounds,
                         const struct model_nccl_draft *now,
                         const struct model_nccl_draft *best)
{
    struct model_nccl_draft first = *now;

    first.channels = bound(bounds, now);
    if (first.channels < now->least || first.channels == 0) {
        return true;
    }
    if (now->pattern == MODEL_NCCL_NVLS_PATTERN) {
        first.channels = smaller(first.channels, bounds->walk->gpus);
    }
    first.hops = first.channels * (bounds->path_hops + 2 * bounds->net_hops);
    return !model_nccl_better(bounds->walk, &first, best);
}
