/*
 * draw.c - a table of paths as nvidia-smi has one, rings, and the network.
 */
#include "sim/draw.h"

#include "model/leaf.h"
#include "model/ring.h"
#include "model/wiring.h"

#include <stdio.h>

enum { TABLE_GPUS_MAX = 16, RINGS_MAX = 16 };

/* -- paths -- */

static void draw_head(const struct model_topology *topology, FILE *out)
{
    (void)fputs("#       ", out);
    for (int gpu = 0; gpu < topology->gpus_per_node; gpu++) {
        (void)fprintf(out, "%*s%d", gpu < 10 ? 5 : 4, "gpu", gpu);
    }
    for (int nic = 0; nic < topology->nics.count; nic++) {
        (void)fprintf(out, "%*s%d", nic < 10 ? 5 : 4, "nic", nic);
    }
    (void)fputc('\n', out);
}

static void
draw_gpus(const struct model_topology *topology, int from, FILE *out)
{
    for (int to = 0; to < topology->gpus_per_node; to++) {
        int links = from != to ? model_wiring_nvlinks(topology, from, to) : 0;

        if (from == to) {
            (void)fputs("     -", out);
        } else if (links > 0 && topology->nvlink.kind == MODEL_NVLINK_LINKS) {
            (void)fprintf(out, "%*s%d", links < 10 ? 5 : 4, "nv", links);
        } else {
            (void)fprintf(
                out, "%6s",
                model_path_names[model_wiring_gpu_path(topology, from, to)]);
        }
    }
}

static void draw_nics(const struct model_topology *topology, int gpu, FILE *out)
{
    struct model_nic_range own = {0, 0};

    if (topology->nics.count > 0) {
        own = model_wiring_nics_of(topology, gpu);
    }
    for (int nic = 0; nic < topology->nics.count; nic++) {
        enum model_path path = model_wiring_sender(topology, gpu, nic) != gpu
                                   ? MODEL_PATH_PXN
                                   : model_wiring_nic_path(topology, gpu, nic);
        bool is_own = nic >= own.first && nic < own.first + own.count;

        (void)fprintf(out, "%5s%s", model_path_names[path], is_own ? "*" : " ");
    }
}

static void draw_table(const struct model_topology *topology, FILE *out)
{
    draw_head(topology, out);
    for (int gpu = 0; gpu < topology->gpus_per_node; gpu++) {
        (void)fprintf(out, "# gpu%-4d", gpu);
        draw_gpus(topology, gpu, out);
        draw_nics(topology, gpu, out);
        (void)fprintf(out, "  socket %d",
                      model_wiring_gpu_socket(topology, gpu));
        if (model_wiring_has_switch(topology, gpu)) {
            (void)fprintf(out, ", switch %d",
                          model_wiring_gpu_switch(topology, gpu));
        }
        (void)fputc('\n', out);
    }
}

/* -- rings -- */

/* The GPUs of the first node in the order of a variant. */
static void draw_ring(const struct model_ring *ring, int variant, FILE *out)
{
    const int *walk = ring->orders[0].walks +
                      (size_t)variant * (size_t)ring->orders[0].length;

    (void)fputs("# ring  ", out);
    if (ring->nic_count > 0) {
        (void)fprintf(out, "nic%d > ", model_ring_nic(ring, variant));
    }
    for (int i = 0; i < ring->orders[0].length; i++) {
        (void)fprintf(out, "%s%d", i > 0 ? " " : "", walk[i]);
    }
    if (ring->nic_count > 0) {
        (void)fprintf(out, " > nic%d", model_ring_nic(ring, variant));
    }
    (void)fputc('\n', out);
}

static void draw_rings(struct model_arena *arena,
                       const struct model_topology *topology,
                       FILE *out)
{
    struct model_group world = {.name = "world",
                                .count = model_topology_rank_count(topology)};
    struct model_ring ring = model_ring_make(arena, topology, &world);

    for (int i = 0; i < ring.variants / 2 && i < RINGS_MAX; i++) {
        draw_ring(&ring, i, out);
    }
}

/* -- network -- */

static void draw_network(const struct model_topology *topology, FILE *out)
{
    const struct model_network *network = &topology->network;
    int leaves = model_leaf_count(topology);
    int nodes = model_leaf_nodes(topology);

    if (leaves == 0) {
        return;
    }
    (void)fprintf(
        out,
        "# network  %s: %d lea%s of %s of %d node%s, %.4g GB/s up to "
        "the spine, %.4g to 1\n",
        model_network_names[network->kind], leaves, leaves == 1 ? "f" : "ves",
        network->kind == MODEL_NETWORK_RAILS ? "one NIC each" : "all NICs",
        nodes, nodes == 1 ? "" : "s",
        model_leaf_bytes_per_us(topology, 0) / 1000.0,
        network->oversubscription_ratio);
}

void sim_draw_topology(struct model_arena *arena,
                       const struct model_topology *topology,
                       FILE *out)
{
    if (topology->gpus_per_node <= TABLE_GPUS_MAX) {
        draw_table(topology, out);
        draw_rings(arena, topology, out);
    }
    draw_network(topology, out);
}
