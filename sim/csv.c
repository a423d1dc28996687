/*
 * csv.c - quoting of CSV cells.
 */
#include "sim/csv.h"

#include <string.h>

static void put_cell(FILE *stream, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        (void)fputs(text, stream);
        return;
    }
    (void)fputc('"', stream);
    for (; *text != '\0'; text++) {
        if (*text == '"') {
            (void)fputc('"', stream);
        }
        (void)fputc(*text, stream);
    }
    (void)fputc('"', stream);
}

void sim_csv_text(FILE *stream, const char *text)
{
    put_cell(stream, text);
    (void)fputc(',', stream);
}

void sim_csv_last(FILE *stream, const char *text)
{
    put_cell(stream, text);
    (void)fputc('\n', stream);
}
