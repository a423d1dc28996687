/*
 * xml_parts.c - a walk over cpu, pci, gpu, nic and net.
 *
 * Files that NCCL dumps name each device by an element of its own; those that
 * clouds supply often list bare PCI devices, known by their class, or by
 * nothing.
 */
#include "model/nccl/xml_parts.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { GPUS_MAX = 1024 };

struct walk {
    struct model_nccl_xml_parts *parts;
    struct model_nccl_xml_words *words;
    int cpu;
    int unclassed;
    const struct model_xml_element *first_unclassed;
};

static void say(struct model_nccl_xml_words *words,
                struct model_node *list,
                const char *text)
{
    struct model_node *node =
        model_node_new(words->arena, MODEL_SCALAR, list, NULL, text);

    node->quoted = true;
}

void model_nccl_xml_found(struct model_nccl_xml_words *words,
                          const char *format,
                          ...)
{
    va_list values;

    va_start(values, format);
    say(words, words->found,
        model_arena_format_list(words->arena, format, values));
    va_end(values);
}

void model_nccl_xml_lost(struct model_nccl_xml_words *words,
                         const char *format,
                         ...)
{
    va_list values;

    va_start(values, format);
    say(words, words->lost,
        model_arena_format_list(words->arena, format, values));
    va_end(values);
}

static void fault(struct model_nccl_xml_words *words,
                  const struct model_xml_element *element,
                  const char *hint,
                  const char *message)
{
    (void)model_errors_add(words->errors, MODEL_BAD_INPUT, element->place,
                           element->name, hint, "%s", message);
}

int model_nccl_xml_number(struct model_nccl_xml_words *words,
                          const struct model_xml_element *element,
                          const char *name,
                          int otherwise)
{
    const char *text = model_xml_value(element, name);
    char *end;
    long value;

    if (text == NULL || text[0] == '\0') {
        return otherwise;
    }
    errno = 0;
    value = strtol(text, &end, 0);
    if (end == text || *end != '\0' || errno != 0 || value > INT_MAX ||
        value < INT_MIN) {
        fault(words, element, "write a whole number",
              model_arena_format(words->arena, "%s=\"%s\" is no number", name,
                                 text));
        return otherwise;
    }
    return (int)value;
}

static bool begins(const char *text, const char *with)
{
    return text != NULL && strncasecmp(text, with, strlen(with)) == 0;
}

static const struct model_xml_element *
child_named(const struct model_xml_element *element, const char *name)
{
    const struct model_xml_element *child = element->first;

    while (child != NULL && strcmp(child->name, name) != 0) {
        child = child->next;
    }
    return child;
}

static void add_gpu(struct walk *walk,
                    const struct model_xml_element *pci,
                    const struct model_xml_element *gpu)
{
    struct model_nccl_xml_parts *parts = walk->parts;
    const char *bus_id = model_xml_value(pci, "busid");

    if (bus_id == NULL || bus_id[0] == '\0') {
        fault(walk->words, pci, "write busid=\"0000:10:00.0\"",
              "a GPU without busid");
        return;
    }
    if (parts->gpu_count == GPUS_MAX) {
        fault(walk->words, pci, "at most 1024", "too many GPUs");
        return;
    }
    parts->gpus =
        model_arena_grow(walk->words->arena, parts->gpus, parts->gpu_count,
                         &parts->gpu_room, sizeof(*parts->gpus));
    parts->gpus[parts->gpu_count++] =
        (struct model_nccl_xml_gpu){pci, gpu, bus_id, walk->cpu};
    parts->cpus[walk->cpu].gpu_count++;
}

/* NCCL gives speed in Mbit/s; a driver's 0 or -1 says nothing. */
static void add_nic(struct walk *walk,
                    const struct model_xml_element *pci,
                    const struct model_xml_element *net)
{
    struct model_nccl_xml_parts *parts = walk->parts;
    const char *name = net != NULL ? model_xml_value(net, "name") : NULL;
    int speed =
        net != NULL ? model_nccl_xml_number(walk->words, net, "speed", 0) : 0;

    if (name == NULL && pci != NULL) {
        name = model_xml_value(pci, "busid");
    }
    if (parts->nic_count == GPUS_MAX) {
        fault(walk->words, net != NULL ? net : pci, "at most 1024",
              "too many NICs");
        return;
    }
    parts->nics =
        model_arena_grow(walk->words->arena, parts->nics, parts->nic_count,
                         &parts->nic_room, sizeof(*parts->nics));
    parts->nics[parts->nic_count++] = (struct model_nccl_xml_nic){
        pci, net, name != NULL ? name : "a NIC", walk->cpu,
        speed > 0 ? speed * 0.125 : 0.0}; /* 1 Mbit/s is 1/8 byte/us */
}

