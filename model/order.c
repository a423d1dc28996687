/*
 * order.c - walks over a node's GPUs, by rule and by search.
 */
#include "model/order.h"

#include "model/tour.h"
#include "model/wiring.h"

#include <math.h>
#include <string.h>

enum {
    CLOSED_MAX = 16,  /* closed walks that are tried */
    STEP_COST = 5040, /* of an unused single link: divisible by 1 .. 10 */
    NO_NIC = -1
};

struct maker {
    struct model_arena *arena;
    const struct model_topology *topology;
    const int *gpus;
    int count;
    int *uses;     /* walks over each pair, both ways */
    int64_t *cost; /* of a step, count x count */
    int64_t *start;
    int64_t *end;
    int *walks;
    int walk_count;
};

static int *walk_at(const struct maker *maker, int walk)
{
    return maker->walks + (size_t)walk * (size_t)maker->count;
}

static int links_between(const struct maker *maker, int from, int to)
{
    return model_wiring_nvlinks(maker->topology, maker->gpus[from],
                                maker->gpus[to]);
}

/*
 * 32 steps of one kind cost as much as one of the next: more than a searched
 * walk has. The cheapest kind, NVLink, is below 2^26 / 32.
 */
static int64_t path_cost(enum model_path path)
{
    return path == MODEL_PATH_NVL ? STEP_COST
                                  : (int64_t)1 << (21 + 5 * (int)path);
}

/* -- costs -- */

/* A step when it does not matter how many walks take it. */
static int64_t flat_step(const struct maker *maker, int from, int to)
{
    return path_cost(model_wiring_gpu_path(maker->topology, maker->gpus[from],
                                           maker->gpus[to]));
}

/* A step when a walk more has to share its links. */
static int64_t shared_step(const struct maker *maker, int from, int to)
{
    int links = links_between(maker, from, to);
    int uses = maker->uses[from * maker->count + to];

    return links > 0 ? (int64_t)STEP_COST * (2 * uses + 1) / links
                     : flat_step(maker, from, to);
}

static int64_t enter_cost(const struct maker *maker, int at, int nic)
{
    return path_cost(
        model_wiring_nic_path(maker->topology, maker->gpus[at], nic));
}

static int64_t leave_cost(const struct maker *maker, int at, int nic)
{
    int gpu = maker->gpus[at];

    return model_wiring_sender(maker->topology, gpu, nic) == gpu
               ? enter_cost(maker, at, nic)
               : path_cost(MODEL_PATH_PXN);
}

static void set_costs(struct maker *maker, int nic)
{
    for (int from = 0; from < maker->count; from++) {
        for (int to = 0; to < maker->count; to++) {
            maker->cost[from * maker->count + to] =
                from != to ? shared_step(maker, from, to) : 0;
        }
        if (nic != NO_NIC) {
            maker->start[from] = enter_cost(maker, from, nic);
            maker->end[from] = leave_cost(maker, from, nic);
        }
    }
}

/* One more walk takes each of its steps, and its mirror the way back. */
static void add_uses(struct maker *maker, const int *walk, bool closed)
{
    int n = maker->count;

    for (int i = closed ? 0 : 1; i < n && n > 1; i++) {
        int from = walk[(i + n - 1) % n];
        int to = walk[i];

        maker->uses[from * n + to]++;
        maker->uses[to * n + from]++;
    }
}

/* -- walks within a node -- */

static void number_order(struct maker *maker)
{
    for (int i = 0; i < maker->count; i++) {
        maker->walks[i] = i;
    }
    maker->walk_count = 1;
}

static void zigzags(struct maker *maker)
{
    int circle = maker->count - 1;

    maker->walk_count = circle % 2 == 0 ? circle / 2 : circle;
    for (int turn = 0; turn < maker->walk_count; turn++) {
        int *walk = walk_at(maker, turn);

        walk[0] = circle;
        for (int i = 0; i < circle; i++) {
            int side = i % 2 == 0 ? -(i / 2) : (i + 1) / 2;

            walk[i + 1] = (turn + side + circle) % circle;
        }
    }
}

static bool is_over_nvlink(const struct maker *maker, const int *walk)
{
    for (int i = 0; i < maker->count; i++) {
        if (links_between(maker, walk[i], walk[(i + 1) % maker->count]) == 0) {
            return false;
        }
    }
    return true;
}

