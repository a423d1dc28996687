/*
 * nccl_whole.h - NCCL's decisions the whole way from the text of a topology.
 */
#ifndef TESTS_NCCL_WHOLE_H
#define TESTS_NCCL_WHOLE_H

#include "tests/unit/nccl_machines.h"

#include "model/nccl/tuning.h"

enum { KIB = 1024, MIB = 1048576 };

enum {
    GATHER = MODEL_NCCL_ALL_GATHER,
    SCATTER = MODEL_NCCL_REDUCE_SCATTER,
    REDUCE = MODEL_NCCL_ALL_REDUCE,
    BROADCAST = MODEL_NCCL_BROADCAST,
    TREE = MODEL_NCCL_TREE,
    RING = MODEL_NCCL_RING,
    NVLS = MODEL_NCCL_NVLS,
    NVLS_TREE = MODEL_NCCL_NVLS_TREE,
    PAT = MODEL_NCCL_PAT,
    LL = MODEL_NCCL_LL,
    LL128 = MODEL_NCCL_LL128,
    SIMPLE = MODEL_NCCL_SIMPLE
};

/* A communicator and its table, which borrows it. */
struct whole {
    struct model_nccl_settings settings;
    struct model_nccl_comm comm;
    struct model_nccl_tuning tuning;
};

static inline void tune(struct model_arena *arena,
                        const struct machine *machine,
                        struct whole *whole)
{
    whole->comm = make(arena, machine, NULL, &whole->settings);
    model_nccl_tuning_make(&whole->comm, &whole->tuning);
}

static inline struct whole *whole_of(struct model_arena *arena,
                                     const struct machine *machine)
{
    struct whole *whole = model_arena_alloc(arena, sizeof *whole);

    whole->settings = model_nccl_settings_none();
    tune(arena, machine, whole);
    return whole;
}

/* With NCCL_ALGO and NCCL_PROTO. */
static inline struct whole *forced(struct model_arena *arena,
                                   const struct machine *machine,
                                   int algorithm,
                                   int protocol)
{
    struct whole *whole = model_arena_alloc(arena, sizeof *whole);
    struct model_nccl_settings *settings = &whole->settings;

    *settings = model_nccl_settings_none();
    for (int f = 0; f < MODEL_NCCL_FUNCTIONS; f++) {
        for (int a = 0; a < MODEL_NCCL_ALGORITHMS; a++) {
            settings->algorithm_allowed[f][a] = a == algorithm;
        }
        for (int p = 0; p < MODEL_NCCL_PROTOCOLS; p++) {
            settings->protocol_allowed[f][p] = p == protocol;
        }
        settings->algorithm_set[f] = true;
        settings->protocol_set[f] = true;
    }
    tune(arena, machine, whole);
    return whole;
}

static inline struct model_nccl_choice
choose(const struct whole *whole, int function, double bytes)
{
    struct model_nccl_choice choice;

    model_nccl_choose(&whole->tuning, (enum model_nccl_function)function, bytes,
                      &choice);
    return choice;
}

/* Up to so many KiB this pair; each row from where the one before ends. */
struct band {
    const struct machine *machine;
    int first_kib, last_kib, algorithm, protocol;
};

static inline void check_bands(struct model_arena *arena,
                               int function,
                               const struct band *bands,
                               int count)
{
    for (int i = 0; i < count; i++) {
        const struct whole *whole = whole_of(arena, bands[i].machine);

        for (int kib = bands[i].first_kib; kib <= bands[i].last_kib; kib *= 2) {
            struct model_nccl_choice choice =
                choose(whole, function, (double)kib * KIB);

            if (choice.algorithm != bands[i].algorithm ||
                choice.protocol != bands[i].protocol) {
                fail_msg("%s, %s, %d KiB: %s %s", bands[i].machine->topology,
                         bands[i].machine->version, kib,
                         model_nccl_algorithm_names[choice.algorithm],
                         model_nccl_protocol_names[choice.protocol]);
            }
        }
    }
}

#endif
