/*
 * use.c - liblagom from a program of one's own: the iteration's time as NCCL
 * would have it. install.sh builds it against an installed copy:
 *
 *     cc use.c $(pkg-config --cflags --libs lagom)
 *     ./a.out TOPOLOGY WORKLOAD NCCL
 */
#include "model/arena.h"
#include "model/nccl.h"
#include "model/topology.h"
#include "model/workload.h"
#include "sim/sim.h"

#include <stdio.h>

/* All inputs, from which the request borrows. */
struct inputs {
    struct model_topology topology;
    struct model_workload workload;
    struct model_nccl_version version;
    struct model_nccl nccl;
};

static enum model_status read_inputs(struct model_arena *arena,
                                     char **words,
                                     struct inputs *inputs,
                                     struct model_errors *errors)
{
    struct model_nccl_settings settings = model_nccl_settings_none();
    struct model_place place = {.file = "NCCL"};

    if (model_topology_read(arena, words[0], NULL, 0, &inputs->topology,
                            errors) != MODEL_OK ||
        model_workload_read(arena, words[1], NULL, 0, &inputs->topology,
                            &inputs->workload, errors) != MODEL_OK ||
        model_nccl_version_read(arena, words[2], place, NULL, &inputs->version,
                                errors) != MODEL_OK) {
        return model_errors_status(errors);
    }
    model_nccl_make(arena, &inputs->topology, &inputs->workload,
                    &inputs->version, &settings, false, &inputs->nccl);
    return MODEL_OK;
}

int main(int count, char **words)
{
    struct model_arena *arena = model_arena_new();
    struct model_errors errors = {.arena = arena};
    struct inputs inputs;
    struct sim_request request = {.topology = &inputs.topology,
                                  .workload = &inputs.workload,
                                  .nccl = &inputs.nccl};
    struct sim_result result = {.iteration_us = 0.0};
    struct sim *sim = NULL;

    if (count == 4 &&
        read_inputs(arena, words + 1, &inputs, &errors) == MODEL_OK) {
        sim = sim_new(arena, &request, &errors);
    }
    if (sim != NULL && sim_run(sim, &result, &errors) == MODEL_OK) {
        (void)printf("%.3f\n", result.iteration_us);
    }
    model_errors_print(&errors, stderr);
    model_arena_free(arena);
    return result.iteration_us > 0.0 ? 0 : 1;
}
