/*
 * xml_fit.c - sockets, switches and places of NICs, by trying all.
 */
#include "model/nccl/xml_fit.h"

#include "model/wiring.h"

#include <stdlib.h>
#include <string.h>

/* One pair of devices on which the file and a regular node do not agree. */
struct differing {
    long count;
    int left, right; /* the first such pair */
    enum model_path listed, regular;
};

/* A node without NVLink, for the rules of wiring.h. */
static struct model_topology regular_node(const struct model_nccl_xml_parts *p,
                                          struct model_nccl_xml_fit fit)
{
    struct model_topology node = {.gpus_per_node = p->gpu_count};

    node.nvlink.kind = MODEL_NVLINK_NONE;
    node.host.sockets = fit.sockets;
    node.pcie.gpus_per_switch = fit.gpus_per_switch;
    node.nics.count = p->nic_count;
    node.nics.at = fit.at;
    return node;
}

/* A topology has one level of switches: several count as one. */
static enum model_path flat(enum model_path path)
{
    return path == MODEL_PATH_PXB ? MODEL_PATH_PIX : path;
}

static void compare(struct differing *differing,
                    int left,
                    int right,
                    enum model_path listed,
                    enum model_path regular)
{
    if (flat(listed) != regular && differing->count++ == 0) {
        differing->left = left;
        differing->right = right;
        differing->listed = listed;
        differing->regular = regular;
    }
}

static enum model_path
gpu_path(const struct model_nccl_xml_parts *parts, int left, int right)
{
    return model_nccl_xml_path(parts->gpus[left].pci, parts->gpus[left].cpu,
                               parts->gpus[right].pci, parts->gpus[right].cpu);
}

static enum model_path
nic_path(const struct model_nccl_xml_parts *parts, int gpu, int nic)
{
    return model_nccl_xml_path(parts->gpus[gpu].pci, parts->gpus[gpu].cpu,
                               parts->nics[nic].pci, parts->nics[nic].cpu);
}

static struct differing compare_gpus(const struct model_nccl_xml_parts *parts,
                                     const unsigned char *listed,
                                     struct model_nccl_xml_fit fit)
{
    struct model_topology node = regular_node(parts, fit);
    struct differing differing = {0};
    int gpus = parts->gpu_count;

    for (int i = 0; i < gpus; i++) {
        for (int j = i + 1; j < gpus; j++) {
            compare(&differing, i, j, listed[i * gpus + j],
                    model_wiring_gpu_path(&node, i, j));
        }
    }
    return differing;
}

static struct differing compare_nics(const struct model_nccl_xml_parts *parts,
                                     struct model_nccl_xml_fit fit)
{
    struct model_topology node = regular_node(parts, fit);
    struct differing differing = {0};

    for (int i = 0; i < parts->gpu_count; i++) {
        for (int j = 0; j < parts->nic_count; j++) {
            compare(&differing, i, j, nic_path(parts, i, j),
                    model_wiring_nic_path(&node, i, j));
        }
    }
    return differing;
}

/* The paths between GPUs as listed, gpus x gpus, the upper half. */
static const unsigned char *
listed_paths(const struct model_nccl_xml_parts *parts,
             struct model_arena *arena)
{
    size_t gpus = (size_t)parts->gpu_count;
    unsigned char *listed = model_arena_array(arena, gpus, gpus);

    for (size_t i = 0; i < gpus; i++) {
        for (size_t j = i + 1; j < gpus; j++) {
            listed[i * gpus + j] =
                (unsigned char)gpu_path(parts, (int)i, (int)j);
        }
    }
    return listed;
}

static int cpus_with_gpus(const struct model_nccl_xml_parts *parts)
{
    int count = 0;

    for (int i = 0; i < parts->cpu_count; i++) {
        count += parts->cpus[i].gpu_count > 0 ? 1 : 0;
    }
    return count;
}

static void say_gpus(const struct model_nccl_xml_parts *parts,
                     struct model_nccl_xml_words *words,
                     struct differing differing)
{
    long pairs = (long)parts->gpu_count * (parts->gpu_count - 1) / 2;

