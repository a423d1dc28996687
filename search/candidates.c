/*
 * candidates.c - numbers of candidates, and ranks without lists.
 *
 * On each axis candidates have whole places: channels, threads, and for the
 * chunk its bytes in units of a warp. How many lie between two places is a sum
 * over (channels, threads), so the place that the k-th nearest has is found by
 * halving, and only candidates of that place are put in order.
 */
#include "search/candidates.h"

#include "model/protocol.h"

#include <math.h>

/* One candidate of a place. */
struct search_plane_point {
    double off; /* squared distance from the axis */
    int number;
};

enum { CHANNELS, THREADS, CHUNK };

/* -- numbers -- */

void search_candidates_make(struct model_arena *arena,
                            const struct search_space *space,
                            struct search_candidates *candidates)
{
    int kinds =
        (space->threads_max - space->threads_min) / SEARCH_THREADS_STEP + 1;

    *candidates = (struct search_candidates){.space = *space};
    candidates->pairs =
        model_arena_array(arena, (size_t)space->channels_max * (size_t)kinds,
                          sizeof(*candidates->pairs));
    for (int channels = 1; channels <= space->channels_max; channels++) {
        int most = search_space_threads_max(space, channels);

        for (int threads = space->threads_min; threads <= most;
             threads += SEARCH_THREADS_STEP) {
            struct search_pair *pair =
                &candidates->pairs[candidates->pair_count++];

            *pair = (struct search_pair){
                channels, threads, candidates->count,
                search_space_chunks(space, channels, threads)};
            candidates->count += pair->count;
        }
    }
}

