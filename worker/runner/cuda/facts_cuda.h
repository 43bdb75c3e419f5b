/* facts_cuda.h - the facts of a CUDA GPU, with the names of device.h */
#ifndef FA_WORKER_RUNNER_CUDA_FACTS_CUDA_H
#define FA_WORKER_RUNNER_CUDA_FACTS_CUDA_H

#include "worker/runner/device/device.h"

/* The facts of the current device.  'driver' may be empty. */
size_t facts_cuda(const char *uuid, const char *driver,
                  struct device_fact facts[DEVICE_FACTS_MAX]);

/* "GPU-..." of device number 'gpu'; 0 or -1. */
int facts_cuda_uuid(int gpu, char uuid[64]);

#endif
