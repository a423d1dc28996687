/*
 * xml_pcie.c - PCIe generation and NICs of an NCCL topology file.
 */
#include "model/nccl/xml_build.h"

#include "model/files.h"

#include <stdlib.h>
#include <string.h>

/* GT/s of a lane by generation, from the third (PCI Express base specs). */
static const double lane_rates[] = {8.0, 16.0, 32.0, 64.0};

enum {
    GENERATION_FIRST = 3,
    GENERATIONS = sizeof(lane_rates) / sizeof(lane_rates[0])
};

/* The GT/s of 16 lanes that carry as much as a device's link; 0: not said. */
static double rate_x16(const struct model_xml_element *pci,
                       struct model_nccl_xml_words *words)
{
    const char *speed = model_xml_value(pci, "link_speed");
    int width = model_nccl_xml_number(words, pci, "link_width", 0);
    char *end = NULL;
    double rate = speed != NULL ? strtod(speed, &end) : 0.0;

    if (end == NULL || end == speed || strncmp(end, " GT/s", 5) != 0 ||
        !(rate > 0.0 && rate < 1000.0)) {
        return 0.0;
    }
    return width > 0 ? rate * width / 16.0 : rate;
}

/* The least along a device's way to its CPU. */
static double path_rate_x16(const struct model_xml_element *pci,
                            struct model_nccl_xml_words *words)
{
    double least = 0.0;

    for (; pci != NULL && strcmp(pci->name, "pci") == 0; pci = pci->parent) {
        double rate = rate_x16(pci, words);

        if (rate > 0.0 && (least == 0.0 || rate < least)) {
            least = rate;
        }
    }
    return least;
}

/* The generation whose 16 lanes carry no more than that; the first at least. */
static int generation_of(double rate)
{
    int generation = 0;

    while (generation + 1 < GENERATIONS &&
           lane_rates[generation + 1] <= rate * 1.001) {
        generation++;
    }
    return GENERATION_FIRST + generation;
}

/* The least rate of all GPUs, 0 where none says it; sets *differ. */
static double gpus_rate(struct model_nccl_xml_build *build, bool *differ)
{
    double least = 0.0;

    *differ = false;
    for (int i = 0; i < build->parts.gpu_count; i++) {
        double rate = path_rate_x16(build->parts.gpus[i].pci, &build->words);

        if (i > 0 && rate != least) {
            *differ = true;
        }
        if (rate > 0.0 && (least == 0.0 || rate < least)) {
            least = rate;
        }
    }
    return least;
}

static void say_pcie(struct model_nccl_xml_build *build,
                     double rate,
                     bool differ,
                     struct model_nccl_xml_fit fit)
{
    int generation = generation_of(rate);

    if (rate == 0.0) {
        model_nccl_xml_lost(&build->words,
                            "no link_speed: the PCIe generation is that of the "
                            "GPU's file (NCCL takes 3)");
    } else if (rate != lane_rates[generation - GENERATION_FIRST]) {
        model_nccl_xml_lost(&build->words,
                            "a GPU's way to its CPU carries %g GT/s x 16 "
                            "lanes: taken as PCIe %d.0",
                            rate, generation);
    }
    if (differ) {
        model_nccl_xml_lost(&build->words,
                            "GPUs have PCIe links of several rates: the least "
                            "is taken for all");
    }
    if (fit.gpus_per_switch > 1) {
        model_nccl_xml_found(&build->words, "GPUs below each PCIe switch: %d",
                             fit.gpus_per_switch);
    }
}

void model_nccl_xml_pcie_put(struct model_nccl_xml_build *build,
                             struct model_node *node,
                             struct model_nccl_xml_fit fit)
{
    struct model_node *pcie = model_nccl_xml_part(build, node, "pcie");
    bool differ;
    double rate = gpus_rate(build, &differ);

    if (rate > 0.0) {
        model_nccl_xml_count(build, pcie, "generation", generation_of(rate));
        model_nccl_xml_found(&build->words, "PCIe %d.0", generation_of(rate));
    }
    model_nccl_xml_count(build, pcie, "gpus_per_switch", fit.gpus_per_switch);
    say_pcie(build, rate, differ, fit);
}

/* -- NICs -- */

static const char *rate_text(struct model_nccl_xml_build *build, double rate)
{
    return model_arena_format(build->words.arena, "%.10g Gbit/s",
                              rate / 125.0); /* 1 Gbit/s is 125 bytes/us */
}

static double total_of_rate(const struct model_nccl_xml_parts *parts,
                            double rate)
{
    double total = 0.0;

    for (int i = 0; i < parts->nic_count; i++) {
        total += parts->nics[i].bytes_per_us == rate ? rate : 0.0;
    }
    return total;
}

void model_nccl_xml_nics_choose(struct model_nccl_xml_build *build)
{
    struct model_nccl_xml_parts *parts = &build->parts;
    double best = 0.0;
    int kept = 0;

    for (int i = 0; i < parts->nic_count; i++) {
        double rate = parts->nics[i].bytes_per_us;

        if (total_of_rate(parts, rate) > total_of_rate(parts, best)) {
            best = rate;
        }
    }
    for (int i = 0; i < parts->nic_count; i++) {
        if (parts->nics[i].bytes_per_us == best) {
            parts->nics[kept++] = parts->nics[i];
        }
    }
    if (kept < parts->nic_count) {
        model_nccl_xml_lost(&build->words,
                            "NICs have several rates: %d of %d left out, kept "
                            "are those of %s",
                            parts->nic_count - kept, parts->nic_count,
                            rate_text(build, best));
    }
    parts->nic_count = kept;
}