struct search_candidate
search_candidates_at(const struct search_candidates *candidates, int number)
{
    int low = 0;
    int high = candidates->pair_count - 1;

    while (low < high) {
        int middle = low + (high - low + 1) / 2;

        if (candidates->pairs[middle].first <= number) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return (struct search_candidate){candidates->pairs[low].channels,
                                     candidates->pairs[low].threads,
                                     number - candidates->pairs[low].first + 1};
}

int search_candidates_number(const struct search_candidates *candidates,
                             const struct search_candidate *candidate)
{
    const struct search_pair *pair = candidates->pairs;

    while (pair->channels != candidate->channels ||
           pair->threads != candidate->threads) {
        pair++;
    }
    return pair->first + candidate->multiple - 1;
}

/* -- places on an axis -- */

static int warps_of(int threads)
{
    return threads / SEARCH_THREADS_STEP;
}

static int place_of(const struct search_candidate *candidate, int axis)
{
    return axis == CHANNELS ? candidate->channels
           : axis == THREADS
               ? candidate->threads
               : warps_of(candidate->threads) * candidate->multiple;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* The pair's multiples with places low .. high: first .. last. */
static void multiples_between(
    const struct search_pair *pair, int axis, int low, int high, int *span)
{
    int place = axis == CHANNELS ? pair->channels : pair->threads;

    span[0] = 1;
    span[1] = place >= low && place <= high ? pair->count : 0;
    if (axis == CHUNK) {
        int warps = warps_of(pair->threads);

        span[0] = (low + warps - 1) / warps;
        span[1] = smaller(pair->count, high / warps);
    }
}

/* Untried candidates from the place next to the look's to the given one. */
struct stretch {
    int low, high; /* places */
};

static struct stretch
stretch_to(const struct search_look *look, int from, int distance)
{
    return look->direction > 0
               ? (struct stretch){from + 1, from + distance}
               : (struct stretch){from - distance > 1 ? from - distance : 1,
                                  from - 1};
}

static int count_in(const struct search_candidates *candidates,
                    const struct search_look *look,
                    struct stretch stretch)
{
    int count = 0;

    for (int i = 0; i < candidates->pair_count; i++) {
        int span[2];

        multiples_between(&candidates->pairs[i], look->axis, stretch.low,
                          stretch.high, span);
        count += span[1] >= span[0] ? span[1] - span[0] + 1 : 0;
    }
    for (int i = 0; i < look->tried_count; i++) {
        struct search_candidate at =
            search_candidates_at(candidates, look->tried[i]);
        int place = place_of(&at, look->axis);

        count -= place >= stretch.low && place <= stretch.high ? 1 : 0;
    }
    return count;
}

/* Farther than any. */
static int farthest(const struct search_candidates *candidates, int axis)
{
    const struct search_space *space = &candidates->space;
    double warp_bytes = space->grain_bytes * SEARCH_THREADS_STEP;

    return axis == CHANNELS  ? space->channels_max
           : axis == THREADS ? space->threads_max
                             : warps_of(space->threads_max) +
                                   (int)(space->chunk_max_bytes / warp_bytes);
}

/* The least distance within which there are k; there are. */
static int distance_of(const struct search_candidates *candidates,
                       const struct search_look *look,
                       int from,
                       int k)
{
    int low = 1;
    int high = farthest(candidates, look->axis);

    while (low < high) {
        int middle = low + (high - low) / 2;

        if (count_in(candidates, look, stretch_to(look, from, middle)) >= k) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* -- the candidates of a place, in order -- */

/* As AutoCCL's list has them. */
struct numbers {
    double channels, threads, wire_bytes, steps, last_bytes;
};

static struct numbers numbers_of(const struct search_space *space,
                                 const struct search_candidate *candidate)
{
    double chunk =
        space->grain_bytes * candidate->threads * candidate->multiple;
    double sharers = search_space_sharers(space, candidate->channels);
    double whole = floor(space->count_bytes / (sharers * chunk));
    double rest = space->count_bytes - whole * sharers * chunk;

    return (struct numbers){
        candidate->channels, candidate->threads,
        chunk *
            model_protocol_facts((enum model_protocol)space->subspace.protocol)
                ->wire_ratio,
        whole + (rest > 0.0 ? 1.0 : 0.0), floor(rest / sharers)};
}

static double square(double a)
{
    return a * a;
}

static double
off_axis(const struct numbers *a, const struct numbers *b, int axis)
{
    return (axis != CHANNELS ? square(a->channels - b->channels) : 0.0) +
           (axis != THREADS ? square(a->threads - b->threads) : 0.0) +
           (axis != CHUNK ? square(a->wire_bytes - b->wire_bytes) : 0.0) +
           square(a->steps - b->steps) + square(a->last_bytes - b->last_bytes);
}

static bool nearer(const struct search_plane_point *a,
                   const struct search_plane_point *b)
{
    if (a->off < b->off || a->off > b->off) {
        return a->off < b->off;
    }
    return a->number < b->number;
}

/* Order so that the k nearest come first, the k-th of them last (quickselect).
 */
static void select_nearest(struct search_plane_point *list, int count, int k)
{
    int low = 0;
    int high = count - 1;

    while (low < high) {
        struct search_plane_point pivot = list[low + (high - low) / 2];
        int i = low;
        int j = high;

        while (i <= j) {
            while (nearer(&list[i], &pivot)) {
                i++;
            }
            while (nearer(&pivot, &list[j])) {
                j--;
            }
            if (i <= j) {
                struct search_plane_point kept = list[i];

                list[i++] = list[j];
                list[j--] = kept;
            }
        }
        if (k - 1 <= j) {
            high = j;
        } else if (k - 1 >= i) {
            low = i;
        } else {
            return;
        }
    }
}

/* The untried candidates of a place, into the room; returns how many. */
static int list_place(const struct search_candidates *candidates,
                      const struct search_look *look,
                      int place,
                      struct search_ahead *room)
{
    struct stretch only = {place, place};
    struct search_candidate from = search_candidates_at(candidates, look->from);
    struct numbers origin = numbers_of(&candidates->space, &from);
    int most = count_in(candidates, look, only);
    int tried = 0;
    int count = 0;

    if (most > room->room) {
        room->room = most;
        room->points =
            model_arena_array(room->arena, (size_t)most, sizeof(*room->points));
    }
    for (int i = 0; i < candidates->pair_count; i++) {
        const struct search_pair *pair = &candidates->pairs[i];
        int span[2];

        multiples_between(pair, look->axis, place, place, span);
        for (int multiple = span[0]; multiple <= span[1]; multiple++) {
            struct search_candidate at = {pair->channels, pair->threads,
                                          multiple};
            struct numbers numbers;
            int number = pair->first + multiple - 1;

            while (tried < look->tried_count && look->tried[tried] < number) {
                tried++;
            }
            if (tried < look->tried_count && look->tried[tried] == number) {
                continue;
            }
            numbers = numbers_of(&candidates->space, &at);
            room->points[count++] = (struct search_plane_point){
                off_axis(&numbers, &origin, look->axis), number};
        }
    }
    return count;
}

int search_candidates_ahead(const struct search_candidates *candidates,
                            const struct search_look *look,
                            double step,
                            int most,
                            struct search_ahead *room,
                            int *numbers)
{
    struct search_candidate at = search_candidates_at(candidates, look->from);
    int from = place_of(&at, look->axis);
    int all =
        count_in(candidates, look,
                 stretch_to(look, from, farthest(candidates, look->axis)));
    int k = (int)(step * (double)all);
    int found = 0;

    k = smaller(k > most ? k : most, all);
    while (found < most && k > 0) {
        int distance = distance_of(candidates, look, from, k);
        int before =
            count_in(candidates, look, stretch_to(look, from, distance - 1));
        int count = list_place(candidates, look,
                               from + look->direction * distance, room);

        for (int rank = k - before; found < most && rank > 0; rank--) {
            select_nearest(room->points, count, rank);
            numbers[found++] = room->points[rank - 1].number;
            count = rank - 1;
        }
        k = before;
    }
    return found;
}
