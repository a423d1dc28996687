/*
 * xml_read.c - from the devices of an NCCL topology file to the tree of a
 * topology: NVLink and CPUs here, the GPU in xml_gpu.c, PCIe and NICs in
 * xml_pcie.c.
 */
#include "model/nccl/xml_read.h"

#include "model/nccl/xml_build.h"

#include <string.h>

struct model_node *model_nccl_xml_part(struct model_nccl_xml_build *build,
                                       struct model_node *parent,
                                       const char *key)
{
    struct model_node *part =
        model_node_new(build->words.arena, MODEL_MAPPING, parent, key, NULL);

    part->place = build->place;
    part->key_place = build->place;
    return part;
}

void model_nccl_xml_scalar(struct model_nccl_xml_build *build,
                           struct model_node *parent,
                           const char *key,
                           const char *text)
{
    struct model_node *scalar =
        model_node_new(build->words.arena, MODEL_SCALAR, parent, key, text);

    scalar->place = build->place;
    scalar->key_place = build->place;
}

void model_nccl_xml_count(struct model_nccl_xml_build *build,
                          struct model_node *parent,
                          const char *key,
                          int count)
{
    model_nccl_xml_scalar(build, parent, key,
                          model_arena_format(build->words.arena, "%d", count));
}

void model_nccl_xml_sourced(struct model_nccl_xml_build *build,
                            struct model_node *parent,
                            const char *key,
                            const char *text)
{
    struct model_node *number = model_nccl_xml_part(build, parent, key);

    model_nccl_xml_scalar(build, number, "value", text);
    model_nccl_xml_scalar(build, number, "from", "datasheet");
    model_nccl_xml_scalar(build, number, "source", "nccl-topo");
}

/* -- NVLink -- */

static void put_list(struct model_nccl_xml_build *build,
                     struct model_node *nvlink,
                     const int *links)
{
    struct model_arena *arena = build->words.arena;
    struct model_node *list =
        model_node_new(arena, MODEL_SEQUENCE, nvlink, "links", NULL);
    int gpus = build->parts.gpu_count;

    list->place = build->place;
    for (int pair = 0; pair < gpus * gpus; pair++) {
        struct model_node *entry;

        if (links[pair] == 0 || pair / gpus > pair % gpus) {
            continue;
        }
        entry = model_node_new(arena, MODEL_SEQUENCE, list, NULL, NULL);
        entry->place = build->place;
        model_nccl_xml_count(build, entry, NULL, pair / gpus);
        model_nccl_xml_count(build, entry, NULL, pair % gpus);
        model_nccl_xml_count(build, entry, NULL, links[pair]);
    }
}

static void put_nvlink(struct model_nccl_xml_build *build,
                       struct model_node *node)
{
    struct model_nccl_xml_links links =
        model_nccl_xml_links(&build->parts, &build->words);
    struct model_node *nvlink;

    if (links.kind == MODEL_NVLINK_NONE) {
        if (build->parts.gpus[0].gpu == NULL) {
            model_nccl_xml_lost(
                &build->words,
                "the file has no <gpu>, so nothing of NVLink, which NCCL "
                "finds by itself: write node.nvlink, such as kind: switch, "
                "where there is one");
        }
        model_nccl_xml_found(&build->words, "no NVLink");
        return;
    }
    nvlink = model_nccl_xml_part(build, node, "nvlink");
    model_nccl_xml_scalar(build, nvlink, "kind",
                          model_nvlink_names[links.kind]);
    if (links.kind == MODEL_NVLINK_LINKS) {
        put_list(build, nvlink, links.links);
        model_nccl_xml_found(&build->words, "NVLink from GPU to GPU, listed");
        return;
    }
    model_nccl_xml_sourced(
        build, nvlink, "count",
        model_arena_format(build->words.arena, "%d", links.count));
    model_nccl_xml_found(&build->words, "NVLink: kind %s, links of a GPU: %d",
                         model_nvlink_names[links.kind], links.count);
}

/* -- CPUs -- */

/*
 * NCCL adds the extended family shifted by four where /proc/cpuinfo adds it as
 * it is: 175 is family 25. Files written by hand have either.
 */
static int cpu_family(int family)
{
    return family > 15 && (family & 15) == 15 ? 15 + (family >> 4) : family;
}