static void strange(struct walk *walk, const struct model_xml_element *element)
{
    if (walk->parts->strange_count++ == 0) {
        walk->parts->strange = element->name;
    }
}

/* The ports of a NIC: each counts as one, as it does to NCCL. */
static void take_nic(struct walk *walk,
                     const struct model_xml_element *pci,
                     const struct model_xml_element *nic)
{
    bool any = false;

    for (const struct model_xml_element *child = nic->first; child != NULL;
         child = child->next) {
        if (strcmp(child->name, "gin") == 0 ||
            strcmp(child->name, "rma") == 0) {
            continue; /* further services of a port that is a net, too */
        }
        if (strcmp(child->name, "net") != 0) {
            strange(walk, child);
        } else if (model_nccl_xml_number(walk->words, child, "net", 1) != 0) {
            /* net="0": a port that NCCL fused into a virtual NIC */
            add_nic(walk, pci, child);
            any = true;
        }
    }
    if (!any && pci != NULL && nic->first == NULL) {
        add_nic(walk, pci, NULL);
    }
}

/* A display controller of a maker of no GPUs that NCCL or RCCL run on. */
static bool is_no_gpu(const struct model_xml_element *pci)
{
    const char *vendor = model_xml_value(pci, "vendor");

    return vendor != NULL && !begins(vendor, "0x10de") &&
           !begins(vendor, "0x1002") && !begins(vendor, "0x0000") &&
           !begins(vendor, "0xffff");
}

/* A device that has no element of its own below it. */
static void take_bare(struct walk *walk, const struct model_xml_element *pci)
{
    const char *class = model_xml_value(pci, "class");

    if (class == NULL || class[0] == '\0') {
        if (walk->unclassed++ == 0) {
            walk->first_unclassed = pci;
        }
    } else if ((begins(class, "0x03") || begins(class, "0x12")) &&
               !is_no_gpu(pci)) {
        add_gpu(walk, pci, NULL);
    } else if (begins(class, "0x02")) {
        add_nic(walk, pci, NULL);
    } else {
        walk->parts->other_count++;
    }
}

static void take_pci(struct walk *walk, const struct model_xml_element *pci)
{
    const struct model_xml_element *gpu = child_named(pci, "gpu");
    const struct model_xml_element *nic = child_named(pci, "nic");

    if (gpu != NULL) {
        add_gpu(walk, pci, gpu);
    }
    if (nic != NULL) {
        take_nic(walk, pci, nic);
    }
    for (const struct model_xml_element *child = pci->first; child != NULL;
         child = child->next) {
        if (strcmp(child->name, "pci") == 0) {
            take_pci(walk, child);
        } else if (strcmp(child->name, "gpu") == 0) {
            walk->parts->split_count += child != gpu ? 1 : 0;
        } else if (child != nic && strcmp(child->name, "pcilink") != 0) {
            strange(walk, child);
        }
    }
    if (gpu == NULL && nic == NULL && child_named(pci, "pci") == NULL) {
        take_bare(walk, pci);
    }
}

static void take_cpu(struct walk *walk, const struct model_xml_element *cpu)
{
    struct model_nccl_xml_parts *parts = walk->parts;

    parts->cpus =
        model_arena_grow(walk->words->arena, parts->cpus, parts->cpu_count,
                         &parts->cpu_room, sizeof(*parts->cpus));
    walk->cpu = parts->cpu_count++;
    parts->cpus[walk->cpu] = (struct model_nccl_xml_cpu){cpu, 0};
    for (const struct model_xml_element *child = cpu->first; child != NULL;
         child = child->next) {
        if (strcmp(child->name, "pci") == 0) {
            take_pci(walk, child);
        } else if (strcmp(child->name, "nic") == 0) {
            take_nic(walk, NULL, child);
        } else {
            strange(walk, child);
        }
    }
}

