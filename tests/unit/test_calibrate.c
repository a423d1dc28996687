/*
 * test_calibrate.c - numbers of a topology from records made with other
 * numbers: whether they come back, within what they claim; what is held out;
 * each fault.
 */
#include "validate/calibrate.h"

#include "tests/unit/fixture.h"
#include "validate/calibrate_parts.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>

enum { ROWS_MAX = 64 };

static const char *const pair = "1x2 gpu:a40 nvswitch";

struct setup {
    struct validate_record rows[ROWS_MAX];
    struct validate_records records;
    struct validate_calibration_options options;
};

/* An AllGather with settings that leave NCCL nothing to choose. */
static struct validate_record row(double size_bytes, int channels)
{
    return (struct validate_record){.set = "s",
                                    .source = "",
                                    .hardware = "",
                                    .version = "",
                                    .notes = "",
                                    .topology = pair,
                                    .computation = "",
                                    .kind = MODEL_OP_ALL_GATHER,
                                    .nodes = 1,
                                    .gpus = 2,
                                    .size_bytes = size_bytes,
                                    .time_us = 1.0,
                                    .config = {.algorithm = MODEL_RING,
                                               .protocol = MODEL_SIMPLE,
                                               .transport = MODEL_P2P,
                                               .channels = channels,
                                               .threads = 256,
                                               .chunk_bytes = 524288.0}};
}

/* Rows of 1 MiB to 32 MiB on 1, 2 and 4 channels, all 1 us as yet. */
static void make(struct setup *setup, const char *const *patterns, int count)
{
    static const int channels[] = {1, 2, 4};

    *setup = (struct setup){.options = {.hold_out = 0.0,
                                        .min_bytes = 1048576.0,
                                        .seed = 1,
                                        .jobs = 2,
                                        .patterns = patterns,
                                        .pattern_count = count}};
    for (int size = 0; size < 6; size++) {
        for (int c = 0; c < 3; c++) {
            setup->rows[setup->records.count] =
                row(ldexp(1048576.0, size), channels[c]);
            setup->rows[setup->records.count].place.line =
                2 + setup->records.count;
            setup->records.count++;
        }
    }
    setup->records.rows = setup->rows;
    setup->options.records = &setup->records;
    setup->options.held_out_from = setup->records.count;
}

/* Give the rows the times of a topology with these overrides. */
static void measure(struct model_arena *arena,
                    struct setup *setup,
                    const char *const *truth,
                    int count)
{
    struct model_errors errors = {.arena = arena};
    struct validate_prediction predictions[ROWS_MAX] = {{0}};
    struct validate_predictor *predictor;
    struct model_arena *scratch = model_arena_new();

    assert_int_equal(validate_predictor_make(arena, &setup->records, NULL,
                                             &predictor, &errors),
                     MODEL_OK);
    assert_int_equal(validate_predict(predictor, truth, count, NULL, scratch,
                                      predictions, &errors),
                     MODEL_OK);
    fixture_no_errors(&errors);
    for (int i = 0; i < setup->records.count; i++) {
        assert_false(predictions[i].left_out);
        setup->rows[i].time_us = predictions[i].time_us;
    }
    model_arena_free(scratch);
}

static struct validate_calibration
calibrate(struct model_arena *arena,
          const struct validate_calibration_options *options)
{
    struct model_errors errors = {.arena = arena};
    struct validate_calibration calibration;
    enum model_status status =
        validate_calibrate(arena, options, &calibration, &errors);

    fixture_no_errors(&errors);
    assert_int_equal(status, MODEL_OK);
    return calibration;
}

static const struct validate_calibrated *
parameter(const struct validate_calibration *calibration, const char *path)
{
    for (int j = 0; j < calibration->parameter_count; j++) {
        if (strcmp(calibration->parameters[j].path, path) == 0) {
            return &calibration->parameters[j];
        }
    }
    fail_msg("no parameter %s", path);
    return NULL;
}

/* -- by hand -- */

/*
 * Fit gpu.channel.rate, from 1 GB/s on, to what the tiny machine would take
 * with another rate, where kernels start at once.
 */
