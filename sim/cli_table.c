/*
 * cli_table.c - the options of all commands.
 */
#include "sim/cli_table.h"

#define FLAG   SIM_OPTION_FLAG
#define TEXT   SIM_OPTION_TEXT
#define MAYBE  SIM_OPTION_MAYBE
#define LIST   SIM_OPTION_LIST
#define CHOICE SIM_OPTION_CHOICE
#define NUMBER SIM_OPTION_NUMBER

static const char *const formats[] = {"text", "json", "csv", NULL};
static const char *const forms[] = {"yaml", "line", "xml", NULL};
static const char *const rank_modes[] = {"folded", "all", NULL};

#define AT(member)   offsetof(struct sim_options, member)
#define SIMULATES    SIM_CLI_SIMULATES
#define PREDICTS     (SIMULATES | SIM_CLI_PERF)
#define MEASURED     (SIM_CLI_VALIDATE | SIM_CLI_CALIBRATE)
#define TAKES_SET    (PREDICTS | SIM_CLI_SHOW | MEASURED)
#define ALL_COMMANDS (TAKES_SET | SIM_CLI_HELP | SIM_CLI_IMPORT)

const struct sim_option sim_cli_options[] = {
    {"topology", 't', LIST, PREDICTS, AT(topologies), "TOPOLOGY", NULL,
     "a file, a shipped name, or a line such as \"1x8 gpu:h100 nvswitch\""},
    {"topology", 't', LIST, MEASURED, AT(topologies), "TOPOLOGY", NULL,
     "of all rows (what each names in its notes)"},
    {"topology", 't', LIST, SIM_CLI_IMPORT, AT(topologies), "TOPOLOGY", NULL,
     "nccl-tests: what describes the machine that it ran on"},
    {"min-size", 0, TEXT, MEASURED, AT(min_size), "SIZE", NULL,
     "only collectives of so many bytes and more (1MiB)"},
    {"budget", 0, TEXT, SIM_CLI_VALIDATE, AT(budget_file), "FILE", NULL,
     "fail, with 4, where an accuracy there is exceeded"},
    {"workload", 'w', LIST, SIMULATES, AT(workloads), "WORKLOAD", NULL,
     "a file or a shipped name"},
    {"plan", 'p', TEXT, SIM_CLI_RUN | SIM_CLI_EXPLAIN, AT(plan), "FILE", NULL,
     "settings of collectives, made by tune"},
    {"strategy", 's', TEXT, SIM_CLI_RUN | SIM_CLI_TUNE | SIM_CLI_EXPLAIN,
     AT(strategy), "NAME", NULL, "one of those below (nccl; tune: lagom)"},
    {"strategies", 0, TEXT, SIM_CLI_COMPARE, AT(strategies), "LIST", NULL,
     "some of those below: nccl,lagom,oracle:200 with a budget of its own"},
    {"noise", 0, TEXT, SIM_CLI_TUNE | SIM_CLI_COMPARE, AT(noise), "RATIO", NULL,
     "standard deviation of what a search measures, as 2% (none)"},
    {"repeats", 0, NUMBER, SIM_CLI_TUNE | SIM_CLI_COMPARE, AT(repeats),
     "NUMBER", NULL, "such measurements for each evaluation (1)"},
    {"trials", 0, NUMBER, SIM_CLI_COMPARE, AT(trials), "NUMBER", NULL,
     "searches under noise: how often do they find what they find without"},
    {"seeds", 0, NUMBER, SIM_CLI_COMPARE, AT(seeds), "NUMBER", NULL,
     "runs of strategies that draw at random; rows show the median one (1)"},
    {"uncertainty", 0, NUMBER, SIM_CLI_COMPARE, AT(uncertainty), "NUMBER", NULL,
     "intervals over so many machines drawn by the covariance of --params"},
    {"jobs", 'j', NUMBER, SIM_CLI_COMPARE | SIM_CLI_CALIBRATE, AT(jobs),
     "NUMBER", NULL, "threads that work side by side (one for each core)"},
    {"published", 0, FLAG, SIM_CLI_COMPARE, AT(published), NULL, NULL,
     "only what workloads name as published; all of that without -t and -w"},
    {"budget", 0, NUMBER, SIMULATES, AT(budget), "NUMBER", NULL,
     "iterations that a search may measure (its own)"},
    {"evaluator", 0, TEXT, SIM_CLI_TUNE | SIM_CLI_COMPARE, AT(evaluator),
     "NAME", NULL,
     "what a search measures by: simulator, model or replay (simulator)"},
    {"replay", 0, TEXT, SIM_CLI_TUNE | SIM_CLI_COMPARE, AT(replay), "COMMAND",
     NULL,
     "measures for the evaluator replay; several words: by the shell "
     "(lagom-replay)"},
    {"replay-timeout", 0, NUMBER, SIM_CLI_TUNE | SIM_CLI_COMPARE,
     AT(replay_timeout_s), "SECONDS", NULL,
     "that one measurement may take (600)"},
    {"reading", 0, LIST, SIMULATES, AT(readings), "NAME=VALUE", NULL,
     "how lagom reads its paper; lagom help readings lists them"},
    {"trace", 0, TEXT, SIM_CLI_RUN, AT(trace), "FILE", NULL,
     "write a timeline for Perfetto or chrome://tracing"},
    {"output", 'o', TEXT, SIM_CLI_CALIBRATE, AT(output), "FILE", NULL,
     "where to write the numbers, for --params"},
    {"output", 'o', TEXT, SIM_CLI_TUNE | SIM_CLI_IMPORT, AT(output), "FILE",
     NULL, "where to write the result (standard output)"},
    {"minbytes", 'b', TEXT, SIM_CLI_PERF, AT(min_bytes), "SIZE", NULL,
     "the smallest size, as nccl-tests write it: 8, 64K, 1G (8)"},
    {"maxbytes", 'e', TEXT, SIM_CLI_PERF, AT(max_bytes), "SIZE", NULL,
     "the largest (1G)"},
    {"stepfactor", 'f', TEXT, SIM_CLI_PERF, AT(step_factor), "NUMBER", NULL,
     "from one size to the next (2)"},
    {"stepbytes", 'i', TEXT, SIM_CLI_PERF, AT(step_bytes), "SIZE", NULL,
     "the same as bytes to add"},
    {"ranks", 'g', TEXT, SIM_CLI_PERF, AT(gpus), "N|NODESxN", NULL,
     "GPUs that take part, nodes filled in order (all)"},
    {"ranks", 'g', TEXT, SIM_CLI_IMPORT, AT(gpus), "N|NODESxN", NULL,
     "nccl-tests: GPUs that took part (as its log lists them)"},
    {"collective", 0, TEXT, SIM_CLI_IMPORT, AT(collective), "NAME", NULL,
     "nccl-tests: what was measured (as its log tells)"},
    {"datatype", 'd', TEXT, SIM_CLI_PERF, AT(data_type), "TYPE", NULL,
     "of the elements counted (float)"},
    {"op", 'o', TEXT, SIM_CLI_PERF, AT(reduction), "OP", NULL,
     "the reduction named (sum); all cost the same"},
    {"nccl", 0, TEXT, PREDICTS & ~SIM_CLI_EXPLAIN, AT(nccl), "VERSION", NULL,
     "as NCCL 2.18 or 2.30 chooses (the topology's, or as observed there)"},
    {"nccl", 0, MAYBE, SIM_CLI_EXPLAIN, AT(nccl), "[VERSION]", NULL,
     "explain instead what NCCL chooses, and why"},
    {"env", 0, LIST, PREDICTS, AT(envs), "NCCL_X=VALUE", NULL,
     "a variable that NCCL reads; lagom help nccl lists them"},
    {"env-file", 0, TEXT, PREDICTS, AT(env_file), "FILE", NULL,
     "such variables as lines: nccl.conf, or a job's environment"},
    {"gpu", 0, TEXT, SIM_CLI_IMPORT, AT(gpu), "NAME", NULL,
     "the GPU's file, where the imported one does not tell"},
    {"nodes", 0, NUMBER, SIM_CLI_IMPORT, AT(nodes), "NUMBER", NULL,
     "nodes of the cluster, where a file describes one (1)"},
    {"name", 0, TEXT, SIM_CLI_IMPORT | SIM_CLI_CALIBRATE, AT(name), "NAME",
     NULL, "of the result (as the file)"},
    {"fit", 0, LIST, SIM_CLI_CALIBRATE, AT(fits), "PATHS", NULL,
     "numbers to fit, by key path: gpu.channel.*,gpu.hbm.achieved (all that "
     "have a source but a data sheet, and that rows depend on)"},
    {"hold-out", 0, TEXT, SIM_CLI_CALIBRATE, AT(hold_out), "RATIO", NULL,
     "share of the rows that is not fitted but tests the fit (1/3)"},
    {"hold-out-file", 0, LIST, SIM_CLI_CALIBRATE, AT(held_out), "RECORDS", NULL,
     "records to test the fit by instead"},
    {"date", 0, TEXT, SIM_CLI_CALIBRATE, AT(date), "DAY", NULL,
     "of the fit, as 2026-11-30 (today)"},
    {"form", 0, CHOICE, SIM_CLI_SHOW, AT(form), "FORM", forms,
     "how a topology is written"},
    {"ranks", 0, CHOICE, SIM_CLI_RUN | SIM_CLI_EXPLAIN, AT(ranks), "MODE",
     rank_modes, "simulate one rank for all, or each"},
    {"set", 0, LIST, TAKES_SET, AT(sets), "PATH=VALUE", NULL,
     "override a key: lagom help topology, gpu and workload list them"},
    {"params", 0, TEXT, TAKES_SET, AT(params), "FILE", NULL,
     "fitted parameters, written by calibrate; --set wins over them"},
    {"format", 0, CHOICE, TAKES_SET, AT(format), "FORMAT", formats,
     "how results are printed"},
    {"seed", 0, NUMBER, SIMULATES | SIM_CLI_CALIBRATE, AT(seed), "NUMBER", NULL,
     "of random choices (1)"},
    {"check", 0, FLAG, SIM_CLI_RUN, AT(check), NULL, NULL,
     "assert the simulator's invariants at every instant"},
    {"quiet", 'q', FLAG, ALL_COMMANDS, AT(quiet), NULL, NULL, "no progress"},
    {"verbose", 'v', FLAG, ALL_COMMANDS, AT(verbose), NULL, NULL,
     "more detail"},
    {"help", 'h', FLAG, ALL_COMMANDS, AT(help), NULL, NULL, "this text"},
    {.name = NULL}};
