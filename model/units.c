/*
 * units.c - text to quantity and back, for all seven dimensions.
 *
 * A unit is a ratio num/den to the base unit with whole num and den and no
 * common factor: reading is number * num / den, so that nearly every unit
 * costs one rounding at most. Printing walks the prefixes from large to small,
 * takes the first that makes the number at least 1, and adds digits until the
 * text reads back to the same double; the base unit (num = den = 1) always
 * does with 17. Nothing here knows of files or keys.
 */
#include "model/units.h"

#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { UNITS_TEXT_BYTES = 48 };

struct units_unit {
    enum model_dimension dimension;
    double num, den;
};

/* A list of prefixes ends with a NULL text. */
struct units_prefix {
    const char *text;
    uint64_t factor;
};

/* What prefixes are put before; 1 NAME = num/den base units. */
struct units_base {
    const char *name;
    enum model_dimension dimension;
    uint64_t num, den;
    const struct units_prefix *decimal, *binary; /* NULL: takes none */
};

static const struct units_prefix units_decimal[] = {
    {"P", 1000000000000000},
    {"T", 1000000000000},
    {"G", 1000000000},
    {"M", 1000000},
    {"k", 1000},
    {"", 1},
    {NULL, 0},
};

static const struct units_prefix units_binary[] = {
    {"Ti", (uint64_t)1 << 40}, {"Gi", 1 << 30}, {"Mi", 1 << 20},
    {"Ki", 1 << 10},           {NULL, 0},
};

static const struct units_prefix units_plain[] = {{"", 1}, {NULL, 0}};

/* The first base of a dimension is the one to print; times go downwards. */
static const struct units_base units_bases[] = {
    {"B", MODEL_BYTES, 1, 1, units_decimal, units_binary},
    {"bit", MODEL_BYTES, 1, 8, units_decimal, units_binary},
    {"B/s", MODEL_RATE, 1, 1000000, units_decimal, units_binary},
    {"bit/s", MODEL_RATE, 1, 8000000, units_decimal, units_binary},
    {"FLOP", MODEL_FLOPS, 1, 1, units_decimal, NULL},
    {"FLOP/s", MODEL_FLOP_RATE, 1, 1000000, units_decimal, NULL},
    {"s", MODEL_TIME, 1000000, 1, units_plain, NULL},
    {"ms", MODEL_TIME, 1000, 1, units_plain, NULL},
    {"us", MODEL_TIME, 1, 1, units_plain, NULL},
    {"ns", MODEL_TIME, 1, 1000, units_plain, NULL},
    {"ps", MODEL_TIME, 1, 1000000, units_plain, NULL},
    {"%", MODEL_RATIO, 1, 100, units_plain, NULL},
    {"", MODEL_DIMENSIONS, 0, 0, NULL, NULL},
};

#define UNITS_WRITE(example) example, "write \"" example "\""

static const struct {
    const char *name;
    const char *base; /* name of the base unit */
    const char *example;
    const char *hint;
} units_dimensions[MODEL_DIMENSIONS] = {
    [MODEL_TIME] = {"time", "us", UNITS_WRITE("1.5 us")},
    [MODEL_BYTES] = {"bytes", "B", UNITS_WRITE("64 MiB")},
    [MODEL_RATE] = {"rate", "MB/s", UNITS_WRITE("400 Gbit/s")},
    [MODEL_FLOPS] = {"flops", "FLOP", UNITS_WRITE("2.2 TFLOP")},
    [MODEL_FLOP_RATE] = {"flop rate", "MFLOP/s", UNITS_WRITE("149.7 TFLOP/s")},
    [MODEL_RATIO] = {"ratio", "", UNITS_WRITE("0.88")},
    [MODEL_COUNT] = {"count", "", UNITS_WRITE("84")},
};

/* Static texts for each pair of what is written and what is wanted. */
#define UNITS_JOIN(written, wanted) (written ", " wanted)
#define UNITS_WRITTEN(wanted)                                                  \
    {                                                                          \
        [MODEL_TIME] = UNITS_JOIN("is a time", wanted),                        \
        [MODEL_BYTES] = UNITS_JOIN("is bytes", wanted),                        \
        [MODEL_RATE] = UNITS_JOIN("is a rate", wanted),                        \
        [MODEL_FLOPS] = UNITS_JOIN("is flops", wanted),                        \
        [MODEL_FLOP_RATE] = UNITS_JOIN("is a flop rate", wanted),              \
        [MODEL_RATIO] = UNITS_JOIN("is a ratio", wanted),                      \
    }

static const char *const units_wrong[MODEL_DIMENSIONS][MODEL_DIMENSIONS] = {
    [MODEL_TIME] = UNITS_WRITTEN("a time is wanted"),
    [MODEL_BYTES] = UNITS_WRITTEN("bytes are wanted"),
    [MODEL_RATE] = UNITS_WRITTEN("a rate is wanted"),
    [MODEL_FLOPS] = UNITS_WRITTEN("flops are wanted"),
    [MODEL_FLOP_RATE] = UNITS_WRITTEN("a flop rate is wanted"),
    [MODEL_RATIO] = UNITS_WRITTEN("a ratio is wanted"),
    [MODEL_COUNT] = UNITS_WRITTEN("a whole number is wanted"),
};

