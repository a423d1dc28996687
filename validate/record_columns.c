/*
 * record_columns.c - what each column of a file of records holds.
 *
 * One table has its range and unit; a cell is judged by its row of the table. A
 * number is written bare, in the unit that its column names.
 */
#include "validate/record_columns.h"

#include "model/units.h"
#include "model/workload.h"

#include <ctype.h>
#include <string.h>

#define AT(member) offsetof(struct validate_row, record.member)

const struct validate_column validate_columns[VALIDATE_COLUMNS] = {
    {"source", VALIDATE_COLUMN_TEXT, AT(source), 0, 0, NULL},
    {"hardware", VALIDATE_COLUMN_TEXT, AT(hardware), 0, 0, NULL},
    {"nodes", VALIDATE_COLUMN_WHOLE, AT(nodes), 1, 1e6, "nodes"},
    {"gpus", VALIDATE_COLUMN_WHOLE, AT(gpus), 1, 1e7, "GPUs in all"},
    {"nccl_version", VALIDATE_COLUMN_TEXT, AT(version), 0, 0, NULL},
    {"collective", VALIDATE_COLUMN_COLLECTIVE, AT(kind), 0, 0, NULL},
    {"size_bytes", VALIDATE_COLUMN_NUMBER, AT(size_bytes), 1, 1e15, "bytes"},
    {"time_us", VALIDATE_COLUMN_NUMBER, AT(time_us), 1e-3, 1e12, "us"},
    {"algbw_GBps", VALIDATE_COLUMN_NUMBER,
     offsetof(struct validate_row, algbw_GBps), 0, 1e9, "GB/s"},
    {"busbw_GBps", VALIDATE_COLUMN_NUMBER,
     offsetof(struct validate_row, busbw_GBps), 0, 1e9, "GB/s"},
    {"nchannels", VALIDATE_COLUMN_WHOLE, AT(config.channels), 1, 1024,
     "channels"},
    {"nthreads", VALIDATE_COLUMN_WHOLE, AT(config.threads), 1, 1024, "threads"},
    {"buffsize", VALIDATE_COLUMN_NUMBER, AT(buffer_bytes), 1, 1e12, "bytes"},
    {"algo", VALIDATE_COLUMN_ALGORITHM, AT(config.algorithm), 0, 0, NULL},
    {"proto", VALIDATE_COLUMN_PROTOCOL, AT(config.protocol), 0, 0, NULL},
    {"alone_us", VALIDATE_COLUMN_NUMBER, AT(alone_us), 1e-3, 1e12, "us"},
    {"computation", VALIDATE_COLUMN_TEXT, AT(computation), 0, 0, NULL},
    {"computation_alone_us", VALIDATE_COLUMN_NUMBER, AT(computation_alone_us),
     1e-3, 1e12, "us"},
    {"computation_us", VALIDATE_COLUMN_NUMBER, AT(computation_us), 1e-3, 1e12,
     "us"},
    {"spread_us", VALIDATE_COLUMN_NUMBER, AT(spread_us), 0, 1e12, "us"},
    {"repeats", VALIDATE_COLUMN_WHOLE, AT(repeats), 1, 1e9, "measurements"},
    {"sm_clock_mhz", VALIDATE_COLUMN_NUMBER, AT(sm_clock_mhz), 1, 1e5, "MHz"},
    {"notes", VALIDATE_COLUMN_TEXT, AT(notes), 0, 0, NULL}};

void validate_fault_at(const struct validate_reader *reader,
                       int cell,
                       const char *key,
                       const char *hint,
                       const char *message)
{
    (void)model_errors_add(reader->errors, MODEL_BAD_INPUT,
                           model_table_place(reader->table, reader->row, cell),
                           key, hint, "%s", message);
}

/* A fault of a column's cell, or of the row where there is no such column. */
void validate_fault(const struct validate_reader *reader,
                    const char *key,
                    const char *hint,
                    const char *message)
{
    int cell = 0;

    for (int i = 0; i < VALIDATE_COLUMNS; i++) {
        if (strcmp(validate_columns[i].name, key) == 0 &&
            reader->cell_of[i] > 0) {
            cell = reader->cell_of[i];
        }
    }
    validate_fault_at(reader, cell, key, hint, message);
}

