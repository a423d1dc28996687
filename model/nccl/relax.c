/*
 * relax.c - which attempts are made, in what order, and when it is enough.
 */
#include "model/nccl/search_parts.h"

/* -- attempts -- */

static int last_present(const struct model_nccl_hunt *hunt, int which, int type)
{
    while (type > 0 && !hunt->present[which][type]) {
        type--;
    }
    return type;
}

/*
 * An attempt that differs from one before only in types that no path has would
 * find the same sets of channels, none better than the best: its steps alone
 * count.
 */
static int find_attempt(struct model_nccl_hunt *hunt)
{
    struct model_nccl_attempt wanted = {
        .pattern = hunt->now.pattern,
        .cross_nic = hunt->now.cross_nic,
        .intra_type = last_present(hunt, 0, hunt->now.intra_type),
        .inter_type = last_present(hunt, 1, hunt->now.inter_type),
        .rate = hunt->rate,
        .same = hunt->now.same,
        .left = MODEL_NCCL_UNKNOWN};

    for (int i = hunt->attempt_count - 1; i >= 0; i--) {
        const struct model_nccl_attempt *each = &hunt->attempts[i];

        if (each->rate != wanted.rate) {
            break;
        }
        if (each->pattern == wanted.pattern &&
            each->cross_nic == wanted.cross_nic &&
            each->intra_type == wanted.intra_type &&
            each->inter_type == wanted.inter_type &&
            each->same == wanted.same) {
            return i;
        }
    }
    hunt->attempts =
        model_arena_grow(hunt->arena, hunt->attempts, hunt->attempt_count,
                         &hunt->attempt_room, sizeof(*hunt->attempts));
    hunt->attempts[hunt->attempt_count] = wanted;
    return hunt->attempt_count++;
}

static int steps_for(const struct model_nccl_hunt *hunt)
{
    const struct model_nccl_budget *budget = &hunt->data->budget;

    if (hunt->now.same) {
        return budget->same;
    }
    return hunt->now.pattern == MODEL_NCCL_PLAIN_TREE ? budget->tree
                                                      : budget->attempt;
}

/* Make an attempt that was left out, for the steps it would have left. */
static void make_up(struct model_nccl_hunt *hunt,
                    struct model_nccl_attempt *owing)
{
    struct model_nccl_draft now = hunt->now;

    hunt->now.pattern = owing->pattern;
    hunt->now.cross_nic = owing->cross_nic;
    hunt->now.intra_type = owing->intra_type;
    hunt->now.inter_type = owing->inter_type;
    hunt->now.same = owing->same;
    hunt->now.intra_bytes_per_us = hunt->rates[owing->rate];
    hunt->now.inter_bytes_per_us = hunt->rates[owing->rate];
    owing->left = model_nccl_walk_attempt(&hunt->walk, &hunt->now, &hunt->best,
                                          steps_for(hunt));
    hunt->now = now;
}

/*
 * The first turn at whose end all steps are spent, counting none as left where
 * that is unknown, or the number of turns; *unknown is the first attempt of
 * which it would have to be known, or -1.
 */
static int find_end(const struct model_nccl_hunt *hunt, int *unknown)
{
    int budget = hunt->data->budget.all;
    int turn = 0;

    *unknown = -1;
    for (; turn < hunt->turn_count; turn++) {
        const struct model_nccl_turn *at = &hunt->turns[turn];

        budget -= at->cost;
        if (!at->ended) {
            continue;
        }
        if (hunt->attempts[at->attempt].left != MODEL_NCCL_UNKNOWN) {
            budget += hunt->attempts[at->attempt].left;
        } else if (*unknown < 0) {
            *unknown = at->attempt;
        }
        if (budget < 0 && at->found) {
            break;
        }
    }
    return turn;
}

/*
 * Are all steps spent? This is asked only before an attempt that could win, and
 * attempts that were left out are made up for only where it depends on them.
 */
static bool is_spent(struct model_nccl_hunt *hunt)
{
    int unknown;

    while (find_end(hunt, &unknown) < hunt->turn_count) {
        if (unknown < 0) {
            return true;
        }
        make_up(hunt, &hunt->attempts[unknown]);
    }
    return false;
}

