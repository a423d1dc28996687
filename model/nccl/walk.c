/*
 * walk.c - the steps of a channel: from GPU to GPU, to a NIC, home.
 */
#include "model/nccl/walk_parts.h"

#include <math.h>

/* The bits of scores; walk_make.c lays them out. */
enum {
    TURN_BITS = 10,
    GPU_BITS = 27,
    PCIE_SHIFT = GPU_BITS + 4,
    PCIE_MOST = 255
};

static void visit(struct model_nccl_walk *walk,
                  int gpu,
                  int step,
                  struct model_nccl_course course);

/* -- comparing -- */

bool model_nccl_better(const struct model_nccl_walk *walk,
                       const struct model_nccl_draft *now,
                       const struct model_nccl_draft *best)
{
    /* In thousandths, so that equal is equal. */
    long long bonus = llround(walk->data->same_nic_bonus_ratio * 1000.0);
    long long new_rate = 1000LL * now->channels * now->intra_bytes_per_us;
    long long old_rate = (1000LL - (best->cross_nic - now->cross_nic) * bonus) *
                         best->channels * best->intra_bytes_per_us;

    if (now->channels < now->least) {
        return false;
    }
    if (now->pattern == MODEL_NCCL_NVLS_PATTERN) {
        return (now->channels > best->channels &&
                now->channels <= walk->gpus) ||
               (walk->data->nvls_heads &&
                now->channels * now->inter_bytes_per_us >
                    best->channels * best->inter_bytes_per_us);
    }
    if (new_rate != old_rate) {
        return new_rate > old_rate;
    }
    return now->pattern == best->pattern && now->cross_nic == best->cross_nic &&
           now->hops < best->hops;
}

/* A channel is complete. */
static void settle(struct model_nccl_walk *walk)
{
    walk->now->channels++;
    if (model_nccl_better(walk, walk->now, walk->best)) {
        model_nccl_draft_copy(walk->best, walk->now, walk->gpus);
        if (walk->now->channels == walk->now->most) {
            walk->steps = MODEL_NCCL_PERFECT;
        }
    }
    if (walk->now->channels < walk->now->most) {
        model_nccl_start_channel(walk);
    }
    walk->now->channels--;
}

/* -- from GPU to GPU -- */

static long long
score(const struct model_nccl_walk *walk, int from, int to, bool by_net)
{
    long long score = walk->gpu_scores[from * walk->gpus + to];

    if (by_net) {
        int net = model_nccl_draft_nics(walk->now, walk->now->channels)[0];
        int pcie = model_nccl_pcie_left(walk, to);

        score += walk->net_scores[net * walk->gpus + to];
        score += (long long)(PCIE_MOST - (pcie < PCIE_MOST ? pcie : PCIE_MOST))
                 << PCIE_SHIFT;
    }
    return score;
}

/* Are all equally fast and far from the GPU before? */
static bool all_alike(const struct model_nccl_walk *walk,
                      int from,
                      const unsigned short *to,
                      int count)
{
    const long long *scores = walk->gpu_scores + (ptrdiff_t)from * walk->gpus;

    for (int i = 1; i < count; i++) {
        if (scores[to[i]] >> TURN_BITS != scores[to[0]] >> TURN_BITS) {
            return false;
        }
    }
    return true;
}

static void reverse(unsigned short *items, int count)
{
    for (int i = 0; i < count / 2; i++) {
        unsigned short item = items[i];

        items[i] = items[count - 1 - i];
        items[count - 1 - i] = item;
    }
}

/* Put a GPU first, if it is among them. Returns how many were. */
static int put_first(unsigned short *next, int count, int gpu)
{
    for (int i = 0; i < count; i++) {
        if (next[i] == gpu) {
            for (; i > 0; i--) {
                next[i] = next[i - 1];
            }
            next[0] = (unsigned short)gpu;
            return 1;
        }
    }
    return 0;
}

/* On an NVSwitch only the GPUs next in their order. Returns how many. */
static int neighbours(const struct model_nccl_walk *walk,
                      int gpu,
                      unsigned short *next,
                      int count)
{
    int after = (gpu + 1) % walk->gpus;
    int before = (gpu - 1 + walk->gpus) % walk->gpus;
    int kept;

    if (walk->now->pattern == MODEL_NCCL_PLAIN_TREE || after == before) {
        return put_first(next, count, after);
    }
    if (walk->now->pattern != MODEL_NCCL_RING_PATTERN) {
        int other = after;

        after = before;
        before = other;
    }
    kept = put_first(next, count, after);
    return kept + put_first(next, count, before);
}

