/*
 * paragraph.c - breaks text into lines.
 */
#include "search/paragraph.h"

#include <ctype.h>
#include <string.h>

enum { WIDTH = 110 };

/* Letters up to a blank where a line may end. */
static int word_length(const char *text)
{
    size_t length = strcspn(text, " ");

    while (length > 0 && text[length] == ' ' &&
           isdigit((unsigned char)text[length - 1]) != 0) {
        length += 1 + strcspn(text + length + 1, " ");
    }
    return (int)length;
}

void search_paragraph(FILE *out, int indent, const char *text)
{
    int column = indent;

    if (text == NULL) {
        return;
    }
    (void)fprintf(out, "%*s", indent, "");
    while (*text != '\0') {
        int length = word_length(text);

        if (column > indent && column + 1 + length > WIDTH) {
            (void)fprintf(out, "\n%*s", indent + 2, "");
            column = indent + 2;
        } else if (column > indent) {
            (void)fputc(' ', out);
            column++;
        }
        (void)fprintf(out, "%.*s", length, text);
        column += length;
        text += length + (text[length] == ' ' ? 1 : 0);
    }
    (void)fputc('\n', out);
}
