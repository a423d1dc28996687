/*
 * kernel.c - GEMM tiling, grids by totals, and the L2 share.
 */
#include "model/kernel.h"

#include <math.h>

/*
 * Streaming kernels have far more CTAs than the GPU has slots; so many loads
 * that what the last wave wastes does not matter.
 */
enum { MEMORY_LOADS_PER_SM = 16 };

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

/* The block of tiles of one wave that loads the fewest panel rows. */
static double wave_panel_rows(
    double tiles, double tiles_m, double tiles_n, double tile_m, double tile_n)
{
    double high = sqrt(tiles * tile_n / tile_m);
    double wide;

    high = fmin(fmax(high, tiles / tiles_n), tiles_m);
    high = fmax(high, 1.0);
    wide = fmin(tiles / high, tiles_n);
    return high * tile_m + wide * tile_n;
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

struct model_kernel model_kernel_gemm(const struct model_gpu *gpu,
                                      enum model_type type,
                                      double m,
                                      double n,
                                      double k,
                                      double batch,
                                      int tile_m,
                                      int tile_n,
                                      enum model_schedule schedule)
{
    double bytes = model_type_bytes(type);
    double rows = tile_m > 0 ? tile_m : gpu->tile_m;
    double columns = tile_n > 0 ? tile_n : gpu->tile_n;
    double tiles_m = ceil(m / rows);
    double tiles_n = ceil(n / columns);
    double tiles = tiles_m * tiles_n * batch;
    double wave = fmin(tiles_m * tiles_n, (double)gpu->sm_count);
    double panel =
        wave_panel_rows(wave, tiles_m, tiles_n, rows, columns) * k * bytes;
    double output = rows * columns * bytes;
    double matrices =
        fmax(fmin(batch, (double)gpu->sm_count / (tiles_m * tiles_n)), 1.0);
    struct model_kernel kernel = {
        .schedule = schedule,
        .loads = (int)fmin(tiles, 2147483647.0),
        .overflows = tiles > 2147483647.0,
        .load_us = 2.0 * rows * columns * k /
                   model_gpu_sm_flops_per_us(gpu, type, MODEL_CLASS_GEMM),
        .load_bytes = panel / wave + output,
        .load_no_reuse_bytes = (rows + columns) * k * bytes + output,
        .working_set_bytes = panel * matrices};

    model_kernel_schedule(&kernel, schedule, gpu->sm_count);
    return kernel;
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
    struct model_kernel kernel = {.schedule = schedule, .loads = loads};

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

struct model_kernel model_kernel_memory(const struct model_gpu *gpu,
                                        double bytes)
{
    int loads = MEMORY_LOADS_PER_SM * gpu->sm_count;
    double each = bytes / (double)loads;

    return (struct model_kernel){.schedule = MODEL_WAVES,
                                 .loads = loads,
                                 .load_bytes = each,
                                 .load_no_reuse_bytes = each};
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
    double rounds = ceil((double)kernel->loads / (double)gpu->sm_count);

    return fmax(rounds * load_us, (double)kernel->loads * kernel->load_bytes /
                                      (gpu->hbm_bytes_per_us * gpu->hbm_ratio));
}
