/*
 * machine.c - devices and links of a node, by NCCL's tables of rates.
 */
#include "model/nccl/machine.h"

#include "model/wiring.h"

#include <math.h>

/* -- tables of rates -- */

int model_nccl_nvlink_rate(const struct model_nccl_graph_data *data,
                           int capability)
{
    const struct model_nccl_nvlink_rate *row = data->nvlink.items;
    double bytes_per_us = 0.0;

    for (int i = 0; i < data->nvlink.count; i++) {
        if (row[i].capability <= capability) {
            bytes_per_us = row[i].bytes_per_us;
        }
    }
    return (int)lround(bytes_per_us);
}

static int pcie_rate(const struct model_nccl_machine *machine)
{
    const struct model_nccl_pcie_rate *row = machine->data->pcie.items;
    double bytes_per_us = 0.0;

    for (int i = 0; i < machine->data->pcie.count; i++) {
        if (row[i].generation <= machine->topology->pcie.generation) {
            bytes_per_us = row[i].bytes_per_us;
        }
    }
    return (int)lround(bytes_per_us);
}

static int socket_rate(const struct model_nccl_machine *machine)
{
    const struct model_nccl_socket_rate *row = machine->data->sockets.items;
    const struct model_host *host = &machine->topology->host;
    double bytes_per_us = 0.0;

    for (int i = 0; i < machine->data->sockets.count; i++) {
        if (row[i].cpu == host->cpu && row[i].model <= host->cpu_model &&
            (row[i].family == 0 || row[i].family == host->cpu_family)) {
            bytes_per_us = row[i].bytes_per_us;
        }
    }
    return (int)lround(bytes_per_us);
}

/* -- links -- */

static int device(const struct model_nccl_machine *machine,
                  enum model_nccl_device_kind kind,
                  int index)
{
    return machine->first[kind] + index;
}

/* NCCL keeps the links of a device by falling rate, equal ones as they come. */
static void insert(const struct model_nccl_machine *machine, int from, int link)
{
    struct model_nccl_device *device_of = &machine->devices[from];
    int at = device_of->link_count++;

    while (at > 0 && machine->links[device_of->links[at - 1]].bytes_per_us <
                         machine->links[link].bytes_per_us) {
        device_of->links[at] = device_of->links[at - 1];
        at--;
    }
    device_of->links[at] = link;
}

static void join(struct model_nccl_machine *machine,
                 int one,
                 int other,
                 int type,
                 int bytes_per_us)
{
    int link = machine->link_count;

    machine->links[link] = (struct model_nccl_link){other, type, bytes_per_us};
    machine->links[link + 1] =
        (struct model_nccl_link){one, type, bytes_per_us};
    machine->link_count += 2;
    insert(machine, one, link);
    insert(machine, other, link + 1);
}

/* The link to what is above in the tree of PCIe is tried last. */
static void put_last(const struct model_nccl_machine *machine, int from, int to)
{
    struct model_nccl_device *at = &machine->devices[from];
    int link = -1;
    int kept = 0;

    for (int i = 0; i < at->link_count; i++) {
        const struct model_nccl_link *each = &machine->links[at->links[i]];

        if (link < 0 && each->to == to && each->type == MODEL_NCCL_PATH_PIX) {
            link = at->links[i];
        } else {
            at->links[kept++] = at->links[i];
        }
    }
    if (link >= 0) {
        at->links[kept] = link;
    }
}

/* Where a GPU or NIC hangs: a PCIe switch, or its socket's root complex. */
static int above_gpu(const struct model_nccl_machine *machine, int gpu)
{
    const struct model_topology *topology = machine->topology;

    return model_wiring_has_switch(topology, gpu)
               ? device(machine, MODEL_NCCL_PCI,
                        model_wiring_gpu_switch(topology, gpu))
               : device(machine, MODEL_NCCL_CPU,
                        model_wiring_gpu_socket(topology, gpu));
}

static int above_nic(const struct model_nccl_machine *machine, int nic)
{
    int below = model_wiring_nic_switch(machine->topology, nic);

    return below >= 0 ? device(machine, MODEL_NCCL_PCI, below)
                      : device(machine, MODEL_NCCL_CPU,
                               model_wiring_nic_socket(machine->topology, nic));
}

