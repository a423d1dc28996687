/*
 * ranks.c - which ranks of a topology this process has, and how it runs itself
 * once for each of them.
 */
#include "validate/replay/ranks.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Launchers that start one process a rank: rank, ranks, rank on the node. SLURM
   gives SLURM_NTASKS to the one process of a batch script as well. */
static const struct launcher {
    const char *rank, *ranks, *local;
} launchers[] = {{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"},
                 {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                  "OMPI_COMM_WORLD_LOCAL_RANK"}};

enum { LAUNCHERS = sizeof(launchers) / sizeof(launchers[0]) };

/* A variable as a number, or -1. */
static int number_of(const char *(*variable)(const char *name),
                     const char *name)
{
    const char *text = variable(name);
    char *end;
    long number;

    if (text == NULL || text[0] == '\0') {
        return -1;
    }
    number = strtol(text, &end, 10);
    return *end == '\0' && number >= 0 && number <= 10000000 ? (int)number : -1;
}

/* What a launcher says; false without one. */
static bool launched(const char *(*variable)(const char *name),
                     int gpus_here,
                     struct replay_ranks *ranks)
{
    for (int i = 0; i < LAUNCHERS; i++) {
        int rank = number_of(variable, launchers[i].rank);
        int count = number_of(variable, launchers[i].ranks);
        int local = number_of(variable, launchers[i].local);

        if (rank >= 0 && count > 1 && local >= 0) {
            *ranks = (struct replay_ranks){
                .count = count,
                .first = rank,
                .local = 1,
                /* It may show each process its own GPU alone. */
                .gpu = gpus_here > 1 ? local : 0};
            return true;
        }
    }
    return false;
}

static enum model_status refuse(struct model_errors *errors,
                                enum model_status status,
                                const char *hint,
                                const char *format,
                                int needed,
                                int here)
{
    char text[160];

    (void)snprintf(text, sizeof(text), format, needed, here);
    return replay_fault_add(errors, status, hint, text, "");
}

/* All in this process: a node's GPUs, or one that stands in. */
static enum model_status find_here(const struct model_topology *topology,
                                   int gpus_here,
                                   struct replay_ranks *ranks,
                                   struct model_errors *errors)
{
    int needed = model_topology_rank_count(topology);

    if (needed == 1 || (topology->node_count == 1 && gpus_here >= needed)) {
        ranks->count = needed;
        ranks->local = needed;
        return MODEL_OK;
    }
    if (gpus_here == 1) {
        ranks->stand_in = true;
        return MODEL_OK;
    }
    return refuse(errors, MODEL_NO_DEVICE,
                  "write --stand-in to use one, or --nodes, --node, --id",
                  "the topology has %d GPUs, here are %d", needed, gpus_here);
}

enum model_status replay_ranks_find(const struct replay_options *options,
                                    const struct model_topology *topology,
                                    int gpus_here,
                                    const char *(*variable)(const char *name),
                                    struct replay_ranks *ranks,
                                    struct model_errors *errors)
{
    int needed = model_topology_rank_count(topology);
    enum model_status status = MODEL_OK;

    *ranks = (struct replay_ranks){.count = 1, .local = 1, .gpu = options->gpu};
    if (options->ranks > 0) {
        ranks->count = options->ranks;
        ranks->first = options->rank;
        ranks->child = true;
        return MODEL_OK;
    }
    if (options->stand_in) {
        ranks->stand_in = needed > 1;
    } else if (options->nodes > 0) {
        ranks->local = needed / topology->node_count;
        ranks->count = options->nodes * ranks->local;
        ranks->first = options->node * ranks->local;
    } else if (!launched(variable, gpus_here, ranks)) {
        status = find_here(topology, gpus_here, ranks, errors);
    }
    if (status != MODEL_OK) {
        return status;
    }
    if (!ranks->stand_in && ranks->count != needed) {
        return refuse(errors, MODEL_BAD_INPUT,
                      "name a topology of as many, or --set nodes=N",
                      "the topology has %d GPUs, this run has %d", needed,
                      ranks->count);
    }
    if (ranks->gpu + ranks->local > gpus_here) {
        return refuse(errors, MODEL_NO_DEVICE, NULL,
                      "this process needs GPUs up to number %d, here are %d",
                      ranks->gpu + ranks->local - 1, gpus_here);
    }
    if (ranks->count > ranks->local && options->id_file == NULL) {
        return replay_fault_add(errors, MODEL_USAGE,
                                "write --id FILE, the same on all",
                                "processes must find each other", "");
    }
    return MODEL_OK;
}

/* --- running ------------------------------------------------------------- */

/* The words of one rank: later ones count. */
static char **
words_of(struct model_arena *arena, const struct replay_round *round, int index)
{
    const struct replay_ranks *ranks = round->ranks;
    char **words =
        model_arena_array(arena, (size_t)round->word_count + 8, sizeof(*words));
    int count = 0;

    words[count++] = model_arena_text(arena, round->program);
    for (int i = 0; i < round->word_count; i++) {
        words[count++] = round->words[i];
    }
    words[count++] = model_arena_format(arena, "--ranks=%d", ranks->count);
    words[count++] =
        model_arena_format(arena, "--rank=%d", ranks->first + index);
    words[count++] = model_arena_format(arena, "--gpu=%d", ranks->gpu + index);
    words[count++] =
        model_arena_format(arena, "--environment=%d", round->number);
    words[count++] =
        model_arena_format(arena, "--id=%s.%d", round->id_file, round->number);
    return words;
}

/* True when the round sets a variable that the entry is of. */
static bool is_set(const struct replay_environment *environment,
                   const char *entry)
{
    size_t length = strcspn(entry, "=");

    for (int i = 0; i < environment->count; i++) {
        const char *set = environment->variables[i];

        if (strncmp(set, entry, length) == 0 && set[length] == '=') {
            return true;
        }
    }
    return false;
}

/* The round's variables before those that this process has. */
static char **variables_of(struct model_arena *arena,
                           const struct replay_environment *environment)
{
    char **variables;
    int count = 0;
    int used = 0;

    while (environ[count] != NULL) {
        count++;
    }
    variables = model_arena_array(
        arena, (size_t)(count + environment->count) + 1, sizeof(*variables));
    for (int i = 0; i < environment->count; i++) {
        variables[used++] = model_arena_text(arena, environment->variables[i]);
    }
    for (int i = 0; i < count; i++) {
        if (!is_set(environment, environ[i])) {
            variables[used++] = environ[i];
        }
    }
    return variables;
}

/* End those that still run: they may wait for one that has gone. */
static void end_all(const pid_t *pids, int count)
{
    for (int i = 0; i < count; i++) {
        if (pids[i] > 0) {
            (void)kill(pids[i], SIGTERM);
        }
    }
}

/* How a process ended, as a status of ours. */
static enum model_status status_of(int ended)
{
    int code = WIFEXITED(ended) ? WEXITSTATUS(ended) : MODEL_FAULT;

    switch (code) {
    case MODEL_OK:
    case MODEL_BAD_INPUT:
    case MODEL_USAGE:
    case MODEL_NO_DEVICE:
        return (enum model_status)code;
    default:
        return MODEL_FAULT;
    }
}

/* A process that ends by itself has said why; one that is killed has not. */
static void tell_killed(const struct replay_ranks *ranks,
                        int index,
                        int ended,
                        struct model_errors *errors)
{
    char text[80];

    if (WIFSIGNALED(ended)) {
        (void)snprintf(
            text, sizeof(text),
            "the process of rank %d was killed: ", ranks->first + index);
        (void)replay_fault_add(errors, MODEL_FAULT, NULL, text,
                               strsignal(WTERMSIG(ended)));
    }
}

static enum model_status wait_all(pid_t *pids,
                                  int count,
                                  const struct replay_ranks *ranks,
                                  struct model_errors *errors)
{
    enum model_status status = MODEL_OK;
    int left = count;

    while (left > 0) {
        int ended = 0;
        pid_t pid = wait(&ended);

        if (pid < 0 && errno != EINTR) {
            return MODEL_FAULT;
        }
        for (int i = 0; i < count; i++) {
            if (pid > 0 && pids[i] == pid) {
                pids[i] = 0;
                left--;
                if (status == MODEL_OK && status_of(ended) != MODEL_OK) {
                    status = status_of(ended);
                    tell_killed(ranks, i, ended, errors);
                    end_all(pids, count);
                }
            }
        }
    }
    return status;
}

enum model_status replay_ranks_run(struct model_arena *arena,
                                   const struct replay_round *round,
                                   struct model_errors *errors)
{
    int count = round->ranks->local;
    pid_t *pids = model_arena_array(arena, (size_t)count, sizeof(*pids));
    char **variables = variables_of(arena, round->environment);

    for (int i = 0; i < count; i++) {
        int fault = posix_spawn(&pids[i], round->program, NULL, NULL,
                                words_of(arena, round, i), variables);

        if (fault != 0) {
            end_all(pids, i);
            (void)wait_all(pids, i, round->ranks, errors);
            return replay_fault_add(errors, MODEL_FAULT, NULL,
                                    "cannot run itself: ", strerror(fault));
        }
    }
    return wait_all(pids, count, round->ranks, errors);
}

enum model_status
replay_ranks_run_all(struct model_arena *arena,
                     const struct replay_job *job,
                     const struct replay_ranks *ranks,
                     const struct replay_environments *environments,
                     const char *id_file,
                     struct model_errors *errors)
{
    const char *root = getenv("TMPDIR");
    char *folder = model_arena_format(arena, "%s/lagom-replay-XXXXXX",
                                      root != NULL ? root : "/tmp");
    enum model_status status = MODEL_OK;

    if (id_file == NULL && mkdtemp(folder) == NULL) {
        return replay_fault_add(errors, MODEL_BAD_INPUT,
                                "set TMPDIR to a folder for such files",
                                "cannot make a folder: ", strerror(errno));
    }
    for (int i = 0; i < environments->count && status == MODEL_OK; i++) {
        struct replay_round round = {
            .program = job->program,
            .words = job->words,
            .word_count = job->word_count,
            .ranks = ranks,
            .environment = &environments->list[i],
            .number = i,
            .id_file = id_file != NULL
                           ? id_file
                           : model_arena_format(arena, "%s/id", folder)};

        status = replay_ranks_run(arena, &round, errors);
    }
    if (id_file == NULL) {
        (void)rmdir(folder);
    }
    return status;
}
