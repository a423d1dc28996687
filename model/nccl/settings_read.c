/*
 * settings_read.c - one assignment: its row of the table, its value by the
 * row's kind.
 */
#include "model/nccl/settings_read.h"

#include "model/nccl/variables.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NCCL_UNDEFINED = -2, LEAST_BUFFER_BYTES = 1024 };

void model_nccl_note_add(const struct model_nccl_reading *reading,
                         bool quiet,
                         const char *format,
                         ...)
{
    struct model_nccl_reader *reader = reading->reader;
    struct model_nccl_note *note =
        model_arena_alloc(reader->arena, sizeof(*note));
    va_list values;

    note->place = reading->place;
    note->variable = reading->variable;
    note->quiet = quiet;
    va_start(values, format);
    note->text = model_arena_format_list(reader->arena, format, values);
    va_end(values);
    if (reader->last != NULL) {
        reader->last->next = note;
    } else {
        reader->first = note;
    }
    reader->last = note;
}

/* -- numbers -- */

/*
 * What NCCL makes of the text. False where it keeps its default: an empty
 * text, one beyond 64 bits, and -2, which stands for not set.
 */
static bool read_number(const struct model_nccl_reading *reading,
                        long long *number)
{
    const char *text = reading->value;
    char *end;
    long long value;

    if (text[0] == '\0') {
        return false;
    }
    errno = 0;
    value = strtoll(text, &end, 0);
    if (errno != 0) {
        model_nccl_note_add(reading, false,
                            "\"%s\" is out of range, NCCL uses its default",
                            text);
        return false;
    }
    if (end == text || *end != '\0') {
        model_nccl_note_add(reading, false, "NCCL reads \"%s\" as %lld", text,
                            value);
    } else if (text[strspn(text, " +-")] == '0' && value > 7 &&
               strpbrk(text, "xX") == NULL) {
        model_nccl_note_add(reading, false,
                            "NCCL reads \"%s\" as octal, which is %lld", text,
                            value);
    }
    *number = value;
    return value != NCCL_UNDEFINED;
}

static long long within(long long value, long long low, long long high)
{
    if (value < low) {
        return low;
    }
    return value > high ? high : value;
}

static void judge(const struct model_nccl_reading *reading,
                  const struct model_nccl_variable *row,
                  long long value)
{
    const char *text = row->judge != NULL ? row->judge(value) : NULL;

    if (text != NULL) {
        model_nccl_note_add(reading, false, "%lld %s", value, text);
    }
}

static int *int_at(const struct model_nccl_reading *reading, size_t offset)
{
    return (int *)(void *)((char *)reading->reader->settings + offset);
}

static double *double_at(const struct model_nccl_reading *reading,
                         size_t offset)
{
    return (double *)(void *)((char *)reading->reader->settings + offset);
}

static void read_int(const struct model_nccl_reading *reading,
                     const struct model_nccl_variable *row)
{
    long long value;

    *int_at(reading, row->offset) = MODEL_UNSET;
    if (!read_number(reading, &value)) {
        return;
    }
    judge(reading, row, value);
    if (row->kind == MODEL_NCCL_POSITIVE && value < 1) {
        if (row->judge == NULL) {
            model_nccl_note_add(reading, false, "%lld is taken as not set",
                                value);
        }
        return;
    }
    /* Any number but the few that mean something is as good as 0. */
    *int_at(reading, row->offset) = (int)within(value, 0, INT_MAX);
}

/* Limits of channels, which NCCL brings into range itself. */
static void read_channels(const struct model_nccl_reading *reading,
                          const struct model_nccl_variable *row)
{
    const struct model_nccl_version *version = reading->reader->version;
    bool ctas = row->kind == MODEL_NCCL_CTAS;
    bool most = strstr(row->name, "MAX") != NULL;
    long long value;
    long long kept;

    *int_at(reading, row->offset) = MODEL_UNSET;
    if (!read_number(reading, &value)) {
        return;
    }
    if (ctas && value < 1) {
        if (most && !version->settings.ctas_checked) {
            model_nccl_note_add(reading, false,
                                "NCCL %s takes %lld and fails; 1 is simulated",
                                version->release, value);
            *int_at(reading, row->offset) = 1;
        } else {
            model_nccl_note_add(reading, false, "%lld is below 1: not heeded",
                                value);
        }
        return;
    }
    kept = within(value, row->low, version->graph.max_channels);
    if (kept != value) {
        model_nccl_note_add(reading, false,
                            "NCCL %s takes %lld instead of %lld",
                            version->release, kept, value);
    }
    *int_at(reading, row->offset) = (int)kept;
}

