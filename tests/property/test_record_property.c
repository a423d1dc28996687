/*
 * test_record_property.c - records that are written read back as they were,
 * and what accuracies do not depend on, over random rows.
 */
#include "validate/accuracy.h"

#include "tests/unit/fixture.h"

#include <gsl/gsl_rng.h>

enum { ROWS_MAX = 12 };

static int pick(gsl_rng *random, int count)
{
    return (int)gsl_rng_uniform_int(random, (unsigned long)count);
}

/* Letters that CSV and notes have to mind among them. */
static const char *random_text(struct model_arena *arena, gsl_rng *random)
{
    static const char letters[] = "ab,\"'; \n=\xC3\xA4";
    char *text = model_arena_alloc(arena, 16);
    int count = 0;

    for (int i = pick(random, 6); i > 0; i--) {
        int letter = pick(random, (int)sizeof(letters) - 2);

        text[count++] = letters[letter];
        if (letters[letter] == '\xC3') {
            text[count++] = '\xA4';
        }
    }
    /* Blanks around a cell are none of it. */
    text[count] = '\0';
    return count > 0 ? model_arena_format(arena, "x%sx", text) : "";
}

static double random_time(gsl_rng *random)
{
    return (double)(1 + pick(random, 1000000)) / 64.0;
}

static struct validate_record random_row(struct model_arena *arena,
                                         gsl_rng *random)
{
    struct validate_record row = {
        .source = random_text(arena, random),
        .hardware = random_text(arena, random),
        .version = pick(random, 2) == 0 ? "" : "2.27.7",
        .notes = random_text(arena, random),
        .topology = pick(random, 2) == 0 ? "" : "1x8 gpu:h100 nvswitch",
        .computation = "",
        .kind = MODEL_OP_ALL_GATHER + pick(random, 7),
        .nodes = 1 + pick(random, 8),
        .size_bytes = (double)(1 + pick(random, 1 << 30)),
        .time_us = random_time(random),
        .config = model_config_none(),
        .repeats = pick(random, 3)};

    row.gpus = row.nodes * (1 + pick(random, 8));
    row.config.algorithm = pick(random, MODEL_ALGORITHMS + 1) - 1;
    row.config.protocol = pick(random, MODEL_PROTOCOLS + 1) - 1;
    row.config.transport = pick(random, MODEL_TRANSPORTS + 1) - 1;
    row.config.channels = pick(random, 33);
    row.config.threads = pick(random, 641);
    row.config.chunk_bytes = pick(random, 2) * 32768.0;
    row.buffer_bytes = pick(random, 2) * 4194304.0;
    if (pick(random, 3) == 0) {
        row.computation = "{kind: gemm, m: 8, n: 8, k: 8}";
        row.computation_us = random_time(random);
        row.computation_alone_us = random_time(random);
        row.alone_us = random_time(random);
        row.spread_us = random_time(random);
        row.sm_clock_mhz = 1410.0;
    }
    return row;
}

/* What the files say that were written of rows. */
static struct validate_records read_back(struct model_arena *arena,
                                         const struct validate_record *rows,
                                         int count)
{
    struct model_errors errors = {.arena = arena};
    struct validate_records records = {.count = 0};
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    struct fixture_file file;

    assert_non_null(stream);
    validate_records_header(stream);
    for (int i = 0; i < count; i++) {
        validate_records_row(&rows[i], stream);
    }
    (void)fclose(stream);
    file = fixture_file_open(text);
    (void)validate_records_read(arena, model_arena_text(arena, file.path),
                                &records, &errors);
    fixture_file_close(&file);
    fixture_no_errors(&errors);
    free(text);
    assert_int_equal(records.count, count);
    return records;
}

