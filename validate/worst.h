/*
 * worst.h - why the model says what it says of the rows that it misses most.
 */
#ifndef VALIDATE_WORST_H
#define VALIDATE_WORST_H

#include "validate/verdict.h"

/* Settings of NCCL that were not chosen, and what they would take. */
struct validate_other {
    struct model_config config;
    double time_us; /* 0: there are none */
};

struct validate_worst {
    int pair; /* of the verdict */
    /* Of a collective that ran with the same settings, were this nothing: */
    double start_us; /* what its kernel takes before and after its steps */
    double steps_us; /* what each step waits for the other side */
    struct validate_other fastest; /* of the others */
    struct validate_other nearest; /* to what was measured */
};

struct validate_worsts {
    struct validate_worst *list;
    int count;
};

/*
 * The pairs that are off by the largest factors, at most `most`, the largest
 * first: half the time is as wrong as twice. Their circumstances are simulated,
 * one thing changed at a time, with the sets that the verdict was predicted
 * with. MODEL_FAULT when memory runs out. Lives in the arena.
 */
enum model_status validate_worst(struct model_arena *arena,
                                 const struct validate_verdict *verdict,
                                 const char *const *sets,
                                 int set_count,
                                 int most,
                                 struct validate_worsts *worsts);

/* All of it as sentences, each ended by a point. */
const char *validate_worst_words(struct model_arena *arena,
                                 const struct validate_verdict *verdict,
                                 const struct validate_worst *worst);

#endif
