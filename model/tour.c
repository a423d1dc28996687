/*
 * tour.c - branch and bound over orders.
 */
#include "model/tour.h"

#include <string.h>

/* Some milliseconds; the eight GPUs of a cube mesh need some hundreds. */
enum { STEPS_MAX = 20000 };

struct search {
    const struct model_tour_problem *problem;
    int64_t cheapest[MODEL_TOUR_EXACT]; /* way into a point */
    int64_t best_cost;
    int best[MODEL_TOUR_EXACT];
    int tour[MODEL_TOUR_EXACT];
    bool visited[MODEL_TOUR_EXACT];
    int steps;
};

static int64_t
step_cost(const struct model_tour_problem *problem, int from, int to)
{
    return problem->cost[from * problem->count + to];
}

/* From the last point of a tour back, or out. */
static int64_t
end_cost(const struct model_tour_problem *problem, int first, int last)
{
    if (problem->end != NULL) {
        return problem->end[last];
    }
    return problem->count > 1 ? step_cost(problem, last, first) : 0;
}

int64_t model_tour_cost(const struct model_tour_problem *problem,
                        const int *tour)
{
    int last = tour[problem->count - 1];
    int64_t cost = problem->start != NULL ? problem->start[tour[0]] : 0;

    for (int i = 1; i < problem->count; i++) {
        cost += step_cost(problem, tour[i - 1], tour[i]);
    }
    return cost + end_cost(problem, tour[0], last);
}

/*
 * Points that are left, by the cost from `from` (-1: of starting there), equal
 * ones by number from `from` on and round. Returns how many.
 */
static int candidates(const struct model_tour_problem *problem,
                      const bool *visited,
                      int from,
                      int *points,
                      int64_t *costs)
{
    int count = 0;

    for (int i = 1; i <= problem->count; i++) {
        int point = (from + i) % problem->count;
        int64_t cost;
        int at = count;

        if (visited[point]) {
            continue;
        }
        cost =
            from < 0 ? problem->start[point] : step_cost(problem, from, point);
        while (at > 0 && costs[at - 1] > cost) {
            points[at] = points[at - 1];
            costs[at] = costs[at - 1];
            at--;
        }
        points[at] = point;
        costs[at] = cost;
        count++;
    }
    return count;
}

/* What the points that are left cost at least. */
static int64_t least_left(const struct search *search)
{
    const struct model_tour_problem *problem = search->problem;
    int64_t sum = 0;
    int64_t end = INT64_MAX;

    for (int point = 0; point < problem->count; point++) {
        if (!search->visited[point]) {
            int64_t out = end_cost(problem, search->tour[0], point);

            sum += search->cheapest[point];
            end = out < end ? out : end;
        }
    }
    return end < INT64_MAX ? sum + end : sum;
}

static void extend(struct search *search, int depth, int64_t cost)
{
    const struct model_tour_problem *problem = search->problem;
    int points[MODEL_TOUR_EXACT];
    int64_t costs[MODEL_TOUR_EXACT];
    int from = depth > 0 ? search->tour[depth - 1] : -1;
    int count;

    if (depth == problem->count) {
        cost += end_cost(problem, search->tour[0], from);
        if (cost < search->best_cost) {
            search->best_cost = cost;
            memcpy(search->best, search->tour, sizeof(search->best));
        }
        return;
    }
    if (search->steps++ > STEPS_MAX ||
        (depth > 0 && cost + least_left(search) >= search->best_cost)) {
        return;
    }
    count = candidates(problem, search->visited, from, points, costs);
    for (int i = 0; i < count; i++) {
        search->tour[depth] = points[i];
        search->visited[points[i]] = true;
        extend(search, depth + 1, cost + costs[i]);
        search->visited[points[i]] = false;
    }
}

static void find_exactly(const struct model_tour_problem *problem, int *tour)
{
    struct search search = {.problem = problem, .best_cost = INT64_MAX};

    for (int point = 0; point < problem->count; point++) {
        search.cheapest[point] = INT64_MAX;
        for (int from = 0; from < problem->count; from++) {
            if (from != point &&
                step_cost(problem, from, point) < search.cheapest[point]) {
                search.cheapest[point] = step_cost(problem, from, point);
            }
        }
    }
    if (problem->start == NULL) {
        search.visited[0] = true;
        extend(&search, 1, 0);
    } else {
        extend(&search, 0, 0);
    }
    memcpy(tour, search.best, (size_t)problem->count * sizeof(*tour));
}

/* Always the nearest next. */
static void find_nearest(struct model_arena *arena,
                         const struct model_tour_problem *problem,
                         int *tour)
{
    size_t count = (size_t)problem->count;
    bool *visited = model_arena_array(arena, count, sizeof(*visited));
    int *points = model_arena_array(arena, count, sizeof(*points));
    int64_t *costs = model_arena_array(arena, count, sizeof(*costs));

    for (int i = 0; i < problem->count; i++) {
        if (i == 0 && problem->start == NULL) {
            tour[0] = 0;
        } else {
            (void)candidates(problem, visited, i > 0 ? tour[i - 1] : -1, points,
                             costs);
            tour[i] = points[0];
        }
        visited[tour[i]] = true;
    }
}

int64_t model_tour_find(struct model_arena *arena,
                        const struct model_tour_problem *problem,
                        int *tour)
{
    if (problem->count <= MODEL_TOUR_EXACT) {
        find_exactly(problem, tour);
    } else {
        find_nearest(arena, problem, tour);
    }
    return model_tour_cost(problem, tour);
}