static struct validate_calibration
fit_rate(struct model_arena *arena, const char *measured, struct setup *setup)
{
    static const char *const patterns[] = {"gpu.channel.rate"};
    int base = FIXTURE_COUNT(fixture_tiny_sets);
    const char **sets =
        model_arena_array(arena, (size_t)base + 3, sizeof(*sets));

    for (int i = 0; i < base; i++) {
        sets[i] = fixture_tiny_sets[i];
    }
    sets[base] = "gpu.launch.latency=0 us";
    sets[base + 1] = "nccl.channel_setup=0 us";
    sets[base + 2] = measured;
    make(setup, patterns, 1);
    measure(arena, setup, sets, base + 3);
    setup->options.sets = sets;
    setup->options.set_count = base + 2;
    return calibrate(arena, &setup->options);
}

/*
 * On the tiny machine an AllGather of M bytes over NC channels takes M / 2 / NC
 * / rate, and nothing else where kernels start at once. Records of 1.25 GB/s,
 * from a start of 1 GB/s, so have one answer. Its prior, a factor of 2 about
 * the start, pulls it back by ln(1.25) / (1 + k), where k is the prior's
 * variance over that of the mean of 18 rows without scatter but the 2 of 3 %
 * that always count, of 2 + 18 - 1 degrees of freedom: 0.48 * 18 / (0.0018 /
 * 19) = 91000. So it is 1.25 to five digits.
 */
static void a_rate_comes_back(void **state)
{
    struct setup setup;
    struct validate_calibration calibration;
    const struct validate_calibrated *rate;

    calibration = fit_rate(*state, "gpu.channel.rate=1.25 GB/s", &setup);
    /* 4 MiB on 2 channels: 4194304 / 2 / 2 / 1250 us */
    assert_near(setup.rows[7].time_us, 838.8608, 1e-3);
    rate = parameter(&calibration, "gpu.channel.rate");
    assert_int_equal(calibration.parameter_count, 1);
    assert_near(rate->was, 1000.0, 0);
    assert_near(rate->now, 1250.0, 0.051);
    assert_int_equal(rate->from, MODEL_FROM_OVERRIDE);
    assert_true(rate->low <= 1250.0 && rate->high >= 1250.0);
    assert_true(rate->decided_ratio > 0.999);
    assert_near(calibration.fitted[0].median_ratio, 0.25, 1e-6);
    assert_near(calibration.fitted[1].median_ratio, 0.0, 1e-4);
    assert_int_equal(calibration.fitted[1].count, 18);
}

/* -- bounds -- */

/*
 * A guess may move by a factor of 16, no more, and neither may its interval: a
 * rate of 1 GB/s comes to 62.5 MB/s where 50 MB/s were measured, by which all
 * rows are ln(50 / 62.5) off.
 */
static void beyond_a_bound(void **state)
{
    struct setup setup;
    struct validate_calibration calibration;
    const struct validate_calibrated *rate;

    calibration = fit_rate(*state, "gpu.channel.rate=50 MB/s", &setup);
    rate = parameter(&calibration, "gpu.channel.rate");
    assert_true(rate->at_bound);
    assert_near_ratio(rate->now, 62.5, 0.02);
    assert_true(rate->low >= 62.499);
    assert_near(calibration.fitted[1].median_ratio, 0.2, 0.02);
}

/* No number leaves the range of its key, and no share of a whole exceeds it. */
static void ranges_of_keys(void **state)
{
    static const char *const patterns[] = {"*"};
    struct model_errors errors = {.arena = *state};
    struct validate_calibration calibration;
    struct validate_candidates candidates;
    struct setup setup;
    int at_least = 0;
    int shares = 0;

    make(&setup, patterns, 1);
    calibration = (struct validate_calibration){.options = &setup.options};
    assert_int_equal(validate_targets_find(*state, &calibration, &errors),
                     MODEL_OK);
    assert_int_equal(
        validate_candidates_find(*state, &calibration, &candidates, &errors),
        MODEL_OK);
    for (int i = 0; i < candidates.count; i++) {
        const struct model_provenance_entry *entry = candidates.list[i].entry;
        const struct validate_fit_parameter *prior = &candidates.list[i].prior;

        assert_true(prior->low < prior->high);
        if (entry->field->min > 0.0) {
            assert_true(exp(prior->low) >= entry->field->min * (1.0 - 1e-12));
            at_least++;
        }
        if (entry->dimension == MODEL_RATIO && entry->value <= 1.0) {
            assert_true(prior->high <= 0.0);
            shares++;
        }
    }
    assert_true(at_least > 0);
    assert_true(shares > 0);
}

