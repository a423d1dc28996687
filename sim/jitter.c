/*
 * jitter.c - a generator for each pair, seeded by a hash of it.
 */
#include "sim/jitter.h"

#include <assert.h>
#include <gsl/gsl_randist.h>
#include <math.h>

enum { STATE_BYTES = 64 };

/* SplitMix64: neighbouring inputs give unrelated outputs. */
static uint64_t scramble(uint64_t value)
{
    value += UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
    return value ^ (value >> 31);
}

double sim_jitter_factor(uint64_t seed, int rank, int op, double ratio)
{
    union {
        unsigned char bytes[STATE_BYTES];
        unsigned long align;
    } state;
    gsl_rng random = {.type = gsl_rng_taus2, .state = &state};
    uint64_t pair = (uint64_t)(uint32_t)rank << 32 | (uint32_t)op;

    if (!(ratio > 0.0)) {
        return 1.0;
    }
    assert(random.type->size <= sizeof(state));
    gsl_rng_set(&random,
                (unsigned long)(scramble(scramble(seed) ^ pair) >> 32));
    return exp(ratio * gsl_ran_gaussian(&random, 1.0) - 0.5 * ratio * ratio);
}
