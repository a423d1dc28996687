/*
 * nccl_bound.c - upper bounds of channels by links that all must pass.
 */
#include "model/nccl_bound.h"

#include <limits.h>

static int smaller(int one, int other)
{
    return one < other ? one : other;
}

static bool is_ring(const struct model_nccl_draft *now)
{
    return now->pattern == MODEL_NCCL_RING_PATTERN;
}

static bool is_closed(const struct model_nccl_walk *walk,
                      const struct model_nccl_draft *now)
{
    return is_ring(now) && walk->nets == 0;
}

/* Hops from GPU to GPU of one channel. */
static int hops_of(const struct model_nccl_walk *walk,
                   const struct model_nccl_draft *now)
{
    return is_closed(walk, now) ? walk->gpus : walk->gpus - 1;
}

static int fit(const struct model_nccl_walk *walk, int link, int bytes_per_us)
{
    return walk->machine->links[link].bytes_per_us / bytes_per_us;
}

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
    return walk->gpus == 1
               ? both > 0
               : in > 0 && out > 0 && !(in == 1 && out == 1 && both == 1);
}

/* Each channel starts at a NIC. */
static int bound_by_nets(const struct model_nccl_walk *walk,
                         const struct model_nccl_draft *now)
{
    int sum = 0;

    for (int net = 0; net < walk->nets; net++) {
        int at = walk->machine->first[MODEL_NCCL_NET] + net;
        bool must_return = is_ring(now) && now->cross_nic == 0;

        if (!must_return || returns(walk, now, net)) {
            sum += fit(walk, walk->machine->devices[at].links[0],
                       now->inter_bytes_per_us);
        }
    }
    return sum;
}

/*
 * How many hops can leave a GPU (or reach it): over each of the links by which
 * ways near enough do.
 */
static int fit_gpu(const struct model_nccl_walk *walk,
                   const struct model_nccl_draft *now,
                   int gpu,
                   bool out)
{
    const struct model_nccl_device *at = &walk->machine->devices[gpu];
    int sum = 0;

    for (int i = 0; i < at->link_count; i++) {
        int link = out ? at->links[i] : at->links[i] ^ 1;
        bool used = false;

        for (int other = 0; other < walk->gpus && !used; other++) {
            const struct model_nccl_way *way =
                out ? model_nccl_way(walk->paths, gpu, other)
                    : model_nccl_way(walk->paths, other, gpu);

            used = way->count > 0 && way->type <= now->intra_type &&
                   way->links[out ? 0 : way->count - 1] == link;
        }
        sum += used ? fit(walk, link, now->intra_bytes_per_us) : 0;
    }
    return sum;
}

/* All hops of all channels leave some GPU; a closed ring leaves each. */
static int bound_by_gpus(const struct model_nccl_walk *walk,
                         const struct model_nccl_draft *now,
                         bool out)
{
    int hops = hops_of(walk, now);
    int least = INT_MAX;
    long long sum = 0;

    for (int gpu = 0; gpu < walk->gpus; gpu++) {
        int fits = fit_gpu(walk, now, gpu, out);

        least = smaller(least, fits);
        sum += fits;
    }
    if (hops == 0) {
        return INT_MAX;
    }
    return is_closed(walk, now) ? least : (int)(sum / hops);
}

/* -- around the GPUs of a switch or socket -- */

static bool is_below(const struct model_nccl_walk *walk, int gpu, int device)
{
    int link = walk->pcie_link[gpu];
    int above = walk->machine->links[link].to;

    if (above == device) {
        return true;
    }
    if (walk->machine->devices[above].kind == MODEL_NCCL_PCI) {
        const struct model_nccl_device *at = &walk->machine->devices[above];

        link = at->links[at->link_count - 1];
        return walk->machine->links[link].to == device;
    }
    return false;
}

static int count_below(const struct model_nccl_walk *walk, int device)
{
    int below = 0;

    for (int gpu = 0; gpu < walk->gpus; gpu++) {
        below += is_below(walk, gpu, device) ? 1 : 0;
    }
    return below;
}

/* The link by which a way leaves a device for a CPU, or -1. */
static int exit_link(const struct model_nccl_walk *walk,
                     const struct model_nccl_way *way,
                     int device,
                     bool out)
{
    for (int i = 0; i < way->count; i++) {
        int there = walk->machine->links[way->links[i]].to;
        int back = walk->machine->links[way->links[i] ^ 1].to;
        int inner = out ? back : there;
        int outer = out ? there : back;

        if (inner == device &&
            walk->machine->devices[outer].kind == MODEL_NCCL_CPU) {
            return way->links[i];
        }
    }
    return -1;
}

/* How many channels can leave (enter) the GPUs below a device; INT_MAX where
 * some way does so by other links. */
