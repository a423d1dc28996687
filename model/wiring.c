/*
 * wiring.c - paths and neighbours by arithmetic on numbers of devices.
 */
#include "model/wiring.h"

static int switch_count(const struct model_topology *topology)
{
    return topology->gpus_per_node / topology->pcie.gpus_per_switch;
}

static bool nics_below_switches(const struct model_topology *topology)
{
    switch ((enum model_nics_at)topology->nics.at) {
    case MODEL_NICS_SWITCH:
        return true;
    case MODEL_NICS_AUTO:
        return topology->nics.count >= switch_count(topology);
    case MODEL_NICS_ROOT:
    case MODEL_NICS_ATS:
        break;
    }
    return false;
}

/*
 * Of nics spread evenly over so many places, those at one of them: NIC n is at
 * place n * places / nics, rounded down.
 */
static struct model_nic_range nics_at(int nics, int places, int place)
{
    int first = (place * nics + places - 1) / places;
    int end = ((place + 1) * nics + places - 1) / places;

    return (struct model_nic_range){first, end - first};
}

bool model_wiring_has_switch(const struct model_topology *topology, int gpu)
{
    return topology->pcie.gpus_per_switch > 1 ||
           (topology->nics.count > 0 && nics_below_switches(topology) &&
            nics_at(topology->nics.count, switch_count(topology), gpu).count >
                0);
}

int model_wiring_gpu_switch(const struct model_topology *topology, int gpu)
{
    return gpu / topology->pcie.gpus_per_switch;
}

int model_wiring_gpu_socket(const struct model_topology *topology, int gpu)
{
    return gpu / (topology->gpus_per_node / topology->host.sockets);
}

int model_wiring_nic_switch(const struct model_topology *topology, int nic)
{
    return nics_below_switches(topology)
               ? nic * switch_count(topology) / topology->nics.count
               : -1;
}

int model_wiring_nic_socket(const struct model_topology *topology, int nic)
{
    return nic * topology->host.sockets / topology->nics.count;
}

int model_wiring_nvlinks(const struct model_topology *topology,
                         int from,
                         int to)
{
    switch ((enum model_nvlink_kind)topology->nvlink.kind) {
    case MODEL_NVLINK_PAIRS:
        return from / 2 == to / 2 ? 1 : 0;
    case MODEL_NVLINK_MESH:
    case MODEL_NVLINK_SWITCH:
        return 1;
    case MODEL_NVLINK_LINKS:
        return topology->nvlink.links[from * topology->gpus_per_node + to];
    case MODEL_NVLINK_NONE:
    case MODEL_NVLINK_KINDS:
        break;
    }
    return 0;
}

int model_wiring_bridge(const struct model_topology *topology, int from, int to)
{
    int gpus = topology->gpus_per_node;
    int best = -1;
    int most = 0;

    /* The other kinds join all that they join directly. */
    if (topology->nvlink.kind != MODEL_NVLINK_LINKS ||
        topology->pcie.p2p < (int)MODEL_PATH_NVB) {
        return -1;
    }
    for (int via = 0; via < gpus; via++) {
        int first = topology->nvlink.links[from * gpus + via];
        int second = topology->nvlink.links[via * gpus + to];
        int links = first < second ? first : second;

        if (links > most) {
            most = links;
            best = via;
        }
    }
    return best;
}

enum model_path
model_wiring_gpu_path(const struct model_topology *topology, int from, int to)
{
    if (model_wiring_nvlinks(topology, from, to) > 0) {
        return MODEL_PATH_NVL;
    }
    if (model_wiring_bridge(topology, from, to) >= 0) {
        return MODEL_PATH_NVB;
    }
    if (model_wiring_gpu_switch(topology, from) ==
        model_wiring_gpu_switch(topology, to)) {
        return MODEL_PATH_PIX;
    }
    return model_wiring_gpu_socket(topology, from) ==
                   model_wiring_gpu_socket(topology, to)
               ? MODEL_PATH_PHB
               : MODEL_PATH_SYS;
}

enum model_path
model_wiring_nic_path(const struct model_topology *topology, int gpu, int nic)
{
    if (model_wiring_nic_switch(topology, nic) ==
        model_wiring_gpu_switch(topology, gpu)) {
        return MODEL_PATH_PIX;
    }
    return model_wiring_nic_socket(topology, nic) ==
                   model_wiring_gpu_socket(topology, gpu)
               ? MODEL_PATH_PHB
               : MODEL_PATH_SYS;
}

/* The share of GPU number `at` of gpus in a range of NICs. */
static struct model_nic_range
share_of(struct model_nic_range nics, int at, int gpus)
{
    int first = at * nics.count / gpus;
    int end = (at + 1) * nics.count / gpus;

    return (struct model_nic_range){nics.first + first,
                                    end > first ? end - first : 1};
}

/* GPUs that are equally near to some NICs, and those NICs. */
struct near {
    int first_gpu;
    int gpus;
    struct model_nic_range nics;
};

/* The GPUs of a switch or a socket, with its NICs. */
static struct near
near_place(const struct model_topology *topology, int places, int place)
{
    int gpus = topology->gpus_per_node / places;

    return (struct near){place * gpus, gpus,
                         nics_at(topology->nics.count, places, place)};
}

struct model_nic_range
model_wiring_nics_of(const struct model_topology *topology, int gpu)
{
    struct near at;

    if (nics_below_switches(topology)) {
        at = near_place(topology, switch_count(topology),
                        model_wiring_gpu_switch(topology, gpu));
        if (at.nics.count > 0) {
            return share_of(at.nics, gpu - at.first_gpu, at.gpus);
        }
    }
    at = near_place(topology, topology->host.sockets,
                    model_wiring_gpu_socket(topology, gpu));
    if (at.nics.count > 0) {
        return share_of(at.nics, gpu - at.first_gpu, at.gpus);
    }
    return share_of((struct model_nic_range){0, topology->nics.count}, gpu,
                    topology->gpus_per_node);
}

int model_wiring_gpu_beside(const struct model_topology *topology, int nic)
{
    int below = model_wiring_nic_switch(topology, nic);
    struct near near = below >= 0
                           ? near_place(topology, switch_count(topology), below)
                           : near_place(topology, topology->host.sockets,
                                        model_wiring_nic_socket(topology, nic));
    int at = 0;

    /* Shares ascend and leave no NIC out. */
    while (at < near.gpus - 1) {
        struct model_nic_range own = share_of(near.nics, at, near.gpus);

        if (nic < own.first + own.count) {
            break;
        }
        at++;
    }
    return near.first_gpu + at;
}

bool model_wiring_gpudirect(const struct model_topology *topology,
                            int gpu,
                            int nic)
{
    return topology->nics.gpudirect &&
           (int)model_wiring_nic_path(topology, gpu, nic) <=
               topology->nics.gpudirect_level;
}

int model_wiring_sender(const struct model_topology *topology, int gpu, int nic)
{
    int beside;

    /* Nobody is near enough to a NIC on a root port. */
    if (!topology->nics.pxn || model_wiring_nic_switch(topology, nic) < 0 ||
        model_wiring_nic_path(topology, gpu, nic) < MODEL_PATH_PXN) {
        return gpu;
    }
    beside = model_wiring_gpu_beside(topology, nic);
    return model_wiring_gpudirect(topology, beside, nic) &&
                   model_wiring_nvlinks(topology, gpu, beside) > 0
               ? beside
               : gpu;
}