/*
 * The GPUs to try next, best first. Those close to the first NIC come first
 * where the next GPU leaves for a NIC; otherwise, where all are equal, the last
 * ones do, to leave these for later.
 */
static int next_gpus(const struct model_nccl_walk *walk,
                     int gpu,
                     int leave,
                     unsigned short *next)
{
    const bool *used = walk->used + (ptrdiff_t)walk->now->channels * walk->gpus;
    long long *scores = walk->scores;
    int count = 0;

    for (int turn = 1; turn < walk->gpus; turn++) {
        int to = (gpu + turn) % walk->gpus;
        int at = count;
        long long own;

        if (used[to]) {
            continue;
        }
        own = score(walk, gpu, to, leave != MODEL_NCCL_NEVER);
        while (at > 0 && scores[at - 1] > own) {
            scores[at] = scores[at - 1];
            next[at] = next[at - 1];
            at--;
        }
        scores[at] = own;
        next[at] = (unsigned short)to;
        count++;
    }
    return count;
}

void model_nccl_enter(struct model_nccl_walk *walk,
                      int from,
                      int gpu,
                      int step,
                      struct model_nccl_course course)
{
    bool *used = &walk->used[walk->now->channels * walk->gpus + gpu];
    bool from_net = from != MODEL_NCCL_NOWHERE &&
                    walk->machine->devices[from].kind == MODEL_NCCL_NET;
    int bytes_per_us = from_net ? walk->now->inter_bytes_per_us
                                : walk->now->intra_bytes_per_us;

    if (from != MODEL_NCCL_NOWHERE &&
        !model_nccl_go(walk, from, gpu, bytes_per_us)) {
        return;
    }
    *used = !*used;
    visit(walk, gpu, step, course);
    *used = !*used;
    if (from != MODEL_NCCL_NOWHERE) {
        model_nccl_undo(walk, from, gpu, bytes_per_us);
    }
}

static void go_on(struct model_nccl_walk *walk,
                  int gpu,
                  int step,
                  struct model_nccl_course course)
{
    unsigned short *next =
        walk->next +
        ((ptrdiff_t)walk->now->channels * walk->gpus + step) * walk->gpus;
    int count = 1;

    if (course.following == MODEL_NCCL_IN_ORDER) {
        next[0] = (unsigned short)(step + 1);
    } else if (course.following == MODEL_NCCL_REPLAYED) {
        next[0] = (unsigned short)model_nccl_replayed(walk, step + 1);
    } else {
        count = next_gpus(walk, gpu, course.leave, next);
        if (course.leave != MODEL_NCCL_NEVER && course.leave != step + 1 &&
            all_alike(walk, gpu, next, count)) {
            reverse(next, count);
        }
        if (walk->data->nvswitch_neighbours &&
            model_nccl_count(walk->machine, MODEL_NCCL_NVS) > 0) {
            count = neighbours(walk, gpu, next, count);
        }
    }
    for (int i = 0; i < count; i++) {
        model_nccl_enter(walk, gpu, next[i], step + 1, course);
    }
}

static void go_home(struct model_nccl_walk *walk,
                    int gpu,
                    int step,
                    struct model_nccl_course course)
{
    int home =
        model_nccl_draft_order(walk->now, walk->gpus, walk->now->channels)[0];
    int bytes_per_us = walk->now->intra_bytes_per_us;

    course.close = MODEL_NCCL_NEVER;
    if (model_nccl_go(walk, gpu, home, bytes_per_us)) {
        visit(walk, home, step + 1, course);
        model_nccl_undo(walk, gpu, home, bytes_per_us);
    }
}

/* -- to NICs -- */

/* May the channel leave by this NET? */
static bool may_leave_by(const struct model_nccl_walk *walk, int net, int step)
{
    const struct model_nccl_draft *now = walk->now;
    const int *nics = model_nccl_draft_nics(now, now->channels);
    bool ring = now->pattern == MODEL_NCCL_RING_PATTERN;

    if (now->pattern == MODEL_NCCL_PLAIN_TREE && net != nics[0]) {
        return false;
    }
    if (now->pattern == MODEL_NCCL_BALANCED_TREE && step > 0 &&
        net != nics[1]) {
        return false;
    }
    if (ring && now->cross_nic == 2) {
        return now->channels % 2 == 0 || net == nics[-2];
    }
    return now->cross_nic != 0 || net == nics[0];
}

