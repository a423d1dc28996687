/*
 * walk_start.c - where channels start: at NICs, and at the GPUs near them,
 * or anywhere.
 */
#include "model/nccl/walk_parts.h"

static struct model_nccl_course course_of(const struct model_nccl_walk *walk)
{
    int last = walk->gpus - 1;
    bool ring = walk->now->pattern == MODEL_NCCL_RING_PATTERN;

    if (walk->nets == 0) {
        return (struct model_nccl_course){MODEL_NCCL_NEVER,
                                          ring ? last : MODEL_NCCL_NEVER,
                                          MODEL_NCCL_SEARCHED};
    }
    return (struct model_nccl_course){
        ring                                          ? last
        : walk->now->pattern == MODEL_NCCL_SPLIT_TREE ? 1
                                                      : 0,
        MODEL_NCCL_NEVER, MODEL_NCCL_SEARCHED};
}

static void follow(struct model_nccl_walk *walk,
                   int from,
                   int gpu,
                   enum model_nccl_following following)
{
    struct model_nccl_course course = course_of(walk);

    course.following = following;
    model_nccl_enter(walk, from, gpu, 0, course);
}

static void start_anywhere(struct model_nccl_walk *walk)
{
    if (walk->now->pattern == MODEL_NCCL_NVLS_PATTERN) {
        follow(walk, MODEL_NCCL_NOWHERE, walk->now->channels,
               MODEL_NCCL_SEARCHED);
        return;
    }
    if (walk->now->channels == 0) {
        follow(walk, MODEL_NCCL_NOWHERE, 0, MODEL_NCCL_IN_ORDER);
    } else {
        follow(walk, MODEL_NCCL_NOWHERE, model_nccl_replayed(walk, 0),
               MODEL_NCCL_REPLAYED);
    }
    if (!walk->now->same || walk->now->channels == 0) {
        for (int gpu = 0; gpu < walk->gpus; gpu++) {
            follow(walk, MODEL_NCCL_NOWHERE, gpu, MODEL_NCCL_SEARCHED);
        }
    }
}

/* GPUs in their order, with steps of their own. */
static void start_in_order(struct model_nccl_walk *walk, int net)
{
    int steps = walk->steps;

    walk->steps = walk->data->budget.first;
    follow(walk, walk->machine->first[MODEL_NCCL_NET] + net, 0,
           MODEL_NCCL_IN_ORDER);
    if (walk->steps != MODEL_NCCL_PERFECT) {
        walk->steps = steps;
    }
}

/*
 * All GPUs that are nearest, first those with PCIe left: a GPU that receives
 * for one channel should not send for another.
 */
static void start_nearest(struct model_nccl_walk *walk, int net)
{
    const int *starts = walk->starts + (ptrdiff_t)net * walk->gpus;
    int whole = walk->now->inter_bytes_per_us / 1000 * 1000;
    int count =
        walk->start_bytes_per_us[net] >= whole ? walk->start_count[net] : 0;

    for (int spent = 0; spent < 2; spent++) {
        for (int i = 0; i < count; i++) {
            if ((model_nccl_pcie_left(walk, starts[i]) > 0 ? 0 : 1) == spent) {
                follow(walk, walk->machine->first[MODEL_NCCL_NET] + net,
                       starts[i], MODEL_NCCL_SEARCHED);
            }
        }
    }
}

/* The GPU that takes this NIC, then the others that are as fast and near. */
static void start_local(struct model_nccl_walk *walk, int net)
{
    const int *starts = walk->starts + (ptrdiff_t)net * walk->gpus;
    int at = walk->machine->first[MODEL_NCCL_NET] + net;
    int own = walk->paths->net_gpu[net];

    if (own >= 0) {
        follow(walk, at, own, MODEL_NCCL_SEARCHED);
    }
    for (int i = 0; i < walk->start_count[net]; i++) {
        if (starts[i] != own) {
            follow(walk, at, starts[i], MODEL_NCCL_SEARCHED);
        }
    }
}

static void start_walk(struct model_nccl_walk *walk, int net)
{
    int at = walk->machine->first[MODEL_NCCL_NET] + net;
    int channels = walk->now->channels;
    bool either = walk->data->replay_or_search;

    if (channels > 0 && (!either || walk->now->same)) {
        follow(walk, at, model_nccl_replayed(walk, 0), MODEL_NCCL_REPLAYED);
    }
    if (channels > 0 && walk->now->same) {
        return;
    }
    if (channels == 0 &&
        (!either || model_nccl_count(walk->machine, MODEL_NCCL_NVS) == 0)) {
        start_in_order(walk, net);
    }
    if (either) {
        start_local(walk, net);
    } else {
        start_nearest(walk, net);
    }
}