/* -- coverage -- */

enum { FITTED = 3, SEEDS = 20 };

static const char *const fitted_paths[FITTED] = {
    "gpu.channel.rate", "gpu.channel.sync", "gpu.channel.start"};
static const double fitted_truths[FITTED] = {9.2e3, 0.75, 8.5};

/*
 * Times of the simulator with other numbers than the file's (10.5 GB/s, 0.54
 * us, 6.4 us), each with 3 % noise. An interval of 95 % misses with 0.05: of 20
 * more than 4 miss one time in 400, of 60 more than 9 one time in 1200 (both
 * binomial), and the seeds are fixed. That intervals are not too wide is for
 * test_fit.c, where a fit costs little: 20 cannot tell.
 */
static void intervals_hold_the_truth(void **state)
{
    static const char *const truth[FITTED] = {"gpu.channel.rate=9.2 GB/s",
                                              "gpu.channel.sync=0.75 us",
                                              "gpu.channel.start=8.5 us"};
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    struct setup exact;
    int missed[FITTED] = {0};

    make(&exact, fitted_paths, FITTED);
    measure(*state, &exact, truth, FITTED);
    for (unsigned long seed = 1; seed <= SEEDS; seed++) {
        struct model_arena *arena = model_arena_new();
        struct setup noisy = exact;
        struct validate_calibration calibration;

        noisy.records.rows = noisy.rows;
        noisy.options.records = &noisy.records;
        gsl_rng_set(random, seed);
        for (int i = 0; i < noisy.records.count; i++) {
            noisy.rows[i].time_us *= exp(gsl_ran_gaussian(random, 0.03));
        }
        calibration = calibrate(arena, &noisy.options);
        for (int j = 0; j < FITTED; j++) {
            const struct validate_calibrated *found =
                parameter(&calibration, fitted_paths[j]);

            missed[j] +=
                fitted_truths[j] < found->low || fitted_truths[j] > found->high;
        }
        assert_true(calibration.fitted[1].median_ratio < 0.04);
        model_arena_free(arena);
    }
    for (int j = 0; j < FITTED; j++) {
        assert_true(missed[j] <= 4);
    }
    assert_true(missed[0] + missed[1] + missed[2] <= 9);
    gsl_rng_free(random);
}

/* To the last bit. */
static void threads_do_not_matter(void **state)
{
    static const char *const truth[] = {"gpu.channel.rate=9 GB/s"};
    struct validate_calibration found[2];
    struct setup setup;

    make(&setup, NULL, 0);
    measure(*state, &setup, truth, 1);
    for (int k = 0; k < 2; k++) {
        setup.options.jobs = k == 0 ? 1 : 5;
        found[k] = calibrate(*state, &setup.options);
    }
    assert_int_equal(found[0].parameter_count, found[1].parameter_count);
    for (int j = 0; j < found[0].parameter_count; j++) {
        assert_near(found[0].fit.x[j], found[1].fit.x[j], 0);
        assert_near(found[0].fit.interval[j], found[1].fit.interval[j], 0);
    }
    assert_int_equal(found[0].fit.evaluations, found[1].fit.evaluations);
}

/*
 * Without patterns: none that a data sheet gives, no whole number, none that
 * AllGather on two GPUs of one node cannot depend on.
 */
