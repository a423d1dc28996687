/*
 * window.c - ops of rank 0 by window and by what they ask for.
 */
#include "sim/window.h"

#include "model/occupancy.h"
#include "model/ranks.h"
#include "sim/alone.h"
#include "sim/window_beside.h"
#include "sim/window_span.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

const char *const sim_window_bound_names[] = {"kernels", "collectives", "turns",
                                              "idle", NULL};

/* Below these shares of a window it is idle, or its sides take turns. */
static const double IDLE_RATIO = 0.5;
static const double OVERLAP_RATIO = 0.1;
/* So many of a window's parts make its instances when not all agree. */
static const double AGREE_RATIO = 0.75;

struct gather {
    struct model_arena *arena;
    const struct sim_request *request;
    const struct sim_result *result;
    struct sim_alone *alone;
    const struct sim_beside *beside;
    struct sim_windows *windows;
    int window_room;
    int part_room;
};

static const struct model_op *op_at(const struct gather *gather, int op)
{
    return &gather->request->workload->ops[op];
}

static double repeats_of(const struct gather *gather, int op)
{
    return model_workload_repeats(gather->request->workload, op);
}

/* -- labels -- */

/* Past the run of digits, or the star that stands for one, at text. */
static const char *skip_digits(const char *text)
{
    if (*text == '*') {
        return text + 1;
    }
    while (isdigit((unsigned char)*text) != 0) {
        text++;
    }
    return text;
}

static bool is_number(const char *text)
{
    return *text == '*' || isdigit((unsigned char)*text) != 0;
}

/* Is an id the label of others but for the digits in it? */
static bool fits(const char *label, const char *id)
{
    while (*label != '\0' && *id != '\0') {
        if (is_number(label) && is_number(id)) {
            label = skip_digits(label);
            id = skip_digits(id);
        } else if (*label++ != *id++) {
            return false;
        }
    }
    return *label == *id;
}

/* The label with a star where the digits of an id that fits it differ. */
static const char *
merge_label(struct model_arena *arena, const char *label, const char *id)
{
    char *merged;
    char *end;

    if (strcmp(label, id) == 0) {
        return label;
    }
    merged = model_arena_text(arena, label);
    end = merged;
    while (*label != '\0') {
        const char *after = skip_digits(label);
        size_t length = (size_t)(after - label);

        if (!is_number(label)) {
            *end++ = *label++;
            id++;
            continue;
        }
        if (length == (size_t)(skip_digits(id) - id) &&
            memcmp(label, id, length) == 0) {
            memmove(end, label, length);
            end += length;
        } else {
            *end++ = '*';
        }
        label = after;
        id = skip_digits(id);
    }
    *end = '\0';
    return merged;
}

/* -- parts -- */

static int find_window(struct gather *gather, const char *name)
{
    struct sim_windows *windows = gather->windows;

    for (int i = windows->count - 1; i >= 0; i--) {
        if (model_same_text(windows->list[i].name, name)) {
            return i;
        }
    }
    windows->list =
        model_arena_grow(gather->arena, windows->list, windows->count,
                         &gather->window_room, sizeof(*windows->list));
    windows->list[windows->count] = (struct sim_window){.name = name};
    return windows->count++;
}

static bool belongs(const struct gather *gather,
                    const struct sim_part *part,
                    const struct sim_op_result *result,
                    int window)
{
    const struct model_op *op = op_at(gather, result->op);

    return part->window == window &&
           sim_alone_same(op_at(gather, part->op), op) &&
           (!model_op_is_collective(op) ||
            model_config_equal(&part->config, &result->config)) &&
           fits(part->label, op->id);
}

static struct sim_part *
find_part(struct gather *gather, const struct sim_op_result *result, int window)
{
    struct sim_windows *windows = gather->windows;

    for (int i = windows->part_count - 1; i >= 0; i--) {
        if (belongs(gather, &windows->parts[i], result, window)) {
            return &windows->parts[i];
        }
    }
    windows->parts =
        model_arena_grow(gather->arena, windows->parts, windows->part_count,
                         &gather->part_room, sizeof(*windows->parts));
    windows->parts[windows->part_count] =
        (struct sim_part){.window = window,
                          .op = result->op,
                          .label = op_at(gather, result->op)->id,
                          .config = result->config,
                          .limited_by = SIM_LIMITED_BY_CHANNELS};
    return &windows->parts[windows->part_count++];
}

/* SMs' worth of room that a kernel finds on those of channels (occupancy.h). */
static double shared_sms(const struct gather *gather,
                         int op,
                         const struct sim_beside_view *view)
{
    const struct model_gpu *gpu = model_ranks_gpu(gather->request->topology, 0);
    struct model_kernel kernel = model_op_kernel(op_at(gather, op), gpu);
    struct model_room room = model_occupancy_room(gpu, &kernel, view->config);

    return floor(view->most_sms * room.beside / room.full);
}

