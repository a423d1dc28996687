/*
 * jitter.h - how much longer or shorter than usual one kernel runs.
 *
 * Kernel times of real GPUs vary from run to run. Each (rank, op) gets its own
 * factor, log-normal with mean 1:
 *
 *     factor = exp(s z - s^2 / 2),  z standard normal
 *
 * It depends on nothing but the seed, the rank and the op's number, so another
 * consumer of random numbers, another order of events or another thread changes
 * no factor.
 */
#ifndef SIM_JITTER_H
#define SIM_JITTER_H

#include <stdint.h>

/* ratio: the deviation s of the logarithm, >= 0; 0 gives exactly 1. */
double sim_jitter_factor(uint64_t seed, int rank, int op, double ratio);

#endif
