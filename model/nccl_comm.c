/*
 * nccl_comm.c - the names of paths, as NCCL's log has them.
 */
#include "model/nccl_comm.h"

#include <stddef.h>

const char *const model_nccl_path_names[] = {"LOC", "NVL", "NVB", "C2C", "PIX",
                                             "PXB", "P2C", "PXN", "PHB", "SYS",
                                             "NET", "DIS", NULL};
