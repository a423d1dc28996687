/*
 * look.h - what the GPU is (--describe), and whether it calculates as the host
 * does (--self-test).
 */
#ifndef VALIDATE_REPLAY_LOOK_H
#define VALIDATE_REPLAY_LOOK_H

#include "validate/replay/options.h"
#include "validate/replay/replay.h"

/*
 * Do what of both the options ask for. The self-test is the first GPU's, and,
 * with several here, NCCL's between all of them.
 */
enum model_status replay_look(struct model_arena *arena,
                              const struct replay_job *job,
                              const struct replay_options *options,
                              int gpus_here,
                              struct model_errors *errors);

#endif