/*
 * Take a turn. What cannot win is left out; the steps it would have left stay
 * unknown. Returns false when the search would have ended before.
 */
static bool attempt(struct model_nccl_hunt *hunt)
{
    int known = hunt->attempt_count;
    int at = find_attempt(hunt);
    bool tried = at < known ||
                 model_nccl_hopeless(&hunt->bounds, &hunt->now, &hunt->best);

    if (!tried) {
        if (is_spent(hunt)) {
            return false;
        }
        hunt->attempts[at].left = model_nccl_walk_attempt(
            &hunt->walk, &hunt->now, &hunt->best, steps_for(hunt));
    }
    hunt->turns = model_arena_grow(hunt->arena, hunt->turns, hunt->turn_count,
                                   &hunt->turn_room, sizeof(*hunt->turns));
    hunt->turns[hunt->turn_count++] =
        (struct model_nccl_turn){.attempt = at, .cost = steps_for(hunt)};
    hunt->steps = hunt->attempts[at].left;
    return true;
}

static void end_turn(const struct model_nccl_hunt *hunt)
{
    hunt->turns[hunt->turn_count - 1].ended = true;
    hunt->turns[hunt->turn_count - 1].found = hunt->best.channels > 0;
}

static void set_rate(struct model_nccl_hunt *hunt, int rate)
{
    hunt->rate = rate;
    hunt->now.intra_bytes_per_us = hunt->rates[rate];
    hunt->now.inter_bytes_per_us = hunt->rates[rate];
}

/* No set of channels could be better, or better by enough. */
static bool is_enough(const struct model_nccl_hunt *hunt)
{
    long long found =
        (long long)hunt->best.channels * hunt->best.inter_bytes_per_us;
    bool alone = hunt->gpus == 1 && hunt->nets == 0;

    return hunt->steps == MODEL_NCCL_PERFECT || alone ||
           found >= hunt->total_bytes_per_us;
}

/* Is the next lower rate worth a try? Even twice as many must not be less. */
static bool goes_lower(const struct model_nccl_hunt *hunt)
{
    return hunt->rate < hunt->rate_count - 1 &&
           (hunt->best.channels == 0 ||
            (double)hunt->rates[hunt->rate + 1] >
                (double)hunt->best.inter_bytes_per_us *
                    hunt->data->lower_ratio);
}

/* The next farther type of path that the version knows. */
static int next_type(const struct model_nccl_hunt *hunt, int type)
{
    type++;
    return !hunt->data->c2c && (type == (int)MODEL_NCCL_PATH_C2C ||
                                type == (int)MODEL_NCCL_PATH_P2C)
               ? type + 1
               : type;
}

/* Farther paths within the node, then to NICs. */
static bool goes_farther(struct model_nccl_hunt *hunt)
{
    struct model_nccl_draft *now = &hunt->now;
    const struct model_nccl_draft *best = &hunt->best;
    int farthest = hunt->nets > 0 ? now->inter_type : hunt->farthest_intra;

    if (now->intra_type < farthest &&
        (best->channels == 0 || now->intra_type < best->intra_type)) {
        now->intra_type = next_type(hunt, now->intra_type);
        return true;
    }
    now->intra_type = hunt->nearest_intra;
    if (hunt->nets > 0 && now->inter_type < hunt->farthest_inter &&
        (best->channels == 0 || now->inter_type < best->inter_type ||
         now->inter_type < (int)MODEL_NCCL_PATH_PXN)) {
        now->inter_type = next_type(hunt, now->inter_type);
        return true;
    }
    now->inter_type = hunt->nearest_inter;
    return false;
}

/* NICs crossed where that was not tried yet. */
static bool goes_across(struct model_nccl_hunt *hunt)
{
    bool pairs = hunt->data->nic_pairs;
    int pattern = hunt->best.pattern;
    bool may =
        pairs ? hunt->cross_nic == 2 && (pattern == MODEL_NCCL_RING_PATTERN ||
                                         pattern == MODEL_NCCL_BALANCED_TREE)
              : hunt->cross_nic != 0;

    if (may && hunt->now.cross_nic == 0) {
        hunt->now.cross_nic = pairs ? 2 : 1;
        return true;
    }
    hunt->now.cross_nic = pairs && hunt->cross_nic == 1 ? 1 : 0;
    return false;
}

