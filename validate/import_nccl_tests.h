/*
 * import_nccl_tests.h - `lagom import nccl-tests`: a row of sim/main.c's table.
 */
#ifndef VALIDATE_IMPORT_NCCL_TESTS_H
#define VALIDATE_IMPORT_NCCL_TESTS_H

#include "sim/cli.h"

/* Records of a log to --output. */
enum model_status validate_import_nccl_tests(struct sim_cli *cli,
                                             const char *path);

#endif
