/*
 * main.c - lagom-replay on the GPUs of NVIDIA: memory, exit codes.
 */
#include "validate/replay/cuda.h"
#include "validate/replay/replay.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

static enum model_status run(struct model_arena *arena, int count, char **words)
{
    struct model_errors errors = {.arena = arena};
    struct replay_job job = {.driver = &replay_cuda_driver,
                             .program = "/proc/self/exe",
                             .words = words + 1,
                             .word_count = count - 1,
                             .out = stdout,
                             .log = stderr};
    enum model_status status = replay_run(arena, &job, &errors);

    if (errors.count > 0) {
        model_errors_print(&errors, stderr);
        status = model_errors_status(&errors);
    }
    errno = 0;
    if (fflush(stdout) != 0) {
        (void)fprintf(stderr, "lagom-replay: error: standard output: %s\n",
                      strerror(errno));
        return MODEL_BAD_INPUT;
    }
    return status;
}

/* Ranks (ranks.h) wait for each other on their GPUs: when the process that runs
   them is killed, nobody else would end them. */
static void end_with_parent(int count, char **words)
{
    for (int i = 1; i < count; i++) {
        if (strncmp(words[i], "--ranks=", 8) == 0) {
            (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
        }
    }
}

int main(int count, char **words)
{
    jmp_buf out_of_memory;
    struct model_arena *arena = model_arena_new();
    volatile enum model_status status = MODEL_FAULT;

    end_with_parent(count, words);
    /* With fewer queues than streams CUDA orders what need not be. */
    (void)setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
    if (arena != NULL && setjmp(out_of_memory) == 0) {
        (void)model_arena_guard(arena, &out_of_memory);
        status = run(arena, count, words);
    } else {
        (void)fputs("lagom-replay: out of memory\n", stderr);
    }
    model_arena_free(arena);
    return (int)status;
}