static const char *cpu_maker(const struct model_xml_element *cpu)
{
    const char *arch = model_xml_value(cpu, "arch");
    const char *vendor = model_xml_value(cpu, "vendor");

    if (arch != NULL && strcmp(arch, "arm64") == 0) {
        return "arm";
    }
    if (vendor != NULL && strcmp(vendor, "GenuineIntel") == 0) {
        return "intel";
    }
    return vendor != NULL && strcmp(vendor, "AuthenticAMD") == 0 ? "amd" : NULL;
}

/* Of another maker, or of one that the file does not name. */
static void say_other_cpu(struct model_nccl_xml_build *build,
                          const struct model_xml_element *cpu)
{
    const char *vendor = model_xml_value(cpu, "vendor");
    const char *arch = model_xml_value(cpu, "arch");

    if (vendor != NULL || arch != NULL) {
        model_nccl_xml_lost(&build->words,
                            "CPUs %s are none of amd, intel, arm: taken as in "
                            "topologies/defaults.yaml",
                            vendor != NULL ? vendor : arch);
    } else {
        model_nccl_xml_lost(&build->words,
                            "the file says nothing of the CPUs: taken as in "
                            "topologies/defaults.yaml");
    }
}

static void put_cpu(struct model_nccl_xml_build *build, struct model_node *host)
{
    const struct model_xml_element *cpu = build->parts.cpus[0].element;
    const char *maker = cpu_maker(cpu);
    int family =
        cpu_family(model_nccl_xml_number(&build->words, cpu, "familyid", -1));
    int model = model_nccl_xml_number(&build->words, cpu, "modelid", -1);

    if (maker == NULL) {
        say_other_cpu(build, cpu);
        return;
    }
    model_nccl_xml_sourced(build, host, "cpu", maker);
    if (family >= 0 && model >= 0) {
        model_nccl_xml_sourced(
            build, host, "cpu_family",
            model_arena_format(build->words.arena, "%d", family));
        model_nccl_xml_sourced(
            build, host, "cpu_model",
            model_arena_format(build->words.arena, "%d", model));
    }
}

static void put_host(struct model_nccl_xml_build *build,
                     struct model_node *node,
                     int sockets)
{
    struct model_node *host = model_nccl_xml_part(build, node, "host");
    const char *maker = cpu_maker(build->parts.cpus[0].element);
    int with = 0;

    model_nccl_xml_count(build, host, "sockets", sockets);
    put_cpu(build, host);
    for (int i = 0; i < build->parts.cpu_count; i++) {
        with += build->parts.cpus[i].gpu_count > 0 ? 1 : 0;
    }
    model_nccl_xml_found(&build->words, "NUMA nodes: %d, with GPUs: %d%s%s",
                         build->parts.cpu_count, with,
                         maker != NULL ? "; CPUs of " : "",
                         maker != NULL ? maker : "");
    if (with != sockets) {
        model_nccl_xml_lost(&build->words,
                            "%d NUMA nodes have GPUs: taken as %d sockets",
                            with, sockets);
    }
    if (with < build->parts.cpu_count) {
        model_nccl_xml_lost(&build->words,
                            "%d NUMA nodes without GPUs left out",
                            build->parts.cpu_count - with);
    }
}

/* -- all of it -- */

/* Hosts of an NVLink domain: NCCL 2.30 puts them into one file. */
static int host_count(const struct model_nccl_xml_parts *parts)
{
    int count = 0;

    for (int i = 0; i < parts->cpu_count; i++) {
        const char *hash = model_xml_value(parts->cpus[i].element, "host_hash");
        bool again = false;

        for (int j = 0; j < i && !again; j++) {
            const char *other =
                model_xml_value(parts->cpus[j].element, "host_hash");

            again = strcmp(hash != NULL ? hash : "",
                           other != NULL ? other : "") == 0;
        }
        count += again ? 0 : 1;
    }
    return count;
}

