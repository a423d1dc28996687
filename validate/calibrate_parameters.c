/*
 * calibrate_parameters.c - which numbers may be fitted, how far, and how sure
 * they were before.
 */
#include "validate/calibrate_parts.h"

#include <math.h>
#include <string.h>

/*
 * How unsure a number is by its origin: the standard deviation of its natural
 * logarithm. Measured: what two machines of a kind, or two ways to measure, lie
 * apart. Fitted: other records, and a model that was another then. Guess: a
 * factor of two. A data sheet's number is a limit that is met or not, and is
 * left alone unless it is named; so is one that the user gave.
 */
static const struct {
    double width;
    bool by_itself; /* fitted without being named */
} sureness[MODEL_ORIGINS] = {
    [MODEL_FROM_DATASHEET] = {0.10, false},
    [MODEL_FROM_MEASURED] = {0.05, true},
    [MODEL_FROM_FITTED] = {0.20, true},
    [MODEL_FROM_GUESS] = {M_LN2, true},
    [MODEL_FROM_OVERRIDE] = {M_LN2, false},
};

/*
 * Bounds lie so many widths away, but within a factor of 16, unless the key's
 * own range is narrower: beyond, not the number is wrong but the model.
 */
#define REACH_WIDTHS 6.0
#define REACH_MAX    (4.0 * M_LN2)

static const struct model_place nowhere = {"lagom", 0, 0};

static const struct model_provenance_entry *
find_entry(const struct validate_target *target, const char *path)
{
    const struct model_provenance_entry *entry =
        target->topology.provenance.first;

    while (entry != NULL && strcmp(entry->path, path) != 0) {
        entry = entry->next;
    }
    return entry;
}

bool validate_target_has(const struct validate_target *target, const char *path)
{
    return find_entry(target, path) != NULL;
}

static bool is_named(const struct validate_calibration_options *options,
                     const char *path)
{
    for (int i = 0; i < options->pattern_count; i++) {
        if (model_text_matches(options->patterns[i], path)) {
            return true;
        }
    }
    return false;
}

/* Counts are facts, and what is 0 has no logarithm. */
static bool is_real(const struct model_provenance_entry *entry)
{
    return entry->dimension != MODEL_COUNT &&
           entry->field->kind == MODEL_FIELD_QUANTITY && entry->value > 0.0;
}

/* Its value in another topology, when that is another one. */
static const struct validate_target *
other_value(const struct validate_calibration *calibration,
            const struct model_provenance_entry *entry)
{
    for (int t = 0; t < calibration->target_count; t++) {
        const struct model_provenance_entry *other =
            find_entry(&calibration->targets[t], entry->path);

        if (other != NULL && !model_same(other->value, entry->value)) {
            return &calibration->targets[t];
        }
    }
    return NULL;
}

static struct validate_fit_parameter
prior_of(const struct model_provenance_entry *entry)
{
    const struct model_field *field = entry->field;
    double width = sureness[entry->origin].width;
    double at = log(entry->value);
    double reach = fmin(REACH_WIDTHS * width, REACH_MAX);
    double low = at - reach;
    double high = at + reach;

    if (field->min > 0.0) {
        low = fmax(low, log(field->min));
    }
    if (field->max > 0.0 && field->max >= field->min) {
        high = fmin(high, log(field->max));
    }
    if (entry->dimension == MODEL_RATIO && entry->value <= 1.0) {
        high = fmin(high, 0.0);
    }
    return (struct validate_fit_parameter){at, at, width, low, high};
}

static bool is_listed(const struct validate_candidates *candidates,
                      const char *path)
{
    for (int i = 0; i < candidates->count; i++) {
        if (strcmp(candidates->list[i].entry->path, path) == 0) {
            return true;
        }
    }
    return false;
}

