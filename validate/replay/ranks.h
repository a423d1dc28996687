/*
 * ranks.h - which ranks of a topology this process has, and how it runs itself
 * once for each of them.
 *
 * A rank is a process with a GPU of its own, as in training. Each set of
 * variables (environment.h) is a round of such processes; rounds follow one
 * another. Processes of a round find each other by a file.
 */
#ifndef VALIDATE_REPLAY_RANKS_H
#define VALIDATE_REPLAY_RANKS_H

#include "model/topology.h"
#include "validate/replay/environment.h"
#include "validate/replay/options.h"
#include "validate/replay/replay.h"

struct replay_ranks {
    int count;        /* in all; 1: no NCCL */
    int first, local; /* of this process: first .. first + local - 1 */
    int gpu;          /* of the first, the next ones follow */
    bool stand_in;    /* one GPU for a topology of several */
    bool child;       /* this process is one of them, run by another */
};

/*
 * Find them: what the program was told by itself, by --nodes, by SLURM or Open
 * MPI (variable: getenv, or a test's), or all of a node. Faults: a topology of
 * other size.
 */
enum model_status replay_ranks_find(const struct replay_options *options,
                                    const struct model_topology *topology,
                                    int gpus_here,
                                    const char *(*variable)(const char *name),
                                    struct replay_ranks *ranks,
                                    struct model_errors *errors);

/* How a round is run. */
struct replay_round {
    const char *program; /* path of this program */
    char **words;        /* its arguments, as it was called */
    int word_count;
    const struct replay_ranks *ranks;
    const struct replay_environment *environment;
    int number;          /* of the environment */
    const char *id_file; /* of all rounds */
};

/*
 * Run the program for each rank of this process and wait. When one fails the
 * others are ended. Answers with the first failure's status.
 */
enum model_status replay_ranks_run(struct model_arena *arena,
                                   const struct replay_round *round,
                                   struct model_errors *errors);

/* A round for each environment. Their ids are in a folder of their own where
   id_file is NULL. */
enum model_status
replay_ranks_run_all(struct model_arena *arena,
                     const struct replay_job *job,
                     const struct replay_ranks *ranks,
                     const struct replay_environments *environments,
                     const char *id_file,
                     struct model_errors *errors);

#endif
