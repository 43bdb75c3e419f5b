/* facts_cuda.h - the facts of a CUDA GPU, with the names of device.h
 *
 * Nothing here makes a context, which takes as long again as the driver.
 */
#ifndef FA_WORKER_RUNNER_CUDA_FACTS_CUDA_H
#define FA_WORKER_RUNNER_CUDA_FACTS_CUDA_H

#include "worker/runner/device/device.h"

/* The number of 'gpu' for this process, before the first call of CUDA.  'gpu'
 * is an index in the order of the bus, or a UUID; then this process sees only
 * that GPU.  DEVICE_BROKEN if there is no such GPU. */
int facts_cuda_select(const char *gpu, int *number, struct device_err *err);

/* 'driver' may be empty. */
size_t facts_cuda(int number, const char *uuid, const char *driver,
                  struct device_fact facts[DEVICE_FACTS_MAX]);

/* "GPU-..."; 0 or -1. */
int facts_cuda_uuid(int number, char uuid[64]);

#endif
