/*
 * memo.h - an evaluator that remembers: a plan that was measured before costs
 * no time again. Strategies of one row of a table share it; each call still
 * counts as one of its evaluator's evaluations.
 */
#ifndef SEARCH_MEMO_H
#define SEARCH_MEMO_H

#include "search/evaluator.h"

struct search_memo {
    struct model_arena *arena;
    const struct search_problem *problem;
    struct search_evaluator *inner;
    struct search_memo_entry **slots; /* by hash, open addressing */
    size_t slot_count;                /* a power of two */
    size_t used;
};

/*
 * An empty memory over inner, an evaluator whose result depends on the plan
 * alone. All is borrowed; entries live in the arena. Plans must be made by
 * search_plan for the same problem.
 */
void search_memo_make(struct model_arena *arena,
                      const struct search_problem *problem,
                      struct search_evaluator *inner,
                      struct search_memo *memo);

/* It as an evaluator, with a count of its own. memo must outlive it. */
struct search_evaluator search_memo_evaluator(struct search_memo *memo);

#endif
