/*
 * paths.c - a breadth-first search from each device, then what P2P
 * changes.
 */
#include "model/nccl/paths_parts.h"

#include <string.h>

static int count_of(const struct model_nccl_paths *paths,
                    enum model_nccl_device_kind kind)
{
    return model_nccl_count(paths->machine, kind);
}

static int kind_of(const struct model_nccl_paths *paths, int device)
{
    return paths->machine->devices[device].kind;
}

static int larger(int one, int other)
{
    return one > other ? one : other;
}

static int smaller(int one, int other)
{
    return one < other ? one : other;
}

/* -- breadth first -- */

struct wave {
    int *now, *next;
    int now_count, next_count;
};

/* May a way to base that has reached `at` go on over this link? */
static bool passes(const struct model_nccl_paths *paths,
                   int base,
                   int at,
                   const struct model_nccl_link *link)
{
    const struct model_nccl_way *way = model_nccl_way(paths, at, base);

    if (at == base || kind_of(paths, at) != MODEL_NCCL_GPU) {
        return way->count < MODEL_NCCL_HOPS_MAX;
    }
    return link->type == MODEL_NCCL_PATH_NVL &&
           kind_of(paths, link->to) == MODEL_NCCL_GPU && way->count <= 1;
}

/* The type of a way that grew by a link, which leads from `at` outwards. */
static int grown_type(const struct model_nccl_paths *paths,
                      const struct model_nccl_way *way,
                      int at,
                      const struct model_nccl_link *link)
{
    int kind = kind_of(paths, at);
    int other = kind_of(paths, link->to);
    int type = link->type;

    if (kind == MODEL_NCCL_PCI && other == MODEL_NCCL_PCI) {
        type = MODEL_NCCL_PATH_PXB;
    }
    if (link->type == MODEL_NCCL_PATH_PIX &&
        (kind == MODEL_NCCL_CPU || other == MODEL_NCCL_CPU)) {
        type = MODEL_NCCL_PATH_PHB;
    }
    if (kind == MODEL_NCCL_GPU && way->type == MODEL_NCCL_PATH_NVL &&
        type == MODEL_NCCL_PATH_NVL && way->count > 0) {
        type = MODEL_NCCL_PATH_NVB;
    }
    return larger(way->type, type);
}

static void enqueue(struct wave *wave, int device)
{
    for (int i = 0; i < wave->next_count; i++) {
        if (wave->next[i] == device) {
            return;
        }
    }
    wave->next[wave->next_count++] = device;
}

/* Try to reach the other end of a link by way of `at`. */
static void reach(const struct model_nccl_paths *paths,
                  int base,
                  int at,
                  int link_at,
                  struct wave *wave)
{
    const struct model_nccl_link *link = &paths->machine->links[link_at];
    const struct model_nccl_way *way = model_nccl_way(paths, at, base);
    struct model_nccl_way *other = model_nccl_way(paths, link->to, base);
    int bytes_per_us = smaller(way->bytes_per_us, link->bytes_per_us);

    if (!passes(paths, base, at, link) || other->bytes_per_us >= bytes_per_us ||
        (other->bytes_per_us > 0 && other->count <= way->count)) {
        return;
    }
    other->type = grown_type(paths, way, at, link);
    other->bytes_per_us = bytes_per_us;
    other->count = way->count + 1;
    other->links[0] = link_at ^ 1;
    memcpy(other->links + 1, way->links,
           (size_t)way->count * sizeof(other->links[0]));
    enqueue(wave, link->to);
}

/* All ways to a device. */
static void
find_ways(const struct model_nccl_paths *paths, int base, struct wave *wave)
{
    const struct model_nccl_machine *machine = paths->machine;
    int devices = machine->first[MODEL_NCCL_DEVICE_KINDS];
    struct model_nccl_way *own = model_nccl_way(paths, base, base);

    for (int i = 0; i < devices; i++) {
        model_nccl_way(paths, i, base)->type = MODEL_NCCL_PATH_DIS;
    }
    own->type = MODEL_NCCL_PATH_LOC;
    own->bytes_per_us = (int)machine->data->local_bytes_per_us;
    wave->now[0] = base;
    wave->now_count = 1;
    while (wave->now_count > 0) {
        int *spent = wave->now;

        wave->next_count = 0;
        for (int i = 0; i < wave->now_count; i++) {
            const struct model_nccl_device *at =
                &machine->devices[wave->now[i]];

            for (int k = 0; k < at->link_count; k++) {
                reach(paths, base, wave->now[i], at->links[k], wave);
            }
        }
        wave->now = wave->next;
        wave->now_count = wave->next_count;
        wave->next = spent;
    }
}

