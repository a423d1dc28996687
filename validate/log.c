/*
 * log.c - a log from its first line to its last: what was said before a table
 * describes its rows.
 */
#include "validate/log_parts.h"

#include "model/workload.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* As a file of records has. */
enum { RANKS_MAX = 10000000 };

struct reader {
    struct model_arena *arena;
    const struct validate_log_options *options;
    struct validate_log *log;
    struct model_errors *errors;
    const char *file; /* its name without folder */
    int record_room, found_room;
    /* What was said so far: */
    struct validate_log_columns columns;
    const char *version;
    int kind;   /* by the program's name, or MODEL_UNSET */
    bool named; /* a program was named; kind MODEL_UNSET: one of no use here */
    const char *program;
    int repeats;
    int ranks; /* the highest rank and one */
    struct validate_log_names hosts, processes, devices;
    bool refused; /* the table at hand: its fault is told */
    int table;    /* first record of the table at hand */
};

static void fault(const struct reader *reader,
                  const struct validate_log_line *line,
                  const char *hint,
                  const char *message)
{
    (void)model_errors_add(reader->errors, MODEL_BAD_INPUT, line->place, NULL,
                           hint, "%s", message);
}

/* -- the end of a table -- */

static int gpus_of(const struct reader *reader)
{
    return reader->options->gpus > 0 ? reader->options->gpus : reader->ranks;
}

static int nodes_of(const struct reader *reader)
{
    return reader->options->nodes > 0 ? reader->options->nodes
           : reader->hosts.count > 0  ? reader->hosts.count
                                      : 1;
}

/* The rows of a table that were read before one told which collective. */
static void name_rows(struct reader *reader, int kind)
{
    struct validate_records *records = &reader->log->records;

    for (int i = reader->table; i < records->count; i++) {
        records->rows[i].kind = kind;
    }
}

/* The rows of the table at hand, if nothing told before what they are of. */
static void name_table(struct reader *reader)
{
    const struct validate_records *records = &reader->log->records;
    int kind = validate_log_kind_by_file(reader->file);

    if (records->rows[reader->table].kind != MODEL_UNSET) {
        return;
    }
    if (kind == MODEL_UNSET) {
        (void)model_errors_add(
            reader->errors, MODEL_BAD_INPUT, records->rows[reader->table].place,
            NULL, "write --collective all_gather", "%s",
            "nothing tells which collective this table is of");
        kind = MODEL_OP_ALL_GATHER;
    }
    name_rows(reader, kind);
}

/* Say what the table at hand was, if it had rows. */
static void end_table(struct reader *reader)
{
    struct validate_log *log = reader->log;
    int rows = log->records.count - reader->table;
    const struct validate_record *last;

    if (rows > 0) {
        name_table(reader);
        last = &log->records.rows[log->records.count - 1];
        log->found = model_arena_grow(reader->arena, (void *)log->found,
                                      log->found_count, &reader->found_room,
                                      sizeof(*log->found));
        log->found[log->found_count++] = model_arena_format(
            reader->arena, "%d row%s of %s, %d GPUs on %d node%s%s%s", rows,
            rows == 1 ? "" : "s", model_op_names[last->kind], last->gpus,
            last->nodes, last->nodes == 1 ? "" : "s",
            last->hardware[0] != '\0' ? ", " : "", last->hardware);
    }
    reader->table = log->records.count;
    reader->refused = false;
}

/* -- what is said before a table -- */

/* A new run: nothing that was said of the last one counts. */
static void begin_run(struct reader *reader,
                      const struct validate_log_line *line)
{
    end_table(reader);
    reader->columns = (struct validate_log_columns){.known = false};
    reader->repeats = 0;
    reader->ranks = 0;
    reader->hosts.count = 0;
    reader->processes.count = 0;
    reader->devices.count = 0;
    for (int i = 1; i + 1 < line->count; i++) {
        const char *before = line->words[i - 1];

        if (strcmp(line->words[i], "iters:") == 0 &&
            strcmp(before, "warmup") != 0 && strcmp(before, "agg") != 0) {
            long repeats = strtol(line->words[i + 1], NULL, 10);

            reader->repeats =
                repeats > 0 && repeats <= 1000000000 ? (int)repeats : 0;
        }
    }
}