static enum model_status read_bytes(const struct model_nccl_reading *reading,
                                    const struct model_nccl_variable *row)
{
    bool threshold = row->kind == MODEL_NCCL_THRESHOLD;
    long long value;

    *double_at(reading, row->offset) = threshold ? -1.0 : 0.0;
    if (!read_number(reading, &value)) {
        return MODEL_OK;
    }
    if (threshold) {
        *double_at(reading, row->offset) = fmax((double)value, 0.0);
        return MODEL_OK;
    }
    if (value < LEAST_BUFFER_BYTES) {
        return model_errors_add(reading->reader->errors, MODEL_BAD_INPUT,
                                reading->place, reading->variable,
                                "write bytes without a unit, such as 4194304",
                                "%lld bytes are too few", value);
    }
    judge(reading, row, value);
    *double_at(reading, row->offset) = (double)value;
    return MODEL_OK;
}

static void read_ns(const struct model_nccl_reading *reading,
                    const struct model_nccl_variable *row)
{
    long long value;

    *double_at(reading, row->offset) =
        read_number(reading, &value) ? fmax((double)value, 0.0) / 1000.0 : -1.0;
}

/* Six numbers; what is missing or negative stays the version's. */
static void read_six(const struct model_nccl_reading *reading)
{
    struct model_nccl_settings *settings = reading->reader->settings;
    const char *at = reading->value;
    bool more = true;

    for (int a = 0; a < MODEL_NCCL_THRESHOLDS; a++) {
        for (int p = 0; p < MODEL_NCCL_PROTOCOLS; p++) {
            char *end = NULL;
            long value = more ? strtol(at, &end, 10) : -1;

            more = more && end != at;
            settings->thread_threshold_bytes[a][p] =
                more && value >= 0 ? (double)value : -1.0;
            at = more ? end : at;
        }
    }
    if (!more || *at != '\0') {
        model_nccl_note_add(reading, false,
                            "are not six numbers with blanks between; what is "
                            "missing stays NCCL's");
    }
}

/* -- words -- */

/* The path of a name in NCCL's words, or MODEL_UNSET; *local for LOC. */
static int
path_of(const struct model_nccl_reading *reading, const char *name, bool *local)
{
    static const struct {
        const char *name;
        int path;
    } paths[] = {{"NVL", MODEL_PATH_NVL}, {"NVB", MODEL_PATH_NVB},
                 {"C2C", MODEL_PATH_NVB}, {"PIX", MODEL_PATH_PIX},
                 {"PXB", MODEL_PATH_PXB}, {"P2C", MODEL_PATH_PXB},
                 {"PXN", MODEL_PATH_PXN}, {"PHB", MODEL_PATH_PHB},
                 {"SYS", MODEL_PATH_SYS}};
    const struct model_list *known = &reading->reader->version->settings.levels;
    const char *const *names = known->items;
    bool found = false;

    for (int i = 0; i < known->count; i++) {
        found = found || strcmp(names[i], name) == 0;
    }
    *local = found && strcmp(name, "LOC") == 0;
    for (size_t i = 0; found && i < sizeof(paths) / sizeof(paths[0]); i++) {
        if (strcmp(paths[i].name, name) == 0) {
            return paths[i].path;
        }
    }
    return MODEL_UNSET;
}

