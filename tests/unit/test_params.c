/*
 * test_params.c - files of fitted parameters: what is read, that writing and
 * reading give the same, each fault, and how a topology takes them.
 */
#include "model/params.h"

#include "tests/unit/fixture.h"

static const char *const good_text =
    "name: fit\n"
    "date: 2026-11-30\n"
    "records: [{file: a.csv, rows: 18, hash: \"0x5e1f\"}]\n"
    "parameters:\n"
    "  - {path: gpu.channel.sync, value: 0.6 us, low: 0.5 us, high: 0.72 us, "
    "was: 0.54 us, was_from: guess}\n"
    "  - {path: gpu.hbm.achieved, value: 0.8, low: 0.7, high: 0.9, was: 0.88, "
    "was_from: measured}\n"
    "covariance:\n"
    "  - [0.01, -0.001]\n"
    "  - [-0.001, 0.0025]\n";

static enum model_status read_text(struct model_arena *arena,
                                   const char *text,
                                   struct model_params *params,
                                   struct model_errors *errors)
{
    struct fixture_file file = fixture_file_open(text);
    enum model_status status = model_params_read(
        arena, model_arena_text(arena, file.path), params, errors);

    fixture_file_close(&file);
    return status;
}

static struct model_params good(struct model_arena *arena)
{
    struct model_errors errors = {.arena = arena};
    struct model_params params;

    assert_int_equal(read_text(arena, good_text, &params, &errors), MODEL_OK);
    fixture_no_errors(&errors);
    return params;
}

static void check_good(const struct model_params *params)
{
    const struct model_param *sync = &params->list[0];

    assert_string_equal(params->name, "fit");
    assert_string_equal(params->date, "2026-11-30");
    assert_int_equal(params->record_count, 1);
    assert_string_equal(params->records[0].file, "a.csv");
    assert_int_equal(params->records[0].rows, 18);
    assert_int_equal(params->records[0].hash, 0x5e1f);
    assert_int_equal(params->count, 2);
    assert_string_equal(sync->path, "gpu.channel.sync");
    assert_int_equal(sync->dimension, MODEL_TIME);
    assert_near(sync->value, 0.6, 0);
    assert_near(sync->low, 0.5, 0);
    assert_near(sync->high, 0.72, 0);
    assert_near(sync->was, 0.54, 0);
    assert_int_equal(sync->from, MODEL_FROM_GUESS);
    assert_int_equal(params->list[1].dimension, MODEL_RATIO);
    assert_int_equal(params->list[1].from, MODEL_FROM_MEASURED);
    assert_near(params->covariance[0], 0.01, 0);
    assert_near(params->covariance[1], -0.001, 0);
    assert_near(params->covariance[2], -0.001, 0);
    assert_near(params->covariance[3], 0.0025, 0);
}

static void a_file_is_read(void **state)
{
    struct model_params params = good(*state);

    check_good(&params);
    assert_int_equal(params.list[0].place.line, 5);
    assert_int_equal(params.list[1].place.line, 6);
}

static void what_is_written_reads_back(void **state)
{
    struct model_params params = good(*state);
    struct model_params again;
    struct model_errors errors = {.arena = *state};
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);

    assert_non_null(stream);
    assert_int_equal(model_params_write(*state, &params, stream), MODEL_OK);
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(read_text(*state, text, &again, &errors), MODEL_OK);
    fixture_no_errors(&errors);
    check_good(&again);
    free(text);
}

/* Without covariance and records a file is whole, too. */
static void what_may_be_missing(void **state)
{
    struct model_errors errors = {.arena = *state};
    struct model_params params;

    assert_int_equal(
        read_text(*state,
                  "name: n\ndate: d\nparameters:\n  - {path: gpu.l2, value: 2 "
                  "MiB, low: 1 MiB, high: 4 MiB, was: 1 MiB, was_from: "
                  "guess}\n",
                  &params, &errors),
        MODEL_OK);
    fixture_no_errors(&errors);
    assert_int_equal(params.record_count, 0);
    assert_null(params.covariance);
    assert_int_equal(params.list[0].dimension, MODEL_BYTES);
    assert_near(params.list[0].value, 2097152, 0);
}

