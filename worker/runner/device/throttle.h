/* throttle.h - which throttle reasons invalidate a sample
 *
 * Reasons are NVML's bits (nvmlClocksThrottleReasons). An idle GPU, application
 * clocks and the power cap are normal properties of a GPU: they are recorded.
 * A card that protects itself from heat or a failing supply says nothing about
 * the kernel.
 * Pure; any thread.
 */
#ifndef FA_WORKER_RUNNER_DEVICE_THROTTLE_H
#define FA_WORKER_RUNNER_DEVICE_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

bool throttle_spoils(uint64_t reasons);

/* The most specific reason that invalidates a sample, in words, or NULL. */
const char *throttle_name(uint64_t reasons);

#endif
