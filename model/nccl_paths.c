/*
 * nccl_paths.c - a breadth-first search from each device, then what P2P,
 * GPUDirect and PXN change.
 */
#include "model/nccl_paths.h"

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
static int merged_type(const struct model_nccl_paths *paths, int one, int other)
{
    int near = smaller(one, other);
    int far = larger(one, other);

    return paths->machine->data->c2c && near == MODEL_NCCL_PATH_C2C &&
                   far == MODEL_NCCL_PATH_PHB
               ? MODEL_NCCL_PATH_P2C
               : far;
}

static void
bend(const struct model_nccl_paths *paths, int from, int via, int to)
{
    const struct model_nccl_way *first = model_nccl_way(paths, from, via);
    const struct model_nccl_way *second = model_nccl_way(paths, via, to);
    struct model_nccl_way *way = model_nccl_way(paths, from, to);
    struct model_nccl_way bent = {
        .type = kind_of(paths, via) == MODEL_NCCL_GPU
                    ? (int)MODEL_NCCL_PATH_PXN
                    : merged_type(paths, first->type, second->type),
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

static int cpu_of_gpu(const struct model_nccl_paths *paths, int gpu)
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
static int level_of(int path, bool local)
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
        return level_of(settings->p2p_level, settings->p2p_level_local);
    }
    for (int i = 0; i < machine->data->p2p.count; i++) {
        if (row[i].cpu == machine->topology->host.cpu &&
            (row[i].most_gpus == 0 || gpus <= row[i].most_gpus)) {
            level = row[i].level;
        }
    }
    return level_of(smaller(level, machine->topology->pcie.p2p), false);
}

static void bend_gpus(const struct model_nccl_paths *paths)
{
    int gpus = count_of(paths, MODEL_NCCL_GPU);
    int level = p2p_level(paths->machine);

    for (int to = 0; to < gpus; to++) {
        for (int from = 0; from < gpus; from++) {
            if (model_nccl_way(paths, from, to)->type > level) {
                bend(paths, from, cpu_of_gpu(paths, to), to);
            }
        }
    }
}

/* -- NICs -- */

int model_nccl_locals(const struct model_nccl_paths *paths,
                      int from,
                      enum model_nccl_device_kind kind,
                      int *found,
                      int *type)
{
    int nearest = MODEL_NCCL_PATH_DIS;
    int fastest = 0;
    int count = 0;

    for (int i = 0; i < count_of(paths, kind); i++) {
        const struct model_nccl_way *way =
            model_nccl_way(paths, from, paths->machine->first[kind] + i);

        if (way->bytes_per_us > fastest ||
            (way->bytes_per_us == fastest && way->type < nearest)) {
            fastest = way->bytes_per_us;
            nearest = way->type;
            count = 0;
        }
        if (way->bytes_per_us == fastest && way->type == nearest) {
            found[count++] = i;
        }
    }
    if (type != NULL) {
        *type = nearest;
    }
    return count;
}

/* The bits of a number below a power of two, the other way round. */
static int mirrored(int value, int power)
{
    int result = 0;

    for (int bit = 1, other = power >> 1; bit < power; bit <<= 1, other >>= 1) {
        result |= (value & bit) != 0 ? other : 0;
    }
    return result;
}

int model_nccl_local_net(const struct model_nccl_paths *paths,
                         int gpu,
                         int channel,
                         int *found)
{
    int nets_first = paths->machine->first[MODEL_NCCL_NET];
    int nets = model_nccl_locals(paths, gpu, MODEL_NCCL_NET, found, NULL);
    int net = paths->machine->gpus[gpu];
    int gpus;

    if (nets == 0) {
        return 0;
    }
    gpus = model_nccl_locals(paths, nets_first + found[0], MODEL_NCCL_GPU,
                             found, NULL);
    if ((nets & (nets - 1)) == 0) {
        net = mirrored(net, nets);
    }
    net += channel % ((nets + gpus - 1) / larger(gpus, 1));
    (void)model_nccl_locals(paths, gpu, MODEL_NCCL_NET, found, NULL);
    return found[net % nets];
}

/* The first GPU beside a NET that takes it, by the first channel that does. */
static int
net_gpu(const struct model_nccl_paths *paths, int net, int *beside, int *found)
{
    int gpus =
        model_nccl_locals(paths, paths->machine->first[MODEL_NCCL_NET] + net,
                          MODEL_NCCL_GPU, beside, NULL);
    int nets = count_of(paths, MODEL_NCCL_NET);

    /* GPUs take turns among no more than all NETs. */
    for (int channel = 0;
         channel < smaller(nets, paths->machine->data->max_channels);
         channel++) {
        for (int i = 0; i < gpus; i++) {
            if (model_nccl_local_net(paths, beside[i], channel, found) == net) {
                return beside[i];
            }
        }
    }
    return -1;
}

