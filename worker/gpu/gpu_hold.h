/* gpu_hold.h - which GPU it is, and that it is this worker's alone
 */
#ifndef FA_WORKER_GPU_GPU_HOLD_H
#define FA_WORKER_GPU_GPU_HOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "worker/gpu/gpu.h"

/* A worker that ends needs less for the processes that have the GPU open. */
#define GPU_HOLD_WAIT_S 5
#define GPU_HOLD_WAIT_NS (GPU_HOLD_WAIT_S * INT64_C(1000000000))

struct gpu_hold {
    char uuid[GPU_UUID_BYTES]; /* "" until the device is first open */
    int lock;         /* negative: none; ERR_DEVICE: another worker has it */
    int64_t until_ns; /* so long it is waited for; 0: it was not yet tried */
};

/* All zero is no hold, but for 'lock'. */
void gpu_hold_init(struct gpu_hold *hold);
void gpu_hold_release(struct gpu_hold *hold);

/* What is open has this 'uuid', by its driver.  'device' and 'which' are as in
 * struct gpu_spec, 'home' is the work folder.
 *   ERR_DEVICE  another worker has it; or it was another GPU before
 *   others      as gpulock_take() */
int gpu_hold_take(struct gpu_hold *hold, const char *device, const char *which,
                  const char *home, const char *uuid, int64_t now_ns,
                  struct err *err);
/* Another worker has it, and may be about to end: try again. */
bool gpu_hold_waits(const struct gpu_hold *hold, int64_t now_ns);

#endif
