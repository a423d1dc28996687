/*
 * log_line.c - one line of a log: prefixes, words, head and row of a table.
 */
#include "validate/log_parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct model_text validate_log_clean(struct model_arena *arena,
                                     struct model_text text)
{
    char *clean = model_arena_alloc(arena, text.length + 1);
    size_t length = 0;

    for (size_t at = 0; at < text.length;) {
        const char *from = text.text + at;
        size_t left = text.length - at;
        unsigned letter = '?';
        size_t bytes = model_utf8_decode(from, left, &letter);

        if (left > 1 && from[0] == '\x1b' && from[1] == '[') {
            /* A colour: up to its letter. */
            at += 2;
            while (at < text.length && !isalpha((unsigned char)text.text[at])) {
                at++;
            }
            at += at < text.length ? 1 : 0;
            continue;
        }
        if (*from == '\r') {
            /* CR LF ends one line. */
            at++;
            at += left > 1 && from[1] == '\n' ? 1 : 0;
            clean[length++] = '\n';
            continue;
        }
        if (bytes <= 1) {
            bool plain = bytes == 1 && (letter >= ' ' || *from == '\n');

            clean[length++] = (char)(plain ? *from : *from == '\t' ? ' ' : '?');
            at++;
            continue;
        }
        memcpy(clean + length, from, bytes);
        length += bytes;
        at += bytes;
    }
    return (struct model_text){text.file, clean, length};
}

/* -- prefixes -- */

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " ");
}

/* Behind "[1,0]<stdout>:", or NULL. */
static const char *behind_mpi(const char *at)
{
    size_t numbers;

    if (*at != '[') {
        return NULL;
    }
    numbers = strspn(at + 1, "0123456789,");
    at += 1 + numbers;
    if (numbers == 0 || strncmp(at, "]<std", 5) != 0) {
        return NULL;
    }
    at = strstr(at, ">:");
    return at != NULL ? at + 2 : NULL;
}

/* Behind "0: " of Slurm, or "node1: ", before what nccl-tests write. */
static const char *behind_label(const char *at)
{
    size_t length = strcspn(at, " :#");
    const char *rest;

    if (length == 0 || at[length] != ':' || at[length + 1] != ' ') {
        return NULL;
    }
    rest = skip_blanks(at + length + 1);
    return *rest == '#' || isdigit((unsigned char)*rest) ||
                   strncmp(rest, "NCCL version", 12) == 0
               ? rest
               : NULL;
}

static const char *without_prefix(const char *text)
{
    const char *at = skip_blanks(text);
    const char *rest = behind_mpi(at);

    at = rest != NULL ? skip_blanks(rest) : at;
    rest = behind_label(at);
    return rest != NULL ? rest : at;
}

struct validate_log_line validate_log_split(struct model_arena *arena,
                                            struct model_place place,
                                            const char *start,
                                            const char *end)
{
    char *text = model_arena_text_n(arena, start, (size_t)(end - start));
    struct validate_log_line line = {.place = place,
                                     .text = without_prefix(text)};
    char *words = model_arena_text(arena, line.text);

    while (line.count < VALIDATE_LOG_WORDS) {
        size_t length;

        words += strspn(words, " ");
        length = strcspn(words, " ");
        if (length == 0) {
            break;
        }
        line.words[line.count++] = words;
        words += length;
        if (*words != '\0') {
            *words++ = '\0';
        }
    }
    return line;
}

/* -- the table -- */

static int find_word(const struct validate_log_line *line, const char *word)
{
    for (int i = 0; i < line->count; i++) {
        if (strcmp(line->words[i], word) == 0) {
            return i;
        }
    }
    return -1;
}

struct validate_log_columns
validate_log_head(const struct validate_log_line *line)
{
    struct validate_log_columns columns = {.known = false};

    if (line->count < 6 || strcmp(line->words[0], "#") != 0 ||
        strcmp(line->words[1], "size") != 0 ||
        strcmp(line->words[2], "count") != 0 || find_word(line, "time") < 0) {
        return columns;
    }
    /* The # stands where rows have nothing. */
    return (struct validate_log_columns){.known = true,
                                         .redop = find_word(line, "redop") > 0,
                                         .root = find_word(line, "root") > 0,
                                         .time = find_word(line, "time") - 1,
                                         .count = line->count - 1};
}

static bool is_whole(const char *word)
{
    return word[0] != '\0' && strspn(word, "0123456789") == strlen(word);
}

/* A number, or false for N/A and anything else. */
static bool read_number(const char *word, double *value)
{
    char *end;

    if (strspn(word, "0123456789.eE+-") != strlen(word)) {
        return false;
    }
    *value = strtod(word, &end);
    return end != word && *end == '\0';
}

/* Bytes, count and a type: so begins a row and nothing else. */
static bool is_row(const struct validate_log_line *line)
{
    return line->count >= 7 && is_whole(line->words[0]) &&
           is_whole(line->words[1]) && isalpha((unsigned char)*line->words[2]);
}

/* Where the first time is. A redop without a name leaves no word. */
static int time_of(const struct validate_log_columns *columns,
                   const struct validate_log_line *line)
{
    if (!columns->known) {
        return line->count >= 11 ? line->count - 8 : -1;
    }
    if (columns->redop && line->count >= columns->count - 1 &&
        !isalpha((unsigned char)*line->words[3])) {
        return columns->time - 1;
    }
    return line->count >= columns->count ? columns->time : -1;
}

enum validate_log_answer
validate_log_row_read(const struct validate_log_columns *columns,
                      const struct validate_log_line *line,
                      struct validate_log_row *row,
                      const char **message)
{
    int time;
    double wrong = 0.0;

    if (!is_row(line)) {
        return VALIDATE_LOG_NO_ROW;
    }
    time = time_of(columns, line);
    if (time < 3 || time + 2 >= line->count) {
        *message = "a row with fewer words than columns";
        return VALIDATE_LOG_BROKEN;
    }
    *row = (struct validate_log_row){.type = line->words[2]};
    (void)read_number(line->words[0], &row->size_bytes);
    if (!read_number(line->words[time], &row->time_us) ||
        !read_number(line->words[time + 1], &row->algbw_GBps) ||
        !read_number(line->words[time + 2], &row->busbw_GBps) ||
        !(row->time_us > 0.0)) {
        *message = "a row without time or rates";
        return VALIDATE_LOG_BROKEN;
    }
    /* What a file of records can hold. */
    if (row->size_bytes > 1e15 || row->time_us < 1e-3 || row->time_us > 1e12) {
        *message = "a size over 10^15 bytes, or a time that cannot be";
        return VALIDATE_LOG_BROKEN;
    }
    for (int i = 3; i < time; i++) {
        row->reduces =
            row->reduces || (isalpha((unsigned char)*line->words[i]) &&
                             strcmp(line->words[i], "none") != 0);
        row->rooted = row->rooted || is_whole(line->words[i]);
    }
    /* `error` of old ones is a small number, never a count. */
    row->wrong = time + 3 < line->count && is_whole(line->words[time + 3]) &&
                 read_number(line->words[time + 3], &wrong) && wrong > 0.0;
    return VALIDATE_LOG_ROW;
}