/* -- the head -- */

static const char *nearest_hint(struct model_arena *arena,
                                const char *word,
                                const char *const *names)
{
    const char *nearest = model_nearest_name(word, names);
    const char *list = names[0];

    if (nearest != NULL) {
        return model_arena_format(arena, "did you mean \"%s\"?", nearest);
    }
    for (int i = 1; names[i] != NULL; i++) {
        list = model_arena_format(arena, "%s, %s", list, names[i]);
    }
    return model_arena_format(arena, "write one of %s", list);
}

static void read_head_cell(struct validate_reader *reader, int cell)
{
    const char *name = reader->row->cells[cell].text;
    const char *names[VALIDATE_COLUMNS + 1] = {NULL};

    for (int i = 0; i < VALIDATE_COLUMNS; i++) {
        names[i] = validate_columns[i].name;
        if (strcmp(name, validate_columns[i].name) != 0) {
            continue;
        }
        if (reader->cell_of[i] >= 0) {
            validate_fault_at(reader, cell, name, "leave one of them out",
                              "this column is there twice");
        }
        reader->cell_of[i] = cell;
        return;
    }
    validate_fault_at(
        reader, cell, NULL, nearest_hint(reader->arena, name, names),
        model_arena_format(reader->arena, "no such column: \"%s\"", name));
}

static bool has_column(const struct validate_reader *reader, const char *name)
{
    for (int i = 0; i < VALIDATE_COLUMNS; i++) {
        if (strcmp(validate_columns[i].name, name) == 0) {
            return reader->cell_of[i] >= 0;
        }
    }
    return false;
}

static void need_column(const struct validate_reader *reader, const char *name)
{
    if (!has_column(reader, name)) {
        validate_fault_at(reader, 0, name, "name it in the first line",
                          "this column is missing");
    }
}

/* Which column is where, and whether those are there that each row needs. */
bool validate_read_head(struct validate_reader *reader)
{
    int before = reader->errors->count;

    reader->row = &reader->table->head;
    for (int i = 0; i < VALIDATE_COLUMNS; i++) {
        reader->cell_of[i] = -1;
    }
    /* Not all of a hundred thousand, each with its place and a hint. */
    for (int cell = 0; cell < reader->row->count &&
                       reader->errors->count - before < MODEL_ERRORS_MAX;
         cell++) {
        read_head_cell(reader, cell);
    }
    need_column(reader, "nodes");
    need_column(reader, "gpus");
    if (has_column(reader, "computation")) {
        need_column(reader, "computation_us");
    } else {
        need_column(reader, "collective");
    }
    if (has_column(reader, "collective")) {
        need_column(reader, "size_bytes");
        need_column(reader, "time_us");
    }
    return reader->errors->count == before;
}

/* -- a cell -- */

static bool number_fault(const struct validate_reader *reader,
                         const struct validate_column *column,
                         int cell)
{
    const char *text = reader->row->cells[cell].text;
    size_t digits = strspn(text, "+-.0123456789");
    const char *message;
    const char *hint = model_arena_format(
        reader->arena, "write %s as a bare number, or nothing", column->unit);

    if (text[0] == '-') {
        message = "\"%s\" is negative";
    } else if (digits == 0 || strspn(text, "+-.eE0123456789") == strlen(text)) {
        message = "\"%s\" is not a number";
    } else if (text[digits] == ',') {
        message = "\"%s\" has a comma in it";
    } else {
        message = "\"%s\" has something behind the number";
    }
    (void)model_errors_add(reader->errors, MODEL_BAD_INPUT,
                           model_table_place(reader->table, reader->row, cell),
                           column->name, hint, message, text);
    return false;
}

