/*
 * cuda_nccl_none.cu - in the place of cuda_nccl.cu where nccl.h is not there:
 * one GPU works, several say why not.
 */
#include "validate/replay/cuda_parts.h"

#if !__has_include(<nccl.h>)

int replay_nccl_version(void)
{
    return 0;
}

bool replay_nccl_open(struct replay_device *device, struct replay_fault *fault)
{
    (void)device;
    return replay_good(false, "nccl", "built without nccl.h: one GPU only",
                       __FILE__, __LINE__, fault);
}

void replay_nccl_close(struct replay_device *device)
{
    (void)device;
}

bool replay_nccl_make(struct replay_device *device,
                      struct replay_made *made,
                      struct replay_fault *fault)
{
    (void)made;
    return replay_nccl_open(device, fault);
}

bool replay_nccl_launch(struct replay_device *device,
                        struct replay_made *made,
                        cudaStream_t stream,
                        struct replay_fault *fault)
{
    (void)made;
    (void)stream;
    return replay_nccl_open(device, fault);
}

bool replay_nccl_meet(struct replay_device *device,
                      cudaStream_t stream,
                      struct replay_fault *fault)
{
    (void)stream;
    return replay_nccl_open(device, fault);
}

bool replay_nccl_combine(struct replay_device *device,
                         double *values,
                         int count,
                         enum replay_combine how,
                         struct replay_fault *fault)
{
    (void)values;
    (void)count;
    (void)how;
    return replay_nccl_open(device, fault);
}

bool replay_nccl_check(struct replay_device *device, struct replay_fault *fault)
{
    return replay_nccl_open(device, fault);
}

#endif