/* The good text with one part of it changed. */
static const char *
changed(struct model_arena *arena, const char *part, const char *by)
{
    const char *at = strstr(good_text, part);

    assert_non_null(at);
    return model_arena_format(arena, "%.*s%s%s", (int)(at - good_text),
                              good_text, by, at + strlen(part));
}

static void each_fault_has_its_place(void **state)
{
    static const struct {
        const char *part, *by, *key, *message;
        int line;
    } rows[] = {
        {"name: fit\n", "", "name", "required key is missing", 1},
        {"value: 0.6 us", "value: fast", "parameters[0].value",
         "\"fast\" is no quantity", 5},
        {"value: 0.6 us", "value: 600 parsec", "parameters[0].value",
         "\"600 parsec\" is no quantity", 5},
        {"low: 0.5 us", "low: 0.5 GB/s", "parameters[0].low",
         "is a rate, a time is wanted", 5},
        {"high: 0.72 us", "high: 0.72", "parameters[0].high", "no unit", 5},
        {"was: 0.88", "was: -1", "parameters[1].was", "is negative", 6},
        {"value: 0.8,", "value: 0,", "parameters[1].value", "must be above 0",
         6},
        {"low: 0.7", "low: 0.85", "parameters[1].value", "not in its interval",
         6},
        {"high: 0.9", "high: 0.75", "parameters[1].value",
         "not in its interval", 6},
        {"was_from: guess", "was_from: hearsay", "parameters[0].was_from",
         "unknown word \"hearsay\"", 5},
        {"path: gpu.hbm.achieved", "path: gpu.channel.sync",
         "parameters[1].path", "is there twice", 6},
        {"path: gpu.hbm.achieved", "path: gpu.l2=1 B", "parameters[1].path",
         "not a key path", 6},
        {"hash: \"0x5e1f\"", "hash: \"0xyz\"", "records[0].hash",
         "not a hexadecimal number", 3},
        {"[0.01, -0.001]", "[0.01]", "covariance", "not a row of 2 numbers", 8},
        {"  - [0.01, -0.001]\n", "", "covariance", "not 2 rows of 2 numbers",
         8},
        {"[-0.001, ", "[sync, ", "covariance", "not a number", 9},
        /* not symmetric; a correlation of 2; a negative variance */
        {"[-0.001, ", "[0.001, ", "covariance", "no covariance", 8},
        {"[-0.001, 0.0025]", "[-0.001, 0.000025]", "covariance",
         "no covariance", 8},
        {"[0.01, ", "[-0.01, ", "covariance", "no covariance", 8},
        {"parameters:\n", "parametres:\n", "parametres", "unknown key", 4},
    };

    for (int i = 0; i < FIXTURE_COUNT(rows); i++) {
        struct model_errors errors = {.arena = *state};
        struct model_params params;
        const struct model_error *first = &errors.list[0];

        assert_int_equal(read_text(*state,
                                   changed(*state, rows[i].part, rows[i].by),
                                   &params, &errors),
                         MODEL_BAD_INPUT);
        fixture_expect_error(&errors, rows[i].key, rows[i].message);
        assert_int_equal(first->place.line, rows[i].line);
    }
}

static void all_faulty_parameters_are_reported(void **state)
{
    struct model_errors errors = {.arena = *state};
    struct model_params params;

    assert_int_equal(
        read_text(*state,
                  "name: n\ndate: d\nparameters:\n"
                  "  - {path: a, value: 1 us, low: 2 us, high: 3 us, was: 1 "
                  "us, was_from: guess}\n"
                  "  - {path: b, value: x, low: 2 us, high: 3 us, was: 1 us, "
                  "was_from: guess}\n",
                  &params, &errors),
        MODEL_BAD_INPUT);
    assert_int_equal(errors.count, 2);
}

static void no_parameters_are_a_fault(void **state)
{
    struct model_errors errors = {.arena = *state};
    struct model_params params;

    assert_int_equal(read_text(*state, "name: n\ndate: d\nparameters: []\n",
                               &params, &errors),
                     MODEL_BAD_INPUT);
    fixture_expect_error(&errors, "parameters", "no parameters");
}

/* -- applying -- */

static const struct model_provenance_entry *
entry_at(const struct model_topology *topology, const char *path)
{
    const struct model_provenance_entry *entry = topology->provenance.first;

    while (entry != NULL && strcmp(entry->path, path) != 0) {
        entry = entry->next;
    }
    assert_non_null(entry);
    return entry;
}

