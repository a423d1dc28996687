/*
 * record_write.c - records as the reader takes them.
 */
#include "validate/record_columns.h"

#include "model/collective.h"
#include "model/workload.h"
#include "sim/csv.h"

#include <string.h>

void validate_records_header(FILE *stream)
{
    for (int i = 0; i < VALIDATE_COLUMNS; i++) {
        (i + 1 < VALIDATE_COLUMNS ? sim_csv_text : sim_csv_last)(
            stream, validate_columns[i].name);
    }
}

/* nccl-tests write some names their own way. */
static const char *collective_name(int kind)
{
    return kind == MODEL_UNSET           ? ""
           : kind == MODEL_OP_ALL_TO_ALL ? "alltoall"
           : kind == MODEL_OP_SEND_RECV  ? "sendrecv"
                                         : model_op_names[kind];
}

static void put_number(FILE *stream, const char *format, double value)
{
    if (value > 0.0) {
        (void)fprintf(stream, format, value);
    }
    (void)fputc(',', stream);
}

static void put_name(FILE *stream, const char *const *names, int value)
{
    sim_csv_text(stream, value >= 0 ? names[value] : "");
}

static void put_rates(const struct validate_record *record, FILE *stream)
{
    double rate = record->time_us > 0.0
                      ? record->size_bytes / record->time_us / 1000.0
                      : 0.0;

    put_number(stream, "%.6g", rate);
    put_number(stream, "%.6g",
               rate > 0.0 ? rate * model_collective_bus_factor(
                                       (enum model_collective_kind)(
                                           record->kind - MODEL_OP_ALL_GATHER),
                                       record->gpus)
                          : 0.0);
}

static void put_quoted(FILE *stream, const char *text, bool quoted)
{
    for (; *text != '\0'; text++) {
        if (quoted && *text == '"') {
            (void)fputc('"', stream);
        }
        (void)fputc(*text, stream);
    }
}

/* NAME=VALUE, where the notes do not say it already. */
static void put_word(const struct validate_record *record,
                     const char *name,
                     const char *value,
                     const char **blank,
                     FILE *stream)
{
    const char *quote = strpbrk(value, " ,;") != NULL ? "'" : "";

    if (value[0] == '\0' || strstr(record->notes, name) != NULL) {
        return;
    }
    (void)fprintf(stream, "%s%s%s%s%s", *blank, name, quote, value, quote);
    *blank = " ";
}

/* What notes hold by name stands before the rest. */
static void put_notes(const struct validate_record *record, FILE *stream)
{
    bool quoted = strpbrk(record->notes, ",\"\r\n") != NULL ||
                  strpbrk(record->topology, ",\"\r\n") != NULL;
    const char *blank = "";
    char chunk[32] = "";

    if (record->config.chunk_bytes > 0.0) {
        (void)snprintf(chunk, sizeof(chunk), "%.0f",
                       record->config.chunk_bytes);
    }
    (void)fputs(quoted ? "\"" : "", stream);
    put_word(record, "topology=", record->topology, &blank, stream);
    put_word(record, "transport=",
             record->config.transport >= 0
                 ? model_transport_names[record->config.transport]
                 : "",
             &blank, stream);
    put_word(record, "chunk_bytes=", chunk, &blank, stream);
    put_quoted(stream, record->notes[0] != '\0' ? blank : "", false);
    put_quoted(stream, record->notes, quoted);
    (void)fputs(quoted ? "\"\n" : "\n", stream);
}

void validate_records_row(const struct validate_record *record, FILE *stream)
{
    sim_csv_text(stream, record->source);
    sim_csv_text(stream, record->hardware);
    (void)fprintf(stream, "%d,%d,", record->nodes, record->gpus);
    sim_csv_text(stream, record->version);
    sim_csv_text(stream, collective_name(record->kind));
    put_number(stream, "%.0f", record->size_bytes);
    put_number(stream, "%.9g", record->time_us);
    put_rates(record, stream);
    put_number(stream, "%.0f", (double)record->config.channels);
    put_number(stream, "%.0f", (double)record->config.threads);
    put_number(stream, "%.0f", record->buffer_bytes);
    put_name(stream, model_algorithm_names, record->config.algorithm);
    put_name(stream, model_protocol_names, record->config.protocol);
    put_number(stream, "%.9g", record->alone_us);
    sim_csv_text(stream, record->computation);
    put_number(stream, "%.9g", record->computation_alone_us);
    put_number(stream, "%.9g", record->computation_us);
    put_number(stream, "%.9g", record->spread_us);
    put_number(stream, "%.0f", (double)record->repeats);
    put_number(stream, "%.9g", record->sm_clock_mhz);
    put_notes(record, stream);
}
