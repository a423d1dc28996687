/*
 * nics.c - whose NIC is whose, and what GPUDirect and PXN change.
 */
#include "model/nccl/paths_parts.h"

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
    int turns;

    if (nets == 0) {
        return 0;
    }
    gpus = model_nccl_locals(paths, nets_first + found[0], MODEL_NCCL_GPU,
                             found, NULL);
    if ((nets & (nets - 1)) == 0) {
        net = mirrored(net, nets);
    }
    /* At least one GPU is near the NET, so that this is no 0. */
    turns = larger((nets + gpus - 1) / larger(gpus, 1), 1);
    net += channel % turns;
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
    int level = model_nccl_level(set ? settings->gdr_level
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
        model_nccl_bend(paths, gpu, peer, machine->first[MODEL_NCCL_NET] + net);
    }
}

/* A NIC of its own behind the CPU that the GPU has a link of its own to. */
static void mark_c2c(const struct model_nccl_paths *paths, int *found)
{
    const struct model_nccl_machine *machine = paths->machine;

    for (int gpu = 0; gpu < count_of(paths, MODEL_NCCL_GPU); gpu++) {
        int cpu = model_nccl_cpu_of(paths, gpu);
        int nets = model_nccl_locals(paths, gpu, MODEL_NCCL_NET, found, NULL);

        for (int i = 0; i < nets; i++) {
            int net = machine->first[MODEL_NCCL_NET] + found[i];
            struct model_nccl_way *there = model_nccl_way(paths, gpu, net);
            struct model_nccl_way *back = model_nccl_way(paths, net, gpu);

            if (model_nccl_merged_type(paths,
                                       model_nccl_way(paths, gpu, cpu)->type,
                                       model_nccl_way(paths, net, cpu)->type) ==
                MODEL_NCCL_PATH_P2C) {
                there->type = smaller(MODEL_NCCL_PATH_P2C, there->type);
                back->type = smaller(MODEL_NCCL_PATH_P2C, back->type);
            }
        }
    }
}

static void
bend_all(const struct model_nccl_paths *paths, int *beside, int *found)
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
                int cpu = model_nccl_cpu_of(paths, gpu);

                model_nccl_bend(paths, at, cpu, gpu);
                model_nccl_bend(paths, gpu, cpu, at);
            }
        }
    }
}

void model_nccl_bend_nets(struct model_arena *arena,
                          const struct model_nccl_paths *paths)
{
    size_t devices = (size_t)paths->machine->first[MODEL_NCCL_DEVICE_KINDS];
    int *beside = model_arena_array(arena, devices, sizeof(int));
    int *found = model_arena_array(arena, devices, sizeof(int));

    if (paths->machine->data->c2c) {
        mark_c2c(paths, found);
    }
    bend_all(paths, beside, found);
    for (int net = 0; net < count_of(paths, MODEL_NCCL_NET); net++) {
        paths->net_gpu[net] = net_gpu(paths, net, beside, found);
    }
}