/* Each bus id once, or links could not tell which GPU is meant. */
static void check_twice(const struct walk *walk)
{
    const struct model_nccl_xml_parts *parts = walk->parts;

    for (int i = 0; i < parts->gpu_count; i++) {
        for (int j = 0; j < i; j++) {
            if (strcasecmp(parts->gpus[i].bus_id, parts->gpus[j].bus_id) == 0) {
                fault(walk->words, parts->gpus[i].pci, "write each GPU once",
                      model_arena_format(
                          walk->words->arena,
                          "busid %s is that of the GPU in line %d, too",
                          parts->gpus[i].bus_id,
                          parts->gpus[j].pci->place.line));
                break;
            }
        }
    }
}

static bool check_root(const struct model_xml_element *system,
                       struct model_nccl_xml_parts *parts,
                       struct model_nccl_xml_words *words)
{
    const char *version = model_xml_value(system, "version");

    if (strcmp(system->name, "graphs") == 0) {
        fault(words, system, "write a file of NCCL_TOPO_DUMP_FILE",
              "is a graph file (NCCL_GRAPH_FILE), not a topology");
        return false;
    }
    if (strcmp(system->name, "system") != 0) {
        fault(words, system, "write a file of NCCL_TOPO_DUMP_FILE",
              "is no topology of NCCL: the root is not <system>");
        return false;
    }
    if (version == NULL ||
        (strcmp(version, "1") != 0 && strcmp(version, "2") != 0)) {
        fault(words, system, "write version=\"1\"; RCCL's is 2",
              version == NULL ? "no version" : "not a version of the format");
        return false;
    }
    parts->amd = strcmp(version, "2") == 0;
    return true;
}

static void check_found(const struct walk *walk)
{
    const struct model_nccl_xml_parts *parts = walk->parts;

    if (walk->unclassed > 0) {
        fault(walk->words, walk->first_unclassed,
              "write class=\"0x030200\" to GPUs and class=\"0x020000\" to NICs",
              model_arena_format(walk->words->arena,
                                 "%d PCI devices have no class: nothing tells "
                                 "GPUs from NICs",
                                 walk->unclassed));
    } else if (parts->gpu_count == 0 && walk->words->errors->count == 0) {
        fault(walk->words, parts->system,
              "write <pci busid=\"..\" class=\"0x030200\"> below a <cpu>",
              "lists no GPU");
    }
}

bool model_nccl_xml_parts_read(const struct model_xml_element *system,
                               struct model_nccl_xml_parts *parts,
                               struct model_nccl_xml_words *words)
{
    struct walk walk = {.parts = parts, .words = words};
    int before = words->errors->count;

    *parts = (struct model_nccl_xml_parts){.system = system};
    if (!check_root(system, parts, words)) {
        return false;
    }
    for (const struct model_xml_element *child = system->first; child != NULL;
         child = child->next) {
        if (strcmp(child->name, "cpu") == 0) {
            take_cpu(&walk, child);
        } else {
            strange(&walk, child);
        }
    }
    check_twice(&walk);
    check_found(&walk);
    return words->errors->count == before;
}

/* -- how near -- */

/* The bridge above a device: the next pci outwards, or NULL. */
static const struct model_xml_element *
bridge_of(const struct model_xml_element *element)
{
    const struct model_xml_element *up =
        element != NULL ? element->parent : NULL;

    return up != NULL && strcmp(up->name, "pci") == 0 ? up : NULL;
}

enum model_path model_nccl_xml_path(const struct model_xml_element *left,
                                    int left_cpu,
                                    const struct model_xml_element *right,
                                    int right_cpu)
{
    if (left_cpu != right_cpu) {
        return MODEL_PATH_SYS;
    }
    if (bridge_of(left) != NULL && bridge_of(left) == bridge_of(right)) {
        return MODEL_PATH_PIX;
    }
    for (const struct model_xml_element *a = bridge_of(left); a != NULL;
         a = bridge_of(a)) {
        for (const struct model_xml_element *b = bridge_of(right); b != NULL;
             b = bridge_of(b)) {
            if (a == b) {
                return MODEL_PATH_PXB;
            }
        }
    }
    return MODEL_PATH_PHB;
}
