/*
 * windows.c - simulate once, sort by start, cut, and put equal instances
 * together.
 */
#include "search/windows.h"

#include "model/overlap.h"

#include <math.h>
#include <stdlib.h>

/* When an op was ready and done. */
struct stay {
    int op;
    double start_us;
    double end_us;
};

/* What an instance is compared by. */
struct instance {
    const int *collectives;
    int collective_count;
    double kernels_us; /* alone */
};

struct finder {
    struct model_arena *arena;
    const struct model_nccl *nccl;
    const struct stay *stays;   /* by op */
    struct instance *instances; /* by window: its first */
    struct search_windows *windows;
    int beside_room;
};

static const struct model_op *op_at(const struct finder *finder, int op)
{
    return &finder->nccl->workload->ops[op];
}

/* -- the simulation -- */

static bool simulate(struct model_arena *scratch,
                     const struct model_nccl *nccl,
                     struct stay *stays)
{
    struct sim_request request = {
        .topology = nccl->topology, .workload = nccl->workload, .nccl = nccl};
    struct model_errors silent = {.arena = scratch};
    struct sim_result result;
    struct sim *sim = sim_new(scratch, &request, &silent);

    if (sim == NULL || sim_run(sim, &result, &silent) != MODEL_OK) {
        return false;
    }
    for (int i = 0; i < nccl->workload->op_count; i++) {
        stays[i].start_us = result.ops[i].start_us;
        stays[i].end_us = result.ops[i].end_us;
    }
    return true;
}

/* The same in memory of its own, which is gone afterwards. */
static bool simulate_apart(struct model_arena *arena,
                           const struct model_nccl *nccl,
                           struct stay *stays)
{
    struct model_arena *scratch = model_arena_new();
    jmp_buf out_of_memory;
    bool simulated;

    if (scratch == NULL || setjmp(out_of_memory) != 0) {
        model_arena_free(scratch);
        model_arena_raise(arena);
    }
    (void)model_arena_guard(scratch, &out_of_memory);
    simulated = simulate(scratch, nccl, stays);
    model_arena_free(scratch);
    return simulated;
}

static int compare_starts(const void *a, const void *b)
{
    const struct stay *left = a;
    const struct stay *right = b;

    if (left->start_us < right->start_us || left->start_us > right->start_us) {
        return left->start_us < right->start_us ? -1 : 1;
    }
    return left->op < right->op ? -1 : 1;
}

/* All ops by start. */
static int *
order_of(struct model_arena *arena, const struct stay *stays, int count)
{
    struct stay *sorted =
        model_arena_array(arena, (size_t)count + 1, sizeof(*sorted));
    int *order = model_arena_array(arena, (size_t)count + 1, sizeof(*order));

    for (int i = 0; i < count; i++) {
        sorted[i] = stays[i];
    }
    qsort(sorted, (size_t)count, sizeof(*sorted), compare_starts);
    for (int i = 0; i < count; i++) {
        order[i] = sorted[i].op;
    }
    return order;
}

/* -- instances -- */

/* Whether a kernel had not ended when the first collective was ready. */
static bool can_hide(const struct finder *finder,
                     const struct model_overlap *overlap,
                     int kernel)
{
    return overlap->collective_count > 0 &&
           finder->stays[kernel].end_us >
               finder->stays[overlap->collectives[0]].start_us;
}

static double kernel_us(const struct finder *finder, int op)
{
    const struct model_gpu *gpu = &finder->nccl->topology->gpu;
    struct model_kernel kernel = model_op_kernel(op_at(finder, op), gpu);

    return gpu->launch_us + model_kernel_bound_us(&kernel, gpu);
}

bool search_same_key(const struct model_op *a, const struct model_op *b)
{
    return a->kind == b->kind && a->group == b->group && a->shift == b->shift &&
           model_same(a->bytes, b->bytes) &&
           model_config_equal(&a->config, &b->config);
}

static bool same_collectives(const struct finder *finder,
                             const struct instance *a,
                             const struct instance *b)
{
    if (a->collective_count != b->collective_count ||
        !model_same_text(op_at(finder, a->collectives[0])->window,
                         op_at(finder, b->collectives[0])->window)) {
        return false;
    }
    for (int i = 0; i < a->collective_count; i++) {
        if (!search_same_key(op_at(finder, a->collectives[i]),
                             op_at(finder, b->collectives[i]))) {
            return false;
        }
    }
    return true;
}

static bool alike(const struct finder *finder,
                  const struct instance *a,
                  const struct instance *b)
{
    return same_collectives(finder, a, b) &&
           fmax(a->kernels_us, b->kernels_us) <=
               SEARCH_WINDOWS_ALIKE * fmin(a->kernels_us, b->kernels_us);
}

