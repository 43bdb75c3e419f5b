/* gpu_name.h - what stands for the UUID of a device that is no GPU
 *
 * Such devices need no lock: two work folders of one machine have two, and
 * within one, each is one worker's (gpu_share.h).
 */
#ifndef FA_WORKER_GPU_GPU_NAME_H
#define FA_WORKER_GPU_GPU_NAME_H

#include "worker/gpu/gpu.h"

/* 'device' is "cpu" or "replay", 'which' its index, 'home' the work folder. */
void gpu_name_unreal(const char *device, const char *which, const char *home,
                     char out[GPU_UUID_BYTES]);

#endif
