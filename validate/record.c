/*
 * record.c - measured rows of a file: what cells mean together.
 */
#include "validate/record_columns.h"

#include "model/units.h"
#include "model/workload.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* -- notes -- */

/*
 * The value of NAME=VALUE in notes, "" where it is not there: up to a blank, a
 * comma or a semicolon, or quoted.
 */
static const char *
note_value(struct model_arena *arena, const char *notes, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = strstr(notes, name); at != NULL;
         at = strstr(at + 1, name)) {
        const char *value = at + length + 1;
        bool begins = at == notes || strchr(" ,;", at[-1]) != NULL;

        if (!begins || at[length] != '=') {
            continue;
        }
        if (*value == '"' || *value == '\'') {
            const char *end = strchr(value + 1, *value);

            return model_arena_text_n(arena, value + 1,
                                      end != NULL ? (size_t)(end - value - 1)
                                                  : strlen(value + 1));
        }
        return model_arena_text_n(arena, value, strcspn(value, " ,;"));
    }
    return "";
}

static void read_notes(const struct validate_reader *reader,
                       struct validate_record *record)
{
    const char *chunk = note_value(reader->arena, record->notes, "chunk_bytes");
    const char *transport =
        note_value(reader->arena, record->notes, "transport");
    double chunk_bytes;

    record->topology = note_value(reader->arena, record->notes, "topology");
    if (chunk[0] != '\0') {
        if (model_units_parse(chunk, MODEL_COUNT, &chunk_bytes, NULL) !=
                MODEL_OK ||
            !(chunk_bytes > 0.0)) {
            validate_fault(reader, "notes", "write chunk_bytes=131072",
                           model_arena_format(reader->arena,
                                              "chunk_bytes cannot be %s",
                                              chunk));
        } else {
            record->config.chunk_bytes = chunk_bytes;
        }
    }
    if (transport[0] == '\0') {
        return;
    }
    for (int i = 0; i < MODEL_TRANSPORTS; i++) {
        if (strcmp(transport, model_transport_names[i]) == 0) {
            record->config.transport = i;
            return;
        }
    }
    validate_fault(
        reader, "notes", "write transport=p2p or transport=shm",
        model_arena_format(reader->arena, "transport cannot be %s", transport));
}

/* -- a row -- */

static void check_ranks(const struct validate_reader *reader,
                        const struct validate_record *record)
{
    if (record->nodes == 0) {
        validate_fault(reader, "nodes", "write how many machines took part",
                       "is not said");
    }
    if (record->gpus == 0) {
        validate_fault(reader, "gpus", "write how many took part in all",
                       "is not said");
    }
    if (record->nodes > 0 && record->gpus % record->nodes != 0) {
        validate_fault(reader, "gpus", "write the GPUs of all nodes together",
                       model_arena_format(reader->arena,
                                          "%d GPUs do not divide over %d nodes",
                                          record->gpus, record->nodes));
    }
}

/* Sizes and times give algbw; a column in other units shows here. */
static void check_rate(const struct validate_reader *reader,
                       const struct validate_row *row)
{
    const struct validate_record *record = &row->record;
    double rate = record->size_bytes / record->time_us / 1000.0;

    if (row->algbw_GBps > 0.0 && fabs(row->algbw_GBps - rate) > 0.1 * rate &&
        fabs(row->algbw_GBps - rate) > 0.1) {
        validate_fault(
            reader, "algbw_GBps", "write bytes, us and GB/s",
            model_arena_format(reader->arena,
                               "%g, but size_bytes / time_us is %.4g GB/s",
                               row->algbw_GBps, rate));
    }
}

static void check_times(const struct validate_reader *reader,
                        const struct validate_row *row)
{
    const struct validate_record *record = &row->record;
    bool computes = record->computation[0] != '\0';

    if (record->kind == MODEL_UNSET) {
        if (!computes) {
            validate_fault(reader, "collective", "write one of them",
                           "neither a collective nor a computation");
        } else if (!(record->computation_us > 0.0)) {
            validate_fault(reader, "computation_us", "write what it took in us",
                           "is not said, and there is no collective");
        }
        if (record->time_us > 0.0) {
            validate_fault(reader, "time_us", "write it as computation_us",
                           "is of a collective, and there is none");
        }
        return;
    }
    if (record->kind == MODEL_OP_SEND) {
        validate_fault(reader, "collective", "write sendrecv",
                       "a send alone is no row of nccl-tests");
    }
    if (!(record->size_bytes > 0.0)) {
        validate_fault(reader, "size_bytes",
                       "write the size as nccl-tests count it", "is not said");
    }
    if (!(record->time_us > 0.0)) {
        validate_fault(reader, "time_us", "write what it took in us",
                       "is not said");
    } else if (record->size_bytes > 0.0) {
        check_rate(reader, row);
    }
    if (!computes && record->computation_us > 0.0) {
        validate_fault(reader, "computation",
                       "write such as {kind: gemm, m: 8192, ...}",
                       "is not said, but its time is");
    }
}

