/*
 * nccl.h - what NCCL itself would do with each collective of a workload: the
 * baseline that a plan changes and that tuning is compared with.
 *
 * One communicator a group. Where the topology says what NCCL was seen to do on
 * the real machine (nccl.observed), that stands for what the graph search would
 * find, as if the job had asked for it: channels, threads of ring and Simple,
 * chunk, transport, and where they are given, algorithm and protocol.
 */
#ifndef MODEL_NCCL_H
#define MODEL_NCCL_H

#include "model/nccl/tuning.h"
#include "model/workload.h"

/* The communicator of a group, and NCCL's model of it. */
struct model_nccl_group {
    struct model_nccl_comm *comm;
    struct model_nccl_tuning *tuning;
};

struct model_nccl {
    const struct model_topology *topology; /* borrowed, as the next two */
    const struct model_workload *workload;
    const struct model_nccl_version *version;
    struct model_nccl_settings settings;
    bool observed; /* nccl.observed counts */
    /* By group; NULLs where no collective of it leaves anything open. */
    struct model_nccl_group *groups;
};

/*
 * Make the communicators of the workload's collectives. as_observed: take
 * nccl.observed where the topology has it. The result lives in the arena.
 */
void model_nccl_make(struct model_arena *arena,
                     const struct model_topology *topology,
                     const struct model_workload *workload,
                     const struct model_nccl_version *version,
                     const struct model_nccl_settings *settings,
                     bool as_observed,
                     struct model_nccl *nccl);

/*
 * NCCL's choice for a collective op of which some settings are given already
 * (MODEL_UNSET or 0 elsewhere): algorithm and protocol narrow the candidates.
 * False when the group has no communicator.
 */
bool model_nccl_choice_of(const struct model_nccl *nccl,
                          const struct model_op *op,
                          const struct model_config *given,
                          struct model_nccl_choice *choice);

/* The same as a configuration: what is given, and the rest as NCCL does. */
struct model_config model_nccl_complete(const struct model_nccl *nccl,
                                        const struct model_op *op,
                                        const struct model_config *given);

#endif
