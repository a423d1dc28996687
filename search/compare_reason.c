/*
 * compare_reason.c - why a row lies outside the range that was published, as
 * far as simulated times tell.
 *
 * Below a range: is it out of reach of all plans (the bound), of all that were
 * found, or only of this strategy; and what there was to gain. Above it: what
 * the time was gained from, faster kernels or communication better hidden.
 */
#include "search/compare.h"

#include "search/paragraph.h"

#include <math.h>
#include <string.h>

/* Less is not worth a word. */
static const double DIFFERENT_RATIO = 0.0005;

/* A row, the strategy that it is compared with, and what is said of them. */
struct reason {
    struct model_arena *arena;
    const struct search_compared *row;
    const struct search_verdict *verdict;
    const char *over;
    const struct search_times *own, *others;
    const char *text;
};

#define ADD(reason, ...)                                                       \
    ((reason)->text =                                                          \
         model_arena_format((reason)->arena, "%s%s%s", (reason)->text,         \
                            (reason)->text[0] != '\0' ? "; " : "",             \
                            model_arena_format((reason)->arena, __VA_ARGS__)))

/* What limits the speedup over the other strategy. */
static void add_limit(struct reason *reason)
{
    const struct search_case *of = reason->row->of;
    const struct model_claim *claim = reason->verdict->claim;
    double over_us = reason->others->iteration_us;
    double found = over_us / of->best_us;

    if (of->bound_us > 0.0 && over_us / of->bound_us < claim->min_ratio) {
        ADD(reason,
            "no plan in reach exceeds %.3f, as it takes %.1f ms at least",
            over_us / of->bound_us, of->bound_us / 1000.0);
    }
    if (found - reason->verdict->ratio > DIFFERENT_RATIO) {
        ADD(reason, "the fastest plan found, by %s%s, gives %.3f",
            of->best != NULL ? of->best->strategy->name : "nccl",
            of->best == reason->row ? " with another seed" : "", found);
    } else {
        ADD(reason, "no faster plan found");
    }
}

/* What could be gained over the other strategy's iteration. */
static void add_room(struct reason *reason)
{
    const struct search_times *others = reason->others;
    double bound_us = reason->row->of->bound_us;

    ADD(reason, "%s exposes %.1f %% of its iteration", reason->over,
        100.0 * others->exposed_us / others->iteration_us);
    if (bound_us > 0.0) {
        ADD(reason, "%.1f %% of it is beyond the bound",
            100.0 * (1.0 - bound_us / others->iteration_us));
    }
    if (reason->own->comm_us > reason->own->compute_us) {
        ADD(reason,
            "bound by communication, %.1f ms of it to %.1f ms of kernels",
            reason->own->comm_us / 1000.0, reason->own->compute_us / 1000.0);
    }
}

/* Where it stands against a strategy that others beat. */
static void add_trade(struct reason *reason)
{
    ADD(reason,
        "beside %s's, collectives run %.2f and kernels %.2f times as "
        "long",
        reason->over, reason->own->comm_us / reason->others->comm_us,
        reason->own->compute_us / reason->others->compute_us);
}

/* "x ms less" or "x ms more". */
static const char *change(struct model_arena *arena, double less_us)
{
    return model_arena_format(arena, "%.1f ms %s", fabs(less_us) / 1000.0,
                              less_us < 0.0 ? "more" : "less");
}

/* What a speedup comes from. */
static void add_gain(struct reason *reason)
{
    const struct search_times *own = reason->own;
    const struct search_times *others = reason->others;

    ADD(reason, "%s than %s's %.1f ms: kernels %s, exposed communication %s",
        change(reason->arena, others->iteration_us - own->iteration_us),
        reason->over, others->iteration_us / 1000.0,
        change(reason->arena, others->compute_us - own->compute_us),
        change(reason->arena, others->exposed_us - own->exposed_us));
}

void search_reason_print(const struct search_comparison *table,
                         const struct search_compared *row,
                         const struct search_verdict *verdict)
{
    FILE *out = table->cli->out;
    const struct model_claim *claim = verdict->claim;
    struct reason reason = {.arena = table->cli->arena,
                            .row = row,
                            .verdict = verdict,
                            .over = claim->over,
                            .own = &row->tuned.times,
                            .others =
                                search_times_of(table, row->of, claim->over),
                            .text = ""};
    bool below = verdict->ratio < claim->min_ratio;

    (void)fprintf(out, "  %s, %s: %s over %s %.3f, %.3f %s %.2f-%.2f\n",
                  row->of->input.topology.name, row->of->input.workload.name,
                  claim->strategy, claim->over, verdict->ratio,
                  below ? claim->min_ratio - verdict->ratio
                        : verdict->ratio - claim->max_ratio,
                  below ? "below" : "above", claim->min_ratio,
                  claim->max_ratio);
    if (!below) {
        add_gain(&reason);
    } else {
        add_limit(&reason);
        if (row == row->of->best || verdict->ratio >= 1.0) {
            add_room(&reason);
        } else {
            add_trade(&reason);
        }
    }
    search_paragraph(out, 6, reason.text);
}
