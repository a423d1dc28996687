/*
 * occupancy.c - what is taken, what is left, and how often a CTA fits.
 */
#include "model/occupancy.h"

#include <math.h>

enum { WARP = 32, MOST_THREADS = 640 /* of a NCCL kernel */ };

/* Resources of one SM: what there is, or what somebody takes. */
struct amount {
    double ctas;
    double warps;
    double registers;
    double shared_bytes;
};

static struct amount taken(const struct model_gpu *gpu,
                           const struct model_cta *cta)
{
    double granule =
        gpu->sm_register_granule > 0 ? (double)gpu->sm_register_granule : 1.0;
    double warps = ceil((double)cta->threads / WARP);
    double of_warp = ceil((double)cta->registers * WARP / granule) * granule;

    return (struct amount){.ctas = 1.0,
                           .warps = warps,
                           .registers = warps * of_warp,
                           .shared_bytes =
                               cta->shared_bytes + gpu->sm_reserved_bytes};
}

static struct amount all_of(const struct model_gpu *gpu)
{
    return (struct amount){.ctas = (double)gpu->sm_ctas,
                           .warps = floor((double)gpu->sm_threads / WARP),
                           .registers = (double)gpu->sm_registers,
                           .shared_bytes = gpu->sm_shared_bytes};
}

/* How often a part fits into what there is; a part of nothing always does. */
static double times(double whole, double part)
{
    return part > 0.0 ? floor(fmax(whole, 0.0) / part) : HUGE_VAL;
}

static int fits(const struct amount *room, const struct amount *cta)
{
    double count = times(room->ctas, cta->ctas);

    count = fmin(count, times(room->warps, cta->warps));
    count = fmin(count, times(room->registers, cta->registers));
    return (int)fmin(count, times(room->shared_bytes, cta->shared_bytes));
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
