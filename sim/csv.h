/*
 * csv.h - text cells of CSV output (RFC 4180).
 */
#ifndef SIM_CSV_H
#define SIM_CSV_H

#include <stdio.h>

/* The text, quoted when it holds a comma, a quote or a newline; a comma. */
void sim_csv_text(FILE *stream, const char *text);

/* The same at the end of a row: a newline. */
void sim_csv_last(FILE *stream, const char *text);

#endif
