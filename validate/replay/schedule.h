/*
 * schedule.h - a workload as one rank launches it: works on streams.
 *
 * Equal ops share a work, so that a model of eighty layers needs the buffers of
 * one. Of equal steps that the workload lists once, one is run: what the others
 * add is for the reader of the times (search/measured.h). Where there is one
 * GPU for a topology of several, each collective becomes a ring_step of as many
 * bytes as its ring would send from one rank.
 */
#ifndef VALIDATE_REPLAY_SCHEDULE_H
#define VALIDATE_REPLAY_SCHEDULE_H

#include "model/plan.h"
#include "validate/replay/work.h"

/* A work and the collective's settings that it stands for. */
struct replay_item {
    struct replay_work work;
    int op;                     /* of the workload, the first that is so */
    struct model_config config; /* of collectives; what nobody fixed is unset */
    int environment;            /* which one of environment.h; -1: none */
    const char *replaced;       /* what it stands for, such as "attention", or
                                   NULL: itself */
    bool absent;                /* this rank has no part in it: others may */
    int handle;                 /* on the device; -1: not made */
};

/* One launch, of the op with the same number. */
struct replay_launch {
    int item;
    int stream;
    const int *after; /* earlier launches, on other streams */
    int after_count;
    double pause_us; /* before it, once its stream has come to it */
};

struct replay_schedule {
    const struct model_workload *workload;
    struct replay_item *items;
    int item_count;
    struct replay_launch *launches;
    int launch_count;
    int stream_count;
    struct replay_group *groups; /* as the workload numbers them */
    int group_count;
};

/* What a schedule is made of. */
struct replay_program {
    const struct model_topology *topology;
    const struct model_workload *workload;
    const struct model_plan *plan; /* or NULL */
    const struct model_nccl *nccl; /* what it would choose, for stand-ins */
    int rank;
    bool stand_in; /* collectives are replaced by ring_step */
};

/* Faults: ops that cannot be replayed. The result lives in the arena. */
enum model_status replay_schedule_make(struct model_arena *arena,
                                       const struct replay_program *program,
                                       struct replay_schedule *schedule,
                                       struct model_errors *errors);

#endif