    if (differing.count > 0) {
        model_nccl_xml_lost(
            words,
            "GPUs do not hang evenly: of %ld pairs %ld are nearer or farther "
            "than listed, such as %s and %s: %s, here %s",
            pairs, differing.count, parts->gpus[differing.left].bus_id,
            parts->gpus[differing.right].bus_id,
            model_path_names[differing.listed],
            model_path_names[differing.regular]);
    }
}

static void say_nics(const struct model_nccl_xml_parts *parts,
                     struct model_nccl_xml_words *words,
                     struct differing differing)
{
    if (differing.count > 0) {
        model_nccl_xml_lost(
            words,
            "NICs do not hang evenly: of %ld paths between a GPU and a NIC "
            "%ld differ, such as %s to %s: %s, here %s",
            (long)parts->gpu_count * parts->nic_count, differing.count,
            parts->gpus[differing.left].bus_id,
            parts->nics[differing.right].name,
            model_path_names[differing.listed],
            model_path_names[differing.regular]);
    }
}

/* Does a NIC share a switch with a GPU? */
static bool beside_gpu(const struct model_nccl_xml_parts *parts, int nic)
{
    for (int gpu = 0; gpu < parts->gpu_count; gpu++) {
        if (flat(nic_path(parts, gpu, nic)) == MODEL_PATH_PIX) {
            return true;
        }
    }
    return false;
}

/* Where NICs hang: by the paths, and where both are as wrong, by their most. */
static int nearest_at(const struct model_nccl_xml_parts *parts,
                      struct model_nccl_xml_fit fit)
{
    long at_root;
    long at_switch;
    int beside = 0;

    fit.at = MODEL_NICS_ROOT;
    at_root = compare_nics(parts, fit).count;
    fit.at = MODEL_NICS_SWITCH;
    at_switch = parts->nic_count > 0 ? compare_nics(parts, fit).count : 0;
    if (at_root != at_switch) {
        return at_root < at_switch ? MODEL_NICS_ROOT : MODEL_NICS_SWITCH;
    }
    for (int nic = 0; nic < parts->nic_count; nic++) {
        beside += beside_gpu(parts, nic) ? 1 : 0;
    }
    return 2 * beside > parts->nic_count ? MODEL_NICS_SWITCH : MODEL_NICS_ROOT;
}

/* Switches below switches, which a topology flattens. */
static void say_levels(const struct model_nccl_xml_parts *parts,
                       const unsigned char *listed,
                       struct model_nccl_xml_words *words)
{
    bool any = false;

    for (int i = 0; i < parts->gpu_count * parts->gpu_count; i++) {
        any = any || listed[i] == MODEL_PATH_PXB;
    }
    for (int i = 0; i < parts->gpu_count * parts->nic_count; i++) {
        any = any || nic_path(parts, i / parts->nic_count,
                              i % parts->nic_count) == MODEL_PATH_PXB;
    }
    if (any) {
        model_nccl_xml_lost(words,
                            "PCIe switches hang below switches: taken as one "
                            "level, so paths over several (pxb) become pix");
    }
}

struct model_nccl_xml_fit
model_nccl_xml_fit(const struct model_nccl_xml_parts *parts,
                   struct model_nccl_xml_words *words)
{
    const unsigned char *listed = listed_paths(parts, words->arena);
    struct model_nccl_xml_fit best = {1, 1, MODEL_NICS_ROOT};
    struct differing least = compare_gpus(parts, listed, best);
    int gpus = parts->gpu_count;
    int cpus = cpus_with_gpus(parts);

    for (int sockets = 1; sockets <= gpus && sockets <= 16; sockets++) {
        for (int below = 1; below <= gpus / sockets; below++) {
            struct model_nccl_xml_fit fit = {sockets, below, MODEL_NICS_ROOT};
            struct differing differing;

            if (gpus % sockets != 0 || gpus / sockets % below != 0) {
                continue;
            }
            differing = compare_gpus(parts, listed, fit);
            if (differing.count < least.count ||
                (differing.count == least.count &&
                 abs(sockets - cpus) < abs(best.sockets - cpus))) {
                best = fit;
                least = differing;
            }
        }
    }
    best.at = nearest_at(parts, best);
    say_levels(parts, listed, words);
    say_gpus(parts, words, least);
    say_nics(parts, words, compare_nics(parts, best));
    return best;
}