static int fit_below(const struct model_nccl_walk *walk,
                     const struct model_nccl_draft *now,
                     int device,
                     bool out)
{
    enum { EXITS_MAX = 32 };
    int exits[EXITS_MAX];
    int count = 0;
    int sum = 0;

    for (int gpu = 0; gpu < walk->gpus; gpu++) {
        for (int other = 0; other < walk->gpus; other++) {
            const struct model_nccl_way *way =
                out ? model_nccl_way(walk->paths, gpu, other)
                    : model_nccl_way(walk->paths, other, gpu);
            int link;
            int i = 0;

            if (!is_below(walk, gpu, device) || is_below(walk, other, device) ||
                way->type > now->intra_type) {
                continue;
            }
            link = exit_link(walk, way, device, out);
            if (link < 0 || count == EXITS_MAX) {
                return INT_MAX;
            }
            while (i < count && exits[i] != link) {
                i++;
            }
            if (i == count) {
                exits[count++] = link;
                sum += fit(walk, link, now->intra_bytes_per_us);
            }
        }
    }
    return sum;
}

/* Each channel must get out of there or in, a closed ring both. */
static int bound_around(const struct model_nccl_walk *walk,
                        const struct model_nccl_draft *now,
                        int device)
{
    int below = count_below(walk, device);
    int out;
    int in;

    if (below == 0 || below == walk->gpus) {
        return INT_MAX;
    }
    out = fit_below(walk, now, device, true);
    in = fit_below(walk, now, device, false);
    if (is_closed(walk, now)) {
        return smaller(out, in);
    }
    return out == INT_MAX || in == INT_MAX ? INT_MAX : out + in;
}

/*
 * A channel comes to all switches (or sockets) that have GPUs, so that it
 * leaves all of them but one. Of a closed ring bound_around says more.
 */
static int bound_among(const struct model_nccl_walk *walk,
                       const struct model_nccl_draft *now,
                       enum model_nccl_device_kind kind)
{
    const struct model_nccl_machine *machine = walk->machine;
    int groups = 0;
    int below = 0;
    long long sum = 0;

    for (int i = machine->first[kind]; i < machine->first[kind + 1]; i++) {
        int gpus = count_below(walk, i);
        int out;

        if (gpus == 0) {
            continue;
        }
        out = fit_below(walk, now, i, true);
        if (out == INT_MAX) {
            return INT_MAX;
        }
        below += gpus;
        groups++;
        sum += out;
    }
    return groups < 2 || below < walk->gpus ? INT_MAX
                                            : (int)(sum / (groups - 1));
}

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

static int bound(const struct model_nccl_walk *walk,
                 const struct model_nccl_draft *now)
{
    const struct model_nccl_machine *machine = walk->machine;
    int most = now->most;

    if (walk->nets > 0) {
        most = smaller(most, bound_by_nets(walk, now));
    }
    if (now->pattern == MODEL_NCCL_NVLS_PATTERN) {
        return smaller(most, bound_nvls(walk, now));
    }
    most = smaller(most, bound_by_gpus(walk, now, true));
    most = smaller(most, bound_by_gpus(walk, now, false));
    most = smaller(most, bound_among(walk, now, MODEL_NCCL_PCI));
    most = smaller(most, bound_among(walk, now, MODEL_NCCL_CPU));
    for (int i = machine->first[MODEL_NCCL_CPU];
         i < machine->first[MODEL_NCCL_PCI + 1] && most > 0; i++) {
        most = smaller(most, bound_around(walk, now, i));
    }
    return most;
}

/* Links that so many channels pass at least. */
static long long least_hops(const struct model_nccl_walk *walk,
                            const struct model_nccl_draft *now,
                            int channels)
{
    int inside = MODEL_NCCL_HOPS_MAX;
    int outside = MODEL_NCCL_HOPS_MAX;
    long long hops;

    for (int gpu = 0; gpu < walk->gpus; gpu++) {
        for (int other = 0; other < walk->gpus; other++) {
            if (other != gpu) {
                inside = smaller(
                    inside, model_nccl_way(walk->paths, gpu, other)->count);
            }
        }
        for (int net = 0; net < walk->nets; net++) {
            outside = smaller(outside, net_way(walk, net, gpu, false)->count);
            outside = smaller(outside, net_way(walk, net, gpu, true)->count);
        }
    }
    hops = (long long)hops_of(walk, now) * inside;
    if (walk->nets > 0) {
        hops += 2LL * outside;
    }
    return hops * channels;
}

bool model_nccl_hopeless(const struct model_nccl_walk *walk,
                         const struct model_nccl_draft *now,
                         const struct model_nccl_draft *best)
{
    struct model_nccl_draft first = *now;

    first.channels = bound(walk, now);
    if (first.channels < now->least || first.channels == 0) {
        return true;
    }
    if (now->pattern == MODEL_NCCL_NVLS_PATTERN) {
        first.channels = smaller(first.channels, walk->gpus);
        first.hops = 0;
        return !model_nccl_better(walk, &first, best);
    }
    first.hops = (int)least_hops(walk, now, first.channels);
    return !model_nccl_better(walk, &first, best);
}