/* -- by way of something -- */

/* A CPU reached over its own link to the GPU, and PCIe behind it. */
int model_nccl_merged_type(const struct model_nccl_paths *paths,
                           int one,
                           int other)
{
    int near = smaller(one, other);
    int far = larger(one, other);

    return paths->machine->data->c2c && near == MODEL_NCCL_PATH_C2C &&
                   far == MODEL_NCCL_PATH_PHB
               ? MODEL_NCCL_PATH_P2C
               : far;
}

void model_nccl_bend(const struct model_nccl_paths *paths,
                     int from,
                     int via,
                     int to)
{
    const struct model_nccl_way *first = model_nccl_way(paths, from, via);
    const struct model_nccl_way *second = model_nccl_way(paths, via, to);
    struct model_nccl_way *way = model_nccl_way(paths, from, to);
    struct model_nccl_way bent = {
        .type = kind_of(paths, via) == MODEL_NCCL_GPU
                    ? (int)MODEL_NCCL_PATH_PXN
                    : model_nccl_merged_type(paths, first->type, second->type),
        .bytes_per_us = smaller(first->bytes_per_us, second->bytes_per_us),
        .count = first->count + second->count};

    if (bent.count > MODEL_NCCL_HOPS_MAX) {
        return;
    }
    memcpy(bent.links, first->links,
           (size_t)first->count * sizeof(bent.links[0]));
    memcpy(bent.links + first->count, second->links,
           (size_t)second->count * sizeof(bent.links[0]));
    *way = bent;
}

int model_nccl_cpu_of(const struct model_nccl_paths *paths, int gpu)
{
    int best = paths->machine->first[MODEL_NCCL_CPU];

    for (int cpu = best + 1; cpu < paths->machine->first[MODEL_NCCL_CPU + 1];
         cpu++) {
        if (model_nccl_way(paths, gpu, cpu)->count <
            model_nccl_way(paths, gpu, best)->count) {
            best = cpu;
        }
    }
    return best;
}

/* A level of ours among NCCL's paths. */
int model_nccl_level(int path, bool local)
{
    static const int levels[MODEL_PATHS] = {
        [MODEL_PATH_NVL] = MODEL_NCCL_PATH_NVL,
        [MODEL_PATH_NVB] = MODEL_NCCL_PATH_NVB,
        [MODEL_PATH_PIX] = MODEL_NCCL_PATH_PIX,
        [MODEL_PATH_PXB] = MODEL_NCCL_PATH_PXB,
        [MODEL_PATH_PXN] = MODEL_NCCL_PATH_PXN,
        [MODEL_PATH_PHB] = MODEL_NCCL_PATH_PHB,
        [MODEL_PATH_SYS] = MODEL_NCCL_PATH_SYS};

    if (local) {
        return MODEL_NCCL_PATH_LOC;
    }
    return path < (int)MODEL_PATHS ? levels[path] : (int)MODEL_NCCL_PATH_SYS;
}

/* -- P2P -- */

/*
 * NCCL_P2P_LEVEL; where nobody set it NCCL's own default, and no farther than
 * the machine can.
 */
static int p2p_level(const struct model_nccl_machine *machine)
{
    const struct model_nccl_p2p_default *row = machine->data->p2p.items;
    const struct model_nccl_settings *settings = machine->settings;
    int gpus = model_nccl_count(machine, MODEL_NCCL_GPU);
    int level = MODEL_PATH_PXB;

    if (settings->p2p_disable == 1) {
        return MODEL_NCCL_PATH_LOC;
    }
    if (settings->p2p_level != MODEL_UNSET || settings->p2p_level_local) {
        return model_nccl_level(settings->p2p_level, settings->p2p_level_local);
    }
    for (int i = 0; i < machine->data->p2p.count; i++) {
        if (row[i].cpu == machine->topology->host.cpu &&
            (row[i].most_gpus == 0 || gpus <= row[i].most_gpus)) {
            level = row[i].level;
        }
    }
    return model_nccl_level(smaller(level, machine->topology->pcie.p2p), false);
}