/* Those of a topology that the others before it did not have. */
static enum model_status
add_target(const struct validate_calibration *calibration,
           const struct validate_target *target,
           struct validate_candidates *candidates,
           struct model_errors *errors)
{
    const struct validate_calibration_options *options = calibration->options;

    for (const struct model_provenance_entry *entry =
             target->topology.provenance.first;
         entry != NULL; entry = entry->next) {
        bool named = is_named(options, entry->path);
        const struct validate_target *other;

        if (!is_real(entry) || is_listed(candidates, entry->path) ||
            (options->pattern_count > 0 ? !named
                                        : !sureness[entry->origin].by_itself)) {
            continue;
        }
        other = other_value(calibration, entry);
        if (other != NULL && named) {
            return model_errors_add(
                errors, MODEL_BAD_INPUT, nowhere, entry->path,
                "write -t TOPOLOGY, or calibrate them one by one",
                "has other values in %s and %s", target->label, other->label);
        }
        if (other == NULL) {
            candidates->list[candidates->count++] =
                (struct validate_candidate){entry, prior_of(entry), named};
        }
    }
    return MODEL_OK;
}

/* The path nearest to a pattern that names nothing that can be fitted. */
static enum model_status
report_pattern(struct model_arena *arena,
               const struct validate_calibration *calibration,
               const char *pattern,
               struct model_errors *errors)
{
    const struct validate_target *target = &calibration->targets[0];
    const struct model_provenance_entry *entry = find_entry(target, pattern);
    const char **names;
    const char *nearest;
    size_t count = 0;

    if (entry != NULL) {
        return model_errors_add(
            errors, MODEL_USAGE, nowhere, "--fit", NULL, "%s is %s", pattern,
            entry->value > 0.0 ? "a whole number, and no quantity"
                               : "0, and has no logarithm");
    }
    for (entry = target->topology.provenance.first; entry != NULL;
         entry = entry->next) {
        count++;
    }
    names = model_arena_array(arena, count + 1, sizeof(const char *));
    count = 0;
    for (entry = target->topology.provenance.first; entry != NULL;
         entry = entry->next) {
        names[count++] = entry->path;
    }
    nearest = model_nearest_name(pattern, names);
    return model_errors_add(
        errors, MODEL_USAGE, nowhere, "--fit",
        nearest != NULL
            ? model_arena_format(arena, "did you mean \"%s\"?", nearest)
            : "lagom show TOPOLOGY -v lists them",
        "no number is called %s", pattern);
}

static enum model_status
check_patterns(struct model_arena *arena,
               const struct validate_calibration *calibration,
               const struct validate_candidates *candidates,
               struct model_errors *errors)
{
    const struct validate_calibration_options *options = calibration->options;

    for (int i = 0; i < options->pattern_count; i++) {
        bool used = false;

        for (int j = 0; j < candidates->count; j++) {
            used = used || model_text_matches(options->patterns[i],
                                              candidates->list[j].entry->path);
        }
        if (!used) {
            return report_pattern(arena, calibration, options->patterns[i],
                                  errors);
        }
    }
    return MODEL_OK;
}

enum model_status
validate_candidates_find(struct model_arena *arena,
                         const struct validate_calibration *calibration,
                         struct validate_candidates *candidates,
                         struct model_errors *errors)
{
    size_t room = 0;

    for (int t = 0; t < calibration->target_count; t++) {
        const struct model_provenance *provenance =
            &calibration->targets[t].topology.provenance;

        for (int i = 0; i < MODEL_ORIGINS; i++) {
            room += (size_t)provenance->count[i];
        }
    }
    *candidates = (struct validate_candidates){
        .list = model_arena_array(arena, room, sizeof(*candidates->list))};
    for (int t = 0; t < calibration->target_count; t++) {
        enum model_status status = add_target(
            calibration, &calibration->targets[t], candidates, errors);

        if (status != MODEL_OK) {
            return status;
        }
    }
    return check_patterns(arena, calibration, candidates, errors);
}