/* What walks move together, in links: the busiest link is shared by most. */
static double links_moved(const struct maker *maker, int walks)
{
    double busiest = 0.0;

    for (int from = 0; from < maker->count; from++) {
        for (int to = 0; to < from; to++) {
            int links = links_between(maker, from, to);

            if (links > 0) {
                busiest = fmax(busiest,
                               (double)maker->uses[from * maker->count + to] /
                                   (double)links);
            }
        }
    }
    return busiest > 0.0 ? (double)walks / busiest : 0.0;
}

/* No walks move more: each takes two links of every GPU. */
static double links_moved_at_most(const struct maker *maker)
{
    double least = HUGE_VAL;

    for (int from = 0; from < maker->count; from++) {
        int links = 0;

        for (int to = 0; to < maker->count; to++) {
            links += from != to ? links_between(maker, from, to) : 0;
        }
        least = fmin(least, (double)links / 2.0);
    }
    return least;
}

static void search_closed(struct maker *maker)
{
    struct model_tour_problem problem = {.count = maker->count,
                                         .cost = maker->cost};
    double most = links_moved_at_most(maker);
    double best = 0.0;

    for (int i = 0; i < CLOSED_MAX && best < most; i++) {
        int *walk = walk_at(maker, i);
        double moved;

        set_costs(maker, NO_NIC);
        (void)model_tour_find(maker->arena, &problem, walk);
        if (!is_over_nvlink(maker, walk)) {
            maker->walk_count = i == 0 ? 1 : maker->walk_count;
            return;
        }
        add_uses(maker, walk, true);
        moved = links_moved(maker, i + 1);
        if (moved > best) {
            best = moved;
            maker->walk_count = i + 1;
        }
    }
    /* Without any NVLink nothing was tried. */
    if (maker->walk_count == 0) {
        number_order(maker);
    }
}

/* -- walks over several nodes -- */

/* Where the walk of a NIC starts if nothing else decides: spread evenly. */
static int usual_start(const struct maker *maker, int nic)
{
    return nic * maker->count / maker->topology->nics.count;
}

/* Of all turns of the order of numbers the cheapest. */
static void turned_order(struct maker *maker, int *walk, int nic)
{
    int n = maker->count;
    int best = usual_start(maker, nic);
    int64_t best_cost = INT64_MAX;

    /* All steps of the circle but the one that is cut cost the same. */
    for (int i = 0; i < n; i++) {
        int first = (usual_start(maker, nic) + i) % n;
        int last = (first + n - 1) % n;
        int64_t cost = enter_cost(maker, first, nic) +
                       leave_cost(maker, last, nic) -
                       (n > 1 ? flat_step(maker, last, first) : 0);

        if (cost < best_cost) {
            best_cost = cost;
            best = first;
        }
    }
    for (int i = 0; i < n; i++) {
        walk[i] = (best + i) % n;
    }
}

/* First and last as near to the NIC as can be, the others by number. */
static void ends_near(struct maker *maker, int *walk, int nic)
{
    int n = maker->count;
    int first = usual_start(maker, nic);
    int last;
    int at = 0;

    for (int i = 1; i < n; i++) {
        int other = (usual_start(maker, nic) + i) % n;

        if (enter_cost(maker, other, nic) < enter_cost(maker, first, nic)) {
            first = other;
        }
    }
    last = (first + n - 1) % n;
    for (int i = 2; i < n; i++) {
        int other = (first + n - i) % n;

        if (leave_cost(maker, other, nic) < leave_cost(maker, last, nic)) {
            last = other;
        }
    }
    for (int i = 0; i < n; i++) {
        int other = (first + i) % n;

        if (i == 0 || other != last) {
            walk[at++] = other;
        }
    }
    if (at < n) {
        walk[at] = last;
    }
}

static void searched_order(struct maker *maker, int *walk, int nic)
{
    struct model_tour_problem problem = {.count = maker->count,
                                         .cost = maker->cost,
                                         .start = maker->start,
                                         .end = maker->end};

    set_costs(maker, nic);
    (void)model_tour_find(maker->arena, &problem, walk);
    add_uses(maker, walk, false);
}

/* -- mirrors -- */

