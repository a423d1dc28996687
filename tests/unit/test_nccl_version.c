/*
 * test_nccl_version.c - reading the constants of a version of NCCL.
 */
#include "tests/unit/fixture.h"

#include "model/nccl/version.h"

static enum model_status read_version(struct model_arena *arena,
                                      const char *name,
                                      struct model_nccl_version *version,
                                      struct model_errors *errors)
{
    struct model_place place = {.line = 0};

    *errors = (struct model_errors){.arena = arena};
    return model_nccl_version_read(arena, name, place, "nccl.version", version,
                                   errors);
}

/* Those that are shipped: tables of 23 factors, and rules that differ. */
static void shipped(void **state)
{
    struct model_nccl_version early, late;
    struct model_errors errors;

    assert_int_equal(read_version(*state, "2.18", &early, &errors), MODEL_OK);
    fixture_no_errors(&errors);
    assert_int_equal(read_version(*state, "2.30", &late, &errors), MODEL_OK);
    fixture_no_errors(&errors);
    assert_string_equal(early.release, "2.18.3");
    assert_string_equal(late.release, "2.30.7");
    for (int p = 0; p < MODEL_NCCL_PROTOCOLS; p++) {
        const double *factors = early.tuning.tree_correction[p].items;

        assert_int_equal(early.tuning.tree_correction[p].count, 23);
        assert_int_equal(late.tuning.tree_correction[p].count, 23);
        for (int i = 0; i < 23; i++) {
            assert_true(factors[i] >= 0.4 && factors[i] <= 1.0);
            assert_near(factors[i],
                        ((double *)late.tuning.tree_correction[p].items)[i], 0);
        }
    }
    assert_int_equal(late.tuning.nvls_tree_correction.count, 24);
    assert_int_equal(early.tuning.nvls_model, MODEL_NCCL_NVLS_FIXED);
    assert_int_equal(late.tuning.nvls_model, MODEL_NCCL_NVLS_PIPELINED);
    assert_false(early.tuning.pat);
    assert_true(late.tuning.pat);
}

/* One that is not: where it was asked for, and the nearest. */
static void unknown(void **state)
{
    struct model_nccl_version version;
    struct model_errors errors;

    assert_int_equal(read_version(*state, "2.19", &version, &errors),
                     MODEL_BAD_INPUT);
    assert_int_equal(errors.count, 1);
    fixture_expect_error(&errors, "nccl.version", "2.19");
}

/* What a release goes by: most rules changed with 2.22. */
static void nearest(void **state)
{
    static const struct {
        const char *release, *name;
    } rows[] = {{"2.18.3", "2.18"},  {"2.4", "2.18"},   {"1.9.9", "2.18"},
                {"2.21.5", "2.18"},  {"2.22", "2.30"},  {"2.22.3", "2.30"},
                {"2.30.7", "2.30"},  {"2.100", "2.30"}, {"3.0.1", "2.30"},
                {"2.19.3-1", "2.18"}};
    struct model_errors errors = {.arena = *state};
    int count;
    const struct model_nccl_version *list =
        model_nccl_versions_read(*state, &count, &errors);

    fixture_no_errors(&errors);
    assert_int_equal(count, 2);
    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        assert_string_equal(
            model_nccl_version_nearest(list, count, rows[i].release)->name,
            rows[i].name);
    }
    assert_null(model_nccl_version_nearest(list, count, ""));
    assert_null(model_nccl_version_nearest(list, count, "unknown"));
}

/*
 * In any order: the last of those that had begun; of those that had not, the
 * first.
 */
static void nearest_in_any_order(void **state)
{
    static const struct model_nccl_version list[] = {
        {.since = "2.22"}, {.since = "2.5"}, {.since = "2.10"}};
    static const struct {
        const char *release;
        int index;
    } rows[] = {{"2.4", 1},  {"2.5", 1},  {"2.9.8", 1}, {"2.10", 2},
                {"2.21", 2}, {"2.22", 0}, {"2.23", 0}};

    (void)state;
    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        assert_ptr_equal(model_nccl_version_nearest(list, 3, rows[i].release),
                         &list[rows[i].index]);
    }
}

/* A file of one's own: all that its sections lack is said. */
static void a_file_that_lacks_much(void **state)
{
    struct fixture_file file = fixture_file_open("release: 9.9\n"
                                                 "tuning: {least_threads: 0}\n"
                                                 "graph: {max_channels: 32}\n");
    struct model_nccl_version version;
    struct model_errors errors;

    assert_int_equal(read_version(*state, file.path, &version, &errors),
                     MODEL_BAD_INPUT);
    fixture_expect_error(&errors, "tuning.least_threads", "out of range");
    assert_true(errors.count > 5);
    fixture_file_close(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shipped),
        cmocka_unit_test(unknown),
        cmocka_unit_test(nearest),
        cmocka_unit_test(nearest_in_any_order),
        cmocka_unit_test(a_file_that_lacks_much),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