static int window_of(struct finder *finder, const struct instance *instance)
{
    struct search_windows *windows = finder->windows;

    for (int i = 0; i < windows->count; i++) {
        if (alike(finder, &finder->instances[i], instance)) {
            return i;
        }
    }
    finder->instances[windows->count] = *instance;
    windows->labels[windows->count] =
        op_at(finder, instance->collectives[0])->window;
    return windows->count++;
}

static void add_instance(struct finder *finder, const struct instance *instance)
{
    int window = window_of(finder, instance);

    finder->windows->instances[window] += (int)model_workload_repeats(
        finder->nccl->workload, instance->collectives[0]);
    for (int i = 0; i < instance->collective_count; i++) {
        finder->windows->of_op[instance->collectives[i]] = window;
    }
}

static void add_beside(struct finder *finder, int kernel, int window)
{
    struct search_windows *windows = finder->windows;

    windows->beside =
        model_arena_grow(finder->arena, windows->beside, windows->beside_count,
                         &finder->beside_room, sizeof(*windows->beside));
    windows->beside[windows->beside_count] =
        (struct search_beside){window, windows->beside_of[kernel]};
    windows->beside_of[kernel] = windows->beside_count++;
}

static void add_overlap(struct finder *finder,
                        const struct model_overlap *overlap)
{
    struct instance instance = {.collectives = overlap->collectives,
                                .collective_count = overlap->collective_count};
    int window;

    for (int i = 0; i < overlap->kernel_count; i++) {
        if (can_hide(finder, overlap, overlap->kernels[i])) {
            instance.kernels_us += kernel_us(finder, overlap->kernels[i]);
        }
    }
    if (!(instance.kernels_us > 0.0)) {
        for (int i = 0; i < overlap->collective_count; i++) {
            add_instance(finder,
                         &(struct instance){&overlap->collectives[i], 1, 0.0});
        }
        return;
    }
    add_instance(finder, &instance);
    window = finder->windows->of_op[overlap->collectives[0]];
    for (int i = 0; i < overlap->kernel_count; i++) {
        if (can_hide(finder, overlap, overlap->kernels[i])) {
            add_beside(finder, overlap->kernels[i], window);
        }
    }
}

/* Cut what is in the order but collectives of other streams. */
static void add_stream(struct finder *finder, const int *order, int stream)
{
    const struct model_workload *workload = finder->nccl->workload;
    int *kept = model_arena_array(finder->arena, (size_t)workload->op_count + 1,
                                  sizeof(*kept));
    struct model_overlaps overlaps;
    int count = 0;
    bool any = false;

    for (int i = 0; i < workload->op_count; i++) {
        bool collective = model_op_is_collective(op_at(finder, order[i]));

        if (!collective || op_at(finder, order[i])->stream == stream) {
            kept[count++] = order[i];
            any = any || collective;
        }
    }
    if (!any) {
        return;
    }
    overlaps = model_overlaps_in_order(finder->arena, workload, kept, count);
    for (int i = 0; i < overlaps.count; i++) {
        add_overlap(finder, &overlaps.list[i]);
    }
}

static void make(struct finder *finder, struct stay *stays)
{
    struct search_windows *windows = finder->windows;
    int count = finder->nccl->workload->op_count;
    size_t ops = (size_t)count + 1;

    *windows = (struct search_windows){
        .of_op = model_arena_array(finder->arena, ops, sizeof(int)),
        .beside_of = model_arena_array(finder->arena, ops, sizeof(int)),
        .instances = model_arena_array(finder->arena, ops, sizeof(int)),
        .labels = model_arena_array(finder->arena, ops, sizeof(char *)),
        .time_us = model_arena_array(finder->arena, ops, sizeof(double))};
    finder->instances =
        model_arena_array(finder->arena, ops, sizeof(*finder->instances));
    for (int i = 0; i < count; i++) {
        stays[i] = (struct stay){.op = i, .end_us = 1.0};
        windows->of_op[i] = -1;
        windows->beside_of[i] = -1;
    }
}

void search_windows_find(struct model_arena *arena,
                         const struct model_nccl *nccl,
                         struct search_windows *windows)
{
    const struct model_workload *workload = nccl->workload;
    struct stay *stays = model_arena_array(
        arena, (size_t)workload->op_count + 1, sizeof(*stays));
    struct finder finder = {
        .arena = arena, .nccl = nccl, .stays = stays, .windows = windows};
    const int *order;

    make(&finder, stays);
    (void)simulate_apart(arena, nccl, stays);
    for (int i = 0; i < workload->op_count; i++) {
        windows->time_us[i] = stays[i].end_us - stays[i].start_us;
    }
    order = order_of(arena, stays, workload->op_count);
    for (int i = 0; i < workload->stream_count; i++) {
        add_stream(&finder, order, i);
    }
}
