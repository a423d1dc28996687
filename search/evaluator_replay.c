/*
 * evaluator_replay.c - real GPUs as evaluator: for each plan a measuring
 * program runs the workload's ops and writes what they took (measured.h).
 *
 *     COMMAND -t TOPOLOGY -w WORKLOAD [--set PATH=VALUE]... --plan FILE
 *         --mode overlap --ops -o FILE [--repeats N]
 *
 * is lagom-replay, or something that takes the same words and hands them on to
 * another machine; plan and result are files of a folder of their own, which is
 * there as long as the program runs. COMMAND is a program, by path or in PATH.
 * With blanks in it that name no program it is a line for the shell: `ssh node7
 * lagom-replay` needs a folder that both see (TMPDIR).
 *
 * What a workload's file does not list of many equal steps is not measured
 * either, but added.
 */
#include "search/evaluator.h"

#include "model/files.h"
#include "search/child.h"
#include "search/measured.h"
#include "sim/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS_MAX = 2 * SIM_CLI_LIST_MAX + 24, TIMEOUT_S = 600 };

static const char program[] = "lagom-replay";

struct replay {
    const struct search_problem *problem;
    struct model_arena *scratch;
    const struct sim_options *options;
    const char *command; /* a program's path, or a line for the shell */
    bool line;
};

/* -- the command -- */

static const char *folder_of_temporary_files(void)
{
    const char *folder = getenv("TMPDIR");

    return folder != NULL && folder[0] != '\0' ? folder : "/tmp";
}

/* The default: the program beside this one, else the one in PATH. */
static const char *default_command(struct model_arena *arena)
{
    const char *beside = model_file_beside(arena, program);

    return beside != NULL && access(beside, X_OK) == 0 ? beside : program;
}

static void add(const char **words, int *count, const char *word)
{
    if (*count < WORDS_MAX - 1) {
        words[(*count)++] = word;
    }
}

/* Words that end with NULL. */
static const char *const *
words_of(const struct replay *replay, const char *plan, const char *result)
{
    struct model_arena *arena = replay->scratch;
    const struct sim_options *options = replay->options;
    const char **words = model_arena_array(arena, WORDS_MAX, sizeof(*words));
    const char *rest[] = {"--plan", plan, "--mode", "overlap",
                          "--ops",  "-o", result};
    int count = 0;

    if (replay->line) {
        add(words, &count, "/bin/sh");
        add(words, &count, "-c");
        add(words, &count,
            model_arena_format(arena, "%s \"$@\"", replay->command));
        add(words, &count, "lagom");
    } else {
        add(words, &count, replay->command);
    }
    add(words, &count, "-t");
    add(words, &count, replay->problem->topology->label);
    add(words, &count, "-w");
    add(words, &count, replay->problem->workload->label);
    for (int i = 0; i < options->sets.count; i++) {
        add(words, &count, "--set");
        add(words, &count, options->sets.items[i]);
    }
    for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++) {
        add(words, &count, rest[i]);
    }
    if (options->repeats > 0) {
        add(words, &count, "--repeats");
        add(words, &count,
            model_arena_format(arena, "%llu",
                               (unsigned long long)options->repeats));
    }
    return words;
}

/* NCCL's variables as --env gives them, and numbers as we read them. */
static const char *const *variables_of(const struct replay *replay)
{
    const struct sim_cli_list *envs = &replay->options->envs;
    const char **variables = model_arena_array(
        replay->scratch, (size_t)envs->count + 2, sizeof(*variables));

    for (int i = 0; i < envs->count; i++) {
        variables[i] = envs->items[i];
    }
    variables[envs->count] = "LC_ALL=C";
    return variables;
}

/* -- how it ended -- */

static enum model_status
not_started(const struct replay *replay, int fault, struct model_errors *errors)
{
    return model_errors_add(
        errors, MODEL_NO_DEVICE, (struct model_place){replay->command, 0, 0},
        NULL,
        fault == ENOENT ? "build it by \"make replay\" where CUDA is, or write "
                          "--replay COMMAND"
                        : "write --replay COMMAND",
        "cannot measure: %s", strerror(fault));
}

/* Its own words, and what became of it. */
static enum model_status check_end(const struct replay *replay,
                                   const struct search_child_end *end,
                                   double timeout_s,
                                   struct model_errors *errors)
{
    struct model_place place = {replay->command, 0, 0};
    const char *said = end->last_line[0] != '\0' ? end->last_line : "no word";

    if (end->fault != 0) {
        return not_started(replay, end->fault, errors);
    }
    if (end->timed_out) {
        return model_errors_add(errors, MODEL_NO_DEVICE, place, NULL,
                                "write --replay-timeout SECONDS",
                                "not done after %g s, ended: %s", timeout_s,
                                said);
    }
    if (end->signal != 0) {
        return model_errors_add(errors, MODEL_NO_DEVICE, place, NULL, NULL,
                                "ended by signal %d (%s): %s", end->signal,
                                strsignal(end->signal), said);
    }
    if (end->code == 127 && replay->line) {
        return model_errors_add(errors, MODEL_NO_DEVICE, place, NULL,
                                "write --replay COMMAND", "cannot measure: %s",
                                said);
    }
    return end->code == 0
               ? MODEL_OK
               : model_errors_add(
                     errors,
                     end->code == MODEL_BAD_INPUT ? MODEL_BAD_INPUT
                                                  : MODEL_NO_DEVICE,
                     place, NULL, NULL, "exit status %d: %s", end->code, said);
}

