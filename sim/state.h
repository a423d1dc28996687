/*
 * state.h - the inside of a simulation, shared by the files of sim/ that make
 * it move: sim.c (events), sm.c (SMs), rates.c (bandwidth).
 *
 * Everything is indices into flat arrays. A run is one op on one rank; a joint
 * is what the runs of one collective have in common.
 */
#ifndef SIM_STATE_H
#define SIM_STATE_H

#include "sim/queue.h"
#include "sim/share.h"
#include "sim/sim.h"

enum sim_run_state {
    SIM_WAITING,  /* for dependencies or its stream */
    SIM_LAUNCHED, /* dependencies met, on its way to the device */
    SIM_PENDING,  /* on the device, no SM yet */
    SIM_RUNNING,
    SIM_DONE
};

/* SMs that began their current load at the same moment. */
struct sim_cohort {
    double finish; /* progress of the run at which the load is done */
    int sms;
    int next; /* index, or -1 */
};

struct sim_run {
    enum sim_run_state state;
    int op;
    int rank;
    int issue;       /* ops that the rank's CPU launches before it */
    int waits;       /* dependencies and stream predecessor not done */
    int priority;    /* of its stream */
    uint64_t launch; /* launch order on the rank */
    int64_t ready_ps;
    int64_t begin_ps;    /* on the device */
    int64_t resident_ps; /* collective: all its SMs held; kernel: the first */
    int64_t end_ps;
    struct sim_lost lost;
    int next_pending; /* next in its rank's list of those that want SMs */
    bool wants_sms;
    int sms; /* held now */
    /* computation */
    int loads_left;    /* not yet on an SM */
    int cohorts;       /* list, or -1 */
    double progress;   /* in loads, the clock of the cohorts */
    double rate;       /* loads per us and SM; 0: not running */
    double alone_us;   /* of a load on these SMs, all else its own */
    double l2_us;      /* of a load, with the L2 share but all of HBM */
    double load_bytes; /* of a load, with the L2 share */
    double load_scale; /* work of a load here: of the kernel's usual ones */
    double work_ratio; /* work of the kernel on this rank, over its usual */
    double sm_us;      /* integral of sms */
    double hbm_bytes;  /* moved so far */
    int64_t progress_ps;
    uint32_t generation;
    int next_active;  /* list of the rank's running kernels */
    int next_holding; /* list of the rank's collectives that hold SMs */
};

/* How long a resource, or SIM_SHARE_CAP, set the rate of a joint. */
struct sim_limit {
    int resource;
    double us;
    int next; /* index, or -1 */
};

struct sim_joint {
    int op;
    const struct model_collective *cost; /* shared by equal collectives */
    /* the same with the flows of all groups of its family, on its links: they
       start together, and folded are one */
    const struct model_collective *family;
    struct model_group members; /* simulated ranks that take part */
    int resident;               /* of them */
    int awaited; /* ops that it spins for, on all members, not done */
    bool moving;
    double moved_bytes; /* of one channel */
    double rate;        /* bytes/us of one channel */
    double alone_rate;
    double fill_us;
    int bound_by;
    int limits; /* list, or -1 */
    int64_t moved_ps;
    int64_t started_ps; /* all ranks resident */
    uint32_t generation;
    int next_moving;
};

/* What a simulation has come to when a step ends: the last of its runs. */
struct sim_mark {
    int runs_left;
    int64_t time_ps, compute_ps, comm_ps, exposed_ps;
    double *busy;
};

struct sim_rank {
    const struct model_gpu *gpu;
    const struct model_kernel *kernels; /* by op, on this GPU */
    int free_sms; /* below 0 by those that two runs share (room.c) */
    int pending;  /* list of runs that want SMs, by priority and launch */
    int active;   /* list of running kernels */
    int holding;  /* list of collectives that hold SMs */
    double footprint_bytes; /* chunks of moving collectives in L2 */
    uint64_t launches;
};

