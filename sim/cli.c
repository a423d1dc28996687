/*
 * cli.c - arguments to struct sim_options.
 *
 * A small parser of our own rather than getopt: the rows know their commands,
 * so an option of another command, a misspelt one and a missing value each get
 * an answer that says what to write.
 */
#include "sim/cli_table.h"

#include "build/version.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of one command, to suggest from. */
enum { OPTIONS_MAX = 64 };

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
    const char *names[OPTIONS_MAX + 1] = {NULL};
    const char *name = argument + (argument[1] == '-' ? 2 : 1);
    int count = 0;

    for (int i = 0; sim_cli_options[i].name != NULL && count < OPTIONS_MAX;
         i++) {
        if ((sim_cli_options[i].commands & (int)command->bit) != 0) {
            names[count++] = sim_cli_options[i].name;
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
                                    const struct sim_option *option,
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
                                    const struct sim_option *option,
                                    uint64_t *target,
                                    const char *value)
{
    char *end;

    errno = 0;
    *target = strtoull(value, &end, 10);
    if (errno != 0 || end == value || *end != '\0' || value[0] == '-' ||
        *target > INT64_MAX) {
        return usage(
            cli, "write a whole number, 0 or more",
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

static enum model_status set_option(struct sim_cli *cli,
                                    const struct sim_option *option,
                                    const char *value)
{
    char *target = (char *)&cli->options + option->offset;

    switch (option->kind) {
    case SIM_OPTION_FLAG:
        *(bool *)(void *)target = true;
        return MODEL_OK;
    case SIM_OPTION_TEXT:
    case SIM_OPTION_MAYBE:
        *(const char **)(void *)target = value;
        return MODEL_OK;
    case SIM_OPTION_LIST:
        return set_list(cli, (struct sim_cli_list *)(void *)target, value);
    case SIM_OPTION_CHOICE:
        return set_choice(cli, option, (int *)(void *)target, value);
    case SIM_OPTION_NUMBER:
        return set_number(cli, option, (uint64_t *)(void *)target, value);
    }
    return MODEL_FAULT;
}

/* The row of a long name of that length, or of a letter (name NULL). */
static const struct sim_option *find_option(const struct sim_command *command,
                                            const char *name,
                                            size_t length,
                                            char letter)
{
    for (const struct sim_option *option = sim_cli_options;
         option->name != NULL; option++) {
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
                                    const struct sim_option *option,
                                    const char *value,
                                    const char *next,
                                    int *taken)
{
    if (option->kind == SIM_OPTION_FLAG) {
        return value == NULL
                   ? set_option(cli, option, NULL)
                   : usage(cli, NULL, "takes no value: --", option->name);
    }
    if (option->kind == SIM_OPTION_MAYBE && value == NULL &&
        (next == NULL || next[0] == '-')) {
        return set_option(cli, option, "");
    }
    if (value == NULL && next != NULL) {
        value = next;
        *taken = 2;
    }
    if (value == NULL ||
        (value[0] == '\0' && option->kind != SIM_OPTION_NUMBER)) {
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
    const struct sim_option *option;

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