static void say_rest(struct model_nccl_xml_build *build)
{
    const struct model_nccl_xml_parts *parts = &build->parts;
    struct model_nccl_xml_words *words = &build->words;

    if (parts->amd) {
        model_nccl_xml_lost(words,
                            "a file of RCCL: xgmi is read as NVLink, and what "
                            "NCCL would choose is not what RCCL does");
    }
    if (host_count(parts) > 1) {
        model_nccl_xml_lost(words,
                            "%d hosts (host_hash) are one NVLink domain: taken "
                            "as one node",
                            host_count(parts));
    }
    if (parts->split_count > 0) {
        model_nccl_xml_lost(words,
                            "%d more parts of GPUs (several <gpu> in one "
                            "device) are not counted",
                            parts->split_count);
    }
    for (int i = 0; i < parts->gpu_count; i++) {
        int dev =
            parts->gpus[i].gpu != NULL
                ? model_nccl_xml_number(words, parts->gpus[i].gpu, "dev", i)
                : i;

        if (dev != i) {
            model_nccl_xml_lost(words,
                                "GPUs are numbered as listed: GPU %d is dev %d "
                                "(%s)",
                                i, dev, parts->gpus[i].bus_id);
            break;
        }
    }
    if (parts->other_count > 0) {
        model_nccl_xml_found(words, "other PCI devices, passed over: %d",
                             parts->other_count);
    }
    if (parts->strange_count > 0) {
        model_nccl_xml_lost(words, "%d elements passed over, such as <%s>",
                            parts->strange_count, parts->strange);
    }
}

/* A file's name without its folder. */
static const char *file_name(const char *file)
{
    const char *slash = strrchr(file, '/');

    if (strcmp(file, "-") == 0) {
        return "standard input";
    }
    return slash != NULL ? slash + 1 : file;
}

/* The name of a topology from a file: without folder and ending. */
static const char *plain_name(struct model_arena *arena, const char *file)
{
    const char *name = strcmp(file, "-") == 0 ? "nccl-topo" : file_name(file);
    size_t length = strlen(name);

    if (length > 4 && strcmp(name + length - 4, ".xml") == 0) {
        length -= 4;
    }
    return model_arena_text_n(arena, name, length);
}

static void put_head(struct model_nccl_xml_build *build,
                     const struct model_nccl_xml_options *options)
{
    struct model_arena *arena = build->words.arena;
    const char *file = build->place.file;
    struct model_node *sources;

    model_nccl_xml_scalar(build, build->root, "name",
                          options->name != NULL ? options->name
                                                : plain_name(arena, file));
    model_nccl_xml_gpu_put(build, options);
    model_nccl_xml_count(build, build->root, "nodes",
                         options->nodes > 0 ? options->nodes : 1);
    sources = model_nccl_xml_part(build, build->root, "sources");
    model_nccl_xml_scalar(build, sources, "nccl-topo",
                          model_arena_format(arena, "%s topology file %s",
                                             build->parts.amd ? "RCCL" : "NCCL",
                                             file_name(file)));
    sources->last->quoted = true;
}

struct model_node *
model_nccl_xml_read(struct model_arena *arena,
                    const struct model_xml_element *system,
                    const struct model_nccl_xml_options *options,
                    struct model_node **found,
                    struct model_errors *errors)
{
    struct model_nccl_xml_build build = {
        .words = {.arena = arena, .errors = errors}, .place = system->place};
    int before = errors->count;
    struct model_nccl_xml_fit fit;
    struct model_node *node;

    build.words.found = model_node_new(arena, MODEL_SEQUENCE, NULL, NULL, NULL);
    build.words.lost = model_node_new(arena, MODEL_SEQUENCE, NULL, NULL, NULL);
    if (!model_nccl_xml_parts_read(system, &build.parts, &build.words)) {
        return NULL;
    }
    build.root = model_nccl_xml_part(&build, NULL, NULL);
    put_head(&build, options);
    node = model_nccl_xml_part(&build, build.root, "node");
    model_nccl_xml_count(&build, node, "gpus", build.parts.gpu_count);
    put_nvlink(&build, node);
    model_nccl_xml_nics_choose(&build);
    fit = model_nccl_xml_fit(&build.parts, &build.words);
    model_nccl_xml_pcie_put(&build, node, fit);
    put_host(&build, node, fit.sockets);
    model_nccl_xml_nics_put(&build, node, fit);
    say_rest(&build);
    if (build.words.lost->count > 0) {
        build.words.lost->key = "notes";
        build.words.lost->place = build.place;
        model_node_adopt(arena, build.root, build.words.lost);
    }
    if (found != NULL) {
        *found = build.words.found;
    }
    return errors->count == before ? build.root : NULL;
}
