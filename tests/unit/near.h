/*
 * near.h - numbers that agree within a tolerance; cmocka here knows only
 * integers. assert_near takes an absolute tolerance, assert_near_ratio one
 * relative to the expected value. NaN agrees with nothing.
 */
#ifndef TESTS_NEAR_H
#define TESTS_NEAR_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static inline void near_check(double value,
                              double expected,
                              double tolerance,
                              const char *what,
                              const char *file,
                              int line)
{
    if (!(fabs(value - expected) <= tolerance)) {
        print_error("%s is %.17g, not %.17g within %g\n", what, value, expected,
                    tolerance);
        _fail(file, line);
    }
}

static inline void near_check_ratio(double value,
                                    double expected,
                                    double ratio,
                                    const char *what,
                                    const char *file,
                                    int line)
{
    near_check(value, expected, ratio * fabs(expected), what, file, line);
}

#define assert_near(value, expected, tolerance)                                \
    near_check((value), (expected), (tolerance), #value, __FILE__, __LINE__)

#define assert_near_ratio(value, expected, ratio)                              \
    near_check_ratio((value), (expected), (ratio), #value, __FILE__, __LINE__)

#endif
