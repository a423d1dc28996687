/*
 * xml_links.c - which GPUs NVLink joins: a matrix of links, then the kind
 * of wiring that it is.
 */
#include "model/nccl/xml_fit.h"

#include <string.h>
#include <strings.h>

struct matrix {
    const struct model_nccl_xml_parts *parts;
    struct model_nccl_xml_words *words;
    int *direct;    /* gpus x gpus, as each GPU lists them */
    int *to_switch; /* of each GPU */
    int to_cpu, to_self, dangling, unclassed, c2c;
    const char *dangling_target;
};

static void fault(const struct matrix *matrix,
                  const struct model_xml_element *element,
                  const char *hint,
                  const char *message)
{
    (void)model_errors_add(matrix->words->errors, MODEL_BAD_INPUT,
                           element->place, element->name, hint, "%s", message);
}

/* The GPU of a bus id, or -1. */
static int gpu_of(const struct model_nccl_xml_parts *parts, const char *bus_id)
{
    for (int i = 0; bus_id != NULL && i < parts->gpu_count; i++) {
        if (strcasecmp(parts->gpus[i].bus_id, bus_id) == 0) {
            return i;
        }
    }
    return -1;
}

static bool begins(const char *text, const char *with)
{
    return text != NULL && strncasecmp(text, with, strlen(with)) == 0;
}

static void
add_direct(struct matrix *matrix, int from, const char *target, int count)
{
    int to = gpu_of(matrix->parts, target);

    if (to == from) {
        matrix->to_self++;
    } else if (to >= 0) {
        matrix->direct[from * matrix->parts->gpu_count + to] += count;
    } else if (matrix->dangling++ == 0) {
        matrix->dangling_target = target;
    }
}

static void
add_link(struct matrix *matrix, int from, const struct model_xml_element *link)
{
    const char *target = model_xml_value(link, "target");
    const char *class = model_xml_value(link, "tclass");
    int before = matrix->words->errors->count;
    int count = model_nccl_xml_number(matrix->words, link, "count", 0);

    if (matrix->words->errors->count > before) {
        return;
    }
    if (count < 1 || count > MODEL_NVLINKS_MAX) {
        fault(matrix, link, "write count=\"1\" to count=\"64\"",
              "no number of links");
        return;
    }
    if (class == NULL && gpu_of(matrix->parts, target) < 0) {
        /* NCCL, too, takes what a virtual machine hides for an NVSwitch. */
        matrix->unclassed++;
    }
    if (begins(class, "0x068001")) {
        matrix->to_cpu++;
    } else if (begins(class, "0x03") || begins(class, "0x12") ||
               (class == NULL && gpu_of(matrix->parts, target) >= 0)) {
        if (target == NULL) {
            fault(matrix, link, "write target=\"0000:10:00.0\"",
                  "a link to a GPU without target");
            return;
        }
        add_direct(matrix, from, target, count);
    } else {
        matrix->to_switch[from] += count;
    }
}

static void take_links(struct matrix *matrix)
{
    for (int i = 0; i < matrix->parts->gpu_count; i++) {
        const struct model_xml_element *gpu = matrix->parts->gpus[i].gpu;

        for (const struct model_xml_element *child = gpu != NULL ? gpu->first
                                                                 : NULL;
             child != NULL; child = child->next) {
            if (strcmp(child->name, "nvlink") == 0 ||
                strcmp(child->name, "xgmi") == 0) {
                add_link(matrix, i, child);
            } else if (strcmp(child->name, "c2c") == 0) {
                matrix->c2c++;
            }
        }
    }
}

/* A link that one end does not list is there all the same. */
static void make_symmetric(struct matrix *matrix)
{
    int gpus = matrix->parts->gpu_count;
    int one_sided = 0;

    for (int i = 0; i < gpus; i++) {
        for (int j = 0; j < i; j++) {
            int *a = &matrix->direct[i * gpus + j];
            int *b = &matrix->direct[j * gpus + i];

            if (*a != *b) {
                one_sided++;
                *a = *a > *b ? *a : *b;
                *b = *a;
            }
        }
    }
    if (one_sided > 0) {
        model_nccl_xml_lost(matrix->words,
                            "NVLink: the ends of %d pairs of GPUs list other "
                            "numbers of links, the larger ones are taken",
                            one_sided);
    }
}

