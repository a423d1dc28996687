/*
 * xml_write.c - sockets, switches, GPUs and NICs as wiring.h places them.
 */
#include "model/nccl/xml_write.h"

#include "model/wiring.h"

#include <math.h>
#include <string.h>

struct writer {
    struct model_arena *arena;
    const struct model_topology *topology;
};

/* -- made-up bus ids: PCI domains of each kind of device, buses from 1 -- */

enum domain { GPU_DOMAIN, SWITCH_DOMAIN, NIC_DOMAIN };

static const char *bus_id(struct writer *writer, enum domain domain, int index)
{
    return model_arena_format(writer->arena, "%04x:%02x:00.0",
                              (unsigned)(index / 255 * 4 + (int)domain),
                              (unsigned)(index % 255 + 1));
}

/* -- devices -- */

/* As Linux writes the speed of a lane, by generation. */
static const char *lane_speed(int generation)
{
    static const char *const speeds[] = {"8.0 GT/s PCIe", "16.0 GT/s PCIe",
                                         "32.0 GT/s PCIe", "64.0 GT/s PCIe"};

    return speeds[generation < 3 ? 0 : generation > 6 ? 3 : generation - 3];
}

static struct model_xml_element *add_pci(struct writer *writer,
                                         struct model_xml_element *parent,
                                         const char *id,
                                         const char *class)
{
    struct model_xml_element *pci = model_xml_new(writer->arena, parent, "pci");

    model_xml_put(writer->arena, pci, "busid", "%s", id);
    model_xml_put(writer->arena, pci, "class", "%s", class);
    return pci;
}

static void put_link(struct writer *writer, struct model_xml_element *pci)
{
    model_xml_put(writer->arena, pci, "link_speed", "%s",
                  lane_speed(writer->topology->pcie.generation));
    model_xml_put(writer->arena, pci, "link_width", "16");
}

/* "10de:20b0" of the GPU's file, the first if there are several. */
static void put_pci_id(struct writer *writer, struct model_xml_element *pci)
{
    const struct model_list *ids = &writer->topology->gpu.device_ids;
    const char *const *items = ids->items;

    if (ids->count > 0 && strlen(items[0]) == 9 && items[0][4] == ':') {
        model_xml_put(writer->arena, pci, "vendor", "0x%.4s", items[0]);
        model_xml_put(writer->arena, pci, "device", "0x%s", items[0] + 5);
    }
}

static void add_nvlink(struct writer *writer,
                       struct model_xml_element *gpu,
                       const char *target,
                       int count,
                       const char *class)
{
    struct model_xml_element *link =
        model_xml_new(writer->arena, gpu, "nvlink");

    model_xml_put(writer->arena, link, "target", "%s", target);
    model_xml_put(writer->arena, link, "count", "%d", count > 0 ? count : 1);
    model_xml_put(writer->arena, link, "tclass", "%s", class);
}

/*
 * Links between two GPUs. A mesh spreads a GPU's links over its peers; where
 * they do not divide evenly, NCCL is told the whole ones.
 */
static int
links_between(const struct model_topology *topology, int from, int to)
{
    int joined = model_wiring_nvlinks(topology, from, to);
    int peers = topology->gpus_per_node - 1;

    if (from == to || joined == 0) {
        return 0;
    }
    switch ((enum model_nvlink_kind)topology->nvlink.kind) {
    case MODEL_NVLINK_PAIRS:
        return topology->nvlink.count > 0 ? topology->nvlink.count : 1;
    case MODEL_NVLINK_MESH:
        return topology->nvlink.count > peers && peers > 0
                   ? topology->nvlink.count / peers
                   : 1;
    case MODEL_NVLINK_LINKS:
        return joined;
    case MODEL_NVLINK_NONE:
    case MODEL_NVLINK_SWITCH:
    case MODEL_NVLINK_KINDS:
        break;
    }
    return 0;
}

static void
add_gpu(struct writer *writer, struct model_xml_element *parent, int index)
{
    const struct model_topology *topology = writer->topology;
    struct model_xml_element *pci =
        add_pci(writer, parent, bus_id(writer, GPU_DOMAIN, index), "0x030200");
    struct model_xml_element *gpu;

    put_pci_id(writer, pci);
    put_link(writer, pci);
    gpu = model_xml_new(writer->arena, pci, "gpu");
    model_xml_put(writer->arena, gpu, "dev", "%d", index);
    model_xml_put(writer->arena, gpu, "sm", "%d",
                  topology->gpu.compute_capability);
    model_xml_put(writer->arena, gpu, "rank", "%d", index);
    model_xml_put(writer->arena, gpu, "gdr", "%d",
                  topology->nics.gpudirect ? 1 : 0);
    if (topology->nvlink.kind == MODEL_NVLINK_SWITCH) {
        /* as NCCL names a switch that it cannot see */
        add_nvlink(writer, gpu, "fffffff:ffff:ff", topology->nvlink.count,
                   "0x068000");
        return;
    }
    for (int to = 0; to < topology->gpus_per_node; to++) {
        int links = links_between(topology, index, to);

        if (links > 0) {
            add_nvlink(writer, gpu, bus_id(writer, GPU_DOMAIN, to), links,
                       "0x030200");
        }
    }
}

