/*
 * window_cost.c - waves beside a collective, and a walk along a window.
 */
#include "model/window_cost.h"

#include "model/occupancy.h"

#include <math.h>

static double hbm_bytes_per_us(const struct model_gpu *gpu)
{
    return gpu->hbm_bytes_per_us * gpu->hbm_ratio;
}

struct model_contender
model_contender_make(const struct model_collective *collective,
                     const struct model_config *config,
                     const struct model_fabric *fabric,
                     const struct model_gpu *gpu)
{
    double hbm = hbm_bytes_per_us(gpu);
    double flows = (double)collective->channels * collective->crowded_hbm_ratio;

    if (!(collective->channel_bytes > 0.0)) {
        return (struct model_contender){.time_us = gpu->launch_us,
                                        .config = config};
    }
    return (struct model_contender){
        .time_us =
            gpu->launch_us + model_collective_alone_us(collective, fabric, hbm),
        .sms = collective->sms,
        .config = config,
        .hbm_bytes_per_us = flows * model_collective_alone_bytes_per_us(
                                        collective, fabric, hbm),
        .hbm_flows = flows,
        .footprint_bytes = collective->footprint_bytes};
}

int model_window_sms(const struct model_gpu *gpu,
                     const struct model_kernel *kernel,
                     const struct model_contender *beside)
{
    int most = model_gpu_slots(gpu, kernel->sm_limit);
    int sms = gpu->sm_count;

    if (beside != NULL && beside->sms > 0) {
        struct model_room room =
            model_occupancy_room(gpu, kernel, beside->config);

        sms += beside->sms * room.beside / room.full - beside->sms;
    }
    sms = sms < most ? sms : most;
    return sms > 1 ? sms : 1;
}

/* B - V for a kernel on so many SMs. */
static double left_bytes_per_us(const struct model_gpu *gpu,
                                const struct model_contender *beside,
                                double sms)
{
    double hbm = hbm_bytes_per_us(gpu);

    if (beside == NULL) {
        return hbm;
    }
    return fmax(hbm - beside->hbm_bytes_per_us,
                hbm * sms / (sms + beside->hbm_flows));
}

double model_window_wave_us(const struct model_gpu *gpu,
                            const struct model_kernel *kernel,
                            const struct model_contender *beside,
                            double sms)
{
    double footprint = beside != NULL ? beside->footprint_bytes : 0.0;
    double share =
        model_l2_share(gpu->l2_bytes, kernel->working_set_bytes, footprint);
    double bytes = model_kernel_load_bytes(kernel, share);
    double memory_us = fmax(bytes / gpu->sm_bytes_per_us,
                            sms * bytes / left_bytes_per_us(gpu, beside, sms));
    double theta_us = fmax(kernel->load_us - memory_us, 0.0);

    return theta_us + memory_us;
}

double model_window_kernel_us(const struct model_gpu *gpu,
                              const struct model_kernel *kernel,
                              const struct model_contender *beside)
{
    int sms = model_window_sms(gpu, kernel, beside);
    int waves = kernel->loads / sms;
    int rest = kernel->loads % sms;
    double full_us = model_window_wave_us(gpu, kernel, beside, sms);

    if (kernel->schedule == MODEL_STREAM_K) {
        return (double)kernel->loads / sms * full_us;
    }
    return waves * full_us +
           (rest > 0 ? model_window_wave_us(gpu, kernel, beside, rest) : 0.0);
}

/* Where the walk along a window is: the collective under way, and its rest. */
struct place {
    const struct model_window *window;
    int collective;
    double left_us;
};

static void next_collective(struct place *place)
{
    place->collective++;
    if (place->collective < place->window->collective_count) {
        place->left_us = place->window->collectives[place->collective]->time_us;
    }
}

/* Nothing runs beside the collectives for so long. */
static void pass(struct place *place, double time_us)
{
    while (place->collective < place->window->collective_count &&
           time_us >= place->left_us) {
        time_us -= place->left_us;
        next_collective(place);
    }
    place->left_us -= time_us;
}

/* y of a kernel: its work beside one collective after another, then alone. */
static double walk_kernel(struct place *place,
                          const struct model_kernel *kernel)
{
    const struct model_window *window = place->window;
    double launch_us = window->gpu->launch_us;
    double time_us = launch_us;
    double work = 1.0;

    pass(place, launch_us);
    while (place->collective < window->collective_count) {
        double whole_us = model_window_kernel_us(
            window->gpu, kernel, window->collectives[place->collective]);

        if (work * whole_us <= place->left_us) {
            place->left_us -= work * whole_us;
            return time_us + work * whole_us;
        }
        time_us += place->left_us;
        work -= place->left_us / whole_us;
        next_collective(place);
    }
    return time_us + work * model_window_kernel_us(window->gpu, kernel, NULL);
}

struct model_window_cost model_window_cost(const struct model_window *window,
                                           double *kernel_us)
{
    struct model_window_cost cost = {.x_us = 0.0};
    struct place place = {.window = window, .collective = -1};

    next_collective(&place);
    for (int i = 0; i < window->kernel_count; i++) {
        double y_us = walk_kernel(&place, window->kernels[i]);

        cost.y_us += y_us;
        if (kernel_us != NULL) {
            kernel_us[i] = y_us;
        }
    }
    for (int j = 0; j < window->collective_count; j++) {
        cost.x_us += window->collectives[j]->time_us;
    }
    cost.z_us = fmax(cost.x_us, cost.y_us);
    return cost;
}
