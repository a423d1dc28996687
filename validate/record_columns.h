/*
 * record_columns.h - the table of columns behind record.h; only for record*.c.
 */
#ifndef VALIDATE_RECORD_COLUMNS_H
#define VALIDATE_RECORD_COLUMNS_H

#include "validate/record.h"

#include "model/table.h"

enum validate_column_kind {
    VALIDATE_COLUMN_TEXT,
    VALIDATE_COLUMN_WHOLE,  /* int */
    VALIDATE_COLUMN_NUMBER, /* double */
    VALIDATE_COLUMN_COLLECTIVE,
    VALIDATE_COLUMN_ALGORITHM,
    VALIDATE_COLUMN_PROTOCOL
};

/* A record, and what its row says beyond. */
struct validate_row {
    struct validate_record record;
    double algbw_GBps, busbw_GBps;
};

struct validate_column {
    const char *name;
    enum validate_column_kind kind;
    size_t offset; /* in struct validate_row */
    double least;  /* numbers */
    double most;
    const char *unit; /* of a number, as text says it */
};

enum { VALIDATE_COLUMNS = 23 };

extern const struct validate_column validate_columns[VALIDATE_COLUMNS];

struct validate_reader {
    struct model_arena *arena;
    struct model_errors *errors;
    const struct model_table *table;
    const struct model_row *row;   /* in hand */
    int cell_of[VALIDATE_COLUMNS]; /* where a column is, or -1 */
};

/* A fault of a cell of the row in hand. hint may be NULL. */
void validate_fault_at(const struct validate_reader *reader,
                       int cell,
                       const char *key,
                       const char *hint,
                       const char *message);

/* Of a column's cell, or of the row where there is no such column. */
void validate_fault(const struct validate_reader *reader,
                    const char *key,
                    const char *hint,
                    const char *message);

/* Which column is where, and whether those are there that each row needs. */
bool validate_read_head(struct validate_reader *reader);

/* A cell of the row in hand to its member; nothing where it is empty. */
void validate_read_cell(const struct validate_reader *reader,
                        const struct validate_column *column,
                        int cell,
                        struct validate_row *row);

#endif