static void bend_gpus(struct model_nccl_paths *paths)
{
    int gpus = count_of(paths, MODEL_NCCL_GPU);
    int level = p2p_level(paths->machine);
    int possible = model_nccl_level(paths->machine->topology->pcie.p2p, false);

    for (int to = 0; to < gpus; to++) {
        for (int from = 0; from < gpus; from++) {
            int type = model_nccl_way(paths, from, to)->type;

            if (type > level) {
                paths->by_host = paths->by_host || type <= possible;
                model_nccl_bend(paths, from, model_nccl_cpu_of(paths, to), to);
            }
        }
    }
}

/* -- all -- */

/* Which ways from GPUs pass an Intel root complex. */
static void mark_taxed(const struct model_nccl_paths *paths)
{
    const struct model_nccl_machine *machine = paths->machine;
    int devices = machine->first[MODEL_NCCL_DEVICE_KINDS];

    if (machine->topology->host.cpu != MODEL_CPU_INTEL) {
        return;
    }
    for (int to = 0; to < devices; to++) {
        for (int gpu = 0;
             paths->to[to] != NULL && gpu < count_of(paths, MODEL_NCCL_GPU);
             gpu++) {
            struct model_nccl_way *way = model_nccl_way(paths, gpu, to);

            way->taxed = way->type == MODEL_NCCL_PATH_PHB;
        }
    }
}

struct model_nccl_paths
model_nccl_paths_make(struct model_arena *arena,
                      const struct model_nccl_machine *machine)
{
    size_t devices = (size_t)machine->first[MODEL_NCCL_DEVICE_KINDS];
    struct wave wave = {.now = model_arena_array(arena, devices, sizeof(int)),
                        .next = model_arena_array(arena, devices, sizeof(int))};
    struct model_nccl_paths paths = {
        .machine = machine,
        .to =
            model_arena_array(arena, devices, sizeof(struct model_nccl_way *)),
        .net_gpu = model_arena_array(arena, devices, sizeof(int))};

    for (int base = 0; base < (int)devices; base++) {
        int kind = machine->devices[base].kind;

        if (kind != MODEL_NCCL_PCI && kind != MODEL_NCCL_NIC) {
            paths.to[base] =
                model_arena_array(arena, devices, sizeof(**paths.to));
            find_ways(&paths, base, &wave);
        }
    }
    bend_gpus(&paths);
    model_nccl_bend_nets(arena, &paths);
    mark_taxed(&paths);
    return paths;
}

int model_nccl_farthest(const struct model_nccl_paths *paths,
                        enum model_nccl_device_kind kind)
{
    int type = MODEL_NCCL_PATH_LOC;

    for (int gpu = 0; gpu < count_of(paths, MODEL_NCCL_GPU); gpu++) {
        for (int i = 0; i < count_of(paths, kind); i++) {
            if (kind != MODEL_NCCL_GPU || i != gpu) {
                type = larger(
                    type, model_nccl_way_of(paths, MODEL_NCCL_GPU, gpu, kind, i)
                              ->type);
            }
        }
    }
    return type;
}

int model_nccl_nearest(const struct model_nccl_paths *paths,
                       enum model_nccl_device_kind kind)
{
    int type = MODEL_NCCL_PATH_SYS;

    for (int gpu = 0; gpu < count_of(paths, MODEL_NCCL_GPU); gpu++) {
        for (int i = 0; i < count_of(paths, kind); i++) {
            if (kind != MODEL_NCCL_GPU || i != gpu) {
                type = smaller(
                    type, model_nccl_way_of(paths, MODEL_NCCL_GPU, gpu, kind, i)
                              ->type);
            }
        }
    }
    return type;
}
