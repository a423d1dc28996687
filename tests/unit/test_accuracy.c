/*
 * test_accuracy.c - statistics of pairs, by numbers worked out by hand.
 */
#include "validate/accuracy.h"

#include "tests/unit/fixture.h"

/*
 * x: 1 2 3 4, y: 1 3 2 4. Of 6 pairs only (2, 3) is turned: (5 - 1) / 6.
 * With y: 1 2 2 4 no pair is turned and one is tied in y: 5 / sqrt(6 x 5).
 */
static void test_kendall(void **state)
{
    static const double x[] = {1, 2, 3, 4};
    static const double turned[] = {1, 3, 2, 4};
    static const double tied[] = {1, 2, 2, 4};
    static const double back[] = {4, 3, 2, 1};
    static const double flat[] = {7, 7, 7, 7};

    (void)state;
    assert_near(validate_kendall(x, turned, 4), 4.0 / 6.0, 1e-12);
    assert_near(validate_kendall(x, tied, 4), 5.0 / sqrt(30.0), 1e-12);
    assert_near(validate_kendall(x, back, 4), -1.0, 1e-12);
    assert_true(isnan(validate_kendall(x, flat, 4)));
}

/* Rows of one case, or of several; channels tell settings apart. */
struct given {
    double size_bytes;
    int channels;
    double measured_us, predicted_us;
};

static struct validate_pairs pairs_of(struct model_arena *arena,
                                      const struct given *given,
                                      int count,
                                      double min_size_bytes)
{
    struct validate_records records = {
        .rows = model_arena_array(arena, (size_t)count, sizeof(*records.rows)),
        .count = count};
    struct validate_prediction *predictions =
        model_arena_array(arena, (size_t)count, sizeof(*predictions));

    for (int i = 0; i < count; i++) {
        records.rows[i] =
            (struct validate_record){.topology = "t",
                                     .version = "",
                                     .computation = "",
                                     .kind = MODEL_OP_ALL_REDUCE,
                                     .nodes = 1,
                                     .gpus = 8,
                                     .size_bytes = given[i].size_bytes,
                                     .time_us = given[i].measured_us,
                                     .config = model_config_none()};
        records.rows[i].config.channels = given[i].channels;
        predictions[i].time_us = given[i].predicted_us;
        predictions[i].left_out = !(given[i].predicted_us > 0.0);
    }
    return validate_pairs_make(arena, &records, predictions, min_size_bytes);
}

/*
 * Errors -50 %, +10 %, -20 %, +100 %: without sign 10 20 50 100, median 35,
 * worst 100, mean with sign 10. p95 of 4 values lies at 0.95 x 3 = 2.85 places:
 * 50 + 0.85 x 50 = 92.5.
 */
static void test_errors(void **state)
{
    static const struct given given[] = {
        {8, 1, 10, 5}, {16, 1, 10, 11}, {32, 1, 10, 8}, {64, 1, 10, 20}};
    struct validate_pairs pairs = pairs_of(*state, given, 4, 0.0);
    struct validate_accuracy accuracy =
        validate_accuracy_of(*state, &pairs, NULL);

    assert_int_equal(accuracy.count, 4);
    assert_near(accuracy.median_ratio, 0.35, 1e-12);
    assert_near(accuracy.p95_ratio, 0.925, 1e-12);
    assert_near(accuracy.worst_ratio, 1.0, 1e-12);
    assert_near(accuracy.bias_ratio, 0.1, 1e-12);
    /* Sizes are not ranked. */
    assert_int_equal(accuracy.ranked, 0);
    assert_true(isnan(accuracy.spearman));
    assert_true(isnan(accuracy.kendall));
}

/* Too small, and left out. */
static void test_leaves_rows_out(void **state)
{
    static const struct given given[] = {
        {8, 1, 10, 5}, {16, 1, 10, 0}, {16, 1, 10, 8}};
    struct validate_pairs pairs = pairs_of(*state, given, 3, 16.0);

    assert_int_equal(pairs.count, 1);
    assert_int_equal(pairs.list[0].row, 2);
    assert_near(pairs.list[0].error_ratio, -0.2, 1e-12);
}

/*
 * 4 settings of 8 bytes, measured 1 2 3 4, predicted 1 3 2 4: Kendall 2 / 3,
 * Spearman 1 - 6 x (1 + 1) / (4 x 15) = 0.8. 5 of 16 bytes in reverse: both -1.
 * 3 of 32 bytes do not count. (4 x 0.8 - 5) / 9 and (4 x 2 / 3 - 5) / 9.
 */
