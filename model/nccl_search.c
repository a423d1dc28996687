/*
 * nccl_search.c - which attempts are made, in what order, and what comes of
 * the best.
 */
#include "model/nccl_search.h"

#include "model/nccl_walk.h"

#include <math.h>

enum { RATES_MAX = 64, TRIED_MAX = 256 };

/* What makes two attempts at one rate the same. */
struct tried {
    int pattern, cross_nic, intra_type, inter_type;
    bool same;
    int steps; /* that were left */
};

struct search {
    const struct model_nccl_machine *machine;
    const struct model_nccl_graph_data *data;
    struct model_nccl_walk walk;
    struct model_nccl_draft now, best;
    int gpus, nets;
    int rates[RATES_MAX]; /* bytes/us, falling */
    int rate_count, rate;
    int most_bytes_per_us;  /* of the fastest way that a channel needs */
    int total_bytes_per_us; /* of all links of a GPU */
    bool try_same;
    int cross_nic; /* as NCCL_CROSS_NIC allows here */
    int nearest_intra, nearest_inter, farthest_intra, farthest_inter;
    bool present[2][MODEL_NCCL_PATHS]; /* paths to GPUs, to NETs */
    int steps;                         /* left of the last attempt */
    int budget;                        /* of all */
    struct tried tried[TRIED_MAX];     /* at this rate */
    int tried_count;
    long taken;
};

/* -- what the machine has -- */

static bool sees_nets(const struct search *search)
{
    return search->nets > 0;
}

static int gpu_rate(const struct model_nccl_machine *machine, int gpu)
{
    const struct model_nccl_device *at = &machine->devices[gpu];
    int nvlink = 0;
    int pcie = 0;

    for (int i = 0; i < at->link_count; i++) {
        const struct model_nccl_link *link = &machine->links[at->links[i]];

        if (link->type == MODEL_NCCL_PATH_NVL) {
            nvlink += link->bytes_per_us;
        } else if (link->type == MODEL_NCCL_PATH_PIX) {
            pcie = link->bytes_per_us;
        }
    }
    return nvlink > pcie ? nvlink : pcie;
}

static int fastest_way(const struct model_nccl_paths *paths,
                       int gpu,
                       enum model_nccl_device_kind kind)
{
    int fastest = 0;

    for (int i = 0; i < model_nccl_count(paths->machine, kind); i++) {
        const struct model_nccl_way *way =
            model_nccl_way_of(paths, MODEL_NCCL_GPU, gpu, kind, i);

        if (way->count > 0 && way->bytes_per_us > fastest) {
            fastest = way->bytes_per_us;
        }
    }
    return fastest;
}

static void measure(struct search *search, const struct model_nccl_paths *paths)
{
    enum model_nccl_device_kind kind =
        sees_nets(search) ? MODEL_NCCL_NET : MODEL_NCCL_GPU;

    if (!sees_nets(search) && search->gpus == 1) {
        search->most_bytes_per_us = (int)search->data->local_bytes_per_us;
        search->total_bytes_per_us = search->most_bytes_per_us;
        return;
    }
    for (int gpu = 0; gpu < search->gpus; gpu++) {
        int fastest = fastest_way(paths, gpu, kind);
        int total = gpu_rate(search->machine, gpu);

        if (fastest > search->most_bytes_per_us) {
            search->most_bytes_per_us = fastest;
        }
        if (total > search->total_bytes_per_us) {
            search->total_bytes_per_us = total;
        }
    }
}

