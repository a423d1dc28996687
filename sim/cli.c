/*
 * cli.c - arguments to struct sim_options, and help, from the option table.
 *
 * A small parser of our own rather than getopt: the rows know their commands,
 * so an option of another command, a misspelt one and a missing value each get
 * an answer that says what to write.
 */
#include "sim/cli.h"

#include "build/version.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* MAYBE: a text that may be left out, which leaves an empty one. */
enum option_kind { FLAG, TEXT, MAYBE, LIST, CHOICE, NUMBER };

struct option {
    const char *name; /* without "--" */
    char letter;      /* or 0 */
    enum option_kind kind;
    int commands; /* bits */
    size_t offset;
    const char *value; /* name of its value in help */
    const char *const *choices;
    const char *help;
};

static const char *const formats[] = {"text", "json", "csv", NULL};
static const char *const forms[] = {"yaml", "line", "xml", NULL};
static const char *const rank_modes[] = {"folded", "all", NULL};

#define AT(member) offsetof(struct sim_options, member)
#define SIMULATES                                                              \
    (SIM_CLI_RUN | SIM_CLI_TUNE | SIM_CLI_COMPARE | SIM_CLI_EXPLAIN)
#define PREDICTS     (SIMULATES | SIM_CLI_PERF)
#define ALL_COMMANDS (PREDICTS | SIM_CLI_SHOW | SIM_CLI_HELP | SIM_CLI_IMPORT)
#define TAKES_SET    (PREDICTS | SIM_CLI_SHOW)

static const struct option options[] = {
    {"topology", 't', LIST, PREDICTS, AT(topologies), "TOPOLOGY", NULL,
     "a file, a shipped name, or a line such as \"1x8 gpu:h100 nvswitch\""},
    {"workload", 'w', LIST, SIMULATES, AT(workloads), "WORKLOAD", NULL,
     "a file or a shipped name"},
    {"plan", 'p', TEXT, SIM_CLI_RUN | SIM_CLI_EXPLAIN, AT(plan), "FILE", NULL,
     "settings of collectives, made by tune"},
    {"strategy", 's', TEXT, SIM_CLI_RUN | SIM_CLI_TUNE | SIM_CLI_EXPLAIN,
     AT(strategy), "NAME", NULL, "who chooses settings"},
    {"strategies", 0, TEXT, SIM_CLI_COMPARE, AT(strategies), "LIST", NULL,
     "such names with commas between, oracle:200 for a budget of its own"},
    {"noise", 0, TEXT, SIM_CLI_TUNE | SIM_CLI_COMPARE, AT(noise), "RATIO", NULL,
     "standard deviation of what a search measures, as 2% (none)"},
    {"repeats", 0, NUMBER, SIM_CLI_TUNE | SIM_CLI_COMPARE, AT(repeats),
     "NUMBER", NULL, "such measurements for each evaluation (1)"},
    {"trials", 0, NUMBER, SIM_CLI_COMPARE, AT(trials), "NUMBER", NULL,
     "searches under noise: how often do they find what they find without"},
    {"seeds", 0, NUMBER, SIM_CLI_COMPARE, AT(seeds), "NUMBER", NULL,
     "runs of strategies that draw at random; rows show the median one (1)"},
    {"jobs", 'j', NUMBER, SIM_CLI_COMPARE, AT(jobs), "NUMBER", NULL,
     "threads that work side by side (one for each core)"},
    {"published", 0, FLAG, SIM_CLI_COMPARE, AT(published), NULL, NULL,
     "only what workloads name as published; all of that without -t and -w"},
    {"budget", 0, NUMBER, SIMULATES, AT(budget), "NUMBER", NULL,
     "iterations that a search may measure (its own)"},
    {"evaluator", 0, TEXT, SIM_CLI_TUNE | SIM_CLI_COMPARE, AT(evaluator),
     "NAME", NULL, "what a search measures by: simulator or model (simulator)"},
    {"reading", 0, LIST, SIMULATES, AT(readings), "NAME=VALUE", NULL,
     "how lagom reads its paper; lagom help readings lists them"},
    {"trace", 0, TEXT, SIM_CLI_RUN, AT(trace), "FILE", NULL,
     "write a timeline for Perfetto or chrome://tracing"},
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
    {"name", 0, TEXT, SIM_CLI_IMPORT, AT(name), "NAME", NULL,
     "of the result (as the file)"},
    {"form", 0, CHOICE, SIM_CLI_SHOW, AT(form), "FORM", forms,
     "how a topology is written"},
    {"ranks", 0, CHOICE, SIM_CLI_RUN | SIM_CLI_EXPLAIN, AT(ranks), "MODE",
     rank_modes, "simulate one rank for all, or each"},
    {"set", 0, LIST, TAKES_SET, AT(sets), "PATH=VALUE", NULL,
     "override a key of the topology, its gpu or the workload"},
    {"format", 0, CHOICE, TAKES_SET, AT(format), "FORMAT", formats,
     "how results are printed"},
    {"seed", 0, NUMBER, SIMULATES, AT(seed), "NUMBER", NULL,
     "of random choices (1)"},
    {"check", 0, FLAG, SIM_CLI_RUN, AT(check), NULL, NULL,
     "assert the simulator's invariants at every instant"},
    {"quiet", 'q', FLAG, ALL_COMMANDS, AT(quiet), NULL, NULL, "no progress"},
    {"verbose", 'v', FLAG, ALL_COMMANDS, AT(verbose), NULL, NULL,
     "more detail"},
    {"help", 'h', FLAG, ALL_COMMANDS, AT(help), NULL, NULL, "this text"}};

