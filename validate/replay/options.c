/*
 * options.c - the command line of lagom-replay: one table of rows.
 */
#include "validate/replay/options.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum kind { FLAG, TEXT, LIST, NUMBER, MODE };

struct row {
    const char *name;
    char letter;
    enum kind kind;
    size_t offset;
    const char *value; /* its name in help; NULL: the option is not for users */
    const char *help;
    int low, high; /* NUMBER */
};

#define AT(member) offsetof(struct replay_options, member)

static const struct row rows[] = {
    {"topology", 't', TEXT, AT(topology), "T", "the machine, as lagom has it",
     0, 0},
    {"workload", 'w', TEXT, AT(workload), "W",
     "a workload, or with --mode sweep a list of points", 0, 0},
    {"plan", 0, TEXT, AT(plan), "FILE", "settings of collectives", 0, 0},
    {"set", 0, LIST, AT(sets), "PATH=VALUE", "change a key of T or W", 0, 0},
    {"mode", 'm', MODE, AT(mode), "M",
     "alone: each different op by itself (default); overlap: the workload on "
     "its streams; sweep: all points of a list",
     0, 0},
    {"repeats", 'r', NUMBER, AT(repeats), "N",
     "measurements behind a time (20)", 1, 100000},
    {"warmup", 0, NUMBER, AT(warmup), "N", "runs before them (5)", 1, 100000},
    {"output", 'o', TEXT, AT(output), "FILE",
     "where records go; else to standard output", 0, 0},
    {"ops", 0, FLAG, AT(ops), "",
     "overlap: instead of records, when each op ran", 0, 0},
    {"stand-in", 0, FLAG, AT(stand_in), "",
     "use one GPU, with ring steps for collectives", 0, 0},
    {"nearest", 0, FLAG, AT(nearest), "",
     "overlap: where one process cannot have all settings, take those that "
     "move the most bytes",
     0, 0},
    {"gpu", 0, NUMBER, AT(gpu), "N", "the first GPU to use (0)", 0, 1023},
    {"nodes", 0, NUMBER, AT(nodes), "N", "run on so many nodes, once on each",
     1, 1000000},
    {"node", 0, NUMBER, AT(node), "I", "which of them this is, from 0", 0,
     1000000},
    {"id", 0, TEXT, AT(id_file), "FILE",
     "a new file that all nodes see, where ranks find each other", 0, 0},
    {"describe", 0, FLAG, AT(describe), "", "print what the GPU is", 0, 0},
    {"self-test", 0, FLAG, AT(self_test), "", "compare results with the host's",
     0, 0},
    {"quiet", 'q', FLAG, AT(quiet), "", "no notes on standard error", 0, 0},
    {"help", 'h', FLAG, AT(help), "", "print this", 0, 0},
    {"version", 0, FLAG, AT(version), "", "print the version", 0, 0},
    {"rank", 0, NUMBER, AT(rank), NULL, NULL, 0, 10000000},
    {"ranks", 0, NUMBER, AT(ranks), NULL, NULL, 1, 10000000},
    {"environment", 0, NUMBER, AT(environment), NULL, NULL, 0, 1000000}};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static const char *const modes[] = {"alone", "overlap", "sweep", NULL};

enum model_status replay_fault_add(struct model_errors *errors,
                                   enum model_status status,
                                   const char *hint,
                                   const char *message,
                                   const char *word)
{
    return model_errors_add(errors, status,
                            (struct model_place){"lagom-replay", 0, 0}, NULL,
                            hint, "%s%s", message, word);
}

static enum model_status usage(struct model_errors *errors,
                               const char *hint,
                               const char *message,
                               const char *word)
{
    return replay_fault_add(errors, MODEL_USAGE, hint, message, word);
}

static const char *did_you_mean(struct model_errors *errors,
                                const char *word,
                                const char *const *names,
                                const char *prefix,
                                const char *otherwise)
{
    const char *near = model_nearest_name(word, names);

    return near != NULL
               ? model_arena_format(errors->arena, "did you mean \"%s%s\"?",
                                    prefix, near)
               : otherwise;
}

static enum model_status unknown(struct model_errors *errors, const char *word)
{
    const char *names[ROWS + 1] = {NULL};
    int count = 0;

    for (int i = 0; i < ROWS; i++) {
        if (rows[i].value != NULL) {
            names[count++] = rows[i].name;
        }
    }
    return usage(errors,
                 did_you_mean(errors, word + strspn(word, "-"), names, "--",
                              "lagom-replay --help lists them"),
                 word[0] == '-' ? "no such option: " : "not an option: ", word);
}

/* The row of "--name", "--name=value" or "-x", or NULL. */
static const struct row *find(const char *word, const char **value)
{
    size_t length = strcspn(word, "=");

    *value = NULL;
    for (int i = 0; i < ROWS; i++) {
        const struct row *row = &rows[i];

        if (word[1] == '-' && strlen(row->name) == length - 2 &&
            strncmp(word + 2, row->name, length - 2) == 0) {
            *value = word[length] == '=' ? word + length + 1 : NULL;
            return row;
        }
        if (word[1] != '-' && word[1] != '\0' && word[1] == row->letter &&
            word[2] == '\0') {
            return row;
        }
    }
    return NULL;
}

