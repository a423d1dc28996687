/*
 * cmd_show.h - `lagom show`: a topology or workload as it was understood.
 */
#ifndef SIM_CMD_SHOW_H
#define SIM_CMD_SHOW_H

#include "sim/cli.h"

enum model_status sim_command_show(struct sim_cli *cli);

/* `lagom help KEY`: what a key of a file means. */
enum model_status sim_command_help(struct sim_cli *cli);

#endif