static void leave(struct model_nccl_walk *walk,
                  int gpu,
                  int step,
                  struct model_nccl_course course)
{
    const int *nets = model_nccl_nets_of(walk, gpu);
    int first_net = walk->machine->first[MODEL_NCCL_NET];
    bool balanced = walk->now->pattern == MODEL_NCCL_BALANCED_TREE;
    int *last = model_nccl_draft_nics(walk->now, walk->now->channels) + 1;
    int bytes_per_us = walk->now->inter_bytes_per_us;

    /* A balanced tree leaves by its first two GPUs, half by each. */
    course.leave = balanced && step == 0 ? 1 : MODEL_NCCL_NEVER;
    if (balanced) {
        bytes_per_us /= 2;
    }
    for (int i = 0; i < walk->net_count[gpu]; i++) {
        if (may_leave_by(walk, nets[i], step) &&
            model_nccl_go(walk, gpu, first_net + nets[i], bytes_per_us)) {
            *last = nets[i];
            visit(walk, gpu, step, course);
            model_nccl_undo(walk, gpu, first_net + nets[i], bytes_per_us);
        }
    }
}

/* -- NVLS: all GPUs to and from the switch, the head of a channel twice -- */

/* How many GPUs fit one way, and take their share. */
static int pull_one_way(struct model_nccl_walk *walk, int head, bool out)
{
    int nvs = walk->machine->first[MODEL_NCCL_NVS];
    int bytes_per_us = walk->now->intra_bytes_per_us;
    int gpu = 0;

    while (gpu < walk->gpus &&
           model_nccl_go(walk, out ? gpu : nvs, out ? nvs : gpu,
                         gpu == head ? 2 * bytes_per_us : bytes_per_us)) {
        gpu++;
    }
    return gpu;
}

static void
release_one_way(struct model_nccl_walk *walk, int head, bool out, int gpus)
{
    int nvs = walk->machine->first[MODEL_NCCL_NVS];
    int bytes_per_us = walk->now->intra_bytes_per_us;

    for (int gpu = gpus - 1; gpu >= 0; gpu--) {
        model_nccl_undo(walk, out ? gpu : nvs, out ? nvs : gpu,
                        gpu == head ? 2 * bytes_per_us : bytes_per_us);
    }
}

static void pull(struct model_nccl_walk *walk, int head)
{
    struct model_nccl_course none = {MODEL_NCCL_NEVER, MODEL_NCCL_NEVER,
                                     MODEL_NCCL_SEARCHED};
    int in = pull_one_way(walk, head, false);

    if (in == walk->gpus) {
        int out = pull_one_way(walk, head, true);

        if (out == walk->gpus) {
            visit(walk, MODEL_NCCL_NOWHERE, walk->gpus, none);
        }
        release_one_way(walk, head, true, out);
    }
    release_one_way(walk, head, false, in);
}

/* -- a step -- */

static void visit(struct model_nccl_walk *walk,
                  int gpu,
                  int step,
                  struct model_nccl_course course)
{
    if (walk->steps <= 0) {
        return;
    }
    walk->steps--;
    if (step == walk->gpus) {
        settle(walk);
        return;
    }
    model_nccl_draft_order(walk->now, walk->gpus, walk->now->channels)[step] =
        gpu;
    if (step == course.leave) {
        leave(walk, gpu, step, course);
    } else if (walk->now->pattern == MODEL_NCCL_NVLS_PATTERN) {
        pull(walk, gpu);
    } else if (step < walk->gpus - 1) {
        go_on(walk, gpu, step, course);
    } else if (step == course.close) {
        go_home(walk, gpu, step, course);
    } else {
        course.leave = MODEL_NCCL_NEVER;
        course.close = MODEL_NCCL_NEVER;
        visit(walk, gpu, walk->gpus, course);
    }
}

/* -- all -- */

int model_nccl_walk_attempt(struct model_nccl_walk *walk,
                            struct model_nccl_draft *now,
                            struct model_nccl_draft *best,
                            int steps)
{
    walk->now = now;
    walk->best = best;
    walk->steps = steps;
    now->channels = 0;
    now->hops = 0;
    if (walk->nets > 0) {
        model_nccl_order_nets(walk);
    }
    model_nccl_start_channel(walk);
    return walk->steps;
}
