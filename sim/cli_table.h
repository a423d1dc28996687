/*
 * cli_table.h - the table of options, for those that parse and print it
 * (internal to the command line).
 */
#ifndef SIM_CLI_TABLE_H
#define SIM_CLI_TABLE_H

#include "sim/cli.h"

#include <stddef.h>

enum sim_option_kind {
    SIM_OPTION_FLAG,
    SIM_OPTION_TEXT,
    SIM_OPTION_MAYBE, /* a text; empty when it is left out */
    SIM_OPTION_LIST,
    SIM_OPTION_CHOICE,
    SIM_OPTION_NUMBER
};

/* Commands that simulate iterations, and so take strategies. */
#define SIM_CLI_SIMULATES                                                      \
    (SIM_CLI_RUN | SIM_CLI_TUNE | SIM_CLI_COMPARE | SIM_CLI_EXPLAIN)

struct sim_option {
    const char *name; /* without "--"; NULL past the last */
    char letter;      /* or 0 */
    enum sim_option_kind kind;
    int commands;      /* bits of enum sim_cli_command_bit */
    size_t offset;     /* in struct sim_options */
    const char *value; /* name of its value in help */
    const char *const *choices;
    const char *help;
};

extern const struct sim_option sim_cli_options[];

#endif
