/*
 * fixture.h - what the tests of model/, sim/ and search/ share: an arena per
 * group of tests, inputs from text, and the tiny machine whose times can be
 * worked out by hand.
 */
#ifndef TESTS_FIXTURE_H
#define TESTS_FIXTURE_H

#include "tests/unit/near.h"

#include "model/topology.h"
#include "model/workload.h"
#include "sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FIXTURE_COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* Group fixtures: the state of every test is one arena. */
static inline int fixture_setup(void **state)
{
    *state = model_arena_new();
    return *state == NULL ? 1 : 0;
}

static inline int fixture_teardown(void **state)
{
    model_arena_free(*state);
    return 0;
}

/* Text as a file in memory; close it with fixture_file_close. */
struct fixture_file {
    int descriptor;
    char path[32];
};

static inline struct fixture_file fixture_file_open(const char *text)
{
    struct fixture_file file = {.descriptor = memfd_create("fixture", 0)};
    size_t length = strlen(text);

    assert_true(file.descriptor >= 0);
    assert_true(write(file.descriptor, text, length) == (ssize_t)length);
    (void)snprintf(file.path, sizeof file.path, "/proc/self/fd/%d",
                   file.descriptor);
    return file;
}

static inline void fixture_file_close(const struct fixture_file *file)
{
    assert_int_equal(close(file->descriptor), 0);
}

/* No fault, or the test fails with all of them printed. */
static inline void fixture_no_errors(const struct model_errors *errors)
{
    if (errors->count > 0) {
        model_errors_print(errors, stderr);
        fail_msg("%d errors", errors->count);
    }
}

/* A topology that must be fine. */
static inline struct model_topology *fixture_topology(struct model_arena *arena,
                                                      const char *text,
                                                      const char *const *sets,
                                                      int set_count)
{
    struct model_topology *topology =
        model_arena_alloc(arena, sizeof *topology);
    struct model_errors errors = {.arena = arena};
    enum model_status status =
        model_topology_read(arena, text, sets, set_count, topology, &errors);

    fixture_no_errors(&errors);
    assert_int_equal(status, MODEL_OK);
    return topology;
}

/* Read the text of a workload file. */
static inline enum model_status
fixture_workload_read(struct model_arena *arena,
                      const struct model_topology *topology,
                      const char *text,
                      struct model_workload *workload,
                      struct model_errors *errors)
{
    struct fixture_file file = fixture_file_open(text);
    enum model_status status =
        model_workload_read(arena, model_arena_text(arena, file.path), NULL, 0,
                            topology, workload, errors);

    fixture_file_close(&file);
    return status;
}

/* A workload, from text, that must be fine. */
static inline struct model_workload *
fixture_workload(struct model_arena *arena,
                 const struct model_topology *topology,
                 const char *text)
{
    struct model_workload *workload =
        model_arena_alloc(arena, sizeof *workload);
    struct model_errors errors = {.arena = arena};
    enum model_status status =
        fixture_workload_read(arena, topology, text, workload, &errors);

    fixture_no_errors(&errors);
    assert_int_equal(status, MODEL_OK);
    return workload;
}

/* Index of the op with that id. */
static inline int fixture_op(const struct model_workload *workload,
                             const char *id)
{
    for (int i = 0; i < workload->op_count; i++) {
        if (strcmp(workload->ops[i].id, id) == 0) {
            return i;
        }
    }
    fail_msg("no op %s", id);
    return -1;
}

/* Is there an error with this key (NULL: any) whose message has this part? */
static inline bool fixture_has_error(const struct model_errors *errors,
                                     const char *key,
                                     const char *part)
{
    for (int i = 0; i < errors->count && i < MODEL_ERRORS_MAX; i++) {
        const struct model_error *error = &errors->list[i];

        if ((key == NULL ||
             (error->key != NULL && strcmp(error->key, key) == 0)) &&
            strstr(error->message, part) != NULL) {
            return true;
        }
    }
    return false;
}

static inline void fixture_expect_error(const struct model_errors *errors,
                                        const char *key,
                                        const char *part)
{
    if (!fixture_has_error(errors, key, part)) {
        model_errors_print(errors, stderr);
        fail_msg("no error \"%s\" at %s", part, key == NULL ? "any key" : key);
    }
}

