/*
 * error.c - collects faults and shows them with their place.
 *
 * Whatever a file holds, what is printed is short and harmless: each text is
 * copied letter by letter, letters that would move the cursor or change the
 * writing direction become '?', and long texts are cut. The source line is
 * cut to a window around the fault. This file does not know what is being
 * read.
 */
#include "model/error.h"

#include "model/text.h"

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    ERROR_KEY_BYTES = 200,
    ERROR_MESSAGE_BYTES = 500,
    ERROR_HINT_BYTES = 1500,
    ERROR_WINDOW = 100, /* letters of a source line shown */
    ERROR_NAME_BYTES = 64
};

struct model_error_text {
    const char *file;
    const char *text;
    size_t length;
    struct model_error_text *next;
};

/* Would the letter disturb a terminal: control, or writing direction? */
static bool error_letter_harmful(unsigned letter)
{
    return letter < 0x20 || (letter >= 0x7F && letter <= 0x9F) ||
           (letter >= 0x200B && letter <= 0x200F) ||
           (letter >= 0x2028 && letter <= 0x202E) ||
           (letter >= 0x2066 && letter <= 0x2069) || letter == 0xFEFF;
}

/* Copy one letter, made safe, to *out (4 bytes); returns bytes read. */
static size_t error_letter_copy(const char *at, size_t length, char **out)
{
    unsigned letter = 0;
    size_t bytes = model_utf8_decode(at, length, &letter);
    if (bytes == 0 || error_letter_harmful(letter)) {
        bool blank = bytes != 0 && (letter == '\t' || letter == '\n');
        *(*out)++ = blank ? ' ' : '?';
        return bytes == 0 ? 1 : bytes;
    }
    memcpy(*out, at, bytes);
    *out += bytes;
    return bytes;
}

/* A safe copy of text, cut to about limit bytes; NULL stays NULL. */
static const char *
error_text_clean(struct model_arena *arena, const char *text, size_t limit)
{
    if (text == NULL) {
        return NULL;
    }
    size_t length = strnlen(text, limit + 1);
    char *copy = model_arena_alloc(arena, length + 8);
    char *out = copy;
    size_t at = 0;
    while (at < length && at < limit) {
        at += error_letter_copy(text + at, length - at, &out);
    }
    if (at < length || length > limit) {
        memcpy(out, "...", 4);
    }
    return copy;
}

/* Start of a line (counted from 1), or end when there is none. */
static const char *error_line_find(const char *text, const char *end, int line)
{
    const char *at = text;
    while (line > 1 && at < end) {
        size_t bytes = model_text_break_bytes(at, end);
        line -= bytes > 0;
        at += bytes > 0 ? bytes : 1;
    }
    return line > 1 ? end : at;
}

/* Cut the error's line from the text: a window of letters with the caret. */
static void error_window_cut(struct model_arena *arena,
                             struct model_error *error,
                             const char *at,
                             const char *end)
{
    char window[4 * ERROR_WINDOW + 8] = "";
    char *out = window;
    int column = error->place.column;
    int first = column > ERROR_WINDOW * 3 / 4 ? column - ERROR_WINDOW / 2 : 1;
    int letter = 1;
    error->caret_column = column > 0 ? column - first + 1 : 0;
    if (first > 1) {
        out = stpcpy(out, "...");
        error->caret_column += 3;
    }
    char *start = out;
    while (at < end && model_text_break_bytes(at, end) == 0 &&
           letter < first + ERROR_WINDOW) {
        if (letter == first) {
            start = out;
        }
        char skipped[4];
        char *skip = skipped;
        at += error_letter_copy(at, (size_t)(end - at),
                                letter < first ? &skip : &out);
        letter++;
    }
    if (at < end && model_text_break_bytes(at, end) == 0) {
        out = stpcpy(out, "...");
    }
    if (out > start) {
        *out = '\0';
        error->excerpt = model_arena_text(arena, window);
    }
}

static void error_excerpt_attach(struct model_errors *errors,
                                 struct model_error *error)
{
    struct model_error_text *text = errors->texts;
    if (error->place.file == NULL || error->place.line <= 0 ||
        error->excerpt != NULL) {
        return;
    }
    while (text != NULL && strcmp(text->file, error->place.file) != 0) {
        text = text->next;
    }
    if (text != NULL) {
        const char *end = text->text + text->length;
        error_window_cut(errors->arena, error,
                         error_line_find(text->text, end, error->place.line),
                         end);
    }
}

enum model_status model_errors_add(struct model_errors *errors,
                                   enum model_status status,
                                   struct model_place place,
                                   const char *key,
                                   const char *hint,
                                   const char *format,
                                   ...)
{
    if (errors->count >= MODEL_ERRORS_MAX) {
        errors->count += errors->count < INT_MAX;
        return status;
    }
    struct model_arena *arena = errors->arena;
    va_list values;
    va_start(values, format);
    const char *message = model_arena_format_list(arena, format, values);
    va_end(values);
    struct model_error error = {
        .status = status,
        .place = place,
        .key = error_text_clean(arena, key, ERROR_KEY_BYTES),
        .message = error_text_clean(arena, message, ERROR_MESSAGE_BYTES),
        .hint = error_text_clean(arena, hint, ERROR_HINT_BYTES)};
    if (place.file != NULL) {
        error.place.file = model_arena_text(arena, place.file);
    }
    error_excerpt_attach(errors, &error);
    errors->list[errors->count++] = error;
    return status;
}