/* Is the computation a mapping at all? predict.c binds its keys. */
static void check_computation(const struct validate_reader *reader,
                              const struct validate_record *record)
{
    struct model_errors faults = {.arena = reader->arena};
    const struct model_node *node;
    const struct model_node *kind = NULL;

    if (record->computation[0] == '\0') {
        return;
    }
    node =
        model_yaml_read_text(reader->arena, "computation", record->computation,
                             strlen(record->computation), &faults);
    if (faults.count == 0 && node->kind == MODEL_MAPPING) {
        kind = model_node_find(node, "kind");
    }
    if (faults.count > 0) {
        validate_fault(reader, "computation", faults.list[0].hint,
                       faults.list[0].message);
    } else if (kind == NULL || kind->kind != MODEL_SCALAR) {
        validate_fault(reader, "computation",
                       "write such as {kind: gemm, m: 8192, n: 8192, k: 8192}",
                       "is no op of a workload");
    } else if (validate_collective_kind(reader->arena, kind->text) !=
               MODEL_UNSET) {
        validate_fault(reader, "computation", "write it as collective",
                       "is a collective");
    }
}

/* The row in hand; false with faults. */
static bool read_row(struct validate_reader *reader, struct validate_row *row)
{
    int before = reader->errors->count;
    int expected = reader->table->head.count;

    *row = (struct validate_row){.record = {.source = "",
                                            .hardware = "",
                                            .version = "",
                                            .notes = "",
                                            .topology = "",
                                            .computation = "",
                                            .kind = MODEL_UNSET,
                                            .config = model_config_none()}};
    row->record.place = model_table_place(reader->table, reader->row, 0);
    if (reader->row->count != expected) {
        validate_fault_at(
            reader, expected, NULL,
            reader->row->count > expected
                ? "quote cells that hold a comma"
                : "write nothing between commas where there is nothing",
            model_arena_format(reader->arena, "%d cells below %d columns",
                               reader->row->count, expected));
        return false;
    }
    for (int i = 0; i < VALIDATE_COLUMNS; i++) {
        if (reader->cell_of[i] >= 0) {
            validate_read_cell(reader, &validate_columns[i], reader->cell_of[i],
                               row);
        }
    }
    read_notes(reader, &row->record);
    if (reader->errors->count == before) {
        check_ranks(reader, &row->record);
        check_times(reader, row);
        check_computation(reader, &row->record);
    }
    return reader->errors->count == before;
}

/* -- files -- */

static uint64_t hash_of(uint64_t hash, const struct model_text *text)
{
    for (size_t i = 0; i < text->length; i++) {
        hash = (hash ^ (unsigned char)text->text[i]) * 0x100000001b3u;
    }
    return hash;
}

/* "a100" of "records/a100.csv". */
static const char *stem_of(struct model_arena *arena, const char *file)
{
    const char *slash = strrchr(file, '/');
    const char *name = slash != NULL ? slash + 1 : file;
    size_t length = strlen(name);

    if (strcmp(file, "-") == 0) {
        return "standard input";
    }
    if (length > 4 && strcasecmp(name + length - 4, ".csv") == 0) {
        length -= 4;
    }
    return model_arena_text_n(arena, name, length);
}

/* Rows of a file with several sources are sets of their own. */
static void name_sets(struct model_arena *arena,
                      const char *file,
                      struct validate_record *rows,
                      int count)
{
    bool several = false;

    for (int i = 1; i < count; i++) {
        several = several || strcmp(rows[i].source, rows[0].source) != 0;
    }
    for (int i = 0; i < count; i++) {
        rows[i].set = several && rows[i].source[0] != '\0'
                          ? rows[i].source
                          : stem_of(arena, file);
    }
}

static void read_rows(struct validate_reader *reader,
                      struct validate_records *records)
{
    int first = records->count;
    int room = first;

    for (int i = 0; i < reader->table->count; i++) {
        struct validate_row row;

        reader->row = &reader->table->rows[i];
        if (read_row(reader, &row)) {
            records->rows =
                model_arena_grow(reader->arena, records->rows, records->count,
                                 &room, sizeof(*records->rows));
            records->rows[records->count++] = row.record;
        }
    }
    name_sets(reader->arena, reader->table->text.file, records->rows + first,
              records->count - first);
}

enum model_status validate_records_read(struct model_arena *arena,
                                        const char *file,
                                        struct validate_records *records,
                                        struct model_errors *errors)
{
    static const uint64_t basis = 0xcbf29ce484222325u;
    struct model_text text;
    struct model_table table;
    struct validate_reader reader = {
        .arena = arena, .errors = errors, .table = &table};
    int before = errors->count;

    if (!model_text_read(arena, file, MODEL_TABLE_BYTES_MAX, &text, errors)) {
        return MODEL_BAD_INPUT;
    }
    records->hash = hash_of(records->hash != 0 ? records->hash : basis, &text);
    if (!model_table_read(arena, text, &table, errors) ||
        !validate_read_head(&reader)) {
        return MODEL_BAD_INPUT;
    }
    read_rows(&reader, records);
    if (errors->count == before && table.count == 0) {
        (void)model_errors_add(errors, MODEL_BAD_INPUT,
                               (struct model_place){text.file, 0, 0}, NULL,
                               NULL, "has a head and no rows");
    }
    return errors->count == before ? MODEL_OK : MODEL_BAD_INPUT;
}