/* Without a speed: the rate that is usual in such a slot, a guess. */
static void guess_rate(struct model_nccl_xml_build *build,
                       struct model_node *nics)
{
    struct model_arena *arena = build->words.arena;
    const struct model_xml_element *pci = build->parts.nics[0].pci;
    double slot = pci != NULL ? path_rate_x16(pci, &build->words) : 0.0;
    const char *path = model_file_find(arena, "topologies", "defaults",
                                       build->place, NULL, build->words.errors);
    const struct model_node *defaults =
        path != NULL ? model_yaml_read_file(arena, path, build->words.errors)
                     : NULL;
    const struct model_node *rates = model_node_is_mapping(defaults)
                                         ? model_node_find(defaults, "nic_rate")
                                         : NULL;
    const struct model_node *rate =
        slot > 0.0 && model_node_is_mapping(rates)
            ? model_node_find(
                  rates, model_arena_format(arena, "%d", generation_of(slot)))
            : NULL;

    if (rate == NULL) {
        model_nccl_xml_lost(&build->words,
                            "the file says no rate of the NICs: write "
                            "node.nics.rate");
        return;
    }
    model_node_adopt(arena, nics, rate);
    nics->last->key = "rate";
    model_nccl_xml_lost(&build->words,
                        "the file says no rate of the NICs: taken as %s, usual "
                        "in a slot of PCIe %d.0",
                        model_node_text_at(nics, "rate", "?"),
                        generation_of(slot));
}

/* How many NICs say gdr="0", and how many "1". */
static void
count_gpudirect(struct model_nccl_xml_build *build, int *without, int *with)
{
    *without = 0;
    *with = 0;
    for (int i = 0; i < build->parts.nic_count; i++) {
        const struct model_xml_element *net = build->parts.nics[i].net;
        int gdr = net != NULL
                      ? model_nccl_xml_number(&build->words, net, "gdr", -1)
                      : -1;

        *without += gdr == 0 ? 1 : 0;
        *with += gdr > 0 ? 1 : 0;
    }
}

/* GPUDirect works where both the NIC and the GPU can. */
static void put_gpudirect(struct model_nccl_xml_build *build,
                          struct model_node *nics)
{
    const struct model_xml_element *gpu = build->parts.gpus[0].gpu;
    bool gpu_can =
        gpu == NULL || model_nccl_xml_number(&build->words, gpu, "gdr", 1) != 0;
    int without;
    int with;

    count_gpudirect(build, &without, &with);
    if (without + with == 0 && gpu_can) {
        return;
    }
    if (without > 0 && with > 0) {
        model_nccl_xml_lost(
            &build->words, "GPUDirect works with %d of %d NICs: taken as %s",
            with, without + with, with >= without ? "with all" : "with none");
    }
    model_nccl_xml_scalar(build, nics, "gpudirect",
                          gpu_can && with >= without ? "true" : "false");
}

/* How many NICs share their PCI device with the one before. */
static int ports(const struct model_nccl_xml_parts *parts)
{
    int count = 0;

    for (int i = 1; i < parts->nic_count; i++) {
        count += parts->nics[i].pci != NULL &&
                         parts->nics[i].pci == parts->nics[i - 1].pci
                     ? 1
                     : 0;
    }
    return count;
}

/* What a plugin reports, in us; 0, as most say, says nothing. */
static void put_latency(struct model_nccl_xml_build *build,
                        struct model_node *nics)
{
    const struct model_xml_element *net = build->parts.nics[0].net;
    const char *text = net != NULL ? model_xml_value(net, "latency") : NULL;
    double us = text != NULL ? strtod(text, NULL) : 0.0;
    char quantity[48];

    if (us > 0.0 && us <= 1e6) {
        model_nccl_xml_sourced(
            build, nics, "reported_latency",
            model_units_print(us, MODEL_TIME, quantity, sizeof(quantity)));
    }
}

void model_nccl_xml_nics_put(struct model_nccl_xml_build *build,
                             struct model_node *node,
                             struct model_nccl_xml_fit fit)
{
    const struct model_nccl_xml_parts *parts = &build->parts;
    struct model_node *nics;

    if (parts->nic_count == 0) {
        model_nccl_xml_found(&build->words, "no NIC");
        return;
    }
    nics = model_nccl_xml_part(build, node, "nics");
    model_nccl_xml_count(build, nics, "count", parts->nic_count);
    if (parts->nics[0].bytes_per_us > 0.0) {
        model_nccl_xml_sourced(build, nics, "rate",
                               rate_text(build, parts->nics[0].bytes_per_us));
    } else {
        guess_rate(build, nics);
    }
    model_nccl_xml_sourced(build, nics, "at", model_nics_at_names[fit.at]);
    put_gpudirect(build, nics);
    put_latency(build, nics);
    model_nccl_xml_found(&build->words, "NICs: %d of %s, %s", parts->nic_count,
                         model_node_text_at(nics, "rate", "unknown rate"),
                         fit.at == MODEL_NICS_SWITCH ? "below the PCIe switches"
                                                     : "on root ports");
    if (ports(parts) > 0) {
        model_nccl_xml_lost(&build->words,
                            "%d NICs are further ports of one PCI device: "
                            "each counts as a NIC with a slot of its own",
                            ports(parts));
    }
}