/* Which types of paths there are at all, and from where to where to try. */
static void set_types(struct search *search,
                      const struct model_nccl_paths *paths)
{
    bool as_present = search->data->types_as_present;

    for (int gpu = 0; gpu < search->gpus; gpu++) {
        for (int to = 0; to < search->gpus; to++) {
            search->present[0][model_nccl_way(paths, gpu, to)->type] = true;
        }
        for (int net = 0; net < search->nets; net++) {
            search->present[1][model_nccl_way_of(paths, MODEL_NCCL_GPU, gpu,
                                                 MODEL_NCCL_NET, net)
                                   ->type] = true;
            search->present[1][model_nccl_way_of(paths, MODEL_NCCL_NET, net,
                                                 MODEL_NCCL_GPU, gpu)
                                   ->type] = true;
        }
    }
    search->nearest_intra =
        search->gpus == 1 ? MODEL_NCCL_PATH_LOC : MODEL_NCCL_PATH_NVL;
    search->nearest_inter = MODEL_NCCL_PATH_PIX;
    search->farthest_intra = MODEL_NCCL_PATH_SYS;
    search->farthest_inter = MODEL_NCCL_PATH_SYS;
    if (as_present && search->gpus > 1) {
        search->nearest_intra = model_nccl_nearest(paths, MODEL_NCCL_GPU);
        search->farthest_intra = model_nccl_farthest(paths, MODEL_NCCL_GPU);
    }
    if (as_present && sees_nets(search)) {
        search->nearest_inter = model_nccl_nearest(paths, MODEL_NCCL_NET);
        if (search->machine->least_capability >= search->data->any_net_below) {
            search->farthest_inter = model_nccl_farthest(paths, MODEL_NCCL_NET);
        }
    }
}

static void list_rates(struct search *search)
{
    const struct model_nccl_speeds *row = search->data->speeds.items;
    const struct model_list *list = NULL;

    for (int i = 0; i < search->data->speeds.count; i++) {
        if (row[i].capability <= search->machine->least_capability) {
            list = sees_nets(search) ? &row[i].inter : &row[i].intra;
        }
    }
    for (int i = 0; list != NULL && i < list->count && i < RATES_MAX; i++) {
        search->rates[search->rate_count++] =
            (int)lround(((const double *)list->items)[i]);
    }
}

/* Two islands of NVLink, and nothing but slower links between. */
static bool is_split(const struct search *search,
                     const struct model_nccl_paths *paths)
{
    int islands = 0;

    for (int gpu = 0; gpu < search->gpus; gpu++) {
        bool first = true;
        bool joined = false;

        for (int other = 0; other < search->gpus; other++) {
            if (other != gpu && model_nccl_way(paths, gpu, other)->type ==
                                    MODEL_NCCL_PATH_NVL) {
                joined = true;
                first = first && other > gpu;
            }
        }
        islands += joined && first ? 1 : 0;
    }
    return islands == 2;
}

/* -- attempts -- */

static int last_present(const struct search *search, int which, int type)
{
    while (type > 0 && !search->present[which][type]) {
        type--;
    }
    return type;
}

/*
 * An attempt that differs from one before only in types that no path has would
 * find the same sets of channels, none better than the best: its steps alone
 * count.
 */
static struct tried *find_tried(struct search *search)
{
    struct tried wanted = {
        .pattern = search->now.pattern,
        .cross_nic = search->now.cross_nic,
        .intra_type = last_present(search, 0, search->now.intra_type),
        .inter_type = last_present(search, 1, search->now.inter_type),
        .same = search->now.same,
        .steps = MODEL_UNSET - 1};

    for (int i = 0; i < search->tried_count; i++) {
        const struct tried *each = &search->tried[i];

        if (each->pattern == wanted.pattern &&
            each->cross_nic == wanted.cross_nic &&
            each->intra_type == wanted.intra_type &&
            each->inter_type == wanted.inter_type &&
            each->same == wanted.same) {
            return &search->tried[i];
        }
    }
    if (search->tried_count == TRIED_MAX) {
        search->tried_count--;
    }
    search->tried[search->tried_count] = wanted;
    return &search->tried[search->tried_count++];
}

static void attempt(struct search *search)
{
    const struct model_nccl_budget *budget = &search->data->budget;
    struct tried *tried = find_tried(search);
    int steps = search->now.same ? budget->same
                : search->now.pattern == MODEL_NCCL_PLAIN_TREE
                    ? budget->tree
                    : budget->attempt;

    search->budget -= steps;
    if (tried->steps < MODEL_NCCL_PERFECT) {
        tried->steps = model_nccl_walk_attempt(&search->walk, &search->now,
                                               &search->best, steps);
        search->taken += steps - (tried->steps > 0 ? tried->steps : 0);
    }
    search->steps = tried->steps;
}