/* # Rank  0 Group  0 Pid  9451 on  host device  0 [0x10] NVIDIA A100 */
static void read_rank(struct reader *reader,
                      const struct validate_log_line *line)
{
    const char *host = NULL;
    const char *process = "";
    const char *bracket = strchr(line->text, ']');
    long rank = strtol(line->words[2], NULL, 10);

    for (int i = 3; i + 1 < line->count; i++) {
        if (strcmp(line->words[i], "Pid") == 0) {
            process = line->words[i + 1];
        } else if (strcmp(line->words[i], "on") == 0) {
            host = line->words[i + 1];
        }
    }
    if (host == NULL) {
        return;
    }
    if (rank < 0 || rank >= RANKS_MAX) {
        fault(reader, line, "ranks count from 0", "no such rank");
        return;
    }
    if (reader->ranks > 0 && rank == 0) {
        fault(reader, line, "build nccl-tests with MPI=1",
              "a second rank 0: each process ran by itself");
    }
    reader->ranks = rank >= reader->ranks ? (int)rank + 1 : reader->ranks;
    validate_log_name(reader->arena, &reader->hosts, host);
    validate_log_name(
        reader->arena, &reader->processes,
        model_arena_format(reader->arena, "%s %s", host, process));
    if (bracket != NULL && bracket[strspn(bracket, "] ")] != '\0') {
        char *device =
            model_arena_text(reader->arena, bracket + strspn(bracket, "] "));
        size_t length = strlen(device);

        while (length > 0 && device[length - 1] == ' ') {
            device[--length] = '\0';
        }
        validate_log_name(reader->arena, &reader->devices, device);
    }
}

/* "2.27.8" of nccl-library=22708. */
static const char *version_of_code(struct model_arena *arena, const char *code)
{
    long number = strtol(code, NULL, 10);

    return number >= 20000
               ? model_arena_format(arena, "%ld.%ld.%ld", number / 10000,
                                    number / 100 % 100, number % 100)
               : "";
}

static void read_version(struct reader *reader,
                         const struct validate_log_line *line)
{
    const char *library = strstr(line->text, "nccl-library=");
    const char *version = strstr(line->text, "NCCL version ");

    if (library != NULL) {
        reader->version =
            version_of_code(reader->arena, library + strlen("nccl-library="));
    } else if (version != NULL) {
        version += strlen("NCCL version ");
        reader->version = model_arena_text_n(reader->arena, version,
                                             strspn(version, "0123456789."));
    }
}

/* The program's name anywhere in a line: ./build/all_reduce_perf -b 8 */
static void read_program(struct reader *reader,
                         const struct validate_log_line *line)
{
    const char *end = strstr(line->text, "_perf");
    const char *start = end;
    const char *name;

    if (end == NULL || isalnum((unsigned char)end[strlen("_perf")])) {
        return;
    }
    while (start > line->text &&
           (islower((unsigned char)start[-1]) || start[-1] == '_')) {
        start--;
    }
    name = model_arena_text_n(reader->arena, start, (size_t)(end - start));
    if (validate_log_kind(name) != MODEL_UNSET || validate_log_is_other(name)) {
        reader->program = name;
        reader->named = true;
        reader->kind = validate_log_kind(name);
    }
}

/* -- which collective -- */

/* Returns the kind as far as it is known at this row. */
static int find_kind(const struct reader *reader,
                     const struct validate_log_row *row)
{
    const struct validate_records *records = &reader->log->records;

    if (reader->options->kind != MODEL_UNSET) {
        return reader->options->kind;
    }
    if (reader->named) {
        return reader->kind;
    }
    if (records->count > reader->table &&
        records->rows[reader->table].kind != MODEL_UNSET) {
        return records->rows[reader->table].kind;
    }
    return validate_log_kind_by_rates(row, gpus_of(reader));
}

/* -- rows -- */

/* Have all hosts as many ranks? So it is where a list of them is cut short. */
static bool is_even(const struct reader *reader)
{
    int listed = 0;
    bool even = true;

    for (int i = 0; i < reader->hosts.count; i++) {
        listed += reader->hosts.list[i].times;
        even =
            even && reader->hosts.list[i].times == reader->hosts.list[0].times;
    }
    return even || listed < reader->ranks;
}

/* Whether enough was said of the table at hand. */
static bool check_table(struct reader *reader,
                        const struct validate_log_line *line)
{
    int gpus = gpus_of(reader);
    int nodes = nodes_of(reader);
    int before = reader->errors->count;

    if (reader->refused) {
        return false;
    }
    if (gpus == 0) {
        fault(reader, line, "write --ranks 8, or 2x8 for 8 GPUs of each node",
              "no \"# Rank\" lines before this table");
    } else if (gpus % nodes != 0 ||
               (reader->options->gpus == 0 && !is_even(reader))) {
        fault(reader, line, "write --ranks 2x8 for 8 GPUs of each node",
              model_arena_format(reader->arena,
                                 "%d ranks are not spread evenly over %d hosts",
                                 gpus, nodes));
    }
    if (reader->options->kind == MODEL_UNSET && reader->named &&
        reader->kind == MODEL_UNSET) {
        fault(reader, line, "leave this table out",
              model_arena_format(reader->arena,
                                 "%s_perf measures nothing that is known here",
                                 reader->program));
    }
    reader->refused = reader->errors->count > before;
    return !reader->refused;
}

