/*
 * log_parts.h - lines of a log of nccl-tests (internal to log*.c).
 */
#ifndef VALIDATE_LOG_PARTS_H
#define VALIDATE_LOG_PARTS_H

#include "validate/log.h"

enum { VALIDATE_LOG_WORDS = 32 };

/* A line, without what a launcher put before it. */
struct validate_log_line {
    struct model_place place;
    const char *text;
    const char *words[VALIDATE_LOG_WORDS]; /* more are not looked at */
    int count;
};

/* The whole text with its controls and colours gone, lines ended by LF. */
struct model_text validate_log_clean(struct model_arena *arena,
                                     struct model_text text);

/* Split the line from start up to end. */
struct validate_log_line validate_log_split(struct model_arena *arena,
                                            struct model_place place,
                                            const char *start,
                                            const char *end);

/* Where each column of a table is; from its head. */
struct validate_log_columns {
    bool known;
    bool redop, root; /* are there */
    int time;         /* the first; algbw, busbw, #wrong follow */
    int count;
};

/* The columns that a line names, or nothing known. */
struct validate_log_columns
validate_log_head(const struct validate_log_line *line);

/* A row of the table. */
struct validate_log_row {
    double size_bytes, time_us, algbw_GBps, busbw_GBps;
    const char *type;
    bool reduces, rooted; /* a reduction, a root are named */
    bool wrong;
};

enum validate_log_answer {
    VALIDATE_LOG_NO_ROW, /* something else */
    VALIDATE_LOG_ROW,
    VALIDATE_LOG_BROKEN /* a row that lacks something */
};

/* Read a line as a row; *message says what is wrong with a broken one. */
enum validate_log_answer
validate_log_row_read(const struct validate_log_columns *columns,
                      const struct validate_log_line *line,
                      struct validate_log_row *row,
                      const char **message);

/* -- what ranks name -- */

struct validate_log_names {
    struct {
        const char *text;
        int times; /* that it was named */
    } * list;
    int count, room;
};

void validate_log_name(struct model_arena *arena,
                       struct validate_log_names *names,
                       const char *name);

/* "A, B", and of many how many more. */
const char *validate_log_names_text(struct model_arena *arena,
                                    const struct validate_log_names *names);

/* -- which collective: an enum model_op_kind, or MODEL_UNSET -- */

/* Of a program's name without _perf, "all_reduce". */
int validate_log_kind(const char *name);

/* Is it a program of nccl-tests whose tables are no records? */
bool validate_log_is_other(const char *name);

/* By the columns, and busbw over algbw on so many GPUs. */
int validate_log_kind_by_rates(const struct validate_log_row *row, int gpus);

/*
 * By what the file's name has in it; of several names the longest, since
 * "reduce" is in others.
 */
int validate_log_kind_by_file(const char *file);

#endif
