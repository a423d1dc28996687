/*
 * table.c - CSV text to rows; the one user of libcsv.
 *
 * libcsv tells neither line nor column, so it gets one byte at a time: when it
 * announces a cell, the byte in hand is the one that ended it, and the cell
 * began behind the one that ended the cell before. Memory may run out at any
 * cell and leaves by longjmp; a guard of our own stands before the caller's,
 * lets go of the parser and raises again.
 */
#include "model/table.h"

#include <csv.h>
#include <string.h>

enum { TABLE_BLOCK_BYTES = 1 << 20 };

struct table_reading {
    struct model_arena *arena;
    struct model_text text;
    struct csv_parser parser;
    jmp_buf *outer_guard;
    size_t at;    /* the byte in hand */
    size_t start; /* of the cell that is being read */
    size_t counted;
    int line; /* of the byte at `counted` */
    struct model_cell *cells;
    int cell_count, cell_room;
    struct model_row *rows;
    int row_count, row_room;
};

/* The line of a place; places are asked for in their order. */
static int line_at(struct table_reading *reading, size_t offset)
{
    const char *text = reading->text.text;

    while (reading->counted < offset) {
        size_t bytes = model_text_break_bytes(text + reading->counted,
                                              text + reading->text.length);

        reading->line += bytes > 0 ? 1 : 0;
        reading->counted += bytes > 0 ? bytes : 1;
    }
    return reading->line;
}

static void take_cell(void *bytes, size_t length, void *data)
{
    struct table_reading *reading = data;

    reading->cells =
        model_arena_grow(reading->arena, reading->cells, reading->cell_count,
                         &reading->cell_room, sizeof(*reading->cells));
    reading->cells[reading->cell_count++] = (struct model_cell){
        length > 0 ? model_arena_text_n(reading->arena, bytes, length) : "",
        reading->start};
    reading->start = reading->at + 1;
}

static void take_row(int end, void *data)
{
    struct table_reading *reading = data;

    (void)end;
    reading->rows =
        model_arena_grow(reading->arena, reading->rows, reading->row_count,
                         &reading->row_room, sizeof(*reading->rows));
    reading->rows[reading->row_count++] =
        (struct model_row){reading->cells, reading->cell_count,
                           line_at(reading, reading->cells[0].offset_bytes)};
    reading->cells = NULL;
    reading->cell_count = 0;
    reading->cell_room = 0;
    reading->start = reading->at + 1;
}

/* Feed the text; false where libcsv stumbled, at reading->at. */
static bool feed(struct table_reading *reading)
{
    for (; reading->at < reading->text.length; reading->at++) {
        const char *byte = reading->text.text + reading->at;
        bool begins = reading->start == reading->at;

        if (csv_parse(&reading->parser, byte, 1, take_cell, take_row,
                      reading) != 1) {
            return false;
        }
        /* Blanks before a cell and empty lines announce nothing. */
        if (begins && reading->start == reading->at &&
            strchr(" \t\r\n", *byte) != NULL) {
            reading->start++;
        }
    }
    return csv_fini(&reading->parser, take_cell, take_row, reading) == 0;
}

static bool parse(struct table_reading *reading, struct model_errors *errors)
{
    jmp_buf guard;
    bool fine;

    (void)csv_init(&reading->parser, CSV_STRICT | CSV_STRICT_FINI);
    /* It grows by blocks: small ones would copy a long cell again and again. */
    csv_set_blk_size(&reading->parser, TABLE_BLOCK_BYTES);
    reading->outer_guard = model_arena_guard(reading->arena, &guard);
    if (setjmp(guard) != 0) {
        csv_free(&reading->parser);
        (void)model_arena_guard(reading->arena, reading->outer_guard);
        model_arena_raise(reading->arena);
    }
    fine = feed(reading);
    csv_free(&reading->parser);
    (void)model_arena_guard(reading->arena, reading->outer_guard);
    if (!fine) {
        bool ended = reading->at == reading->text.length;

        (void)model_errors_add(
            errors, MODEL_BAD_INPUT,
            model_place_at(reading->text.file, reading->text.text,
                           ended ? reading->start : reading->at),
            NULL, "quote the whole cell, and double the quotes in it",
            ended ? "a quote that is never closed" : "a quote out of place");
    }
    return fine;
}

bool model_table_read(struct model_arena *arena,
                      struct model_text text,
                      struct model_table *table,
                      struct model_errors *errors)
{
    struct table_reading reading = {.arena = arena, .line = 1};
    bool fine = model_text_check(&text, errors);

    model_errors_excerpt(errors, text.file, text.text, text.length);
    reading.text = text;
    if (!fine || !parse(&reading, errors)) {
        return false;
    }
    if (reading.row_count == 0) {
        (void)model_errors_add(errors, MODEL_BAD_INPUT,
                               (struct model_place){text.file, 0, 0}, NULL,
                               "the first line names the columns", "is empty");
        return false;
    }
    *table = (struct model_table){.text = text,
                                  .head = reading.rows[0],
                                  .rows = reading.rows + 1,
                                  .count = reading.row_count - 1};
    return true;
}

bool model_table_read_file(struct model_arena *arena,
                           const char *file,
                           struct model_table *table,
                           struct model_errors *errors)
{
    struct model_text text;

    return model_text_read(arena, file, MODEL_TABLE_BYTES_MAX, &text, errors) &&
           model_table_read(arena, text, table, errors);
}

struct model_place model_table_place(const struct model_table *table,
                                     const struct model_row *row,
                                     int cell)
{
    size_t start = row->cells[0].offset_bytes;
    size_t offset =
        row->cells[cell < row->count ? cell : row->count - 1].offset_bytes;
    struct model_place place;

    /* Back to the line's start, so that blanks before the row count, too. */
    while (start > 0 && strchr(" \t", table->text.text[start - 1]) != NULL) {
        start--;
    }
    place = model_place_at(table->text.file, table->text.text + start,
                           offset - start);
    place.line += row->line - 1;
    return place;
}
