/*
 * text.c - letters, lines, and whole files.
 *
 * A file is read into the arena through a bare descriptor. Memory may run out
 * meanwhile and leave by longjmp, so a guard of our own stands before the
 * caller's while the descriptor is open; faults are reported after it is
 * closed. What the text means is not known here.
 */
#include "model/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT_CHUNK_BYTES = 1 << 16 };

size_t model_utf8_decode(const char *text, size_t length, unsigned *letter)
{
    static const unsigned least[5] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *at = (const unsigned char *)text;
    size_t bytes = 1;
    unsigned value = at[0];
    if (value >= 0xF8) {
        return 0;
    }
    if (value >= 0x80) {
        bytes = value >= 0xF0 ? 4 : value >= 0xE0 ? 3 : 2;
        /* a stray 10xxxxxx becomes 0 and is refused as overlong below */
        value = value < 0xC0 ? 0 : value & (0x7Fu >> bytes);
    }
    if (bytes > length) {
        return 0;
    }
    for (size_t i = 1; i < bytes; i++) {
        if ((at[i] & 0xC0) != 0x80) {
            return 0;
        }
        value = value << 6 | (at[i] & 0x3Fu);
    }
    bool surrogate = value >= 0xD800 && value <= 0xDFFF;
    if (value < least[bytes] || surrogate || value > 0x10FFFF ||
        (at[0] & 0xC0) == 0x80) {
        return 0;
    }
    *letter = value;
    return bytes;
}

size_t model_text_break_bytes(const char *at, const char *end)
{
    size_t left = (size_t)(end - at);
    if (*at == '\n') {
        return 1;
    }
    if (*at == '\r') {
        return left > 1 && at[1] == '\n' ? 2 : 1;
    }
    if (left > 1 && memcmp(at, "\xC2\x85", 2) == 0) {
        return 2;
    }
    if (left > 2 && (memcmp(at, "\xE2\x80\xA8", 3) == 0 ||
                     memcmp(at, "\xE2\x80\xA9", 3) == 0)) {
        return 3;
    }
    return 0;
}

struct model_place
model_place_at(const char *file, const char *text, size_t offset)
{
    struct model_place place = {file, 1, 1};
    const char *end = text + offset;
    const char *at = text;
    while (at < end && place.line < INT_MAX && place.column < INT_MAX) {
        size_t bytes = model_text_break_bytes(at, end);
        if (bytes > 0) {
            place.line++;
            place.column = 1;
        } else {
            unsigned letter = 0;
            bytes = model_utf8_decode(at, (size_t)(end - at), &letter);
            place.column++;
        }
        at += bytes == 0 ? 1 : bytes;
    }
    return place;
}

struct model_place model_text_last_place(const struct model_text *text)
{
    size_t length = text->length;
    while (length > 0 && strchr(" \t\r\n", text->text[length - 1]) != NULL) {
        length--;
    }
    return model_place_at(text->file, text->text, length > 0 ? length - 1 : 0);
}

/* A file being read. */
struct text_reading {
    struct model_arena *arena;
    const char *file;
    size_t bytes_max;
    int descriptor;
    int error; /* errno of what failed, or 0 */
    char *text;
    size_t length;
    jmp_buf *outer_guard;
};

static void text_reading_close(struct text_reading *reading)
{
    if (reading->descriptor > STDIN_FILENO) {
        close(reading->descriptor);
    }
    model_arena_guard(reading->arena, reading->outer_guard);
}

/* One read() that a signal does not end. */
static ssize_t text_file_fill(struct text_reading *reading, size_t room)
{
    ssize_t got = 0;
    do {
        got = read(reading->descriptor, reading->text + reading->length, room);
    } while (got < 0 && errno == EINTR);
    return got;
}

