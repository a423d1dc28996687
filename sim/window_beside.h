/*
 * window_beside.h - what the collectives of a rank hold at each moment: SMs,
 * L2 and HBM bandwidth, for the kernels that run beside them.
 */
#ifndef SIM_WINDOW_BESIDE_H
#define SIM_WINDOW_BESIDE_H

#include "sim/sim.h"

struct sim_beside;

/* Of rank 0, for a finished simulation. Lives in the arena. */
const struct sim_beside *sim_beside_make(struct model_arena *arena,
                                         const struct sim_result *result,
                                         int op_count);

/* What is seen from from_us to to_us. */
struct sim_beside_view {
    double moving_us; /* some collective moves data */
    double hbm_bytes; /* that they take */
    double most_sms;
    const struct model_config *config; /* of one that holds SMs then, or NULL */
    double most_footprint_bytes;
};

struct sim_beside_view
sim_beside_look(const struct sim_beside *beside, double from_us, double to_us);

#endif