static void test_ranks(void **state)
{
    static const struct given given[] = {
        {8, 1, 1, 1},  {16, 1, 1, 9}, {8, 2, 2, 3},  {16, 2, 2, 8},
        {8, 3, 3, 2},  {16, 3, 3, 7}, {8, 4, 4, 4},  {16, 4, 4, 6},
        {16, 5, 5, 5}, {32, 1, 1, 1}, {32, 2, 2, 2}, {32, 3, 3, 3}};
    static const bool small[] = {true, false, true,  false, true,  false,
                                 true, false, false, false, false, false};
    struct validate_pairs pairs = pairs_of(*state, given, 12, 0.0);
    struct validate_accuracy all = validate_accuracy_of(*state, &pairs, NULL);
    struct validate_accuracy some = validate_accuracy_of(*state, &pairs, small);

    assert_int_equal(all.ranked, 9);
    assert_near(all.spearman, (4 * 0.8 - 5) / 9.0, 1e-12);
    assert_near(all.kendall, (4 * 2.0 / 3.0 - 5) / 9.0, 1e-12);
    assert_int_equal(some.ranked, 4);
    assert_near(some.spearman, 0.8, 1e-12);
    assert_near(some.kendall, 2.0 / 3.0, 1e-12);
}

/* The same settings measured again are no more settings, but are ranked. */
static void test_ranks_repeats(void **state)
{
    static const struct given given[] = {
        {8, 1, 1, 1}, {8, 2, 2, 2}, {8, 3, 3, 3}, {8, 3, 4, 3}, {8, 4, 5, 4}};
    struct validate_pairs four = pairs_of(*state, given, 4, 0.0);
    struct validate_pairs five = pairs_of(*state, given, 5, 0.0);

    assert_int_equal(validate_accuracy_of(*state, &four, NULL).ranked, 0);
    assert_int_equal(validate_accuracy_of(*state, &five, NULL).ranked, 5);
}

/*
 * Rows of other versions of NCCL are not ranked against each other; another
 * buffer is another setting; where all take as long there is no order, and none
 * is counted.
 */
static void test_what_is_ranked(void **state)
{
    struct validate_record rows[6];
    struct validate_prediction predictions[6] = {{0}};
    struct validate_records records = {.rows = rows, .count = 6};
    struct validate_pairs pairs;
    struct validate_accuracy accuracy;

    for (int i = 0; i < 6; i++) {
        rows[i] = (struct validate_record){.topology = "t",
                                           .version = i < 4 ? "2.18.3" : "2.19",
                                           .computation = "",
                                           .kind = MODEL_OP_ALL_REDUCE,
                                           .nodes = 1,
                                           .gpus = 8,
                                           .size_bytes = 8,
                                           .time_us = 1.0 + i,
                                           .buffer_bytes = 1024.0 * (1 + i),
                                           .config = model_config_none()};
        predictions[i].time_us = 2.0 + i;
    }
    pairs = validate_pairs_make(*state, &records, predictions, 0.0);
    accuracy = validate_accuracy_of(*state, &pairs, NULL);
    assert_int_equal(accuracy.ranked, 4);
    assert_near(accuracy.kendall, 1.0, 1e-12);
    for (int i = 0; i < 4; i++) {
        rows[i].time_us = 5.0;
    }
    pairs = validate_pairs_make(*state, &records, predictions, 0.0);
    accuracy = validate_accuracy_of(*state, &pairs, NULL);
    assert_int_equal(accuracy.ranked, 0);
}

static void test_nothing(void **state)
{
    struct validate_pairs pairs = pairs_of(*state, NULL, 0, 0.0);
    struct validate_accuracy accuracy =
        validate_accuracy_of(*state, &pairs, NULL);

    assert_int_equal(accuracy.count, 0);
    assert_near(accuracy.worst_ratio, 0.0, 0.0);
    assert_true(isnan(accuracy.kendall));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kendall),
                                       cmocka_unit_test(test_errors),
                                       cmocka_unit_test(test_leaves_rows_out),
                                       cmocka_unit_test(test_ranks),
                                       cmocka_unit_test(test_ranks_repeats),
                                       cmocka_unit_test(test_what_is_ranked),
                                       cmocka_unit_test(test_nothing)};

    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