static void add_kernel(const struct gather *gather,
                       struct sim_part *part,
                       const struct sim_op_result *result,
                       double repeats)
{
    struct sim_beside_view view =
        sim_beside_look(gather->beside, result->run_us, result->end_us);

    part->run_us += repeats * (result->end_us - result->run_us);
    part->waiting_us +=
        repeats *
        fmax(result->run_us - result->start_us - result->lost.launch -
                 model_ranks_gpu(gather->request->topology, 0)->launch_us,
             0.0);
    part->beside_us += repeats * view.moving_us;
    part->beside_hbm_bytes += repeats * view.hbm_bytes;
    if (view.most_sms > part->held_sms) {
        part->held_sms = view.most_sms;
        part->shared_sms = shared_sms(gather, result->op, &view);
    }
    part->footprint_bytes =
        fmax(part->footprint_bytes, view.most_footprint_bytes);
}

static void add_collective(struct sim_part *part,
                           const struct sim_move *move,
                           double repeats)
{
    part->wire_bytes += repeats * move->wire_bytes;
    part->moving_us += repeats * move->moving_us;
}

static void add_side(struct sim_side *side,
                     const struct sim_op_result *result,
                     double alone_us,
                     double repeats)
{
    side->op_count += (int)repeats;
    side->time_us += repeats * (result->end_us - result->start_us);
    side->alone_us += repeats * alone_us;
    sim_lost_add(&side->lost, &result->lost, repeats);
}

static void add_op(struct gather *gather, struct sim_op_result result)
{
    const struct model_op *op = op_at(gather, result.op);
    int window = find_window(gather, op->window);
    struct sim_part *part = find_part(gather, &result, window);
    struct sim_window *whole = &gather->windows->list[window];
    double repeats = repeats_of(gather, result.op);
    double alone_us;

    sim_alone_explain(gather->alone, &result, &alone_us);
    gather->windows->part_of[result.op] = (int)(part - gather->windows->parts);
    part->label = merge_label(gather->arena, part->label, op->id);
    part->count += (int)repeats;
    part->time_us += repeats * (result.end_us - result.start_us);
    part->alone_us += repeats * alone_us;
    part->hbm_bytes += repeats * result.hbm_bytes;
    part->alone_hbm_bytes +=
        repeats *
        sim_alone_op(gather->alone, result.op, &result.config).hbm_bytes;
    sim_lost_add(&part->lost, &result.lost, repeats);
    if (result.move != NULL) {
        add_collective(part, result.move, repeats);
        add_side(&whole->collectives, &result, alone_us, repeats);
    } else {
        add_kernel(gather, part, &result, repeats);
        add_side(&whole->kernels, &result, alone_us, repeats);
    }
}

/* For how long one resource set the pace of the ops of a part. */
struct pace {
    int resource;
    double us;
};

/* There are a few resources that bind; more are not looked at. */
enum { PACES_MAX = 16 };

static void add_pace(struct pace paces[PACES_MAX],
                     int *count,
                     const struct sim_move *move,
                     double repeats)
{
    int i = 0;

    while (i < *count && paces[i].resource != move->limited_by) {
        i++;
    }
    if (i == PACES_MAX) {
        return;
    }
    if (i == *count) {
        paces[(*count)++] = (struct pace){move->limited_by, 0.0};
    }
    paces[i].us += repeats * move->limited_us;
}

/* What set the pace of a part's ops longest. */
static void find_pace(const struct gather *gather, int index)
{
    struct sim_part *part = &gather->windows->parts[index];
    struct pace paces[PACES_MAX];
    int count = 0;

    for (int i = part->op; i < gather->request->workload->op_count; i++) {
        if (gather->windows->part_of[i] == index) {
            add_pace(paces, &count, gather->result->ops[i].move,
                     repeats_of(gather, i));
        }
    }
    for (int i = 0; i < count; i++) {
        if (paces[i].us > part->limited_us) {
            part->limited_by = paces[i].resource;
            part->limited_us = paces[i].us;
        }
    }
}

/* -- instances -- */

