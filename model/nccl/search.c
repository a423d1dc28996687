/*
 * search.c - what a search starts from, and what comes of its best.
 */
#include "model/nccl/search.h"

#include "model/nccl/search_parts.h"

#include <math.h>
#include <string.h>

/* -- what the machine has -- */

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

static void measure(struct model_nccl_hunt *hunt,
                    const struct model_nccl_paths *paths)
{
    enum model_nccl_device_kind kind =
        hunt->nets > 0 ? MODEL_NCCL_NET : MODEL_NCCL_GPU;

    if (hunt->nets == 0 && hunt->gpus == 1) {
        hunt->most_bytes_per_us = (int)hunt->data->local_bytes_per_us;
        hunt->total_bytes_per_us = hunt->most_bytes_per_us;
        return;
    }
    for (int gpu = 0; gpu < hunt->gpus; gpu++) {
        int fastest = fastest_way(paths, gpu, kind);
        int total = gpu_rate(hunt->machine, gpu);

        if (fastest > hunt->most_bytes_per_us) {
            hunt->most_bytes_per_us = fastest;
        }
        if (total > hunt->total_bytes_per_us) {
            hunt->total_bytes_per_us = total;
        }
    }
}

/* Which types of paths there are at all, and from where to where to try. */
static void set_types(struct model_nccl_hunt *hunt,
                      const struct model_nccl_paths *paths)
{
    bool as_present = hunt->data->types_as_present;

    for (int gpu = 0; gpu < hunt->gpus; gpu++) {
        for (int to = 0; to < hunt->gpus; to++) {
            hunt->present[0][model_nccl_way(paths, gpu, to)->type] = true;
        }
        for (int net = 0; net < hunt->nets; net++) {
            hunt->present[1][model_nccl_way_of(paths, MODEL_NCCL_GPU, gpu,
                                               MODEL_NCCL_NET, net)
                                 ->type] = true;
            hunt->present[1][model_nccl_way_of(paths, MODEL_NCCL_NET, net,
                                               MODEL_NCCL_GPU, gpu)
                                 ->type] = true;
        }
    }
    hunt->nearest_intra =
        hunt->gpus == 1 ? MODEL_NCCL_PATH_LOC : MODEL_NCCL_PATH_NVL;
    hunt->nearest_inter = MODEL_NCCL_PATH_PIX;
    hunt->farthest_intra = MODEL_NCCL_PATH_SYS;
    hunt->farthest_inter = MODEL_NCCL_PATH_SYS;
    if (as_present && hunt->gpus > 1) {
        hunt->nearest_intra = model_nccl_nearest(paths, MODEL_NCCL_GPU);
        hunt->farthest_intra = model_nccl_farthest(paths, MODEL_NCCL_GPU);
    }
    if (as_present && hunt->nets > 0) {
        hunt->nearest_inter = model_nccl_nearest(paths, MODEL_NCCL_NET);
        if (hunt->machine->least_capability >= hunt->data->any_net_below) {
            hunt->farthest_inter = model_nccl_farthest(paths, MODEL_NCCL_NET);
        }
    }
}

static void list_rates(struct model_nccl_hunt *hunt)
{
    const struct model_nccl_speeds *row = hunt->data->speeds.items;
    const struct model_list *list = NULL;

    for (int i = 0; i < hunt->data->speeds.count; i++) {
        if (row[i].capability <= hunt->machine->least_capability) {
            list = hunt->nets > 0 ? &row[i].inter : &row[i].intra;
        }
    }
    for (int i = 0; list != NULL && i < list->count && i < MODEL_NCCL_RATES_MAX;
         i++) {
        hunt->rates[hunt->rate_count++] =
            (int)lround(((const double *)list->items)[i]);
    }
}

