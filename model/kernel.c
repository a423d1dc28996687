/*
 * kernel.c - schedules, grids by totals, and the L2 share.
 */
#include "model/kernel.h"

#include <math.h>

const char *const model_schedule_names[] = {"waves", "persistent", "stream_k",
                                            NULL};

double model_gpu_sm_flops_per_us(const struct model_gpu *gpu,
                                 enum model_type type,
                                 enum model_kernel_class kernel_class)
{
    double peak = kernel_class == MODEL_CLASS_VECTOR
                      ? gpu->vector_flops_per_us
                      : gpu->peak_flops_per_us[type];

    return peak * gpu->class_ratio[kernel_class] / (double)gpu->sm_count;
}

/* Merge tiles into one load per SM when the grid is static. */
static void make_persistent(struct model_kernel *kernel, int slots)
{
    int grid = kernel->loads < slots ? kernel->loads : slots;
    double each = ceil((double)kernel->loads / (double)grid);
    double mean = (double)kernel->loads / (double)grid;

    kernel->loads = grid;
    kernel->load_us *= each;
    kernel->load_bytes *= mean;
    kernel->load_no_reuse_bytes *= mean;
}

/* Spread the work evenly over the SMs of the empty GPU. */
static void make_even(struct model_kernel *kernel, int slots)
{
    double mean = (double)kernel->loads / (double)slots;

    kernel->loads = slots;
    kernel->load_us *= mean;
    kernel->load_bytes *= mean;
    kernel->load_no_reuse_bytes *= mean;
}

void model_kernel_schedule(struct model_kernel *kernel,
                           enum model_schedule schedule,
                           int slots)
{
    kernel->schedule = schedule;
    if (kernel->schedule == MODEL_PERSISTENT) {
        make_persistent(kernel, slots);
    } else if (kernel->schedule == MODEL_STREAM_K) {
        make_even(kernel, slots);
    }
}

struct model_kernel model_kernel_grid(const struct model_gpu *gpu,
                                      enum model_type type,
                                      enum model_kernel_class kernel_class,
                                      int ctas,
                                      int ctas_per_sm,
                                      double flops,
                                      double bytes,
                                      enum model_schedule schedule)
{
    int loads = (ctas + ctas_per_sm - 1) / ctas_per_sm;
    double share = (double)ctas_per_sm / (double)ctas;
    double load_bytes;
    struct model_kernel kernel = {
        .schedule = schedule, .loads = loads, .ctas_per_sm = ctas_per_sm};

    /* One load that is not full does the whole work. */
    share = fmin(share, 1.0);
    load_bytes = bytes / (double)loads; /* the mean: one may not be full */
    kernel.load_us =
        flops * share / model_gpu_sm_flops_per_us(gpu, type, kernel_class);
    kernel.load_bytes = load_bytes;
    kernel.load_no_reuse_bytes = load_bytes;
    model_kernel_schedule(&kernel, schedule, gpu->sm_count);
    return kernel;
}

void model_kernel_set_cta(struct model_kernel *kernel,
                          const struct model_cta *cta,
                          int ctas_per_sm)
{
    kernel->cta_threads = cta->threads;
    kernel->cta_registers = cta->registers;
    kernel->cta_shared_bytes = cta->shared_bytes;
    kernel->ctas_per_sm = ctas_per_sm;
}

int model_gpu_slots(const struct model_gpu *gpu, int sm_limit)
{
    return sm_limit > 0 && sm_limit < gpu->sm_count ? sm_limit : gpu->sm_count;
}

double model_l2_share(double l2_bytes,
                      double working_set_bytes,
                      double footprint_bytes)
{
    double wanted =
        fmin(working_set_bytes, l2_bytes) + fmin(footprint_bytes, l2_bytes);

    return wanted > l2_bytes ? l2_bytes / wanted : 1.0;
}

double model_kernel_load_bytes(const struct model_kernel *kernel,
                               double l2_share)
{
    return l2_share * kernel->load_bytes +
           (1.0 - l2_share) * kernel->load_no_reuse_bytes;
}

double model_kernel_bound_us(const struct model_kernel *kernel,
                             const struct model_gpu *gpu)
{
    double load_us =
        fmax(kernel->load_us, kernel->load_bytes / gpu->sm_bytes_per_us);
    double slots = model_gpu_slots(gpu, kernel->sm_limit);
    double rounds = ceil((double)kernel->loads / slots);

    return fmax(rounds * load_us, (double)kernel->loads * kernel->load_bytes /
                                      (gpu->hbm_bytes_per_us * gpu->hbm_ratio));
}

double model_kernel_alone_us(const struct model_kernel *kernel,
                             const struct model_gpu *gpu)
{
    int slots = model_gpu_slots(gpu, kernel->sm_limit);
    int waves = kernel->loads / slots;
    int rest = kernel->loads % slots;
    double load_us =
        fmax(kernel->load_us, kernel->load_bytes / gpu->sm_bytes_per_us);
    double hbm_us =
        kernel->load_bytes / (gpu->hbm_bytes_per_us * gpu->hbm_ratio);

    return waves * fmax(load_us, slots * hbm_us) +
           (rest > 0 ? fmax(load_us, rest * hbm_us) : 0.0);
}