static void join_pcie(struct model_nccl_machine *machine)
{
    const struct model_topology *topology = machine->topology;
    int rate = pcie_rate(machine);

    for (int i = 0; i < model_nccl_count(machine, MODEL_NCCL_PCI); i++) {
        int gpu = i * topology->pcie.gpus_per_switch;

        join(machine, device(machine, MODEL_NCCL_PCI, i),
             device(machine, MODEL_NCCL_CPU,
                    model_wiring_gpu_socket(topology, gpu)),
             MODEL_NCCL_PATH_PIX, rate);
    }
    for (int i = 0; i < model_nccl_count(machine, MODEL_NCCL_GPU); i++) {
        join(machine, i, above_gpu(machine, machine->gpus[i]),
             MODEL_NCCL_PATH_PIX, rate);
    }
    for (int i = 0; i < model_nccl_count(machine, MODEL_NCCL_NIC); i++) {
        join(machine, device(machine, MODEL_NCCL_NIC, i), above_nic(machine, i),
             MODEL_NCCL_PATH_PIX, rate);
    }
    for (int i = 0; i < model_nccl_count(machine, MODEL_NCCL_NET); i++) {
        join(machine, device(machine, MODEL_NCCL_NIC, i),
             device(machine, MODEL_NCCL_NET, i), MODEL_NCCL_PATH_LOC,
             (int)lround(topology->nics.bytes_per_us));
    }
}

/*
 * NVLinks of a GPU. Where a topology does not say how many, as many as its rate
 * makes at NCCL's rate of one.
 */
static int links_of_gpu(const struct model_nccl_machine *machine, int at)
{
    const struct model_nvlink *nvlink = &machine->topology->nvlink;
    int rate = model_nccl_nvlink_rate(machine->data, machine->capabilities[at]);

    return nvlink->count > 0
               ? nvlink->count
               : (int)fmax(1.0, round(nvlink->bytes_per_us / (double)rate));
}

/* NVLinks between two GPUs, as NCCL counts them. */
static int
links_between(const struct model_nccl_machine *machine, int one, int other)
{
    const struct model_topology *topology = machine->topology;
    int links = model_wiring_nvlinks(topology, machine->gpus[one],
                                     machine->gpus[other]);
    int peers = topology->gpus_per_node - 1;

    switch ((enum model_nvlink_kind)topology->nvlink.kind) {
    case MODEL_NVLINK_PAIRS:
        return links > 0 ? links_of_gpu(machine, one) : 0;
    case MODEL_NVLINK_MESH:
        links = links_of_gpu(machine, one) / peers;
        return links > 0 ? links : 1;
    case MODEL_NVLINK_LINKS:
        return links;
    case MODEL_NVLINK_NONE:
    case MODEL_NVLINK_SWITCH:
    case MODEL_NVLINK_KINDS:
        break;
    }
    return 0;
}

static void join_nvlink(struct model_nccl_machine *machine)
{
    int gpus = model_nccl_count(machine, MODEL_NCCL_GPU);

    for (int i = 0; i < gpus; i++) {
        int rate =
            model_nccl_nvlink_rate(machine->data, machine->capabilities[i]);

        if (model_nccl_count(machine, MODEL_NCCL_NVS) > 0) {
            join(machine, i, device(machine, MODEL_NCCL_NVS, 0),
                 MODEL_NCCL_PATH_NVL, links_of_gpu(machine, i) * rate);
        }
        for (int other = i + 1; other < gpus; other++) {
            int links = links_between(machine, i, other);

            if (links > 0) {
                join(machine, i, other, MODEL_NCCL_PATH_NVL, links * rate);
            }
        }
    }
}

static void join_hosts(struct model_nccl_machine *machine)
{
    const struct model_topology *topology = machine->topology;
    int sockets = model_nccl_count(machine, MODEL_NCCL_CPU);
    int rate = socket_rate(machine);

    if (machine->data->c2c && topology->host.c2c_bytes_per_us > 0.0) {
        for (int i = 0; i < model_nccl_count(machine, MODEL_NCCL_GPU); i++) {
            int cpu = model_wiring_gpu_socket(topology, machine->gpus[i]);

            join(machine, i, device(machine, MODEL_NCCL_CPU, cpu),
                 MODEL_NCCL_PATH_C2C,
                 (int)lround(topology->host.c2c_bytes_per_us));
        }
    }
    for (int i = 0; i < sockets; i++) {
        for (int other = i + 1; other < sockets; other++) {
            join(machine, device(machine, MODEL_NCCL_CPU, i),
                 device(machine, MODEL_NCCL_CPU, other), MODEL_NCCL_PATH_SYS,
                 rate);
        }
    }
}