static void a_topology_takes_them_as_fitted(void **state)
{
    struct model_params params = good(*state);
    const char *const *sets = model_params_sets(*state, &params, NULL);
    const struct model_topology *plain =
        fixture_topology(*state, "1x2 gpu:a40", NULL, 0);
    const struct model_topology *fitted =
        fixture_topology(*state, "1x2 gpu:a40", sets, 2);
    const struct model_provenance_entry *sync =
        entry_at(fitted, "gpu.channel.sync");

    assert_near(fitted->gpu.sync_us, 0.6, 0);
    assert_near(fitted->gpu.hbm_ratio, 0.8, 0);
    assert_int_equal(sync->origin, MODEL_FROM_FITTED);
    assert_non_null(strstr(sync->source, "fit fit of 2026-11-30"));
    /* a40's sync was fitted already; its hbm.achieved was a guess */
    assert_int_equal(fitted->provenance.count[MODEL_FROM_FITTED],
                     plain->provenance.count[MODEL_FROM_FITTED] + 1);
    assert_int_equal(fitted->provenance.count[MODEL_FROM_GUESS],
                     plain->provenance.count[MODEL_FROM_GUESS] - 1);
    assert_int_equal(fitted->provenance.count[MODEL_FROM_OVERRIDE], 0);
}

/* exp(0.1) = 1.105170918, exp(-0.2) = 0.818730753. */
static void shifts_are_of_logarithms(void **state)
{
    struct model_params params = good(*state);
    static const double shift[] = {0.1, -0.2};
    const struct model_topology *topology = fixture_topology(
        *state, "1x2 gpu:a40", model_params_sets(*state, &params, shift), 2);

    assert_near(topology->gpu.sync_us, 0.6 * 1.105170918, 1e-9);
    assert_near(topology->gpu.hbm_ratio, 0.8 * 0.818730753, 1e-9);
}

/* A later override of the same number, as --set gives it, wins. */
static void an_override_wins(void **state)
{
    struct model_params params = good(*state);
    const char *const *sets = model_params_sets(*state, &params, NULL);
    const char *const all[] = {sets[0], sets[1], "gpu.channel.sync=2 us"};
    const struct model_topology *topology =
        fixture_topology(*state, "1x2 gpu:a40", all, 3);

    assert_near(topology->gpu.sync_us, 2, 0);
    assert_int_equal(entry_at(topology, "gpu.channel.sync")->origin,
                     MODEL_FROM_OVERRIDE);
}

/* Quotes and such in its name do not break the assignment. */
static void any_name_is_safe(void **state)
{
    struct model_params params = good(*state);

    params.name = "a \"b\\ {c}: # \xc3\xa4\n";
    (void)fixture_topology(*state, "1x2 gpu:a40",
                           model_params_sets(*state, &params, NULL), 2);
}

static void a_topology_without_such_a_number_is_an_error(void **state)
{
    struct model_errors errors = {.arena = *state};
    struct model_params params = good(*state);
    const struct model_topology *topology =
        fixture_topology(*state, "1x2 gpu:a40", NULL, 0);

    assert_int_equal(
        model_params_check(&params, &topology->provenance, "t", &errors),
        MODEL_OK);
    params.list[0].path = "gpu.channel.nvls.link";
    params.list[1].dimension = MODEL_TIME;
    assert_int_equal(
        model_params_check(&params, &topology->provenance, "t", &errors),
        MODEL_BAD_INPUT);
    fixture_expect_error(&errors, "gpu.channel.nvls.link",
                         "topology t has no such number");
    fixture_expect_error(&errors, "gpu.hbm.achieved",
                         "topology t has a ratio there, not a time");
    assert_int_equal(errors.list[0].place.line, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read),
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(what_may_be_missing),
        cmocka_unit_test(each_fault_has_its_place),
        cmocka_unit_test(all_faulty_parameters_are_reported),
        cmocka_unit_test(no_parameters_are_a_fault),
        cmocka_unit_test(a_topology_takes_them_as_fitted),
        cmocka_unit_test(shifts_are_of_logarithms),
        cmocka_unit_test(an_override_wins),
        cmocka_unit_test(any_name_is_safe),
        cmocka_unit_test(a_topology_without_such_a_number_is_an_error),
    };

    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
