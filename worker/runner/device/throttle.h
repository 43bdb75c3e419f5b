/* throttle.h - whether what slows a GPU's clocks down spoils a sample
 *
 * Reasons are NVML's bits (nvmlClocksThrottleReasons).  An idle GPU, clocks
 * that someone has set and the power cap are what a GPU is like and what its
 * owner pays for: they are recorded.  A card that protects itself from heat
 * or a failing supply says nothing about the kernel.
 * Pure; any thread.
 */
#ifndef FA_WORKER_RUNNER_DEVICE_THROTTLE_H
#define FA_WORKER_RUNNER_DEVICE_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

bool throttle_spoils(uint64_t reasons);

/* The most telling one of those that spoil, in words; NULL for none. */
const char *throttle_name(uint64_t reasons);

#endif
