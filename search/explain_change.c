/*
 * explain_change.c - the table of changes.
 *
 * Hardware is changed in the topology's structs, by a factor that somebody
 * could buy; settings are changed in all collectives that can run with them.
 * Algorithms, protocols and transports come from the tables of their names.
 */
#include "search/explain_change.h"

#include "model/ranks.h"

#include <math.h>
#include <string.h>

/* GPUs of single ranks, to be changed as the others are. */
static void copy_mixed(struct search_variant *variant)
{
    struct model_list *list = &variant->topology.mixed;
    struct model_mixed *copy = model_arena_array(
        variant->arena, (size_t)list->count + 1, sizeof(*copy));

    if (list->count > 0) {
        memcpy(copy, list->items, (size_t)list->count * sizeof(*copy));
    }
    list->items = copy;
}

/* A kind of GPU of the variant, from 0, or NULL. */
static struct model_gpu *gpu_at(struct search_variant *variant, int index)
{
    struct model_mixed *mixed = variant->topology.mixed.items;

    if (index > variant->topology.mixed.count) {
        return NULL;
    }
    return index == 0 ? &variant->topology.gpu : &mixed[index - 1].gpu;
}

struct search_variant search_variant_make(struct model_arena *arena,
                                          const struct search_explanation *base)
{
    const struct sim_request *request = base->request;
    int count = request->workload->op_count;
    struct search_variant variant = {.arena = arena,
                                     .base = base,
                                     .topology = *request->topology,
                                     .workload = *request->workload};
    struct model_op *ops =
        model_arena_array(arena, (size_t)count + 1, sizeof(*ops));

    for (int i = 0; i < count; i++) {
        ops[i] = request->workload->ops[i];
        if (model_op_is_collective(&ops[i])) {
            ops[i].config = base->result->ops[i].config;
        }
    }
    variant.workload.ops = ops;
    copy_mixed(&variant);
    return variant;
}

/* -- hardware -- */

static bool faster_nvlink(struct search_variant *variant, int factor)
{
    variant->topology.nvlink.bytes_per_us *= factor;
    return variant->base->collectives > 0 &&
           variant->topology.nvlink.kind != MODEL_NVLINK_NONE;
}

/* Ports serve one transport each. */
static bool uses_transport(const struct search_variant *variant, int transport)
{
    for (int i = 0; i < variant->workload.op_count; i++) {
        const struct model_op *op = &variant->workload.ops[i];

        if (model_op_is_collective(op) && op->config.transport == transport) {
            return true;
        }
    }
    return false;
}

static bool faster_pcie(struct search_variant *variant, int factor)
{
    variant->paths = model_arena_format(
        variant->arena, "%s%s%s", variant->paths,
        uses_transport(variant, MODEL_P2P) ? " node.pcie.p2p_rate" : "",
        uses_transport(variant, MODEL_SHM) ? " node.pcie.shm_rate" : "");
    variant->topology.pcie.bytes_per_us *= factor;
    variant->topology.pcie.p2p_bytes_per_us *= factor;
    variant->topology.pcie.shm_bytes_per_us *= factor;
    return variant->base->collectives > 0;
}

static bool faster_host(struct search_variant *variant, int factor)
{
    variant->topology.host.cross_bytes_per_us *= factor;
    variant->topology.host.memory_bytes_per_us *= factor;
    return variant->base->collectives > 0;
}

static bool faster_nics(struct search_variant *variant, int factor)
{
    variant->topology.nics.bytes_per_us *= factor;
    return variant->base->collectives > 0 && variant->topology.nics.count > 0 &&
           variant->topology.node_count > 1;
}

static void scale_arithmetic(struct model_gpu *gpu, double ratio)
{
    for (int type = 0; type < MODEL_TYPES; type++) {
        gpu->peak_flops_per_us[type] *= ratio;
    }
    gpu->vector_flops_per_us *= ratio;
}

