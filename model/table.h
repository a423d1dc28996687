/*
 * table.h - CSV text to rows of cells that remember their place.
 *
 * table.c is the one file that knows libcsv. CSV is RFC 4180: commas, double
 * quotes around cells that hold commas, quotes (doubled) or line ends; lines
 * may end as they like, empty ones count for nothing, and a byte order mark is
 * dropped. Blanks around a cell without quotes are none of it. Refused with a
 * place: quotes within a cell that does not begin with one, text behind a
 * closing quote, a quote that is never closed, text that is not UTF-8, files
 * over MODEL_TABLE_BYTES_MAX.
 */
#ifndef MODEL_TABLE_H
#define MODEL_TABLE_H

#include "model/text.h"

enum { MODEL_TABLE_BYTES_MAX = 64 << 20 };

struct model_cell {
    const char *text;    /* never NULL */
    size_t offset_bytes; /* where it begins in the file's text */
};

struct model_row {
    const struct model_cell *cells;
    int count;
    int line; /* of its first cell, from 1 */
};

struct model_table {
    struct model_text text;
    struct model_row head;        /* the first row */
    const struct model_row *rows; /* those below it */
    int count;
};

/*
 * Read a file ("-": standard input) with a head, or a text that is in memory
 * and outlives the table. False with the fault in errors; an empty file is one.
 */
bool model_table_read_file(struct model_arena *arena,
                           const char *file,
                           struct model_table *table,
                           struct model_errors *errors);
bool model_table_read(struct model_arena *arena,
                      struct model_text text,
                      struct model_table *table,
                      struct model_errors *errors);

/* Where a cell of a row begins; past the last cell: where that begins. */
struct model_place model_table_place(const struct model_table *table,
                                     const struct model_row *row,
                                     int cell);

#endif