static void check_equal(const struct validate_record *a,
                        const struct validate_record *b)
{
    assert_string_equal(a->source, b->source);
    assert_string_equal(a->hardware, b->hardware);
    assert_string_equal(a->version, b->version);
    assert_string_equal(a->topology, b->topology);
    assert_string_equal(a->computation, b->computation);
    assert_non_null(strstr(b->notes, a->notes));
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->nodes, b->nodes);
    assert_int_equal(a->gpus, b->gpus);
    assert_int_equal(a->repeats, b->repeats);
    assert_true(model_config_equal(&a->config, &b->config));
    assert_near(b->size_bytes, a->size_bytes, 0.0);
    assert_near(b->time_us, a->time_us, 1e-8 * a->time_us);
    assert_near(b->buffer_bytes, a->buffer_bytes, 0.0);
    assert_near(b->computation_us, a->computation_us, 1e-4);
    assert_near(b->computation_alone_us, a->computation_alone_us, 1e-4);
    assert_near(b->alone_us, a->alone_us, 1e-4);
    assert_near(b->spread_us, a->spread_us, 1e-4);
    assert_near(b->sm_clock_mhz, a->sm_clock_mhz, 0.0);
}

static void test_round_trip(void **state)
{
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);

    for (int i = 0; i < fixture_cases(); i++) {
        struct validate_record rows[ROWS_MAX];
        struct validate_records back;
        int count = 1 + pick(random, ROWS_MAX);

        model_arena_reset(*state);
        for (int j = 0; j < count; j++) {
            rows[j] = random_row(*state, random);
        }
        back = read_back(*state, rows, count);
        for (int j = 0; j < count; j++) {
            check_equal(&rows[j], &back.rows[j]);
        }
    }
    gsl_rng_free(random);
}

/*
 * Times of a unit twice as long leave all as it is; rows in reverse, too; and
 * measurements that are predicted exactly are without error and in order.
 */
static void test_invariances(void **state)
{
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);

    for (int i = 0; i < fixture_cases(); i++) {
        struct validate_pair pairs[ROWS_MAX];
        struct validate_pair other[ROWS_MAX];
        struct validate_pair exact[ROWS_MAX];
        int count = 1 + pick(random, ROWS_MAX);
        struct validate_accuracy one;
        struct validate_accuracy two;

        model_arena_reset(*state);
        for (int j = 0; j < count; j++) {
            double measured_us = 1 + pick(random, 9);
            double predicted_us = 1 + pick(random, 9);

            pairs[j] = (struct validate_pair){
                .measured_us = measured_us,
                .predicted_us = predicted_us,
                .error_ratio = predicted_us / measured_us - 1.0,
                .case_index = pick(random, count),
                .setting_index = pick(random, 6)};
            other[count - 1 - j] = pairs[j];
            other[count - 1 - j].measured_us *= 2.0;
            other[count - 1 - j].predicted_us *= 2.0;
            exact[j] = pairs[j];
            exact[j].predicted_us = measured_us;
            exact[j].error_ratio = 0.0;
        }
        one = validate_accuracy_of(
            *state, &(struct validate_pairs){pairs, count}, NULL);
        two = validate_accuracy_of(
            *state, &(struct validate_pairs){other, count}, NULL);
        assert_near(one.median_ratio, two.median_ratio, 1e-12);
        assert_near(one.p95_ratio, two.p95_ratio, 1e-12);
        assert_near(one.bias_ratio, two.bias_ratio, 1e-12);
        assert_int_equal(one.ranked, two.ranked);
        assert_true(one.median_ratio <= one.p95_ratio &&
                    one.p95_ratio <= one.worst_ratio);
        if (one.ranked > 0) {
            assert_near(one.kendall, two.kendall, 1e-12);
            assert_near(one.spearman, two.spearman, 1e-12);
            assert_true(fabs(one.kendall) <= 1.0 + 1e-12);
        }
        one = validate_accuracy_of(
            *state, &(struct validate_pairs){exact, count}, NULL);
        assert_near(one.worst_ratio, 0.0, 0.0);
        assert_true(one.ranked == 0 ||
                    (one.kendall > 1.0 - 1e-12 && one.spearman > 1.0 - 1e-12));
    }
    gsl_rng_free(random);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip),
                                       cmocka_unit_test(test_invariances)};

    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