static int gdr_level(const struct model_nccl_machine *machine)
{
    const struct model_nccl_settings *settings = machine->settings;
    bool set = settings->gdr_level != MODEL_UNSET || settings->gdr_level_local;
    int level = level_of(set ? settings->gdr_level
                             : machine->topology->nics.gpudirect_level,
                         set && settings->gdr_level_local);

    return !set && machine->data->c2c && level == MODEL_NCCL_PATH_PXB
               ? (int)MODEL_NCCL_PATH_P2C
               : level;
}

/* Does GPUDirect reach from the GPU (by PXN: the one beside the NIC)? */
static bool direct(const struct model_nccl_paths *paths, int gpu, int net)
{
    const struct model_nccl_way *way =
        model_nccl_way_of(paths, MODEL_NCCL_GPU, gpu, MODEL_NCCL_NET, net);

    if (!paths->machine->topology->nics.gpudirect) {
        return false;
    }
    for (int i = 0; way->type == MODEL_NCCL_PATH_PXN && i < way->count; i++) {
        int device = paths->machine->links[way->links[i]].to;

        if (kind_of(paths, device) == MODEL_NCCL_GPU) {
            way = model_nccl_way_of(paths, MODEL_NCCL_GPU, device,
                                    MODEL_NCCL_NET, net);
            break;
        }
    }
    return way->type <= gdr_level(paths->machine);
}

/* Send by way of the GPU whose own the NIC is, where that is better. */
static void
try_pxn(const struct model_nccl_paths *paths, int gpu, int net, int peer)
{
    const struct model_nccl_machine *machine = paths->machine;
    int nearest = machine->data->c2c ? (int)MODEL_NCCL_PATH_P2C
                                     : (int)MODEL_NCCL_PATH_PXB;
    const struct model_nccl_way *own =
        model_nccl_way_of(paths, MODEL_NCCL_GPU, gpu, MODEL_NCCL_NET, net);
    const struct model_nccl_way *its;

    if (peer < 0 || peer == gpu) {
        return;
    }
    its = model_nccl_way_of(paths, MODEL_NCCL_GPU, peer, MODEL_NCCL_NET, net);
    if (its->type <= nearest &&
        (!machine->data->pxn_needs_gpudirect || direct(paths, peer, net)) &&
        model_nccl_way(paths, peer, gpu)->type <= MODEL_NCCL_PATH_NVL &&
        (its->bytes_per_us > own->bytes_per_us ||
         own->type > MODEL_NCCL_PATH_PXN)) {
        bend(paths, gpu, peer, machine->first[MODEL_NCCL_NET] + net);
    }
}

/* A NIC of its own behind the CPU that the GPU has a link of its own to. */
static void mark_c2c(const struct model_nccl_paths *paths, int *found)
{
    const struct model_nccl_machine *machine = paths->machine;

    for (int gpu = 0; gpu < count_of(paths, MODEL_NCCL_GPU); gpu++) {
        int cpu = cpu_of_gpu(paths, gpu);
        int nets = model_nccl_locals(paths, gpu, MODEL_NCCL_NET, found, NULL);

        for (int i = 0; i < nets; i++) {
            int net = machine->first[MODEL_NCCL_NET] + found[i];
            struct model_nccl_way *there = model_nccl_way(paths, gpu, net);
            struct model_nccl_way *back = model_nccl_way(paths, net, gpu);

            if (merged_type(paths, model_nccl_way(paths, gpu, cpu)->type,
                            model_nccl_way(paths, net, cpu)->type) ==
                MODEL_NCCL_PATH_P2C) {
                there->type = smaller(MODEL_NCCL_PATH_P2C, there->type);
                back->type = smaller(MODEL_NCCL_PATH_P2C, back->type);
            }
        }
    }
}

static void
bend_nets(const struct model_nccl_paths *paths, int *beside, int *found)
{
    const struct model_nccl_machine *machine = paths->machine;
    bool pxn =
        machine->topology->nics.pxn && machine->settings->pxn_disable != 1;

    for (int net = 0; net < count_of(paths, MODEL_NCCL_NET); net++) {
        int at = machine->first[MODEL_NCCL_NET] + net;

        for (int gpu = 0; gpu < count_of(paths, MODEL_NCCL_GPU); gpu++) {
            if (pxn) {
                try_pxn(paths, gpu, net, net_gpu(paths, net, beside, found));
            }
            if (!direct(paths, gpu, net)) {
                int cpu = cpu_of_gpu(paths, gpu);

                bend(paths, at, cpu, gpu);
                bend(paths, gpu, cpu, at);
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
    int *beside = model_arena_array(arena, devices, sizeof(int));
    int *found = model_arena_array(arena, devices, sizeof(int));
    struct model_nccl_paths paths = {
        .machine = machine,
        .to = model_arena_array(arena, devices, sizeof(*paths.to)),
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
    if (machine->data->c2c) {
        mark_c2c(&paths, found);
    }
    bend_nets(&paths, beside, found);
    for (int net = 0; net < count_of(&paths, MODEL_NCCL_NET); net++) {
        paths.net_gpu[net] = net_gpu(&paths, net, beside, found);
    }
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
