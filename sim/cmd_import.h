/*
 * cmd_import.h - the command that takes in what other tools wrote.
 */
#ifndef SIM_CMD_IMPORT_H
#define SIM_CMD_IMPORT_H

#include "sim/cli.h"

/* A format that can be imported: reads the file, and writes the result. */
struct sim_import_format {
    const char *name; /* NULL past the last */
    const char *what; /* for messages */
    enum model_status (*run)(struct sim_cli *cli, const char *path);
};

/* All of them, which only the program knows; sim/main.c. */
extern const struct sim_import_format sim_import_formats[];

enum model_status sim_command_import(struct sim_cli *cli);

/* A topology file of NCCL as one of ours. */
enum model_status sim_import_nccl_topo(struct sim_cli *cli, const char *path);

#endif
