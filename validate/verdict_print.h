/*
 * verdict_print.h - a verdict in the formats of `lagom validate` (internal to
 * the command).
 */
#ifndef VALIDATE_VERDICT_PRINT_H
#define VALIDATE_VERDICT_PRINT_H

#include "sim/cli.h"
#include "validate/budget.h"
#include "validate/worst.h"

void validate_print_text(struct sim_cli *cli,
                         const struct validate_verdict *verdict,
                         const struct validate_worsts *worsts);

/* spent may be NULL. With --verbose all rows, too. */
enum model_status validate_print_json(struct sim_cli *cli,
                                      const struct validate_verdict *verdict,
                                      const struct validate_worsts *worsts,
                                      const struct validate_spent *spent);

/* One line a pair. */
void validate_print_csv(struct sim_cli *cli,
                        const struct validate_verdict *verdict);

#endif
