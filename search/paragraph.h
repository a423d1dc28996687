/*
 * paragraph.h - sentences in lines of a terminal's width (internal to the
 * commands).
 */
#ifndef SEARCH_PARAGRAPH_H
#define SEARCH_PARAGRAPH_H

#include <stdio.h>

/* Print text behind `indent` blanks, lines after the first two further in; a
 * line does not end within "12 ms" or "4 %". NULL prints nothing. */
void search_paragraph(FILE *out, int indent, const char *text);

#endif
