/*
 * replay.h - workloads as the tests of lagom-replay schedule them.
 */
#ifndef TESTS_REPLAY_H
#define TESTS_REPLAY_H

#include "tests/unit/replay_fake.h"

#include "model/nccl/settings.h"
#include "model/nccl/version.h"
#include "validate/replay/schedule.h"

/* What NCCL would choose, of the version that the topology names. */
static inline struct model_nccl *
replay_nccl(struct model_arena *arena,
            const struct model_topology *topology,
            const struct model_workload *workload)
{
    struct model_nccl *nccl = model_arena_alloc(arena, sizeof(*nccl));
    struct model_nccl_version *version =
        model_arena_alloc(arena, sizeof(*version));
    struct model_nccl_settings settings = model_nccl_settings_none();
    struct model_errors errors = {.arena = arena};

    (void)model_nccl_version_read(arena, topology->nccl.version,
                                  (struct model_place){"test", 0, 0}, NULL,
                                  version, &errors);
    fixture_no_errors(&errors);
    model_nccl_make(arena, topology, workload, version, &settings, true, nccl);
    return nccl;
}

/* The schedule of a workload's text on a machine; faults go to errors. */
static inline enum model_status replay_read(struct model_arena *arena,
                                            const char *machine,
                                            const char *text,
                                            int rank,
                                            bool stand_in,
                                            struct replay_schedule *schedule,
                                            struct model_errors *errors)
{
    const struct model_topology *topology =
        fixture_topology(arena, machine, NULL, 0);
    const struct model_workload *workload =
        fixture_workload(arena, topology, text);
    struct replay_program program = {.topology = topology,
                                     .workload = workload,
                                     .nccl =
                                         replay_nccl(arena, topology, workload),
                                     .rank = rank,
                                     .stand_in = stand_in};

    return replay_schedule_make(arena, &program, schedule, errors);
}

#endif
