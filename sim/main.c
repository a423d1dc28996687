/*
 * main.c - the program: the table of commands, memory, exit codes.
 *
 * The one file that may see all layers.
 */
#include "search/tuned.h"
#include "sim/cmd_show.h"

#include <errno.h>
#include <string.h>

const struct sim_command sim_commands[] = {
    {"run", SIM_CLI_RUN, search_command_run, "", 0,
     "simulate one iteration and say what each operation lost to the others",
     "lagom run -t lagom-a-1node -w phi-2-fsdp --trace out.json"},
    {"tune", SIM_CLI_TUNE, search_command_tune, "", 0,
     "find settings for the collectives of a workload and write a plan",
     "lagom tune -t lagom-a-1node -w phi-2-fsdp -s lagom -o my.plan.yaml"},
    {"compare", SIM_CLI_COMPARE, search_command_compare, "", 0,
     "the speedup table: strategies side by side",
     "lagom compare -t lagom-a -t lagom-b -w phi-2-fsdp"},
    {"show", SIM_CLI_SHOW, sim_command_show, "TOPOLOGY|WORKLOAD [TOPOLOGY]", 2,
     "print a topology or a workload as it was understood",
     "lagom show \"1x8 gpu:h100 nvswitch nic:8x400Gbit/s\""},
    {"help", SIM_CLI_HELP, sim_command_help,
     "[COMMAND | topology|gpu|workload [KEY]]", 2,
     "explain a command, or the keys of a file",
     "lagom help topology node.pcie"},
    {.name = NULL}};

/* Results that did not reach the disk must not look like success. */
static enum model_status close_output(enum model_status status)
{
    if ((fflush(stdout) != 0 || ferror(stdout) != 0) && status == MODEL_OK) {
        (void)fprintf(stderr, "lagom: cannot write the result: %s\n",
                      strerror(errno));
        return MODEL_FAULT;
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

    if (command != NULL) {
        status = command->run(&cli);
    }
    model_errors_print(&errors, stderr);
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
        (void)fputs("lagom: out of memory\n", stderr);
    }
    model_arena_free(arena);
    return (int)status;
}