/* A tenth more SMs, each as fast as before. */
static bool more_sms(struct search_variant *variant, int percent)
{
    struct model_gpu *gpu;
    bool more = false;

    for (int i = 0; (gpu = gpu_at(variant, i)) != NULL; i++) {
        int before = gpu->sm_count;

        gpu->sm_count = (int)lround(before * (1.0 + percent / 100.0));
        scale_arithmetic(gpu, (double)gpu->sm_count / before);
        more = more || gpu->sm_count > before;
        if (variant->topology.mixed.count == 0) {
            variant->text = model_arena_format(
                variant->arena, "%d SMs instead of %d", gpu->sm_count, before);
        }
    }
    return more;
}

/* Keys of the peaks that kernels reach, of the classes that there are. */
static const char *class_paths(const struct search_variant *variant)
{
    const char *paths = "";

    for (int class = 0; class < MODEL_KERNEL_CLASSES; class ++) {
        bool used = false;

        for (int i = 0; i < variant->workload.op_count && !used; i++) {
            const struct model_op *op = &variant->workload.ops[i];

            used = !model_op_is_collective(op) && op->kernel_class == class &&
                   model_op_kernel(op, &variant->topology.gpu).load_us > 0.0;
        }
        if (used) {
            paths = model_arena_format(variant->arena, "%s gpu.achieved.%s",
                                       paths, model_kernel_class_names[class]);
        }
    }
    return paths;
}

static bool faster_arithmetic(struct search_variant *variant, int percent)
{
    struct model_gpu *gpu;

    variant->paths = class_paths(variant);
    for (int i = 0; (gpu = gpu_at(variant, i)) != NULL; i++) {
        scale_arithmetic(gpu, 1.0 + percent / 100.0);
    }
    return true;
}

static bool faster_hbm(struct search_variant *variant, int percent)
{
    struct model_gpu *gpu;

    for (int i = 0; (gpu = gpu_at(variant, i)) != NULL; i++) {
        gpu->hbm_bytes_per_us *= 1.0 + percent / 100.0;
    }
    return true;
}

static bool larger_l2(struct search_variant *variant, int factor)
{
    struct model_gpu *gpu;

    for (int i = 0; (gpu = gpu_at(variant, i)) != NULL; i++) {
        gpu->l2_bytes *= factor;
    }
    return true;
}

static bool free_launches(struct search_variant *variant, int choice)
{
    struct model_gpu *gpu;

    (void)choice;
    for (int i = 0; (gpu = gpu_at(variant, i)) != NULL; i++) {
        gpu->launch_us = 0.0;
        gpu->issue_us = 0.0;
    }
    return true;
}

static bool full_network(struct search_variant *variant, int choice)
{
    bool scarce = variant->topology.network.oversubscription_ratio > 1.0;

    (void)choice;
    variant->topology.network.oversubscription_ratio = 1.0;
    return variant->base->collectives > 0 && scarce;
}

static bool free_collectives(struct search_variant *variant, int choice)
{
    (void)choice;
    variant->workload =
        search_without_collectives(variant->arena, &variant->workload);
    return variant->base->collectives > 0 && variant->workload.op_count > 0;
}

/* -- the table -- */

