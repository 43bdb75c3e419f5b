/* gpu_state.h - clock, temperature, power and throttle reasons, from NVML
 *
 * libnvidia-ml comes with the driver and is opened at run time; without it
 * the readings are NaN and nothing fails.
 */
#ifndef FA_WORKER_RUNNER_DEVICE_GPU_STATE_H
#define FA_WORKER_RUNNER_DEVICE_GPU_STATE_H

#include <stddef.h>

struct device_state;
struct gpu_state;

/* 'uuid' as in "GPU-...".  Returns NULL when NVML or the GPU is not there. */
struct gpu_state *gpu_state_open(const char *uuid);
void gpu_state_close(struct gpu_state *state); /* NULL is fine */

/* 'state' may be NULL: everything is unknown. */
void gpu_state_read(const struct gpu_state *state, struct device_state *out);

/* The driver's version, "570.86.15"; empty when unknown. */
void gpu_state_driver(const struct gpu_state *state, char *out, size_t size);

#endif
