/*
 * units.h - text to quantity and back.
 *
 * Base units: us, bytes, bytes/us, flops, flops/us, and plain numbers. 1 GB/s
 * is 1000 bytes/us and 1 Gbit/s 125 bytes/us, so formulas over these need no
 * conversion constants. Prefixes k M G T P are powers of 1000, Ki Mi Gi Ti
 * powers of 1024. b and B differ: only "bit" and "B" are written.
 *
 *     time       1.5 us   20 ns   3 ms   2 s
 *     bytes      64 KiB   150 MB   512 B
 *     rate       696 GB/s   400 Gbit/s   15.75 GiB/s
 *     flops      2.2 TFLOP   600 GFLOP
 *     flop rate  149.7 TFLOP/s
 *     ratio      0.88   88 %
 *     count      84   (a whole number, no unit)
 *
 * The blank between number and unit may be absent ("400Gbit/s"). Numbers use
 * the C locale whatever the process has set. A size or rate may also be given
 * in bits; time has no prefix above s and goes down to ps.
 */
#ifndef MODEL_UNITS_H
#define MODEL_UNITS_H

#include "model/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum model_dimension {
    MODEL_TIME,      /* us */
    MODEL_BYTES,     /* bytes */
    MODEL_RATE,      /* bytes/us */
    MODEL_FLOPS,     /* flops */
    MODEL_FLOP_RATE, /* flops/us */
    MODEL_RATIO,     /* plain number */
    MODEL_COUNT,     /* whole number */
    MODEL_DIMENSIONS
};

/* Why a text is no quantity; static texts, for model_errors_add. */
struct model_units_fault {
    const char *message; /* such as "no unit", "is negative" */
    const char *hint;    /* the whole phrase, such as write "400 Gbit/s" */
    bool quote;          /* message is to follow the quoted text:
                            "5 GB" is bytes, a rate is wanted */
};

/*
 * Read text as a quantity of the dimension, in base units. Refuses a missing,
 * unknown or wrong unit, negative, NaN, infinite and overflowing values, and
 * trailing text. On failure *value is untouched and *fault (may be NULL) is
 * set to static texts.
 */
enum model_status model_units_parse(const char *text,
                                    enum model_dimension dimension,
                                    double *value,
                                    struct model_units_fault *fault);

/*
 * Write value as text that reads back to the same double, with the largest
 * fitting unit, such as "696 GB/s" or "2 MiB", and the fewest digits. A size is
 * written with a binary prefix when that is exact and shorter. 48 bytes of
 * buffer suffice. Returns buffer.
 */
char *model_units_print(double value,
                        enum model_dimension dimension,
                        char *buffer,
                        size_t buffer_bytes);

/* Equal to the last bit: for what was copied, not for what was computed. */
static inline bool model_same(double a, double b)
{
    return !(a < b) && !(a > b);
}

/* Equal texts, either of which may be NULL. */
static inline bool model_same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* "time", "bytes", ... for messages. */
const char *model_units_dimension_name(enum model_dimension dimension);

/* An example of the right spelling, such as "400 Gbit/s". */
const char *model_units_example(enum model_dimension dimension);

#endif
