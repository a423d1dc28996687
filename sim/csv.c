/*
 * csv.c - quoting of CSV cells.
 */
#include "sim/csv.h"

#include <string.h>

void sim_csv_text(FILE *stream, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        (void)fprintf(stream, "%s,", text);
        return;
    }
    (void)fputc('"', stream);
    for (; *text != '\0'; text++) {
        if (*text == '"') {
            (void)fputc('"', stream);
        }
        (void)fputc(*text, stream);
    }
    (void)fputs("\",", stream);
}
