/*
 * statistics.h - what repeated measurements come to.
 */
#ifndef VALIDATE_REPLAY_STATISTICS_H
#define VALIDATE_REPLAY_STATISTICS_H

struct replay_summary {
    double median_us;
    double spread_us; /* between the quartiles */
    int repeats;
    double sm_clock_mhz; /* while it was measured; 0: not known */
};

/* Of count >= 1 values, which are sorted. Quartiles are interpolated between
   the two nearest values (GSL's rule: of n values, at (n - 1) / 4). */
struct replay_summary replay_summarise(double *values_us, int count);

#endif
