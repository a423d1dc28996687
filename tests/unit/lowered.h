/*
 * lowered.h - what the tests of lowerings share: sums over ops, and who waits
 * for whom.
 */
#ifndef TESTS_LOWERED_H
#define TESTS_LOWERED_H

#include "tests/unit/fixture.h"

/* A shipped workload with changes, which must be fine. */
static inline struct model_workload *
lowered_read(struct model_arena *arena,
             const struct model_topology *topology,
             const char *name,
             const char *const *sets,
             int set_count)
{
    struct model_workload *w = model_arena_alloc(arena, sizeof *w);
    struct model_errors errors = {.arena = arena};
    enum model_status status =
        model_workload_read(arena, name, sets, set_count, topology, w, &errors);

    fixture_no_errors(&errors);
    assert_int_equal(status, MODEL_OK);
    return w;
}

static inline int lowered_count(const struct model_workload *w, int kind)
{
    int count = 0;

    for (int i = 0; i < w->op_count; i++) {
        count += w->ops[i].kind == kind ? 1 : 0;
    }
    return count;
}

static inline double lowered_bytes(const struct model_workload *w, int kind)
{
    double bytes = 0;

    for (int i = 0; i < w->op_count; i++) {
        bytes += w->ops[i].kind == kind ? w->ops[i].bytes : 0;
    }
    return bytes;
}

static inline bool
lowered_waits(const struct model_workload *w, int op, int other)
{
    for (int i = 0; i < w->ops[op].after_count; i++) {
        if (w->ops[op].after[i] == other) {
            return true;
        }
    }
    return false;
}

/* Does the op with one id wait for the op with the other, by `after`? */
static inline void lowered_expect_wait(const struct model_workload *w,
                                       const char *id,
                                       const char *other)
{
    if (!lowered_waits(w, fixture_op(w, id), fixture_op(w, other))) {
        fail_msg("%s does not wait for %s", id, other);
    }
}

#endif