static void set_rate(struct search *search, int rate)
{
    search->rate = rate;
    search->now.intra_bytes_per_us = search->rates[rate];
    search->now.inter_bytes_per_us = search->rates[rate];
    search->tried_count = 0;
}

/* No set of channels could be better, or better by enough. */
static bool is_enough(const struct search *search)
{
    long long found =
        (long long)search->best.channels * search->best.inter_bytes_per_us;
    bool alone = search->gpus == 1 && !sees_nets(search);

    return search->steps == MODEL_NCCL_PERFECT || alone ||
           found >= search->total_bytes_per_us;
}

/* The lowest rate that would be worth a try. */
static bool goes_lower(const struct search *search)
{
    return search->rate < search->rate_count - 1 &&
           (search->best.channels == 0 ||
            (double)search->rates[search->rate + 1] >
                (double)search->best.inter_bytes_per_us *
                    search->data->lower_ratio);
}

/* The next farther type of path that the version knows. */
static int next_type(const struct search *search, int type)
{
    type++;
    return !search->data->c2c && (type == (int)MODEL_NCCL_PATH_C2C ||
                                  type == (int)MODEL_NCCL_PATH_P2C)
               ? type + 1
               : type;
}

/* Farther paths within the node, then to NICs. */
static bool goes_farther(struct search *search)
{
    struct model_nccl_draft *now = &search->now;
    const struct model_nccl_draft *best = &search->best;
    int farthest = sees_nets(search) ? now->inter_type : search->farthest_intra;

    if (now->intra_type < farthest &&
        (best->channels == 0 || now->intra_type < best->intra_type)) {
        now->intra_type = next_type(search, now->intra_type);
        return true;
    }
    now->intra_type = search->nearest_intra;
    if (sees_nets(search) && now->inter_type < search->farthest_inter &&
        (best->channels == 0 || now->inter_type < best->inter_type ||
         now->inter_type < (int)MODEL_NCCL_PATH_PXN)) {
        now->inter_type = next_type(search, now->inter_type);
        return true;
    }
    now->inter_type = search->nearest_inter;
    return false;
}

/* NICs crossed where that was not tried yet. */
static bool goes_across(struct search *search)
{
    bool pairs = search->data->nic_pairs;
    int pattern = search->best.pattern;
    bool may =
        pairs ? search->cross_nic == 2 && (pattern == MODEL_NCCL_RING_PATTERN ||
                                           pattern == MODEL_NCCL_BALANCED_TREE)
              : search->cross_nic != 0;

    if (may && search->now.cross_nic == 0) {
        search->now.cross_nic = pairs ? 2 : 1;
        return true;
    }
    search->now.cross_nic = pairs && search->cross_nic == 1 ? 1 : 0;
    return false;
}

static bool differs(const struct search *search)
{
    return search->now.same &&
           !(search->data->amd_repeats &&
             search->machine->topology->host.cpu == MODEL_CPU_AMD &&
             search->now.intra_type == MODEL_NCCL_PATH_SYS);
}

/* The next attempt of the first pass; false when there is none. */
static bool relax(struct search *search)
{
    struct model_nccl_draft *now = &search->now;

    if (differs(search)) {
        now->same = false;
        return true;
    }
    now->same = search->try_same;
    search->budget += search->steps;
    if (search->budget < 0 && search->best.channels > 0) {
        return false;
    }
    if (search->machine->least_capability >= 90 &&
        now->pattern == MODEL_NCCL_BALANCED_TREE) {
        now->pattern = MODEL_NCCL_PLAIN_TREE;
        return true;
    }
    now->pattern = search->best.pattern;
    if (goes_farther(search) || goes_across(search)) {
        return true;
    }
    if (goes_lower(search)) {
        set_rate(search, search->rate + 1);
        return true;
    }
    return false;
}