struct sim {
    struct model_arena *arena;
    struct sim_request request;
    struct model_fabric fabric;
    int rank_count;
    int op_count;
    struct sim_run *runs;     /* rank-major */
    struct sim_joint *joints; /* by op, then by instance of its group */
    int *first_joint;         /* of each op; first_joint[op_count]: how many */
    struct sim_rank *ranks;
    struct model_kernel *kernels; /* by kind of GPU, then by op */
    struct model_config *configs; /* by op */
    int *successors; /* of an op: indices, by first_successor; ~index of a
                        collective that spins for it */
    int *first_successor;
    struct sim_cohort *cohorts;
    int cohort_count;
    int cohort_room;
    int free_cohort;
    struct sim_limit *limits;
    int limit_count;
    int limit_room;
    struct sim_queue queue;
    struct sim_share share;    /* resources: HBM of each rank, then links */
    double *link_bytes_per_us; /* of each link, without congestion */
    bool *link_congests;       /* carries P2P over PCIe */
    double *busy;              /* integral of use, per resource */
    int64_t solved_ps;
    bool dirty; /* shares must be solved again */
    int moving; /* list of joints */
    int done_count;
    int64_t now_ps;
    uint64_t events;
    uint64_t fingerprint;
    bool sharing; /* some kernel may share its SMs with channels */
    bool check;
    /* rank 0, for the totals */
    int kernels_running, collectives_running;
    int64_t changed_ps;
    int64_t compute_ps, comm_ps, exposed_ps;
    struct sim_mark marks[2]; /* the step before the cycle's, and that */
};

/* sm.c: a run wants SMs from now on. */
void sim_sm_request(struct sim *sim, int run);
/* sm.c: the loads of a run that end now. Returns true when the run is done. */
bool sim_sm_loads_done(struct sim *sim, int run);
/* sm.c: a collective gives its SMs back. */
void sim_sm_release(struct sim *sim, int run);
/* sm.c: invariant: SMs add up on every rank, and none idles in vain. */
bool sim_sm_check(const struct sim *sim);

/* room.c: SMs that a kernel, or channels of a collective, may take now. */
int sim_room_kernel(const struct sim *sim, const struct sim_run *run);
int sim_room_collective(const struct sim *sim, const struct sim_run *run);
/* room.c: a collective got its first SMs; it gave them all back. */
void sim_room_hold(struct sim *sim, int run);
void sim_room_let_go(struct sim *sim, int run);
/* room.c: the most that running kernels can share with resident channels. */
int sim_room_shared_max(const struct sim *sim, int rank);

/* rates.c: bring the progress of a run or a joint to now. */
void sim_rates_sync_run(struct sim *sim, struct sim_run *run);
void sim_rates_sync_joint(struct sim *sim, struct sim_joint *joint);
/* rates.c: solve shares and reschedule what changed its rate. */
void sim_rates_update(struct sim *sim);
/* rates.c: (re)schedule the next end of loads of a run. */
void sim_rates_schedule_run(struct sim *sim, int run);
/* rates.c: rate of a joint that has the machine to itself. */
double sim_rates_alone(const struct sim *sim, const struct sim_joint *joint);
/* rates.c: from resident to steady progress. */
double sim_rates_fill_us(const struct sim *sim, const struct sim_joint *joint);

/* rates.c: bring the use of resources to now. */
void sim_rates_account(struct sim *sim);

/* cycle.c: before the start; a run of an op has ended; all has ended. */
void sim_cycle_setup(struct sim *sim);
void sim_cycle_ended(struct sim *sim, int op);
struct sim_steady sim_cycle_steady(const struct sim *sim);

/* sim.c: bring the totals of rank 0 to now. */
void sim_count_time(struct sim *sim);

/* sim.c: a kernel that has SMs, or a collective on the device, for totals. */
void sim_count(struct sim *sim, const struct sim_run *run, int change);

/* sim.c: false for a collective of a group without the run's rank. */
bool sim_takes_part(const struct sim *sim, const struct sim_run *run);

/* sim.c: a collective's run holds all its SMs. */
void sim_joint_resident(struct sim *sim, int run);

/* setup_runs.c: ranks, from kernels; runs, from ranks. */
void sim_setup_ranks(struct sim *sim);
void sim_setup_runs(struct sim *sim);

/* setup.c: fill a new simulation from its request. */
enum model_status sim_setup(struct sim *sim, struct model_errors *errors);

/* result.c: collect what sim_run promises. */
void sim_collect(const struct sim *sim, struct sim_result *result);
/* result.c: report each blocked op and what it waits for. */
void sim_report_stuck(const struct sim *sim, struct model_errors *errors);

/* The run of an op on a rank. */
static inline struct sim_run *
sim_run_of(const struct sim *sim, int rank, int op)
{
    return &sim->runs[rank * sim->op_count + op];
}

static inline const struct model_op *sim_op(const struct sim *sim,
                                            const struct sim_run *run)
{
    return &sim->request.workload->ops[run->op];
}

static inline const struct model_kernel *sim_kernel(const struct sim *sim,
                                                    const struct sim_run *run)
{
    return &sim->ranks[run->rank].kernels[run->op];
}

/* The joint that a collective's run takes part in. */
int sim_joint_of(const struct sim *sim, const struct sim_run *run);

#endif