/* Where rates are exact enough, they tell another collective or ranks. */
static void check_rates(struct reader *reader,
                        const struct validate_log_line *line,
                        const struct validate_log_row *row,
                        int kind)
{
    double factor = model_collective_bus_factor(
        (enum model_collective_kind)(kind - MODEL_OP_ALL_GATHER),
        gpus_of(reader));
    double ratio = row->busbw_GBps / row->algbw_GBps;

    if (row->algbw_GBps > 10.0 && gpus_of(reader) > 1 &&
        fabs(ratio - factor) > 0.02 * factor) {
        fault(reader, line, "look at --collective and --ranks",
              model_arena_format(
                  reader->arena,
                  "busbw over algbw is %.3f here, %.3f for %s on %d ranks",
                  ratio, factor, model_op_names[kind], gpus_of(reader)));
        reader->refused = true;
    }
}

static const char *notes_of(const struct reader *reader,
                            const struct validate_log_row *row)
{
    const char *notes = reader->processes.count > 0
                            ? model_arena_format(reader->arena, "processes=%d",
                                                 reader->processes.count)
                            : "";

    return strcmp(row->type, "float") == 0
               ? notes
               : model_arena_format(reader->arena, "%s%stype=%s", notes,
                                    notes[0] != '\0' ? " " : "", row->type);
}

static void add_record(struct reader *reader,
                       const struct validate_log_line *line,
                       const struct validate_log_row *row)
{
    struct validate_records *records = &reader->log->records;
    const struct validate_log_options *options = reader->options;
    int kind = find_kind(reader, row);

    records->rows =
        model_arena_grow(reader->arena, records->rows, records->count,
                         &reader->record_room, sizeof(*records->rows));
    records->rows[records->count++] = (struct validate_record){
        .set = reader->file,
        .source = options->source != NULL ? options->source : reader->file,
        .hardware = validate_log_names_text(reader->arena, &reader->devices),
        .version = reader->version,
        .notes = notes_of(reader, row),
        .topology = options->topology != NULL ? options->topology : "",
        .computation = "",
        .kind = kind,
        .nodes = nodes_of(reader),
        .gpus = gpus_of(reader),
        .size_bytes = row->size_bytes,
        .time_us = row->time_us,
        .config = model_config_none(),
        .repeats = reader->repeats,
        .place = line->place};
    if (kind != MODEL_UNSET) {
        check_rates(reader, line, row, kind);
        name_rows(reader, kind);
    }
}

static void read_row(struct reader *reader,
                     const struct validate_log_line *line)
{
    struct validate_log_row row;
    const char *message;

    switch (validate_log_row_read(&reader->columns, line, &row, &message)) {
    case VALIDATE_LOG_NO_ROW:
        return;
    case VALIDATE_LOG_BROKEN:
        fault(reader, line, "size count type redop root time algbw busbw ...",
              message);
        return;
    case VALIDATE_LOG_ROW:
        break;
    }
    if (!(row.size_bytes > 0.0) || !check_table(reader, line)) {
        return;
    }
    if (row.wrong) {
        reader->log->wrong++;
        return;
    }
    add_record(reader, line, &row);
}

/* -- the whole log -- */

static bool is_comment(const struct validate_log_line *line, const char *word)
{
    return line->count > 2 && strcmp(line->words[0], "#") == 0 &&
           strcmp(line->words[1], word) == 0;
}

static void read_line(struct reader *reader,
                      const struct validate_log_line *line)
{
    struct validate_log_columns columns = validate_log_head(line);

    if (columns.known) {
        end_table(reader);
        reader->columns = columns;
    } else if (is_comment(line, "nThread")) {
        begin_run(reader, line);
    } else if (is_comment(line, "Rank")) {
        read_rank(reader, line);
    } else if (line->count > 0) {
        read_version(reader, line);
        read_program(reader, line);
        read_row(reader, line);
    }
}

static const char *base_of(const char *file)
{
    const char *slash = strrchr(file, '/');

    return slash != NULL ? slash + 1 : file;
}

enum model_status validate_log_read(struct model_arena *arena,
                                    struct model_text text,
                                    const struct validate_log_options *options,
                                    struct validate_log *log,
                                    struct model_errors *errors)
{
    struct model_text clean = validate_log_clean(arena, text);
    const char *at = clean.text;
    const char *end = clean.text + clean.length;
    struct model_place place = {text.file, 0, 1};
    struct reader reader = {.arena = arena,
                            .options = options,
                            .log = log,
                            .errors = errors,
                            .file = base_of(text.file),
                            .version = "",
                            .kind = MODEL_UNSET};
    int before = errors->count;

    *log = (struct validate_log){.found_count = 0};
    model_errors_excerpt(errors, text.file, clean.text, clean.length);
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        struct validate_log_line line;

        stop = stop != NULL ? stop : end;
        place.line++;
        line = validate_log_split(arena, place, at, stop);
        read_line(&reader, &line);
        at = stop + 1;
    }
    end_table(&reader);
    if (errors->count == before && log->records.count == 0) {
        (void)model_errors_add(errors, MODEL_BAD_INPUT,
                               (struct model_place){text.file, 0, 0}, NULL,
                               "size count type redop root time algbw busbw",
                               "no row of nccl-tests in it");
    }
    return errors->count == before ? MODEL_OK : MODEL_BAD_INPUT;
}