/* The next attempt of the second pass: the same channels, faster. */
static bool raise_rate(struct search *search)
{
    struct model_nccl_draft *now = &search->now;
    const struct model_nccl_draft *best = &search->best;
    bool rings = search->data->raise_rings;

    if (search->steps == 0 || search->rate == 0) {
        return false;
    }
    search->tried_count = 0;
    if (best->pattern == MODEL_NCCL_RING_PATTERN) {
        if (rings) {
            set_rate(search, search->rate - 1);
        }
        return rings;
    }
    if (rings && best->pattern == MODEL_NCCL_NVLS_PATTERN &&
        now->inter_bytes_per_us == best->inter_bytes_per_us &&
        now->inter_bytes_per_us < 2 * now->intra_bytes_per_us) {
        now->least = best->channels;
        now->most = best->channels;
        now->inter_bytes_per_us = search->rates[--search->rate];
        return true;
    }
    if (now->intra_bytes_per_us == best->intra_bytes_per_us &&
        now->intra_bytes_per_us < 2 * now->inter_bytes_per_us) {
        now->intra_bytes_per_us = search->rates[--search->rate];
        return true;
    }
    return false;
}

/*
 * Fast channels are made two of half the rate each; not where the machine is
 * newer than Ampere, has many, and they are not very fast.
 */
static void double_channels(struct search *search)
{
    const struct model_nccl_graph_data *data = search->data;
    struct model_nccl_draft *best = &search->best;
    int channels = best->channels;
    int wanted = 2 * channels < best->most ? 2 * channels : best->most;

    if (channels == 0 || best->pattern == MODEL_NCCL_NVLS_PATTERN ||
        (double)best->intra_bytes_per_us < data->double_bytes_per_us ||
        (search->machine->least_capability > data->double_many_above &&
         (double)best->intra_bytes_per_us < data->double_many_bytes_per_us &&
         channels >= data->double_many)) {
        return;
    }
    for (int i = channels; i < wanted; i++) {
        for (int k = 0; k < search->gpus; k++) {
            best->order[i * search->gpus + k] =
                best->order[(i - channels) * search->gpus + k];
        }
        best->nics[2 * i] = best->nics[2 * (i - channels)];
        best->nics[2 * i + 1] = best->nics[2 * (i - channels) + 1];
    }
    best->channels = wanted;
    best->intra_bytes_per_us /= (wanted + channels - 1) / channels;
    best->inter_bytes_per_us /= (wanted + channels - 1) / channels;
}

/* -- all -- */

static int allowed_cross_nic(const struct search *search, int pattern)
{
    const struct model_topology *topology = search->machine->topology;
    int set = search->machine->settings->cross_nic;

    if (set == MODEL_UNSET) {
        set = topology->network.cross_nic ? 2 : 0;
    }
    return search->nets > 1 && (pattern == MODEL_NCCL_RING_PATTERN ||
                                pattern == MODEL_NCCL_BALANCED_TREE ||
                                pattern == MODEL_NCCL_SPLIT_TREE)
               ? set
               : 0;
}

/* What is asked for at first; returns false where there can be no graph. */
static bool set_wish(struct search *search,
                     const struct model_nccl_paths *paths,
                     const struct model_nccl_wish *wish)
{
    struct model_nccl_draft *best = &search->best;

    *best = (struct model_nccl_draft){.pattern = wish->pattern,
                                      .least = wish->least,
                                      .most = wish->most,
                                      .order = best->order,
                                      .nics = best->nics};
    search->cross_nic = allowed_cross_nic(search, wish->pattern);
    search->try_same = wish->pattern != MODEL_NCCL_NVLS_PATTERN;
    best->cross_nic = search->cross_nic == 1 ? 1 : 0;
    best->intra_type = search->nearest_intra;
    best->inter_type = search->nearest_inter;
    best->same = search->try_same;
    if (search->gpus == 1 && wish->pattern != MODEL_NCCL_RING_PATTERN) {
        best->pattern = MODEL_NCCL_PLAIN_TREE;
    }
    if (wish->pattern == MODEL_NCCL_NVLS_PATTERN) {
        bool heads = search->data->nvls_heads || !sees_nets(search);

        if (heads && best->most > search->gpus) {
            best->most = search->gpus;
        }
        if (!sees_nets(search)) {
            best->least = best->most;
        }
    }
    if (search->data->split_needs_two && best->least == 1 && best->most >= 2 &&
        wish->pattern == MODEL_NCCL_RING_PATTERN && is_split(search, paths)) {
        best->least = 2;
    }
    model_nccl_draft_copy(&search->now, best, search->gpus);
    return search->rate_count > 0;
}