static int64_t walk_cost(const struct maker *maker, const int *walk, int nic)
{
    int n = maker->count;
    int64_t cost =
        enter_cost(maker, walk[0], nic) + leave_cost(maker, walk[n - 1], nic);

    for (int i = 1; i < n; i++) {
        cost += flat_step(maker, walk[i - 1], walk[i]);
    }
    return cost;
}

static void
add_mirror(struct maker *maker, const int *walk, int *mirror, int nic)
{
    int n = maker->count;
    int *behind = model_arena_array(maker->arena, (size_t)n, sizeof(*behind));

    behind[0] = walk[0];
    for (int i = 0; i < n; i++) {
        mirror[i] = walk[n - 1 - i];
        behind[i] = i > 0 ? walk[n - i] : walk[0];
    }
    if (nic != NO_NIC &&
        walk_cost(maker, behind, nic) < walk_cost(maker, mirror, nic)) {
        memcpy(mirror, behind, (size_t)n * sizeof(*mirror));
    }
}

static void walk_closed(struct maker *maker)
{
    switch ((enum model_nvlink_kind)maker->topology->nvlink.kind) {
    case MODEL_NVLINK_MESH:
        if (maker->count > 1) {
            zigzags(maker);
            return;
        }
        break;
    case MODEL_NVLINK_LINKS:
        search_closed(maker);
        return;
    case MODEL_NVLINK_NONE:
    case MODEL_NVLINK_PAIRS:
    case MODEL_NVLINK_SWITCH:
    case MODEL_NVLINK_KINDS:
        break;
    }
    number_order(maker);
}

static void walk_from(struct maker *maker, int *walk, int nic)
{
    switch ((enum model_nvlink_kind)maker->topology->nvlink.kind) {
    case MODEL_NVLINK_LINKS:
    case MODEL_NVLINK_MESH:
        searched_order(maker, walk, nic);
        break;
    case MODEL_NVLINK_SWITCH:
        ends_near(maker, walk, nic);
        break;
    case MODEL_NVLINK_NONE:
    case MODEL_NVLINK_PAIRS:
    case MODEL_NVLINK_KINDS:
        turned_order(maker, walk, nic);
        break;
    }
}

/* Room for all walks, and for a search where one will be made. */
static struct maker start(struct model_arena *arena,
                          const struct model_topology *topology,
                          const int *gpus,
                          int gpu_count,
                          int nic_count)
{
    size_t n = (size_t)gpu_count;
    size_t most = nic_count > 0 ? (size_t)nic_count : 1;
    struct maker maker = {
        .arena = arena, .topology = topology, .gpus = gpus, .count = gpu_count};

    if (topology->nvlink.kind == MODEL_NVLINK_LINKS ||
        topology->nvlink.kind == MODEL_NVLINK_MESH) {
        if (nic_count == 0) {
            most = n > CLOSED_MAX ? n : CLOSED_MAX;
        }
        maker.uses = model_arena_array(arena, n * n, sizeof(*maker.uses));
        maker.cost = model_arena_array(arena, n * n, sizeof(*maker.cost));
        maker.start = model_arena_array(arena, n, sizeof(*maker.start));
        maker.end = model_arena_array(arena, n, sizeof(*maker.end));
    }
    maker.walks = model_arena_array(arena, 2 * most * n, sizeof(*maker.walks));
    return maker;
}

struct model_orders model_orders_make(struct model_arena *arena,
                                      const struct model_topology *topology,
                                      const int *gpus,
                                      int gpu_count,
                                      const int *nics,
                                      int nic_count)
{
    struct maker maker = start(arena, topology, gpus, gpu_count, nic_count);

    if (nic_count == 0) {
        walk_closed(&maker);
    }
    for (int i = 0; i < nic_count; i++) {
        walk_from(&maker, walk_at(&maker, i), nics[i]);
        maker.walk_count++;
    }
    for (int i = 0; i < maker.walk_count; i++) {
        add_mirror(&maker, walk_at(&maker, i),
                   walk_at(&maker, maker.walk_count + i),
                   nic_count > 0 ? nics[i] : NO_NIC);
    }
    return (struct model_orders){.count = 2 * maker.walk_count,
                                 .length = gpu_count,
                                 .walks = maker.walks};
}