static enum model_status set_number(const struct row *row,
                                    int *target,
                                    const char *value,
                                    struct model_errors *errors)
{
    char *end;
    long number;

    errno = 0;
    number = strtol(value, &end, 10);
    if (errno != 0 || end == value || *end != '\0' || number < row->low ||
        number > row->high) {
        return usage(
            errors,
            model_arena_format(errors->arena,
                               "write a whole number from %d to %d", row->low,
                               row->high),
            model_arena_format(errors->arena, "--%s cannot be ", row->name),
            value);
    }
    *target = (int)number;
    return MODEL_OK;
}

static enum model_status
set_mode(int *target, const char *value, struct model_errors *errors)
{
    for (int i = 0; i < REPLAY_MODES; i++) {
        if (strcmp(value, modes[i]) == 0) {
            *target = i;
            return MODEL_OK;
        }
    }
    return usage(
        errors,
        did_you_mean(errors, value, modes, "", "write alone, overlap or sweep"),
        "--mode cannot be ", value);
}

static enum model_status set(const struct row *row,
                             struct replay_options *options,
                             const char *value,
                             struct model_errors *errors)
{
    void *target = (char *)options + row->offset;
    struct sim_cli_list *list = target;

    switch (row->kind) {
    case FLAG:
        *(bool *)target = true;
        return MODEL_OK;
    case TEXT:
        *(const char **)target = value;
        return MODEL_OK;
    case LIST:
        if (list->count == SIM_CLI_LIST_MAX) {
            return usage(errors, NULL,
                         "too many of them, from here on: ", value);
        }
        list->items[list->count++] = value;
        return MODEL_OK;
    case NUMBER:
        return set_number(row, target, value, errors);
    case MODE:
        return set_mode(target, value, errors);
    }
    return MODEL_FAULT;
}

/* What options say of each other. */
static enum model_status check(const struct replay_options *options,
                               struct model_errors *errors)
{
    if (options->help || options->version || options->describe ||
        options->self_test) {
        return MODEL_OK;
    }
    if (options->topology == NULL) {
        return usage(errors, "write -t \"1x1 gpu:h200\", or a file",
                     "no topology given", "");
    }
    if (options->workload == NULL) {
        return usage(errors, "write -w phi-2-fsdp, or a file",
                     "no workload given", "");
    }
    if (options->ops && options->mode != REPLAY_OVERLAP) {
        return usage(errors, "write --mode overlap", "--ops needs a mode", "");
    }
    if (options->nodes > 1 && options->id_file == NULL) {
        return usage(errors, "write --id FILE, the same on all",
                     "nodes must find each other", "");
    }
    if (options->nodes > 0 && options->node >= options->nodes) {
        return usage(errors, "they count from 0",
                     "--node is not one of --nodes", "");
    }
    return MODEL_OK;
}

enum model_status replay_options_parse(int count,
                                       char **words,
                                       struct replay_options *options,
                                       struct model_errors *errors)
{
    *options = (struct replay_options){.repeats = 20, .warmup = 5};
    for (int i = 0; i < count; i++) {
        const char *value;
        const struct row *row =
            words[i][0] == '-' ? find(words[i], &value) : NULL;

        if (row == NULL) {
            return unknown(errors, words[i]);
        }
        if (row->kind == FLAG && value != NULL) {
            return usage(errors, NULL, "takes no value: ", words[i]);
        }
        if (row->kind != FLAG && value == NULL) {
            if (i + 1 == count) {
                return usage(errors, NULL, "a value is missing behind ",
                             words[i]);
            }
            value = words[++i];
        }
        if (set(row, options, value, errors) != MODEL_OK) {
            return MODEL_USAGE;
        }
    }
    return check(options, errors);
}

void replay_options_help(FILE *stream)
{
    (void)fputs(
        "usage: lagom-replay -t TOPOLOGY -w WORKLOAD [OPTION]...\n\n"
        "Measures a workload's ops on real GPUs: GEMMs of cuBLAS, kernels with "
        "a given\ngrid, collectives of NCCL, or on one GPU a ring's steps. "
        "Writes records, which\nlagom validate and lagom calibrate read.\n\n",
        stream);
    for (int i = 0; i < ROWS; i++) {
        const struct row *row = &rows[i];
        char left[40];

        if (row->value == NULL) {
            continue;
        }
        (void)snprintf(left, sizeof(left), "--%s %s", row->name, row->value);
        if (row->letter != 0) {
            (void)fprintf(stream, "  -%c, %-20s %s\n", row->letter, left,
                          row->help);
        } else {
            (void)fprintf(stream, "      %-20s %s\n", left, row->help);
        }
    }
    (void)fputs(
        "\nOne GPU of a topology of several runs ring steps for its "
        "collectives. Several\nGPUs of a node are used as they are; over nodes "
        "run it once on each, with\n--nodes, --node and --id, or once for each "
        "rank under SLURM or Open MPI, with --id.\n\n"
        "example: lagom-replay -t hgx-h200 -w phi-2-fsdp --plan my.plan.yaml "
        "-m overlap\n",
        stream);
}