static const struct search_change fixed_changes[] = {
    {"free", "collectives that cost nothing", NULL, free_collectives,
     SEARCH_CHANGE_LIMIT, 0},
    {"nvlink", "NVLink x 2", "node.nvlink.rate gpu.nvlink.rate", faster_nvlink,
     SEARCH_CHANGE_HARDWARE, 2},
    {"pcie", "PCIe links and ports x 2", "node.pcie.rate", faster_pcie,
     SEARCH_CHANGE_HARDWARE, 2},
    {"host", "host memory and socket links x 2",
     "node.host.cross_rate node.host.memory_rate", faster_host,
     SEARCH_CHANGE_HARDWARE, 2},
    {"nic", "NICs x 2", "node.nics.rate node.nics.achieved", faster_nics,
     SEARCH_CHANGE_HARDWARE, 2},
    {"network", "no oversubscription of the network", NULL, full_network,
     SEARCH_CHANGE_HARDWARE, 0},
    {"sms", "SMs x 1.1", "gpu.sm.count", more_sms, SEARCH_CHANGE_HARDWARE, 10},
    {"arithmetic", "arithmetic x 1.25", "", faster_arithmetic,
     SEARCH_CHANGE_HARDWARE, 25},
    {"hbm", "HBM x 1.25", "gpu.hbm.rate gpu.hbm.achieved", faster_hbm,
     SEARCH_CHANGE_HARDWARE, 25},
    {"l2", "L2 x 2", "gpu.l2", larger_l2, SEARCH_CHANGE_HARDWARE, 2},
    {"launch", "launches that cost nothing",
     "gpu.launch.latency gpu.launch.interval", free_launches,
     SEARCH_CHANGE_HARDWARE, 0},
    {"channels_half", "half the channels", NULL, search_other_channels,
     SEARCH_CHANGE_SETTING, 50},
    {"channels_double", "twice the channels", NULL, search_other_channels,
     SEARCH_CHANGE_SETTING, 200},
    {"chunk_quarter", "a quarter of the chunk", NULL, search_smaller_chunks,
     SEARCH_CHANGE_SETTING, 4}};

enum { FIXED_CHANGES = sizeof(fixed_changes) / sizeof(fixed_changes[0]) };

/* One row for each name of a table. */
static int add_choices(struct model_arena *arena,
                       const char *what,
                       const char *const *names,
                       bool (*apply)(struct search_variant *, int),
                       struct search_change *list)
{
    int count = 0;

    for (; names[count] != NULL; count++) {
        list[count] = (struct search_change){
            .kind = SEARCH_CHANGE_SETTING,
            .key = model_arena_format(arena, "%s_%s", what, names[count]),
            .text = model_arena_format(arena, "%s %s", what, names[count]),
            .apply = apply,
            .choice = count};
    }
    return count;
}

int search_changes(struct model_arena *arena, struct search_change **list)
{
    struct search_change *all = model_arena_array(
        arena,
        FIXED_CHANGES + MODEL_ALGORITHMS + MODEL_PROTOCOLS + MODEL_TRANSPORTS,
        sizeof(*all));
    int count = FIXED_CHANGES;

    memcpy(all, fixed_changes, sizeof(fixed_changes));
    count += add_choices(arena, "algorithm", model_algorithm_names,
                         search_other_algorithm, &all[count]);
    count += add_choices(arena, "protocol", model_protocol_names,
                         search_other_protocol, &all[count]);
    count += add_choices(arena, "transport", model_transport_names,
                         search_other_transport, &all[count]);
    *list = all;
    return count;
}

/* -- guesses -- */

static bool
is_guess(const struct model_topology *topology, const char *path, size_t length)
{
    for (const struct model_provenance_entry *entry =
             topology->provenance.first;
         entry != NULL; entry = entry->next) {
        if (entry->origin == MODEL_FROM_GUESS &&
            strlen(entry->path) == length &&
            strncmp(entry->path, path, length) == 0) {
            return true;
        }
    }
    return false;
}

const char *search_guesses(struct model_arena *arena,
                           const struct model_topology *topology,
                           const char *paths)
{
    const char *found = NULL;

    paths = paths != NULL ? paths + strspn(paths, " ") : "";
    while (*paths != '\0') {
        size_t length = strcspn(paths, " ");

        if (is_guess(topology, paths, length)) {
            found = model_arena_format(
                arena, "%s%s%.*s", found != NULL ? found : "",
                found != NULL ? ", " : "", (int)length, paths);
        }
        paths += length + strspn(paths + length, " ");
    }
    return found;
}