/* -- a measurement -- */

static enum model_status write_plan(const struct replay *replay,
                                    const struct model_plan *plan,
                                    const char *path,
                                    struct model_errors *errors)
{
    FILE *stream = fopen(path, "w");
    enum model_status status = MODEL_FAULT;

    if (stream != NULL) {
        status = model_plan_write(replay->scratch, plan,
                                  replay->problem->topology->name,
                                  replay->problem->workload->name, stream);
        if (fclose(stream) != 0) {
            status = MODEL_FAULT;
        }
    }
    return status == MODEL_OK
               ? MODEL_OK
               : model_errors_add(errors, MODEL_BAD_INPUT,
                                  (struct model_place){path, 0, 0}, NULL, NULL,
                                  "cannot write: %s",
                                  strerror(errno != 0 ? errno : EIO));
}

/* With a folder for both files. */
static enum model_status measure_in(const struct replay *replay,
                                    const struct model_plan *plan,
                                    const char *plan_path,
                                    const char *result_path,
                                    struct search_measured *measured,
                                    struct model_errors *errors)
{
    const struct sim_options *options = replay->options;
    struct search_child child = {
        .words = words_of(replay, plan_path, result_path),
        .variables = variables_of(replay),
        .timeout_s = options->replay_timeout_s > 0
                         ? (double)options->replay_timeout_s
                         : TIMEOUT_S};
    struct search_child_end end;
    enum model_status status = write_plan(replay, plan, plan_path, errors);

    if (status != MODEL_OK) {
        return status;
    }
    end = search_child_run(replay->scratch, &child);
    status = check_end(replay, &end, child.timeout_s, errors);
    if (status == MODEL_OK && !model_file_exists(result_path)) {
        return model_errors_add(errors, MODEL_NO_DEVICE,
                                (struct model_place){replay->command, 0, 0},
                                NULL, NULL, "wrote nothing to the file of -o");
    }
    return status != MODEL_OK
               ? status
               : search_measured_read(
                     replay->scratch, result_path, replay->command,
                     replay->problem->workload, measured, errors);
}

static enum model_status measure(void *context,
                                 const struct model_plan *plan,
                                 struct search_measure *to,
                                 struct model_errors *errors)
{
    struct replay *replay = context;
    struct model_arena *scratch = replay->scratch;
    struct search_measured measured = {.spread_us = 0.0};
    enum model_status status;
    sigset_t before;
    char *folder;
    const char *plan_path;
    const char *result_path;

    model_arena_reset(scratch);
    folder = model_arena_format(scratch, "%s/lagom-XXXXXX",
                                folder_of_temporary_files());
    search_child_hold(&before);
    if (mkdtemp(folder) == NULL) {
        search_child_release(&before);
        return model_errors_add(errors, MODEL_BAD_INPUT,
                                (struct model_place){folder, 0, 0}, NULL,
                                "set TMPDIR to a folder for temporary files",
                                "cannot make: %s", strerror(errno));
    }
    plan_path = model_arena_format(scratch, "%s/plan.yaml", folder);
    result_path = model_arena_format(scratch, "%s/ops.csv", folder);
    status =
        measure_in(replay, plan, plan_path, result_path, &measured, errors);
    (void)unlink(plan_path);
    (void)unlink(result_path);
    (void)rmdir(folder);
    search_child_release(&before);
    if (status == MODEL_OK) {
        search_measure_fill(replay->problem, &measured.result, to);
        to->spread_us = measured.spread_us;
    }
    return status;
}

/* -- opening -- */

/* What cannot be handed on. */
static enum model_status check(const struct replay *replay,
                               struct model_errors *errors)
{
    const struct sim_options *options = replay->options;
    const char *key = NULL;
    const char *hint = NULL;

    if (strcmp(replay->problem->topology->label, "-") == 0 ||
        strcmp(replay->problem->workload->label, "-") == 0) {
        key = "standard input";
        hint = "write it to a file";
    } else if (options->env_file != NULL) {
        key = "--env-file";
        hint = "write --env NCCL_X=VALUE, or set them where it measures";
    }
    return key == NULL
               ? MODEL_OK
               : model_errors_add(
                     errors, MODEL_USAGE, (struct model_place){"lagom", 0, 0},
                     NULL, hint, "the measuring program cannot have %s", key);
}

enum model_status search_open_replay(struct model_arena *arena,
                                     struct model_arena *scratch,
                                     const struct search_problem *problem,
                                     const struct sim_options *options,
                                     struct search_evaluator *evaluator,
                                     struct model_errors *errors)
{
    static const struct sim_options none = {.replay = NULL};
    struct replay *replay = model_arena_alloc(arena, sizeof(*replay));
    const char *given;

    options = options != NULL ? options : &none;
    given = options->replay;
    *replay = (struct replay){
        .problem = problem,
        .scratch = scratch,
        .options = options,
        .command = given != NULL ? given : default_command(arena),
        .line = given != NULL && strpbrk(given, " \t\n") != NULL &&
                access(given, X_OK) != 0};
    *evaluator = (struct search_evaluator){
        .evaluate = measure, .context = replay, .measures = true};
    return check(replay, errors);
}
