/*
 * calibrate_print.h - what `lagom calibrate` prints (internal).
 */
#ifndef VALIDATE_CALIBRATE_PRINT_H
#define VALIDATE_CALIBRATE_PRINT_H

#include "sim/cli.h"
#include "validate/calibrate.h"

/* A direction is told where data know less of it than this times priors. */
#define CALIBRATE_UNKNOWN 0.3

/* Parameters that move this much alike are told. */
#define CALIBRATE_CORRELATED 0.95

/* The correlation of two parameters. */
double validate_calibration_correlation(const struct validate_calibration *of,
                                        int i,
                                        int j);

/* What to write into a file of parameters; params->list is filled in, too. */
void validate_calibration_text(struct sim_cli *cli,
                               const struct validate_calibration *of,
                               const struct model_params *params);
enum model_status
validate_calibration_json(struct sim_cli *cli,
                          const struct validate_calibration *of,
                          const struct model_params *params);
void validate_calibration_csv(struct sim_cli *cli,
                              const struct validate_calibration *of);

#endif