static bool is_head(const struct model_nccl_walk *walk, int gpu)
{
    for (int i = 0; i < walk->now->channels; i++) {
        if (model_nccl_draft_order(walk->now, walk->gpus, i)[0] == gpu) {
            return true;
        }
    }
    return false;
}

/* Returns whether a head was tried. */
static bool start_nvls(struct model_nccl_walk *walk, int net)
{
    const int *nets = model_nccl_nets_of(walk, walk->gpus);
    int channels = walk->now->channels;
    int gpu;

    if (channels >= walk->net_count[walk->gpus]) {
        return false;
    }
    gpu = walk->paths->net_gpu[walk->data->nvls_heads ? net : nets[channels]];
    if (gpu < 0 || (walk->data->nvls_heads && is_head(walk, gpu))) {
        return false;
    }
    follow(walk,
           walk->data->nvls_heads ? walk->machine->first[MODEL_NCCL_NET] + net
                                  : MODEL_NCCL_NOWHERE,
           gpu, MODEL_NCCL_SEARCHED);
    return true;
}

/* May the channel start at this NET? Its rate counts in whole GB/s. */
static bool may_start_at(const struct model_nccl_walk *walk, int net)
{
    const struct model_nccl_draft *now = walk->now;

    if (walk->net_left[net] < now->inter_bytes_per_us / 1000 * 1000) {
        return false;
    }
    return now->pattern != MODEL_NCCL_RING_PATTERN || now->cross_nic != 2 ||
           now->channels % 2 == 0 ||
           net == model_nccl_draft_nics(now, now->channels - 1)[1];
}

static void start_at_nets(struct model_nccl_walk *walk)
{
    const int *nets = model_nccl_nets_of(walk, walk->gpus);
    int count = walk->net_count[walk->gpus];
    int channels = walk->now->channels;
    int whole = walk->now->inter_bytes_per_us / 1000 * 1000;
    int turn = walk->data->rotate_nics ? channels : 0;

    for (int i = 0; i < count; i++) {
        int net = nets[(turn + i) % count];
        bool tried = false;

        if (!may_start_at(walk, net)) {
            continue;
        }
        model_nccl_draft_nics(walk->now, channels)[0] = net;
        walk->net_left[net] -= whole;
        if (walk->now->pattern == MODEL_NCCL_NVLS_PATTERN) {
            tried = start_nvls(walk, net) && walk->data->nvls_heads;
        } else {
            start_walk(walk, net);
        }
        walk->net_left[net] += whole;
        if (tried) {
            break;
        }
    }
}

void model_nccl_start_channel(struct model_nccl_walk *walk)
{
    if (walk->nets > 0) {
        start_at_nets(walk);
    } else {
        start_anywhere(walk);
    }
}

/* -- NETs in their order -- */

static void append(int *nets, int *count, int net)
{
    for (int i = 0; i < *count; i++) {
        if (nets[i] == net) {
            return;
        }
    }
    nets[(*count)++] = net;
}

/* The NETs to try from GPUs first to end - 1: their own, then the nearest. */
static int
order_nets(const struct model_nccl_walk *walk, int first, int end, int *nets)
{
    int count = 0;

    for (int gpu = first; gpu < end; gpu++) {
        for (int i = 0; i < walk->preferred_count[gpu]; i++) {
            append(nets, &count, walk->preferred[gpu * walk->nets + i]);
        }
    }
    for (int type = 0; type <= walk->now->inter_type; type++) {
        for (int gpu = first; gpu < end; gpu++) {
            for (int net = 0; net < walk->nets; net++) {
                if (model_nccl_way_of(walk->paths, MODEL_NCCL_GPU, gpu,
                                      MODEL_NCCL_NET, net)
                        ->type == type) {
                    append(nets, &count, net);
                }
            }
        }
    }
    return count;
}

void model_nccl_order_nets(struct model_nccl_walk *walk)
{
    for (int gpu = 0; gpu < walk->gpus; gpu++) {
        walk->net_count[gpu] =
            order_nets(walk, gpu, gpu + 1, model_nccl_nets_of(walk, gpu));
    }
    walk->net_count[walk->gpus] =
        order_nets(walk, 0, walk->gpus, model_nccl_nets_of(walk, walk->gpus));
}
