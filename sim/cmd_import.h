/*
 * cmd_import.h - the command that takes in what other tools wrote.
 */
#ifndef SIM_CMD_IMPORT_H
#define SIM_CMD_IMPORT_H

#include "sim/cli.h"

enum model_status sim_command_import(struct sim_cli *cli);

#endif