static void sort_links(struct model_nccl_machine *machine)
{
    const struct model_topology *topology = machine->topology;

    for (int i = 0; i < model_nccl_count(machine, MODEL_NCCL_PCI); i++) {
        int gpu = i * topology->pcie.gpus_per_switch;

        put_last(machine, device(machine, MODEL_NCCL_PCI, i),
                 device(machine, MODEL_NCCL_CPU,
                        model_wiring_gpu_socket(topology, gpu)));
    }
    for (int i = 0; i < model_nccl_count(machine, MODEL_NCCL_GPU); i++) {
        put_last(machine, i, above_gpu(machine, machine->gpus[i]));
    }
    for (int i = 0; i < model_nccl_count(machine, MODEL_NCCL_NIC); i++) {
        put_last(machine, device(machine, MODEL_NCCL_NIC, i),
                 above_nic(machine, i));
    }
}

/* -- devices -- */

static void
count_devices(struct model_nccl_machine *machine, int gpu_count, bool with_nics)
{
    const struct model_topology *topology = machine->topology;
    int counts[MODEL_NCCL_DEVICE_KINDS] = {
        [MODEL_NCCL_GPU] = gpu_count,
        [MODEL_NCCL_NVS] = topology->nvlink.kind == MODEL_NVLINK_SWITCH ? 1 : 0,
        [MODEL_NCCL_CPU] = topology->host.sockets,
        [MODEL_NCCL_PCI] =
            topology->gpus_per_node / topology->pcie.gpus_per_switch,
        [MODEL_NCCL_NIC] = topology->nics.count,
        [MODEL_NCCL_NET] = with_nics ? topology->nics.count : 0};

    for (int kind = 0; kind < MODEL_NCCL_DEVICE_KINDS; kind++) {
        machine->first[kind + 1] = machine->first[kind] + counts[kind];
    }
}

/* Room for all links: of a GPU to all others, the rest is a tree. */
static void make_room(struct model_arena *arena,
                      struct model_nccl_machine *machine)
{
    size_t devices = (size_t)machine->first[MODEL_NCCL_DEVICE_KINDS];
    size_t gpus = (size_t)model_nccl_count(machine, MODEL_NCCL_GPU);
    size_t sockets = (size_t)model_nccl_count(machine, MODEL_NCCL_CPU);
    bool among_gpus = machine->topology->nvlink.kind != MODEL_NVLINK_SWITCH &&
                      machine->topology->nvlink.kind != MODEL_NVLINK_NONE;
    size_t most = 2 * devices + 2 * gpus + sockets * sockets;

    if (among_gpus) {
        most += gpus * gpus;
    }
    machine->devices =
        model_arena_array(arena, devices, sizeof(*machine->devices));
    machine->links =
        model_arena_array(arena, 2 * most, sizeof(*machine->links));
    for (int kind = 0; kind < MODEL_NCCL_DEVICE_KINDS; kind++) {
        size_t room = kind == MODEL_NCCL_GPU   ? (among_gpus ? gpus : 1) + 2
                      : kind == MODEL_NCCL_NIC ? 2
                      : kind == MODEL_NCCL_NET ? 1
                                               : devices + sockets + gpus;

        for (int i = machine->first[kind]; i < machine->first[kind + 1]; i++) {
            machine->devices[i] = (struct model_nccl_device){
                .kind = kind,
                .links = model_arena_array(arena, room, sizeof(int))};
        }
    }
}

struct model_nccl_machine
model_nccl_machine_make(struct model_arena *arena,
                        const struct model_topology *topology,
                        const struct model_nccl_graph_data *data,
                        const struct model_nccl_settings *settings,
                        const int *gpus,
                        const int *capabilities,
                        int gpu_count,
                        bool with_nics)
{
    struct model_nccl_machine machine = {.topology = topology,
                                         .data = data,
                                         .settings = settings,
                                         .gpus = gpus,
                                         .capabilities = capabilities,
                                         .least_capability = capabilities[0]};

    for (int i = 1; i < gpu_count; i++) {
        if (capabilities[i] < machine.least_capability) {
            machine.least_capability = capabilities[i];
        }
    }
    count_devices(&machine, gpu_count, with_nics);
    make_room(arena, &machine);
    join_pcie(&machine);
    join_nvlink(&machine);
    join_hosts(&machine);
    sort_links(&machine);
    return machine;
}