enum model_status model_errors_status(const struct model_errors *errors)
{
    return errors->count == 0 ? MODEL_OK : errors->list[0].status;
}

static int error_kept_count(const struct model_errors *errors)
{
    return errors->count < MODEL_ERRORS_MAX ? errors->count : MODEL_ERRORS_MAX;
}

void model_errors_excerpt(struct model_errors *errors,
                          const char *file,
                          const char *text,
                          size_t length)
{
    struct model_error_text *known =
        model_arena_alloc(errors->arena, sizeof *known);
    known->file = model_arena_text(errors->arena, file);
    known->text = text;
    known->length = length;
    known->next = errors->texts;
    errors->texts = known;
    for (int i = 0; i < error_kept_count(errors); i++) {
        error_excerpt_attach(errors, &errors->list[i]);
    }
}

static int error_places_compare(const void *left, const void *right)
{
    const struct model_place *a = &((const struct model_error *)left)->place;
    const struct model_place *b = &((const struct model_error *)right)->place;
    return a->line != b->line ? a->line - b->line : a->column - b->column;
}

void model_errors_move(struct model_errors *errors, struct model_errors *from)
{
    int kept = error_kept_count(from);
    qsort(from->list, (size_t)kept, sizeof from->list[0], error_places_compare);
    for (int i = 0; i < from->count; i++) {
        const struct model_error *e = &from->list[i < kept ? i : 0];
        model_errors_add(errors, e->status, e->place, e->key, e->hint, "%s",
                         e->message);
    }
    from->count = 0;
}

void model_text_print(const char *text, FILE *stream)
{
    size_t length = strlen(text);
    for (size_t at = 0; at < length;) {
        char letter[5] = "";
        char *out = letter;
        at += error_letter_copy(text + at, length - at, &out);
        fputs(letter, stream);
    }
}

static void error_print(const struct model_error *error, FILE *stream)
{
    const struct model_place *place = &error->place;
    if (place->file != NULL) {
        model_text_print(place->file, stream);
        if (place->line > 0) {
            fprintf(stream, ":%d", place->line);
        }
        if (place->line > 0 && place->column > 0) {
            fprintf(stream, ":%d", place->column);
        }
        fputs(": ", stream);
    }
    fputs("error: ", stream);
    if (error->key != NULL && error->key[0] != '\0') {
        fprintf(stream, "%s: ", error->key);
    }
    fputs(error->message, stream);
    if (error->hint != NULL) {
        fprintf(stream, " (%s)", error->hint);
    }
    fputc('\n', stream);
    if (error->excerpt != NULL) {
        fprintf(stream, "    %s\n", error->excerpt);
        if (error->caret_column > 0) {
            fprintf(stream, "    %*s\n", error->caret_column, "^");
        }
    }
}

void model_errors_print(const struct model_errors *errors, FILE *stream)
{
    int kept = error_kept_count(errors);
    for (int i = 0; i < kept; i++) {
        error_print(&errors->list[i], stream);
    }
    if (errors->count > kept) {
        int more = errors->count - kept;
        fprintf(stream, "%d more error%s\n", more, more == 1 ? "" : "s");
    }
}

static int error_least(int a, int b)
{
    return a < b ? a : b;
}

static bool error_letters_equal(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Edit distance with swaps of neighbours (optimal string alignment). */
static int error_words_distance(const char *a, const char *b)
{
    int rows[3][ERROR_NAME_BYTES + 1] = {{0}};
    int width = (int)strlen(b);
    for (int j = 0; j <= width; j++) {
        rows[0][j] = j;
    }
    int i = 1;
    for (; a[i - 1] != '\0'; i++) {
        int *now = rows[i % 3];
        const int *one = rows[(i + 2) % 3];
        const int *two = rows[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= width; j++) {
            bool equal = error_letters_equal(a[i - 1], b[j - 1]);
            int cost = error_least(one[j], now[j - 1]) + 1;
            now[j] = error_least(cost, one[j - 1] + !equal);
            if (i > 1 && j > 1 && error_letters_equal(a[i - 1], b[j - 2]) &&
                error_letters_equal(a[i - 2], b[j - 1])) {
                now[j] = error_least(now[j], two[j - 2] + 1);
            }
        }
    }
    return rows[(i - 1) % 3][width];
}

const char *model_nearest_name(const char *word, const char *const *names)
{
    const char *nearest = NULL;
    int least = INT_MAX;
    size_t length = strnlen(word, ERROR_NAME_BYTES + 1);
    for (; length <= ERROR_NAME_BYTES && *names != NULL; names++) {
        size_t other = strlen(*names);
        if (other > ERROR_NAME_BYTES) {
            continue;
        }
        int distance = error_words_distance(word, *names);
        size_t longer = length > other ? length : other;
        if (distance < least && 3 * (size_t)distance <= longer) {
            nearest = *names;
            least = distance;
        }
    }
    return nearest;
}
