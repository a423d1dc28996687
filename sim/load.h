/*
 * load.h - the inputs of a command, read and checked.
 */
#ifndef SIM_LOAD_H
#define SIM_LOAD_H

#include "model/params.h"
#include "sim/cli.h"
#include "sim/sim.h"

struct sim_input {
    struct model_topology topology;
    struct model_workload workload;
    struct model_nccl_version version;
    struct model_nccl nccl; /* of all these */
};

/* The topology and workload of a row of a command, with --set applied. */
enum model_status sim_load(struct sim_cli *cli,
                           const char *topology,
                           const char *workload,
                           struct sim_input *input);

/* Print the notes of a topology as warnings, once for a row of equal ones. */
void sim_load_notes(struct sim_cli *cli, const struct model_topology *topology);

/*
 * Checks that the command was given at least one, and with `one` exactly one,
 * topology and workload.
 */
enum model_status sim_load_check(struct sim_cli *cli, bool one);

/* Overrides, "path=value", with room for one more. */
struct sim_sets {
    const char **items;
    int count;
};

/*
 * The --set values that are for the topology, behind the parameters of
 * --params, which they win over; and those for the workload.
 */
void sim_load_split(const struct sim_cli *cli,
                    struct sim_sets *for_topology,
                    struct sim_sets *for_workload);

/* Read the file of --params, if one is given, into cli->params. */
enum model_status sim_load_params(struct sim_cli *cli);

/* Has the topology all numbers of --params? Standard input is not asked. */
enum model_status sim_load_params_check(struct sim_cli *cli,
                                        const char *topology);

/* The topology with --params and --set applied, and `more`, if not NULL. */
enum model_status sim_load_topology(struct sim_cli *cli,
                                    const char *name,
                                    const char *more,
                                    struct model_topology *topology);

#endif