static bool differs(const struct model_nccl_hunt *hunt)
{
    return hunt->now.same &&
           !(hunt->data->amd_repeats &&
             hunt->machine->topology->host.cpu == MODEL_CPU_AMD &&
             hunt->now.intra_type == MODEL_NCCL_PATH_SYS);
}

/* The next attempt of the first pass; false when there is none. */
static bool relax(struct model_nccl_hunt *hunt)
{
    struct model_nccl_draft *now = &hunt->now;

    if (differs(hunt)) {
        now->same = false;
        return true;
    }
    now->same = hunt->try_same;
    end_turn(hunt);
    if (hunt->machine->least_capability >= 90 &&
        now->pattern == MODEL_NCCL_BALANCED_TREE) {
        now->pattern = MODEL_NCCL_PLAIN_TREE;
        return true;
    }
    now->pattern = hunt->best.pattern;
    if (goes_farther(hunt) || goes_across(hunt)) {
        return true;
    }
    if (goes_lower(hunt)) {
        set_rate(hunt, hunt->rate + 1);
        return true;
    }
    return false;
}

/* The next attempt of the second pass: the same channels, faster. */
static bool raise_rate(struct model_nccl_hunt *hunt)
{
    struct model_nccl_draft *now = &hunt->now;
    const struct model_nccl_draft *best = &hunt->best;
    bool rings = hunt->data->raise_rings;

    if (hunt->steps == 0 || hunt->rate == 0) {
        return false;
    }
    if (best->pattern == MODEL_NCCL_RING_PATTERN) {
        if (rings) {
            set_rate(hunt, hunt->rate - 1);
        }
        return rings;
    }
    if (rings && best->pattern == MODEL_NCCL_NVLS_PATTERN &&
        now->inter_bytes_per_us == best->inter_bytes_per_us &&
        now->inter_bytes_per_us < 2 * now->intra_bytes_per_us) {
        now->least = best->channels;
        now->most = best->channels;
        now->inter_bytes_per_us = hunt->rates[--hunt->rate];
        return true;
    }
    if (now->intra_bytes_per_us == best->intra_bytes_per_us &&
        now->intra_bytes_per_us < 2 * now->inter_bytes_per_us) {
        now->intra_bytes_per_us = hunt->rates[--hunt->rate];
        return true;
    }
    return false;
}

/* -- passes -- */

/* The first rate that a way could carry, for so many channels. */
static void start_rate(struct model_nccl_hunt *hunt)
{
    const struct model_nccl_draft *now = &hunt->now;
    int rate = 0;
    long long gpus = hunt->gpus;
    bool ring = now->pattern == MODEL_NCCL_RING_PATTERN;
    /* A tree passes one hop less than a ring. */
    long long share = ring || gpus == 1 ? 1 : gpus - 1;
    long long total = hunt->total_bytes_per_us * (ring || gpus == 1 ? 1 : gpus);

    while (rate < hunt->rate_count - 1 &&
           (hunt->rates[rate] > hunt->most_bytes_per_us ||
            (gpus > 1 && share * now->least * hunt->rates[rate] > total))) {
        rate++;
    }
    set_rate(hunt, rate);
}

void model_nccl_first_pass(struct model_nccl_hunt *hunt)
{
    start_rate(hunt);
    while (attempt(hunt) && !is_enough(hunt) && relax(hunt)) {
    }
}

void model_nccl_second_pass(struct model_nccl_hunt *hunt)
{
    int rate = 0;

    hunt->steps = MODEL_NCCL_PERFECT;
    model_nccl_draft_copy(&hunt->now, &hunt->best, hunt->gpus);
    while (rate < hunt->rate_count - 1 &&
           hunt->rates[rate] > hunt->best.inter_bytes_per_us) {
        rate++;
    }
    set_rate(hunt, rate);
    hunt->now.least = hunt->best.channels;
    hunt->attempt_count = 0;
    /* What cannot win now cannot at higher rates either. */
    while (raise_rate(hunt) &&
           !model_nccl_hopeless(&hunt->bounds, &hunt->now, &hunt->best)) {
        hunt->steps = model_nccl_walk_attempt(&hunt->walk, &hunt->now,
                                              &hunt->best, steps_for(hunt));
    }
}