static void what_is_fitted_by_itself(void **state)
{
    struct setup setup;
    struct validate_calibration calibration;

    make(&setup, NULL, 0);
    measure(*state, &setup, NULL, 0);
    calibration = calibrate(*state, &setup.options);
    (void)parameter(&calibration, "gpu.channel.rate");
    (void)parameter(&calibration, "gpu.channel.sync");
    for (int j = 0; j < calibration.parameter_count; j++) {
        const struct validate_calibrated *found = &calibration.parameters[j];

        assert_int_not_equal(found->from, MODEL_FROM_DATASHEET);
        assert_int_not_equal(found->dimension, MODEL_COUNT);
        assert_string_not_equal(found->path, "gpu.achieved.gemm");
        /* records of its own numbers move none of them */
        assert_near(found->now / found->was, 1.0, 1e-3);
    }
}

/*
 * A cap of 20 GB/s binds nowhere where 256 threads reach 11: no slope tells
 * that the rows were made with 9 GB/s. Trying it at half does.
 */
static void a_cap_that_does_not_bind_is_found(void **state)
{
    static const char *const patterns[] = {"gpu.channel.rate"};
    static const char *const truth[] = {"gpu.channel.rate=9 GB/s"};
    static const char *const start[] = {"gpu.channel.rate=20 GB/s"};
    struct setup setup;
    struct validate_calibration calibration;

    make(&setup, patterns, 1);
    measure(*state, &setup, truth, 1);
    setup.options.sets = start;
    setup.options.set_count = 1;
    calibration = calibrate(*state, &setup.options);
    assert_near(parameter(&calibration, patterns[0])->was, 20000.0, 0);
    assert_near(parameter(&calibration, patterns[0])->now, 9000.0, 20.0);
}

/* -- what is held out -- */

static int held_out_rows(const struct validate_calibration *calibration,
                         int *list)
{
    int count = 0;

    for (int i = 0; i < calibration->row_count; i++) {
        if (calibration->rows[i].held_out) {
            list[count++] = calibration->rows[i].row;
        }
    }
    return count;
}

/*
 * 18 rows sorted by size, then channels, are as they were made; a third held
 * out are 6, one of each three in a row, that is of each size.
 */
static void a_third_of_each_size_is_held_out(void **state)
{
    static const char *const patterns[] = {"gpu.channel.rate"};
    struct setup setup;
    int first[ROWS_MAX];
    int same = 0;

    make(&setup, patterns, 1);
    measure(*state, &setup, NULL, 0);
    setup.options.hold_out = 1.0 / 3.0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct validate_calibration calibration;
        int rows[ROWS_MAX];

        setup.options.seed = seed;
        calibration = calibrate(*state, &setup.options);
        assert_int_equal(held_out_rows(&calibration, rows), 6);
        for (int k = 0; k < 6; k++) {
            assert_int_equal(rows[k] / 3, k);
        }
        assert_int_equal(calibration.held_out[0].count, 6);
        assert_int_equal(calibration.fitted[0].count, 12);
        if (seed == 1) {
            memcpy(first, rows, sizeof(first));
        }
        same += memcmp(first, rows, 6 * sizeof(int)) == 0;
    }
    assert_true(same < 3); /* other seeds, other rows */
}

/* Explicit ones, and those alone: the rows from some number on. */
static void rows_of_another_file_are_held_out(void **state)
{
    static const char *const patterns[] = {"gpu.channel.rate"};
    struct setup setup;
    struct validate_calibration calibration;
    int rows[ROWS_MAX];

    make(&setup, patterns, 1);
    measure(*state, &setup, NULL, 0);
    setup.options.held_out_from = 15;
    calibration = calibrate(*state, &setup.options);
    assert_int_equal(held_out_rows(&calibration, rows), 3);
    assert_int_equal(rows[0], 15);
}

static void small_rows_are_not_used(void **state)
{
    static const char *const patterns[] = {"gpu.channel.rate"};
    struct setup setup;
    struct validate_calibration calibration;

    make(&setup, patterns, 1);
    measure(*state, &setup, NULL, 0);
    setup.options.min_bytes = 4194304.0; /* 1 and 2 MiB have 3 rows each */
    calibration = calibrate(*state, &setup.options);
    assert_int_equal(calibration.small_count, 6);
    assert_int_equal(calibration.row_count, 12);
}

