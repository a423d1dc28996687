/*
 * nccl_xml_read.c - from the devices of an NCCL topology file to the tree of a
 * topology: GPU, NVLink and CPUs here, PCIe and NICs in nccl_xml_pcie.c.
 */
#include "model/nccl_xml_read.h"

#include "model/files.h"
#include "model/gpu_find.h"
#include "model/nccl_xml_build.h"

#include <ctype.h>
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

/* -- which GPU -- */

static void gpu_fault(struct model_nccl_xml_build *build,
                      const struct model_nccl_xml_gpu *gpu,
                      const char *hint,
                      const char *message)
{
    const struct model_xml_element *element =
        gpu->gpu != NULL ? gpu->gpu : gpu->pci;

    (void)model_errors_add(build->words.errors, MODEL_BAD_INPUT, element->place,
                           "gpu", hint, "%s", message);
}

/* The four hexadecimal letters of "0x10de", or NULL where there are none. */
static const char *pci_number(const struct model_xml_element *pci,
                              const char *name)
{
    const char *text = model_xml_value(pci, name);

    return text != NULL && strncmp(text, "0x", 2) == 0 && strlen(text) == 6 &&
                   strcmp(text, "0x0000") != 0 && strcmp(text, "0xffff") != 0
               ? text + 2
               : NULL;
}

/* "10de:20b0", or NULL: virtual machines may hide it. */
static const char *pci_id(struct model_arena *arena,
                          const struct model_nccl_xml_gpu *gpu)
{
    const char *vendor = pci_number(gpu->pci, "vendor");
    const char *device = pci_number(gpu->pci, "device");
    char *id;

    if (vendor == NULL || device == NULL) {
        return NULL;
    }
    id = model_arena_format(arena, "%s:%s", vendor, device);
    for (char *letter = id; *letter != '\0'; letter++) {
        *letter = (char)tolower((unsigned char)*letter);
    }
    return id;
}

/* What identifies GPU number `index`; RCCL's sm counts compute units. */
static struct model_gpu_sought sought(struct model_nccl_xml_build *build,
                                      int index)
{
    const struct model_nccl_xml_gpu *gpu = &build->parts.gpus[index];
    struct model_gpu_sought sought = {pci_id(build->words.arena, gpu), 0};

    if (gpu->gpu != NULL && !build->parts.amd) {
        sought.compute_capability =
            model_nccl_xml_number(&build->words, gpu->gpu, "sm", 0);
    }
    return sought;
}

static bool same(struct model_gpu_sought left, struct model_gpu_sought right)
{
    return left.compute_capability == right.compute_capability &&
           (left.pci_id == right.pci_id ||
            (left.pci_id != NULL && right.pci_id != NULL &&
             strcmp(left.pci_id, right.pci_id) == 0));
}

/* "PCI 10de:20b0, sm 80" */
static const char *described(struct model_arena *arena,
                             struct model_gpu_sought gpu)
{
    const char *id = gpu.pci_id != NULL ? gpu.pci_id : "not said";

    return gpu.compute_capability != 0
               ? model_arena_format(arena, "PCI id %s, sm %d", id,
                                    gpu.compute_capability)
               : model_arena_format(arena, "PCI id %s", id);
}

/* All GPUs are of one kind, or a topology of this form would be wrong. */
static bool check_same(struct model_nccl_xml_build *build)
{
    struct model_gpu_sought first = sought(build, 0);

    for (int i = 1; i < build->parts.gpu_count; i++) {
        struct model_gpu_sought other = sought(build, i);

        if (!same(first, other)) {
            gpu_fault(build, &build->parts.gpus[i],
                      "write a topology by hand, with mixed:",
                      model_arena_format(build->words.arena,
                                         "GPUs of several kinds: %s and %s",
                                         described(build->words.arena, first),
                                         described(build->words.arena, other)));
            return false;
        }
    }
    return true;
}

static const char *find_gpu(struct model_nccl_xml_build *build)
{
    struct model_arena *arena = build->words.arena;
    struct model_gpu_sought gpu = sought(build, 0);
    struct model_gpu_found found;

    if (!check_same(build)) {
        return NULL;
    }
    found = model_gpu_find(arena, gpu);
    if (found.name == NULL) {
        gpu_fault(
            build, &build->parts.gpus[0],
            model_arena_format(arena,
                               "name its file: --gpu NAME with import, "
                               "--set gpu=NAME elsewhere; %s %s",
                               gpu.compute_capability != 0 ? "of that sm are"
                                                           : "shipped are",
                               found.candidates),
            model_arena_format(arena, "nothing tells which GPU it is (%s)",
                               described(arena, gpu)));
    } else if (gpu.pci_id == NULL) {
        model_nccl_xml_lost(&build->words,
                            "the GPU is known by sm %d alone: taken as %s",
                            gpu.compute_capability, found.name);
    }
    return found.name;
}

/* A name given by hand: is there such a file, and what says the PCI id? */
static void check_given(struct model_nccl_xml_build *build, const char *name)
{
    struct model_place option = {"--gpu", 0, 0};
    struct model_gpu_sought gpu = {sought(build, 0).pci_id, 0};
    struct model_gpu_found found = gpu.pci_id != NULL
                                       ? model_gpu_find(build->words.arena, gpu)
                                       : (struct model_gpu_found){NULL, ""};

    (void)model_file_find(build->words.arena, "topologies/gpu", name, option,
                          NULL, build->words.errors);
    if (found.name != NULL && strcmp(found.name, name) != 0) {
        model_nccl_xml_lost(&build->words,
                            "by their PCI id (%s) the GPUs are %s, not %s",
                            gpu.pci_id, found.name, name);
    }
}

static void put_gpu(struct model_nccl_xml_build *build,
                    const struct model_nccl_xml_options *options)
{
    const char *name = options->gpu;

    if (name != NULL) {
        check_given(build, name);
    } else if (!options->gpu_later) {
        name = find_gpu(build);
    }
    if (name != NULL) {
        model_nccl_xml_scalar(build, build->root, "gpu", name);
    }
    model_nccl_xml_found(&build->words, "GPUs: %d (%s)%s%s",
                         build->parts.gpu_count,
                         described(build->words.arena, sought(build, 0)),
                         name != NULL ? ": " : "", name != NULL ? name : "");
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

static void put_cpu(struct model_nccl_xml_build *build, struct model_node *host)
{
    const struct model_xml_element *cpu = build->parts.cpus[0].element;
    const char *maker = cpu_maker(cpu);
    int family =
        cpu_family(model_nccl_xml_number(&build->words, cpu, "familyid", -1));
    int model = model_nccl_xml_number(&build->words, cpu, "modelid", -1);

    if (maker == NULL) {
        const char *vendor = model_xml_value(cpu, "vendor");
        const char *arch = model_xml_value(cpu, "arch");

        model_nccl_xml_lost(
            &build->words, "CPUs%s%s are none of amd, intel, arm: as %s",
            vendor != NULL || arch != NULL ? " " : "",
            vendor != NULL ? vendor : (arch != NULL ? arch : ""),
            "topologies/defaults.yaml has them");
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

static void say_rest(struct model_nccl_xml_build *build)
{
    const struct model_nccl_xml_parts *parts = &build->parts;
    struct model_nccl_xml_words *words = &build->words;

    if (parts->amd) {
        model_nccl_xml_lost(words,
                            "a file of RCCL: xgmi is read as NVLink, and what "
                            "NCCL would choose is not what RCCL does");
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
    put_gpu(build, options);
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
