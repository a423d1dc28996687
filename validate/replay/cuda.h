/*
 * cuda.h - the GPUs of NVIDIA, as a driver of lagom-replay.
 */
#ifndef VALIDATE_REPLAY_CUDA_H
#define VALIDATE_REPLAY_CUDA_H

#include "validate/replay/device.h"

extern const struct replay_driver replay_cuda_driver;

#endif
