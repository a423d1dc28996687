/*
 * log.h - what nccl-tests print, as records.
 *
 * All layouts since 2.0: with or without redop and root, `error` or `#wrong`,
 * time stamps and prefixes of launchers ("[1,0]<stdout>:", "0: ", "pod-0: ")
 * before lines, NCCL's own log between them, several tables one after another.
 * Out-of-place times count. Which collective a table is of, nccl-tests tell
 * from 2.17 on; otherwise the name of the program in the log (all_reduce_perf),
 * the columns and the ratio of busbw to algbw, and at last the file's name say.
 */
#ifndef VALIDATE_LOG_H
#define VALIDATE_LOG_H

#include "model/text.h"
#include "validate/record.h"

enum { VALIDATE_LOG_BYTES_MAX = 64 << 20 };

/* What the log does not say; 0 and NULL where it does. */
struct validate_log_options {
    const char *source;   /* of the records; NULL: the file's name */
    const char *topology; /* that describes the machine */
    int kind;             /* enum model_op_kind, or MODEL_UNSET */
    int nodes, gpus;      /* gpus: in all */
};

struct validate_log {
    struct validate_records records;
    const char **found; /* a line for each table */
    int found_count;
    int wrong; /* rows left out: results were wrong */
};

/*
 * Read a log that is in memory. Each fault is reported with its line; a log
 * without any row is one. Lives in the arena.
 */
enum model_status validate_log_read(struct model_arena *arena,
                                    struct model_text text,
                                    const struct validate_log_options *options,
                                    struct validate_log *log,
                                    struct model_errors *errors);

#endif