static void say_rest(const struct matrix *matrix)
{
    struct model_nccl_xml_words *words = matrix->words;

    if (matrix->to_self > 0) {
        model_nccl_xml_lost(words,
                            "NVLink: %d links from a GPU to itself left out",
                            matrix->to_self);
    }
    if (matrix->dangling > 0) {
        model_nccl_xml_lost(words,
                            "NVLink: %d links to GPUs that are not in the "
                            "file left out, such as to %s",
                            matrix->dangling, matrix->dangling_target);
    }
    if (matrix->to_cpu > 0) {
        model_nccl_xml_lost(words,
                            "NVLink to CPUs (%d) left out: host memory is "
                            "reached over PCIe",
                            matrix->to_cpu);
    }
    if (matrix->unclassed > 0) {
        model_nccl_xml_lost(words,
                            "NVLink: %d links without tclass to what is not "
                            "in the file: taken as NVSwitch, as NCCL does",
                            matrix->unclassed);
    }
    if (matrix->c2c > 0) {
        model_nccl_xml_lost(words,
                            "C2C links of %d GPUs left out: host memory is "
                            "reached at node.pcie.rate",
                            matrix->c2c);
    }
}

/* Links of GPU 0 that all GPUs have in the number; 0: they differ. */
static int common(const int *numbers, int count)
{
    for (int i = 1; i < count; i++) {
        if (numbers[i] != numbers[0]) {
            return 0;
        }
    }
    return count > 0 ? numbers[0] : 0;
}

/* A switch joins all GPUs or the wiring is none that a topology has. */
static struct model_nccl_xml_links judge_switch(const struct matrix *matrix,
                                                bool direct)
{
    int gpus = matrix->parts->gpu_count;
    int least = matrix->to_switch[0];
    int joined = 0;

    for (int i = 0; i < gpus; i++) {
        least = matrix->to_switch[i] < least ? matrix->to_switch[i] : least;
        joined += matrix->to_switch[i] > 0 ? 1 : 0;
    }
    if (joined < gpus) {
        fault(matrix, matrix->parts->system,
              "list the NVLinks of the others, or take the others out",
              model_arena_format(matrix->words->arena,
                                 "NVSwitch joins %d of %d GPUs, which no "
                                 "topology can say",
                                 joined, gpus));
    } else if (common(matrix->to_switch, gpus) == 0) {
        model_nccl_xml_lost(matrix->words,
                            "NVLink: GPUs have other numbers of links to the "
                            "NVSwitch, the least (%d) is taken",
                            least);
    }
    if (direct) {
        model_nccl_xml_lost(matrix->words,
                            "NVLink from GPU to GPU beside NVSwitch left out");
    }
    return (struct model_nccl_xml_links){MODEL_NVLINK_SWITCH, least, NULL};
}

/* Is each GPU 2i joined to 2i+1, and to no other, by as many links? */
static int pairs_of(const int *links, int gpus)
{
    int count = gpus > 1 ? links[1] : 0;

    for (int i = 0; i < gpus; i++) {
        for (int j = 0; j < gpus; j++) {
            int wanted = i / 2 == j / 2 && i != j ? count : 0;

            if (gpus % 2 != 0 || links[i * gpus + j] != wanted) {
                return 0;
            }
        }
    }
    return count;
}

/* Is each GPU joined to each other by as many links? */
static int mesh_of(const int *links, int gpus)
{
    int count = gpus > 1 ? links[1] : 0;

    for (int i = 0; i < gpus * gpus; i++) {
        if (i / gpus != i % gpus && links[i] != count) {
            return 0;
        }
    }
    return count * (gpus - 1) > MODEL_NVLINKS_MAX ? 0 : count;
}

static struct model_nccl_xml_links judge_direct(const struct matrix *matrix)
{
    int gpus = matrix->parts->gpu_count;
    int pairs = pairs_of(matrix->direct, gpus);
    int mesh = mesh_of(matrix->direct, gpus);

    if (pairs > 0) {
        return (struct model_nccl_xml_links){MODEL_NVLINK_PAIRS, pairs,
                                             matrix->direct};
    }
    if (mesh > 0) {
        return (struct model_nccl_xml_links){MODEL_NVLINK_MESH,
                                             mesh * (gpus - 1), matrix->direct};
    }
    return (struct model_nccl_xml_links){MODEL_NVLINK_LINKS, 0, matrix->direct};
}

struct model_nccl_xml_links
model_nccl_xml_links(const struct model_nccl_xml_parts *parts,
                     struct model_nccl_xml_words *words)
{
    size_t gpus = (size_t)parts->gpu_count;
    struct matrix matrix = {
        .parts = parts,
        .words = words,
        .direct = model_arena_array(words->arena, gpus * gpus, sizeof(int)),
        .to_switch = model_arena_array(words->arena, gpus, sizeof(int))};
    bool direct = false;
    bool switched = false;

    take_links(&matrix);
    make_symmetric(&matrix);
    say_rest(&matrix);
    for (size_t i = 0; i < gpus * gpus; i++) {
        direct = direct || matrix.direct[i] > 0;
        switched = switched || matrix.to_switch[i / gpus] > 0;
    }
    if (switched) {
        return judge_switch(&matrix, direct);
    }
    return direct ? judge_direct(&matrix)
                  : (struct model_nccl_xml_links){MODEL_NVLINK_NONE, 0, NULL};
}
