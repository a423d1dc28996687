/*
 * look.c - what the GPU is, and whether it calculates as the host does.
 */
#include "validate/replay/look.h"

#include "model/gpu_find.h"
#include "validate/replay/ranks.h"

static void print_description(const struct replay_description *is, FILE *out)
{
    (void)fprintf(out,
                  "name: %s\ndevice_id: %s\ncompute_capability: %d\n"
                  "sms: %d\nl2_bytes: %.0f\nmemory_bytes: %.0f\n"
                  "sm_clock_mhz: %.0f\nmemory_clock_mhz: %.0f\n"
                  "cuda: %s\ndriver: %s\ncublas: %s\nnccl: %s\n",
                  is->name, is->device_id, is->compute_capability, is->sm_count,
                  is->l2_bytes, is->memory_bytes, is->sm_clock_mhz,
                  is->memory_clock_mhz, is->cuda, is->driver, is->blas,
                  is->nccl);
}

/* The name that topologies/gpu has for it. */
static const char *gpu_file(struct model_arena *arena,
                            const struct replay_description *is)
{
    struct model_gpu_sought sought = {
        .pci_id = is->device_id[0] != '\0' ? is->device_id : NULL,
        .compute_capability = is->compute_capability};
    struct model_gpu_found found = model_gpu_find(arena, sought);

    return found.name != NULL ? found.name : "";
}

/* This process's own GPU; of several ranks it is one. */
static enum model_status look_here(struct model_arena *arena,
                                   const struct replay_job *job,
                                   const struct replay_options *options,
                                   struct model_errors *errors)
{
    const struct replay_driver *driver = job->driver;
    struct replay_seat seat = {.gpu = options->gpu,
                               .rank = options->rank,
                               .rank_count =
                                   options->ranks > 0 ? options->ranks : 1,
                               .id_file = options->id_file};
    struct replay_fault fault = {""};
    struct replay_device *device = driver->open(&seat, &fault);
    struct replay_description description;
    bool good = device != NULL;

    if (good && options->describe) {
        driver->describe(device, &description);
        print_description(&description, job->out);
        (void)fprintf(job->out, "gpu: %s\n", gpu_file(arena, &description));
    }
    if (good && options->self_test) {
        good = driver->self_test(device, &fault);
    }
    driver->close(device);
    return good ? MODEL_OK
                : replay_fault_add(errors, MODEL_NO_DEVICE, NULL, fault.text,
                                   "");
}

enum model_status replay_look(struct model_arena *arena,
                              const struct replay_job *job,
                              const struct replay_options *options,
                              int gpus_here,
                              struct model_errors *errors)
{
    struct replay_ranks all = {.count = gpus_here, .local = gpus_here};
    struct replay_environment plain = {.count = 0};
    struct replay_environments one = {.list = &plain, .count = 1};

    return options->self_test && !options->describe && options->ranks == 0 &&
                   gpus_here > 1
               ? replay_ranks_run_all(arena, job, &all, &one, NULL, errors)
               : look_here(arena, job, options, errors);
}
