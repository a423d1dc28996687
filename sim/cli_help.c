/*
 * cli_help.c - the list of commands, and the options of one.
 */
#include "sim/cli_table.h"

void sim_cli_overview(FILE *stream)
{
    (void)fputs("usage: lagom COMMAND [OPTIONS]\n\n"
                "How long does a training iteration take when NCCL hides "
                "behind computation,\nand which settings should each "
                "collective use?\n\n",
                stream);
    for (const struct sim_command *command = sim_commands;
         command->name != NULL; command++) {
        (void)fprintf(stream, "  %-10s%s\n", command->name, command->summary);
    }
    (void)fputs("\nlagom COMMAND --help lists a command's options. "
                "lagom --version prints the version.\n"
                "First try:\n"
                "  lagom run -t lagom-a-1node -w phi-2-fsdp\n",
                stream);
}

/* " (nccl,autoccl,lagom)": those that compare takes by itself. */
static void print_usual(FILE *stream)
{
    struct sim_cli_name row;
    int printed = 0;

    for (int i = 0; (row = sim_cli_strategy(i)).name != NULL; i++) {
        if (row.usual) {
            (void)fprintf(stream, "%s%s", printed++ > 0 ? "," : " (", row.name);
        }
    }
    (void)fputs(")", stream);
}

static void print_default(const struct sim_option *option, FILE *stream)
{
    if (option->offset == offsetof(struct sim_options, strategies)) {
        print_usual(stream);
    }
    if (option->choices == NULL) {
        return;
    }
    (void)fputs(" (", stream);
    for (int i = 0; option->choices[i] != NULL; i++) {
        (void)fprintf(stream, "%s%s", i > 0 ? ", " : "", option->choices[i]);
    }
    (void)fputs(")", stream);
}

static void print_strategies(FILE *stream)
{
    struct sim_cli_name row;

    (void)fputs("\nStrategies:\n", stream);
    for (int i = 0; (row = sim_cli_strategy(i)).name != NULL; i++) {
        (void)fprintf(stream, "  %-10s%s\n", row.name, row.summary);
    }
}

void sim_cli_help(const struct sim_command *command, FILE *stream)
{
    (void)fprintf(stream, "usage: lagom %s [OPTIONS]%s%s\n\n%s\n\n",
                  command->name, command->operands[0] != '\0' ? " " : "",
                  command->operands, command->summary);
    for (const struct sim_option *option = sim_cli_options;
         option->name != NULL; option++) {
        char name[64];

        if ((option->commands & (int)command->bit) == 0) {
            continue;
        }
        (void)snprintf(name, sizeof(name), "--%s%s%s", option->name,
                       option->value != NULL ? " " : "",
                       option->value != NULL ? option->value : "");
        if (option->letter != '\0') {
            (void)fprintf(stream, "  -%c, %-22s", option->letter, name);
        } else {
            (void)fprintf(stream, "      %-22s", name);
        }
        (void)fprintf(stream, " %s", option->help);
        print_default(option, stream);
        (void)fputc('\n', stream);
    }
    if (((int)command->bit & SIM_CLI_SIMULATES) != 0) {
        print_strategies(stream);
    }
    (void)fprintf(stream, "\nExample:\n  %s\n", command->example);
}