/* A computation's time is fitted beside the collective's. */
static void computations_count(void **state)
{
    static const char *const patterns[] = {"gpu.achieved.gemm"};
    static const char *const truth[] = {"gpu.achieved.gemm=0.5"};
    struct setup setup;
    struct validate_calibration calibration;

    make(&setup, patterns, 1);
    setup.records.count = 2;
    setup.options.held_out_from = 2;
    for (int i = 0; i < 2; i++) {
        setup.rows[i] = row(16777216.0, 1 + i);
        setup.rows[i].computation = "{kind: gemm, m: 4096, n: 4096, k: 4096}";
        setup.rows[i].computation_us = 1.0;
    }
    {
        struct model_errors errors = {.arena = *state};
        struct validate_prediction predictions[2] = {{0}};
        struct validate_predictor *predictor;
        struct model_arena *scratch = model_arena_new();

        assert_int_equal(validate_predictor_make(*state, &setup.records, NULL,
                                                 &predictor, &errors),
                         MODEL_OK);
        assert_int_equal(validate_predict(predictor, truth, 1, NULL, scratch,
                                          predictions, &errors),
                         MODEL_OK);
        for (int i = 0; i < 2; i++) {
            setup.rows[i].time_us = predictions[i].time_us;
            setup.rows[i].computation_us = predictions[i].computation_us;
        }
        model_arena_free(scratch);
    }
    calibration = calibrate(*state, &setup.options);
    assert_int_equal(calibration.row_count, 4);
    assert_near(parameter(&calibration, "gpu.achieved.gemm")->now, 0.5, 0.005);
}

/* -- faults -- */

static struct model_errors refused(struct model_arena *arena,
                                   const struct setup *setup,
                                   enum model_status expected)
{
    struct model_errors errors = {.arena = arena};
    struct validate_calibration calibration;

    assert_int_equal(
        validate_calibrate(arena, &setup->options, &calibration, &errors),
        expected);
    return errors;
}

static void patterns_must_name_numbers(void **state)
{
    static const struct {
        const char *pattern, *message;
    } rows[] = {
        {"gpu.chanel.rate", "no number is called gpu.chanel.rate"},
        {"gpu.sm.count", "gpu.sm.count is a whole number"},
        {"node.nics.*", "no number is called node.nics.*"},
    };

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct model_errors errors;
        struct setup setup;

        make(&setup, &rows[i].pattern, 1);
        errors = refused(*state, &setup, MODEL_USAGE);
        fixture_expect_error(&errors, "--fit", rows[i].message);
    }
}

/* A number of 0 has no logarithm, where it is named; else it is left alone. */
static void nothing_is_scaled_from_zero(void **state)
{
    static const char *const patterns[] = {"gpu.channel.sync"};
    static const char *const sets[] = {"gpu.channel.sync=0 us"};
    struct model_errors errors;
    struct setup setup;

    make(&setup, patterns, 1);
    setup.options.sets = sets;
    setup.options.set_count = 1;
    errors = refused(*state, &setup, MODEL_USAGE);
    fixture_expect_error(&errors, "--fit", "gpu.channel.sync is 0");
}

static void rows_must_depend_on_it(void **state)
{
    static const char *const patterns[] = {"gpu.achieved.attention"};
    struct model_errors errors;
    struct setup setup;

    make(&setup, patterns, 1);
    errors = refused(*state, &setup, MODEL_BAD_INPUT);
    fixture_expect_error(&errors, NULL, "depend on none of the numbers");
}

/* Named with others, it is told that it stays. */
static void what_rows_do_not_depend_on_is_told(void **state)
{
    static const char *const patterns[] = {"gpu.achieved.attention",
                                           "gpu.channel.rate"};
    struct setup setup;
    struct validate_calibration calibration;

    make(&setup, patterns, 2);
    measure(*state, &setup, NULL, 0);
    calibration = calibrate(*state, &setup.options);
    assert_int_equal(calibration.parameter_count, 1);
    assert_int_equal(calibration.unseen_count, 1);
    assert_string_equal(calibration.unseen[0], "gpu.achieved.attention");
}

