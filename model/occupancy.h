/*
 * occupancy.h - how many CTAs an SM holds, alone and beside another kernel.
 *
 * A CTA is resident when the SM has a slot for it, room for its threads (whole
 * warps), its registers (each warp gets them in granules) and its shared memory
 * (what it asks for and what the driver reserves for each CTA). The same rule
 * decides for one kernel and for two:
 *
 *     sum over resident CTAs of what each takes <= limit of the SM
 *
 * for each of the four (CUDA C++ programming guide, "Hardware multithreading").
 * That an SM's registers lie in four parts, one for each scheduler, is not
 * modelled: warps are spread over them nearly evenly.
 */
#ifndef MODEL_OCCUPANCY_H
#define MODEL_OCCUPANCY_H

#include "model/config.h"
#include "model/kernel.h"

/* CTAs of one kernel on an SM of its own; 0: not even one fits. */
int model_occupancy(const struct model_gpu *gpu, const struct model_cta *cta);

/* CTAs of a kernel that fit beside one CTA of another; 0: none. */
int model_occupancy_beside(const struct model_gpu *gpu,
                           const struct model_cta *cta,
                           const struct model_cta *other);

/*
 * A CTA of the NCCL kernel that runs a complete configuration (NCCL 2.18.3,
 * enqueue.cc): its workers; with Simple one warp more in a ring and four in a
 * tree, which wait for peers and post to them; 640 threads whatever is asked
 * for NVLS, PAT, send and receive. Registers are the cap NCCL is compiled with,
 * shared memory is asked for whatever the number of threads.
 */
struct model_cta model_occupancy_channel(const struct model_gpu *gpu,
                                         const struct model_config *config);

/* A CTA of a kernel; nothing where the kernel does not say. */
struct model_cta model_occupancy_cta(const struct model_kernel *kernel);

/* CTAs of one load of a kernel, and how many of them fit beside a channel. */
struct model_room {
    int full;   /* >= 1 */
    int beside; /* 0 .. full */
};

/*
 * Room for a kernel on an SM that holds one CTA of a collective. A kernel that
 * does not say what its CTAs ask for (cta_threads 0) takes SMs whole: {1, 0}.
 */
struct model_room model_occupancy_room(const struct model_gpu *gpu,
                                       const struct model_kernel *kernel,
                                       const struct model_config *config);

#endif
