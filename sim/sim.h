/*
 * sim.h - one simulated iteration of a workload on a topology.
 *
 * A simulation is one object that owns all its state in one arena; any number
 * run side by side, each in its own thread. Same inputs give the same result
 * to the bit. What is simulated:
 *
 *   streams      in order, concurrent, joined by `after`; launch latency and
 *                CPU launch rate; collectives of a communicator in order
 *   SMs          loads of CTAs on SMs, without preemption; one channel of a
 *                collective holds one SM from residence to the end, shared with
 *                CTAs that fit beside it; pending kernels are served by stream
 *                priority, then launch order
 *   collectives  move data only while resident on every rank of the group;
 *                one that spins also waits for `after` there
 *   ranks        slow ones, jitter and several kinds of GPU (all ranks only)
 *   HBM, links   shared max-min fairly between all that runs (share.h)
 *   L2           the chunks of running collectives take L2 from GEMM waves
 *
 * Folded, one rank stands for all: right where every rank has the same
 * program and an equivalent place. With all ranks each has its own SMs and HBM,
 * but a collective still takes the mean HBM traffic over its ring from each.
 *
 * A caller reads a topology (model/topology.h), then a workload for it
 * (model/workload.h); asks what NCCL would do (model/nccl/version.h, nccl.h),
 * unless ops and plan say all; then sim_new and sim_run, all in one arena.
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "model/plan.h"

#include <stdint.h>

struct sim_request {
    const struct model_topology *topology;
    const struct model_workload *workload;
    const struct model_plan *plan; /* or NULL */
    const struct model_nccl *nccl; /* decides what ops and plan leave open;
                                      NULL: they say all */
    bool all_ranks;                /* simulate each rank */
    uint64_t seed;                 /* of jitter */
    uint64_t event_limit;          /* 0: a large default */
};

/* Parts of the difference between time in company and time alone, us. */
struct sim_lost {
    double sm;     /* waiting for SMs, or running on fewer */
    double l2;     /* more HBM traffic because L2 was taken */
    double hbm;    /* HBM bandwidth taken by others */
    double link;   /* links taken by others */
    double peer;   /* resident, waiting for other ranks or spinning */
    double launch; /* ready, but the CPU had not launched it yet */
};

/*
 * What a collective moved, and what set its pace. Its rate is set by a shared
 * resource, or by what its own channels can do: the one that did so longest.
 */
enum { SIM_LIMITED_BY_CHANNELS = -1 };

struct sim_move {
    double wire_bytes;      /* that a rank sends */
    double hbm_bytes;       /* of a rank: to and from its memory */
    double footprint_bytes; /* in a rank's L2 */
    double handover_us;     /* sooner, among equal ones back to back */
    double moving_us;       /* 0: one rank, nothing to move */
    int limited_by;         /* resource, or SIM_LIMITED_BY_CHANNELS */
    double limited_us;      /* for so much of moving_us */
};

struct sim_op_result {
    int op; /* index in the workload */
    int rank;
    double start_us; /* dependencies met, head of its stream */
    double run_us;   /* collectives: on the device; kernels: on an SM */
    double end_us;
    double mean_sms;  /* held while it ran; collectives: while resident */
    double hbm_bytes; /* that it moved to and from its rank's memory */
    const struct sim_move *move; /* collectives */
    struct sim_lost lost; /* sums to the difference once alone_us is known */
    struct model_config config; /* collectives */
    bool takes_part;            /* false: the rank is not in the group */
    double work_ratio;          /* kernels: work on this rank over the usual,
                                   by slow ranks and jitter of the topology */
};

/* The mean time of so many equal ones back to back, of which this was one. */
double sim_op_mean_us(const struct sim_op_result *op, int repeats);

/* A shared resource and how much of it was used over the iteration. */
struct sim_resource_result {
    int resource;
    double busy_ratio;
};

/*
 * The stretch of time that comes `extra` times more often than it is simulated:
 * a step of the workload's cycle, from the end of the step before to its own.
 * Without a cycle extra is 0.
 *
 * When the cycle's step ends all is as it was one period before, when the step
 * before ended: nothing runs, or the same. What happens next depends on that
 * alone, so that another equal step takes one period more, too, and comes to
 * its end like this. The iteration is what is simulated and `extra` periods.
 * Exact where steps end with all streams joined, as those of the model form do,
 * but that launches ahead of the first steps may last into the second.
 */
struct sim_steady {
    double from_us, to_us;
    double extra;
};

/* Times are of the whole iteration, but those of ops and the steady stretch. */
struct sim_result {
    double iteration_us;
    struct sim_steady steady;
    double compute_us;      /* some kernel has an SM, rank 0 */
    double comm_us;         /* some collective is on the device, rank 0 */
    double exposed_comm_us; /* a collective runs and no kernel does, rank 0 */
    uint64_t events;
    uint64_t fingerprint;            /* of the trajectory */
    int rank_count;                  /* simulated */
    const struct sim_op_result *ops; /* rank by rank, in workload order */
    int op_count;
    const struct sim_resource_result *resources; /* used ones */
    int resource_count;
};

struct sim;

/*
 * Prepare a simulation in the arena, which must outlive it; the request's
 * pointers are borrowed. NULL with the faults in errors when an op cannot run
 * (an incomplete configuration, a type that the GPU lacks, ...).
 */
struct sim *sim_new(struct model_arena *arena,
                    const struct sim_request *request,
                    struct model_errors *errors);

/*
 * Run to the end. MODEL_STUCK, with one error for each blocked op and what it
 * waits for, when nothing can happen any more or the event limit is reached.
 */
enum model_status sim_run(struct sim *sim,
                          struct sim_result *result,
                          struct model_errors *errors);

/* "rank0.hbm" or a link's name; returns buffer. */
char *sim_resource_name(const struct sim *sim,
                        int resource,
                        char *buffer,
                        size_t buffer_bytes);

/*
 * Whether the run that follows asserts its invariants at every instant: shares
 * are max-min fair, SMs are conserved. For tests and --check.
 */
void sim_check_invariants(struct sim *sim, bool on);

#endif
