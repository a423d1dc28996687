/*
 * chosen.h - the settings that a command is asked to run with.
 */
#ifndef SEARCH_CHOSEN_H
#define SEARCH_CHOSEN_H

#include "sim/load.h"

/*
 * The plan of --plan, or what --strategy finds, or NCCL's own choice: then
 * *plan keeps what it held. *name is "plan", or the strategy's name. Rows that
 * match no collective are warned of on cli->log.
 */
enum model_status search_choose(struct sim_cli *cli,
                                const struct sim_input *input,
                                struct model_plan *plan,
                                const char **name);

/*
 * What run and explain simulate: loads input from the command line, chooses,
 * and fills *request, which borrows input and plan.
 */
enum model_status search_request(struct sim_cli *cli,
                                 struct sim_input *input,
                                 struct model_plan *plan,
                                 struct sim_request *request,
                                 const char **name);

#endif