enum { OPTIONS = sizeof(options) / sizeof(options[0]) };

/* -- help -- */

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

static void print_default(const struct option *option, FILE *stream)
{
    if (option->offset == AT(strategies)) {
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
    for (int i = 0; i < OPTIONS; i++) {
        const struct option *option = &options[i];
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
    if (((int)command->bit & SIMULATES) != 0) {
        print_strategies(stream);
    }
    (void)fprintf(stream, "\nExample:\n  %s\n", command->example);
}

/* -- parsing -- */

static enum model_status usage(struct sim_cli *cli,
                               const char *hint,
                               const char *message,
                               const char *word)
{
    struct model_place place = {"lagom", 0, 0};

    return model_errors_add(cli->errors, MODEL_USAGE, place, NULL, hint, "%s%s",
                            message, word);
}

const struct sim_command *sim_cli_find(const char *name)
{
    for (const struct sim_command *command = sim_commands;
         command->name != NULL; command++) {
        if (strcmp(command->name, name) == 0) {
            return command;
        }
    }
    return NULL;
}

static const char *did_you_mean(struct sim_cli *cli,
                                const char *word,
                                const char *const *names,
                                const char *prefix,
                                const char *otherwise)
{
    const char *nearest = model_nearest_name(word, names);

    return nearest != NULL
               ? model_arena_format(cli->arena, "did you mean \"%s%s\"?",
                                    prefix, nearest)
               : otherwise;
}

static enum model_status unknown_command(struct sim_cli *cli, const char *name)
{
    const char *names[32] = {NULL};
    int count = 0;

    for (const struct sim_command *command = sim_commands;
         command->name != NULL && count < 31; command++) {
        names[count++] = command->name;
    }
    return usage(cli,
                 did_you_mean(cli, name, names, "", "lagom --help lists them"),
                 "no such command: ", name);
}

static enum model_status unknown_option(struct sim_cli *cli,
                                        const struct sim_command *command,
                                        const char *argument)
{
    const char *names[OPTIONS + 1] = {NULL};
    const char *name = argument + (argument[1] == '-' ? 2 : 1);
    int count = 0;

    for (int i = 0; i < OPTIONS; i++) {
        if ((options[i].commands & (int)command->bit) != 0) {
            names[count++] = options[i].name;
        }
    }
    return usage(cli,
                 did_you_mean(cli, name, names, "--",
                              model_arena_format(cli->arena,
                                                 "lagom %s --help lists them",
                                                 command->name)),
                 "no such option: ", argument);
}

/* "text, json or csv" */
static const char *listed(struct sim_cli *cli, const char *const *words)
{
    const char *text = words[0];

    for (int i = 1; words[i] != NULL; i++) {
        text =
            model_arena_format(cli->arena, "%s%s%s", text,
                               words[i + 1] != NULL ? ", " : " or ", words[i]);
    }
    return text;
}

static enum model_status set_choice(struct sim_cli *cli,
                                    const struct option *option,
                                    int *target,
                                    const char *value)
{
    for (int i = 0; option->choices[i] != NULL; i++) {
        if (strcmp(option->choices[i], value) == 0) {
            *target = i;
            return MODEL_OK;
        }
    }
    return usage(
        cli,
        did_you_mean(cli, value, option->choices, "",
                     model_arena_format(cli->arena, "write %s",
                                        listed(cli, option->choices))),
        model_arena_format(cli->arena, "--%s cannot be ", option->name), value);
}

static enum model_status set_number(struct sim_cli *cli,
                                    const struct option *option,
                                    uint64_t *target,
                                    const char *value)
{
    char *end;

    errno = 0;
    *target = strtoull(value, &end, 10);
    if (errno != 0 || end == value || *end != '\0' || value[0] == '-' ||
        *target > INT64_MAX) {
        return usage(
            cli, "write a whole number from 0 to 9223372036854775807",
            model_arena_format(cli->arena, "--%s cannot be ", option->name),
            value);
    }
    return MODEL_OK;
}

static enum model_status
set_list(struct sim_cli *cli, struct sim_cli_list *list, const char *value)
{
    if (list->count == SIM_CLI_LIST_MAX) {
        return usage(cli, NULL, "too many of them, from here on: ", value);
    }
    list->items[list->count++] = value;
    return MODEL_OK;
}

static enum model_status
set_option(struct sim_cli *cli, const struct option *option, const char *value)
{
    char *target = (char *)&cli->options + option->offset;

    switch (option->kind) {
    case FLAG:
        *(bool *)(void *)target = true;
        return MODEL_OK;
    case TEXT:
    case MAYBE:
        *(const char **)(void *)target = value;
        return MODEL_OK;
    case LIST:
        return set_list(cli, (struct sim_cli_list *)(void *)target, value);
    case CHOICE:
        return set_choice(cli, option, (int *)(void *)target, value);
    case NUMBER:
        return set_number(cli, option, (uint64_t *)(void *)target, value);
    }
    return MODEL_FAULT;
}

/* The row of a long name of that length, or of a letter (name NULL). */
static const struct option *find_option(const struct sim_command *command,
                                        const char *name,
                                        size_t length,
                                        char letter)
{
    for (int i = 0; i < OPTIONS; i++) {
        const struct option *option = &options[i];
        bool found = name != NULL ? strlen(option->name) == length &&
                                        strncmp(option->name, name, length) == 0
                                  : option->letter == letter;

        if (found && (option->commands & (int)command->bit) != 0) {
            return option;
        }
    }
    return NULL;
}

static enum model_status add_operand(struct sim_cli *cli,
                                     const struct sim_command *command,
                                     const char *argument)
{
    if (cli->options.operands.count >= command->operand_max) {
        return usage(
            cli,
            model_arena_format(cli->arena, "lagom %s --help", command->name),
            "what is this? ", argument);
    }
    return set_list(cli, &cli->options.operands, argument);
}

/* An option with its value: attached, or the next argument. */
static enum model_status take_value(struct sim_cli *cli,
                                    const struct option *option,
                                    const char *value,
                                    const char *next,
                                    int *taken)
{
    if (option->kind == FLAG) {
        return value == NULL
                   ? set_option(cli, option, NULL)
                   : usage(cli, NULL, "takes no value: --", option->name);
    }
    if (option->kind == MAYBE && value == NULL &&
        (next == NULL || next[0] == '-')) {
        return set_option(cli, option, "");
    }
    if (value == NULL && next != NULL) {
        value = next;
        *taken = 2;
    }
    if (value == NULL || (value[0] == '\0' && option->kind != NUMBER)) {
        return usage(cli,
                     model_arena_format(cli->arena, "write --%s %s",
                                        option->name, option->value),
                     "needs a value: --", option->name);
    }
    return set_option(cli, option, value);
}

/* One argument and, for "--name value", the next: *taken says how many. */
static enum model_status parse_one(struct sim_cli *cli,
                                   const struct sim_command *command,
                                   int count,
                                   char **arguments,
                                   int *taken)
{
    const char *argument = arguments[0];
    const char *next = count > 1 ? arguments[1] : NULL;
    const struct option *option;

    *taken = 1;
    if (argument[0] != '-' || argument[1] == '\0') {
        return add_operand(cli, command, argument);
    }
    if (argument[1] == '-') {
        size_t length = strcspn(argument + 2, "=");
        const char *end = argument + 2 + length;

        option = find_option(command, argument + 2, length, '\0');
        return option == NULL
                   ? unknown_option(cli, command, argument)
                   : take_value(cli, option, *end == '=' ? end + 1 : NULL, next,
                                taken);
    }
    option = find_option(command, NULL, 0, argument[1]);
    return option == NULL
               ? unknown_option(cli, command, argument)
               : take_value(cli, option,
                            argument[2] != '\0' ? argument + 2 : NULL, next,
                            taken);
}

enum model_status sim_cli_parse(struct sim_cli *cli,
                                int count,
                                char **arguments,
                                const struct sim_command **command)
{
    const struct sim_command *found;

    *command = NULL;
    cli->options.seed = 1;
    if (count == 0) {
        sim_cli_overview(cli->log);
        return MODEL_USAGE;
    }
    if (strcmp(arguments[0], "--help") == 0 ||
        strcmp(arguments[0], "-h") == 0) {
        sim_cli_overview(cli->out);
        return MODEL_OK;
    }
    if (strcmp(arguments[0], "--version") == 0) {
        (void)fprintf(cli->out, "lagom %s\n", LAGOM_VERSION);
        return MODEL_OK;
    }
    found = sim_cli_find(arguments[0]);
    if (found == NULL) {
        return unknown_command(cli, arguments[0]);
    }
    for (int i = 1; i < count;) {
        int taken;
        enum model_status status =
            parse_one(cli, found, count - i, arguments + i, &taken);

        if (status != MODEL_OK) {
            return status;
        }
        i += taken;
    }
    if (cli->options.help) {
        sim_cli_help(found, cli->out);
        return MODEL_OK;
    }
    *command = found;
    return MODEL_OK;
}
