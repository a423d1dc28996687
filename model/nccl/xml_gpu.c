/*
 * xml_gpu.c - which GPU an NCCL topology file is about: named by the user,
 * or known by PCI id or compute capability.
 */
#include "model/nccl/xml_build.h"

#include "model/files.h"
#include "model/gpu_find.h"

#include <ctype.h>
#include <string.h>

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

void model_nccl_xml_gpu_put(struct model_nccl_xml_build *build,
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