/* A level by name, or by the numbers of old: 0 LOC, 1 PIX ... 4 SYS. */
static void read_level(const struct model_nccl_reading *reading,
                       const struct model_nccl_variable *row)
{
    static const char *const old[] = {"LOC", "PIX", "PXB", "PHB", "SYS"};
    enum { OLD = sizeof(old) / sizeof(old[0]) };
    const char *text = reading->value;
    bool *local =
        (bool *)(void *)((char *)reading->reader->settings + row->local_offset);
    int *level = int_at(reading, row->offset);

    *level = path_of(reading, text, local);
    if (*level == MODEL_UNSET && !*local && isdigit((unsigned char)text[0])) {
        long long number = within(strtoll(text, NULL, 0), 0, OLD - 1);

        *level = path_of(reading, old[number], local);
    }
    if (*level == MODEL_UNSET && !*local && text[0] != '\0') {
        model_nccl_note_add(
            reading, false,
            "NCCL %s knows no level \"%s\" and ignores it; levels are LOC, "
            "NVL, PIX, PXB, PHB, SYS, in capitals",
            reading->reader->version->release, text);
    }
}

static enum model_status read_list(const struct model_nccl_reading *reading,
                                   bool algorithms)
{
    struct model_nccl_settings *settings = reading->reader->settings;
    const struct model_nccl_settings_data *data =
        &reading->reader->version->settings;
    const char **known =
        model_arena_array(reading->reader->arena,
                          (size_t)data->algorithms.count + 1, sizeof(*known));
    enum model_status status;

    if (!algorithms) {
        status = model_nccl_list_read(
            reading, model_nccl_protocol_names, model_nccl_protocol_names,
            MODEL_NCCL_PROTOCOLS, settings->protocol_allowed[0],
            settings->protocol_set);
        if (status == MODEL_OK) {
            model_nccl_list_note(reading, settings->protocol_allowed[0],
                                 MODEL_NCCL_PROTOCOLS, "fails there");
        }
        return status;
    }
    for (int i = 0; i < data->algorithms.count; i++) {
        known[i] = ((const char *const *)data->algorithms.items)[i];
    }
    status = model_nccl_list_read(
        reading, known, model_nccl_algorithm_names, MODEL_NCCL_ALGORITHMS,
        settings->algorithm_allowed[0], settings->algorithm_set);
    for (int f = 0; data->ring_always && f < MODEL_NCCL_FUNCTIONS; f++) {
        if (f != MODEL_NCCL_ALL_REDUCE) {
            settings->algorithm_allowed[f][MODEL_NCCL_RING] = true;
        }
    }
    if (status == MODEL_OK) {
        model_nccl_list_note(reading, settings->algorithm_allowed[0],
                             MODEL_NCCL_ALGORITHMS,
                             reading->reader->version->tuning.algorithms_reset
                                 ? "takes Ring and Tree there"
                                 : "fails there");
    }
    return status;
}

/* Names with | between, or a digit. */
static int read_policy_names(const struct model_nccl_reading *reading)
{
    static const char *const names[] = {"DEFAULT", "EFFICIENCY", "ZERO"};
    char *words = model_arena_text(reading->reader->arena, reading->value);
    char *state = NULL;
    int policy = MODEL_UNSET;

    if (isdigit((unsigned char)words[0])) {
        return words[0] <= '2' ? words[0] - '0' : MODEL_UNSET;
    }
    for (char *word = strtok_r(words, "|", &state); word != NULL;
         word = strtok_r(NULL, "|", &state)) {
        int bits = MODEL_UNSET;

        for (int i = 0; i < 3; i++) {
            bits = strcasecmp(word, names[i]) == 0 ? i : bits;
        }
        if (bits == MODEL_UNSET) {
            model_nccl_note_add(reading, false, "NCCL ignores \"%s\"", word);
        } else {
            policy = policy == MODEL_UNSET ? bits : policy | bits;
        }
    }
    return policy;
}

static void read_policy(const struct model_nccl_reading *reading,
                        const struct model_nccl_variable *row)
{
    int *policy = int_at(reading, row->offset);

    if (reading->reader->version->settings.policy_names) {
        *policy = read_policy_names(reading);
    } else {
        read_int(reading, row);
    }
    if (*policy > 0) {
        model_nccl_note_add(reading, false,
                            "needs registered buffers, which are not "
                            "simulated: it changes nothing here");
    }
}

