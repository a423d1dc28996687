/*
 * nccl_options.h - which NCCL runs, and what it is told: --nccl, --env,
 * --env-file, and what the topology says.
 */
#ifndef SIM_NCCL_OPTIONS_H
#define SIM_NCCL_OPTIONS_H

#include "model/nccl/settings.h"
#include "model/nccl/version.h"
#include "sim/cli.h"

/*
 * The version is --nccl's, else the topology's. Variables come from the
 * topology's nccl.env, then from the file, then from --env; of one variable the
 * last counts. *settings then holds them, and the topology's routes follow
 * them. What a user should know of a variable is printed on cli->log; with
 * --verbose also which ones change nothing. Faults go to cli->errors.
 *
 * A file holds NAME=VALUE lines, `export ` in front and quotes around the value
 * as a shell has them, # comments. Names that are not NCCL's are passed over.
 */
enum model_status sim_nccl_options(struct sim_cli *cli,
                                   struct model_topology *topology,
                                   struct model_nccl_version *version,
                                   struct model_nccl_settings *settings);

/*
 * Does what was observed on the real machine count? Not where --nccl names a
 * version: that is meant to be computed.
 */
bool sim_nccl_as_observed(const struct sim_cli *cli);

#endif