static void
add_nic(struct writer *writer, struct model_xml_element *parent, int index)
{
    const struct model_topology *topology = writer->topology;
    struct model_xml_element *pci =
        add_pci(writer, parent, bus_id(writer, NIC_DOMAIN, index), "0x020700");
    struct model_xml_element *net;

    put_link(writer, pci);
    net = model_xml_new(writer->arena, model_xml_new(writer->arena, pci, "nic"),
                        "net");
    model_xml_put(writer->arena, net, "name", "nic%d", index);
    model_xml_put(writer->arena, net, "dev", "%d", index);
    model_xml_put(writer->arena, net, "speed", "%.0f",
                  rint(topology->nics.bytes_per_us * 8.0)); /* Mbit/s */
    model_xml_put(writer->arena, net, "port", "1");
    model_xml_put(writer->arena, net, "latency", "%g",
                  topology->nics.reported_latency_us);
    model_xml_put(writer->arena, net, "guid", "0x%x", (unsigned)index + 1U);
    model_xml_put(writer->arena, net, "maxconn", "131072");
    model_xml_put(writer->arena, net, "gdr", "%d",
                  topology->nics.gpudirect ? 1 : 0);
}

/* -- what hangs where -- */

/* NICs below a switch (of -1: on the root ports of a socket). */
static void add_nics(struct writer *writer,
                     struct model_xml_element *parent,
                     int below,
                     int socket)
{
    for (int nic = 0; nic < writer->topology->nics.count; nic++) {
        if (model_wiring_nic_switch(writer->topology, nic) == below &&
            (below >= 0 ||
             model_wiring_nic_socket(writer->topology, nic) == socket)) {
            add_nic(writer, parent, nic);
        }
    }
}

/* The GPUs from first on that share a switch, or the one on a root port. */
static void
add_place(struct writer *writer, struct model_xml_element *cpu, int first)
{
    const struct model_topology *topology = writer->topology;
    int index = model_wiring_gpu_switch(topology, first);
    struct model_xml_element *parent = cpu;

    if (model_wiring_has_switch(topology, first)) {
        parent = add_pci(writer, cpu, bus_id(writer, SWITCH_DOMAIN, index),
                         "0x060400");
        put_link(writer, parent);
    }
    for (int i = 0; i < topology->pcie.gpus_per_switch; i++) {
        add_gpu(writer, parent, first + i);
    }
    add_nics(writer, parent, index, -1);
}

/* As NCCL computes the family; xml_read.c turns it back. */
static int nccl_family(int family)
{
    return family > 15 ? 15 + ((family - 15) << 4) : family;
}

static void put_cpu(struct writer *writer, struct model_xml_element *cpu)
{
    static const char *const vendors[MODEL_CPUS] = {"AuthenticAMD",
                                                    "GenuineIntel", NULL};
    const struct model_host *host = &writer->topology->host;
    const char *vendor = vendors[host->cpu];

    model_xml_put(writer->arena, cpu, "arch", "%s",
                  vendor != NULL ? "x86_64" : "arm64");
    if (vendor != NULL) {
        model_xml_put(writer->arena, cpu, "vendor", "%s", vendor);
        model_xml_put(writer->arena, cpu, "familyid", "%d",
                      nccl_family(host->cpu_family));
        model_xml_put(writer->arena, cpu, "modelid", "%d", host->cpu_model);
    }
}

struct model_xml_element *
model_nccl_xml_tree(struct model_arena *arena,
                    const struct model_topology *topology)
{
    struct writer writer = {arena, topology};
    struct model_xml_element *system = model_xml_new(arena, NULL, "system");
    int below = topology->pcie.gpus_per_switch;
    int gpus = topology->gpus_per_node / topology->host.sockets;

    model_xml_put(arena, system, "version", "1");
    for (int socket = 0; socket < topology->host.sockets; socket++) {
        struct model_xml_element *cpu = model_xml_new(arena, system, "cpu");

        model_xml_put(arena, cpu, "numaid", "%d", socket);
        put_cpu(&writer, cpu);
        for (int i = 0; i < gpus; i += below) {
            add_place(&writer, cpu, socket * gpus + i);
        }
        add_nics(&writer, cpu, -1, socket);
    }
    return system;
}

int model_nccl_xml_elements(const struct model_xml_element *root)
{
    int count = 1;

    for (const struct model_xml_element *child = root->first; child != NULL;
         child = child->next) {
        count += model_nccl_xml_elements(child);
    }
    return count;
}