static void several_gpus_are_refused(void **state)
{
    struct model_errors errors;
    struct setup setup;

    make(&setup, NULL, 0);
    setup.rows[4].topology = "1x2 gpu:a100 nvswitch";
    errors = refused(*state, &setup, MODEL_BAD_INPUT);
    fixture_expect_error(&errors, NULL, "rows of several GPUs: a40");
    /* -t takes the place of both */
    measure(*state, &setup, NULL, 0);
    setup.options.topology = pair;
    (void)calibrate(*state, &setup.options);
}

/*
 * Two topologies of one GPU: its numbers are fitted to all rows. One that
 * differs between them is not fitted, and refused when named.
 */
static void several_topologies_share_a_gpu(void **state)
{
    static const char *const named[] = {"node.nvlink.rate"};
    static const char *const truth[] = {"gpu.channel.rate=9 GB/s"};
    struct model_errors errors;
    struct setup setup;
    struct validate_calibration calibration;

    make(&setup, NULL, 0);
    for (int i = 0; i < 9; i++) {
        setup.rows[i].topology = "1x2 gpu:a40 nvlink:pairs:20GB/s";
    }
    measure(*state, &setup, truth, 1);
    calibration = calibrate(*state, &setup.options);
    assert_int_equal(calibration.target_count, 2);
    assert_near(parameter(&calibration, "gpu.channel.rate")->now, 9000.0, 50.0);
    for (int j = 0; j < calibration.parameter_count; j++) {
        assert_string_not_equal(calibration.parameters[j].path, named[0]);
    }
    setup.options.patterns = named;
    setup.options.pattern_count = 1;
    errors = refused(*state, &setup, MODEL_BAD_INPUT);
    fixture_expect_error(&errors, named[0], "has other values in");
}

static void rows_that_cannot_run_are_left_out(void **state)
{
    static const char *const patterns[] = {"gpu.channel.rate"};
    struct model_errors errors;
    struct setup setup;
    struct validate_calibration calibration;

    make(&setup, patterns, 1);
    measure(*state, &setup, NULL, 0);
    setup.rows[0].topology = "no-such-machine";
    calibration = calibrate(*state, &setup.options);
    assert_int_equal(calibration.left_out_count, 1);
    assert_int_equal(calibration.row_count, 17);
    for (int i = 0; i < setup.records.count; i++) {
        setup.rows[i].topology = "no-such-machine";
    }
    errors = refused(*state, &setup, MODEL_BAD_INPUT);
    fixture_expect_error(&errors, NULL, "no row to fit: 18 cannot run");
}

static void one_row_is_enough(void **state)
{
    static const char *const truth[] = {"gpu.channel.rate=9 GB/s"};
    struct setup setup;
    struct validate_calibration calibration;

    make(&setup, NULL, 0);
    measure(*state, &setup, truth, 1);
    setup.records.count = 1;
    setup.options.held_out_from = 1;
    setup.options.hold_out = 1.0 / 3.0; /* a third of one is none */
    calibration = calibrate(*state, &setup.options);
    assert_int_equal(calibration.row_count, 1);
    assert_int_equal(calibration.held_out[0].count, 0);
    assert_true(calibration.parameter_count > 1);
    assert_true(calibration.fitted[1].median_ratio <
                calibration.fitted[0].median_ratio);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rate_comes_back),
        cmocka_unit_test(beyond_a_bound),
        cmocka_unit_test(ranges_of_keys),
        cmocka_unit_test(intervals_hold_the_truth),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(what_is_fitted_by_itself),
        cmocka_unit_test(a_cap_that_does_not_bind_is_found),
        cmocka_unit_test(a_third_of_each_size_is_held_out),
        cmocka_unit_test(rows_of_another_file_are_held_out),
        cmocka_unit_test(small_rows_are_not_used),
        cmocka_unit_test(computations_count),
        cmocka_unit_test(patterns_must_name_numbers),
        cmocka_unit_test(nothing_is_scaled_from_zero),
        cmocka_unit_test(rows_must_depend_on_it),
        cmocka_unit_test(what_rows_do_not_depend_on_is_told),
        cmocka_unit_test(several_gpus_are_refused),
        cmocka_unit_test(several_topologies_share_a_gpu),
        cmocka_unit_test(rows_that_cannot_run_are_left_out),
        cmocka_unit_test(one_row_is_enough),
    };

    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
