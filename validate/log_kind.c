/*
 * log_kind.c - which collective a table of nccl-tests is of.
 */
#include "validate/log_parts.h"

#include "model/workload.h"

#include <math.h>
#include <string.h>

int validate_log_kind(const char *name)
{
    static const struct {
        const char *name;
        int kind;
    } kinds[] = {{"all_reduce", MODEL_OP_ALL_REDUCE},
                 {"all_gather", MODEL_OP_ALL_GATHER},
                 {"reduce_scatter", MODEL_OP_REDUCE_SCATTER},
                 {"broadcast", MODEL_OP_BROADCAST},
                 {"reduce", MODEL_OP_REDUCE},
                 {"alltoall", MODEL_OP_ALL_TO_ALL},
                 {"sendrecv", MODEL_OP_SEND_RECV}};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(name, kinds[i].name) == 0) {
            return kinds[i].kind;
        }
    }
    return MODEL_UNSET;
}

bool validate_log_is_other(const char *name)
{
    return strcmp(name, "gather") == 0 || strcmp(name, "scatter") == 0 ||
           strcmp(name, "hypercube") == 0 || strcmp(name, "alltoallv") == 0;
}

int validate_log_kind_by_rates(const struct validate_log_row *row, int gpus)
{
    double n = (double)gpus;
    double ratio = row->busbw_GBps / row->algbw_GBps;
    bool part = fabs(ratio - (n - 1.0) / n) < 0.02;

    if (row->rooted) {
        return row->reduces ? MODEL_OP_REDUCE : MODEL_OP_BROADCAST;
    }
    /* Not all_gather or alltoall; and rates of few digits tell nothing. */
    if (!row->reduces || !(row->algbw_GBps > 1.0) || n < 2.0) {
        return MODEL_UNSET;
    }
    if (n > 2.0 && fabs(ratio - 2.0 * (n - 1.0) / n) < 0.02) {
        return MODEL_OP_ALL_REDUCE;
    }
    return part ? MODEL_OP_REDUCE_SCATTER : MODEL_UNSET;
}

int validate_log_kind_by_file(const char *file)
{
    static const char *const names[][2] = {{"reduce_scatter", "reduce_scatter"},
                                           {"reducescatter", "reduce_scatter"},
                                           {"all_reduce", "all_reduce"},
                                           {"allreduce", "all_reduce"},
                                           {"all_gather", "all_gather"},
                                           {"allgather", "all_gather"},
                                           {"all_to_all", "alltoall"},
                                           {"alltoall", "alltoall"},
                                           {"broadcast", "broadcast"},
                                           {"bcast", "broadcast"},
                                           {"sendrecv", "sendrecv"},
                                           {"send_recv", "sendrecv"},
                                           {"reduce", "reduce"}};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcasestr(file, names[i][0]) != NULL) {
            return validate_log_kind(names[i][1]);
        }
    }
    return MODEL_UNSET;
}