/* The first rate that a way could carry, for so many channels. */
static void start_rate(struct search *search)
{
    const struct model_nccl_draft *now = &search->now;
    int rate = 0;
    long long gpus = search->gpus;
    bool ring = now->pattern == MODEL_NCCL_RING_PATTERN;
    /* A tree passes one hop less than a ring. */
    long long share = ring || gpus == 1 ? 1 : gpus - 1;
    long long total =
        search->total_bytes_per_us * (ring || gpus == 1 ? 1 : gpus);

    while (rate < search->rate_count - 1 &&
           (search->rates[rate] > search->most_bytes_per_us ||
            (gpus > 1 && search->rates[rate] * now->least * share > total))) {
        rate++;
    }
    set_rate(search, rate);
}

static void first_pass(struct search *search)
{
    start_rate(search);
    search->budget = search->data->budget.all;
    do {
        attempt(search);
    } while (!is_enough(search) && relax(search));
}

static void second_pass(struct search *search)
{
    int rate = 0;

    search->steps = MODEL_NCCL_PERFECT;
    model_nccl_draft_copy(&search->now, &search->best, search->gpus);
    while (rate < search->rate_count - 1 &&
           search->rates[rate] > search->best.inter_bytes_per_us) {
        rate++;
    }
    set_rate(search, rate);
    search->now.least = search->best.channels;
    while (raise_rate(search)) {
        attempt(search);
    }
}

static void fall_back(struct search *search)
{
    struct model_nccl_draft *best = &search->best;

    for (int i = 0; i < search->gpus; i++) {
        best->order[i] = i;
    }
    best->nics[0] = 0;
    best->nics[1] = 0;
    best->intra_bytes_per_us = (int)lround(search->data->plain_bytes_per_us);
    best->inter_bytes_per_us = (int)lround(search->data->plain_bytes_per_us);
    best->intra_type = MODEL_NCCL_PATH_SYS;
    best->inter_type = MODEL_NCCL_PATH_SYS;
    best->channels = 1;
}

static struct model_nccl_graph result_of(const struct search *search)
{
    const struct model_nccl_draft *best = &search->best;

    for (int i = 0; i < best->channels * search->gpus; i++) {
        best->order[i] = search->machine->gpus[best->order[i]];
    }
    for (int i = 0; i < 2 * best->channels; i++) {
        best->nics[i] = sees_nets(search) ? best->nics[i] : -1;
    }
    return (struct model_nccl_graph){
        .pattern = best->pattern,
        .channels = best->channels,
        .intra_bytes_per_us = (double)best->intra_bytes_per_us,
        .inter_bytes_per_us = (double)best->inter_bytes_per_us,
        .intra_type = best->intra_type,
        .inter_type = best->inter_type,
        .same_channels = best->same,
        .cross_nic = best->cross_nic,
        .order = best->order,
        .nics = best->nics};
}

struct model_nccl_graph model_nccl_search(struct model_arena *arena,
                                          const struct model_nccl_paths *paths,
                                          const struct model_nccl_wish *wish,
                                          long *steps)
{
    const struct model_nccl_machine *machine = paths->machine;
    struct search search = {.machine = machine,
                            .data = machine->data,
                            .gpus = model_nccl_count(machine, MODEL_NCCL_GPU),
                            .nets = model_nccl_count(machine, MODEL_NCCL_NET)};

    search.best = model_nccl_draft_make(arena, search.gpus, wish->most);
    search.now = model_nccl_draft_make(arena, search.gpus, wish->most);
    search.walk = model_nccl_walk_make(arena, paths, wish->most);
    measure(&search, paths);
    set_types(&search, paths);
    list_rates(&search);
    if (set_wish(&search, paths, wish)) {
        first_pass(&search);
        if (search.data->double_first) {
            double_channels(&search);
        }
        second_pass(&search);
    }
    if (search.best.channels == 0 && wish->pattern != MODEL_NCCL_NVLS_PATTERN) {
        fall_back(&search);
    }
    if (!search.data->double_first) {
        double_channels(&search);
    }
    if (steps != NULL) {
        *steps += search.taken;
    }
    return result_of(&search);
}
