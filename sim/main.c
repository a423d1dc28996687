/*
 * main.c - the program: the table of commands, memory, exit codes.
 *
 * The one file that may see all layers.
 */
#include "search/tuned.h"
#include "sim/cmd_import.h"
#include "sim/cmd_show.h"
#include "sim/load.h"
#include "validate/commands.h"
#include "validate/import_nccl_tests.h"

#include <errno.h>
#include <string.h>

const struct sim_command sim_commands[] = {
    {.name = "run",
     .bit = SIM_CLI_RUN,
     .run = search_command_run,
     .operands = "",
     .summary = "simulate one iteration: what each operation lost to others",
     .example = "lagom run -t lagom-a-1node -w phi-2-fsdp --trace out.json"},
    {.name = "explain",
     .bit = SIM_CLI_EXPLAIN,
     .run = search_command_explain,
     .operands = "",
     .summary = "say why an iteration takes what it takes, and what would help",
     .example = "lagom explain -t lagom-a-1node -w phi-2-fsdp"},
    {.name = "tune",
     .bit = SIM_CLI_TUNE,
     .run = search_command_tune,
     .operands = "",
     .summary = "find settings for a workload's collectives, write a plan",
     .example =
         "lagom tune -t lagom-a-1node -w phi-2-fsdp -s lagom -o my.plan.yaml"},
    {.name = "compare",
     .bit = SIM_CLI_COMPARE,
     .run = search_command_compare,
     .operands = "",
     .summary = "the speedup table: strategies side by side",
     .example = "lagom compare -t lagom-a -t lagom-b -w phi-2-fsdp"},
    {.name = "perf",
     .bit = SIM_CLI_PERF,
     .run = search_command_perf,
     .operands = "all_reduce|all_gather|reduce_scatter|broadcast|reduce|"
                 "alltoall|sendrecv",
     .operand_max = 1,
     .summary = "a collective over sizes, as nccl-tests would print it",
     .example = "lagom perf all_reduce -t dgx-h100-1node -b 8 -e 1G -f 2"},
    {.name = "validate",
     .bit = SIM_CLI_VALIDATE,
     .run = validate_command_validate,
     .operands = "[RECORDS...]",
     .operand_max = SIM_CLI_LIST_MAX,
     .summary = "hold the model against measurements: errors, ranks, the worst",
     .example = "lagom validate validate/records/b300-default.csv"},
    {.name = "show",
     .bit = SIM_CLI_SHOW,
     .run = sim_command_show,
     .operands = "[TOPOLOGY|WORKLOAD [TOPOLOGY]]",
     .operand_max = 2,
     .summary =
         "list shipped names; print a topology or workload as understood",
     .example = "lagom show \"1x8 gpu:h100 nvswitch nic:8x400Gbit/s\""},
    {.name = "import",
     .bit = SIM_CLI_IMPORT,
     .run = sim_command_import,
     .operands = "nccl-topo|nccl-tests FILE",
     .operand_max = 2,
     .summary = "make a topology or records of what another tool wrote",
     .example = "lagom import nccl-topo topo.xml --gpu h100 -o my.yaml"},
    {.name = "calibrate",
     .bit = SIM_CLI_CALIBRATE,
     .run = validate_command_calibrate,
     .operands = "RECORDS...",
     .operand_max = SIM_CLI_LIST_MAX,
     .summary = "fit numbers of a GPU and topology to measurements",
     .example = "lagom calibrate my-runs.csv -t dgx-a100 -o my.yaml"},
    {.name = "help",
     .bit = SIM_CLI_HELP,
     .run = sim_command_help,
     .operands =
         "[COMMAND | topology|gpu|workload|plan|params|nccl|readings [KEY]]",
     .operand_max = 2,
     .summary = "explain a command, or the keys of a file",
     .example = "lagom help topology node.pcie"},
    {.name = NULL}};

const struct sim_import_format sim_import_formats[] = {
    {"nccl-topo", "a topology file of NCCL (NCCL_TOPO_DUMP_FILE)",
     sim_import_nccl_topo},
    {"nccl-tests", "what nccl-tests print, as records to validate",
     validate_import_nccl_tests},
    {.name = NULL}};

struct sim_cli_name sim_cli_strategy(int index)
{
    const struct search_strategy *row = &search_strategies[index];

    return (struct sim_cli_name){row->name, row->summary, row->compared};
}

struct sim_cli_reading sim_cli_reading(int index)
{
    const struct search_reading_row *row = &search_readings[index];

    return (struct sim_cli_reading){row->name, row->summary, row->values,
                                    row->meanings};
}

static const char OUT_OF_MEMORY[] = "lagom: out of memory\n";

/* Results that did not reach the disk must not look like success. */
static enum model_status close_output(enum model_status status)
{
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        (void)fprintf(stderr, "lagom: error: standard output: %s\n",
                      strerror(errno != 0 ? errno : ENOSPC));
        return MODEL_BAD_INPUT;
    }
    return status;
}

static enum model_status run(struct model_arena *arena, int count, char **words)
{
    struct model_errors errors = {.arena = arena};
    struct sim_cli cli = {
        .arena = arena, .errors = &errors, .out = stdout, .log = stderr};
    const struct sim_command *command;
    enum model_status status = sim_cli_parse(&cli, count, words, &command);

    if (command != NULL && sim_load_params(&cli) == MODEL_OK) {
        status = command->run(&cli);
    }
    if (errors.count > 0) {
        model_errors_print(&errors, stderr);
        status = model_errors_status(&errors);
    } else if (status == MODEL_FAULT && ferror(stdout) == 0) {
        /* A command's own arena, which main's guard does not see. */
        (void)fputs(OUT_OF_MEMORY, stderr);
    }
    return close_output(status);
}

int main(int count, char **words)
{
    jmp_buf out_of_memory;
    struct model_arena *arena = model_arena_new();
    volatile enum model_status status = MODEL_FAULT;

    if (arena != NULL && setjmp(out_of_memory) == 0) {
        (void)model_arena_guard(arena, &out_of_memory);
        status = run(arena, count - 1, words + 1);
    } else {
        (void)fputs(OUT_OF_MEMORY, stderr);
    }
    model_arena_free(arena);
    return (int)status;
}