/* A first capacity; the size of a plain file, when known, saves copying. */
static size_t text_file_capacity(const struct text_reading *reading)
{
    struct stat info;
    if (fstat(reading->descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
        return TEXT_CHUNK_BYTES;
    }
    size_t size = (size_t)info.st_size;
    /* one more, so that the end is seen without growing */
    return size < reading->bytes_max ? size + 1 : reading->bytes_max + 1;
}

static void text_file_slurp(struct text_reading *reading)
{
    size_t capacity = text_file_capacity(reading);
    reading->text = model_arena_alloc(reading->arena, capacity);
    for (;;) {
        ssize_t got = text_file_fill(reading, capacity - reading->length);
        if (got <= 0) {
            reading->error = got < 0 ? errno : 0;
            return;
        }
        reading->length += (size_t)got;
        if (reading->length > reading->bytes_max) {
            reading->error = EFBIG;
            return;
        }
        if (reading->length == capacity) {
            char *longer = model_arena_alloc(reading->arena, 2 * capacity);
            memcpy(longer, reading->text, capacity);
            reading->text = longer;
            capacity *= 2;
        }
    }
}

static void text_file_read(struct text_reading *reading)
{
    jmp_buf guard;
    reading->descriptor = STDIN_FILENO;
    if (strcmp(reading->file, "-") != 0) {
        reading->descriptor = open(reading->file, O_RDONLY | O_CLOEXEC);
    }
    if (reading->descriptor < 0) {
        reading->error = errno;
        return;
    }
    reading->outer_guard = model_arena_guard(reading->arena, &guard);
    if (setjmp(guard) != 0) {
        text_reading_close(reading);
        model_arena_raise(reading->arena);
    }
    text_file_slurp(reading);
    text_reading_close(reading);
}

static void text_fault_add(const struct text_reading *reading,
                           struct model_errors *errors)
{
    struct model_place place = {reading->file, 0, 0};
    char text[128];
    const char *message = NULL;
    switch (reading->error) {
    case ENOENT:
        message = "no such file";
        break;
    case EACCES:
        message = "permission denied";
        break;
    case EISDIR:
        message = "a directory, not a file";
        break;
    case EFBIG:
        model_errors_add(errors, MODEL_BAD_INPUT, place, NULL, NULL,
                         "is larger than %zu MiB", reading->bytes_max >> 20);
        return;
    default:
        message = strerror_r(reading->error, text, sizeof text);
    }
    model_errors_add(errors, MODEL_BAD_INPUT, place, NULL, NULL,
                     "cannot be read: %s", message);
}

bool model_text_read(struct model_arena *arena,
                     const char *file,
                     size_t bytes_max,
                     struct model_text *text,
                     struct model_errors *errors)
{
    struct text_reading reading = {.arena = arena,
                                   .file = model_arena_text(arena, file),
                                   .bytes_max = bytes_max};
    text_file_read(&reading);
    if (reading.error != 0) {
        text_fault_add(&reading, errors);
        return false;
    }
    *text = (struct model_text){reading.file, reading.text, reading.length};
    return true;
}

/* What is wrong with a letter, or NULL; the set is YAML's "printable". */
static const char *text_letter_judge(size_t bytes, unsigned letter)
{
    if (bytes == 0) {
        return "this is not UTF-8 text";
    }
    if (letter == 0) {
        return "a NUL byte, this is not text";
    }
    bool printable = (letter >= 0x20 && letter <= 0x7E) || letter == '\t' ||
                     letter == '\n' || letter == '\r' || letter == 0x85 ||
                     (letter >= 0xA0 && letter < 0xFFFE) || letter > 0xFFFF;
    return printable ? NULL : "a control character, this is not text";
}

bool model_text_check(struct model_text *text, struct model_errors *errors)
{
    if (text->length >= 3 && memcmp(text->text, "\xEF\xBB\xBF", 3) == 0) {
        text->text += 3; /* a byte order mark takes no column */
        text->length -= 3;
    }
    for (size_t at = 0; at < text->length;) {
        unsigned letter = 0;
        size_t bytes =
            model_utf8_decode(text->text + at, text->length - at, &letter);
        const char *message = text_letter_judge(bytes, letter);
        if (message != NULL) {
            model_errors_add(errors, MODEL_BAD_INPUT,
                             model_place_at(text->file, text->text, at), NULL,
                             NULL, "%s", message);
            return false;
        }
        at += bytes;
    }
    return true;
}

bool model_text_matches(const char *pattern, const char *text)
{
    const char *star = NULL; /* the last one, and where its text may end */
    const char *rest = NULL;

    while (*text != '\0') {
        if (*pattern == '*') {
            star = pattern++;
            rest = text;
        } else if (*pattern == *text) {
            pattern++;
            text++;
        } else if (star != NULL) {
            pattern = star + 1;
            text = ++rest;
        } else {
            return false;
        }
    }
    while (*pattern == '*') {
        pattern++;
    }
    return *pattern == '\0';
}