/* Two islands of NVLink, and nothing but slower links between. */
static bool is_split(const struct model_nccl_hunt *hunt,
                     const struct model_nccl_paths *paths)
{
    int islands = 0;

    for (int gpu = 0; gpu < hunt->gpus; gpu++) {
        bool first = true;
        bool joined = false;

        for (int other = 0; other < hunt->gpus; other++) {
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

/*
 * Fast channels are made two of half the rate each; not where the machine is
 * newer than Ampere, has many, and they are not very fast.
 */
static void double_channels(struct model_nccl_hunt *hunt)
{
    const struct model_nccl_graph_data *data = hunt->data;
    struct model_nccl_draft *best = &hunt->best;
    int channels = best->channels;
    int wanted = 2 * channels < best->most ? 2 * channels : best->most;

    if (channels == 0 || best->pattern == MODEL_NCCL_NVLS_PATTERN ||
        (double)best->intra_bytes_per_us < data->double_bytes_per_us ||
        (hunt->machine->least_capability > data->double_many_above &&
         (double)best->intra_bytes_per_us < data->double_many_bytes_per_us &&
         channels >= data->double_many)) {
        return;
    }
    for (int i = channels; i < wanted; i++) {
        memcpy(model_nccl_draft_order(best, hunt->gpus, i),
               model_nccl_draft_order(best, hunt->gpus, i - channels),
               (size_t)hunt->gpus * sizeof(int));
        memcpy(model_nccl_draft_nics(best, i),
               model_nccl_draft_nics(best, i - channels), 2 * sizeof(int));
    }
    best->channels = wanted;
    best->intra_bytes_per_us /= (wanted + channels - 1) / channels;
    best->inter_bytes_per_us /= (wanted + channels - 1) / channels;
}

/* -- all -- */

static int allowed_cross_nic(const struct model_nccl_hunt *hunt, int pattern)
{
    const struct model_topology *topology = hunt->machine->topology;
    int set = hunt->machine->settings->cross_nic;

    if (set == MODEL_UNSET) {
        set = topology->network.cross_nic ? 2 : 0;
    }
    return hunt->nets > 1 && (pattern == MODEL_NCCL_RING_PATTERN ||
                              pattern == MODEL_NCCL_BALANCED_TREE ||
                              pattern == MODEL_NCCL_SPLIT_TREE)
               ? set
               : 0;
}

/* What is asked for at first; returns false where there can be no graph. */
static bool set_wish(struct model_nccl_hunt *hunt,
                     const struct model_nccl_paths *paths,
                     const struct model_nccl_wish *wish)
{
    struct model_nccl_draft *best = &hunt->best;

    *best = (struct model_nccl_draft){.pattern = wish->pattern,
                                      .least = wish->least,
                                      .most = wish->most,
                                      .order = best->order,
                                      .nics = best->nics};
    hunt->cross_nic = allowed_cross_nic(hunt, wish->pattern);
    hunt->try_same = wish->pattern != MODEL_NCCL_NVLS_PATTERN;
    best->cross_nic = hunt->cross_nic == 1 ? 1 : 0;
    best->intra_type = hunt->nearest_intra;
    best->inter_type = hunt->nearest_inter;
    best->same = hunt->try_same;
    if (hunt->gpus == 1 && wish->pattern != MODEL_NCCL_RING_PATTERN) {
        best->pattern = MODEL_NCCL_PLAIN_TREE;
    }
    if (wish->pattern == MODEL_NCCL_NVLS_PATTERN) {
        bool heads = hunt->data->nvls_heads || hunt->nets == 0;

        if (heads && best->most > hunt->gpus) {
            best->most = hunt->gpus;
        }
        if (hunt->nets == 0) {
            best->least = best->most;
        }
    }
    if (hunt->data->split_needs_two && best->least == 1 && best->most >= 2 &&
        wish->pattern == MODEL_NCCL_RING_PATTERN && is_split(hunt, paths)) {
        best->least = 2;
    }
    model_nccl_draft_copy(&hunt->now, best, hunt->gpus);
    return hunt->rate_count > 0;
}

static void fall_back(struct model_nccl_hunt *hunt)
{
    struct model_nccl_draft *best = &hunt->best;

    for (int i = 0; i < hunt->gpus; i++) {
        best->order[i] = i;
    }
    best->nics[0] = 0;
    best->nics[1] = 0;
    best->intra_bytes_per_us = (int)lround(hunt->data->plain_bytes_per_us);
    best->inter_bytes_per_us = (int)lround(hunt->data->plain_bytes_per_us);
    best->intra_type = MODEL_NCCL_PATH_SYS;
    best->inter_type = MODEL_NCCL_PATH_SYS;
    best->channels = 1;
}

static struct model_nccl_graph result_of(const struct model_nccl_hunt *hunt)
{
    const struct model_nccl_draft *best = &hunt->best;

    for (int i = 0; i < best->channels * hunt->gpus; i++) {
        best->order[i] = hunt->machine->gpus[best->order[i]];
    }
    for (int i = 0; i < 2 * best->channels; i++) {
        best->nics[i] = hunt->nets > 0 ? best->nics[i] : -1;
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

struct model_nccl_graph
model_nccl_plain_graph(struct model_arena *arena,
                       const struct model_nccl_graph_data *data,
                       int pattern,
                       const int *gpus,
                       int gpu_count)
{
    int *order = model_arena_array(arena, (size_t)gpu_count, sizeof(*order));
    int *nics = model_arena_array(arena, 2, sizeof(*nics));

    memcpy(order, gpus, (size_t)gpu_count * sizeof(*order));
    nics[0] = -1;
    nics[1] = -1;
    return (struct model_nccl_graph){
        .pattern = pattern,
        .channels = 1,
        .intra_bytes_per_us = data->plain_bytes_per_us,
        .inter_bytes_per_us = data->plain_bytes_per_us,
        .intra_type = MODEL_NCCL_PATH_SYS,
        .inter_type = MODEL_NCCL_PATH_SYS,
        .order = order,
        .nics = nics};
}

struct model_nccl_graph model_nccl_search(struct model_arena *arena,
                                          const struct model_nccl_paths *paths,
                                          const struct model_nccl_wish *wish)
{
    const struct model_nccl_machine *machine = paths->machine;
    struct model_nccl_hunt hunt = {
        .arena = arena,
        .machine = machine,
        .data = machine->data,
        .gpus = model_nccl_count(machine, MODEL_NCCL_GPU),
        .nets = model_nccl_count(machine, MODEL_NCCL_NET)};

    hunt.best = model_nccl_draft_make(arena, hunt.gpus, wish->most);
    hunt.now = model_nccl_draft_make(arena, hunt.gpus, wish->most);
    hunt.walk = model_nccl_walk_make(arena, paths, wish->most);
    hunt.bounds = model_nccl_bounds_make(arena, &hunt.walk);
    measure(&hunt, paths);
    set_types(&hunt, paths);
    list_rates(&hunt);
    if (set_wish(&hunt, paths, wish)) {
        model_nccl_first_pass(&hunt);
        if (hunt.data->double_first) {
            double_channels(&hunt);
        }
        model_nccl_second_pass(&hunt);
    }
    if (hunt.best.channels == 0 && wish->pattern != MODEL_NCCL_NVLS_PATTERN) {
        fall_back(&hunt);
    }
    if (!hunt.data->double_first) {
        double_channels(&hunt);
    }
    return result_of(&hunt);
}
