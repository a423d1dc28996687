/*
 * commands.h - the commands of this folder, for sim/main.c.
 */
#ifndef VALIDATE_COMMANDS_H
#define VALIDATE_COMMANDS_H

#include "sim/cli.h"

enum model_status validate_command_validate(struct sim_cli *cli);
enum model_status validate_command_calibrate(struct sim_cli *cli);

#endif