static int greatest_divisor(int a, int b)
{
    while (b != 0) {
        int rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/*
 * The count that more than half of a window's parts have, if there is one: pair
 * unequal ones off, and what is left over is it.
 */
static int common_count(const struct sim_windows *windows, int window)
{
    int left = 0;
    int count = 0;

    for (int i = 0; i < windows->part_count; i++) {
        if (windows->parts[i].window == window) {
            if (left == 0) {
                count = windows->parts[i].count;
            }
            left += windows->parts[i].count == count ? 1 : -1;
        }
    }
    return count;
}

/*
 * How often the same ops come: what divides the counts of all parts, or the
 * count of most of them when the first or last instance differs.
 */
static int instances(const struct sim_windows *windows, int window)
{
    int common = common_count(windows, window);
    int divisor = 0;
    int same = 0;
    int all = 0;

    for (int i = 0; i < windows->part_count; i++) {
        const struct sim_part *part = &windows->parts[i];

        if (part->window == window) {
            divisor = greatest_divisor(part->count, divisor);
            same += part->count == common ? 1 : 0;
            all++;
        }
    }
    return divisor == 1 && same >= AGREE_RATIO * all ? common : divisor;
}

/* -- times -- */

enum span_kind { UNDER_WAY, KERNELS_RUN, COLLECTIVES_RUN };

static int window_of(const struct sim_windows *windows, int op)
{
    return windows->parts[windows->part_of[op]].window;
}

/* Merged spans of the ops of a window, or of all (-1). */
static struct sim_spans
spans_of(const struct gather *gather, int window, enum span_kind kind)
{
    const struct sim_window *only =
        window < 0 ? NULL : &gather->windows->list[window];
    int count = gather->request->workload->op_count;
    int room = only == NULL
                   ? count
                   : only->kernels.op_count + only->collectives.op_count;
    struct sim_spans spans = {.list = model_arena_array(gather->arena,
                                                        (size_t)room + 1,
                                                        sizeof(*spans.list))};

    for (int i = 0; i < count; i++) {
        const struct sim_op_result *op = &gather->result->ops[i];
        bool wanted = kind == UNDER_WAY ||
                      (op->move != NULL) == (kind == COLLECTIVES_RUN);

        if (op->takes_part && wanted &&
            (window < 0 || window_of(gather->windows, i) == window)) {
            spans.list[spans.count++] = (struct sim_span){
                kind == UNDER_WAY ? op->start_us : op->run_us, op->end_us};
        }
    }
    sim_spans_merge(&spans);
    return spans;
}

static void measure(const struct gather *gather,
                    int index,
                    const struct sim_spans *all_kernels)
{
    struct sim_window *window = &gather->windows->list[index];
    const struct sim_steady *steady = &gather->result->steady;
    struct sim_spans total = spans_of(gather, index, UNDER_WAY);
    struct sim_spans kernels = spans_of(gather, index, KERNELS_RUN);
    struct sim_spans collectives = spans_of(gather, index, COLLECTIVES_RUN);

    /* What has no window belongs together by chance. */
    window->count =
        window->name != NULL ? instances(gather->windows, index) : 1;
    window->total_us = sim_spans_us(&total, steady);
    window->kernels.covered_us = sim_spans_us(&kernels, steady);
    window->collectives.covered_us = sim_spans_us(&collectives, steady);
    window->both_us = sim_spans_common_us(&kernels, &collectives, steady);
    window->exposed_us = window->collectives.covered_us -
                         sim_spans_common_us(&collectives, all_kernels, steady);
}

struct sim_windows sim_windows_make(struct model_arena *arena,
                                    const struct sim_request *request,
                                    const struct sim_result *result)
{
    int ops = request->workload->op_count;
    struct sim_windows windows = {
        .part_of = model_arena_array(arena, (size_t)ops + 1, sizeof(int))};
    struct gather gather = {.arena = arena,
                            .request = request,
                            .result = result,
                            .alone = sim_alone_new(arena, request),
                            .beside = sim_beside_make(arena, result, ops),
                            .windows = &windows};
    struct sim_spans kernels;

    /* Rank 0 comes first. */
    for (int i = 0; i < ops; i++) {
        windows.part_of[i] = -1;
        if (result->ops[i].takes_part) {
            add_op(&gather, result->ops[i]);
        }
    }
    for (int i = 0; i < windows.part_count; i++) {
        if (result->ops[windows.parts[i].op].move != NULL) {
            find_pace(&gather, i);
        }
    }
    kernels = spans_of(&gather, -1, KERNELS_RUN);
    for (int i = 0; i < windows.count; i++) {
        measure(&gather, i, &kernels);
    }
    return windows;
}

/* -- judgement -- */

double sim_window_idle_us(const struct sim_window *window)
{
    double idle_us = window->total_us - window->kernels.covered_us -
                     window->collectives.covered_us + window->both_us;

    return fmax(idle_us, 0.0);
}

enum sim_window_bound sim_window_bound(const struct sim_window *window)
{
    double x_us = window->collectives.covered_us;
    double y_us = window->kernels.covered_us;

    if (sim_window_idle_us(window) >= IDLE_RATIO * window->total_us) {
        return SIM_BOUND_IDLE;
    }
    if (window->both_us < OVERLAP_RATIO * fmin(x_us, y_us)) {
        return SIM_BOUND_TURNS;
    }
    return x_us > y_us ? SIM_BOUND_COLLECTIVES : SIM_BOUND_KERNELS;
}

int sim_kernel_rounds(const struct model_kernel *kernel, double sms)
{
    double slots = kernel->sm_limit > 0 ? fmin(kernel->sm_limit, sms) : sms;

    return kernel->schedule == MODEL_STREAM_K
               ? 1
               : (int)ceil((double)kernel->loads / slots);
}

double sim_part_sms(const struct sim_part *part, const struct model_gpu *gpu)
{
    return fmax(gpu->sm_count - part->held_sms + part->shared_sms, 1.0);
}
