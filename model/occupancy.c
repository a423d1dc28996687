/*
 * occupancy.c - what is taken, what is left, and how often a CTA fits.
 */
#include "model/occupancy.h"

enum { WARP = 32, MOST_THREADS = 640 /* of a NCCL kernel */ };

/* Resources of one SM: what there is, or what somebody takes. */
struct amount {
    int ctas;
    int warps;
    int registers;
    double shared_bytes;
};

static struct amount taken(const struct model_gpu *gpu,
                           const struct model_cta *cta)
{
    int granule = gpu->sm_register_granule > 0 ? gpu->sm_register_granule : 1;
    int warps = (cta->threads + WARP - 1) / WARP;
    int of_warp = cta->registers * WARP;

    of_warp = (of_warp + granule - 1) / granule * granule;
    return (struct amount){.ctas = 1,
                           .warps = warps,
                           .registers = warps * of_warp,
                           .shared_bytes =
                               cta->shared_bytes + gpu->sm_reserved_bytes};
}

static struct amount all_of(const struct model_gpu *gpu)
{
    return (struct amount){.ctas = gpu->sm_ctas,
                           .warps = gpu->sm_threads / WARP,
                           .registers = gpu->sm_registers,
                           .shared_bytes = gpu->sm_shared_bytes};
}

/* How often a CTA fits into what there is; what it needs none of, always. */
static int fits(const struct amount *room, const struct amount *cta)
{
    int count = room->ctas;

    if (cta->warps > 0 && room->warps / cta->warps < count) {
        count = room->warps / cta->warps;
    }
    if (cta->registers > 0 && room->registers / cta->registers < count) {
        count = room->registers / cta->registers;
    }
    if (cta->shared_bytes > 0.0 &&
        room->shared_bytes < cta->shared_bytes * (double)count) {
        count = (int)(room->shared_bytes / cta->shared_bytes);
    }
    return count > 0 ? count : 0;
}

int model_occupancy(const struct model_gpu *gpu, const struct model_cta *cta)
{
    struct amount room = all_of(gpu);
    struct amount one = taken(gpu, cta);

    return fits(&room, &one);
}

int model_occupancy_beside(const struct model_gpu *gpu,
                           const struct model_cta *cta,
                           const struct model_cta *other)
{
    struct amount room = all_of(gpu);
    struct amount one = taken(gpu, cta);
    struct amount held = taken(gpu, other);

    room.ctas -= held.ctas;
    room.warps -= held.warps;
    room.registers -= held.registers;
    room.shared_bytes -= held.shared_bytes;
    return fits(&room, &one);
}

struct model_cta model_occupancy_cta(const struct model_kernel *kernel)
{
    return (struct model_cta){.threads = kernel->cta_threads,
                              .registers = kernel->cta_registers,
                              .shared_bytes = kernel->cta_shared_bytes};
}

/* Threads of a CTA: workers, and with Simple those that wait for peers. */
static int channel_threads(const struct model_config *config)
{
    switch ((enum model_algorithm)config->algorithm) {
    case MODEL_NVLS:
    case MODEL_NVLS_TREE:
    case MODEL_PAT:
    case MODEL_PAIRWISE:
        return MOST_THREADS;
    case MODEL_TREE:
        return config->threads +
               (config->protocol == MODEL_SIMPLE ? 4 * WARP : 0);
    case MODEL_RING:
    case MODEL_COPY_ENGINE:
    case MODEL_ALGORITHMS:
        break;
    }
    return config->threads + (config->protocol == MODEL_SIMPLE ? WARP : 0);
}

struct model_cta model_occupancy_channel(const struct model_gpu *gpu,
                                         const struct model_config *config)
{
    return (struct model_cta){.threads = channel_threads(config),
                              .registers = gpu->nccl_registers,
                              .shared_bytes = gpu->nccl_shared_bytes};
}

struct model_room model_occupancy_room(const struct model_gpu *gpu,
                                       const struct model_kernel *kernel,
                                       const struct model_config *config)
{
    struct model_cta cta = model_occupancy_cta(kernel);
    struct model_cta channel = model_occupancy_channel(gpu, config);
    struct model_room room = {.full = 1, .beside = 0};
    int beside;

    if (kernel->cta_threads == 0) {
        return room;
    }
    room.full = kernel->ctas_per_sm > 0 ? kernel->ctas_per_sm
                                        : model_occupancy(gpu, &cta);
    beside = model_occupancy_beside(gpu, &cta, &channel);
    room.beside = beside < room.full ? beside : room.full;
    return room;
}
