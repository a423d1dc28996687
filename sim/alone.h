/*
 * alone.h - how long an op takes when nothing else runs.
 *
 * The same simulator, with a workload of this one op: so the difference to
 * its time in company is contention and nothing else. Equal ops are simulated
 * once. Alone an op runs on its own rank as it does there: on that GPU, and
 * with the factor that slow ranks and jitter give it.
 */
#ifndef SIM_ALONE_H
#define SIM_ALONE_H

#include "sim/sim.h"

struct sim_alone;

/* An op by itself. */
struct sim_alone_op {
    double us;            /* from ready to end */
    struct sim_lost lost; /* groups of a family lose to each other even so */
    double hbm_bytes;     /* of rank 0; with all of L2 */
};

/* Borrows the request; lives in the arena. */
struct sim_alone *sim_alone_new(struct model_arena *arena,
                                const struct sim_request *request);

/* Do two ops ask for the same? Names, streams and order do not count. */
bool sim_alone_same(const struct model_op *a, const struct model_op *b);

/*
 * An op with a configuration (collectives) by itself, on rank 0 at its usual
 * speed. The op must have run in a simulation of the same request.
 */
struct sim_alone_op sim_alone_op(struct sim_alone *alone,
                                 int op,
                                 const struct model_config *config);

/* The same: its time, us, from ready to end. */
double sim_alone_us(struct sim_alone *alone,
                    int op,
                    const struct model_config *config);

/*
 * Complete a result, so that the parts of lost add up to the difference: of
 * computation, lost.sm is what neither L2, HBM nor launch explains; of a
 * collective, what its family's groups lose to each other alone is left out
 * (and below 0 where company keeps them apart).
 */
void sim_alone_explain(struct sim_alone *alone,
                       struct sim_op_result *result,
                       double *alone_us);

#endif