/* A number in its range; false with a fault. */
static bool read_number(const struct validate_reader *reader,
                        const struct validate_column *column,
                        int cell,
                        double *value)
{
    const char *text = reader->row->cells[cell].text;
    enum model_dimension dimension =
        column->kind == VALIDATE_COLUMN_WHOLE ? MODEL_COUNT : MODEL_RATIO;

    if (strspn(text, "+-.eE0123456789") != strlen(text) ||
        model_units_parse(text, MODEL_RATIO, value, NULL) != MODEL_OK) {
        return number_fault(reader, column, cell);
    }
    if (model_units_parse(text, dimension, value, NULL) != MODEL_OK ||
        *value < column->least || *value > column->most) {
        validate_fault_at(
            reader, cell, column->name,
            model_arena_format(
                reader->arena, "write %s from %.15g to %.15g%s, or nothing",
                column->unit, column->least, column->most,
                dimension == MODEL_COUNT ? ", a whole number" : ""),
            model_arena_format(reader->arena, "cannot be %s", text));
        return false;
    }
    return true;
}

/* Small letters and digits alone, without "_perf": "AllReduce", "all_reduce".
 */
static const char *bare_name(struct model_arena *arena, const char *name)
{
    char *bare = model_arena_text(arena, name);
    char *end = bare;

    for (const char *at = bare; *at != '\0'; at++) {
        if (strcmp(at, "_perf") == 0) {
            break;
        }
        if (*at != '_' && *at != ' ' && *at != '-') {
            *end++ = (char)tolower((unsigned char)*at);
        }
    }
    *end = '\0';
    return bare;
}

/* Which of the names a text is, or MODEL_UNSET. */
static int find_choice(struct model_arena *arena,
                       const char *text,
                       const char *const *names)
{
    const char *bare = bare_name(arena, text);

    for (int i = 0; names[i] != NULL; i++) {
        if (strcmp(bare, bare_name(arena, names[i])) == 0) {
            return i;
        }
    }
    return MODEL_UNSET;
}

static int read_choice(const struct validate_reader *reader,
                       const struct validate_column *column,
                       int cell,
                       const char *const *names)
{
    const char *text = reader->row->cells[cell].text;
    int choice = find_choice(reader->arena, text, names);

    if (choice == MODEL_UNSET) {
        validate_fault_at(
            reader, cell, column->name,
            nearest_hint(reader->arena, text, names),
            model_arena_format(reader->arena, "cannot be \"%s\"", text));
    }
    return choice;
}

int validate_collective_kind(struct model_arena *arena, const char *name)
{
    int choice = find_choice(arena, name, model_collective_names);

    return choice != MODEL_UNSET ? choice + MODEL_OP_ALL_GATHER : MODEL_UNSET;
}

void validate_read_cell(const struct validate_reader *reader,
                        const struct validate_column *column,
                        int cell,
                        struct validate_row *row)
{
    char *target = (char *)row + column->offset;
    const char *text = reader->row->cells[cell].text;
    double value;
    int choice;

    if (text[0] == '\0') {
        return;
    }
    switch (column->kind) {
    case VALIDATE_COLUMN_TEXT:
        *(const char **)(void *)target = text;
        return;
    case VALIDATE_COLUMN_WHOLE:
        if (read_number(reader, column, cell, &value)) {
            *(int *)(void *)target = (int)value;
        }
        return;
    case VALIDATE_COLUMN_NUMBER:
        (void)read_number(reader, column, cell, (double *)(void *)target);
        return;
    case VALIDATE_COLUMN_COLLECTIVE:
        choice = read_choice(reader, column, cell, model_collective_names);
        *(int *)(void *)target =
            choice >= 0 ? choice + MODEL_OP_ALL_GATHER : MODEL_UNSET;
        return;
    case VALIDATE_COLUMN_ALGORITHM:
        *(int *)(void *)target =
            read_choice(reader, column, cell, model_algorithm_names);
        return;
    case VALIDATE_COLUMN_PROTOCOL:
        *(int *)(void *)target =
            read_choice(reader, column, cell, model_protocol_names);
        return;
    }
}
