/*
 * record.h - measured collectives and kernels: the rows of validate/records.
 *
 * A file is CSV (RFC 4180) with a header; columns go by name, in any order, and
 * those that are missing are empty:
 *
 *     source, hardware, nodes, gpus, nccl_version, collective, size_bytes,
 *     time_us, algbw_GBps, busbw_GBps, nchannels, nthreads, buffsize, algo,
 *     proto, notes
 *
 * are those of public nccl-tests results (sizes as nccl-tests count them, GB is
 * 10^9 bytes). What ran beside has columns of its own:
 *
 *     alone_us              the collective without company
 *     computation           an op of a workload's file, such as {kind: gemm,
 *                           m: 8192, n: 8192, k: 8192}, without id and stream
 *     computation_alone_us  that without company
 *     computation_us        that in company
 *     spread_us             of time_us or, without a collective, of
 *                           computation_us: between the quartiles
 *     repeats               measurements behind it
 *     sm_clock_mhz          while it was measured
 *
 * With `computation`, time_us is the collective's in company. A row without
 * `collective` is computation alone. `notes` holds NAME=VALUE words, of which
 * topology=, chunk_bytes= and transport= are read. An empty field means that
 * the source does not say.
 */
#ifndef VALIDATE_RECORD_H
#define VALIDATE_RECORD_H

#include "model/config.h"
#include "model/error.h"

#include <stdint.h>

struct validate_record {
    const char *set;    /* the file's name without folder and .csv, or, with
                           several sources in one file, the source */
    const char *source; /* texts are never NULL; "" where not said */
    const char *hardware;
    const char *version; /* of NCCL, "2.18.3" */
    const char *notes;
    const char *topology; /* shipped name, file or one-line form */
    const char *computation;
    int kind;        /* enum model_op_kind, or MODEL_UNSET: none */
    int nodes, gpus; /* gpus: in all */
    double size_bytes;
    double time_us;             /* > 0; 0 where only computation is measured */
    struct model_config config; /* what the row states; the rest unset */
    double buffer_bytes;        /* NCCL_BUFFSIZE, or 0 */
    double alone_us;            /* 0: not said, as are all below */
    double computation_alone_us, computation_us;
    double spread_us;
    int repeats;
    double sm_clock_mhz;
    struct model_place place; /* file and line */
};

struct validate_records {
    struct validate_record *rows;
    int count;
    uint64_t hash; /* FNV-1a of the bytes of all files, in order */
};

/*
 * Append the rows of a file ("-": standard input) to *records (zeroed before
 * the first). Each fault is reported with its line, at most MODEL_ERRORS_MAX;
 * rows live in the arena.
 */
enum model_status validate_records_read(struct model_arena *arena,
                                        const char *file,
                                        struct validate_records *records,
                                        struct model_errors *errors);

/*
 * The kind of op that a collective's name means, however it is spelt
 * ("AllReduce", "all_reduce_perf"), or MODEL_UNSET.
 */
int validate_collective_kind(struct model_arena *arena, const char *name);

/* The header, and a row, as the reader takes them. */
void validate_records_header(FILE *stream);
void validate_records_row(const struct validate_record *record, FILE *stream);

#endif
