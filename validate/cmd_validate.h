/*
 * cmd_validate.h - the command that holds the model against measurements.
 */
#ifndef VALIDATE_CMD_VALIDATE_H
#define VALIDATE_CMD_VALIDATE_H

#include "sim/cli.h"

enum model_status validate_command_validate(struct sim_cli *cli);

#endif