/* Cases of a property test: LAGOM_CASES, or 1000. */
static inline int fixture_cases(void)
{
    const char *text = getenv("LAGOM_CASES");
    long cases = text != NULL ? strtol(text, NULL, 10) : 0;

    return cases > 0 && cases < 100000000 ? (int)cases : 1000;
}

/*
 * The tiny machine, made from a shipped GPU by --set: 10 SMs of 1e6 flops/us,
 * GEMM tiles of 128 x 256 without overhead, one on an SM, memory and NVLink
 * without limits that matter, 5 us from ready to running, no launch interval,
 * and channels of exactly 1000 bytes/us: no round trip and no synchronisation,
 * so that the cap of a channel is its rate. On 2 GPUs an AllGather of M bytes
 * over NC channels takes M / 2 / NC / 1000 us.
 */
static const char *const fixture_tiny_sets[] = {
    "gpu.sm.count=10",
    "gpu.sm.rate=1 PB/s",
    "gpu.peak.bf16=10 TFLOP/s",
    "gpu.achieved.gemm=1",
    ("gpu.gemm.tiles=[{rows: 128, columns: 256, threads: 256, registers: 255, "
     "shared: 72 KiB, source: tiny, ratio: 1}]"),
    "gpu.gemm.overhead=0 us",
    "gpu.gemm.narrow_rate=1 PB/s",
    "gpu.gemm.split_k=1000000000",
    "gpu.hbm.rate=1 PB/s",
    "gpu.hbm.achieved=1",
    "gpu.hbm.latency=0 us",
    "gpu.l2=1 TB",
    "gpu.channel.issue_rate=1 PB/s",
    "gpu.channel.rate=1 GB/s",
    "gpu.channel.sync=0 us",
    "gpu.channel.start=0 us",
    "gpu.channel.reduce=1",
    "gpu.channel.exchange=1",
    "gpu.launch.latency=5 us",
    "gpu.launch.interval=0 us",
    "node.nvlink.rate=1 PB/s",
    "node.nvlink.latency=0 us",
};

/* The tiny machine with further changes. */
static inline struct model_topology *
fixture_tiny(struct model_arena *arena, const char *const *sets, int set_count)
{
    int base = FIXTURE_COUNT(fixture_tiny_sets);
    const char **all =
        model_arena_array(arena, (size_t)base + (size_t)set_count, sizeof *all);

    for (int i = 0; i < base; i++) {
        all[i] = fixture_tiny_sets[i];
    }
    for (int i = 0; i < set_count; i++) {
        all[base + i] = sets[i];
    }
    return fixture_topology(arena, "1x2 gpu:a40 nvswitch", all,
                            base + set_count);
}

/* NCCL as the topology says. */
static inline const struct model_nccl *
fixture_nccl(struct model_arena *arena,
             const struct model_topology *topology,
             const struct model_workload *workload)
{
    struct model_nccl_version *version =
        model_arena_alloc(arena, sizeof *version);
    struct model_nccl *nccl = model_arena_alloc(arena, sizeof *nccl);
    struct model_nccl_settings settings = model_nccl_settings_none();
    struct model_errors errors = {.arena = arena};
    enum model_status status = model_nccl_version_read(
        arena, topology->nccl.version, (struct model_place){"test", 0, 0},
        "nccl.version", version, &errors);

    fixture_no_errors(&errors);
    assert_int_equal(status, MODEL_OK);
    model_nccl_make(arena, topology, workload, version, &settings, true, nccl);
    return nccl;
}

/* A simulation that must end, with all invariants checked on its way. */
static inline struct sim_result
fixture_simulate(struct model_arena *arena, const struct sim_request *request)
{
    struct model_errors errors = {.arena = arena};
    struct sim_result result = {.iteration_us = 0};
    struct sim *sim = sim_new(arena, request, &errors);

    fixture_no_errors(&errors);
    assert_non_null(sim);
    sim_check_invariants(sim, true);
    enum model_status status = sim_run(sim, &result, &errors);
    fixture_no_errors(&errors);
    assert_int_equal(status, MODEL_OK);
    return result;
}

#endif
