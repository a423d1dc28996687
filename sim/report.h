/*
 * report.h - a simulated iteration as text, JSON or CSV.
 */
#ifndef SIM_REPORT_H
#define SIM_REPORT_H

#include "sim/cli.h"
#include "sim/json.h"
#include "sim/sim.h"

struct sim_report {
    const struct sim *sim;
    const struct sim_request *request;
    const struct sim_result *result;
    const char *strategy;
    double wall_us; /* the program's own time */
};

/* Print to cli->out in the format asked for. */
enum model_status sim_report_print(struct sim_cli *cli,
                                   const struct sim_report *report);

/* The text form. */
void sim_report_text(struct sim_cli *cli, const struct sim_report *report);

/* The parts of a loss as members of a JSON object, us. */
void sim_report_put_lost(struct sim_json *object, const struct sim_lost *lost);

/* The settings of a collective as members of a JSON object. */
void sim_report_put_config(struct sim_json *json,
                           const struct model_config *config);

/* Whose rules decide what is left open: "2.18.3", "2.18.3, as observed: ...";
 * or members of a JSON object. */
const char *sim_report_nccl(struct model_arena *arena,
                            const struct model_nccl *nccl);
void sim_report_put_nccl(struct sim_json *object,
                         const struct model_nccl *nccl);

/*
 * What the command line changed of the inputs (--set, --nccl, --env-file,
 * --env): a line each with the prefix in front, or an array in a JSON object.
 */
bool sim_report_is_changed(const struct sim_cli *cli);
void sim_report_overrides(const struct sim_cli *cli, const char *prefix);
void sim_report_put_overrides(const struct sim_cli *cli, struct sim_json *root);

/* "12 of 40 hardware numbers are guesses" for a topology; returns buffer. */
char *sim_report_guesses(const struct model_topology *topology,
                         char *buffer,
                         size_t buffer_bytes);

/* A line where a workload lists some of its steps only. */
void sim_report_steps(FILE *out, const struct model_workload *workload);

#endif