/* -- an assignment -- */

static bool was_given(const struct model_nccl_reader *reader, const char *name)
{
    for (int i = 0; i < reader->given_count; i++) {
        if (strcmp(reader->given[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static enum model_status read_value(const struct model_nccl_reading *reading,
                                    const struct model_nccl_variable *row)
{
    switch (row->kind) {
    case MODEL_NCCL_NUMBER:
    case MODEL_NCCL_POSITIVE:
        read_int(reading, row);
        break;
    case MODEL_NCCL_CHANNELS:
    case MODEL_NCCL_CTAS:
        read_channels(reading, row);
        break;
    case MODEL_NCCL_BYTES:
    case MODEL_NCCL_THRESHOLD:
        return read_bytes(reading, row);
    case MODEL_NCCL_NS:
        read_ns(reading, row);
        break;
    case MODEL_NCCL_LEVEL:
        read_level(reading, row);
        break;
    case MODEL_NCCL_ALGO_LIST:
    case MODEL_NCCL_PROTO_LIST:
        return read_list(reading, row->kind == MODEL_NCCL_ALGO_LIST);
    case MODEL_NCCL_SIX:
        read_six(reading);
        break;
    case MODEL_NCCL_POLICY:
        read_policy(reading, row);
        break;
    case MODEL_NCCL_NOT_SIMULATED:
        model_nccl_note_add(reading, false,
                            "is known, but what it does is not simulated");
        break;
    case MODEL_NCCL_NO_EFFECT:
        model_nccl_note_add(reading, true, "changes no time");
        break;
    }
    return MODEL_OK;
}

static enum model_status read_row(const struct model_nccl_reading *reading,
                                  const struct model_nccl_variable *row)
{
    struct model_nccl_reader *reader = reading->reader;
    const struct model_nccl_version *version = reader->version;

    if (row->since > version->settings.code ||
        (row->until > 0 && row->until <= version->settings.code)) {
        int code =
            row->since > version->settings.code ? row->since : row->until;

        model_nccl_note_add(reading, false,
                            "NCCL %s does not know it (%s %d.%d) and ignores "
                            "it",
                            version->release,
                            row->since == code ? "since" : "gone from",
                            code / 10000, code / 100 % 100);
        return MODEL_OK;
    }
    if (row->instead_of != NULL && was_given(reader, row->instead_of)) {
        model_nccl_note_add(reading, false, "NCCL heeds NCCL_%s instead",
                            row->instead_of);
        return MODEL_OK;
    }
    reader->given =
        model_arena_grow(reader->arena, reader->given, reader->given_count,
                         &reader->given_room, sizeof(*reader->given));
    reader->given[reader->given_count++] = row->name;
    return read_value(reading, row);
}

/* A typo. */
static enum model_status unknown_variable(const struct model_nccl_reading *at)
{
    struct model_nccl_reader *reader = at->reader;

    return model_errors_add(
        reader->errors, MODEL_BAD_INPUT, at->place, NULL,
        model_nccl_variable_hint(reader->arena, at->variable),
        "NCCL knows no variable \"%s\"", at->variable);
}

enum model_status model_nccl_settings_read(struct model_nccl_reader *reader,
                                           const char *assignment,
                                           struct model_place place)
{
    size_t length = strcspn(assignment, "=");
    struct model_nccl_reading reading = {.reader = reader, .place = place};
    const struct model_nccl_variable *row;

    reading.variable = model_arena_text_n(reader->arena, assignment, length);
    if (assignment[length] != '=' || length == 0) {
        return model_errors_add(reader->errors, MODEL_BAD_INPUT, place, NULL,
                                "write NCCL_NAME=VALUE",
                                "no variable with a value: \"%s\"", assignment);
    }
    reading.value = assignment + length + 1;
    row = model_nccl_variable_find(reader->arena, assignment, length);
    if (row != NULL) {
        return read_row(&reading, row);
    }
    return unknown_variable(&reading);
}
