/*
 * test_units.c - quantities: each unit by hand, each fault, and the round trip
 * parse(print(x)) = x over seeded random values.
 */
#include "model/units.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct reading {
    const char *text;
    enum model_dimension dimension;
    double value; /* base units, by hand */
};

static void units_read_as_by_hand(void **state)
{
    (void)state;
    static const struct reading rows[] = {
        {"1.5 us", MODEL_TIME, 1.5},
        {"20 ns", MODEL_TIME, 0.02},
        {"3 ms", MODEL_TIME, 3000},
        {"2 s", MODEL_TIME, 2e6},
        {"500 ps", MODEL_TIME, 0.0005},
        {"0 us", MODEL_TIME, 0},
        {"-0 us", MODEL_TIME, 0},
        {"64 KiB", MODEL_BYTES, 65536},
        {"150 MB", MODEL_BYTES, 150e6},
        {"512 B", MODEL_BYTES, 512},
        {"64kB", MODEL_BYTES, 64000},
        {"1 TiB", MODEL_BYTES, 1099511627776.0},
        {"1 PB", MODEL_BYTES, 1e15},
        {"8 Mbit", MODEL_BYTES, 1e6},
        /* 696e9 bytes in 1e6 us */
        {"696 GB/s", MODEL_RATE, 696000},
        /* 400e9 / 8 bytes in 1e6 us */
        {"400 Gbit/s", MODEL_RATE, 50000},
        {"400Gbit/s", MODEL_RATE, 50000},
        {"1 GB/s", MODEL_RATE, 1000},
        {"1 Gbit/s", MODEL_RATE, 125},
        {"1 B/s", MODEL_RATE, 1e-6},
        /* 2^30 / 1e6 */
        {"1 GiB/s", MODEL_RATE, 1073.741824},
        {"2.2 TFLOP", MODEL_FLOPS, 2.2e12},
        {"600 GFLOP", MODEL_FLOPS, 6e11},
        {"1e21 FLOP", MODEL_FLOPS, 1e21},
        {"149.7 TFLOP/s", MODEL_FLOP_RATE, 149.7e6},
        {"0.88", MODEL_RATIO, 0.88},
        {"88 %", MODEL_RATIO, 0.88},
        {"88%", MODEL_RATIO, 0.88},
        {".5", MODEL_RATIO, 0.5},
        {"+1.5e-3", MODEL_RATIO, 0.0015},
        {"84", MODEL_COUNT, 84},
        {"1e3", MODEL_COUNT, 1000},
        /* 2^53 */
        {"9007199254740992", MODEL_COUNT, 9007199254740992.0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double value = -1;
        struct model_units_fault fault = {"", "", false};
        enum model_status status =
            model_units_parse(rows[i].text, rows[i].dimension, &value, &fault);
        if (status != MODEL_OK || value != rows[i].value || signbit(value)) {
            fail_msg("%s: %.17g %s", rows[i].text, value, fault.message);
        }
    }
}

struct refusal {
    const char *text;
    enum model_dimension dimension;
    const char *message;
};

static void faults_have_their_words(void **state)
{
    (void)state;
    static const struct refusal rows[] = {
        {"400", MODEL_RATE, "no unit"},
        {"0", MODEL_TIME, "no unit"},
        {"5 GB", MODEL_RATE, "is bytes, a rate is wanted"},
        {"5 GB/s", MODEL_BYTES, "is a rate, bytes are wanted"},
        {"5 us", MODEL_FLOPS, "is a time, flops are wanted"},
        {"5 TFLOP", MODEL_FLOP_RATE, "is flops, a flop rate is wanted"},
        {"5 TFLOP/s", MODEL_TIME, "is a flop rate, a time is wanted"},
        {"5 %", MODEL_COUNT, "is a ratio, a whole number is wanted"},
        {"5 MiB", MODEL_RATIO, "is bytes, a ratio is wanted"},
        {"-1 GB/s", MODEL_RATE, "is negative"},
        {"-1", MODEL_COUNT, "is negative"},
        {"nan us", MODEL_TIME, "is NaN, not a number"},
        {".nan", MODEL_RATIO, "is NaN, not a number"},
        {"inf", MODEL_RATIO, "is infinite"},
        {"-.Inf", MODEL_RATIO, "is infinite"},
        {"infinity us", MODEL_TIME, "is infinite"},
        {"1e999 us", MODEL_TIME, "is too large"},
        {"1e308 s", MODEL_TIME, "is too large"},
        {"1e-400 us", MODEL_TIME, "is too small"},
        {"5e-324 ps", MODEL_TIME, "is too small"},
        {"9007199254740994", MODEL_COUNT, "is too large"},
        {"1.5", MODEL_COUNT, "is not a whole number"},
        {"", MODEL_TIME, "is empty"},
        {"fast", MODEL_RATE, "is not a number"},
        {"1,5 us", MODEL_TIME, "is not a number"},
        {" 1 us", MODEL_TIME, "is not a number"},
        {".", MODEL_RATIO, "is not a number"},
        {"1_000 B", MODEL_BYTES, "is not a number"},
        {"0x10 B", MODEL_BYTES, "has an unknown unit"},
        {"1.5 us or so", MODEL_TIME, "has an unknown unit"},
        {"1.5 us ", MODEL_TIME, "has an unknown unit"},
        {"1.5 \xC2\xB5s", MODEL_TIME, "has an unknown unit"},
        {"5 KB", MODEL_BYTES, "has an unknown unit"},
        {"5 GIB", MODEL_BYTES, "has an unknown unit"},
        {"5 KiFLOP", MODEL_FLOPS, "has an unknown unit"},
        {"5 ks", MODEL_TIME, "has an unknown unit"},
        {"5 e", MODEL_TIME, "has an unknown unit"},
        {"400 Gb/s", MODEL_RATE, "leaves open if b is bits or bytes"},
        {"400 gbps", MODEL_RATE, "leaves open if b is bits or bytes"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double value = 7;
        struct model_units_fault fault = {"", "", false};
        enum model_status status =
            model_units_parse(rows[i].text, rows[i].dimension, &value, &fault);
        if (status != MODEL_BAD_INPUT || value != 7 ||
            strcmp(fault.message, rows[i].message) != 0) {
            fail_msg("\"%s\": %s", rows[i].text, fault.message);
        }
        assert_int_equal(
            model_units_parse(rows[i].text, rows[i].dimension, &value, NULL),
            MODEL_BAD_INPUT);
    }
}

static void hints_tell_what_to_write(void **state)
{
    (void)state;
    double value = 0;
    struct model_units_fault fault;
    model_units_parse("400", MODEL_RATE, &value, &fault);
    assert_string_equal(fault.hint, "write \"400 Gbit/s\"");
    assert_false(fault.quote);
    model_units_parse("5 GB", MODEL_RATE, &value, &fault);
    assert_true(fault.quote);
    model_units_parse("4 Gb/s", MODEL_RATE, &value, &fault);
    assert_string_equal(fault.hint, "write \"bit\" or \"B\"");
}

static void each_example_can_be_read(void **state)
{
    (void)state;
    for (int d = 0; d < MODEL_DIMENSIONS; d++) {
        enum model_dimension dimension = (enum model_dimension)d;
        double value = 0;
        const char *example = model_units_example(dimension);
        assert_int_equal(model_units_parse(example, dimension, &value, NULL),
                         MODEL_OK);
        assert_true(model_units_dimension_name(dimension)[0] != '\0');
    }
}

static void values_print_as_by_hand(void **state)
{
    (void)state;
    static const struct reading rows[] = {
        {"696 GB/s", MODEL_RATE, 696000},
        {"50 GB/s", MODEL_RATE, 50000},
        {"1 B/s", MODEL_RATE, 1e-6},
        {"2 MiB", MODEL_BYTES, 2097152},
        {"64 KiB", MODEL_BYTES, 65536},
        {"1.5 GiB", MODEL_BYTES, 1610612736},
        {"150 MB", MODEL_BYTES, 150e6},
        /* 1.024 MB is no longer than 1000 KiB */
        {"1.024 MB", MODEL_BYTES, 1024000},
        {"0 B", MODEL_BYTES, 0},
        {"1.5 us", MODEL_TIME, 1.5},
        {"20 ns", MODEL_TIME, 0.02},
        {"1 ms", MODEL_TIME, 1000},
        {"999.5 us", MODEL_TIME, 999.5},
        {"3600 s", MODEL_TIME, 3.6e9},
        {"2.2 TFLOP", MODEL_FLOPS, 2.2e12},
        {"149.7 TFLOP/s", MODEL_FLOP_RATE, 149.7e6},
        {"0.88", MODEL_RATIO, 0.88},
        {"0", MODEL_RATIO, 0},
        {"84", MODEL_COUNT, 84},
        {"1000000", MODEL_COUNT, 1e6},
        {"-3 us", MODEL_TIME, -3},
        {"inf", MODEL_TIME, HUGE_VAL},
    };
    char text[48];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_ptr_equal(model_units_print(rows[i].value, rows[i].dimension,
                                           text, sizeof text),
                         text);
        assert_string_equal(text, rows[i].text);
    }
    model_units_print(1.5, MODEL_TIME, text, 4);
    assert_string_equal(text, "1.5");
}

/* splitmix64: the same cases on every machine */
static uint64_t random_bits(uint64_t *seed)
{
    uint64_t z = *seed += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* Any positive double, or one with few digits as people write them. */
static double random_value(uint64_t *seed, enum model_dimension dimension)
{
    uint64_t bits = random_bits(seed);
    double value = 0;
    if (dimension == MODEL_COUNT) {
        return (double)(bits >> (11 + random_bits(seed) % 50));
    }
    if (bits % 2 == 0) {
        bits &= INT64_MAX;
        memcpy(&value, &bits, sizeof value);
        return isfinite(value) ? value : 1;
    }
    int exponent = (int)(random_bits(seed) % 25) - 8;
    return (double)(bits >> 48) * pow(10, exponent);
}

static void check_round_trip(double value, enum model_dimension dimension)
{
    char text[48];
    double back = -1;
    model_units_print(value, dimension, text, sizeof text);
    if (model_units_parse(text, dimension, &back, NULL) != MODEL_OK ||
        back != value) {
        fail_msg("%.17g printed as \"%s\" reads as %.17g", value, text, back);
    }
}

static void printing_and_reading_is_the_identity(void **state)
{
    (void)state;
    uint64_t seed = 20260;
    for (int d = 0; d < MODEL_DIMENSIONS; d++) {
        for (int i = 0; i < 5000; i++) {
            enum model_dimension dimension = (enum model_dimension)d;
            check_round_trip(random_value(&seed, dimension), dimension);
        }
    }
    check_round_trip(0x1p-1074, MODEL_TIME);
    check_round_trip(0x1.fffffffffffffp1023, MODEL_RATE);
}

/*
 * A decimal comma must change nothing. The container of the tests has no such
 * locale by itself; then the test is skipped (see LOCPATH in localedef(1)).
 */
static void locale_changes_nothing(void **state)
{
    (void)state;
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL &&
        setlocale(LC_ALL, "de_DE.utf8") == NULL) {
        skip();
    }
    char comma[16];
    snprintf(comma, sizeof comma, "%.1f", 1.5);
    assert_string_equal(comma, "1,5");
    values_print_as_by_hand(NULL);
    units_read_as_by_hand(NULL);
    printing_and_reading_is_the_identity(NULL);
    snprintf(comma, sizeof comma, "%.1f", 1.5);
    assert_string_equal(comma, "1,5");
    setlocale(LC_ALL, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_read_as_by_hand),
        cmocka_unit_test(faults_have_their_words),
        cmocka_unit_test(hints_tell_what_to_write),
        cmocka_unit_test(each_example_can_be_read),
        cmocka_unit_test(values_print_as_by_hand),
        cmocka_unit_test(printing_and_reading_is_the_identity),
        cmocka_unit_test(locale_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