static const char units_no_number[] = "is not a number";
static const char units_no_unit[] = "no unit";
static const char units_bit_or_byte[] = "leaves open if b is bits or bytes";

static locale_t units_locale(void)
{
    /* glibc hands out a static object for "C": no allocation, no failure. */
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static bool units_dimension_plain(enum model_dimension dimension)
{
    return dimension == MODEL_RATIO || dimension == MODEL_COUNT;
}

static struct units_unit units_unit_make(const struct units_base *base,
                                         const struct units_prefix *prefix)
{
    uint64_t num = base->num * prefix->factor;
    uint64_t a = num;
    uint64_t b = base->den;
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    num /= a;
    uint64_t den = base->den / a;
    return (struct units_unit){base->dimension, (double)num, (double)den};
}

/* The prefix that is text's first length bytes, or NULL. */
static const struct units_prefix *units_prefix_find(
    const char *text, size_t length, const struct units_prefix *prefixes)
{
    while (prefixes != NULL && prefixes->text != NULL) {
        if (strlen(prefixes->text) == length &&
            memcmp(prefixes->text, text, length) == 0) {
            return prefixes;
        }
        prefixes++;
    }
    return NULL;
}

static bool units_unit_find(const char *text, struct units_unit *unit)
{
    size_t length = strlen(text);
    for (const struct units_base *base = units_bases; base->den != 0; base++) {
        size_t tail = strlen(base->name);
        if (length < tail || strcmp(text + length - tail, base->name) != 0) {
            continue;
        }
        const struct units_prefix *prefix =
            units_prefix_find(text, length - tail, base->decimal);
        if (prefix == NULL) {
            prefix = units_prefix_find(text, length - tail, base->binary);
        }
        if (prefix != NULL) {
            *unit = units_unit_make(base, prefix);
            return true;
        }
    }
    return false;
}

static double units_to_base(double number, const struct units_unit *unit)
{
    return number * unit->num / unit->den;
}

static size_t units_digits_span(const char *text)
{
    return strspn(text, "0123456789");
}

/* Length of the decimal number at the start of text, or 0. */
static size_t units_number_span(const char *text)
{
    size_t sign = text[0] == '-' || text[0] == '+';
    size_t length = sign + units_digits_span(text + sign);
    size_t digits = length - sign;
    if (text[length] == '.') {
        size_t fraction = units_digits_span(text + length + 1);
        digits += fraction;
        length += 1 + fraction;
    }
    if (digits == 0) {
        return 0;
    }
    if (text[length] == 'e' || text[length] == 'E') {
        size_t at = length + 1;
        at += text[at] == '-' || text[at] == '+';
        size_t exponent = units_digits_span(text + at);
        length = exponent > 0 ? at + exponent : length;
    }
    return length;
}

/* Words for a text that does not begin with a decimal number. */
static const char *units_word_judge(const char *text)
{
    const char *word = text + (text[0] == '-' || text[0] == '+');
    word += word[0] == '.';
    if (strncasecmp(word, "inf", 3) == 0) {
        return "is infinite";
    }
    if (strncasecmp(word, "nan", 3) == 0) {
        return "is NaN, not a number";
    }
    return text[0] == '\0' ? "is empty" : units_no_number;
}

static const char *units_unit_judge(const char *name,
                                    enum model_dimension dimension,
                                    struct units_unit *unit)
{
    if (name[0] == '\0') {
        *unit = (struct units_unit){dimension, 1, 1};
        return units_dimension_plain(dimension) ? NULL : units_no_unit;
    }
    /* letters beyond ASCII may mean a unit too, such as a micro sign */
    unsigned char first = (unsigned char)name[0];
    if (!isalpha(first) && first != '%' && first < 0x80) {
        return units_no_number;
    }
    if (units_unit_find(name, unit)) {
        return unit->dimension == dimension
                   ? NULL
                   : units_wrong[dimension][unit->dimension];
    }
    const char *b = strchr(name, 'b');
    if (b != NULL && strncmp(b, "bit", 3) != 0) {
        return units_bit_or_byte;
    }
    return "has an unknown unit";
}

static const char *units_value_judge(double number,
                                     double value,
                                     enum model_dimension dimension,
                                     bool zero)
{
    if (number < 0) {
        return "is negative";
    }
    if (!isfinite(value)) {
        return "is too large";
    }
    if (value == 0 && !zero) {
        return "is too small";
    }
    if (dimension == MODEL_COUNT && value != floor(value)) {
        return "is not a whole number";
    }
    /* beyond 2^53 a double no longer tells neighbours apart */
    if (dimension == MODEL_COUNT && value > 0x1p53) {
        return "is too large";
    }
    return NULL;
}

static const char *units_text_judge(const char *text,
                                    enum model_dimension dimension,
                                    double *value)
{
    size_t span = units_number_span(text);
    if (span == 0) {
        return units_word_judge(text);
    }
    double number = strtod_l(text, NULL, units_locale());
    const char *name = text + span + strspn(text + span, " ");
    struct units_unit unit;
    const char *message = units_unit_judge(name, dimension, &unit);
    if (message != NULL) {
        return message;
    }
    double result = units_to_base(number, &unit);
    /* "0e5" is zero, "1e-400" was not */
    size_t digit = strcspn(text, "123456789eE");
    bool zero = digit >= span || tolower((unsigned char)text[digit]) == 'e';
    message = units_value_judge(number, result, dimension, zero);
    if (message == NULL) {
        *value = result + 0.0; /* no negative zero */
    }
    return message;
}

enum model_status model_units_parse(const char *text,
                                    enum model_dimension dimension,
                                    double *value,
                                    struct model_units_fault *fault)
{
    const char *message = units_text_judge(text, dimension, value);
    if (message == NULL) {
        return MODEL_OK;
    }
    if (fault != NULL) {
        fault->message = message;
        fault->hint = message == units_bit_or_byte
                          ? "write \"bit\" or \"B\""
                          : units_dimensions[dimension].hint;
        fault->quote = message != units_no_unit;
    }
    return MODEL_BAD_INPUT;
}

/* The number with so many significant digits, without exponent if possible. */
static void
units_number_print(double number, int digits, char text[UNITS_TEXT_BYTES])
{
    snprintf(text, UNITS_TEXT_BYTES, "%.*e", digits - 1, number);
    const char *e = strchr(text, 'e');
    long exponent = e == NULL ? 0 : strtol(e + 1, NULL, 10);
    if (exponent > -5 && exponent < 16) {
        int decimals = digits - 1 - (int)exponent;
        decimals = decimals < 0 ? 0 : decimals;
        snprintf(text, UNITS_TEXT_BYTES, "%.*f", decimals, number);
    }
}

/* Text in the unit that reads back to value; false when there is none. */
static bool units_unit_print(double value,
                             const struct units_unit *unit,
                             const char *prefix,
                             const char *name,
                             char text[UNITS_TEXT_BYTES])
{
    double number = value * unit->den / unit->num;
    for (int digits = 1; digits <= 17; digits++) {
        char shown[UNITS_TEXT_BYTES];
        units_number_print(number, digits, shown);
        double back = strtod_l(shown, NULL, units_locale());
        if (units_to_base(back, unit) == value) {
            const char *blank = name[0] == '\0' ? "" : " ";
            snprintf(text, UNITS_TEXT_BYTES, "%.32s%s%s%s", shown, blank,
                     prefix, name);
            return true;
        }
    }
    return false;
}

/* The first of the prefixes, large to small, that makes value at least 1. */
static bool units_prefix_print(double value,
                               const struct units_base *base,
                               const struct units_prefix *prefix,
                               char text[UNITS_TEXT_BYTES])
{
    for (; prefix->text != NULL; prefix++) {
        struct units_unit unit = units_unit_make(base, prefix);
        if (fabs(value) * unit.den / unit.num >= 1) {
            return units_unit_print(value, &unit, prefix->text, base->name,
                                    text);
        }
    }
    return false;
}

/* Write the best text with a prefix; false when no unit fits. */
static bool units_fitting_print(double value,
                                enum model_dimension dimension,
                                char text[UNITS_TEXT_BYTES])
{
    const struct units_base *base = units_bases;
    while (base->dimension != dimension) {
        base++;
    }
    bool found = units_prefix_print(value, base, base->decimal, text);
    while (!found && dimension == MODEL_TIME &&
           base[1].dimension == dimension) {
        base++;
        found = units_prefix_print(value, base, base->decimal, text);
    }
    const struct units_prefix *prefix = base->binary;
    for (; dimension == MODEL_BYTES && prefix->text != NULL; prefix++) {
        char binary[UNITS_TEXT_BYTES];
        if (units_prefix_print(value, base, prefix, binary) &&
            (!found || strlen(binary) < strlen(text))) {
            memcpy(text, binary, sizeof binary);
            found = true;
        }
    }
    return found;
}

char *model_units_print(double value,
                        enum model_dimension dimension,
                        char *buffer,
                        size_t buffer_bytes)
{
    const struct units_unit base = {dimension, 1, 1};
    const char *name = units_dimensions[dimension].base;
    char text[UNITS_TEXT_BYTES];
    locale_t before = uselocale(units_locale());
    if (!isfinite(value)) {
        snprintf(text, sizeof text, "%g", value);
    } else if (units_dimension_plain(dimension) ||
               !units_fitting_print(value, dimension, text)) {
        units_unit_print(value, &base, "", name, text);
    }
    uselocale(before);
    snprintf(buffer, buffer_bytes, "%s", text);
    return buffer;
}

const char *model_units_dimension_name(enum model_dimension dimension)
{
    return units_dimensions[dimension].name;
}

const char *model_units_example(enum model_dimension dimension)
{
    return units_dimensions[dimension].example;
}
