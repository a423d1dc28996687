/*
 * measured.h - what the commands that take records have in common (internal).
 */
#ifndef VALIDATE_MEASURED_H
#define VALIDATE_MEASURED_H

#include "sim/cli.h"

/* Where shipped records are. */
#define VALIDATE_RECORDS_FOLDER "validate/records"

/* --min-size, or 1 MiB; "0" is all. */
enum model_status validate_min_size_read(struct sim_cli *cli, double *bytes);

/* The file of records of that name, shipped or not; NULL with the fault. */
const char *validate_records_path(struct sim_cli *cli, const char *name);

#endif
