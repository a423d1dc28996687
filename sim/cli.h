/*
 * cli.h - the command line: one table of options, one table of commands.
 *
 * An option is a row with its type, default and help, and the commands that
 * take it; parsing, `--help`, ranges and suggestions all come from the row. A
 * command is a row with its function.
 */
#ifndef SIM_CLI_H
#define SIM_CLI_H

#include "model/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum sim_format { SIM_TEXT, SIM_JSON, SIM_CSV };

enum sim_rank_mode { SIM_RANKS_FOLDED, SIM_RANKS_ALL };

enum sim_form { SIM_FORM_YAML, SIM_FORM_LINE, SIM_FORM_XML };

enum { SIM_CLI_LIST_MAX = 64 };

struct sim_cli_list {
    const char *items[SIM_CLI_LIST_MAX];
    int count;
};

struct sim_options {
    struct sim_cli_list topologies;
    struct sim_cli_list workloads;
    struct sim_cli_list sets; /* --set path=value */
    struct sim_cli_list operands;
    struct sim_cli_list readings; /* --reading NAME=VALUE */
    const char *params;           /* --params FILE */
    const char *plan;
    const char *strategy;
    const char *strategies;
    const char *evaluator;
    const char *replay;        /* --replay COMMAND */
    uint64_t replay_timeout_s; /* 0: the default */
    const char *noise;         /* relative standard deviation, or NULL */
    const char *trace;
    const char *output;
    const char *nccl;                         /* --nccl VERSION */
    struct sim_cli_list envs;                 /* --env NCCL_X=VALUE */
    const char *env_file;                     /* --env-file FILE */
    const char *min_bytes, *max_bytes;        /* perf: sizes */
    const char *step_factor, *step_bytes;     /* perf: from one to the next */
    const char *gpus, *data_type, *reduction; /* perf */
    const char *gpu, *name;                   /* import */
    const char *collective;                   /* import */
    const char *min_size;                     /* validate, calibrate */
    const char *budget_file;                  /* validate */
    struct sim_cli_list fits;                 /* calibrate: --fit */
    struct sim_cli_list held_out;             /* --hold-out-file */
    const char *hold_out, *date;              /* calibrate */
    int format;                               /* enum sim_format */
    int ranks;                                /* enum sim_rank_mode */
    int form;                                 /* enum sim_form */
    uint64_t seed;
    uint64_t budget;      /* evaluations; 0: the strategy's own */
    uint64_t repeats;     /* measurements per evaluation; 0: 1 */
    uint64_t trials;      /* compare: searches under noise */
    uint64_t seeds;       /* compare: runs of what draws at random; 0: 1 */
    uint64_t jobs;        /* compare: threads; 0: as many as cores */
    uint64_t uncertainty; /* compare: machines drawn; 0: none */
    uint64_t nodes;       /* import; 0: as the format has it */
    bool quiet;
    bool verbose;
    bool check;
    bool published; /* compare: only what is published */
    bool help;
};

/* What a command works with. */
struct sim_cli {
    struct model_arena *arena;
    struct model_errors *errors;
    struct sim_options options;
    FILE *out;                         /* results, nothing else */
    FILE *log;                         /* messages and progress */
    const struct model_params *params; /* of --params, or NULL */
    const double *params_shift; /* of their logarithms, or NULL: as fitted */
    const char *noted; /* topology whose notes were printed last, or NULL */
};

/* Bits for the rows of the option table. */
enum sim_cli_command_bit {
    SIM_CLI_RUN = 1,
    SIM_CLI_TUNE = 2,
    SIM_CLI_COMPARE = 4,
    SIM_CLI_SHOW = 8,
    SIM_CLI_HELP = 16,
    SIM_CLI_EXPLAIN = 32,
    SIM_CLI_PERF = 64,
    SIM_CLI_IMPORT = 128,
    SIM_CLI_VALIDATE = 256,
    SIM_CLI_CALIBRATE = 512
};

struct sim_command {
    const char *name;
    enum model_status (*run)(struct sim_cli *cli);
    const char *operands; /* "", or such as "T|W" */
    const char *summary;  /* one line */
    const char *example;
    enum sim_cli_command_bit bit;
    int operand_max;
};

/* A name that an option takes, as help lists it. */
struct sim_cli_name {
    const char *name; /* NULL past the last */
    const char *summary;
    bool usual; /* taken when the option is not given */
};

/* The strategies, which only the program knows; sim/main.c. */
struct sim_cli_name sim_cli_strategy(int index);

/* A hole in Lagom's printed algorithms, as help lists it. */
struct sim_cli_reading {
    const char *name; /* NULL past the last */
    const char *summary;
    const char *const *values; /* ended by NULL; the first is the default */
    const char *const *meanings;
};

/* The readings, which only the program knows; sim/main.c. */
struct sim_cli_reading sim_cli_reading(int index);

/* The commands of the program, ended by a row without name; sim/main.c. */
extern const struct sim_command sim_commands[];

/*
 * Read arguments (after the program's name) into cli->options and find the
 * command. MODEL_USAGE with a message in errors when they are wrong. *command
 * is NULL when only help or the version is wanted, which is then printed.
 */
enum model_status sim_cli_parse(struct sim_cli *cli,
                                int count,
                                char **arguments,
                                const struct sim_command **command);

/* Print the list of commands, or one command's options. */
void sim_cli_overview(FILE *stream);
void sim_cli_help(const struct sim_command *command, FILE *stream);

/* The command of that name, or NULL. */
const struct sim_command *sim_cli_find(const char *name);

#endif
