/*
 * csv.h - text cells of CSV output (RFC 4180).
 */
#ifndef SIM_CSV_H
#define SIM_CSV_H

#include <stdio.h>

/* The text and a comma; quoted when it holds a comma, a quote or a newline. */
void sim_csv_text(FILE *stream, const char *text);

#endif
