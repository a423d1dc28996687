/*
 * nccl_machines.h - communicators of machines, for the tests of NCCL's search.
 */
#ifndef TESTS_NCCL_MACHINES_H
#define TESTS_NCCL_MACHINES_H

#include "tests/unit/fixture.h"

#include "model/nccl/comm.h"

#define GB 1000.0 /* GB/s in bytes/us */

enum { SETS_MAX = 4 };

struct machine {
    const char *version;
    const char *topology;
    const char *found; /* as describe() says it; NULL: any */
    const char *sets[SETS_MAX];
};

static inline const struct model_nccl_version *
version_of(struct model_arena *arena, const char *name)
{
    struct model_nccl_version *version =
        model_arena_alloc(arena, sizeof *version);
    struct model_errors errors = {.arena = arena};
    struct model_place place = {"test", 0, 0};

    assert_int_equal(model_nccl_version_read(arena, name, place, "version",
                                             version, &errors),
                     MODEL_OK);
    fixture_no_errors(&errors);
    return version;
}

static inline int count_sets(const char *const *sets)
{
    int count = 0;

    while (count < SETS_MAX && sets[count] != NULL) {
        count++;
    }
    return count;
}

/* The communicator of a group on a machine. */
static inline struct model_nccl_comm
make(struct model_arena *arena,
     const struct machine *machine,
     const struct model_group *group,
     const struct model_nccl_settings *settings)
{
    const struct model_topology *topology = fixture_topology(
        arena, machine->topology, machine->sets, count_sets(machine->sets));
    struct model_group world = {.name = "world",
                                .count = model_topology_rank_count(topology)};
    struct model_nccl_comm comm;

    model_nccl_comm_make(arena, topology, group != NULL ? group : &world,
                         version_of(arena, machine->version), settings, &comm);
    return comm;
}

static inline struct model_nccl_comm make_plain(struct model_arena *arena,
                                                const struct machine *machine)
{
    struct model_nccl_settings *settings =
        model_arena_alloc(arena, sizeof *settings);

    *settings = model_nccl_settings_none();
    return make(arena, machine, NULL, settings);
}

#endif
